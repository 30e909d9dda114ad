package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"filebus/materialize/dialogue"
	"filebus/materialize/layout"
	"filebus/store/record"
)

type assembleOptions struct {
	out    string
	status string
	split  bool
	stdout bool
	force  bool
}

func newDialogueAssembleCommand(env *environ) *cobra.Command {
	var opts assembleOptions
	cmd := &cobra.Command{
		Use:  "assemble SLUG",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runDialogueAssemble(cmd.Context(), env, opts, args[0])
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&opts.out, "out", "o", "", "")
	flags.StringVar(&opts.status, "status", "", "")
	flags.BoolVar(&opts.split, "split", false, "")
	flags.BoolVar(&opts.stdout, "stdout", false, "")
	flags.BoolVar(&opts.force, "force", false, "")
	cmd.MarkFlagsMutuallyExclusive("out", "stdout")
	cmd.MarkFlagsMutuallyExclusive("split", "stdout")
	cmd.MarkFlagsMutuallyExclusive("out", "status")
	cmd.MarkFlagsMutuallyExclusive("stdout", "status")
	return cmd
}

// An assembledJSON is what was written of a document, in JSON.
type assembledJSON struct {
	Dialogue string              `json:"dialogue"`
	Status   string              `json:"status,omitempty"` // of the file; not with --out
	Files    []assembledFileJSON `json:"files"`            // the document first, then its rounds
	Removed  []string            `json:"removed,omitempty"`
	Rounds   int                 `json:"rounds"`
	Turns    int                 `json:"turns"`
	Absent   int                 `json:"absent"` // agents that owed a turn and gave none
}

type assembledFileJSON struct {
	File      string `json:"file"` // absolute
	Name      string `json:"name,omitempty"`
	Ref       string `json:"ref,omitempty"`
	Tokens    int    `json:"tokens"`
	Unchanged bool   `json:"unchanged"`
}

func runDialogueAssemble(ctx context.Context, env *environ, opts assembleOptions, slug string) error {
	status, err := dialogue.ParseLifecycle(opts.status)
	if err != nil {
		return coded(record.Usage, "the same with --status accepted", err)
	}
	if opts.out != "" || opts.stdout {
		return assembleElsewhere(ctx, env, opts, slug)
	}
	_, forum, key, err := env.findDialogue(ctx, slug)
	if err != nil {
		return err
	}
	done, err := forum.Assemble(ctx, key, dialogue.AssembleOptions{Status: status, Split: opts.split, Force: opts.force})
	if captured := (*dialogue.CapturedError)(nil); errors.As(err, &captured) {
		return coded(record.Usage, "filebus dialogue assemble "+quote(key.String())+" --out FILE", err)
	}
	if err != nil {
		return err
	}
	if done.Skipped != nil {
		env.note("not all files were looked at: %s", oneLine(done.Skipped.Error()))
	}
	view := assembledJSON{Dialogue: key.String(), Status: string(done.Status), Removed: done.Removed}
	for _, r := range done.Files {
		view.Files = append(view.Files, assembledFileJSON{
			r.File, r.Name.String(), r.Ref.String(), record.EstimateTokens(r.Record.Size), r.Unchanged,
		})
	}
	return printAssembled(env, view, done.Document)
}

// assembleElsewhere prints a document, or writes it to a file outside of the store.
func assembleElsewhere(ctx context.Context, env *environ, opts assembleOptions, slug string) error {
	s, forum, d, err := env.openDialogue(ctx, slug)
	if err != nil {
		return err
	}
	doc, err := forum.Document(ctx, d, dialogue.PartsOf(d))
	if err != nil {
		return err
	}
	if opts.stdout {
		text := layout.AppendDialogueDocument(nil, doc)
		env.logRead(s, "dialogue assemble", d.Key.String(), record.EstimateTokens(int64(len(text))))
		_, err := env.out.Write(text)
		return err
	}
	file := env.abs(opts.out)
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return coded(record.Usage, "the same with --out "+quote(filepath.Join(opts.out, d.Key.Slug()+".dialogue.md")), fmt.Errorf("%s is a folder", opts.out))
	}
	files := dialogue.RenderDocument(doc, filepath.Base(file), opts.split)
	written, err := writeDocument(ctx, filepath.Dir(file), files, opts.force)
	if err != nil {
		return err
	}
	return printAssembled(env, assembledJSON{Dialogue: d.Key.String(), Files: written}, doc)
}

// writeDocument writes the files of a document, unless somebody has changed one that
// is there.
func writeDocument(
	ctx context.Context, folder string, files []dialogue.DocumentFile, force bool,
) ([]assembledFileJSON, error) {
	views, olds := []assembledFileJSON{}, [][]byte{}
	for _, part := range files {
		view := assembledFileJSON{File: filepath.Join(folder, part.Name), Tokens: record.EstimateTokens(int64(len(part.Text)))}
		old, err := os.ReadFile(view.File)
		if err == nil && !force {
			err = dialogue.CheckOverwrite(view.File, old, part.Text)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		view.Unchanged = err == nil && bytes.Equal(old, part.Text)
		views, olds = append(views, view), append(olds, old)
	}
	for i := len(files) - 1; i >= 0; i-- { // the document last: it names the others
		if views[i].Unchanged {
			continue
		}
		if err := writeText(ctx, views[i].File, files[i].Text, olds[i] != nil); err != nil {
			return nil, err
		}
	}
	return views, nil
}

func printAssembled(env *environ, view assembledJSON, doc layout.DialogueDocument) error {
	view.Rounds = len(doc.Rounds)
	for _, r := range doc.Rounds {
		for _, t := range r.Turns {
			if t.Absent != "" {
				view.Absent++
			} else {
				view.Turns++
			}
		}
	}
	if env.global.json {
		return env.printJSON(view)
	}
	for _, f := range view.Files {
		note := ""
		if f.Unchanged {
			note = "  unchanged"
		}
		env.printf("%s  ~%s%s\n", oneLine(f.File), plural(f.Tokens, "token"), note)
	}
	for _, file := range view.Removed {
		env.printf("removed %s\n", oneLine(file))
	}
	env.printf("%s, %s", plural(view.Rounds, "round"), plural(view.Turns, "turn"))
	if view.Absent > 0 {
		env.printf(", %d absent: filebus dialogue check %s", view.Absent, quote(view.Dialogue))
	}
	env.printf("\n")
	return nil
}
