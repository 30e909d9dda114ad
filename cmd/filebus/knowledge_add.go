package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"filebus/materialize/knowledge"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// base returns the knowledge of a workspace.
func (w *workspace) base() *knowledge.Base {
	return knowledge.New(w.Workspace, w.read, w.now)
}

// readContent sets the content of a draft from the argument, a file or "-", or
// from standard input if the flag says so.
func readContent(env *environ, d *knowledge.Draft, args []string) error {
	in := env.in
	switch {
	case len(args) > 0 && d.Content != "":
		return usageError("the content is given twice, in %s and as --content", args[0])
	case len(args) > 0 && args[0] != "-":
		f, err := env.openInput(args[0])
		if err != nil {
			return contentHint(args[0], err)
		}
		defer func() { _ = f.Close() }() // only read
		in, d.Content = f, "-"
	case len(args) > 0:
		d.Content = "-"
	case d.Content != "-":
		return nil
	}
	err := readText(in, "content", &d.Content, maxContentInput)
	if err == nil && strings.TrimSpace(d.Content) == "" {
		err = usageError("the content is empty")
	}
	return err
}

// contentHint adds to the error of a file that is not there what was meant, if the
// argument looks like a sentence.
func contentHint(arg string, err error) error {
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(arg, " ") {
		return err
	}
	return coded(record.Usage, "the same with --content "+quote(arg),
		fmt.Errorf("%q is no file", markdown.Clip(arg, issueSummary)))
}

// maxContentInput is how much of an input is read, in bytes: an entry that has as
// much is refused.
const maxContentInput = 1 << 20

type knowledgeAddOptions struct {
	draft        knowledge.Draft
	into         string
	noDuplicates bool
}

func newKnowledgeAddCommand(env *environ) *cobra.Command {
	var opts knowledgeAddOptions
	var flags entryFlags[layout.Knowledge]
	cmd := newCommand("add [FILE]", cobra.MaximumNArgs(1), func(ctx context.Context, args []string) error {
		flags.read((*layout.Knowledge)(&opts.draft))
		return runKnowledgeAdd(ctx, env, opts, args)
	})
	flags = addEntryFlags(cmd, layout.KnowledgeFields().Inputs())
	cmd.Flags().StringVar(&opts.into, "into", "", "")
	cmd.Flags().BoolVar(&opts.noDuplicates, "no-duplicates", false, "")
	return cmd
}

// A knowledgeChangeJSON is what commands print of an entry that they changed.
type knowledgeChangeJSON struct {
	knowledge.Entry
	Supersedes string               `json:"supersedes,omitempty"`
	Duplicates []knowledge.Likeness `json:"duplicates,omitempty"`
}

func runKnowledgeAdd(ctx context.Context, env *environ, opts knowledgeAddOptions, args []string) error {
	d := &opts.draft
	if err := readContent(env, d, args); err != nil {
		return err
	}
	d.Source = env.or(d.Source, "FILEBUS_TASK")
	s, err := env.create(ctx)
	if err != nil {
		return err
	}
	into, err := intoPath(env, s, opts.into)
	if err != nil {
		return err
	}
	b := s.base()
	like, err := b.Similar(ctx, *d)
	if err != nil { // the entry is not lost because the index is
		env.note("not looked at for duplicates: %v", err)
	}
	added, err := b.Add(ctx, *d, into, opts.noDuplicates, like...)
	if known, is := record.Detail[[]knowledge.Likeness](err); is {
		noteLike(env, known)
	}
	if err != nil {
		return err
	}
	like = slices.DeleteFunc(like, func(l knowledge.Likeness) bool { return l.ID == added.ID })
	noteLike(env, like)
	if len(like) > 0 {
		id := quote(like[0].ID)
		env.note("if it takes the place of %s: filebus knowledge supersede %s %s", id, id, quote(added.ID))
	}
	return printKnowledgeChange(env, s, added, "", like)
}

