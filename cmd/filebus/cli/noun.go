package cli

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

// A Face is a noun as its commands show it. Without a function of its own an entry is shown
// by the fields of its table.
type Face[T any] struct {
	Of    noun.Type[T]
	Lead  string // the flag of what the argument of add gives
	Open  func(*Work) *noun.Collection[T]
	Adds  func(NounAdd[T]) Runner // nil: a NounAdd, and a NounList
	Lists func(NounList[T]) Runner
	Hide  []string                                                                     // fields that lines do not name
	View  func(w *Work, e noun.Entry[T]) any                                           // in JSON
	Brief func(w *Work, e noun.Entry[T]) any                                           // in JSON, in a list or when it was changed
	Line  func(w *Work, e noun.Entry[T]) string                                        // when it was changed
	Lines func(w *Work, e noun.Entry[T]) []string                                      // what stands before the fields
	Do    func(ctx context.Context, w *Work, v noun.Verb, id string, a noun.Act) error // nil: Collection.Do
}

// Commands returns the commands of the noun.
func (f *Face[T]) Commands() []Command {
	inputs := EntryFlags[T]{Fields: f.Of.Fields.Inputs()}
	filters := FactFlags[T]{Fields: f.Of.Fields.Filters()}
	add, list := NounAdd[T]{EntryFlags: inputs, face: f}, NounList[T]{FactFlags: filters, MaxTokens: listTokens, face: f}
	adds, lists := Runner(&add), Runner(&list)
	if f.Adds != nil {
		adds, lists = f.Adds(add), f.Lists(list)
	}
	all := []Command{
		Plain("add ["+strings.ToUpper(f.Lead)+"]", adds),
		Existing("edit ID", &nounEdit[T]{inputs, f}).Completed(CompleteNames),
		Fresh("list", lists),
		Fresh("show ID", &nounShow[T]{NounTokens, f}).Completed(CompleteNames),
	}
	for _, v := range f.Of.Verbs {
		all = append(all, Existing(v.Name+" "+v.Args, &nounVerb[T]{verb: v, face: f}).Completed(CompleteNames))
	}
	return all
}

// How much of an entry, and of a list of them, is shown unless more is asked for.
const (
	NounTokens = 400
	listTokens = 1000
)

// Collection returns the entries with what was written to their file just now.
func (f *Face[T]) Collection(ctx context.Context, w *Work) (*noun.Collection[T], error) {
	c := f.Open(w)
	if w.Global.NoSync {
		return c, nil
	}
	if err := c.Import(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		w.Note("the file of %s was not looked at: %v", c.Place, err)
	}
	return c, nil
}

// changed prints an entry that was changed, in one line.
func (f *Face[T]) changed(w *Work, e noun.Entry[T], err error) error {
	if err != nil {
		return err
	}
	line := e.Name.ID + "  " + f.Of.State(e)
	if f.Line != nil {
		line = f.Line(w, e)
	}
	return w.Print(f.inJSON(w, f.Brief, e), "%s\n", OneLine(line))
}

// An entryJSON is an entry by the fields of its table.
type entryJSON struct {
	ID     string              `json:"id"`
	Status string              `json:"status,omitempty"`
	Fields map[string][]string `json:"fields"`
}

func (f *Face[T]) inJSON(w *Work, view func(*Work, noun.Entry[T]) any, e noun.Entry[T]) any {
	if view != nil {
		return view(w, e)
	}
	j := entryJSON{e.Name.ID, f.Of.State(e), map[string][]string{}}
	for _, field := range f.Of.Fields.Fields() {
		if values := field.Get(&e.Fields); len(values) > 0 {
			j.Fields[markdown.Key(field.Name)] = values
		}
	}
	return j
}

