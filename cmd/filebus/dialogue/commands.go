package dialogue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/materialize/markdown"
	"filebus/store"
	"filebus/store/record"
)

// Commands are the commands of dialogues, which write documents with write.
func Commands(write Writer) cli.Command {
	return cli.Group("dialogue",
		cli.Creating("new TITLE", &dialogueNew{}),
		cli.Fresh("list", &dialogueList{Page: cli.Page{Limit: 20}}),
		cli.Plain("prompt SLUG ROUND [AGENT]", &dialoguePrompt{}),
		cli.Plain("panel SLUG ROUND", &dialoguePanel{}),
		cli.Plain("recover SLUG ROUND AGENT", &dialogueRecover{}),
		cli.Plain("put SLUG ROUND AGENT [FILE|-]", &dialoguePut{}),
		cli.Plain("wait SLUG ROUND", &dialogueWait{WaitFlags: cli.UsualWait()}),
		cli.Plain("assemble SLUG", &dialogueAssemble{write: write}),
		cli.Plain("lint FILE|NAME|SLUG...", &dialogueLint{}),
		cli.Plain("check SLUG [ROUND]", &dialogueCheck{}),
		cli.Plain("judge SLUG ROUND [AGENT]", &dialogueJudge{}),
		cli.Plain("mark SLUG ROUND ID...", &dialogueMark{}),
		cli.Plain("markers FILE|NAME|SLUG|-...", &dialogueMarkers{Limit: 200}),
		cli.Plain("score SLUG", &dialogueScore{}),
	)
}

// Of returns the dialogues of a workspace.
func Of(w *cli.Work) *Dialogues {
	return Open(w.Workspace, w.Reader, w.Now)
}

// findDialogue opens the workspace, with what was written to it, and finds the dialogue
// that a text means.
func findDialogue(ctx context.Context, e *cli.Environ, text string) (*cli.Work, *Dialogues, Key, error) {
	s, err := e.OpenFresh(ctx)
	if err != nil {
		return nil, nil, Key{}, err
	}
	f := Of(s)
	key, err := f.Find(ctx, text)
	return s, f, key, err
}

// openDialogue reads the dialogue that a text means, with what agents have written just
// now: findDialogue leaves alone what is not still yet.
func openDialogue(ctx context.Context,
	e *cli.Environ, text string,
) (*cli.Work, *Dialogues, *Dialogue, error) {
	s, f, key, err := findDialogue(ctx, e, text)
	if err != nil {
		return nil, nil, nil, err
	}
	if e.Global.NoSync {
		d, err := f.Read(ctx, key)
		return s, f, d, err
	}
	d, skipped, err := f.ReadFresh(ctx, key)
	if skipped != nil {
		e.Note("not all files were looked at: %s", cli.OneLine(skipped.Error()))
	}
	return s, f, d, err
}

type dialogueNew struct {
	Agents   []string  `flag:"agents"`
	Slug     string    `flag:"slug"`
	Question string    `flag:"question"`
	Role     cli.Texts `flag:"role"`
	Judge    string    `flag:"judge"`

	roles map[string]string
}

func (o *dialogueNew) Check(*cli.Environ, []string) error {
	o.roles = make(map[string]string)
	for _, text := range o.Role {
		name, role, found := strings.Cut(text, "=")
		if _, twice := o.roles[name]; !found || twice {
			return cli.UsageError("--role %q: a role is given once, as in muffin='Site reliability'", text)
		}
		o.roles[name] = role
	}
	return nil
}

func (o *dialogueNew) Do(ctx context.Context, w *cli.Work, args []string) error {
	made, err := Of(w).New(ctx, NewRequest{
		Title: args[0], Slug: o.Slug, Question: o.Question, Agents: o.Agents, Roles: o.roles, Judge: o.Judge,
	})
	if err != nil {
		return err
	}
	err = w.Print(made, "%s  %s\n", made.Key, cli.OneLine(made.Folder))
	w.Remark("tell the agents what to do: filebus dialogue prompt %s 0 --all", made.Key)
	return err
}

type dialogueList struct{ cli.Page }

// DialogueListJSON is what a command prints with --json.
type DialogueListJSON struct {
	Dialogues []Item `json:"dialogues"`
	More      int    `json:"more,omitempty"` // that were left out
}

func (o *dialogueList) Do(ctx context.Context, w *cli.Work, _ []string) error {
	items, left, err := Of(w).List(ctx, o.Page)
	if err != nil {
		return err
	}
	for i := range items {
		items[i].Title = cli.CutText(items[i].Title)
	}
	w.RemarkStrangers(ctx)
	var rows [][]string
	for _, i := range items {
		rows = append(rows, []string{
			i.Key.String(), LastRound(i), cli.Plural(len(i.Agents), "agent"), cmp.Or(i.Status, "-"), w.Minute(i.Time),
			i.Title,
		})
	}
	return w.PresentTable(rows, cli.Presentation{
		None: "no dialogues", JSON: func(int) any { return DialogueListJSON{items, left} },
		Left: left, Rest: o.Next(len(rows)),
	})
}

// LastRound says how far a dialogue is.
func LastRound(i Item) string {
	switch {
	case i.Last == nil:
		return "no round"
	case i.Owed > 0:
		return fmt.Sprintf("round %d: %d/%d turns", *i.Last, i.Turns, i.Owed)
	}
	return "round " + strconv.Itoa(*i.Last) + ": " + cli.Plural(i.Turns, "turn")
}

// A namesOf returns names that stand for a dialogue.
type namesOf func(context.Context, *Dialogues, *Dialogue) ([]record.Name, error)

// slugNames returns arguments with the names that stand for a dialogue in place of its
// slug. What is a file, or no dialogue, stays as it is.
func slugNames(ctx context.Context, e *cli.Environ, args []string, of namesOf) ([]string, error) {
	var all []string
	for _, arg := range args {
		if _, err := os.Stat(e.Abs(arg)); err == nil || arg == "-" || strings.ContainsAny(arg, "/.") {
			all = append(all, arg)
			continue
		}
		_, f, d, err := openDialogue(ctx, e, arg)
		if errors.Is(err, ErrNoDialogue) || errors.Is(err, store.ErrNoStore) {
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
func turnNames(_ context.Context, _ *Dialogues, d *Dialogue) (names []record.Name, err error) {
	for _, r := range d.Rounds {
		for _, t := range r.Turns {
			names = append(names, t.Version.Record.Name)
		}
	}
	if len(names) == 0 {
		err = cli.Coded(record.NotFound, "filebus dialogue check "+record.ShellWord(d.Key.String()),
			fmt.Errorf("%s has no turn yet", d.Key))
	}
	return names, err
}

// documentNames returns the documents of a dialogue that are stored.
func documentNames(ctx context.Context, f *Dialogues, d *Dialogue) ([]record.Name, error) {
	names, err := f.Documents(ctx, d)
	if err != nil || len(names) > 0 {
		return names, err
	}
	hint := "filebus dialogue assemble " + record.ShellWord(d.Key.String())
	if !d.Key.IsOwn() {
		hint += " --stdout | filebus dialogue lint -"
	}
	return nil, cli.Coded(record.NotFound, hint, fmt.Errorf("%s has no document yet", d.Key))
}
