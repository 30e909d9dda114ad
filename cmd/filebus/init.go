package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filebus/materialize"
	"filebus/materialize/markdown"
	"filebus/store/folder"
	"filebus/store/record"
)

type initCommand struct {
	Profile  string `flag:"profile" not:"root"`
	Root     string `flag:"root"`
	Yes      bool   `flag:"yes"`
	TakeOver bool   `flag:"take-over"`
}

// initView is what init prints.
type initView struct {
	Store     string              `json:"store"`
	Workspace string              `json:"workspace"`
	Proposed  map[string][]string `json:"proposed"` // settings, as config set takes them
	Found     []foundFolder       `json:"found"`
	LeftOut   []foundFolder       `json:"left_out,omitempty"`   // hidden folders with Markdown
	Files     int                 `json:"files"`                // that --yes takes in
	Taken     int                 `json:"taken"`                // files
	TakenOver []string            `json:"taken_over,omitempty"` // folders outside

	notes []string // the folders for notes, with those that are proposed
}

func (o *initCommand) run(ctx context.Context, w *workspace, _ []string) error {
	set, err := o.given(w.environ)
	if err != nil {
		return err
	}
	w.insists = o.Yes
	if w, err = w.create(ctx); err != nil {
		return err
	}
	if _, off := w.keys(); off == nil { // else no key is kept
		if _, err = w.key(ctx); err != nil {
			w.note("the store has no key, which remotes need: %s", message(err))
		}
	}
	c, err := w.config(w.Location)
	if err != nil {
		return err
	}
	isEmpty := w.isEmpty(ctx)
	v := initView{Store: w.Location.Store, Workspace: w.Main, Found: []foundFolder{}}
	if !w.isShared(w.Main) {
		found, hidden := look(w.Root, surveyTime)
		v.Found, v.LeftOut = append(v.Found, found...), c.without(hidden)
	}
	v.Proposed = c.propose(v.Found, isEmpty && len(set) == 0)
	if v.notes = c.Notes; v.Proposed["notes"] != nil {
		v.notes = v.Proposed["notes"]
	}
	if o.Yes {
		maps.Copy(set, v.Proposed)
	}
	if err := w.editConfig(ctx, w.Location, set); err != nil {
		return err
	}
	var report *materialize.SyncReport
	if o.Yes || o.TakeOver {
		report, err = w.takeIn(ctx, o.TakeOver, &v)
	} else if !w.isShared(w.Main) {
		report, err = w.wouldTakeIn(ctx, v.Proposed)
	}
	if err != nil && !errors.Is(err, record.Partly) {
		return err
	}
	if report != nil {
		v.Files = len(report.Files)
		v.Found = detailed(w.Root, w.Settings.Profile, v.Found, report, isEmpty)
	}
	o.say(w, &v, isEmpty)
	return cmp.Or(w.print(v, "%s\n", v.Store), err)
}

// takeIn imports the files of the workspace, by its configuration as it is now, with the
// folders outside of the store that stood here before if takesOver is set.
func (e *environ) takeIn(ctx context.Context, takesOver bool, v *initView) (*materialize.SyncReport, error) {
	w, err := e.open(ctx)
	if err != nil {
		return nil, err
	}
	report, err := w.Sync(ctx, w.Root, materialize.SyncOptions{CaptureOnly: true, Announced: true, TakeOver: takesOver})
	v.Taken, v.TakenOver = len(report.Files), report.TakenOver
	for _, s := range report.Skipped {
		w.note("left out %s: %s", s.Path, s.Reason)
	}
	w.noteRules(report.LeftOut, "a line !NAME in .filebusignore")
	if report.Failed > 0 && err == nil {
		err = silentError(record.Partly)
	}
	return report, err
}

// wouldTakeIn says what takeIn would import with proposed settings.
func (w *workspace) wouldTakeIn(ctx context.Context, proposed map[string][]string) (*materialize.SyncReport, error) {
	was, _ := folder.At(w.Store.Dir()).ReadUpTo(configFile, maxConfig) // there may be none
	text, err := changed(string(was), proposed)
	var c config
	if err == nil {
		err = c.parse(text)
	}
	if err != nil {
		return nil, err
	}
	settings, err := c.settings(w.environ)
	if err != nil {
		return nil, err
	}
	settings.Profile.Own = w.Settings.Profile.Own
	defer func(before materialize.Settings) { w.Settings = before }(w.Settings)
	w.Settings = settings
	return w.Sync(ctx, w.Root, materialize.SyncOptions{CaptureOnly: true, Announced: true, DryRun: true})
}

