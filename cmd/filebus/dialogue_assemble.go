package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"filebus/cmd/filebus/dialogue"
	"filebus/materialize/layout"
	"filebus/store/record"
)

type dialogueAssemble struct {
	Out    string `flag:"out,o" not:"stdout status"`
	Status string `flag:"status"`
	Split  bool   `flag:"split" not:"stdout"`
	Stdout bool   `flag:"stdout" not:"status"`
	Force  bool   `flag:"force"`
	write  writer
}

// A writer makes a file, or replaces one that exists, at once.
type writer func(ctx context.Context, file string, text []byte, replace bool) error

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
		return coded(record.Usage, "filebus dialogue assemble "+record.ShellWord(key.String())+" --out FILE", err)
	}
	if err != nil {
		return err
	}
	if done.Skipped != nil {
		w.note("not all files were looked at: %s", oneLine(done.Skipped.Error()))
	}
	return w.printAssembled(done)
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
		return w.print(map[string]any{"dialogue": d.Key, "text": text}, "%s", text)
	}
	file := w.abs(o.Out)
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		hint := "run it again with --out " + record.ShellWord(filepath.Join(o.Out, d.Key.Slug()+".dialogue.md"))
		return coded(record.Usage, hint, fmt.Errorf("%s is a folder", o.Out))
	}
	write := func(file string, text []byte, replaces bool) error { return o.write(ctx, file, text, replaces) }
	done, err := dialogue.WriteDocument(d.Key, doc, file, o.Split, o.Force, write)
	if err != nil {
		return err
	}
	return w.printAssembled(done)
}

func (e *environ) printAssembled(done *dialogue.Assembled) error {
	if e.global.json {
		return e.printJSON(done)
	}
	for _, f := range done.Files {
		note := ""
		if f.Unchanged {
			note = "  unchanged"
		}
		e.printf("%s  ~%s%s\n", oneLine(f.File), plural(f.Tokens, "token"), note)
	}
	for _, file := range done.Removed {
		e.printf("removed %s\n", oneLine(file))
	}
	e.printf("%s, %s", plural(done.Rounds, "round"), plural(done.Turns, "turn"))
	if done.Absent > 0 {
		e.printf(", %d absent: filebus dialogue check %s", done.Absent, record.ShellWord(done.Dialogue.String()))
	}
	e.printf("\n")
	return nil
}
