package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"filebus/cmd/filebus/noun"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// A face is a noun as its commands show it. Without a function of its own an entry is shown
// by the fields of its table.
type face[T any] struct {
	of    noun.Type[T]
	lead  string // the flag of what the argument of add gives
	open  func(*workspace) *noun.Collection[T]
	adds  func(nounAdd[T]) runner // nil: a nounAdd, and a nounList
	lists func(nounList[T]) runner
	hide  []string                                                                          // fields that lines do not name
	view  func(w *workspace, e noun.Entry[T]) any                                           // in JSON
	brief func(w *workspace, e noun.Entry[T]) any                                           // in JSON, in a list or when it was changed
	line  func(w *workspace, e noun.Entry[T]) string                                        // when it was changed
	lines func(w *workspace, e noun.Entry[T]) []string                                      // what stands before the fields
	do    func(ctx context.Context, w *workspace, v noun.Verb, id string, a noun.Act) error // nil: Collection.Do
}

// commands returns the commands of the noun.
func (f *face[T]) commands() []command {
	inputs := entryFlags[T]{fields: f.of.Fields.Inputs()}
	filters := factFlags[T]{fields: f.of.Fields.Filters()}
	add, list := nounAdd[T]{entryFlags: inputs, face: f}, nounList[T]{factFlags: filters, MaxTokens: listTokens, face: f}
	adds, lists := runner(&add), runner(&list)
	if f.adds != nil {
		adds, lists = f.adds(add), f.lists(list)
	}
	all := []command{
		plain("add ["+strings.ToUpper(f.lead)+"]", adds),
		existing("edit ID", &nounEdit[T]{inputs, f}).completed(completeNames),
		fresh("list", lists),
		fresh("show ID", &nounShow[T]{nounTokens, f}).completed(completeNames),
	}
	for _, v := range f.of.Verbs {
		all = append(all, existing(v.Name+" "+v.Args, &nounVerb[T]{verb: v, face: f}).completed(completeNames))
	}
	return all
}

// How much of an entry, and of a list of them, is shown unless more is asked for.
const (
	nounTokens = 400
	listTokens = 1000
)

// collection returns the entries with what was written to their file just now.
func (f *face[T]) collection(ctx context.Context, w *workspace) (*noun.Collection[T], error) {
	c := f.open(w)
	if w.global.noSync {
		return c, nil
	}
	if err := c.Import(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		w.note("the file of %s was not looked at: %v", c.Place, err)
	}
	return c, nil
}

// changed prints an entry that was changed, in one line.
func (f *face[T]) changed(w *workspace, e noun.Entry[T], err error) error {
	if err != nil {
		return err
	}
	line := e.Name.ID + "  " + f.of.State(e)
	if f.line != nil {
		line = f.line(w, e)
	}
	return w.print(f.inJSON(w, f.brief, e), "%s\n", oneLine(line))
}

// An entryJSON is an entry by the fields of its table.
type entryJSON struct {
	ID     string              `json:"id"`
	Status string              `json:"status,omitempty"`
	Fields map[string][]string `json:"fields"`
}

func (f *face[T]) inJSON(w *workspace, view func(*workspace, noun.Entry[T]) any, e noun.Entry[T]) any {
	if view != nil {
		return view(w, e)
	}
	j := entryJSON{e.Name.ID, f.of.State(e), map[string][]string{}}
	for _, field := range f.of.Fields.Fields() {
		if values := field.Get(&e.Fields); len(values) > 0 {
			j.Fields[markdown.Key(field.Name)] = values
		}
	}
	return j
}

// print prints what an agent needs to work on an entry.
func (f *face[T]) print(w *workspace, e noun.Entry[T], maxTokens int) error {
	lines := []string{e.Name.ID + "  " + f.of.State(e)}
	if f.lines != nil {
		lines = f.lines(w, e)
	}
	return w.presentLines(append(lines, fieldLines(f.of.Fields, &e.Fields, f.hide)...), presentation{
		maxTokens: maxTokens, what: e.Name.String(), json: func(int) any { return f.inJSON(w, f.view, e) },
		rest: "filebus " + f.of.Group + " show " + record.ShellWord(e.Name.ID) + " --max-tokens 0",
	})
}

