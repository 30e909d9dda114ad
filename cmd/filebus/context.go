package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"filebus/cmd/filebus/cli"
	runs "filebus/cmd/filebus/run"
	"filebus/cmd/filebus/task"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store/record"
)

type contextCommand struct {
	Files      []string `flag:"file"`
	Tags       []string `flag:"tag"`
	Task       string   `flag:"task"`
	Complexity string   `flag:"complexity"`
	MaxTokens  int      `flag:"max-tokens" least:"0"`
	Explain    bool     `flag:"explain"`
	Refresh    bool     `flag:"refresh"`

	request query.ContextRequest // that check has made of them and of the text
}

func (o *contextCommand) Check(env *cli.Environ, args []string) (err error) {
	r := &o.request
	*r = query.ContextRequest{
		Text: strings.Join(args, " "), Tags: o.Tags, Task: env.Or(o.Task, "FILEBUS_TASK"), MaxTokens: o.MaxTokens,
	}
	if r.Complexity, err = query.ParseComplexity(o.Complexity); err != nil {
		return cli.Coded(record.Usage, "", err)
	}
	const maxContextText = 64 << 10 // how much of a task's text is read, in bytes
	if err := env.ReadText("text", &r.Text, maxContextText); err != nil {
		return err
	}
	if strings.TrimSpace(r.Text) == "" && len(o.Files)+len(o.Tags) == 0 && r.Task == "" {
		return cli.UsageError("say what the task is about: a text, --file, --tag or --task")
	}
	if o.MaxTokens == 0 {
		r.MaxTokens = math.MaxInt32
	}
	if env.Global.JSON {
		r.Size = contextJSONTokens
	}
	return nil
}

func (o *contextCommand) Do(ctx context.Context, w *cli.Work, _ []string) error {
	r := o.request
	r.Files = cli.WorkspaceFiles(w, o.Files)
	r.Changed = func(ctx context.Context, files []string) (map[string]time.Time, error) {
		return runs.LastChanged(ctx, w.Root, files, w.Variables)
	}
	if r.Task != "" {
		b, id, err := task.FindTask(ctx, w, r.Task)
		if err != nil {
			found, entriesErr := b.Entries(ctx, r.Task)
			if entriesErr != nil || len(found) != 1 {
				return err
			}
			id, r.Entry, r.Text = "", &found[0], cmp.Or(strings.TrimSpace(r.Text), found[0].Title)
		}
		r.Task = id.String()
	}
	w.RefreshBy(ctx, o.Refresh, 0)
	answer, err := w.Reader.ContextFor(ctx, r)
	if err != nil {
		return err
	}
	if answer.Unindexed > 0 {
		w.Note("%d log entries are not in the index yet and were not looked at", answer.Unindexed)
	}
	var lacking []string
	for _, left := range answer.LeftOut {
		if left.Needed {
			lacking = append(lacking, left.Name.String()+": "+left.Reason)
		}
	}
	if len(lacking) > 0 {
		w.Note("%s", markdown.Clip(strings.Join(lacking, "; "), 1000)) // some twenty, more than a section has
	}
	w.NoteUnknown(ctx, &record.Filter{Tags: record.NormalizeTags(r.Tags)})
	w.Said.What = r.Text
	return printContext(w.Environ, answer, o.Explain)
}

// A contextView is an item of a context in JSON.
type contextView struct {
	Section string      `json:"section"`
	Name    record.Name `json:"name"`
	Ref     record.Ref  `json:"ref"`
	Text    string      `json:"text"`
	Tokens  int         `json:"tokens"` // of the whole record, about
	Score   float64     `json:"score"`
	Why     []string    `json:"why,omitempty"`
	Changed []string    `json:"changed,omitempty"`
}

// A contextListing is a context in JSON.
type contextListing struct {
	Tokens  int              `json:"tokens"`
	Items   []contextView    `json:"items"`
	More    int              `json:"more,omitempty"` // that there was no room for
	LeftOut []query.Omission `json:"left_out,omitempty"`
}

func newContextListing(a *query.ContextAnswer) contextListing {
	listing := contextListing{Tokens: a.Tokens, More: a.NoRoom}
	for _, i := range a.Items {
		listing.Items = append(listing.Items, contextView{
			string(i.Section), i.Version.Record.Name, i.Version.Ref, i.Text, i.Tokens, i.Score, i.Why, i.Changed,
		})
	}
	return listing
}

// contextJSONTokens returns how many tokens an answer has in JSON, about, without
// what was left out.
func contextJSONTokens(a *query.ContextAnswer) int {
	listing := newContextListing(a)
	listing.Tokens, listing.More = math.MaxInt16, math.MaxInt16 // as long as any
	var out bytes.Buffer
	if err := cli.WriteJSON(&out, listing); err != nil {
		return math.MaxInt
	}
	return record.EstimateTokens(int64(out.Len()))
}

func printContext(e *cli.Environ, a query.ContextAnswer, explain bool) error {
	if e.Global.JSON {
		listing := newContextListing(&a)
		if explain {
			listing.LeftOut = a.LeftOut
		}
		return e.PrintJSON(listing)
	}
	if len(a.Items) > 0 || a.NoRoom == 0 {
		e.Printf("%s", a.Append(nil))
	}
	e.NoteRest(a.NoRoom, "--max-tokens 0")
	if !explain {
		return nil
	}
	for _, i := range a.Items {
		e.Note("%s: %.2f, %s", i.Version.Record.Name, i.Score, cli.CutText(strings.Join(i.Why, ", ")))
	}
	if len(a.LeftOut) > 0 {
		e.Note("left out %s", leftOutText(e, a.LeftOut))
	}
	return nil
}

// leftOutText says in one line what was left out, by the reasons.
func leftOutText(e *cli.Environ, all []query.Omission) string {
	var parts []string
	left := len(all)
	const maxReasons = 4 // how many reasons are said
	for i, o := range all {
		same := func(other query.Omission) bool { return other.Reason == o.Reason }
		if slices.IndexFunc(all, same) < i || len(parts) == maxReasons {
			continue
		}
		part, count := o.Name.String(), 0
		for _, other := range all[i:] {
			if same(other) {
				count++
			}
		}
		if left -= count; count > 1 {
			part = fmt.Sprintf("%d, such as %s", count, part)
		}
		parts = append(parts, cli.CutText(part+": "+o.Reason))
	}
	text := strings.Join(parts, "; ")
	if left > 0 {
		text += "; " + e.Rest(left, "--json")
	}
	return text
}
