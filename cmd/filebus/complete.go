package main

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"filebus/cmd/filebus/dialogue"
	"filebus/materialize"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store"
)

// completeArguments lets a shell complete the arguments of a command, by the words of its
// usage: SLUG and ID are what the store has.
func completeArguments(env *environ) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		usage := strings.Fields(cmd.Use)[1:]
		if len(usage) == 0 || len(args) >= len(usage) && !strings.HasSuffix(cmd.Use, "...") {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		word := strings.Trim(usage[min(len(args), len(usage)-1)], "[].")
		rest := cobra.ShellCompDirectiveNoFileComp
		if strings.Contains(word, "FILE") {
			rest = cobra.ShellCompDirectiveDefault
		}
		var found []string
		s, err := env.open(cmd.Context())
		switch {
		case word == "START|SUCCESS|ERROR":
			found = strings.Split(word, "|")
		case err != nil: // what cannot be read completes nothing
		case strings.Contains(word, "SLUG"):
			items, _, _ := s.forum().List(cmd.Context(), maxCompletions) // none beside an error
			found = markdown.Each(items, func(i dialogue.Item) string { return i.Key.String() })
		case word == "TREE":
			found = s.filterValues(cmd.Context(), "tree")
		case word == "ID":
			keys, _ := s.registry().Keys(cmd.Context()) // none beside an error
			for _, k := range keys {
				found = append(found, k.String(), k.ID)
			}
		case usage[0] == "SLUG" && (word == "ROUND" || word == "AGENT"):
			found = s.dialogueWords(cmd.Context(), word, args)
		}
		found = slices.DeleteFunc(found, func(text string) bool { return !strings.HasPrefix(text, typed) })
		return found[:min(len(found), maxCompletions)], rest
	}
}

// completeFlag lets a shell complete the values of a filter, by what the store has.
func completeFlag(env *environ, field string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		s, err := env.open(cmd.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		before := typed[:strings.LastIndex(typed, ",")+1] // of several values
		var found []string
		for _, value := range s.filterValues(cmd.Context(), field) {
			if strings.HasPrefix(before+value, typed) && len(found) < maxCompletions {
				found = append(found, before+value)
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// dialogueWords returns the rounds of a dialogue, or who takes part in one.
func (w *workspace) dialogueWords(ctx context.Context, word string, args []string) []string {
	f := w.forum()
	key, err := f.Find(ctx, args[0])
	if err != nil {
		return nil
	}
	d, err := f.Read(ctx, key)
	if err != nil {
		return nil
	}
	if word == "ROUND" { // the newest first, and the one to come
		var words []string
		next := 0
		for _, r := range slices.Backward(d.Rounds) {
			words = append(words, strconv.Itoa(r.Number))
			next = max(next, r.Number+1)
		}
		return append(words, strconv.Itoa(next))
	}
	experts := d.Pool.Experts
	if number, err := strconv.Atoi(args[1]); err == nil && d.Round(number) != nil {
		experts = d.Launched(d.Round(number))
	}
	var names []string
	for _, x := range experts {
		if name, err := dialogue.FoldName(x.Name); err == nil {
			names = append(names, name)
		}
	}
	return names
}

// filterValues returns what a filter may ask for, by the store; none beside an error.
func (w *workspace) filterValues(ctx context.Context, field string) (values []string) {
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
