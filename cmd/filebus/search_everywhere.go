package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// otherStoreWait is how long a search waits for a store elsewhere that others keep
// busy.
const otherStoreWait = 2 * time.Second

// A storeSet is the stores of a search: that of the working directory, if there is
// one, first.
type storeSet struct {
	own     *session // or nil
	readers []*query.Reader
	failed  []storeFailure // those that could not be opened
}

// A storeFailure says why a store does not answer.
type storeFailure struct {
	folder string
	err    error
}

// openEverywhere opens the store of the working directory and those that the user
// has opened before.
func (e *environ) openEverywhere(ctx context.Context, opts query.Options) (*storeSet, error) {
	set := new(storeSet)
	own, err := e.openFresh(ctx)
	switch {
	case err == nil:
		set.own = own
		set.readers = append(set.readers, e.reader(own.Store, opts))
	case !errors.Is(err, store.ErrNoStore) || e.or(e.global.store, "FILEBUS_STORE") != "":
		return nil, err
	}
	for _, folder := range e.rememberedStores() {
		if own != nil && isSameFolder(folder, own.Store.Dir()) {
			continue
		}
		options := e.storeOptions()
		options.Wait = min(options.Wait, otherStoreWait)
		s, err := store.Open(folder, options)
		if err != nil {
			set.failed = append(set.failed, storeFailure{folder, err})
			continue
		}
		opts.Now, opts.Wait, opts.Command = e.now, options.Wait, e.command
		set.readers = append(set.readers, query.New(s, opts))
	}
	if len(set.readers)+len(set.failed) == 0 {
		return nil, err
	}
	return set, nil
}

// openSearched opens the store of a search in one. Where there is none the error
// says how to search those that there are elsewhere.
func (e *environ) openSearched(ctx context.Context) (*session, error) {
	s, err := e.openFresh(ctx)
	if errors.Is(err, store.ErrNoStore) && e.or(e.global.store, "FILEBUS_STORE") == "" && len(e.rememberedStores()) > 0 {
		return nil, coded(record.NoStore, "the same with --everywhere, to search the stores that you have opened, or filebus init", err)
	}
	return s, err
}

func isSameFolder(a, b string) bool {
	if a == b {
		return true
	}
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

func runSearchEverywhere(ctx context.Context, env *environ, opts searchOptions, request query.SearchRequest, text string) error {
	show, clear := env.progress("indexing")
	set, err := env.openEverywhere(ctx, query.Options{Progress: show})
	if err != nil {
		return err
	}
	answer, err := query.SearchEverywhere(ctx, set.readers, request, max(opts.maxWait, 1))
	clear()
	if err != nil {
		return err
	}
	if err := set.report(env, answer.Stores); err != nil {
		return err
	}
	p := hitPage{env: env, answer: &answer.SearchAnswer, opts: &opts.answerOptions, limit: opts.limit, offset: request.Offset, marks: request.Marks}
	if p.more = len(answer.Hits) > opts.limit; p.more {
		answer.Hits = answer.Hits[:opts.limit]
	}
	if !opts.noGit {
		set.countCommits(ctx, env, answer.Hits)
	}
	if !env.global.json {
		set.unnameOwn(answer.Hits)
	}
	for _, h := range answer.Hits {
		if h.Damaged {
			env.note("the body of %s is damaged; run filebus verify%s", h.Name, env.storeFlag(h.Store))
		}
	}
	size, err := p.print(ctx, set.reader)
	opts.noteRead(env, &request)
	opts.noteMissed(env, &answer.SearchAnswer, text)
	if set.own != nil {
		env.logRead(set.own, "search", text, record.EstimateTokens(int64(size)))
	}
	return err
}

// reader returns that of a hit's store.
func (s *storeSet) reader(hit *query.Hit) *query.Reader {
	for _, r := range s.readers {
		if r.Store().Dir() == hit.Store {
			return r
		}
	}
	return s.readers[0]
}

// unnameOwn takes the store from hits of the own one: commands find it without.
func (s *storeSet) unnameOwn(hits []query.Hit) {
	for i := range hits {
		if s.own != nil && hits[i].Store == s.own.Store.Dir() {
			hits[i].Store = ""
		}
	}
}

// countCommits does so for the hits of each store in its workspace, in the time that
// one takes.
func (s *storeSet) countCommits(ctx context.Context, env *environ, hits []query.Hit) {
	ctx, cancel := context.WithTimeout(ctx, env.gitBudget)
	defer cancel()
	byStore := make(map[string][]int)
	for i := range hits {
		byStore[hits[i].Store] = append(byStore[hits[i].Store], i)
	}
	for folder, places := range byStore {
		root := filepath.Dir(folder)
		if s.own != nil && folder == s.own.Store.Dir() {
			root = s.own.Root
		}
		var of query.SearchAnswer
		for _, i := range places {
			of.Hits = append(of.Hits, hits[i])
		}
		countCommits(ctx, env, root, &of)
		for n, i := range places {
			hits[i].Commits = of.Hits[n].Commits
		}
	}
}

// report says how many stores have answered, and what is wrong with the others. If
// none has, that is an error.
func (s *storeSet) report(env *environ, stores []query.StoreAnswer) error {
	answered := 0
	for _, a := range stores {
		switch {
		case a.Err != nil:
			s.failed = append(s.failed, storeFailure{a.Folder, a.Err})
			continue
		case a.Unindexed > 0:
			env.note("%s: %d log entries are not indexed yet; they were scanned%s", env.shortPath(a.Folder), a.Unindexed,
				env.inPartOf(a.Folder, a.ScanIncomplete))
		case a.ScanIncomplete:
			env.note("%s: older versions were scanned in part", env.shortPath(a.Folder))
		}
		answered++
	}
	if answered == 0 && len(s.failed) > 0 {
		return s.failed[0].err
	}
	s.noteFailed(env)
	env.note("searched %s", plural(answered, "store"))
	return nil
}

// reportFailed names the stores that could not be opened. If none could, that is an
// error.
func (s *storeSet) reportFailed(env *environ) error {
	if len(s.readers) == 0 && len(s.failed) > 0 {
		return s.failed[0].err
	}
	s.noteFailed(env)
	return nil
}

func (s *storeSet) noteFailed(env *environ) {
	for _, f := range s.failed {
		env.note("%s was left out: %v", env.shortPath(f.folder), f.err)
	}
}

func (e *environ) inPartOf(folder string, incomplete bool) string {
	if incomplete {
		return " in part; filebus reindex" + e.storeFlag(folder) + " indexes them"
	}
	return ""
}

// storeFlag returns the flag that names a store, with a space before it; nothing for
// no store.
func (e *environ) storeFlag(folder string) string {
	if folder == "" {
		return ""
	}
	if short := e.shortPath(folder); short != folder {
		return " --store ~/" + quote(filepath.ToSlash(short[2:])) // a shell expands no tilde in quotes
	}
	return " --store " + quote(folder)
}

// shortPath writes a path below the home folder with a tilde.
func (e *environ) shortPath(path string) string {
	home := e.home()
	below, err := filepath.Rel(home, path)
	if home == "" || err != nil || !filepath.IsLocal(below) || below == "." {
		return path
	}
	return "~/" + strings.ReplaceAll(below, "\\", "/")
}
