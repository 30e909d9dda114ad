package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/materialize/layout"
	"filebus/materialize/remote"
	"filebus/store"
	"filebus/store/record"
)

// remote says how the store and its remotes stand.
func (d *doctor) remote(ctx context.Context) (string, error) {
	all, err := remotes(d.Work, nil)
	odd, oddErr := d.oddNames(ctx)
	if err = cmp.Or(err, oddErr); err != nil || len(all) == 0 {
		return strings.Join(append([]string{"none"}, odd...), "; "), err
	}
	ids, err := d.Store.Origins(ctx)
	var said []string
	isWell := true
	for _, s := range all {
		r, openErr := replica(ctx, d.Work, s, false, nil)
		if err != nil || openErr != nil {
			return "", cmp.Or(err, openErr)
		}
		if isWell && !cli.IsThere(filepath.Join(r.Keys.Dir, string(ids[0]))) {
			said, isWell = append(said, "the store has no key, the next push makes one, which others have to trust"), false
		}
		ended := make(chan string, 1) // a disk that does not answer is not waited for
		go func() {
			status, err := r.Status(ctx)
			if err != nil {
				ended <- cli.Message(err)
			} else {
				ended <- d.oneRemote(status)
			}
		}()
		text := "it does not answer"
		select {
		case text = <-ended:
		case <-time.After(time.Second):
		}
		said, isWell = append(said, s.Name+": "+text), isWell && strings.HasPrefix(text, inStep)
	}
	text := strings.Join(append(said, odd...), "; ")
	if !isWell {
		return "", record.Partly.Errorf("%s", text)
	}
	return text, nil
}

// noWindowsName is a path with a segment that Windows cannot have.
var noWindowsName = layout.Pattern(`(?i)(^|/)(con|prn|aux|nul|com[1-9]|lpt[1-9])(\.[^/]*)?(/|$)|` +
	`[<>:"|?*\\\x00-\x1f]|[. ](/|$)`)

// oddNames says how many records have paths that Windows cannot have, and names the first.
func (d *doctor) oddNames(ctx context.Context) (said []string, err error) {
	odd, first := 0, ""
	all, err := d.Reader.Values(ctx, store.FieldPath, "")
	for _, v := range all {
		if _, path, _ := strings.Cut(v.Text, ":"); noWindowsName().MatchString(path) {
			odd, first = odd+1, cmp.Or(first, path)
		}
	}
	if odd > 0 {
		said = []string{fmt.Sprintf("%s that Windows cannot have, such as %s", cli.Plural(odd, "path"), cli.OneLine(first))}
	}
	return said, err
}

const inStep = "in step"

// oneRemote says what waits, who is not trusted, what does not belong there, and when another store spoke last.
func (d *doctor) oneRemote(s *remote.Status) string {
	push, pull, bad, last := s.Position, uint64(0), 0, time.Time{}
	for _, p := range s.Peers {
		switch {
		case p.IsOwn:
			push -= min(p.There, push)
		case p.Problem != "":
			bad++
		default:
			pull += p.There - min(p.Here, p.There)
			if last.Before(*p.Said) {
				last = *p.Said
			}
		}
	}
	text := inStep
	if pull+push > 0 || bad+len(s.Strays) > 0 {
		text = fmt.Sprintf("%d to push, %d to pull, %s not trusted or not sound, %s not belong there", push, pull,
			cli.Plural(bad, "store"), cli.Count(len(s.Strays), "1 file does", "%d files do"))
	}
	if !last.IsZero() {
		text += ", another store spoke last at " + d.Minute(last)
	}
	return text
}
