package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/hook"
	"filebus/cmd/filebus/rule"
	"filebus/cmd/filebus/setup"
	"filebus/materialize"
	"filebus/materialize/secrets"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

type doctorJSON struct {
	Checks []rule.Finding `json:"checks"` // one for each thing, its state being the level
}

// A doctor looks at an installation. It changes nothing, and waits for nobody.
type doctor struct {
	*cli.Work // of no store, where that cannot be opened
	at        materialize.Location
	located   error // why there is no store
	found     []rule.Finding
	synced    []*materialize.SyncReport // of the roots, as a dry run has them
}

func runDoctor(ctx context.Context, without *cli.Work, _ []string) error {
	without.Global.Wait = min(without.Global.Wait, 200*time.Millisecond)
	d := &doctor{Work: without}
	d.at, d.located = d.Locate()
	d.look(ctx, "program", func(context.Context) (string, error) {
		v := versionView()
		return cli.Words(v.Version, v.Revision, v.Go, v.Platform), nil
	})
	if d.located == nil {
		d.look(ctx, "trust", d.trusted)
		d.look(ctx, "disk", d.disk)
		d.look(ctx, "files", d.files)
	}
	if d.located != nil || d.User().Check(d.at.Store) == nil { // else nothing of it is read
		d.look(ctx, "store", d.stored)
	}
	if d.Workspace != nil {
		d.look(ctx, "log", d.clock)
		d.look(ctx, "purged", d.purged)
		d.look(ctx, "index", d.index)
		d.look(ctx, "mirror", d.drift)
		if new, err := d.places(); new != "" || err != nil {
			d.look(ctx, "conventions", func(context.Context) (string, error) {
				return "", cmp.Or(err, error(record.Partly.Errorf("%s", new)))
			})
		}
		d.look(ctx, "conflicts", d.disputed)
		d.look(ctx, "remotes", d.remote)
	}
	d.look(ctx, "hooks", d.hooks)
	for _, in := range (setup.Options{Root: cmp.Or(d.at.Root, d.Dir), Home: d.Home(), Getenv: d.Getenv}).Installed() {
		d.look(ctx, "client", func(context.Context) (string, error) { return d.client(in) })
	}
	err := d.PresentWhole("", doctorJSON{d.found}, d.FindingsText(d.found, 0))
	if err == nil && rule.Count(d.found, rule.Wrong) > 0 {
		err = cli.SilentError(record.Wanting)
	}
	return err
}

// look adds what was found. An error that is busy or partly so is good to know, any other one
// is wrong.
func (d *doctor) look(ctx context.Context, check string, at func(context.Context) (string, error)) {
	detail, err := at(ctx)
	f := rule.Finding{Rule: check, Level: rule.OK, Message: detail}
	if err != nil {
		said := cli.Explain(err)
		f.Level, f.Message, f.Remedy = rule.Wrong, d.AtStore(said.Message), d.AtStore(said.Hint)
		if said.Exit == cli.ExitBusy || said.Exit == cli.ExitPartly {
			f.Level, f.Remedy = rule.Note, ""
		}
	}
	f.Check, f.State, f.Detail, f.Try = f.Rule, string(f.Level), f.Message, f.Remedy
	d.found = append(d.found, f)
}

// purged tells how many texts stay out that were destroyed.
func (d *doctor) purged(ctx context.Context) (text string, err error) {
	err = d.Store.View(ctx, func(tx *store.Tx) error {
		bars, last := tx.Bars(), time.Time{}
		for _, b := range bars {
			if b.Time.After(last) {
				last = b.Time
			}
		}
		if text = "no text was destroyed that stays out"; len(bars) > 0 {
			text = fmt.Sprintf("%s, the last since %s", cli.Count(len(bars), "1 text stays out", "%d texts stay out"), d.Minute(last))
		}
		return nil
	})
	return text, err
}

func (d *doctor) trusted(context.Context) (string, error) {
	reasons := strings.Join(d.User().Reasons(d.at.Store), ", ")
	return cmp.Or(reasons, "the store is the user's own"), d.User().Check(d.at.Store)
}