// Print prints what an agent needs to work on an entry.
func (f *Face[T]) Print(w *Work, e noun.Entry[T], maxTokens int) error {
	lines := []string{e.Name.ID + "  " + f.Of.State(e)}
	if f.Lines != nil {
		lines = f.Lines(w, e)
	}
	return w.PresentLines(append(lines, fieldLines(f.Of.Fields, &e.Fields, f.Hide)...), Presentation{
		MaxTokens: maxTokens, What: e.Name.String(), JSON: func(int) any { return f.inJSON(w, f.View, e) },
		Rest: "filebus " + f.Of.Group + " show " + record.ShellWord(e.Name.ID) + " --max-tokens 0",
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
			lines = append(lines, name+" "+OneLine(strings.Join(values, ", ")))
		case isList:
			blocks = append(append(blocks, name), Led("- ", markdown.Each(values, OneLine))...)
		default:
			blocks = append(append(blocks, name), markdown.Each(strings.Split(values[0], "\n"), OneLine)...)
		}
	}
	for _, p := range f.More(v) {
		if !slices.Contains(hide, p.Key) {
			lines = append(lines, OneLine(strings.ToLower(p.Key)+": "+p.Value))
		}
	}
	return append(lines, blocks...)
}

type nounShow[T any] struct {
	MaxTokens int `flag:"max-tokens" least:"0"`
	face      *Face[T]
}

func (o *nounShow[T]) Do(ctx context.Context, w *Work, args []string) error {
	c, err := o.face.Collection(ctx, w)
	if err != nil {
		return err
	}
	e, err := c.Get(ctx, args[0])
	if err != nil {
		return err
	}
	return o.face.Print(w, e, o.MaxTokens)
}

type nounEdit[T any] struct {
	EntryFlags[T]
	face *Face[T]
}

func (o *nounEdit[T]) Do(ctx context.Context, w *Work, args []string) error {
	var draft T
	given := o.Read(&draft)
	if len(given) == 0 {
		hint := "filebus " + o.face.Of.Group + " edit " + record.ShellWord(args[0]) + " --" + o.Fields[0].Flag + " TEXT"
		return Coded(record.Usage, hint, UsageError("nothing to change was given"))
	}
	if err := readBlocks(w.Environ, o.face.Of.Word, o.Fields, &draft); err != nil {
		return err
	}
	e, err := o.face.Open(w).Edit(ctx, args[0], draft, given)
	return o.face.changed(w, e, err)
}

// MaxDetails is how much of standard input is read, in bytes: an entry that has
// as much is refused.
const MaxDetails = 1 << 20

// readBlocks reads a text that is "-" from standard input.
func readBlocks[T any](e *Environ, noun string, fields []layout.Field[T], draft *T) error {
	for _, field := range fields {
		if isList, _ := field.IsList(); isList {
			continue
		}
		text := strings.Join(field.Get(draft), "")
		if field.IsBlock() {
			if err := e.ReadText(field.Flag, &text, MaxDetails); err != nil {
				return err
			}
			field.Put(draft, text)
		}
		if err := CheckUTF8(noun, text); err != nil {
			return err
		}
	}
	return nil
}

// shownProblems is how many problems of a file are named.
const shownProblems = 3

// NoteProblems says, in one line, what keeps parts of files from being entries.
func (e *Environ) NoteProblems(problems []*layout.SyntaxError) {
	if len(problems) == 0 {
		return
	}
	named := markdown.Each(problems[:min(shownProblems, len(problems))], (*layout.SyntaxError).Error)
	if more := len(problems) - len(named); more > 0 {
		named = append(named, Plural(more, "more problem")+", which filebus sync --problems lists")
	}
	e.Note("%s; nothing is lost: edit the file", OneLine(strings.Join(named, "; ")))
}

// shownLike is how many entries are named that a new one is like.
const shownLike = 3

// NoteLike names what is there that a new entry is like, or was refused for: those that are
// shown are returned.
func (e *Environ) NoteLike(like []noun.Likeness, added string, refused error) []noun.Likeness {
	if known, is := record.Detail[[]noun.Likeness](refused); is {
		like = known
	}
	if slices.ContainsFunc(like, func(l noun.Likeness) bool { return l.ID == added }) {
		e.Note("%s says the same already: nothing was added", added)
		return nil
	}
	like = like[:min(shownLike, len(like))]
	for _, l := range like {
		e.Note("likely duplicate: %s (%s): %s", l.ID, LikeText(l), markdown.Clip(l.Summary, MaxSummaryCell))
	}
	return like
}

// isDuplicate reports whether a verb says of an entry that it is another one.
func isDuplicate(v noun.Verb) bool { return v.Name == "duplicate" }

// LikeText says how much an entry is like another.
func LikeText(l noun.Likeness) string {
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
	return OneLine(text)
}
