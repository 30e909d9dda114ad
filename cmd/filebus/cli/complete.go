package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"filebus/materialize"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store"
)

// completeFlag lets a shell complete the values of a filter, by what the store has.
func completeFlag(env *Environ, field string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		s, err := env.Open(cmd.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		before := typed[:strings.LastIndex(typed, ",")+1] // of several values
		var found []string
		for _, value := range s.FilterValues(cmd.Context(), field) {
			if strings.HasPrefix(before+value, typed) && len(found) < MaxCompletions {
				found = append(found, before+value)
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// FilterValues returns what a filter may ask for, by the store; none beside an error.
func (w *Work) FilterValues(ctx context.Context, field string) (values []string) {
	if field == "tree" {
		trees, _ := w.Trees(ctx)
		return append(markdown.Each(trees, func(t *materialize.Tree) string { return string(t.Name) }), ".")
	}
	values, _ = query.View(ctx, w.Store, func(tx *store.Tx) (all []string, err error) {
		for value, err := range tx.Distinct(store.Field(field)) {
			if err != nil {
				return nil, err
			}
			all = append(all, value)
		}
		return all, nil
	})
	return values
}

// MaxCompletions is how many names a shell is offered.
const MaxCompletions = 200

// CompleteNames completes the name of a record.
func CompleteNames(env *Environ) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		s, err := env.Open(cmd.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		names, err := s.Reader.Complete(cmd.Context(), typed, MaxCompletions)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return names, cobra.ShellCompDirectiveDefault
	}
}
