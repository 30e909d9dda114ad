package main

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

	"filebus/cmd/filebus/knowledge"
	"filebus/cmd/filebus/noun"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// knowledge returns the knowledge of a workspace.
func (w *workspace) knowledge() *knowledge.Entries {
	return knowledge.New(w.Workspace, w.read, w.now)
}

// readContent sets the content of a draft from the argument, a file or "-", or
// from standard input if the flag says so.
func (e *environ) readContent(d *layout.Knowledge, args []string) error {
	file := "-"
	switch {
	case len(args) > 0 && d.Content != "":
		return usageError("the content is given twice, in %s and as --content", args[0])
	case len(args) > 0:
		file = args[0]
	case d.Content != "-":
		return checkUTF8("content", d.Content)
	}
	in, err := e.readFile(file, maxDetails)
	if err != nil {
		return contentHint(file, err)
	}
	if d.Content = string(in.text); strings.TrimSpace(d.Content) == "" {
		return usageError("the content is empty")
	}
	return checkUTF8("content", d.Content)
}

// contentHint adds to the error of a file that is not there what was meant, if the
// argument looks like a sentence.
func contentHint(arg string, err error) error {
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(arg, " ") {
		return err
	}
	return coded(record.Usage, "run it again with --content "+record.ShellWord(arg),
		fmt.Errorf("%q is not a file", markdown.Clip(arg, maxSummaryCell)))
}

type knowledgeAdd struct {
	entryFlags[layout.Knowledge]
	Into         string `flag:"into"`
	NoDuplicates bool   `flag:"no-duplicates"`
}

type knowledgeChangeJSON struct {
	knowledge.Entry
	Supersedes string          `json:"supersedes,omitempty"`
	Duplicates []noun.Likeness `json:"duplicates,omitempty"`
}

func (o *knowledgeAdd) run(ctx context.Context, w *workspace, args []string) error {
	var d layout.Knowledge
	o.read(&d)
	if err := w.readContent(&d, args); err != nil {
		return err
	}
	if len(args) > 0 {
		if err := w.takeFrontMatter(&d); err != nil {
			return err
		}
	}
	d.Source = w.or(d.Source, "FILEBUS_TASK")
	w, err := w.create(ctx)
	if err != nil {
		return err
	}
	into, err := w.intoPath(o.Into)
	if err != nil {
		return err
	}
	b := w.knowledge()
	like, err := b.Similar(ctx, d)
	if err != nil { // the entry is not lost because the index is
		w.note("not looked at for duplicates: %v", err)
	}
	added, err := b.Add(ctx, d, into, o.NoDuplicates, like...)
	like = w.noteLike(like, added.ID, err)
	if err != nil {
		return err
	}
	if len(like) > 0 {
		id := record.ShellWord(like[0].ID)
		w.note("if it takes the place of %s: filebus knowledge supersede %s %s", id, id, record.ShellWord(added.ID))
	}
	return w.printKnowledgeChange(ctx, added, "", like)
}

// takeFrontMatter makes fields of the front matter that a content begins with, where flags
// have not given them, and names what is no field.
func (e *environ) takeFrontMatter(d *layout.Knowledge) error {
	front, start := markdown.FrontMatter([]byte(d.Content))
	if start == 0 {
		return nil
	}
	facts := layout.FrontFacts([]byte(d.Content))
	if d.Content = strings.TrimLeft(d.Content[start:], "\r\n"); strings.TrimSpace(d.Content) == "" {
		return usageError("the content is empty: there is nothing behind the front matter")
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
		e.note("not taken over from the front matter: %s", strings.Join(slices.Sorted(maps.Keys(front)), ", "))
	}
	return nil
}

// intoPath returns the path below the workspace of a file that the user names.
func (w *workspace) intoPath(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	rel, err := filepath.Rel(w.Root, w.abs(file))
	if err != nil || !filepath.IsLocal(rel) {
		return "", usageError("--into %s is not in the workspace %s", file, w.Root)
	}
	return filepath.ToSlash(rel), nil
}

