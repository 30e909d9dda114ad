package layout

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"filebus/materialize/markdown"

	"filebus/store/record"
)

// A headingFormat is an aggregate format whose entries begin with headings. The
// formats differ in what makes a heading an entry and in what an entry says; how
// a file is cut, and where a new entry goes, is the same for all.
type headingFormat struct {
	kind  record.Kind
	title string // of a new file
	// identify reports whether the heading at lines[i] begins an entry. An empty
	// id is made from the path and the title.
	identify func(lines []markdown.Line, i int) (id, title string, ok bool)
	// describe reads an entry; its errors lack the file.
	describe func(lines []markdown.Line) (Facts, []*SyntaxError)
	// section returns the title of the section that an entry belongs to.
	section func(e Entry) string
	// series returns what the ids of entries that stand together have in common.
	series func(id string) string
	// item reports whether a line that is no heading begins an entry outside of others: it
	// runs as far as lines are indented. Nil: none does.
	item func(l markdown.Line) (id, title string, ok bool)
	// example heads an entry, and rules are those of its fields: headings that are nearly such are
	// reported. "": none is.
	example string
	rules   func() markdown.Rules
}

func (h *headingFormat) kindOf() record.Kind { return h.kind }

// Parse cuts text at the headings of its entries. An entry ends where the next
// one begins, or at a heading of its own level or above. It reports what is wrong
// with the fields of each.
func (h *headingFormat) Parse(path string, text []byte) (File, []*SyntaxError) {
	lines := markdown.Lines(text)
	c := newFileCutter(path, text)
	c.reportOpen(lines)
	spans := cutEntries(lines, h.begins(lines))
	near := h.reportNear(c, lines, spans)
	for _, s := range spans {
		id, ok := c.claim(s.id, s.text, lines[s.first].Number)
		if !ok {
			continue
		}
		part := lines[s.first:s.next]
		own := part // without what is nearly another
		if i, _ := slices.BinarySearch(near, s.first); i < len(near) && near[i] < s.next {
			own = lines[s.first:near[i]]
		}
		facts, errs := h.describe(own)
		c.report(errs)
		c.add(&Entry{Kind: h.kind, ID: id, Line: part[0].Number, Facts: facts},
			part[0].Start, part[len(part)-1].End)
	}
	return c.finish()
}

// reportNear reports what looks like the heading of an entry and is none, and returns which lines: fields of one stand
// below it, again if it is inside an entry, or it begins with the noun and a number, at whatever level, with whatever
// marks, or with any word and number above fields of any language.
func (h *headingFormat) reportNear(c *fileCutter, lines []markdown.Line, spans []span) (near []int) {
	next := 0
	for i, l := range lines {
		for next < len(spans) && spans[next].next <= i {
			next++
		}
		inside := next < len(spans) && spans[next].first <= i
		if h.example == "" || l.Quiet || inside && spans[next].first == i || !isHeadingLike(lines, i) {
			continue
		}
		known, all := markdown.KnownFields(lines[:min(i+nearLines, len(lines))], i, h.rules())
		is := len(known) > 1 || entryLike().Match(l.Text) || all > 1 && numbered().Match(l.Text)
		if inside && is {
			first := spans[next].first
			had, _ := markdown.KnownFields(lines[:min(i, first+nearLines)], first, h.rules())
			again := slices.DeleteFunc(known, func(key string) bool { return !slices.Contains(had, key) })
			is = len(again) > 1 || len(known) > 0 && entryLike().Match(l.Text)
		}
		if is {
			near = append(near, i)
			c.errorf(l.Number, "%q heads no entry, though it looks so: write such as %q",
				markdown.Clip(strings.TrimSpace(string(l.Text)), 60), h.example)
		}
	}
	return near
}

// hasFields reports whether fields of a format stand below the heading at lines[i].
func hasFields(lines []markdown.Line, i int, rules markdown.Rules) bool {
	known, _ := markdown.KnownFields(lines, i, rules)
	return len(known) > 0
}

// nearLines is how far below a heading fields are looked for.
const nearLines = 30

// entryLike is what begins with the word and the number of an id, whatever marks stand before.
var entryLike = Pattern(`(?i)^\PL*(issue|pattern|gotcha|decision|insight)[-_ #:]*\d`)

// numbered is what begins with any word and a number, or a number with its sign.
var numbered = Pattern(`^\PL*(\pL+[-_ #:]*\d|#\d)`)

