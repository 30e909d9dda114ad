package main

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"filebus/cmd/filebus/cli"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store/record"
)

// noteScan says what was not ranked, what was not even seen, and how to see it.
func (o *searchCommand) noteScan(env *cli.Environ, request *query.SearchRequest, answer *query.SearchAnswer,
	text string) {
	if answer.ScanIncomplete && answer.Unread > 0 {
		env.Note("there was no time to look into %s; filters and whole words leave fewer, and this reads all: %s",
			cli.Count(int(answer.Unread), "1 more text", "%d more texts"),
			o.lineWith("--all", text))
	} else if request.Pattern != nil && !request.Pattern.IsNarrow() {
		env.Note("no word is in every match of the expression, so texts were read one by one")
	}
	if !o.Everywhere {
		noteUnranked(env, "", answer, "; run the search again, or filebus reindex")
	}
	if answer.AsPhrase != "" {
		env.Note("only stop words or punctuation: the texts were searched for exactly %s",
			cli.ClipText(record.ShellWord(answer.AsPhrase)))
	}
}

// noteUnranked says what the index of a store lacks, after words that name the store,
// and what to do if not all of that was seen.
func noteUnranked(e *cli.Environ, store string, answer *query.SearchAnswer, hint string) {
	switch {
	case answer.Refused != "":
		e.Note("%sthe index cannot be used, so %s scanned%s: %s", store,
			cli.Count(int(answer.Unindexed), "1 log entry was", "%d log entries were"), inPart(answer.ScanIncomplete, ""),
			cli.Message(errors.New(answer.Refused)))
	case answer.Unindexed > 0:
		e.Note("%s%d log entries are not indexed yet; they were scanned%s", store, answer.Unindexed,
			inPart(answer.ScanIncomplete, hint))
	case answer.ScanIncomplete && answer.Unread == 0:
		e.Note("%snot all older versions were looked at", store)
	}
}

// noteRead says what of a text was read otherwise than it may be meant: a kind that
// there is none of, which is text, and what looks like a flag.
func (o *searchCommand) noteRead(env *cli.Environ, request *query.SearchRequest, text string, literal bool) {
	if o.Literal {
		return
	}
	for _, word := range strings.Fields(request.Query) {
		names, found := strings.CutPrefix(word, "kind:")
		inPhrase := slices.ContainsFunc(request.Phrases, func(p string) bool { return strings.Contains(p, word) })
		if !found || names == "" || inPhrase {
			continue
		}
		if err := new(record.Filter).Add("kind", strings.Split(names, ",")...); err != nil {
			env.Note("%s is searched for as text: %v", cli.ClipText(word), err)
		}
	}
	if first, _, _ := strings.Cut(strings.TrimSpace(request.Query), " "); len(first) == len("-n") && first[0] == '-' {
		env.Note("%s is searched for as text; the flags are in filebus search --help", first)
	}
	var out []string
	for _, word := range o.operators {
		if left, found := strings.CutPrefix(word, "-"); found && !strings.HasPrefix(left, "session:") {
			out = append(out, left)
		}
	}
	switch words := cli.ClipText(strings.Join(out, ", ")); {
	case len(out) == 0:
	case literal:
		env.Note("a record has the query exactly as typed, so nothing is left out; to leave out %s, write it first", words)
	default:
		env.Note("texts with %s are left out; to search for it: %s", words, o.lineWith("--literal", text))
	}
}

// noteMissed says why there are no hits, or none for some words, and which search has
// some.
func (o *searchCommand) noteMissed(env *cli.Environ, answer *query.SearchAnswer, text string, own *cli.Work) {
	if own != nil && (answer.Total == 0 || len(answer.Unknown) > 0) {
		if long := own.Store.LongBodies(); long > 0 {
			env.Note("%s more than 1 MiB, of which only the first is searched", cli.Count(long, "1 text has", "%d texts have"))
		}
	}
	for _, word := range slices.Sorted(maps.Keys(answer.Corrected)) {
		env.Note("%q is in no record: searched for %s (write it in quotes for the word itself)", word, answer.Corrected[word])
	}
	hasUnknown := len(answer.Unknown) > len(answer.Corrected)
	if hasUnknown {
		words := markdown.Each(answer.Unknown, func(word string) string { return `"` + word + `"` })
		env.Note("no record has %s", cli.ClipText(strings.Join(words, " or ")))
	}
	for _, h := range answer.Hidden {
		env.Note("without %s there %s", conditionText(h), cli.Count(int(h.Total), "is 1 hit", "are %d hits"))
	}
	if answer.DidYouMean != "" && (hasUnknown || answer.Total == 0) {
		env.Note("did you mean: %s", cli.OneLine(searchLine(o.flagWords, answer.DidYouMean)))
	}
	filters := slices.DeleteFunc(slices.Clone(o.operators), func(word string) bool { return word[0] == '-' }) // those are told
	if len(filters) > 0 && answer.Total == 0 {
		env.Note("read as filters: %s; to search for it as text: %s", cli.ClipText(strings.Join(filters, " ")), o.lineWith("--literal", text))
	}
}

// conditionText names a condition as one asks for it.
func conditionText(h query.Hidden) string {
	switch h.Condition {
	case "phrase":
		return "the quotes"
	case "all":
		return "any filter"
	case "time":
		return "--since and --until"
	}
	var words []string
	for _, value := range h.Values {
		switch {
		case h.Condition != "without":
			words = append(words, "--"+h.Condition+" "+record.ShellWord(cli.TreeText(h.Condition, value)))
		case strings.ContainsFunc(value, unicode.IsSpace):
			words = append(words, `-"`+value+`"`)
		default:
			words = append(words, "-"+value)
		}
	}
	return cli.ClipText(strings.Join(words, " "))
}

// A staleTree is a tree whose folder has changed since the store has seen it.
type staleTree struct {
	Tree    record.Tree `json:"tree"`
	Because string      `json:"because"`
	Refresh string      `json:"refresh,omitempty"` // the command that takes the changes in
}

// staleTrees returns those of the trees of hits whose files, as far as they are hits,
// are not on disk as they were found.
func staleTrees(ctx context.Context, w *cli.Work, hits []query.Hit) (stale []staleTree) {
	names, order := map[record.Tree][]record.Name{}, []record.Tree(nil)
	for _, h := range hits {
		if tree := h.Name.Tree; tree != "" && !h.Older && h.Store == "" {
			if names[tree] == nil {
				order = append(order, tree)
			}
			names[tree] = append(names[tree], h.Name)
		}
	}
	const staleBudget = 50 * time.Millisecond // how long a search looks at the files of captured trees
	deadline := time.Now().Add(staleBudget)
	for _, tree := range order {
		because, err := w.Stale(ctx, tree, names[tree], deadline)
		command := "filebus tree refresh " + record.ShellWord(string(tree))
		if err != nil {
			because, command = cli.Message(err), "" // a refresh changes nothing
		}
		if because != "" {
			stale = append(stale, staleTree{tree, because, command})
		}
	}
	return stale
}

func noteStale(e *cli.Environ, stale []staleTree) {
	for _, s := range stale {
		if s.Refresh == "" {
			e.Remark("%s", s.Because)
		} else {
			e.Remark("the tree %s has changed since its capture: %s; %s takes that in", s.Tree, s.Because, s.Refresh)
		}
	}
}
