package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"filebus/materialize/dialogue"
	"filebus/materialize/layout"
	"filebus/store/record"
)

type dialogueAssemble struct {
	Out    string `flag:"out,o" not:"stdout status"`
	Status string `flag:"status"`
	Split  bool   `flag:"split" not:"stdout"`
	Stdout bool   `flag:"stdout" not:"status"`
	Force  bool   `flag:"force"`
}

func (o *dialogueAssemble) run(ctx context.Context, w *workspace, args []string) error {
	status, err := dialogue.ParseLifecycle(o.Status)
	if err != nil {
		return coded(record.Usage, "run it again with --status accepted", err)
	}
	if o.Out != "" || o.Stdout {
		return o.elsewhere(ctx, w, args[0])
	}
	_, forum, key, err := w.findDialogue(ctx, args[0])
	if err != nil {
		return err
	}
	done, err := forum.Assemble(ctx, key, dialogue.AssembleOptions{Status: status, Split: o.Split, Force: o.Force})
	if errors.Is(err, dialogue.ErrCaptured) {
		return coded(record.Usage, "filebus dialogue assemble "+quote(key.String())+" --out FILE", err)
	}
	if err != nil {
		return err
	}
	if done.Skipped != nil {
		w.note("not all files were looked at: %s", oneLine(done.Skipped.Error()))
	}
	return printAssembled(w.environ, done)
}

// elsewhere prints a document, or writes it to a file outside of the store.
func (o *dialogueAssemble) elsewhere(ctx context.Context, w *workspace, slug string) error {
	w, forum, d, err := w.openDialogue(ctx, slug)
	if err != nil {
		return err
	}
	doc, err := forum.Document(ctx, d)
	if err != nil {
		return err
	}
	if o.Stdout {
		text := string(layout.AppendDialogueDocument(nil, doc))
		w.printf("%s", text)
		w.logRead("dialogue assemble", d.Key.String(), record.EstimateTokens(int64(len(text))))
		return nil
	}
	file := w.abs(o.Out)
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		hint := "run it again with --out " + quote(filepath.Join(o.Out, d.Key.Slug()+".dialogue.md"))
		return coded(record.Usage, hint, fmt.Errorf("%s is a folder", o.Out))
	}
	files := dialogue.RenderDocument(doc, filepath.Base(file), o.Split)
	done := dialogue.NewAssembled(d.Key, doc)
	if done.Files, err = writeDocument(ctx, filepath.Dir(file), files, o.Force); err != nil {
		return err
	}
	return printAssembled(w.environ, done)
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