// isHeadingLike reports whether a line is a heading, is underlined as one, or is bold as a whole.
func isHeadingLike(lines []markdown.Line, i int) bool {
	text := string(bytes.TrimSpace(lines[i].Text))
	isBold := strings.HasPrefix(text, "**") && strings.HasSuffix(text, "**") && !strings.HasSuffix(text, ":**") && strings.Count(text, "**") == 2
	below := lines[min(i+1, len(lines)-1)].Text
	isUnderlined := text != "" && !strings.ContainsAny(text[:1], "*|->") && len(below) > 2 && len(bytes.Trim(below, "=-")) == 0
	return lines[i].Level > 0 || isBold || isUnderlined
}

// begins returns what begins an entry at a line: a heading, and an item outside of those that headings begin.
func (h *headingFormat) begins(lines []markdown.Line) func(i, open int) (s span, level int, is bool) {
	return func(i, open int) (s span, level int, is bool) {
		switch l := lines[i]; {
		case l.Level > 0:
			level = l.Level
			s.id, s.text, is = h.identify(lines, i)
		case h.item != nil && (open == 0 || open >= itemLevel) && !l.Quiet:
			level = itemLevel
			s.id, s.text, is = h.item(l)
		}
		return s, level, is
	}
}

// itemLevel is below that of all headings: any of them ends an item.
const itemLevel = 100

// cutEntries returns where the entries of a text stand, in its order. What begins says of each line whether an entry
// begins there, and at which level: that of its heading, that of items and how far it is indented, or 0 if it is one line;
// open is the level of the entry that goes on. An entry of a heading goes on up to one of its level or above, an item as
// far as lines are indented deeper.
func cutEntries(lines []markdown.Line, begins func(i, open int) (s span, level int, is bool)) (all []span) {
	open := 0
	for i, l := range lines {
		s, level, is := begins(i, open)
		switch {
		case is:
			s.first, s.next, s.line = i, i+1, l.Number
			all, open = append(all, s), level
		case l.Level > 0 && l.Level <= open, open >= itemLevel && !isBlankText(l.Text) && !l.Quiet && depth(l.Text) <= open-itemLevel:
			open = 0
		case open > 0 && (open < itemLevel || !isBlankText(l.Text)):
			all[len(all)-1].next = i + 1
		}
	}
	return all
}

// A fileCutter collects the parts of a file: entries in the order of the file,
// and what lies between them.
type fileCutter struct {
	file File
	text []byte
	pos  int            // where the part after the last one begins
	used map[string]int // the line of each id
	next map[string]int // the number to try next for a made id
	errs []*SyntaxError
}

// newFileCutter returns a cutter for a file without parts.
func newFileCutter(path string, text []byte) *fileCutter {
	return &fileCutter{
		file: File{Path: path},
		text: text,
		used: make(map[string]int),
		next: make(map[string]int),
	}
}

// add makes text[start:end] the entry e.
func (c *fileCutter) add(e *Entry, start, end int) {
	c.literal(start)
	e.Text = c.text[start:end:end]
	c.file.Parts = append(c.file.Parts, Part{Entry: e})
	c.pos = end
}

// literal makes what lies between the last part and end literal text.
func (c *fileCutter) literal(end int) {
	if c.pos < end {
		c.file.Parts = append(c.file.Parts, Part{Text: c.text[c.pos:end:end]})
	}
}

// finish returns the file, and the errors in the order of their lines.
func (c *fileCutter) finish() (File, []*SyntaxError) {
	c.literal(len(c.text))
	slices.SortStableFunc(c.errs, func(a, b *SyntaxError) int { return a.Line - b.Line })
	return c.file, c.errs
}

// errorf reports what is wrong at a line.
func (c *fileCutter) errorf(line int, format string, args ...any) {
	c.errs = append(c.errs, &SyntaxError{File: c.file.Path, Line: line, Err: fmt.Errorf(format, args...)})
}

// report takes the errors of an entry, which do not know their file.
func (c *fileCutter) report(errs []*SyntaxError) {
	for _, err := range errs {
		err.File = c.file.Path
	}
	c.errs = append(c.errs, errs...)
}

// reportOpen reports the fences and comments that are never closed: Markdown
// takes all text below them for code, this package does not.
func (c *fileCutter) reportOpen(lines []markdown.Line) {
	for _, l := range lines {
		if l.Open && markdown.StartsComment(l.Text) {
			c.errorf(l.Number, "comment is never closed")
		} else if l.Open {
			c.errorf(l.Number, "code fence is never closed")
		}
	}
}

