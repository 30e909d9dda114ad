package mirror

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// A pattern is one line of an ignore file, as gitignore(5) has it.
type pattern struct {
	glob       string // as package doublestar has it
	head, tail string // what all that it matches begins and ends with
	takesIn    bool   // with "!": what matches is not left out
	forFolders bool   // with "/" at the end
	ofPath     bool   // compared with the path and not with the name alone
}

// patterns are the lines of one ignore file, of which the last that matches counts.
type patterns struct {
	list  []pattern
	exact map[string]int // number in list, from 1, by a name, "*" and an extension, or "/" and a path, and "/" for folders
	wild  []int          // those of all others
}

// parsePatterns reads the text of an ignore file, and returns the lines that say nothing,
// too: git lets them match nothing.
func parsePatterns(text string) (all patterns, unknown []string) {
	all.exact = map[string]int{}
	translate := strings.NewReplacer(`\\`, `\\`, `\[`, `\[`, `\{`, `\{`, `\}`, `\}`, "{", `\{`, "}", `\}`, "[!", "[!/", "[^", "[!/")
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		line = trimSpaces(strings.TrimSuffix(line, "\r"))
		if line == "" || line[0] == '#' {
			continue
		}
		p, rest := pattern{}, ""
		rest, p.takesIn = strings.CutPrefix(line, "!")
		rest, p.forFolders = strings.CutSuffix(rest, "/")
		p.ofPath = strings.Contains(rest, "/")
		if rest = strings.TrimPrefix(rest, "/"); rest == "**" || strings.HasSuffix(rest, "/**") {
			rest += "/*" // what lies below, and not the folder itself
		}
		p.glob = translate.Replace(rest)
		isOdd := func(class string) bool { return strings.Contains(rest, class) } // not read as git does
		if slices.ContainsFunc([]string{"[:", "[]", "[!]", "[^]"}, isOdd) || !doublestar.ValidatePattern(p.glob) {
			unknown = append(unknown, line)
			continue
		}
		if all.list = append(all.list, p); !all.look(rest, &all.list[len(all.list)-1]) {
			all.wild = append(all.wild, len(all.list))
		}
	}
	return all, unknown
}

// look enters the last pattern where it can be looked up, if it says exactly what it matches.
func (ps *patterns) look(glob string, p *pattern) bool {
	const special = `*?[]\{}`
	first, key := strings.IndexAny(glob, special), glob
	switch {
	case first < 0 && p.ofPath:
		key = "/" + glob
	case first >= 0 && (p.ofPath || len(glob) < 3 || glob != "*"+path.Ext(glob) || strings.ContainsAny(glob[1:], special)):
		p.head, p.tail = glob[:first], glob[strings.LastIndexAny(glob, special+"/")+1:]
		return false
	}
	if p.forFolders {
		key += "/"
	}
	ps.exact[key] = len(ps.list)
	return true
}

// trimSpaces removes spaces at the end, but not one behind a backslash.
func trimSpaces(line string) string {
	short := strings.TrimRight(line, " ")
	if slashes := len(short) - len(strings.TrimRight(short, `\`)); slashes%2 == 1 && short != line {
		short += " "
	}
	return short
}

// match returns the pattern that decides about a path whose folders are taken in, or nil.
func (ps *patterns) match(p string, isFolder bool) *pattern {
	best, name := 0, path.Base(p)
	for _, key := range [...]string{name, "*" + path.Ext(name), "/" + p} {
		if best = max(best, ps.exact[key]); isFolder {
			best = max(best, ps.exact[key+"/"])
		}
	}
	for i := len(ps.wild) - 1; i >= 0 && ps.wild[i] > best; i-- {
		if ps.list[ps.wild[i]-1].matches(p, name, isFolder) {
			best = ps.wild[i]
		}
	}
	if best == 0 {
		return nil
	}
	return &ps.list[best-1]
}

func (p *pattern) matches(subject, name string, isFolder bool) bool {
	if !p.ofPath {
		subject = name
	}
	return (isFolder || !p.forFolders) && strings.HasPrefix(subject, p.head) && strings.HasSuffix(subject, p.tail) &&
		doublestar.MatchUnvalidated(p.glob, subject)
}
