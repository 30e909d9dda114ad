package dialogue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"filebus/cmd/filebus/cli"
	"filebus/materialize/layout"
	"filebus/store/record"
)

type dialogueAssemble struct {
	Out    string `flag:"out,o" not:"stdout status"`
	Status string `flag:"status"`
	Split  bool   `flag:"split" not:"stdout"`
	Stdout bool   `flag:"stdout" not:"status"`
	Force  bool   `flag:"force"`
	write  Writer
}

// A Writer makes a file, or replaces one that exists, at once.
type Writer func(ctx context.Context, file string, text []byte, replace bool) error

func (o *dialogueAssemble) Do(ctx context.Context, w *cli.Work, args []string) error {
	status, err := ParseLifecycle(o.Status)
	if err != nil {
		return cli.Coded(record.Usage, "run it again with --status accepted", err)
	}
	if o.Out != "" || o.Stdout {
		return o.elsewhere(ctx, w, args[0])
	}
	_, dialogues, key, err := findDialogue(ctx, w.Environ, args[0])
	if err != nil {
		return err
	}
	done, err := dialogues.Assemble(ctx, key, AssembleOptions{Status: status, Split: o.Split, Force: o.Force})
	if errors.Is(err, ErrCaptured) {
		return cli.Coded(record.Usage, "filebus dialogue assemble "+record.ShellWord(key.String())+" --out FILE", err)
	}
	if err != nil {
		return err
	}
	if done.Skipped != nil {
		w.Note("not all files were looked at: %s", cli.OneLine(done.Skipped.Error()))
	}
	return printAssembled(w.Environ, done)
}

// elsewhere prints a document, or writes it to a file outside of the store.
func (o *dialogueAssemble) elsewhere(ctx context.Context, w *cli.Work, slug string) error {
	w, dialogues, d, err := openDialogue(ctx, w.Environ, slug)
	if err != nil {
		return err
	}
	doc, err := dialogues.Document(ctx, d)
	if err != nil {
		return err
	}
	if o.Stdout {
		text := string(layout.AppendDialogueDocument(nil, doc))
		return w.Print(map[string]any{"dialogue": d.Key, "text": text}, "%s", text)
	}
	file := w.Abs(o.Out)
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		hint := "run it again with --out " + record.ShellWord(filepath.Join(o.Out, d.Key.Slug()+".dialogue.md"))
		return cli.Coded(record.Usage, hint, fmt.Errorf("%s is a folder", o.Out))
	}
	write := func(file string, text []byte, replaces bool) error { return o.write(ctx, file, text, replaces) }
	done, err := WriteDocument(d.Key, doc, file, o.Split, o.Force, write)
	if err != nil {
		return err
	}
	return printAssembled(w.Environ, done)
}

func printAssembled(e *cli.Environ, done *Assembled) error {
	if e.Global.JSON {
		return e.PrintJSON(done)
	}
	for _, f := range done.Files {
		note := ""
		if f.Unchanged {
			note = "  unchanged"
		}
		e.Printf("%s  ~%s%s\n", cli.OneLine(f.File), cli.Plural(f.Tokens, "token"), note)
	}
	for _, file := range done.Removed {
		e.Printf("removed %s\n", cli.OneLine(file))
	}
	e.Printf("%s, %s", cli.Plural(done.Rounds, "round"), cli.Plural(done.Turns, "turn"))
	if done.Absent > 0 {
		e.Printf(", %d absent: filebus dialogue check %s", done.Absent, record.ShellWord(done.Dialogue.String()))
	}
	e.Printf("\n")
	return nil
}