// claim returns the id of the entry at a line: its own, or, when that is empty
// or malformed, one made from the file's path and the entry's title. An id that
// is taken is reported, and the entry stays literal text.
func (c *fileCutter) claim(id, title string, line int) (string, bool) {
	if id != "" {
		if err := record.CheckID(id); err != nil {
			c.errorf(line, "entry id %q: %w", id[:min(len(id), maxFactWord)], err)
			id = ""
		}
	}
	if id == "" {
		id = c.madeID(title)
		if err := record.CheckID(id); err != nil { // the path is to blame
			c.errorf(line, "entry id %q: %w", id[:min(len(id), maxFactWord)], err)
			return "", false
		}
	}
	if first, taken := c.used[id]; taken {
		c.repeated(line, id, first)
		return "", false
	}
	c.used[id] = line
	return id, true
}

// repeated reports an entry whose id another one has, at the line first.
func (c *fileCutter) repeated(line int, id string, first int) {
	place := "first"
	if first > line {
		place = "newer"
	}
	again := record.Failed.Errorf("entry id %s is used again (%s at line %d)", id, place, first)
	c.errorf(line, "%w", again.Because(ErrRepeatedID, id, strconv.Itoa(first)))
}

// ErrRepeatedID says that an entry has the id of one before it, and names the id and
// the line of that one. The entry stays literal text.
const ErrRepeatedID record.Reason = "an id is used again"

// madeID returns the first of path#slug, path#slug-2, ... that is free. The next
// number is remembered, so that a file of equal titles takes linear time.
func (c *fileCutter) madeID(title string) string {
	base := c.file.Path + "#" + titleSlug(title)
	for n := max(c.next[base], 1); ; n++ {
		id := base
		if n > 1 {
			id += "-" + strconv.Itoa(n)
		}
		if _, taken := c.used[id]; !taken {
			c.next[base] = n + 1
			return id
		}
	}
}

// titleSlug returns the letters and digits of a title in lower case, with a
// hyphen for each run of other characters, "untitled" when there are none.
func titleSlug(title string) string {
	const maxTitleSlug = 80 // bounds what a title adds to an id, in bytes
	isGap := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	slug := strings.Join(strings.FieldsFunc(strings.ToLower(title), isGap), "-")
	for end := maxTitleSlug; end < len(slug); end++ {
		if utf8.RuneStart(slug[end]) && slug[end-1] != '-' {
			slug = slug[:end]
		}
	}
	return cmp.Or(slug, "untitled")
}

// Insert puts entries after the last one of their series, or of their section, or at the end
// of the file under a new heading when the file lacks that section. The caller sees
// to it that their ids are free: a second entry with one id would be literal text.
//
// The line ending or blank line that sets e off from the entry before it is
// literal text in the result, so that the entry keeps its bytes. When the file is
// read again it is the end of that entry, since an entry runs to the next
// heading: compare entries without the white space at their ends, or store what
// Parse returns for the new file.
func (h *headingFormat) Insert(f File, entries ...Entry) File {
	places, together := []string(nil), map[string][]Entry{}
	for _, e := range entries {
		place := ""
		if h.section != nil {
			place = h.section(e)
		} else if h.series != nil {
			place = h.series(e.ID)
		}
		if together[place] == nil {
			places = append(places, place)
		}
		together[place] = append(together[place], e)
	}
	for _, place := range places {
		f = h.insert(f, place, together[place])
	}
	return f
}

// insert puts entries of one series or section into a file.
func (h *headingFormat) insert(f File, place string, entries []Entry) File {
	text := f.Append(nil)
	at, intro := len(text), ""
	inSeries := func(_ int, old *Entry) bool { return h.series != nil && h.series(old.ID) == place }
	isAny := func(int, *Entry) bool { return true }
	if h.section != nil {
		at, intro = h.sectionEnd(f, text, place)
	} else if end := cmp.Or(lastEntryEnd(f, inSeries), lastEntryEnd(f, isAny)); end > 0 {
		at = end
	}
	eol := markdown.LineEnding(text)
	if isBlankText(text) {
		intro = "# " + h.title + "\n\n" + intro
	}
	before, end, between := blankBefore(text[:at], eol)+strings.ReplaceAll(intro, "\n", eol), "\n", eol
	if at < len(text) {
		end, between = "\n\n", "" // what follows is a heading
	}
	for i, e := range entries {
		// An entry takes the file's line endings and ends with one: what its writer
		// left at the end would pile up.
		body := strings.TrimRight(strings.ReplaceAll(string(e.Text), "\r\n", "\n"), " \t\n") + end
		entries[i].Kind, entries[i].Text = cmp.Or(e.Kind, h.kind), []byte(strings.ReplaceAll(body, "\n", eol))
	}
	return splice(f, at, before, entries, between, "")
}