// fieldLines returns the fields of an entry that have a value, as people and agents read them:
// first what is short, each in a line, then lists and texts.
func fieldLines[T any](f layout.EntryForm[T], v *T, hide []string) (lines []string) {
	var blocks []string
	for _, field := range f.Fields() {
		values, name := field.Get(v), strings.ToLower(field.Name)+":"
		isList, _ := field.IsList()
		switch {
		case len(values) == 0 || slices.Contains(hide, field.Name):
		case !field.IsBlock():
			lines = append(lines, name+" "+oneLine(strings.Join(values, ", ")))
		case isList:
			blocks = append(append(blocks, name), led("- ", markdown.Each(values, oneLine))...)
		default:
			blocks = append(append(blocks, name), markdown.Each(strings.Split(values[0], "\n"), oneLine)...)
		}
	}
	for _, p := range f.More(v) {
		if !slices.Contains(hide, p.Key) {
			lines = append(lines, oneLine(strings.ToLower(p.Key)+": "+p.Value))
		}
	}
	return append(lines, blocks...)
}

type nounShow[T any] struct {
	MaxTokens int `flag:"max-tokens" least:"0"`
	face      *face[T]
}

func (o *nounShow[T]) run(ctx context.Context, w *workspace, args []string) error {
	c, err := o.face.collection(ctx, w)
	if err != nil {
		return err
	}
	e, err := c.Get(ctx, args[0])
	if err != nil {
		return err
	}
	return o.face.print(w, e, o.MaxTokens)
}

type nounEdit[T any] struct {
	entryFlags[T]
	face *face[T]
}

func (o *nounEdit[T]) run(ctx context.Context, w *workspace, args []string) error {
	var draft T
	given := o.read(&draft)
	if len(given) == 0 {
		hint := "filebus " + o.face.of.Group + " edit " + record.ShellWord(args[0]) + " --" + o.fields[0].Flag + " TEXT"
		return coded(record.Usage, hint, usageError("nothing to change was given"))
	}
	if err := readBlocks(w.environ, o.face.of.Word, o.fields, &draft); err != nil {
		return err
	}
	e, err := o.face.open(w).Edit(ctx, args[0], draft, given)
	return o.face.changed(w, e, err)
}

// maxDetails is how much of standard input is read, in bytes: an entry that has
// as much is refused.
const maxDetails = 1 << 20

// readBlocks reads a text that is "-" from standard input.
func readBlocks[T any](e *environ, noun string, fields []layout.Field[T], draft *T) error {
	for _, field := range fields {
		if isList, _ := field.IsList(); isList {
			continue
		}
		text := strings.Join(field.Get(draft), "")
		if field.IsBlock() {
			if err := e.readText(field.Flag, &text, maxDetails); err != nil {
				return err
			}
			field.Put(draft, text)
		}
		if err := checkUTF8(noun, text); err != nil {
			return err
		}
	}
	return nil
}

// shownProblems is how many problems of a file are named.
const shownProblems = 3

// noteProblems says, in one line, what keeps parts of files from being entries.
func (e *environ) noteProblems(problems []*layout.SyntaxError) {
	if len(problems) == 0 {
		return
	}
	named := markdown.Each(problems[:min(shownProblems, len(problems))], (*layout.SyntaxError).Error)
	if more := len(problems) - len(named); more > 0 {
		named = append(named, plural(more, "more problem")+", which filebus sync --problems lists")
	}
	e.note("%s; nothing is lost: edit the file", oneLine(strings.Join(named, "; ")))
}

// shownLike is how many entries are named that a new one is like.
const shownLike = 3

// noteLike names what is there that a new entry is like, or was refused for: those that are
// shown are returned.
func (e *environ) noteLike(like []noun.Likeness, added string, refused error) []noun.Likeness {
	if known, is := record.Detail[[]noun.Likeness](refused); is {
		like = known
	}
	like = slices.DeleteFunc(like, func(l noun.Likeness) bool { return l.ID == added })
	like = like[:min(shownLike, len(like))]
	for _, l := range like {
		e.note("likely duplicate: %s (%s): %s", l.ID, likeText(l), markdown.Clip(l.Summary, maxSummaryCell))
	}
	return like
}

// isDuplicate reports whether a verb says of an entry that it is another one.
func isDuplicate(v noun.Verb) bool { return v.Name == "duplicate" }

// likeText says how much an entry is like another.
func likeText(l noun.Likeness) string {
	text := fmt.Sprintf("%.0f %% of the words", 100*l.Shared)
	if l.Files {
		text += ", same files"
	}
	if len(l.Tags) > 0 {
		text += ", tags " + strings.Join(l.Tags, " ")
	}
	if l.Status != "" {
		text = l.Status + ", " + text
	}
	return oneLine(text)
}
