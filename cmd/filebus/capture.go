package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"filebus/cmd/filebus/cli"
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
	Again    bool   `flag:"again"`

	All       bool      `flag:"all" not:"from"`
	Exclude   cli.Texts `flag:"exclude" not:"from"`
	Gitignore bool      `flag:"gitignore" not:"from"`

	fromCommand
	cli.Given
	profile *layout.Profile
}

func (o *captureCommand) Check(e *cli.Environ, dirs []string) error {
	if err := o.fromCommand.Check(e, dirs); err != nil {
		return err
	}
	if len(dirs) > 1 && o.Tree != "" {
		return cli.UsageError("--tree names one tree, and %d folders were given", len(dirs))
	}
	for i, pattern := range o.Exclude {
		for _, dir := range dirs {
			clean, err := mirror.CleanPattern(pattern, e.Abs(dir))
			if err != nil && pattern != noPattern {
				return cli.UsageError("--exclude: %w", err)
			}
			o.Exclude[i] = cmp.Or(clean, pattern)
		}
	}
	if o.Layout == "" {
		return nil
	}
	p, err := layout.ParseProfile(o.Layout)
	if err != nil {
		return cli.Coded(record.Usage, "", err)
	}
	o.profile = &p
	return nil
}

func (o *captureCommand) Do(ctx context.Context, w *cli.Work, dirs []string) error {
	if o.From != "" {
		return o.takeIn(ctx, w.Environ)
	}
	w, err := w.Create(ctx)
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
		return cli.SilentError(record.Partly)
	}
	return nil
}

func (o *captureCommand) capture(ctx context.Context, w *cli.Work, dir string) (*materialize.CaptureReport, error) {
	name := cmp.Or(o.Tree, filepath.Base(w.Abs(dir)))
	tree, err := record.ParseTree(name)
	if err != nil {
		return nil, cli.Coded(record.Usage, "run it again with --tree NAME", err)
	}
	if err := o.noteTwice(ctx, w, tree, w.Abs(dir)); err != nil {
		return nil, err
	}
	show, clear := w.Progress("capturing " + name)
	report, err := w.Capture(ctx, w.Abs(dir), materialize.CaptureOptions{
		Tree: tree, Profile: o.profile, DryRun: o.DryRun, Again: o.Again, MayMove: o.Tree != "", Rules: o.change, Progress: cli.Counted(show),
	})
	clear()
	if err != nil {
		return report, err
	}
	if report.Rules.All && !o.All {
		w.Note("--all of an earlier capture still counts: files with secrets are taken in; --all=false leaves them out")
	}
	if o.Has("exclude") && len(report.Unused) > 0 {
		w.Note("--exclude matched nothing: %s", cli.OneLine(strings.Join(report.Unused, " ")))
	}
	return report, printCapture(w.Environ, report, o.DryRun, o.Problems)
}

// noteTwice says that a folder is another tree already, and refuses it under a name that
// nobody has asked for.
func (o *captureCommand) noteTwice(ctx context.Context, w *cli.Work, tree record.Tree, dir string) error {
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
		return cli.Coded(record.Conflict, "filebus tree refresh "+is+", or --tree NAME for another tree of the same files",
			fmt.Errorf("%s is the tree %s already; nothing was stored", dir, is))
	}
	w.Note("%s is the tree %s already: its files are found twice; filebus tree refresh %s takes changes in", dir, is, is)
	return nil
}

// noPattern is given to --exclude to forget patterns. Nothing at all may be a slip.
const noPattern = "-"

// change changes the rules of a tree: each flag that is given counts from now on.
func (o *captureCommand) change(r *materialize.Rules) {
	if o.Has("all") {
		r.All = o.All
	}
	if o.Has("gitignore") {
		r.Gitignore = o.Gitignore
	}
	if o.Has("exclude") {
		r.Exclude = slices.DeleteFunc(slices.Clone(o.Exclude), func(pattern string) bool { return pattern == noPattern })
	}
}

