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
// first has a digest of what follows, so that a change is seen, and so that what another
// program has written behind it, but before the last line, is told from it.
type block struct {
	name        string
	open, close string   // of a comment: "<!-- " and " -->"
	body        string   // whole lines
	key         toml.Key // of TOML: what it defines
	tables      []string // of TOML: to which it adds
}

const (
	byteOrderMark     = "\ufeff"
	beginning, ending = "filebus:begin ", "filebus:end "
	maxBody           = 1 << 16 // bounds what is looked through for our part of a block
)

func digestOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// text returns the block as it is put into a file.
func (b block) text(end string) string {
	head := b.open + beginning + b.name + " " + digestOf(b.body)[:8] + b.close + "\n"
	return strings.ReplaceAll(head+b.body+b.open+ending+b.name+b.close+"\n", "\n", end)
}

// A place says where a block stands.
type place struct {
	start, stop int    // with both of its lines
	more        string // what others have written into it, behind our part
	isOurs      bool   // our part is as it was written
	end         string // of its lines
}

// find returns where the block is, or nil.
func (b block) find(text string) (*place, error) {
	line := func(word, more string) *regexp.Regexp {
		begin, end := regexp.QuoteMeta(b.open+word+b.name), regexp.QuoteMeta(b.close)
		return regexp.MustCompile(`(?m)^(?:\x{feff})?(` + begin + more + end + `\r?(?:\n|\z))`)
	}
	first := line(beginning, ` (\w*)`).FindAllStringSubmatchIndex(text, 2)
	last := line(ending, "").FindAllStringIndex(text, 2)
	switch {
	case len(first) == 0 && len(last) == 0:
		return nil, nil
	case len(first) != 1 || len(last) != 1 || first[0][1] > last[0][0]:
		at := slices.Min(append(slices.Concat(first, last)[0], len(text)))
		at = 1 + strings.Count(text[:at], "\n")
		return nil, fmt.Errorf("line %d: the block %s has no beginning, no end, or several", at, b.name)
	}
	p := &place{start: first[0][2], stop: last[0][1], end: lineEnd([]byte(text[first[0][2]:first[0][3]]))}
	rest, digest := text[first[0][1]:last[0][0]], text[first[0][4]:first[0][5]]
	for own := 0; own < min(len(rest), maxBody) && !p.isOurs; {
		own += 1 + strings.Index(rest[own:], "\n") // its last line ends
		p.isOurs = digestOf(strings.ReplaceAll(rest[:own], "\r\n", "\n"))[:8] == digest
		p.more = rest[own:]
	}
	return p, nil
}

func (b block) add(text []byte) ([]byte, string, error) {
	was := string(text)
	at, err := b.find(was)
	kept := ""
	if err == nil {
		kept, err = b.check(was, at != nil)
	}
	switch {
	case err != nil || kept != "":
		return text, kept, err
	case at != nil && !at.isOurs:
		return text, "the block " + b.name + " was changed", nil
	case at != nil:
		return []byte(was[:at.start] + b.text(at.end) + at.more + was[at.stop:]), "", nil
	case text == nil:
		return []byte(b.text("\n")), "", nil
	}
	return []byte(was + lineEnd(text) + b.text(lineEnd(text))), "", nil
}

// remove takes out the block and the line end before it: add has put it there, unless
// it has made the file.
func (b block) remove(text []byte, force bool) ([]byte, string, error) {
	was := string(text)
	at, err := b.find(was)
	switch {
	case err != nil || at == nil:
		return text, "", err
	case !at.isOurs && !force:
		return text, "the block " + b.name + " was changed", nil
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
		return nil, "", nil
	}
	return []byte(before + behind), "", nil
}

// check refuses a text that is no TOML, and one to whose tables nothing can be added as
// they are values; it says if the key is there already.
func (b block) check(text string, isIn bool) (kept string, err error) {
	var all map[string]any
	if len(b.tables) == 0 {
		return "", nil
	}
	meta, err := toml.Decode(text, &all)
	if wrong, is := errors.AsType[toml.ParseError](err); is {
		err = fmt.Errorf("line %d: %s", wrong.Position.Line, wrong.Message)
	}
	if err != nil || isIn {
		return "", err
	}
	if meta.IsDefined(b.key...) {
		return b.key.String() + " is there in another form", nil
	}
	for _, table := range b.tables {
		head := regexp.MustCompile(`(?m)^[ \t]*\[\[?` + regexp.QuoteMeta(table) + `[.\]]`)
		if meta.IsDefined(strings.Split(table, ".")...) && !head.MatchString(text) {
			return "", fmt.Errorf("%s is a value, to which no table can be added", table)
		}
	}
	return "", nil
}

// A whole is a file of ours alone, with the digests of what was written there before.
type whole struct {
	body  string
	known []string
}

func (w whole) add(text []byte) ([]byte, string, error) {
	if now, kept, _ := w.remove(text, false); kept != "" {
		return now, kept, nil
	}
	return []byte(w.body), "", nil
}

func (w whole) remove(text []byte, force bool) ([]byte, string, error) {
	if !force && text != nil && string(text) != w.body && !slices.Contains(w.known, digestOf(string(text))) {
		return text, "it was changed", nil
	}
	return nil, "", nil
}

// lineEnd returns how lines of a text end.
func lineEnd(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}
