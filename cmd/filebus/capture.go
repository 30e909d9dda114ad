package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/materialize/mirror"
	"filebus/store/record"
)

type captureCommand struct {
	Tree     string `flag:"tree" not:"from"`
	Layout   string `flag:"layout" not:"from"`
	DryRun   bool   `flag:"dry-run" not:"from"`
	Problems bool   `flag:"problems" not:"from"`

	All       bool  `flag:"all" not:"from"`
	Exclude   texts `flag:"exclude" not:"from"`
	Gitignore bool  `flag:"gitignore" not:"from"`

	fromCommand
	given
	profile *layout.Profile
}

func (o *captureCommand) check(e *environ, dirs []string) error {
	if err := o.fromCommand.check(e, dirs); err != nil {
		return err
	}
	if len(dirs) > 1 && o.Tree != "" {
		return usageError("--tree names one tree, and %d folders were given", len(dirs))
	}
	for i, pattern := range o.Exclude {
		for _, dir := range dirs {
			clean, err := mirror.CleanPattern(pattern, e.abs(dir))
			if err != nil && pattern != noPattern {
				return usageError("--exclude: %w", err)
			}
			o.Exclude[i] = cmp.Or(clean, pattern)
		}
	}
	if o.Layout == "" {
		return nil
	}
	p, err := layout.ParseProfile(o.Layout)
	if err != nil {
		return coded(record.Usage, "", err)
	}
	o.profile = &p
	return nil
}

func (o *captureCommand) run(ctx context.Context, w *workspace, dirs []string) error {
	if o.From != "" {
		return o.takeIn(ctx, w.environ)
	}
	w, err := w.create(ctx)
	if err != nil {
		return err
	}
	partly := false
	for _, dir := range dirs {
		report, err := o.capture(ctx, w, dir)
		if err != nil {
			return err
		}
		partly = partly || report.Partial()
	}
	if partly {
		return silentError(record.Partly)
	}
	return nil
}

func (o *captureCommand) capture(ctx context.Context, w *workspace, dir string) (*materialize.CaptureReport, error) {
	name := cmp.Or(o.Tree, filepath.Base(w.abs(dir)))
	tree, err := record.ParseTree(name)
	if err != nil {
		return nil, coded(record.Usage, "run it again with --tree NAME", err)
	}
	if err := o.noteTwice(ctx, w, tree, w.abs(dir)); err != nil {
		return nil, err
	}
	show, clear := w.progress("capturing " + name)
	report, err := w.Capture(ctx, w.abs(dir), materialize.CaptureOptions{
		Tree: tree, Profile: o.profile, DryRun: o.DryRun, MayMove: o.Tree != "", Rules: o.change, Progress: counted(show),
	})
	clear()
	if err != nil {
		return report, err
	}
	if report.Rules.All && !o.All {
		w.note("--all of an earlier capture holds: what holds secrets is taken in; --all=false leaves it out")
	}
	if o.has("exclude") && len(report.Unused) > 0 {
		w.note("--exclude matched nothing: %s", oneLine(strings.Join(report.Unused, " ")))
	}
	return report, w.printCapture(report, o.DryRun, o.Problems)
}

// noteTwice says that a folder is another tree already, and refuses it under a name that
// nobody has asked for.
func (o *captureCommand) noteTwice(ctx context.Context, w *workspace, tree record.Tree, dir string) error {
	if _, err := w.Tree(tree); err == nil {
		return nil
	}
	trees, err := w.Trees(ctx)
	at := slices.IndexFunc(trees, func(t *materialize.Tree) bool { return t.Dir == dir && t.Name != tree })
	if err != nil || at < 0 {
		return err
	}
	is := record.ShellWord(string(trees[at].Name))
	if o.Tree == "" {
		return coded(record.Conflict, "filebus tree refresh "+is+", or --tree NAME for another tree of the same files",
			fmt.Errorf("%s is the tree %s already; nothing was stored", dir, is))
	}
	w.note("%s is the tree %s already: its files are found twice; filebus tree refresh %s takes changes in", dir, is, is)
	return nil
}

// noPattern is given to --exclude to forget patterns. Nothing at all may be a slip.
const noPattern = "-"

