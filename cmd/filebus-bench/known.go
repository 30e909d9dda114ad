package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// knownDepth is how far down a known item is looked for.
const knownDepth = 100

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

// readKnown reads the entries of an index whose file is there, as topics that this
// file answers. An entry is a list item on one line with a link to a Markdown file,
// relative to the index.
func readKnown(tree, file string) (topics []topic, answers judgements, err error) {
	source, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	answers = judgements{}
	for line := range strings.Lines(string(source)) {
		text, target := parseEntry(line)
		if text == "" || target == "" {
			continue
		}
		target, err := filepath.Rel(tree, filepath.Join(filepath.Dir(file), filepath.FromSlash(target)))
		if err == nil && filepath.IsLocal(target) && exists(filepath.Join(tree, target)) {
			id := strconv.Itoa(len(topics))
			topics = append(topics, topic{id, text})
			answers[id] = map[string]int{filepath.ToSlash(target): 1}
		}
	}
	if len(topics) == 0 {
		err = errors.New("the index " + file + " has no entries that link to a file that is there")
	}
	return topics, answers, err
}

// parseEntry returns the text of an entry, without its date, its sign and its links
// to Markdown files, and where the last of these leads.
func parseEntry(line string) (text, target string) {
	if !entryStart.MatchString(line) {
		return "", ""
	}
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
