package setup

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// A block is text of ours at the end of a file, between two lines that mark it. The
// first has a digest of what follows, so that a change is seen, and so that what another
// program has written behind it, but before the last line, is told from it.
type block struct {
	name        string
	open, close string // of a comment: "<!-- " and " -->"
	body        string // whole lines
	key         string // of TOML: what it defines, or the table to which it adds
}

func digestOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// text returns the block as it is put into a file.
func (b block) text(end string) string {
	first, last := b.open+"filebus:begin "+b.name+" "+digestOf(b.body)[:8]+b.close, b.open+"filebus:end "+b.name+b.close
	return strings.ReplaceAll(first+"\n"+b.body+last+"\n", "\n", end)
}

// A place says where a block stands.
type place struct {
	start, stop int    // with both of its lines
	more        string // what others have written into it, behind our part
	end         string // of its lines
}

// find returns where the block is, or nil.
func (b block) find(text string) (*place, error) {
	marks := regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(b.open)+`filebus:(begin|end) `+b.name+`( ?\w*)`+
		regexp.QuoteMeta(b.close)+`\r?(?:\n|\z)`).FindAllStringSubmatchIndex(text, -1)
	if len(marks) == 0 {
		return nil, nil
	}
	part := func(mark, i int) string { return text[marks[mark][i]:marks[mark][i+1]] }
	if len(marks) != 2 || part(0, 2) != "begin" || part(1, 2) != "end" {
		line := 1 + strings.Count(text[:marks[0][0]], "\n")
		return nil, fmt.Errorf("line %d: the block %s has no beginning, no end, or several", line, b.name)
	}
	p := &place{start: marks[0][0], stop: marks[1][1], end: lineEnd([]byte(part(0, 0)))}
	p.more = text[marks[0][1]:marks[1][0]]
	hash := sha256.New()
	for line := range strings.Lines(p.more) {
		_, _ = io.WriteString(hash, strings.ReplaceAll(line, "\r\n", "\n")) // a hash takes all
		p.more = p.more[len(line):]
		if fmt.Sprintf(" %x", hash.Sum(nil))[:9] == part(0, 4) {
			return p, nil
		}
	}
	return nil, kept("the block " + b.name + " was changed")
}

func (b block) add(text []byte) ([]byte, error) {
	was := string(text)
	at, err := b.find(was)
	switch {
	case err != nil:
		return nil, err
	case at != nil:
		return []byte(was[:at.start] + b.text(at.end) + at.more + was[at.stop:]), nil
	case text == nil:
		return []byte(b.text("\n")), nil
	}
	return []byte(was + lineEnd(text) + b.text(lineEnd(text))), b.check(was)
}

// remove takes out the block and the line end before it: add has put it there, unless
// it has made the file.
func (b block) remove(text []byte) ([]byte, error) {
	was := string(text)
	at, err := b.find(was)
	if err != nil || at == nil {
		return text, err
	}
	before, behind := was[:at.start], at.more+was[at.stop:]
	isMade := before == ""
	cut := strings.TrimSuffix(before, at.end)
	if behind == "" || strings.HasSuffix(cut, "\n") || strings.HasPrefix(behind, at.end) {
		before = cut // else two lines of others would become one
	}
	if next := strings.TrimPrefix(behind, at.end); isMade && strings.HasPrefix(next, b.open+"filebus:begin ") {
		behind = next // the next one is now what the file was made with
	}
	if isMade && behind == "" {
		return nil, nil
	}
	return []byte(before + behind), nil
}

// check refuses a text to which the block cannot be added, or that has what it defines.
func (b block) check(text string) error {
	table, _, isTable := strings.Cut(b.key, ".")
	var all map[string]any
	switch meta, err := toml.Decode(text, &all); {
	case b.key == "":
		return nil
	case err != nil:
		wrong, _ := errors.AsType[toml.ParseError](err)
		return fmt.Errorf("line %d: %s", wrong.Position.Line, wrong.Message)
	case isTable && meta.IsDefined(strings.Split(b.key, ".")...):
		return kept(b.key + " is there in another form")
	case meta.IsDefined(table) && !regexp.MustCompile(`(?m)^[ \t]*\[\[?`+table+`[.\]]`).MatchString(text):
		return fmt.Errorf("%s is a value, to which no table can be added", table) // not all readers see that
	}
	if _, err := toml.Decode(text+"\n"+b.body, &all); err != nil {
		return fmt.Errorf("%s is there in a form to which nothing can be added", table)
	}
	return nil
}

// A whole is a file of ours alone, with the digests of what was written there before.
type whole struct {
	body  string
	known []string
}

func (w whole) add(text []byte) ([]byte, error) {
	_, err := w.remove(text)
	return []byte(w.body), err
}

func (w whole) remove(text []byte) ([]byte, error) {
	if text != nil && string(text) != w.body && !slices.Contains(w.known, digestOf(string(text))) {
		return text, kept("it was changed")
	}
	return nil, nil
}

// lineEnd returns how lines of a text end.
func lineEnd(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}
