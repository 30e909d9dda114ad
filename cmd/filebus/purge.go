package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"filebus/cmd/filebus/cli"
	"filebus/materialize"
	"filebus/materialize/markdown"
	"filebus/materialize/release"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

type purgeCommand struct {
	Everywhere bool `flag:"everywhere"`
	Files      bool `flag:"files"`
	Trees      bool `flag:"trees"`
	Mark       bool `flag:"mark"`
	DryRun     bool `flag:"dry-run"`
}

func (o *purgeCommand) Do(ctx context.Context, w *cli.Work, args []string) error {
	request := release.Request{Everywhere: o.Everywhere, Files: o.Files, Trees: o.Trees, Short: o.Mark, DryRun: o.DryRun}
	request.Found = func(files []string) {
		for _, file := range files {
			w.Note("its file: %s", file)
		}
	}
	for _, arg := range args {
		refs, err := versionsOf(ctx, w, arg)
		if err != nil {
			return err
		}
		request.Versions = append(request.Versions, refs...)
	}
	quotes, texts, err := quotesOf(ctx, w, request.Versions)
	if err != nil {
		return err
	}
	report, err := giveUp(ctx, w, request) // of nothing, if all were destroyed and the rest was cut short
	if err == nil && !o.DryRun {
		var removed []string
		removed, err = w.Store.RemoveKept(ctx)
		if len(removed) > 0 {
			w.Note("removed older copies, which may have had it: %s", strings.Join(removed, ", "))
		}
		if err = errors.Join(err, w.Reader.ForgetReads()); err == nil {
			report.Swept, err = compact(ctx, w)
		}
	}
	if err != nil {
		return stopped(w.Environ, report, err)
	}
	for _, file := range report.Files {
		if !o.DryRun {
			noteStays(w, file)
		}
	}
	for _, file := range report.Left {
		w.NoteTry("rm "+record.ShellWord(file), "it stays, as it is its owner's, and has the text: %s", file)
	}
	if err := noteQuotes(ctx, w, quotes, texts, report); err != nil {
		return err
	}
	if !o.DryRun {
		noteReplaced(w, "a restore has kept %s, which may still have it", "purge "+strings.Join(markdown.Each(args, record.ShellWord), " "))
	}
	return printRelease(w.Environ, report, o.DryRun)
}

// The words by which is found what was made of a text, as fewer are said of many things, and how many names are told.
const leastQuoted, mostQuoted, mostNamed = 6, 12, 50

// quotesOf returns phrases with the first words of texts, once each, and their digests.
func quotesOf(ctx context.Context, w *cli.Work, refs []record.Ref) (quotes []string, texts []record.Digest, err error) {
	err = w.Store.View(ctx, func(tx *store.Tx) error {
		for _, ref := range refs {
			if v, err := tx.Get(ref); err == nil {
				texts = append(texts, v.Record.Body)
			}
			words := strings.FieldsFunc(tx.Description(ref).Preview, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
			if len(words) >= leastQuoted {
				quotes = append(quotes, `"`+strings.Join(words[:min(len(words), mostQuoted)], " ")+`"`)
			}
		}
		return nil
	})
	slices.Sort(quotes)
	return slices.Compact(quotes), texts, err
}

// noteQuotes names what begins as texts do that were destroyed, or quotes that, and what says that it was made of them,
// each with the command that destroys it, and PDFs that were made of any of them.
func noteQuotes(ctx context.Context, w *cli.Work, quotes []string, texts []record.Digest, report *release.Report) error {
	var names []record.Name
	for _, k := range report.Kept {
		names = append(names, k.Name)
	}
	for _, quote := range quotes {
		request := query.SearchRequest{All: true}
		request.Limit = mostNamed
		request.Parse(quote)
		found, err := w.Reader.Search(ctx, request)
		if err != nil {
			return err
		}
		for _, h := range found.Hits {
			names = append(names, h.Name)
		}
	}
	for n, name := range names {
		isGoing := slices.ContainsFunc(report.Released, func(r release.ReleasedName) bool { return r.Name == name })
		if !isGoing && !slices.Contains(names[:n], name) {
			w.NoteTry("filebus purge --files "+record.ShellWord(name.String()), "%s was made of it, or has the same words", cli.OneLine(name.String()))
			if of, err := w.Reader.Head(ctx, name); err == nil {
				texts = append(texts, of.Version.Record.Body)
			}
		}
	}
	for _, file := range documentsOf(w, texts) {
		w.NoteTry("rm "+record.ShellWord(file), "%s was made of it", file)
	}
	return nil
}

// noteReplaced names the stores that restores have kept, with a command for each.
func noteReplaced(w *cli.Work, text, command string) {
	for _, at := range replaced(w) {
		w.NoteTry("filebus --store "+record.ShellWord(at)+" "+command, text, at)
	}
}

// replaced returns the folders, absolute, of stores that restores have kept.
func replaced(w *cli.Work) []string {
	kept, _ := fs.Glob(os.DirFS(w.Location.Store), materialize.ReplacedPrefix+"*") // it was read just now
	return markdown.Each(kept, func(name string) string { return filepath.Join(w.Location.Store, name) })
}

// versionsOf returns the versions that a text means which are left: all of a name, or the
// one of a ref, or of a name with what the log shows of it, its position or ref.
func versionsOf(ctx context.Context, w *cli.Work, text string) (refs []record.Ref, err error) {
	id, version := text, ""
	v, err := lastOf(ctx, w, text)
	whole, _ := record.ParseName(text)
	isKnown, _ := w.EverStored(ctx, whole) // and destroyed since
	if at := strings.LastIndexByte(text, '@'); err != nil && !isKnown && at > 0 {
		id, version = text[:at], text[at+1:]
		v, err = lastOf(ctx, w, id)
	} else if err == nil && strings.HasPrefix(v.Ref.String(), text) {
		version = text
	}
	var name record.Name
	if err == nil {
		name = v.Record.Name
		err = fmt.Errorf("%s has no version %q: %w", name, version, store.ErrNotFound) // unless there is one below
	} else if name, _ = record.ParseName(id); errors.Is(err, store.ErrDropped) {
		return nil, nil
	}
	viewErr := w.Store.View(ctx, func(tx *store.Tx) error {
		events, historyErr := tx.History(name)
		for _, e := range events {
			if strconv.FormatUint(e.Position, 10) != version && (!strings.HasPrefix(e.Ref.String(), version) || version != "" && len(version) < 8) {
				continue
			}
			_, getErr := tx.Get(e.Ref)
			if err = nil; getErr == nil && !slices.Contains(refs, e.Ref) {
				refs = append(refs, e.Ref)
			}
		}
		if head, _ := tx.Head(name); name.Kind == record.KindFrame && slices.Contains(refs, head.Ref) {
			return cli.UsageError("%s is the frame of a file: its entries are purged one by one; for what stands beside them, "+
				"edit the file and run filebus sync, then purge this version", name)
		}
		return historyErr
	})
	return refs, errors.Join(viewErr, err)
}

// lastOf returns the last version that a text means, also of a name that is hidden.
func lastOf(ctx context.Context, w *cli.Work, text string) (store.Version, error) {
	v, err := w.VersionOf(ctx, text)
	if hidden, found := record.Detail[store.Version](err); found && errors.Is(err, query.ErrRetired) {
		return hidden, nil
	}
	return v, err
}
