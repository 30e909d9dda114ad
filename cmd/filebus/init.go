package main

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/setup"
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

	Gitignore bool `flag:"gitignore"`
}

// initView is what init prints.
type initView struct {
	Store     string              `json:"store"`
	Workspace string              `json:"workspace"`
	Proposed  map[string][]string `json:"proposed"` // settings, as config set takes them
	Found     []cli.FoundFolder   `json:"found"`
	LeftOut   []cli.FoundFolder   `json:"left_out,omitempty"`   // where Markdown lies, hidden or at the top
	Files     int                 `json:"files"`                // that --yes takes in
	Taken     int                 `json:"taken"`                // files
	TakenOver []string            `json:"taken_over,omitempty"` // folders outside

	notes []string // the folders for notes, with those that are proposed
}

func (o *initCommand) Do(ctx context.Context, w *cli.Work, outside []string) error {
	set, err := o.given(w.Environ)
	if err == nil && len(outside) > 0 && !o.TakeOver {
		err = record.Usage.Errorf("init takes names with --take-over only").Try("filebus init --take-over {all}", outside...)
	}
	if err != nil {
		return err
	}
	w.Insists = o.Yes
	if w, err = w.Create(ctx); err != nil {
		return err
	}
	if _, off := keys(w.Environ); off == nil { // else no key is kept
		if _, err = key(ctx, w); err != nil {
			w.Note("the store has no key, which remotes need: %s", cli.Message(err))
		}
	}
	c, err := w.Config(w.Location)
	if err != nil {
		return err
	}
	isEmpty := w.IsEmpty(ctx)
	v := initView{Store: w.Location.Store, Workspace: w.Main, Found: []cli.FoundFolder{}}
	if !w.IsShared(w.Main) {
		found, hidden := cli.Look(w.Root, cli.SurveyTime)
		v.Found, v.LeftOut = append(v.Found, found...), c.Without(hidden)
	}
	v.Proposed = propose(c, v.Found, isEmpty && len(set) == 0)
	if v.notes = c.Notes; v.Proposed["notes"] != nil {
		v.notes = v.Proposed["notes"]
	}
	if o.Yes {
		maps.Copy(set, v.Proposed)
	}
	if err := editConfig(ctx, w.Environ, w.Location, set); err != nil {
		return err
	}
	var report *materialize.SyncReport
	if len(outside) > 0 {
		err = takeOutside(ctx, w.Environ, outside, &v)
	} else if o.Yes || o.TakeOver {
		report, err = takeIn(ctx, w.Environ, materialize.SyncOptions{TakeOver: o.TakeOver}, &v)
	} else if !w.IsShared(w.Main) {
		report, err = wouldTakeIn(ctx, w, v.Proposed)
	}
	if err != nil && !errors.Is(err, record.Partly) {
		return err
	}
	if report != nil {
		v.Files = len(report.Files)
		v.Found = cli.Detailed(w.Root, w.Settings.Profile, v.Found, report, isEmpty)
		if _, toldErr := w.NewPlaces(report.Found, false); err == nil { // sync need not say so again
			err = toldErr
		}
	}
	o.say(w, &v, isEmpty)
	if now, openErr := w.Environ.Open(ctx); openErr == nil { // with the roots as they are set now
		now.RemarkStrangers(ctx)
		err = cmp.Or(err, now.NoteLayouts())
	}
	if o.Gitignore {
		err = cmp.Or(ignore(w), err)
	}
	return cmp.Or(w.Print(v, "%s\n", v.Store), err)
}

// ignore puts into .gitignore what agents leave and nobody commits.
func ignore(w *cli.Work) error {
	p, err := setup.New("git", setup.Options{Project: true, Root: w.Root, Getenv: w.Getenv})
	if err == nil {
		err = p.Apply()
	}
	if err == nil {
		w.Remark("%s %s", p.Files[0].Action, p.Files[0].Path)
	}
	return err
}

// takeOutside imports, with the workspace, the dialogues and conversations of other programs that are named.
func takeOutside(ctx context.Context, e *cli.Environ, names []string, v *initView) error {
	w, err := e.Open(ctx)
	if err != nil {
		return err
	}
	var dirs []string
	for _, name := range names {
		at := w.Outside(name)
		if len(at) == 0 {
			return record.NotFound.Errorf("no folder outside of the workspace is called %s", name).Try("filebus init")
		}
		dirs = append(dirs, at...)
	}
	_, err = takeIn(ctx, e, materialize.SyncOptions{TakeIn: dirs}, v)
	v.TakenOver = dirs
	return err
}