// intoPath returns the path below the workspace of a file that the user names.
func intoPath(env *environ, s *workspace, file string) (string, error) {
	if file == "" {
		return "", nil
	}
	rel, err := filepath.Rel(s.Root, env.abs(file))
	if err != nil || !filepath.IsLocal(rel) {
		return "", usageError("--into %s is not in the workspace %s", file, s.Root)
	}
	return filepath.ToSlash(rel), nil
}

func noteLike(env *environ, like []knowledge.Likeness) {
	for _, l := range like[:min(shownDuplicates, len(like))] {
		env.note("%s says much the same: %s", l.ID, likeText(l))
	}
}

// likeText says how much an entry is like another, and what it says.
func likeText(l knowledge.Likeness) string {
	tags := ""
	if len(l.Tags) > 0 {
		tags = ", tags " + strings.Join(l.Tags, " ")
	}
	return oneLine(fmt.Sprintf("%.0f %% of the words%s: %s", 100*l.Shared, tags, l.Summary))
}

// noteKnowledgeProblems says what of a file is no entry, though it may be meant as
// one.
func noteKnowledgeProblems(env *environ, s *workspace, path string) {
	problems := s.base().Problems(path)
	switch more := len(problems) - 1; {
	case more == 0:
		env.note("%v; nothing is lost: edit the file", problems[0])
	case more > 0:
		env.note("%v, and %s; nothing is lost: edit the file", problems[0], plural(more, "more problem"))
	}
}

func printKnowledgeChange(env *environ, s *workspace, e knowledge.Entry, supersedes string, like []knowledge.Likeness) error {
	noteKnowledgeProblems(env, s, e.Path)
	if env.global.json {
		return env.printJSON(knowledgeChangeJSON{e, supersedes, like[:min(shownDuplicates, len(like))]})
	}
	line := e.ID
	if supersedes != "" {
		line += " supersedes " + supersedes
	}
	env.printf("%s\n", oneLine(line))
	return nil
}

func newKnowledgeEditCommand(env *environ) *cobra.Command {
	var flags entryFlags[layout.Knowledge]
	cmd := newCommand("edit ID [FILE]", cobra.RangeArgs(1, 2), func(ctx context.Context, args []string) error {
		var d knowledge.Draft
		fields := flags.read((*layout.Knowledge)(&d))
		if len(args) > 1 {
			fields = append(fields, "content")
		}
		return runKnowledgeEdit(ctx, env, d, fields, args)
	})
	cmd.ValidArgsFunction = completeNames(env)
	flags = addEntryFlags(cmd, layout.KnowledgeFields().Inputs())
	return cmd
}

func runKnowledgeEdit(ctx context.Context, env *environ, d knowledge.Draft, fields, args []string) error {
	if len(fields) == 0 {
		hint := "filebus knowledge edit " + quote(args[0]) + " --confidence high"
		return coded(record.Usage, hint, usageError("nothing to change was given"))
	}
	if err := readContent(env, &d, args[1:]); err != nil {
		return err
	}
	s, name, err := env.findKnowledge(ctx, args[0])
	if err != nil {
		return err
	}
	e, err := s.base().Edit(ctx, name, d, fields)
	if err != nil {
		return err
	}
	return printKnowledgeChange(env, s, e, "", nil)
}

// findKnowledge opens the workspace and returns the name of the entry that a
// user's text means.
func (e *environ) findKnowledge(ctx context.Context, text string) (*workspace, record.Name, error) {
	s, err := e.openFresh(ctx)
	if err != nil {
		return nil, record.Name{}, err
	}
	name, err := s.knowledgeName(ctx, text)
	return s, name, err
}

func (w *workspace) knowledgeName(ctx context.Context, text string) (record.Name, error) {
	v, err := w.resolve(ctx, nameOfKind(text, record.KindKnowledge))
	if err != nil {
		return record.Name{}, err
	}
	if name := v.Record.Name; name.Kind == record.KindKnowledge {
		return name, nil
	}
	return record.Name{}, usageError("%s is no entry of knowledge", v.Record.Name)
}
