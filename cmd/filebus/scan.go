package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/rule"
	"filebus/materialize"
	"filebus/materialize/markdown"
	"filebus/materialize/secrets"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// foundSecrets returns the secrets that were found, the first of them.
func foundSecrets(e *cli.Environ) (found []materialize.Secret) {
	for _, w := range e.Opened {
		all, _ := w.Secrets()
		found = append(found, all...)
	}
	return found
}

type scanCommand struct {
	cli.FilterFlags
	History bool `flag:"history"`
}

// A storedSecret is a secret in what is stored.
type storedSecret struct {
	Ref  record.ShortRef `json:"ref"`
	Name record.Name     `json:"name"`
	rule.Finding
	Line int `json:"line"` // 0: what is said of the text, such as a tag
}

type scanJSON struct {
	Records int            `json:"records"`
	Count   int            `json:"count"`   // of secrets
	Secrets []storedSecret `json:"secrets"` // the first 100 of each text

	known map[record.Digest]*secrets.Reader // of texts that were looked at
}

func (o *scanCommand) Do(ctx context.Context, w *cli.Work, _ []string) error {
	refs, err := w.Reader.Refs(ctx, o.Filter, o.History)
	if err != nil {
		return err
	}
	w.NoteUnknown(ctx, &o.Filter)
	noteReplaced(w, "not looked at: %s, which a restore has kept", "scan --history")
	show, clear := w.Progress("scanning")
	report := scanJSON{Records: len(refs), Secrets: []storedSecret{}, known: map[record.Digest]*secrets.Reader{}}
	var damage error
	for i, ref := range refs {
		switch err := report.scan(ctx, w, ref); {
		case errors.Is(err, store.ErrDropped): // meanwhile
			report.Records--
		case errors.Is(err, store.ErrDamaged) && ctx.Err() == nil:
			damage = errors.Join(damage, err)
		case err != nil:
			clear()
			return err
		}
		show(uint64(i+1), uint64(len(refs)))
	}
	clear()
	if gone := len(refs) - report.Records; gone > 0 {
		w.Note("%s destroyed meanwhile", cli.Plural(gone, "record"))
	}
	shown := markdown.Each(report.Secrets, func(s storedSecret) rule.Finding {
		s.File, s.Message, s.Remedy = s.Ref.String(), s.Name.String(), "" // the error has one for the first
		return s.Finding
	})
	err = w.Print(report, "%s", w.FindingsText(shown, 0))
	if err = errors.Join(err, damage); err == nil && report.Count > 0 {
		err = cli.Coded(record.Wanting, report.Secrets[0].Remedy,
			fmt.Errorf("%s in %s", cli.Plural(report.Count, "secret"), cli.Plural(report.Records, "record")))
	}
	return err
}

// scan looks at one version: its text, and what is said of it, which is line 0.
func (r *scanJSON) scan(ctx context.Context, w *cli.Work, ref record.Ref) error {
	var content store.Content
	v, err := query.View(ctx, w.Store, func(tx *store.Tx) (v store.Version, err error) {
		if v, err = tx.Get(ref); err == nil {
			content, err = tx.Content(v.Record)
		}
		return v, err
	})
	if err != nil {
		return err
	}
	looked := r.known[v.Record.Body]
	if looked == nil {
		if looked, err = secrets.ReadThrough(content.Open); err != nil {
			return fmt.Errorf("%s: %w", v.Record.Name, err)
		}
		r.known[v.Record.Body] = &secrets.Reader{Found: looked.Found, Count: looked.Count}
	}
	said := secrets.Scan([]byte(strings.Join(append(v.Record.Tags, v.Record.Name.ID, v.Record.Agent, v.Record.Task), "\n")))
	for i := range said {
		said[i].Line = 0
	}
	r.Count += len(said) + looked.Count
	for _, f := range append(said, looked.Found...) {
		short := record.ShortRef(ref)
		found := rule.Finding{Rule: f.Rule, Level: rule.Must, Line: f.Line, Remedy: "filebus purge --files " + short.String()}
		r.Secrets = append(r.Secrets, storedSecret{short, v.Record.Name, found, f.Line})
	}
	return nil
}