func printCapture(e *cli.Environ, r *materialize.CaptureReport, dryRun, all bool) error {
	for _, s := range r.Skipped {
		e.Note("left out %s: %s", s.Path, s.Reason)
	}
	noteRules(e, r.LeftOut, "--all")
	noteHidden(e, r.Hidden)
	printProblems(e, r.Problems, all)
	if e.Global.JSON {
		r.Secrets = foundSecrets(e)
		return e.PrintJSON(r)
	}
	if dryRun {
		for _, p := range r.Planned {
			names := markdown.Each(p.Names, record.Name.String)
			e.Printf("%s\t%s\n", p.Path, strings.Join(names, "\t"))
		}
		return nil
	}
	e.Printf("%s: %s, %s; %s stored", r.Tree, cli.Plural(r.Files, "file"), cli.ByteSize(r.Bytes),
		cli.Plural(r.Records, "record"))
	if len(r.Removed) > 0 {
		e.Printf(", %s gone and hidden", cli.Plural(len(r.Removed), "file"))
	}
	e.Printf("\n")
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(r.KindCount)) {
		if kind != record.KindFrame {
			kinds = append(kinds, fmt.Sprintf("%d %s", r.KindCount[kind], kind))
		}
	}
	if len(kinds) > 0 {
		e.Printf("  %s\n", strings.Join(kinds, ", "))
	}
	return nil
}

// mostSecrets is how many secrets are named on stderr, each in a line.
const mostSecrets = 20

// noteRules says what was left out by which rule, and how it can be had. What holds secrets
// is named one by one.
func noteRules(e *cli.Environ, all []mirror.LeftOut, how string) {
	named := map[string][]string{}
	for _, l := range all {
		named[l.Rule] = append(named[l.Rule], cli.OneLine(l.Path))
	}
	for _, r := range [...]struct{ rule, because string }{
		{mirror.RuleSecret, "its name says that it holds secrets; " + how + " takes it in"},
		{mirror.RuleDestroyed, "the text was destroyed before, and stays out; filebus put FILE --name NAME --again stores it, and so does capture --again"},
		{mirror.RuleRemade, "it can be made again; " + how + " takes it in"},
		{mirror.RuleVersions, "it belongs to version control; " + how + " takes it in"},
		{mirror.RuleConflict, "a file syncer made it of two versions: take over what you need, then delete it"},
		{mirror.RuleMachine, "an editor or the system keeps it; " + how + " takes it in"},
		{mirror.RuleExclude, "--exclude says so; --exclude - forgets that"},
		{mirror.RuleIgnore, ".filebusignore says so; a line !NAME at its end takes NAME in"},
		{mirror.RuleGit, "git ignores it; " + strings.Replace(how, "--all", "--gitignore=false", 1) + " takes it in"},
	} {
		names := named[r.rule]
		for i := 0; r.rule == mirror.RuleSecret && len(names) > 0 && i < mostSecrets; i++ {
			e.Note("left out %s: %s", names[0], r.because)
			names = names[1:]
		}
		if len(names) > 0 {
			e.Note("left out %s: %s", cli.FirstNames(names), r.because)
		}
	}
}

// noteHidden says what an earlier capture took in and this one left out, and how to
// destroy it.
func noteHidden(e *cli.Environ, all []materialize.HiddenFile) {
	for _, f := range all[:min(len(all), mostSecrets)] {
		how := "; filebus rm " + record.ShellWord(f.Name.String()) + " --drop destroys it"
		if f.Name.Kind == record.KindFrame {
			how = " with its entries"
		}
		e.Note("hid %s, which an earlier capture took in%s", cli.OneLine(f.Path), how)
	}
	if more := len(all) - mostSecrets; more > 0 {
		e.Note("hid %s more that an earlier capture took in; --json names them", cli.Plural(more, "file"))
	}
}

// printProblems says where files depart from their layout. They are stored all
// the same, and agents depart from layouts all the time, so by default it only
// says how often.
func printProblems(e *cli.Environ, problems []*layout.SyntaxError, all bool) {
	if !all && len(problems) > 0 {
		e.Note("%s from a layout, all stored as they are; --problems lists them",
			cli.Count(len(problems), "1 place departs", "%d places depart"))
		return
	}
	for _, p := range problems {
		e.Note("%v", p)
	}
}