func (w *workspace) printKnowledgeChange(ctx context.Context, e knowledge.Entry, supersedes string, like []noun.Likeness) error {
	w.noteProblems(w.knowledge().Problems(ctx, e.Path))
	line := e.ID
	if supersedes != "" {
		line += " supersedes " + supersedes
	}
	return w.print(knowledgeChangeJSON{e, supersedes, like}, "%s\n", oneLine(line))
}

type knowledgeEdit struct{ entryFlags[layout.Knowledge] }

func (o *knowledgeEdit) run(ctx context.Context, w *workspace, args []string) error {
	var d layout.Knowledge
	fields := o.read(&d)
	if len(args) > 1 {
		fields = append(fields, "content")
	}
	if len(fields) == 0 {
		hint := "filebus knowledge edit " + record.ShellWord(args[0]) + " --confidence high"
		return coded(record.Usage, hint, usageError("nothing to change was given"))
	}
	if err := w.readContent(&d, args[1:]); err != nil {
		return err
	}
	w, err := w.openFresh(ctx)
	if err != nil {
		return err
	}
	name, err := w.changeableName(ctx, args[0])
	if err != nil {
		return err
	}
	e, err := w.knowledge().Edit(ctx, name, d, fields)
	if err != nil {
		return err
	}
	return w.printKnowledgeChange(ctx, e, "", nil)
}

func (w *workspace) knowledgeName(ctx context.Context, text string) (record.Name, error) {
	v, err := w.resolve(ctx, nameOfKind(text, record.KindKnowledge))
	if err != nil {
		return record.Name{}, err
	}
	if name := v.Record.Name; name.Kind == record.KindKnowledge {
		return name, nil
	}
	return record.Name{}, usageError("%s is not an entry of knowledge", v.Record.Name)
}

// changeableName is knowledgeName for an entry that is to be changed.
func (w *workspace) changeableName(ctx context.Context, text string) (record.Name, error) {
	name, err := w.knowledgeName(ctx, text)
	if file, isWhole := strings.CutPrefix(name.ID, record.WholeFile); isWhole {
		return name, usageError("%s is a whole file: edit %s, with the fields in its front matter", name, file)
	}
	return name, err
}

type knowledgeSupersede struct{ entryFlags[layout.Knowledge] }

func (o *knowledgeSupersede) run(ctx context.Context, w *workspace, args []string) error {
	var d layout.Knowledge
	o.read(&d)
	if (len(args) == 2) == (d.Content != "") {
		return coded(record.Usage, "filebus knowledge supersede "+record.ShellWord(args[0])+" --content TEXT",
			errors.New("name the entry that takes its place as NEW, or give its text with --content"))
	}
	if err := w.readContent(&d, nil); err != nil {
		return err
	}
	w, err := w.openFresh(ctx)
	if err != nil {
		return err
	}
	old, err := w.knowledgeName(ctx, args[0]) // one that is only read need not be told
	if len(args) == 1 {
		old, err = w.changeableName(ctx, args[0])
	}
	if err != nil {
		return err
	}
	b := w.knowledge()
	if len(args) == 1 {
		d.Source = w.or(d.Source, "FILEBUS_TASK")
		made, err := b.SupersedeWith(ctx, old, d)
		if err != nil {
			return err
		}
		return w.printKnowledgeChange(ctx, made, old.ID, nil)
	}
	by, err := w.changeableName(ctx, args[1])
	if err != nil {
		return err
	}
	if _, err := b.Supersede(ctx, old, by); err != nil {
		return err
	}
	made, err := b.Get(ctx, by)
	if err != nil {
		return err
	}
	return w.printKnowledgeChange(ctx, made, old.ID, nil)
}

// noteSuperseded says of an entry that was shown what to read in its place.
func noteSuperseded(ctx context.Context, w *workspace, text string) error {
	name, err := w.knowledgeName(ctx, text)
	if err != nil {
		return nil // a version that is current no more, say
	}
	superseded, err := w.read.Superseded(ctx)
	if by, found := superseded[name]; found && err == nil {
		w.note("it is superseded: filebus knowledge show %s", record.ShellWord(linkEnd(by)))
	}
	return err
}
