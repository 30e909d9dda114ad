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
	cmd := newCommand("assemble SLUG", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		return runDialogueAssemble(ctx, env, opts, args[0])
	})
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
	if errors.Is(err, dialogue.ErrCaptured) {
		return coded(record.Usage, "filebus dialogue assemble "+quote(key.String())+" --out FILE", err)
	}
	if err != nil {
		return err
	}
	if done.Skipped != nil {
		env.note("not all files were looked at: %s", oneLine(done.Skipped.Error()))
	}
	return printAssembled(env, done)
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
		text := string(layout.AppendDialogueDocument(nil, doc))
		env.printf("%s", text)
		s.logRead("dialogue assemble", d.Key.String(), record.EstimateTokens(int64(len(text))))
		return nil
	}
	file := env.abs(opts.out)
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		hint := "the same with --out " + quote(filepath.Join(opts.out, d.Key.Slug()+".dialogue.md"))
		return coded(record.Usage, hint, fmt.Errorf("%s is a folder", opts.out))
	}
	files := dialogue.RenderDocument(doc, filepath.Base(file), opts.split)
	done := dialogue.NewAssembled(d.Key, doc)
	if done.Files, err = writeDocument(ctx, filepath.Dir(file), files, opts.force); err != nil {
		return err
	}
	return printAssembled(env, done)
}

// writeDocument writes the files of a document, unless somebody has changed one that
// is there.
func writeDocument(
	ctx context.Context, folder string, files []dialogue.DocumentFile, force bool,
) ([]dialogue.AssembledFile, error) {
	var written []dialogue.AssembledFile
	var olds [][]byte
	for _, part := range files {
		size := int64(len(part.Text))
		file := dialogue.AssembledFile{File: filepath.Join(folder, part.Name), Tokens: record.EstimateTokens(size)}
		old, err := os.ReadFile(file.File)
		if err == nil && !force {
			err = dialogue.CheckOverwrite(file.File, old, part.Text)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		file.Unchanged = err == nil && bytes.Equal(old, part.Text)
		written, olds = append(written, file), append(olds, old)
	}
	for i := len(files) - 1; i >= 0; i-- { // the document last: it names the others
		if written[i].Unchanged {
			continue
		}
		if err := writeText(ctx, written[i].File, files[i].Text, olds[i] != nil); err != nil {
			return nil, err
		}
	}
	return written, nil
}

func printAssembled(env *environ, done *dialogue.Assembled) error {
	if env.global.json {
		return env.printJSON(done)
	}
	for _, f := range done.Files {
		note := ""
		if f.Unchanged {
			note = "  unchanged"
		}
		env.printf("%s  ~%s%s\n", oneLine(f.File), plural(f.Tokens, "token"), note)
	}
	for _, file := range done.Removed {
		env.printf("removed %s\n", oneLine(file))
	}
	env.printf("%s, %s", plural(done.Rounds, "round"), plural(done.Turns, "turn"))
	if done.Absent > 0 {
		env.printf(", %d absent: filebus dialogue check %s", done.Absent, quote(done.Dialogue.String()))
	}
	env.printf("\n")
	return nil
}
