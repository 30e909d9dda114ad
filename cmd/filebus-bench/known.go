package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"filebus/query"
)

// knownDepth is how far down a known item is looked for.
const knownDepth = 100

// A knownItem is a line of an index, and the file that it is about.
type knownItem struct {
	text string
	file string // slash-separated, below the tree
}

// runKnown captures the tree around an index in Markdown, asks for the text of each
// of its entries, and looks where the file that the entry links to is among the
// hits. The index itself has all these texts: it does not count. All other records
// do, entries of aggregate files among them.
func runKnown(ctx context.Context, b *bench) ([]row, error) {
	if b.known == "" {
		return nil, &missingError{"an index of known items (-known)"}
	}
	file, err := filepath.Abs(b.known)
	if err != nil {
		return nil, err
	}
	tree := treeOf(file)
	items, err := readKnown(tree, file)
	if err != nil {
		return nil, err
	}
	reader, err := b.readerOf(ctx, "known", tree)
	if err != nil {
		return nil, err
	}
	index, err := filepath.Rel(tree, file)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(b.progress, "  %d entries\n", len(items))
	var first, five, rr sample
	for _, item := range items {
		place, err := item.place(ctx, reader, filepath.ToSlash(index))
		if err != nil {
			return nil, err
		}
		first, five, rr = append(first, within(place, 1)), append(five, within(place, 5)), append(rr, within(place, knownDepth)/max(float64(place), 1))
	}
	return []row{
		mean("success@1", first),
		mean("success@5", five).atLeast(0.95, "≥ 0.95"),
		mean("known-MRR", rr),
	}, nil
}

// within is 1 if a place, counted from 1, is not behind another, and 0 if it is or
// if there is none.
func within(place, last int) float64 {
	if place > 0 && place <= last {
		return 1
	}
	return 0
}

// place returns at which place, counted from 1, a search for the item has its
// file; 0 if it is not among the hits.
func (i *knownItem) place(ctx context.Context, reader *query.Reader, index string) (int, error) {
	answer, err := reader.Search(ctx, query.SearchRequest{Query: i.text, Limit: knownDepth})
	if err != nil {
		return 0, err
	}
	place := 0
	for _, hit := range answer.Hits {
		if hit.Path == index {
			continue
		}
		if place++; hit.Path == i.file {
			return place, nil
		}
	}
	return 0, nil
}

// treeOf returns the folder to capture: the one that holds the first hidden folder
// above the index, or else the index's own.
func treeOf(file string) string {
	segments := strings.Split(filepath.ToSlash(file), "/")
	for i, segment := range segments[:len(segments)-1] {
		if len(segment) > 1 && segment[0] == '.' {
			return filepath.FromSlash(strings.Join(segments[:i], "/") + "/")
		}
	}
	return filepath.Dir(file)
}

var (
	markdownLink = regexp.MustCompile(`\[([^\]]*)\]\(([^()\s]+)\)`)
	entryStart   = regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s+`)
	entryDate    = regexp.MustCompile(`^(?:\d{4}-\d\d-\d\d)?(?:[ T]?\d\d:\d\d(?::\d\d)?)?\s*[—–:|-]*\s*`)
)

// readKnown reads the entries of an index whose file is there. An entry is a list
// item on one line with a link to a Markdown file, relative to the index.
func readKnown(tree, file string) ([]knownItem, error) {
	source, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var items []knownItem
	for line := range strings.Lines(string(source)) {
		if !entryStart.MatchString(line) {
			continue
		}
		text, target := parseEntry(line)
		if text == "" || target == "" {
			continue
		}
		target, err := filepath.Rel(tree, filepath.Join(filepath.Dir(file), filepath.FromSlash(target)))
		if err == nil && filepath.IsLocal(target) && exists(filepath.Join(tree, target)) {
			items = append(items, knownItem{text, filepath.ToSlash(target)})
		}
	}
	if len(items) == 0 {
		return nil, errors.New("the index " + file + " has no entries that link to a file that is there")
	}
	return items, nil
}

// parseEntry returns the text of an entry, without its date, its sign and its links
// to Markdown files, and where the last of these leads.
func parseEntry(line string) (text, target string) {
	line = entryStart.ReplaceAllString(line, "")
	line = entryDate.ReplaceAllString(line, "")
	links := markdownLink.FindAllStringSubmatchIndex(line, -1)
	slices.Reverse(links)
	for _, link := range links {
		label, to := line[link[2]:link[3]], line[link[4]:link[5]]
		if to, _, _ = strings.Cut(to, "#"); filepath.Ext(to) == ".md" {
			if target == "" {
				target = to
			}
			label = ""
		}
		line = line[:link[0]] + label + line[link[1]:]
	}
	return strings.TrimSpace(line), target
}