// disk finds room wanting below 500 MB, if that is less than a twentieth: a small disk may be nearly empty.
func (d *doctor) disk(context.Context) (string, error) {
	free, total := store.FreeRoom(d.at.Store)
	text := cli.ByteSize(free) + " of " + cli.ByteSize(total) + " are free"
	if free < min(500<<20, total/20) {
		return "", record.Failed.Errorf("%s: writing may fail soon", text).Because(cli.ErrNoSpace)
	}
	return text, nil
}

// files looks at what lies in the store's folder.
func (d *doctor) files(context.Context) (string, error) {
	spooled, old, copies := 0, 0, []string(nil)
	err := folder.At(d.at.Store).Walk(".", func(name string, e fs.DirEntry) error {
		info, err := e.Info()
		switch base := path.Base(name); {
		case err != nil: // it is gone since
		case path.Dir(name) == "spool":
			spooled++
		case (path.Dir(name) == "tmp" || folder.IsTemporary(base)) && d.Now().Sub(info.ModTime()) > 24*time.Hour:
			old++
		case strings.HasPrefix(name, cli.StoreFile+".") || strings.Contains(base, ".damaged") || base == cli.StoreFile && name != base:
			copies = append(copies, fmt.Sprintf("%s (%s)", name, cli.ByteSize(info.Size())))
		}
		return nil
	})
	if err == nil && spooled+old+len(copies) > 0 {
		err = record.Partly.Errorf("%s of commands that run or are not stored yet, %s older than a day; copies that nothing reads: %s",
			cli.Plural(spooled, "output"), cli.Plural(old, "temporary file"), cmp.Or(strings.Join(copies, ", "), "none"))
	}
	return "nothing is left over", cli.Closed(d.at, err)
}

// stored opens the store, and says what it is.
func (d *doctor) stored(ctx context.Context) (detail string, err error) {
	if d.located != nil {
		return "", d.NoStore(d.at, d.located)
	}
	settings, err := d.SettingsAt(d.at)
	if err != nil {
		return "", err
	}
	w, err := d.NewWorkspace(materialize.Open(d.at, settings, d.StoreOptions()))
	if err != nil {
		return "", cli.Closed(d.at, err)
	}
	err = w.Store.View(ctx, func(tx *store.Tx) error {
		d.Work = w
		schema, records, size := tx.Size()
		detail = fmt.Sprintf("%s, %s, %s, schema %d, origin %s", d.at.Store, cli.ByteSize(size), cli.Plural(records, "record"), schema, tx.Origin())
		if tx.HasGoneBack() {
			return record.Damaged.Errorf("%s has gone back", d.at.Store).Try(cli.RepairHint)
		}
		return nil
	})
	if err != nil {
		return detail, err
	}
	left, err := undestroyed(ctx, w)
	if len(left) > 0 {
		err = record.Partly.Errorf("%s", strings.Join(left, "; "))
	}
	return detail, err
}

// clock looks at the time of the log's last entry.
func (d *doctor) clock(ctx context.Context) (detail string, err error) {
	err = d.Store.View(ctx, func(tx *store.Tx) error {
		detail = cli.Count(int(tx.Position()), "1 entry", "%d entries")
		if tx.Position() == 0 {
			return nil
		}
		last, err := tx.Entry(tx.Position())
		stepped, _, stepErr := tx.SteppedBack()
		switch ahead := last.Time.Sub(d.Now()); {
		case err != nil || stepErr != nil:
			return cmp.Or(stepErr, err)
		case ahead > time.Minute:
			return record.Partly.Errorf("the last entry is %v ahead of this clock", ahead.Round(time.Second))
		case stepped > 0:
			return record.Partly.Errorf("%s; a clock was wrong before entry %d", detail, stepped)
		}
		return nil
	})
	return detail, err
}

func (d *doctor) index(ctx context.Context) (string, error) {
	behind, err := d.Reader.Behind(ctx)
	if err == nil && behind > 0 {
		err = record.Partly.Errorf("%d behind; the next search catches up", behind)
	}
	return "up to date", err
}

