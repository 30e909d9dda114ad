package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"filebus/materialize/knowledge"
	"filebus/materialize/layout"
	"filebus/store/record"
)

// base returns the knowledge of a workspace.
func (e *environ) base(s *session) *knowledge.Base {
	return knowledge.New(s.Workspace, s.read, e.now)
}

// addDraftFlags gives cmd a flag for each field of an entry.
func addDraftFlags(cmd *cobra.Command, d *knowledge.Draft) {
	flags := cmd.Flags()
	flags.StringVar(&d.Type, "type", "", "")
	flags.StringVar(&d.Content, "content", "", "")
	flags.StringVar(&d.Title, "title", "", "")
	flags.StringSliceVar(&d.Tags, "tag", nil, "")
	flags.StringVar(&d.Confidence, "confidence", "", "")
	flags.StringVar(&d.Source, "source", "", "")
	flags.StringVar(&d.File, "file", "", "")
}

// readContent sets the content of a draft from the argument, a file or "-", or
// from standard input if the flag says so.
func readContent(env *environ, d *knowledge.Draft, args []string) error {
	from := io.Reader(nil)
	switch {
	case len(args) > 0 && d.Content != "":
		return usageError("the content is given twice, in %s and as --content", args[0])
	case len(args) > 0 && args[0] != "-":
		f, err := openInput(env, args[0])
		if err != nil {
			return contentHint(args[0], err)
		}
		defer func() { _ = f.Close() }() // only read
		from = f
	case len(args) > 0 || d.Content == "-":
		from = env.in
	default:
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(from, maxContentInput))
	if err != nil {
		return fmt.Errorf("reading the content: %w", err)
	}
	if d.Content = string(text); strings.TrimSpace(d.Content) == "" {
		return usageError("the content is empty")
	}
	return nil
}

// contentHint adds to the error of a file that is not there what was meant, if the
// argument looks like a sentence.
func contentHint(arg string, err error) error {
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(arg, " ") {
		return err
	}
	return coded(record.Usage, "the same with --content "+quote(arg), fmt.Errorf("%q is no file", layout.Clip(arg, issueSummary)))
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
	cmd := &cobra.Command{
		Use:  "add [FILE]",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runKnowledgeAdd(cmd.Context(), env, opts, args) },
	}
	addDraftFlags(cmd, &opts.draft)
	cmd.Flags().StringVar(&opts.into, "into", "", "")
	cmd.Flags().BoolVar(&opts.noDuplicates, "no-duplicates", false, "")
	return cmd
}

// A knowledgeChangeJSON is what commands print of an entry that they changed.
type knowledgeChangeJSON struct {
	ID         string     `json:"id"`
	Type       string     `json:"type"`
	Ref        string     `json:"ref"`
	File       string     `json:"file"` // absolute
	Supersedes string     `json:"supersedes,omitempty"`
	Duplicates []likeJSON `json:"duplicates,omitempty"`
}

// A likeJSON is an entry that a new one may say the same as.
type likeJSON struct {
	ID      string   `json:"id"`
	Summary string   `json:"summary"`
	Shared  float64  `json:"shared"` // of the words of both
	Tags    []string `json:"tags,omitempty"`
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
	if d.Into, err = intoPath(env, s, opts.into); err != nil {
		return err
	}
	b := env.base(s)
	like, err := b.Similar(ctx, *d)
	if err != nil { // the entry is not lost because the index is
		env.note("not looked at for duplicates: %v", err)
	}
	added, err := addUnlessLike(ctx, b, opts, like)
	if known := (*knowledge.DuplicateError)(nil); errors.As(err, &known) {
		noteLike(env, known.Like)
	}
	if err != nil {
		return err
	}
	like = slices.DeleteFunc(like, func(l knowledge.Likeness) bool { return l.Entry.Name == added.Name })
	noteLike(env, like)
	if len(like) > 0 {
		id := quote(like[0].Entry.Name.ID)
		env.note("if it takes the place of %s: filebus knowledge supersede %s %s", id, id, quote(added.Name.ID))
	}
	return printKnowledgeChange(env, s, added, "", like)
}

// addUnlessLike adds an entry, or refuses it, if it was asked to, as one that is
// known: by the index from any file, or by what was added to the file since.
func addUnlessLike(ctx context.Context, b *knowledge.Base, opts knowledgeAddOptions, like []knowledge.Likeness) (knowledge.Entry, error) {
	if opts.noDuplicates && len(like) > 0 {
		return knowledge.Entry{}, &knowledge.DuplicateError{Like: like}
	}
	return b.Add(ctx, opts.draft, opts.noDuplicates)
}

