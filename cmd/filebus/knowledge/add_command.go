package knowledge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/noun"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store"
	"filebus/store/record"
)

// Knowledge returns the knowledge of a workspace.
func Knowledge(w *cli.Work) *Entries {
	return New(w.Workspace, w.Reader, w.Now)
}

// readContent sets the content of a draft from the argument, a file or "-", or
// from standard input if the flag says so.
func readContent(e *cli.Environ, d *layout.Knowledge, args []string) error {
	file := "-"
	switch {
	case len(args) > 0 && d.Content != "":
		return cli.UsageError("the content is given twice, in %s and as --content", args[0])
	case len(args) > 0:
		file = args[0]
	case d.Content != "-":
		return cli.CheckUTF8("content", d.Content)
	}
	in, err := e.ReadFile(file, cli.MaxDetails)
	if err != nil {
		return contentHint(file, err)
	}
	if d.Content = string(in.Text); strings.TrimSpace(d.Content) == "" {
		return cli.UsageError("the content is empty")
	}
	return cli.CheckUTF8("content", d.Content)
}

// contentHint adds to the error of a file that is not there what was meant, if the
// argument looks like a sentence.
func contentHint(arg string, err error) error {
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(arg, " ") {
		return err
	}
	return cli.Coded(record.Usage, "run it again with --content "+record.ShellWord(arg),
		fmt.Errorf("%q is not a file", markdown.Clip(arg, cli.MaxSummaryCell)))
}

// validFlags say when an entry holds.
type validFlags struct {
	From  string `flag:"valid-from"`
	Until string `flag:"valid-until"`
}

// set gives a draft the dates, over those that it has, and returns the flag of the field if there are any.
func (o validFlags) set(d *layout.Knowledge, before string) (fields []string, err error) {
	for _, date := range []string{o.From, o.Until} {
		if _, isDate := layout.ParsePoint(date); date != "" && !isDate {
			return nil, cli.UsageError("%s is no date, such as 2026-05-31 or 2026", date)
		}
	}
	if o.From+o.Until == "" {
		return nil, nil
	}
	from, until := layout.CutValid(before)
	d.Valid = layout.Valid(cmp.Or(o.From, from), cmp.Or(o.Until, until))
	return []string{layout.ValidFlag}, nil
}

type knowledgeAdd struct {
	cli.EntryFlags[layout.Knowledge]
	validFlags
	Into         string `flag:"into"`
	NoDuplicates bool   `flag:"no-duplicates"`
	Again        bool   `flag:"again"`
}

// KnowledgeChangeJSON is what a command prints with --json.
type KnowledgeChangeJSON struct {
	Entry
	Supersedes string          `json:"supersedes,omitempty"`
	Duplicates []noun.Likeness `json:"duplicates,omitempty"`
}

func (o *knowledgeAdd) Do(ctx context.Context, w *cli.Work, args []string) error {
	var d layout.Knowledge
	given := o.Read(&d)
	dates, err := o.set(&d, "")
	if given = append(given, dates...); err == nil {
		err = readContent(w.Environ, &d, args)
	}
	if err == nil {
		w, err = w.Create(ctx)
	}
	if err != nil {
		return err
	}
	into, err := intoPath(w, o.Into)
	if err != nil {
		return err
	}
	b := Knowledge(w)
	w.Readmits = o.Again
	add := b.Add
	if _, _, isTheirs := b.at(into).Adds(); isTheirs {
		add, err = b.addTo, b.checkAdded(into, &d, given)
	} else if d.Source = w.Or(d.Source, "FILEBUS_TASK"); len(args) > 0 {
		err = takeFrontMatter(w.Environ, &d)
	}
	if err != nil {
		return err
	}
	like, err := b.Similar(ctx, d)
	if err != nil { // the entry is not lost because the index is
		w.Note("could not look for duplicates: %v", err)
	}
	added, err := add(ctx, d, into, o.NoDuplicates, like...)
	like = w.NoteLike(like, added.ID, err)
	if errors.Is(err, store.ErrBarred) {
		err = cli.Coded(record.Conflict, "run it again with --again", err)
	}
	if err != nil {
		return err
	}
	if len(like) > 0 {
		id := record.ShellWord(like[0].ID)
		w.Note("if it takes the place of %s: filebus knowledge supersede %s %s", id, id, record.ShellWord(added.ID))
	}
	return printKnowledgeChange(ctx, w, added, "", like)
}

// takeFrontMatter makes fields of the front matter that a content begins with, where flags
// have not given them, and names what is no field.
func takeFrontMatter(e *cli.Environ, d *layout.Knowledge) error {
	front, start := markdown.FrontMatter([]byte(d.Content))
	if start == 0 {
		return nil
	}
	facts := layout.FrontFacts([]byte(d.Content))
	if d.Content = strings.TrimLeft(d.Content[start:], "\r\n"); strings.TrimSpace(d.Content) == "" {
		return cli.UsageError("the content is empty: there is nothing behind the front matter")
	}
	for key, field := range map[string]struct {
		to    *string
		value string
	}{
		"title": {&d.Title, facts.Title}, "type": {&d.Type, facts.Attributes[record.AttributeType]},
		"confidence": {&d.Confidence, facts.Attributes[record.AttributeConfidence]}, "source": {&d.Source, strings.Join(front["source"], " ")},
	} {
		if *field.to = cmp.Or(*field.to, field.value); field.value != "" {
			delete(front, key)
		}
	}
	if len(d.Tags) == 0 {
		d.Tags = facts.Tags
	}
	if delete(front, "tags"); len(front) > 0 {
		e.Note("not taken over from the front matter: %s", strings.Join(slices.Sorted(maps.Keys(front)), ", "))
	}
	return nil
}

