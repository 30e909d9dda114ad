package main

import (
	"context"
	"strings"

	"filebus/materialize/dialogue"
)

type dialogueNew struct {
	Agents   []string `flag:"agents"`
	Slug     string   `flag:"slug"`
	Question string   `flag:"question"`
	Role     texts    `flag:"role"`
	Judge    string   `flag:"judge"`

	roles map[string]string
}

func (o *dialogueNew) check(*environ, []string) error {
	o.roles = make(map[string]string)
	for _, text := range o.Role {
		name, role, found := strings.Cut(text, "=")
		if _, twice := o.roles[name]; !found || twice {
			return usageError("--role %q: a role is given once, as in muffin='Site reliability'", text)
		}
		o.roles[name] = role
	}
	return nil
}

func (o *dialogueNew) run(ctx context.Context, w *workspace, args []string) error {
	made, err := w.forum().New(ctx, dialogue.NewRequest{
		Title: args[0], Slug: o.Slug, Question: o.Question, Agents: o.Agents, Roles: o.roles, Judge: o.Judge,
	})
	if err != nil {
		return err
	}
	if w.global.json {
		return w.printJSON(made)
	}
	w.printf("%s  %s\n", made.Key, oneLine(made.Folder))
	w.note("tell the agents what to do: filebus dialogue prompt %s 0 --all", made.Key)
	return nil
}
