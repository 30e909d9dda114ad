package setup

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// A block is text of ours at the end of a file, between two lines that mark it. The
// first one has a digest of what follows, so that a change is seen, and so that what
// another program has written behind it, but before the last line, is told from it.
type block struct {
	name        string
	open, close string // of a comment: "<!-- " and " -->"
	body        string // whole lines
	check       func(text []byte) (taken string, err error)
}

// Of the two lines there is at most one pair of each name.
const beginning, ending = "filebus:begin ", "filebus:end "

func (b block) firstLine() string { return b.open + beginning + b.name + " " }

func (b block) String() string { return "the block " + b.name }

func (b block) lastLine() string { return b.open + ending + b.name + b.close }

func digestOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:8] }

// text returns the block as it is put into a file.
func (b block) text(end string) string {
	text := b.firstLine() + digestOf(b.body) + b.close + "\n" + b.body + b.lastLine() + "\n"
	return strings.ReplaceAll(text, "\n", end)
}

// maxBody bounds what is looked through for our part of a block.
const maxBody = 1 << 16

// A place says where a block stands.
type place struct {
	start, stop int    // with both of its lines
	more        string // what others have written into it, behind our part
	isOurs      bool   // our part is as it was written
	end         string // of its lines
}

// find returns where the block is, or nil.
func (b block) find(text string) (*place, error) {
	starts, stops := linesOf(text, b.firstLine()), linesOf(text, b.lastLine())
	switch {
	case len(starts) == 0 && len(stops) == 0:
		return nil, nil
	case len(starts) != 1 || len(stops) != 1 || starts[0] > stops[0]:
		line := 1 + strings.Count(text[:slices.Min(append(starts, stops...))], "\n")
		return nil, fmt.Errorf("line %d: %s has no beginning, no end, or several", line, b)
	}
	first, rest, _ := strings.Cut(text[starts[0]:stops[0]], "\n")
	_, behind, found := strings.Cut(text[stops[0]:], "\n")
	p := &place{start: starts[0], stop: len(text) - len(behind), end: "\n"}
	if strings.HasSuffix(first, "\r") {
		p.end = "\r\n"
	}
	digest := strings.TrimSuffix(strings.TrimSpace(strings.TrimPrefix(first, b.firstLine())), strings.TrimSpace(b.close))
	for own := 0; found && own < min(len(rest), maxBody) && !p.isOurs; {
		own += 1 + strings.Index(rest[own:]+"\n", "\n")
		own = min(own, len(rest))
		if p.isOurs = digestOf(strings.ReplaceAll(rest[:own], "\r\n", "\n")) == strings.TrimSpace(digest); p.isOurs {
			p.more = rest[own:]
		}
	}
	return p, nil
}

// linesOf returns the offsets of the lines that begin with a text.
func linesOf(text, begin string) (all []int) {
	at := 0
	if strings.HasPrefix(text, byteOrderMark) {
		at = len(byteOrderMark)
	}
	for line := range strings.Lines(text[at:]) {
		if strings.HasPrefix(line, begin) {
			all = append(all, at)
		}
		at += len(line)
	}
	return all
}

func (b block) add(text []byte) ([]byte, []string, error) {
	if b.check != nil {
		if taken, err := b.check(text); taken != "" || err != nil {
			return text, []string{taken}, err
		}
	}
	was := string(text)
	switch at, err := b.find(was); {
	case err != nil:
		return nil, nil, err
	case at != nil && !at.isOurs:
		return text, []string{b.String() + " was changed"}, nil
	case at != nil:
		return []byte(was[:at.start] + b.text(at.end) + at.more + was[at.stop:]), nil, nil
	}
	end := lineEnd(text)
	now := was + end + b.text(end)
	if text == nil {
		now = b.text(end)
	}
	back, _, err := b.remove([]byte(now), false)
	if err != nil || string(back) != was || (back == nil) != (text == nil) {
		return nil, nil, errors.New("a block could not be taken out of it again as it was put in")
	}
	if b.check != nil {
		_, err = b.check([]byte(now))
	}
	return []byte(now), nil, err
}

// remove takes out the block and the line end before it: add has put it there, unless
// it has made the file.
func (b block) remove(text []byte, force bool) ([]byte, []string, error) {
	was := string(text)
	at, err := b.find(was)
	switch {
	case err != nil:
		return nil, nil, err
	case at == nil:
		return text, nil, nil
	case !at.isOurs && !force:
		return text, []string{b.String() + " was changed"}, nil
	}
	before, behind := was[:at.start], at.more+was[at.stop:]
	isMade := before == ""
	cut := strings.TrimSuffix(before, at.end)
	if behind == "" || strings.HasSuffix(cut, "\n") || strings.HasPrefix(behind, at.end) {
		before = cut // else two lines of others would become one
	}
	if next := strings.TrimPrefix(behind, at.end); isMade && strings.HasPrefix(next, b.open+beginning) {
		behind = next // the next one is now what the file was made with
	}
	if isMade && behind == "" {
		return nil, nil, nil
	}
	return []byte(before + behind), nil, nil
}

// checkTOML returns the check of a block of TOML: what it says is taken has the last of
// the keys already, outside of the block. The tables above that key are open, by lines
// of their own: within a value nothing can be added to them.
func checkTOML(b block, tables []toml.Key, key toml.Key) func([]byte) (string, error) {
	return func(text []byte) (string, error) {
		var all map[string]any
		meta, err := toml.Decode(string(text), &all)
		if wrong, is := errors.AsType[toml.ParseError](err); is {
			err = fmt.Errorf("line %d: %s", wrong.Position.Line, wrong.Message)
		}
		at, findErr := b.find(string(text))
		if err = errors.Join(err, findErr); err != nil || at != nil {
			return "", err
		}
		if meta.IsDefined(key...) {
			return key.String() + " is there in another form", nil
		}
		for _, table := range tables {
			head := regexp.MustCompile(`(?m)^[ \t]*\[\[?` + regexp.QuoteMeta(table.String()) + `[.\]]`)
			if meta.IsDefined(table...) && !head.Match(text) {
				return "", fmt.Errorf("%s is a value, to which no table can be added", table)
			}
		}
		return "", nil
	}
}

// A whole is a file of ours alone. Known are the digests of what we have written.
type whole struct {
	body  []byte
	known []string
}

func (w whole) isOurs(text []byte) bool {
	return bytes.Equal(text, w.body) || slices.Contains(w.known, sumOf(text))
}

func sumOf(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

func (w whole) add(text []byte) ([]byte, []string, error) {
	if text != nil && !w.isOurs(text) {
		return text, []string{"it was changed"}, nil
	}
	return w.body, nil, nil
}

func (w whole) remove(text []byte, force bool) ([]byte, []string, error) {
	if text != nil && !w.isOurs(text) && !force {
		return text, []string{"it was changed"}, nil
	}
	return nil, nil, nil
}