// takeIn imports the files of the workspace, by its configuration as it is now, and the
// folders outside that the options name.
func takeIn(ctx context.Context, e *cli.Environ, opts materialize.SyncOptions, v *initView) (*materialize.SyncReport, error) {
	w, err := e.Open(ctx)
	if err != nil {
		return nil, err
	}
	opts.CaptureOnly, opts.Announced = true, true
	report, err := w.Sync(ctx, w.Root, opts)
	v.Taken, v.TakenOver = len(report.Files), report.TakenOver
	for _, s := range report.Skipped {
		w.Note("left out %s: %s", s.Path, s.Reason)
	}
	noteRules(w.Environ, report.LeftOut, "a line !NAME in .filebusignore")
	if report.Failed > 0 && err == nil {
		err = cli.SilentError(record.Partly)
	}
	return report, err
}

// wouldTakeIn says what takeIn would import with proposed settings.
func wouldTakeIn(ctx context.Context, w *cli.Work, proposed map[string][]string) (*materialize.SyncReport, error) {
	was, _ := folder.At(w.Store.Dir()).ReadUpTo(cli.ConfigFile, cli.MaxConfig) // there may be none
	text, err := changed(string(was), proposed)
	var c cli.Configuration
	if err == nil {
		err = c.Parse(text)
	}
	if err != nil {
		return nil, err
	}
	settings, err := c.Settings(w.Environ)
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
func (o *initCommand) given(e *cli.Environ) (map[string][]string, error) {
	set, wanted := map[string][]string{}, cli.Configuration{Profile: o.Profile, Root: o.Root}
	if _, err := wanted.ChosenProfile(); err != nil {
		return nil, cli.Coded(record.Usage, "", err)
	}
	at, _, _, err := here(e)
	if err != nil || wanted.Profile+wanted.Root == "" {
		return set, err
	}
	if file := filepath.Join(at.Store, cli.ConfigFile); cli.IsThere(file) {
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

// propose returns the settings that a configuration lacks for what was found. A profile
// decides names, so it is for a store that has none yet.
func propose(c cli.Configuration, found []cli.FoundFolder, hasNone bool) map[string][]string {
	set := map[string][]string{}
	for _, f := range found {
		for _, dir := range f.Lessons {
			if c.Kinds[dir] == "" {
				set["kinds."+dir] = []string{string(record.KindKnowledge)}
			}
		}
	}
	for _, f := range c.Without(found) {
		name, list := "agents", c.Agents
		if f.Notes {
			name, list = "notes", c.Notes
		}
		if set[name] == nil {
			set[name] = slices.Clip(list)
		}
		set[name] = append(set[name], f.Folder)
	}
	i := slices.IndexFunc(found, func(f cli.FoundFolder) bool {
		return slices.Contains([]string{".claude", ".orchestrator", ".blue"}, f.Folder)
	})
	if i >= 0 && found[i].Folder != ".claude" && hasNone && c.Profile+c.Root == "" {
		set["profile"] = []string{found[i].Folder[1:]}
	}
	return set
}

// say tells people what was found, proposed and done.
func (o *initCommand) say(w *cli.Work, v *initView, isEmpty bool) {
	text := cli.FoundText(v.Found)
	if text != "" {
		w.Remark("found %s", text)
	}
	for _, f := range v.Found {
		if f.Layout != "" {
			w.Remark("%s: %s", cli.OneLine(f.Folder), f.HoldsText())
		}
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
		w.Remark("%s", cli.OneLine(strings.Join(words, " ")))
	}
	left, folders := 0, slices.Clone(v.notes) // in one command, as each sets all
	for _, f := range v.LeftOut {
		left, folders = left+f.Files, append(folders, f.Folder)
	}
	if left > 0 {
		w.Remark("left out %s of Markdown, hidden or at the top; filebus config set notes %s takes them in", cli.Plural(left, "file"),
			cli.OneLine(strings.Join(markdown.Each(folders, record.ShellWord), " ")))
	}
	if o.TakeOver {
		w.Remark("took over %s", cmp.Or(strings.Join(v.TakenOver, ", "), "nothing: no outside folder belonged to a store that was here"))
	}
	switch {
	case o.Yes || o.TakeOver:
		w.Remark("took in %s", cli.Plural(v.Taken, "file"))
	case text != "" && (isEmpty || len(v.Proposed) > 0):
		does := map[bool]string{true: ", and does what was proposed"}[len(v.Proposed) > 0]
		w.Remark("filebus init --yes takes in %s%s", cli.Plural(v.Files, "file"), does)
	}
}
