package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"filebus/materialize"
	"filebus/materialize/secrets"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// checkSecrets refuses a --secrets that a command cannot do.
func (e *environ) checkSecrets(command string) error {
	mode, err := secrets.ParseMode(e.global.secrets)
	switch {
	case err != nil:
		return usageError("--%w", err)
	case mode == secrets.Redact && slices.Contains([]string{"capture", "sync", "refresh"}, command):
		return record.Usage.Errorf("--secrets redact: %s never changes files, and stores them as they are", command).
			Try("run it again with --secrets refuse, which leaves out files with secrets")
	}
	return nil
}

// foundSecrets returns the secrets that were found, the first of them.
func (e *environ) foundSecrets() (found []materialize.Secret) {
	for _, w := range e.opened {
		all, _ := w.Secrets()
		found = append(found, all...)
	}
	return found
}

// noteSecrets says which secrets were found in what the command was given, and what helps.
func (e *environ) noteSecrets() {
	const mostNamed = 5 // how many secrets are named on stderr, each in a line
	for _, w := range e.opened {
		all, count := w.Secrets()
		named := all[:min(len(all), mostNamed)]
		isStored := func(s materialize.Secret) bool { return !s.Taken }
		for i, s := range named {
			hint, what := "", "secret"
			switch isLast := !slices.ContainsFunc(named[i+1:], isStored); {
			case s.Taken:
				what = "redacted"
			case isLast && (s.File || strings.HasPrefix(s.Name, "what is said")):
				hint = "take it out, then purge what filebus scan --history names"
			case isLast:
				hint = "filebus purge " + record.ShellWord(s.Name) + " --files, or --secrets redact the next time"
			}
			e.noteTry(hint, "%s: %s in line %d of %s", what, s.Rule, s.Line, oneLine(s.Name))
		}
		if more := count - len(named); more > 0 {
			e.note("%s more; filebus scan finds those that are stored", plural(more, "secret"))
		}
	}
}

type scanCommand struct {
	filterFlags
	History bool `flag:"history"`
}

// A storedSecret is a secret in what is stored.
type storedSecret struct {
	Ref  record.ShortRef `json:"ref"`
	Name record.Name     `json:"name"`
	secrets.Finding
}

type scanJSON struct {
	Records int            `json:"records"`
	Count   int            `json:"count"`   // of secrets
	Secrets []storedSecret `json:"secrets"` // the first 100 of each text

	known map[record.Digest]*secrets.Reader // of texts that were looked at
}

func (o *scanCommand) run(ctx context.Context, w *workspace, _ []string) error {
	refs, err := w.read.Refs(ctx, o.filter, o.History)
	if err != nil {
		return err
	}
	w.noteUnknown(ctx, &o.filter)
	w.noteReplaced("not looked at: %s, which a restore has kept", "scan --history")
	show, clear := w.progress("scanning")
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
		w.note("%s destroyed meanwhile", plural(gone, "record"))
	}
	for _, s := range report.Secrets {
		if !w.global.json {
			w.printf("%s  %s  %s  line %d\n", s.Ref, oneLine(s.Name.String()), s.Rule, s.Line)
		}
	}
	if w.global.json {
		err = w.printJSON(report)
	}
	if err = errors.Join(err, damage); err == nil && report.Count > 0 {
		err = coded(record.Wanting, "filebus purge "+report.Secrets[0].Ref.String(),
			fmt.Errorf("%s in %s", plural(report.Count, "secret"), plural(report.Records, "record")))
	}
	return err
}

// scan looks at one version: its text, and what is said of it, which is line 0.
func (r *scanJSON) scan(ctx context.Context, w *workspace, ref record.Ref) error {
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
		r.Secrets = append(r.Secrets, storedSecret{record.ShortRef(ref), v.Record.Name, f})
	}
	return nil
}
