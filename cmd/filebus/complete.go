package main

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/dialogue"
	"filebus/cmd/filebus/session"
	"filebus/materialize/markdown"
)

// completeArguments lets a shell complete the arguments of a command, by the words of its
// usage: SLUG and ID are what the store has.
func completeArguments(env *cli.Environ) cobra.CompletionFunc {
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
		s, err := env.Open(cmd.Context())
		switch {
		case word == "START|SUCCESS|ERROR":
			found = strings.Split(word, "|")
		case err != nil: // what cannot be read completes nothing
		case strings.Contains(word, "SLUG"):
			items, _, _ := dialogue.Of(s).List(cmd.Context(), cli.Page{Limit: cli.MaxCompletions}) // none beside an error
			found = markdown.Each(items, func(i dialogue.Item) string { return i.Key.String() })
		case word == "TREE":
			found = s.FilterValues(cmd.Context(), "tree")
		case word == "ID":
			keys, _ := session.Of(s).Keys(cmd.Context()) // none beside an error
			for _, k := range keys {
				found = append(found, k.String(), k.ID)
			}
		case usage[0] == "SLUG" && (word == "ROUND" || word == "AGENT"):
			found = dialogueWords(cmd.Context(), s, word, args)
		}
		found = slices.DeleteFunc(found, func(text string) bool { return !strings.HasPrefix(text, typed) })
		return found[:min(len(found), cli.MaxCompletions)], rest
	}
}

// dialogueWords returns the rounds of a dialogue, or who takes part in one.
func dialogueWords(ctx context.Context, w *cli.Work, word string, args []string) []string {
	f := dialogue.Of(w)
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
