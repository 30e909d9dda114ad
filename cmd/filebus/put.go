package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"filebus/cmd/filebus/result"
	"filebus/materialize"
	"filebus/store"
	"filebus/store/record"
)

type putCommand struct {
	callFlags
	structuredFlags
	Kind   string `flag:"kind" not:"name"`
	Name   string `flag:"name"`
	Status string `flag:"status"`
	Expect string `flag:"expect"`
	Force  bool   `flag:"force"`
	Empty  bool   `flag:"allow-empty"`

	name record.Name // the id is empty if each text has its own
}

func (o *putCommand) check(env *environ, args []string) (err error) {
	if len(args) > 1 && (o.Name != "" || o.Call != "") {
		return usageError("%s name one text, and %d were given", "--name and --call", len(args))
	}
	if err := o.callFlags.check(env, args); err != nil {
		return err
	}
	if err := o.structuredFlags.set(env, &o.call); err != nil {
		return err
	}
	o.call.Status = o.Status
	o.name, err = o.target()
	return err
}

func (o *putCommand) run(ctx context.Context, w *workspace, args []string) (err error) {
	if len(args) == 0 {
		args = []string{"-"}
	}
	if w.emptyInput = o.Empty; slices.Contains(args, "-") {
		if _, err := w.input(); err != nil { // before a store is made for it
			return coded(record.Wanting, "run it again with --allow-empty to store an empty text", err)
		}
	}
	open := w.create
	if len(o.From) > 0 { // what it was made from is there, perhaps as a file only
		open = w.openFresh
	}
	if w, err = open(ctx); err != nil {
		return err
	}
	if o.call.From, err = w.resolveAll(ctx, o.From); err != nil {
		return err
	}
	expect, err := w.expectation(ctx, o.Expect)
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
			return name, coded(record.Usage, "", err)
		}
	}
	if o.Name == "" {
		return name, nil
	}
	if name, err = record.ParseName(o.Name); err != nil {
		return name, coded(record.Usage, "", err)
	}
	if name.Tree != "" {
		return name, usageError("%s is in a captured tree; put stores in the project's own", name)
	}
	return name, nil
}

// put stores one of the texts.
func (o *putCommand) put(ctx context.Context, w *workspace, expect store.Expect, arg string) error {
	text, err := w.openInput(arg)
	if err != nil {
		return err
	}
	defer func() { _ = text.Close() }() // only read
	name, call := o.name, o.call
	if name.Kind == record.KindResult {
		call.Name = name.ID
		call.Listed = w.call != nil
		call.Keep = arg == "-" // what came from a pipe cannot be given again
		stored, err := result.Put(ctx, w.Workspace, call, expect, text)
		if err != nil {
			return nameBoth(arg, err)
		}
		return o.printReference(w.environ, stored)
	}
	if o.Kind != "" {
		if arg == "-" {
			return usageError("standard input needs a --name, as in %s/ID", name.Kind)
		}
		name.ID = idOf(w, name.Kind, arg)
	}
	put, err := w.Put(ctx, materialize.PutRequest{
		Kind: name.Kind, ID: name.ID, Text: text, Facts: call.Facts(), From: call.From, Preview: call.Preview,
		Source: record.SourcePut, Expect: expect, Careful: !o.Force, Listed: w.call != nil,
	})
	if err != nil {
		return err
	}
	return w.printStored(put)
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

// idOf returns the id of a file that is put under a kind: its path below the
// workspace for a note, else its base name without the extension.
func idOf(w *workspace, kind record.Kind, file string) string {
	if kind == record.KindNote {
		if rel, err := filepath.Rel(w.Root, w.abs(file)); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
		return filepath.Base(file)
	}
	base := filepath.Base(file)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

func (e *environ) printStored(r *materialize.PutResult) error {
	return e.print(r, "%s  %s\n", r.Ref.Short(), r.Name)
}

func (w *workspace) resolveAll(ctx context.Context, texts []string) ([]record.Ref, error) {
	var refs []record.Ref
	for _, text := range texts {
		v, err := w.resolve(ctx, text)
		if err != nil {
			return nil, err
		}
		refs = append(refs, v.Ref)
	}
	return refs, nil
}

func (w *workspace) expectation(ctx context.Context, text string) (store.Expect, error) {
	switch text {
	case "":
		return store.Expect{}, nil
	case "absent":
		return store.Absent(), nil
	}
	v, err := w.resolve(ctx, text)
	return store.Current(v.Ref), err
}