// sectionEnd returns the place for a new entry of the section with that title,
// and the heading to write before it when there is no such section.
func (h *headingFormat) sectionEnd(f File, text []byte, title string) (at int, intro string) {
	lines := markdown.Lines(text)
	section, next := sectionOf(lines, func(heading string) bool { return isSectionTitle(heading, title) })
	if section < 0 {
		return len(text), "## " + title + "\n\n"
	}
	end := lines[next-1].End
	isWithin := func(start int, _ *Entry) bool { return start >= lines[section].End && start < end }
	return cmp.Or(lastEntryEnd(f, isWithin), end), ""
}

// isSectionTitle reports whether a heading is that of a section, in the plural or
// the singular, and whatever stands around the words: "## 🧩 Pattern" is Patterns.
func isSectionTitle(heading, title string) bool {
	word, want := factWord(heading), factWord(title)
	return word == want || word+"s" == want
}

// lastEntryEnd returns where the last entry that fits ends, by where it begins, or 0
// when there is none.
func lastEntryEnd(f File, fits func(start int, e *Entry) bool) int {
	end, pos := 0, 0
	for _, p := range f.Parts {
		start := pos
		pos += p.size()
		if p.Entry != nil && fits(start, p.Entry) {
			end = pos
		}
	}
	return end
}

// size returns the length of a part in bytes.
func (p Part) size() int {
	if p.Entry != nil {
		return len(p.Entry.Text)
	}
	return len(p.Text)
}

// blankBefore returns what is missing at the end of text for a blank line to
// stand there.
func blankBefore(text []byte, eol string) string {
	switch {
	case isBlankText(text):
		return ""
	case text[len(text)-1] != '\n':
		return eol + eol
	}
	last := bytes.LastIndexByte(text[:len(text)-1], '\n')
	if isBlankText(text[last+1:]) {
		return ""
	}
	return eol
}

// isBlankText reports whether a file holds nothing, or nothing but white space.
func isBlankText(text []byte) bool {
	return len(bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))) == 0
}

// splice returns f with the literal text before, entries with text between them, and the literal
// text after at an offset that lies between parts or in a literal one. The
// lines of the entries are counted anew; f and its entries stay as they are.
func splice(f File, at int, before string, entries []Entry, between, after string) File {
	out := File{Path: f.Path}
	pos, done := 0, false
	put := func() {
		for i := range entries {
			out.addLiteral([]byte(before))
			out.Parts = append(out.Parts, Part{Entry: &entries[i]})
			before = between
		}
		out.addLiteral([]byte(after))
		done = true
	}
	for _, p := range f.Parts {
		size := p.size()
		if !done && at < pos+size {
			if p.Entry == nil { // a new section, or the first entry of one
				out.addLiteral(p.Text[:at-pos])
				p.Text = p.Text[at-pos:]
			}
			put()
		}
		out.addPart(p)
		pos += size
	}
	if !done {
		put()
	}
	out.renumber()
	return out
}

// addPart appends a copy of p, so that lines can be counted anew.
func (f *File) addPart(p Part) {
	if p.Entry == nil {
		f.addLiteral(p.Text)
		return
	}
	e := *p.Entry
	f.Parts = append(f.Parts, Part{Entry: &e})
}

// addLiteral appends literal text, to the last part when that is literal too.
func (f *File) addLiteral(text []byte) {
	if len(text) == 0 {
		return
	}
	if n := len(f.Parts); n > 0 && f.Parts[n-1].Entry == nil {
		f.Parts[n-1].Text = slices.Concat(f.Parts[n-1].Text, text)
		return
	}
	f.Parts = append(f.Parts, Part{Text: text})
}

// renumber counts the lines at which the entries begin.
func (f *File) renumber() {
	line := 1
	for _, p := range f.Parts {
		text := p.Text
		if p.Entry != nil {
			p.Entry.Line, text = line, p.Entry.Text
		}
		line += bytes.Count(text, []byte("\n"))
	}
}