// change changes the rules of a tree: each flag that is given counts from now on.
func (o *captureCommand) change(r *materialize.Rules) {
	if o.has("all") {
		r.All = o.All
	}
	if o.has("gitignore") {
		r.Gitignore = o.Gitignore
	}
	if o.has("exclude") {
		r.Exclude = slices.DeleteFunc(slices.Clone(o.Exclude), func(pattern string) bool { return pattern == noPattern })
	}
}

func (e *environ) printCapture(r *materialize.CaptureReport, dryRun, all bool) error {
	for _, s := range r.Skipped {
		e.note("left out %s: %s", s.Path, s.Reason)
	}
	e.noteRules(r.LeftOut, "--all")
	e.noteHidden(r.Hidden)
	e.printProblems(r.Problems, all)
	if e.global.json {
		r.Secrets = e.foundSecrets()
		return e.printJSON(r)
	}
	if dryRun {
		for _, p := range r.Planned {
			names := markdown.Each(p.Names, record.Name.String)
			e.printf("%s\t%s\n", p.Path, strings.Join(names, "\t"))
		}
		return nil
	}
	e.printf("%s: %s, %s; %s stored", r.Tree, plural(r.Files, "file"), byteSize(r.Bytes), plural(r.Records, "record"))
	if len(r.Removed) > 0 {
		e.printf(", %s gone and hidden", plural(len(r.Removed), "file"))
	}
	e.printf("\n")
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(r.KindCount)) {
		if kind != record.KindFrame {
			kinds = append(kinds, fmt.Sprintf("%d %s", r.KindCount[kind], kind))
		}
	}
	if len(kinds) > 0 {
		e.printf("  %s\n", strings.Join(kinds, ", "))
	}
	return nil
}

// mostSecrets is how many secrets are named on stderr, each in a line.
const mostSecrets = 20

// noteRules says what was left out by which rule, and how it can be had. What holds secrets
// is named one by one.
func (e *environ) noteRules(all []mirror.LeftOut, how string) {
	named := map[string][]string{}
	for _, l := range all {
		named[l.Rule] = append(named[l.Rule], oneLine(l.Path))
	}
	for _, r := range [...]struct{ rule, because string }{
		{mirror.RuleSecret, "its name says that it holds secrets; " + how + " takes it in"},
		{mirror.RuleRemade, "it can be made again; " + how + " takes it in"},
		{mirror.RuleVersions, "it is version control's; " + how + " takes it in"},
		{mirror.RuleExclude, "--exclude says so; --exclude - forgets that"},
		{mirror.RuleIgnore, ".filebusignore says so; a line !NAME at its end takes NAME in"},
		{mirror.RuleGit, "git ignores it; --gitignore=false takes it in"},
	} {
		names := named[r.rule]
		for i := 0; r.rule == mirror.RuleSecret && len(names) > 0 && i < mostSecrets; i++ {
			e.note("left out %s: %s", names[0], r.because)
			names = names[1:]
		}
		if len(names) > 0 {
			e.note("left out %s: %s", firstNames(names), r.because)
		}
	}
}

// noteHidden says what an earlier capture took in and this one left out, and how to
// destroy it.
func (e *environ) noteHidden(all []materialize.HiddenFile) {
	for _, f := range all[:min(len(all), mostSecrets)] {
		how := "; filebus rm " + record.ShellWord(f.Name.String()) + " --drop destroys it"
		if f.Name.Kind == record.KindFrame {
			how = " with its entries"
		}
		e.note("hid %s, which an earlier capture took in%s", oneLine(f.Path), how)
	}
	if more := len(all) - mostSecrets; more > 0 {
		e.note("hid %s more that an earlier capture took in; --json names them", plural(more, "file"))
	}
}

// printProblems says where files depart from their layout. They are stored all
// the same, and agents depart from layouts all the time, so by default it only
// says how often.
func (e *environ) printProblems(problems []*layout.SyntaxError, all bool) {
	if !all && len(problems) > 0 {
		e.note("%s from a layout, all stored as they are; --problems lists them",
			count(len(problems), "1 place departs", "%d places depart"))
		return
	}
	for _, p := range problems {
		e.note("%v", p)
	}
}
