package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"filebus/cmd/filebus/cli"
	runs "filebus/cmd/filebus/run"
	"filebus/cmd/filebus/trust"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// usualGitBudget is how long a search looks at the history of git: it takes some 20
// ms itself.
const usualGitBudget = 100 * time.Millisecond

// otherStoreWait is how long a search waits for a store elsewhere that others keep
// busy.
const otherStoreWait = 2 * time.Second

// A storeSet is the stores of a search: that of the working directory, if there is
// one, first.
type storeSet struct {
	everywhere bool
	own        *cli.Work // or nil
	readers    []*query.Reader
	failed     []query.StoreAnswer // those that could not be opened
}

// openStores opens the store of the working directory and, of a search everywhere,
// those that the user has opened before. Where there is no store the error says how
// to search those that there are elsewhere.
func openStores(ctx context.Context, e *cli.Environ, everywhere bool, opts query.Options) (*storeSet, error) {
	set := &storeSet{everywhere: everywhere}
	own, err := e.OpenFresh(ctx)
	var others []string
	if everywhere || err != nil {
		others = e.RememberedStores()
	}
	absent := errors.Is(err, store.ErrNoStore) && e.Or(e.Global.Store, "FILEBUS_STORE") == ""
	switch {
	case err == nil:
		set.own = own
		set.readers = append(set.readers, e.NewReader(own.Store, opts))
	case absent && !everywhere && len(others) > 0:
		hint := "run it again with --everywhere to search the stores that you have opened, or "
		return nil, cli.Coded(record.NoStore, hint+cli.Explain(err).Hint, err)
	case everywhere && errors.Is(err, record.Untrusted):
		if at, locateErr := e.Locate(); locateErr == nil && !slices.Contains(others, at.Store) {
			others = append(others, at.Store) // which is named below
		}
	case !absent || !everywhere:
		return nil, err
	}
	user := e.User()
	for _, folder := range others {
		if own != nil && trust.IsSame(folder, own.Store.Dir()) {
			continue
		}
		options := e.StoreOptions()
		options.Wait = min(options.Wait, otherStoreWait)
		err := user.Check(folder)
		var s *store.Store
		if err == nil {
			s, err = store.Open(folder, options)
		}
		if err != nil {
			set.failed = append(set.failed, query.StoreAnswer{Folder: folder, Err: err})
			continue
		}
		opts.Now, opts.Wait, opts.Command = e.Now, options.Wait, e.Command
		set.readers = append(set.readers, query.New(s, opts))
	}
	if len(set.readers)+len(set.failed) == 0 {
		return nil, err
	}
	return set, nil
}

// search searches the stores. The first may take wait to catch up.
func (s *storeSet) search(
	ctx context.Context, request query.SearchRequest, wait time.Duration,
) (answer query.SearchAnswer, err error) {
	if s.everywhere {
		return query.SearchEverywhere(ctx, s.readers, request, wait)
	}
	if s.own != nil {
		request.Here = s.own.Apart()
	}
	return s.readers[0].Search(ctx, request)
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

// countCommits asks git, for the hits of each store in its workspace, which of the
// files that they name were changed since.
func (s *storeSet) countCommits(ctx context.Context, env *cli.Environ, hits []query.Hit) {
	ctx, cancel := context.WithTimeout(ctx, env.GitBudget)
	defer cancel()
	byStore := make(map[string][]*query.Hit)
	for i := range hits {
		byStore[hits[i].Store] = append(byStore[hits[i].Store], &hits[i])
	}
	for folder, of := range byStore {
		root := filepath.Dir(folder)
		if s.own != nil && (folder == "" || folder == s.own.Store.Dir()) {
			root = s.own.Root
		}
		query.CountCommits(of, func(since time.Time, files []string) (all []query.Commit) {
			for _, c := range runs.Commits(ctx, root, since, files, env.Variables) {
				all = append(all, query.Commit(c))
			}
			return all
		})
	}
}

// report says how many stores have answered, and what is wrong with the others. If
// none has, that is an error.
func (s *storeSet) report(env *cli.Environ, stores []query.StoreAnswer) error {
	answered := 0
	for _, a := range stores {
		if a.Err != nil {
			s.failed = append(s.failed, a)
			continue
		}
		hint := "; filebus reindex" + env.StoreFlag(a.Folder) + " indexes them"
		noteUnranked(env, env.ShortPath(a.Folder)+": ", &a.SearchAnswer, hint)
		answered++
	}
	err := s.noteFailed(env, answered)
	if err == nil {
		env.Note("searched %s", cli.Plural(answered, "store"))
	}
	return err
}

// noteFailed names the stores that have failed. If none has answered, that is an
// error.
func (s *storeSet) noteFailed(env *cli.Environ, answered int) error {
	if answered == 0 && len(s.failed) > 0 {
		return s.failed[0].Err
	}
	for _, f := range s.failed {
		env.Note("%s was left out: %v", env.ShortPath(f.Folder), f.Err)
	}
	return nil
}

// inPart says of entries that were scanned that not all were, and what to do.
func inPart(incomplete bool, hint string) string {
	if incomplete {
		return " in part" + hint
	}
	return ""
}
