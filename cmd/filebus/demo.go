package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filebus"
	"filebus/cmd/filebus/cli"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store/record"
)

type demoCommand struct {
	Keep bool `flag:"keep"`
}

// A demo plays the steps in a folder of its own, through the same commands that
// a user types.
type demo struct {
	env    *cli.Environ // of the folder
	folder string
	source string // what is captured
	tree   record.Tree
	query  string
}

func (o *demoCommand) Do(ctx context.Context, w *cli.Work, args []string) (err error) {
	env, dir := w.Environ, append(args, "")[0]
	folder, err := os.MkdirTemp("", "filebus-demo-")
	if err != nil {
		return err
	}
	if !o.Keep {
		defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	}
	d := &demo{folder: folder, source: "workspace", tree: "workspace", query: "token bucket rate limiter"}
	if dir != "" {
		if err := d.useFolder(env.Abs(dir)); err != nil {
			return err
		}
	} else if err := copySample(filepath.Join(folder, "workspace")); err != nil {
		return err
	}
	inside := *env
	inside.Dir = folder
	inside.Getenv = func(variable string) string {
		switch variable {
		case "FILEBUS_STORE":
			return filepath.Join(folder, ".filebus")
		case "HOME", "USERPROFILE":
			return env.Getenv(variable)
		}
		return ""
	}
	d.env = &inside
	env.Printf("A store in %s; everything below happens there.\n", folder)
	if err := d.play(ctx); err != nil {
		return err
	}
	if o.Keep {
		env.Printf("\nKept: %s\n", folder)
	}
	return nil
}

// useFolder makes a user's folder what is captured.
func (d *demo) useFolder(dir string) error {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return cli.UsageError("%s is not a folder", dir)
	}
	tree, err := record.ParseTree(filepath.Base(dir))
	if err != nil {
		tree = "files"
	}
	d.source, d.tree, d.query = dir, tree, ""
	return nil
}

func copySample(to string) error {
	sample, err := filebus.Sample()
	if err != nil {
		return err
	}
	return os.CopyFS(to, sample)
}

func (d *demo) play(ctx context.Context) error {
	d.title("Take in what agents left: results, journals, queues, knowledge, dialogues, sessions")
	if err := d.run(ctx, cli.ExitPartly, "capture", d.source, "--tree", string(d.tree)); err != nil {
		return err
	}
	found, err := d.lookAround(ctx)
	if err != nil {
		return err
	}
	for _, step := range []struct {
		title, of string // what there is to show; nothing: no step
		args      []string
	}{
		{"Pass on a reference in place of a text", found.file, []string{"put", found.file, "--conversation", "demo", "--call", "report"}},
		{"Find it again: the best section of each hit, with its lines", "hits", []string{
			"search", found.query, "--limit", "3",
		}},
		{"Ask the knowledge graph by tag", found.tag, []string{"knowledge", "list", "--tag", found.tag, "--limit",
			"4"}},
		{"Read a task's handoff, not its whole journal", found.handoff, []string{
			"get", found.handoff, "--section", "Handoff",
		}},
		{"Lay out one session for the next agent", found.session, []string{
			"materialize", "--tree", string(d.tree), "--session", found.session, "--to", "for-agent",
		}},
		{"Lay everything out again and compare it with what was captured", "all", []string{
			"materialize", "--tree", string(d.tree), "--to", "copy",
		}},
		{"Check every stored byte", "all", []string{"verify"}},
	} {
		if step.of == "" {
			continue
		}
		d.title(step.title)
		if err := d.run(ctx, cli.ExitDone, step.args...); err != nil {
			return err
		}
	}
	return d.compare()
}

// what the demo found to show.
type demoFinds struct{ query, tag, handoff, session, file string }

// lookAround picks what there is to show in a store.
func (d *demo) lookAround(ctx context.Context) (demoFinds, error) {
	found := demoFinds{query: d.query}
	w, err := d.env.Open(ctx)
	if err != nil {
		return found, err
	}
	tags, err := w.Reader.TagCounts(ctx, "")
	if len(tags) > 0 {
		found.tag = slices.MaxFunc(tags, func(a, b query.TagCount) int { return a.Count - b.Count }).Tag
	}
	found.session = append(w.FilterValues(ctx, "session"), "")[0]
	list, listErr := w.Reader.List(ctx, query.ListRequest{})
	best, most := "", 0
	for _, e := range list.Entries {
		if e.Name.Kind == record.KindHandoff && strings.HasSuffix(e.Path, ".md") {
			found.handoff = e.Name.String()
		}
		if (e.Name.Kind == record.KindNote || e.Name.Kind == record.KindResult) && e.Tokens > most {
			found.file, most = filepath.Join(d.source, e.Path), e.Tokens
		}
		words := strings.Fields(e.Title)
		if title := strings.Join(words[:min(len(words), 4)], " "); len(title) > len(best) {
			best = title
		}
	}
	found.query = cmp.Or(found.query, best)
	return found, cmp.Or(err, listErr)
}

func (d *demo) title(text string) { d.env.Printf("\n== %s\n", text) }

// run prints a command and runs it. It may end with the accepted code besides
// success.
func (d *demo) run(ctx context.Context, accepted int, args ...string) error {
	d.env.Printf("$ filebus %s\n", strings.Join(markdown.Each(args, record.ShellWord), " "))
	if code := run(ctx, d.env, args); code != cli.ExitDone && code != accepted {
		return &cli.ExitError{Exit: code}
	}
	return nil
}

// compare proves that the copy has the same files with the same bytes.
func (d *demo) compare() error {
	source, copied := d.source, os.DirFS(filepath.Join(d.folder, "copy"))
	if !filepath.IsAbs(source) {
		source = filepath.Join(d.folder, source)
	}
	files, size := 0, int64(0)
	err := fs.WalkDir(copied, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		now, err := fs.ReadFile(copied, name)
		was, wasErr := os.ReadFile(filepath.Join(source, name))
		if err = cmp.Or(err, wasErr); err == nil && !bytes.Equal(was, now) {
			err = record.Damaged.Errorf("%s differs", name)
		}
		files, size = files+1, size+int64(len(now))
		return err
	})
	if err == nil {
		d.env.Printf("\nIdentical: %s, %s came back byte for byte.\n", cli.Plural(files, "file"), cli.ByteSize(size))
	}
	return err
}