// intoPath returns the path below the workspace of a file that the user names.
func intoPath(env *environ, s *session, file string) (string, error) {
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
		env.note("%s says much the same: %s", l.Entry.Name.ID, likeText(l))
	}
}

// likeText says how much an entry is like another, and what it says.
func likeText(l knowledge.Likeness) string {
	tags := ""
	if len(l.Tags) > 0 {
		tags = ", tags " + strings.Join(l.Tags, " ")
	}
	return oneLine(fmt.Sprintf("%.0f %% of the words%s: %s", 100*l.Shared, tags, layout.Clip(l.Entry.Fields.Content, issueSummary)))
}

func likesJSON(like []knowledge.Likeness) []likeJSON {
	var list []likeJSON
	for _, l := range like[:min(shownDuplicates, len(like))] {
		list = append(list, likeJSON{l.Entry.Name.ID, layout.Clip(oneLine(l.Entry.Fields.Content), issueSummary), float64(int(100*l.Shared)) / 100, l.Tags})
	}
	return list
}

// noteKnowledgeProblems says what of a file is no entry, though it may be meant as
// one.
func noteKnowledgeProblems(env *environ, s *session, path string) {
	problems := env.base(s).Problems(path)
	switch more := len(problems) - 1; {
	case more == 0:
		env.note("%v; nothing is lost: edit the file", problems[0])
	case more > 0:
		env.note("%v, and %s; nothing is lost: edit the file", problems[0], plural(more, "more problem"))
	}
}

func printKnowledgeChange(env *environ, s *session, e knowledge.Entry, supersedes string, like []knowledge.Likeness) error {
	noteKnowledgeProblems(env, s, e.Path)
	if env.global.json {
		return env.printJSON(knowledgeChangeJSON{e.Name.ID, e.Type, e.Ref.String(), validText(s.FilePath(e.Path)), supersedes, likesJSON(like)})
	}
	line := e.Name.ID
	if supersedes != "" {
		line += " supersedes " + supersedes
	}
	env.printf("%s\n", oneLine(line))
	return nil
}

func newKnowledgeEditCommand(env *environ) *cobra.Command {
	var d knowledge.Draft
	cmd := &cobra.Command{
		Use:  "edit ID [FILE]",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			var fields []string
			for _, name := range []string{"type", "content", "title", "tag", "confidence", "source", "file"} {
				if cmd.Flags().Changed(name) || name == "content" && len(args) > 1 {
					fields = append(fields, name)
				}
			}
			return runKnowledgeEdit(cmd.Context(), env, d, fields, args)
		},
		ValidArgsFunction: completeNames(env),
	}
	addDraftFlags(cmd, &d)
	return cmd
}

func runKnowledgeEdit(ctx context.Context, env *environ, d knowledge.Draft, fields, args []string) error {
	if len(fields) == 0 {
		return coded(record.Usage, "filebus knowledge edit "+quote(args[0])+" --confidence high", errors.New("nothing to change was given"))
	}
	if err := readContent(env, &d, args[1:]); err != nil {
		return err
	}
	s, name, err := env.findKnowledge(ctx, args[0])
	if err != nil {
		return err
	}
	e, err := env.base(s).Edit(ctx, name, d, fields)
	if err != nil {
		return err
	}
	return printKnowledgeChange(env, s, e, "", nil)
}

// findKnowledge opens the workspace and returns the name of the entry that a
// user's text means.
func (e *environ) findKnowledge(ctx context.Context, text string) (*session, record.Name, error) {
	s, err := e.openFresh(ctx)
	if err != nil {
		return nil, record.Name{}, err
	}
	name, err := e.knowledgeName(ctx, s, text)
	return s, name, err
}

func (e *environ) knowledgeName(ctx context.Context, s *session, text string) (record.Name, error) {
	v, err := e.resolve(ctx, s, nameOfKind(text, record.KindKnowledge))
	if err != nil {
		return record.Name{}, err
	}
	if name := v.Record.Name; name.Kind == record.KindKnowledge {
		return name, nil
	}
	return record.Name{}, usageError("%s is no entry of knowledge", v.Record.Name)
}