// given returns the settings that flags give, if there may be a store, and no other
// settings.
func (o *initCommand) given(e *environ) (map[string][]string, error) {
	set, wanted := map[string][]string{}, config{Profile: o.Profile, Root: o.Root}
	if _, err := wanted.profile(); err != nil {
		return nil, coded(record.Usage, "", err)
	}
	at, _, _, err := e.here()
	if err != nil || wanted.Profile+wanted.Root == "" {
		return set, err
	}
	if file := filepath.Join(at.Store, configFile); isThere(file) {
		return nil, record.Conflict.Errorf("%s is there already", file).Try("filebus config set --help")
	}
	const seedPapers = "~/Documents/Qark Papers" // where the file-bus document puts papers
	if o.Root != "" {
		set["root"] = []string{o.Root}
	} else if set["profile"] = []string{o.Profile}; o.Profile == "seed" {
		set["pdf_dir"] = []string{seedPapers}
	}
	return set, nil
}

func isThere(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

// errNoPlace says that a store is not made where it would be.
const errNoPlace record.Reason = "no place for a store"

// mayBecomeStore reports whether a folder is missing, empty, or of the name that stores have.
func mayBecomeStore(dir string) bool {
	ignore, _ := os.ReadFile(filepath.Join(dir, ".gitignore")) // a store begins with it
	entries, _ := os.ReadDir(dir)
	return filepath.Base(dir) == materialize.StoreFolder || len(entries) == 0 || string(ignore) == "*\n"
}

// confirm asks whoever types whether a store shall be made.
func (e *environ) confirm(dir string) bool {
	if !e.inTerminal {
		return false
	}
	fmt.Fprintf(e.err, "filebus: %s is the home folder or the top of a disk; make a store here? [y/N] ", dir)
	answer, _ := bufio.NewReader(e.in).ReadString('\n') // none is no
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(answer)), "y")
}

// propose returns the settings that a configuration lacks for what was found. A profile
// decides names, so it is for a store that has none yet.
func (c config) propose(found []foundFolder, hasNone bool) map[string][]string {
	set := map[string][]string{}
	for _, f := range found {
		for _, dir := range f.lessons {
			if c.Kinds[dir] == "" {
				set["kinds."+dir] = []string{string(record.KindKnowledge)}
			}
		}
	}
	for _, f := range c.without(found) {
		name, list := "agents", c.Agents
		if f.Notes {
			name, list = "notes", c.Notes
		}
		if set[name] == nil {
			set[name] = slices.Clip(list)
		}
		set[name] = append(set[name], f.Folder)
	}
	i := slices.IndexFunc(found, func(f foundFolder) bool {
		return slices.Contains([]string{".claude", ".orchestrator", ".blue"}, f.Folder)
	})
	if i >= 0 && found[i].Folder != ".claude" && hasNone && c.Profile+c.Root == "" {
		set["profile"] = []string{found[i].Folder[1:]}
	}
	return set
}

// say tells people what was found, proposed and done.
func (o *initCommand) say(w *workspace, v *initView, isEmpty bool) {
	text := foundText(v.Found)
	if text != "" {
		w.remark("found %s", text)
	}
	for _, f := range v.Found {
		if f.Layout != "" {
			w.remark("%s: %s", oneLine(f.Folder), f.holdsText())
		}
	}
	for _, f := range v.LeftOut {
		w.remark("left out %s: %s of Markdown in a hidden folder; filebus config set notes %s takes them in", oneLine(f.Folder),
			plural(f.Files, "file"), strings.Join(markdown.Each(append(slices.Clone(v.notes), f.Folder), record.ShellWord), " "))
	}
	did := "proposed"
	if o.Yes {
		did = "done"
	}
	for _, name := range slices.Sorted(maps.Keys(v.Proposed)) {
		words := append([]string{did + ": filebus config set", record.ShellWord(name)},
			markdown.Each(v.Proposed[name], record.ShellWord)...)
		if name == "profile" {
			words = append(words, " # most files of agents lie there")
		} else if strings.HasPrefix(name, "kinds.") {
			words = append(words, " # most files there have tags")
		}
		w.remark("%s", oneLine(strings.Join(words, " ")))
	}
	if o.TakeOver {
		w.remark("took over %s", cmp.Or(strings.Join(v.TakenOver, ", "), "nothing: no folder outside was that of a store that stood here"))
	}
	switch {
	case o.Yes || o.TakeOver:
		w.remark("took in %s", plural(v.Taken, "file"))
	case text != "" && (isEmpty || len(v.Proposed) > 0):
		w.remark("filebus init --yes takes in %s, and does what was proposed", plural(v.Files, "file"))
	}
}
