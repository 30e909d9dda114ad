package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/noun"
	"filebus/index"
	"filebus/materialize/layout"
	"filebus/store/record"
)

// riskCommands are the commands of a noun that the program does not have, made of its Type alone.
func riskCommands() []cli.Command {
	fields := layout.KnowledgeFields().With(layout.Field[layout.Knowledge]{
		Name: "Impact", Values: []string{"small", "great"}, Fact: "impact", Filter: true, Flag: "impact", Default: "small",
	})
	f := &cli.Face[layout.Knowledge]{Lead: "content", Of: noun.Type[layout.Knowledge]{
		Kind: record.KindKnowledge, Word: "risk", Group: "risk", Place: "the list of risks", Max: 1000, Fields: fields,
		Form: func(layout.Location) layout.EntryForm[layout.Knowledge] { return fields },
		IDs:  func(id string) []string { return []string{id, "risk-" + id} },
		New: func(_ layout.EntryForm[layout.Knowledge], k *layout.Knowledge, now time.Time) string {
			k.Created = now.UTC().Format(time.DateOnly)
			return "risk-"
		},
		Words: func(k *layout.Knowledge) string { return k.Content },
		Alike: func(*layout.Knowledge, noun.Entry[layout.Knowledge], int, int) (noun.Likeness, index.Share) {
			return noun.Likeness{}, 0.6
		},
		States: []string{"open", "met"}, Open: []string{"open"},
		Verbs: []noun.Verb{{Name: "meet", Args: "ID", From: []string{"open"}, To: "met"}},
	}}
	f.Open = func(w *cli.Work) *noun.Collection[layout.Knowledge] {
		return &noun.Collection[layout.Knowledge]{Type: f.Of, Work: w.Workspace, Read: w.Reader, Now: w.Now}
	}
	return f.Commands()
}

// TestSeventhNoun adds, lists, shows, edits and changes the state of a noun that is made of one
// value: the engine and its commands know nothing else of it.
func TestSeventhNoun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustRun(t, dir, "init")
	for _, c := range []struct{ args, want, not string }{
		{"add --type pattern --content Fire", "risk-001", ""},
		{"add Water --type pattern --impact great", "risk-002", ""},
		{"list --impact great", "risk-002\topen\tWater", "Fire"},
		{"edit 001 --content Fires --impact great", "risk-001  open", "Fires"},
		{"meet risk-002", "risk-002  met", "Water"},
		{"list --open", "risk-001\topen\tFires", "Water"},
		{"show 001", "impact: great", "Water"},
		{"show 002 --json", `"impact":["great"]`, "Fire"},
	} {
		var out bytes.Buffer
		env := docEnviron(dir, &out)
		root := newRootCommand(env, nil)
		root.AddCommand(cli.Group("risk", riskCommands()...).Cobra(env))
		root.SetArgs(append([]string{"risk", "--store", filepath.Join(dir, ".filebus")}, strings.Fields(c.args)...))
		err := root.ExecuteContext(t.Context())
		if got := out.String(); err != nil || !strings.Contains(got, c.want) || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("filebus risk %s: %v\n%s\nwant %q, not %q", c.args, err, got, c.want, c.not)
		}
	}
}
