package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/result"
	"filebus/cmd/filebus/task"
	"filebus/materialize"
	"filebus/store"
	"filebus/store/record"
)

type putCommand struct {
	result.CallFlags
	result.StructuredFlags
	Kind   string `flag:"kind" not:"name"`
	Name   string `flag:"name"`
	Status string `flag:"status"`
	Expect string `flag:"expect"`
	Force  bool   `flag:"force"`
	Empty  bool   `flag:"allow-empty"`
	Again  bool   `flag:"again"`

	name record.Name // the id is empty if each text has its own
}

func (o *putCommand) Check(env *cli.Environ, args []string) (err error) {
	if len(args) > 1 && (o.Name != "" || o.Call != "") {
		return cli.UsageError("%s name one text, and %d were given", "--name and --call", len(args))
	}
	if err := o.CallFlags.Check(env, args); err != nil {
		return err
	}
	if err := o.StructuredFlags.Set(env, &o.Checked); err != nil {
		return err
	}
	o.Checked.Status, o.Checked.Again = o.Status, o.Again
	o.name, err = o.target()
	return err
}

func (o *putCommand) Do(ctx context.Context, w *cli.Work, args []string) (err error) {
	if len(args) == 0 {
		args = []string{"-"}
	}
	if w.EmptyInput = o.Empty; slices.Contains(args, "-") {
		if _, err := w.Input(); err != nil { // before a store is made for it
			return cli.Coded(record.Wanting, "run it again with --allow-empty to store an empty text", err)
		}
	}
	open := w.Create
	if len(o.From) > 0 { // what it was made from is there, perhaps as a file only
		open = w.OpenFresh
	}
	if w, err = open(ctx); err != nil {
		return err
	}
	if o.Checked.From, err = result.ResolveAll(ctx, w, o.From); err != nil {
		return err
	}
	expect, err := w.Expectation(ctx, o.Expect)
	if err != nil {
		return err
	}
	var wanting error
	for _, arg := range args {
		err := o.put(ctx, w, expect, arg)
		if errors.Is(err, record.Wanting) {
			wanting, err = err, nil // it is stored; so are the others
		}
		if err != nil {
			return err
		}
	}
	return wanting
}

// target returns the name that the texts are put under, with an empty id if each
// text has its own.
func (o *putCommand) target() (name record.Name, err error) {
	name.Kind = record.KindResult
	if o.Kind != "" {
		if name.Kind, err = record.ParseKind(o.Kind); err != nil {
			return name, cli.Coded(record.Usage, "", err)
		}
	}
	if o.Name == "" {
		return name, nil
	}
	if name, err = record.ParseName(o.Name); err != nil {
		return name, cli.Coded(record.Usage, "", err)
	}
	if name.Tree != "" {
		return name, cli.UsageError("%s is in a captured tree; put stores in the project's own", name)
	}
	return name, nil
}

// put stores one of the texts.
func (o *putCommand) put(ctx context.Context, w *cli.Work, expect store.Expect, arg string) error {
	text, err := w.OpenInput(arg)
	if err != nil {
		return err
	}
	defer func() { _ = text.Close() }() // only read
	name, call := o.name, o.Checked
	if name.Kind == record.KindResult {
		call.Name = name.ID
		call.Run, _ = task.RunOf(ctx, w, call.Run, call.Task)
		call.Listed = w.Call != nil
		call.Keep = arg == "-" // what came from a pipe cannot be given again
		stored, err := result.Put(ctx, w.Workspace, call, expect, text)
		if err != nil {
			return nameBoth(arg, err)
		}
		return o.PrintReference(w.Environ, stored)
	}
	if o.Kind != "" {
		if arg == "-" {
			return cli.UsageError("standard input needs a --name, as in %s/ID", name.Kind)
		}
		name.ID = idOf(w, name.Kind, arg)
	}
	put, err := w.Put(ctx, materialize.PutRequest{
		Kind: name.Kind, ID: name.ID, Text: text, Facts: call.Facts(), From: call.From, Preview: call.Preview,
		Source: record.SourcePut, Expect: expect, Careful: !o.Force, Listed: w.Call != nil, Again: o.Again,
	})
	if err != nil {
		return err
	}
	return printStored(w.Environ, put)
}

// nameBoth says of a call that has another text already which one was refused.
func nameBoth(arg string, err error) error {
	if !store.IsWriteOnce(err) {
		return err
	}
	if arg == "-" {
		arg = "standard input"
	}
	return fmt.Errorf("%s was not stored: %w", arg, err)
}

// idOf returns the id of a file that is put under a kind: of what is no note, its base name without the extension.
func idOf(w *cli.Work, kind record.Kind, file string) string {
	if kind == record.KindNote {
		return w.NoteID(file)
	}
	base := filepath.Base(file)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

func printStored(e *cli.Environ, r *materialize.PutResult) error {
	return e.Print(r, "%s  %s\n", r.Ref.Short(), r.Name)
}
