package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"filebus/materialize/dialogue"
)

type dialogueNewOptions struct {
	dialogue.NewRequest
	roles []string
}

func newDialogueNewCommand(env *environ) *cobra.Command {
	var opts dialogueNewOptions
	cmd := newCommand("new TITLE", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		opts.Title = args[0]
		return runDialogueNew(ctx, env, opts)
	})
	flags := cmd.Flags()
	flags.StringSliceVar(&opts.Agents, "agents", nil, "")
	flags.StringVar(&opts.Slug, "slug", "", "")
	flags.StringVar(&opts.Question, "question", "", "")
	flags.StringArrayVar(&opts.roles, "role", nil, "")
	flags.StringVar(&opts.Judge, "judge", "", "")
	return cmd
}

func runDialogueNew(ctx context.Context, env *environ, opts dialogueNewOptions) error {
	r := opts.NewRequest
	r.Roles = make(map[string]string)
	for _, text := range opts.roles {
		name, role, found := strings.Cut(text, "=")
		if _, twice := r.Roles[name]; !found || twice {
			return usageError("--role %q: a role is given once, as in muffin='Site reliability'", text)
		}
		r.Roles[name] = role
	}
	s, err := env.create(ctx)
	if err != nil {
		return err
	}
	made, err := s.forum().New(ctx, r)
	if err != nil {
		return err
	}
	if env.global.json {
		return env.printJSON(made)
	}
	env.printf("%s  %s\n", made.Key, oneLine(made.Folder))
	env.note("tell the agents what to do: filebus dialogue prompt %s 0 --all", made.Key)
	return nil
}
