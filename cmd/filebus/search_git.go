package main

import (
	"context"
	"time"

	runs "filebus/materialize/run"
	"filebus/query"
)

// usualGitBudget is how long a search looks at the history of git: it takes some 20
// ms itself.
const usualGitBudget = 100 * time.Millisecond

// countCommits asks git which of the files below root that hits name were changed
// since.
func countCommits(ctx context.Context, env *environ, root string, answer *query.SearchAnswer) {
	ctx, cancel := context.WithTimeout(ctx, env.gitBudget)
	defer cancel()
	answer.CountCommits(func(since time.Time, files []string) []query.Commit {
		var all []query.Commit
		for _, c := range runs.Commits(ctx, root, since, files, env.variables) {
			all = append(all, query.Commit(c))
		}
		return all
	})
}
