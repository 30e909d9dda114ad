package mirror

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// A pattern is one line of an ignore file, as gitignore(5) has it.
type pattern struct {
	head, tail string // what all that it matches begins and ends with: most is not compared further
	part       string // and contains
	glob       string // as package doublestar has it
	takesIn    bool   // with "!": what matches is not left out
	forFolders bool   // with "/" at the end
	ofPath     bool   // compared with the path and not with the name alone
	line       string // as it was read
	used       bool   // it decided about something
}

// patterns are the lines of one ignore file, of which the last that matches counts.
type patterns []pattern

// parsePatterns reads the text of an ignore file, and returns the lines that say nothing,
// too: git lets them match nothing.
func parsePatterns(text string) (all patterns, unknown []string) {
	for class, set := range map[string]string{"digit": "0-9", "alpha": "a-zA-Z", "alnum": "a-zA-Z0-9", "lower": "a-z", "upper": "A-Z"} {
		for _, begin := range []string{"[", "[!", "[^"} {
			text = strings.ReplaceAll(text, begin+"[:"+class+":]", begin+set)
		}
	}
	translate := strings.NewReplacer(`\\`, `\\`, `\[`, `\[`, `\{`, `\{`, `\}`, `\}`, "{", `\{`, "}", `\}`, "[!", "[!/", "[^", "[!/")
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		line = trimSpaces(strings.TrimSuffix(line, "\r"))
		if line == "" || line[0] == '#' {
			continue
		}
		p, glob := pattern{line: line}, ""
		glob, p.takesIn = strings.CutPrefix(line, "!")
		glob, p.forFolders = strings.CutSuffix(glob, "/")
		p.ofPath = strings.Contains(glob, "/")
		if glob = strings.TrimPrefix(glob, "/"); glob == "**" || strings.HasSuffix(glob, "/**") {
			glob += "/*" // what lies below, and not the folder itself
		}
		p.glob = translate.Replace(glob)
		isOdd := func(class string) bool { return strings.Contains(glob, class) } // not read as git does
		if slices.ContainsFunc([]string{"[:", "[]", "[!]", "[^]"}, isOdd) || !doublestar.ValidatePattern(p.glob) {
			unknown = append(unknown, line)
			continue
		}
		const special = `*?[\{}`
		if p.head = glob; strings.ContainsAny(glob, special) {
			p.head = glob[:strings.IndexAny(glob, special)]
		}
		p.tail = glob[strings.LastIndexAny(glob, special+"]/")+1:]
		before, _, _ := strings.Cut(glob, "[")
		for part := range strings.FieldsFuncSeq(before, func(c rune) bool { return strings.ContainsRune(special+"/", c) }) {
			if len(part) > len(p.part) {
				p.part = part
			}
		}
		all = append(all, p)
	}
	return all, unknown
}

// trimSpaces removes spaces at the end, but not one behind a backslash.
func trimSpaces(line string) string {
	short := strings.TrimRight(line, " ")
	if slashes := len(short) - len(strings.TrimRight(short, `\`)); slashes%2 == 1 && short != line {
		short += " "
	}
	return short
}

// match returns the pattern that decides about a path below another, which ends with a slash or is "", and whose folders
// are taken in, or nil.
func (ps patterns) match(above, p string, isFolder bool) *pattern {
	name := p[strings.LastIndexByte(p, '/')+1:]
	for i := len(ps) - 1; i >= 0; i-- {
		subject := name
		if ps[i].ofPath && strings.HasSuffix(name, ps[i].tail) {
			subject = above + p
		}
		if strings.HasSuffix(subject, ps[i].tail) && strings.HasPrefix(subject, ps[i].head) && strings.Contains(subject, ps[i].part) &&
			(isFolder || !ps[i].forFolders) && doublestar.MatchUnvalidated(ps[i].glob, subject) {
			ps[i].used = true
			return &ps[i]
		}
	}
	return nil
}