// intoPath returns the path below the workspace of a file that the user names.
func intoPath(w *cli.Work, file string) (string, error) {
	if file == "" {
		return "", nil
	}
	rel, err := filepath.Rel(w.Root, w.Abs(file))
	if err != nil || !filepath.IsLocal(rel) {
		return "", cli.UsageError("--into %s is not in the workspace %s", file, w.Root)
	}
	return filepath.ToSlash(rel), nil
}

func printKnowledgeChange(ctx context.Context, w *cli.Work, e Entry, supersedes string, like []noun.Likeness) error {
	w.NoteProblems(Knowledge(w).Problems(ctx, e.Path))
	line := LinkEnd(e.Name)
	if supersedes != "" {
		line += " supersedes " + LinkEnd(record.Name{Kind: record.KindKnowledge, ID: supersedes})
	}
	return w.Print(KnowledgeChangeJSON{e, supersedes, like}, "%s\n", cli.OneLine(line))
}

type knowledgeEdit struct {
	cli.EntryFlags[layout.Knowledge]
	validFlags
}

func (o *knowledgeEdit) Do(ctx context.Context, w *cli.Work, args []string) error {
	var d layout.Knowledge
	fields := o.Read(&d)
	if len(args) > 1 {
		fields = append(fields, "content")
	}
	if len(fields) == 0 && o.validFlags == (validFlags{}) {
		hint := "filebus knowledge edit " + record.ShellWord(args[0]) + " --confidence high"
		return cli.Coded(record.Usage, hint, cli.UsageError("nothing to change was given"))
	}
	if err := readContent(w.Environ, &d, args[1:]); err != nil {
		return err
	}
	w, err := w.OpenFresh(ctx)
	if err != nil {
		return err
	}
	name, err := changeableName(ctx, w, args[0])
	if err != nil {
		return err
	}
	b := Knowledge(w)
	e, err := b.Get(ctx, name)
	if err == nil {
		var dates []string
		dates, err = o.set(&d, e.Fields.Valid)
		fields = append(fields, dates...)
	}
	if err == nil {
		e, err = b.Edit(ctx, name, d, fields)
	}
	if err != nil {
		return err
	}
	return printKnowledgeChange(ctx, w, e, "", nil)
}

func knowledgeName(ctx context.Context, w *cli.Work, text string) (record.Name, error) {
	v, err := w.VersionNear(ctx, NameOfKind(text, record.KindKnowledge))
	if err != nil {
		return record.Name{}, err
	}
	if name := v.Record.Name; name.Kind == record.KindKnowledge {
		return name, nil
	}
	return record.Name{}, cli.UsageError("%s is not an entry of knowledge", v.Record.Name)
}

// changeableName is knowledgeName for an entry that is to be changed.
func changeableName(ctx context.Context, w *cli.Work, text string) (record.Name, error) {
	name, err := knowledgeName(ctx, w, text)
	file, isWhole := strings.CutPrefix(name.ID, record.WholeFile)
	if isWhole && Knowledge(w).at(file).Declared == "" {
		return name, cli.UsageError("%s is a whole file: edit %s, with the fields in its front matter", name, file)
	}
	return name, err
}

type knowledgeSupersede struct {
	cli.EntryFlags[layout.Knowledge]
	Rest string `flag:"rest"`
	From string `flag:"from"`
}

func (o *knowledgeSupersede) Do(ctx context.Context, w *cli.Work, args []string) error {
	var d layout.Knowledge
	o.Read(&d)
	if (len(args) == 2) == (d.Content != "") {
		return cli.Coded(record.Usage, "filebus knowledge supersede "+record.ShellWord(args[0])+" --content TEXT",
			errors.New("name the entry that takes its place as NEW, or give its text with --content"))
	}
	if err := readContent(w.Environ, &d, nil); err != nil {
		return err
	}
	w, err := w.OpenFresh(ctx)
	if err != nil {
		return err
	}
	old, err := knowledgeName(ctx, w, args[0]) // one that is only read need not be told
	if len(args) == 1 {
		old, err = changeableName(ctx, w, args[0])
	}
	if err != nil {
		return err
	}
	b := Knowledge(w)
	if len(args) == 1 {
		d.Source = w.Or(d.Source, "FILEBUS_TASK")
		made, err := b.SupersedeWith(ctx, old, d)
		if err == nil {
			err = o.end(ctx, w, old, made.Name)
		}
		if err != nil {
			return err
		}
		return printKnowledgeChange(ctx, w, made, old.ID, nil)
	}
	by, err := changeableName(ctx, w, args[1])
	if err != nil {
		return err
	}
	if _, err := b.Supersede(ctx, old, by); err != nil {
		return err
	}
	if err := o.end(ctx, w, old, by); err != nil {
		return err
	}
	made, err := b.Get(ctx, by)
	if err != nil {
		return err
	}
	return printKnowledgeChange(ctx, w, made, old.ID, nil)
}