// drift counts the files that a sync would touch.
func (d *doctor) drift(ctx context.Context) (string, error) {
	if d.Global.NoSync {
		return "", record.Partly.Errorf("the files were not looked at")
	}
	files := 0
	if !cli.IsThere(filepath.Join(d.at.Store, "mirror")) {
		return "no files yet", nil
	}
	for _, root := range d.Roots() {
		report, err := d.Sync(ctx, root, materialize.SyncOptions{DryRun: true})
		d.synced = append(d.synced, report)
		if files += len(report.Files) + len(report.Skipped); err != nil {
			return "", err
		}
	}
	if files > 0 {
		return "", record.Partly.Errorf("%s not in step, or left out; filebus sync --dry-run lists them",
			cli.Plural(files, "file"))
	}
	return "in step", nil
}

// places names the conventions that sync has not told of yet, and those below the top that no setting takes in.
func (d *doctor) places() (string, error) {
	if d.Global.NoSync {
		return "", nil
	}
	var all []string
	if len(d.synced) > 0 {
		lines, err := d.NewConventions(d.synced[0], true)
		if err != nil {
			return "", err
		}
		all = lines
	}
	c, err := d.Config(d.at)
	found, _ := cli.Look(d.at.Main, cli.UsualSyncBudget)
	for _, f := range c.Without(found) {
		if !f.Notes && err == nil {
			all = append(all, fmt.Sprintf("%s: %s that nothing takes in; filebus init --yes does",
				cli.OneLine(f.Folder), cli.Plural(f.Files, "file")))
		}
	}
	return strings.Join(all, "; "), err
}

func (d *doctor) disputed(ctx context.Context) (string, error) {
	open, err := d.Conflicts(ctx)
	if err == nil && len(open) > 0 {
		err = record.Conflict.Errorf("%s open", cli.Plural(len(open), "conflict")).Try("filebus conflicts")
	}
	return "none", err
}

// hooks names the lines of an agent's settings that call filebus.
func (d *doctor) hooks(context.Context) (string, error) {
	var lines []string
	for _, name := range []string{"settings.json", "settings.local.json"} {
		text, err := os.ReadFile(filepath.Join(d.at.Main, ".claude", name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "filebus") {
				lines = append(lines, cli.CutText(secrets.Text(strings.TrimSpace(line))))
			}
		}
	}
	if last := slices.MaxFunc(append(slices.Collect(maps.Values(d.heard())), time.Time{}), time.Time.Compare); !last.IsZero() {
		lines = append(lines, "last seen "+record.FormatTime(last))
	}
	return cmp.Or(strings.Join(lines, "  "), "none"), nil
}

// client tells what a client has of filebus, whether its user has trusted that, and whether the store has heard of it.
func (d *doctor) client(in setup.Installed) (detail string, err error) {
	detail = fmt.Sprintf("%s, %s: %s", in.Title, in.Scope, strings.Join(in.Parts, ", "))
	switch last := d.heard()[in.Client]; {
	case !slices.Contains(in.Parts, "hooks") || d.Workspace == nil:
	case !last.IsZero():
		detail += "; last heard " + record.FormatTime(last)
	case in.Untrusted != "":
		err = record.Partly.Errorf("%s; nothing heard yet, and not trusted: %s", detail, in.Untrusted)
	default:
		err = record.Partly.Errorf("%s; nothing heard yet: start a session here", detail)
	}
	return detail, err
}

// heard returns when hooks have last noted something, by client; "" is of versions that did not note whom.
func (d *doctor) heard() map[string]time.Time {
	last := map[string]time.Time{}
	if d.Workspace == nil { // nothing of the store is read
		return last
	}
	own := folder.At(d.at.Store).Sub(hooksFolder)
	files, _ := own.ReadDir(".") // there is none before the first note
	for _, file := range files {
		info, err := file.Info()
		text, _ := own.ReadUpTo(file.Name(), maxRemembered) // what cannot be read names nobody
		line, _, _ := bytes.Cut(text, []byte("\n"))
		if first := append(hook.ReadNotes(line), hook.Note{})[0]; err == nil && info.ModTime().After(last[first.From]) {
			last[first.From] = info.ModTime()
		}
	}
	return last
}
