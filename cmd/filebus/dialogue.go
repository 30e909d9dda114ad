package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"filebus/cmd/filebus/dialogue"
	"filebus/materialize/markdown"
	"filebus/store"
	"filebus/store/record"
)

// dialogueCommands are the commands of dialogues, which write documents with write.
func dialogueCommands(write writer) command {
	return group("dialogue",
		creating("new TITLE", &dialogueNew{}),
		fresh("list", &dialogueList{Limit: 20}),
		plain("prompt SLUG ROUND [AGENT]", &dialoguePrompt{}),
		plain("panel SLUG ROUND", &dialoguePanel{}),
		plain("recover SLUG ROUND AGENT", &dialogueRecover{}),
		plain("put SLUG ROUND AGENT [FILE|-]", &dialoguePut{}),
		plain("wait SLUG ROUND", &dialogueWait{waitFlags: usualWait()}),
		plain("assemble SLUG", &dialogueAssemble{write: write}),
		plain("lint FILE|NAME|SLUG...", &dialogueLint{}),
		plain("check SLUG [ROUND]", &dialogueCheck{}),
		plain("judge SLUG ROUND [AGENT]", &dialogueJudge{}),
		plain("mark SLUG ROUND ID...", &dialogueMark{}),
		plain("markers FILE|NAME|SLUG|-...", &dialogueMarkers{Limit: 200}),
		plain("score SLUG", &dialogueScore{}),
	)
}

// forum returns the dialogues of a workspace.
func (w *workspace) forum() *dialogue.Dialogues {
	return dialogue.Open(w.Workspace, w.read, w.now)
}

// findDialogue opens the workspace, with what was written to it, and finds the dialogue
// that a text means.
func (e *environ) findDialogue(ctx context.Context, text string) (*workspace, *dialogue.Dialogues, dialogue.Key, error) {
	s, err := e.openFresh(ctx)
	if err != nil {
		return nil, nil, dialogue.Key{}, err
	}
	f := s.forum()
	key, err := f.Find(ctx, text)
	return s, f, key, err
}

// openDialogue reads the dialogue that a text means, with what agents have written just
// now: findDialogue leaves alone what is not still yet.
func (e *environ) openDialogue(
	ctx context.Context, text string,
) (*workspace, *dialogue.Dialogues, *dialogue.Dialogue, error) {
	s, f, key, err := e.findDialogue(ctx, text)
	if err != nil {
		return nil, nil, nil, err
	}
	if e.global.noSync {
		d, err := f.Read(ctx, key)
		return s, f, d, err
	}
	d, skipped, err := f.ReadFresh(ctx, key)
	if skipped != nil {
		e.note("not all files were looked at: %s", oneLine(skipped.Error()))
	}
	return s, f, d, err
}

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
	err = w.print(made, "%s  %s\n", made.Key, oneLine(made.Folder))
	w.remark("tell the agents what to do: filebus dialogue prompt %s 0 --all", made.Key)
	return err
}

type dialogueList struct {
	Limit int `flag:"limit" least:"0"`
}

type dialogueListJSON struct {
	Dialogues []dialogue.Item `json:"dialogues"`
	More      int             `json:"more,omitempty"` // that were left out
}

func (o *dialogueList) run(ctx context.Context, w *workspace, _ []string) error {
	items, total, err := w.forum().List(ctx, o.Limit)
	if err != nil {
		return err
	}
	for i := range items {
		items[i].Title = cutText(items[i].Title)
	}
	left := total - len(items)
	var rows [][]string
	for _, i := range items {
		rows = append(rows, []string{
			i.Key.String(), lastRound(i), plural(len(i.Agents), "agent"), cmp.Or(i.Status, "-"), w.minute(i.Time),
			i.Title,
		})
	}
	return w.presentTable(rows, presentation{
		none: "no dialogues", json: func(int) any { return dialogueListJSON{items, left} },
		left: left, rest: "--limit 0",
	})
}

// lastRound says how far a dialogue is.
func lastRound(i dialogue.Item) string {
	switch {
	case i.Last == nil:
		return "no round"
	case i.Owed > 0:
		return fmt.Sprintf("round %d: %d/%d turns", *i.Last, i.Turns, i.Owed)
	}
	return "round " + strconv.Itoa(*i.Last) + ": " + plural(i.Turns, "turn")
}

// A namesOf returns names that stand for a dialogue.
type namesOf func(context.Context, *dialogue.Dialogues, *dialogue.Dialogue) ([]record.Name, error)

// slugNames returns arguments with the names that stand for a dialogue in place of its
// slug. What is a file, or no dialogue, stays as it is.
func (e *environ) slugNames(ctx context.Context, args []string, of namesOf) ([]string, error) {
	var all []string
	for _, arg := range args {
		if _, err := os.Stat(e.abs(arg)); err == nil || arg == "-" || strings.ContainsAny(arg, "/.") {
			all = append(all, arg)
			continue
		}
		_, f, d, err := e.openDialogue(ctx, arg)
		if errors.Is(err, dialogue.ErrNoDialogue) || errors.Is(err, store.ErrNoStore) {
			document, _ := record.Detail[string](err)
			all = append(all, cmp.Or(document, arg)) // which may be the name of something else
			continue
		}
		var names []record.Name
		if err == nil {
			names, err = of(ctx, f, d)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, markdown.Each(names, record.Name.String)...)
	}
	return all, nil
}

// turnNames returns the turns of a dialogue, by round and agent.
func turnNames(_ context.Context, _ *dialogue.Dialogues, d *dialogue.Dialogue) (names []record.Name, err error) {
	for _, r := range d.Rounds {
		for _, t := range r.Turns {
			names = append(names, t.Version.Record.Name)
		}
	}
	if len(names) == 0 {
		err = coded(record.NotFound, "filebus dialogue check "+record.ShellWord(d.Key.String()),
			fmt.Errorf("%s has no turn yet", d.Key))
	}
	return names, err
}

// documentNames returns the documents of a dialogue that are stored.
func documentNames(ctx context.Context, f *dialogue.Dialogues, d *dialogue.Dialogue) ([]record.Name, error) {
	names, err := f.Documents(ctx, d)
	if err != nil || len(names) > 0 {
		return names, err
	}
	hint := "filebus dialogue assemble " + record.ShellWord(d.Key.String())
	if !d.Key.IsOwn() {
		hint += " --stdout | filebus dialogue lint -"
	}
	return nil, coded(record.NotFound, hint, fmt.Errorf("%s has no document yet", d.Key))
}
