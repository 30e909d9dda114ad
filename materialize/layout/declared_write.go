package layout

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"filebus/materialize/markdown"
)

// placeOf returns where in a text the value of a label, or the first line of a section, stands; two zeros: nowhere.
func placeOf(of, name string, text []byte) (start, end int) {
	switch of {
	case "front":
		_, body := markdown.FrontMatter(text)
		line := `(?mi)^` + regexp.QuoteMeta(name) + `[ \t]*[:=][ \t]*["']?([^\s"'\[\]{}|>&*!#%@` + "`" + `][^\n"'#]*)`
		if m := compiled(line).FindSubmatchIndex(text[:body]); m != nil {
			start, end = m[2], m[3]
		}
	case "label":
		label := `(?mi)^[ \t]*(?:[-*+>|][ \t]*)?(?:\*\*|__)?` + regexp.QuoteMeta(name) + `(?:\*\*|__)?[ \t]*[:：|](?:\*\*)?[ \t]*(\S[^\n|]*)`
		if m := compiled(label).FindSubmatchIndex(text); m != nil {
			start, end = m[2], m[3]
		}
	case "section":
		inside := false
		for _, l := range markdown.Lines(text) {
			isTitle := l.Level > 0
			if isTitle && inside {
				break
			} else if isTitle {
				_, heading := markdown.Heading(l.Text)
				title, _, _ := strings.Cut(heading, ":") // Requirement: a name
				inside = strings.EqualFold(strings.TrimSpace(title), name)
			} else if line := bytes.TrimLeft(l.Text, " \t"); inside && len(bytes.TrimSpace(line)) > 0 && !l.Quiet {
				start, end = l.Start+len(l.Text)-len(line), l.End
				break
			}
		}
	}
	return start, start + len(bytes.TrimSpace(text[start:end]))
}

// Sets reports whether everybody may change a fact of the file.
func (pl Location) Sets(fact string) bool {
	d, is := pl.Layout.(*declared)
	return is && slices.Contains(d.Set, fact)
}

// Adds reports whether everybody may add a text, and of which type: as a file of its own, or else behind the sections
// of a file.
func (pl Location) Adds() (of string, isFile, may bool) {
	d, is := pl.Layout.(*declared)
	if !is || d.New == "" || d.Entries != "" && d.Entries != "sections" {
		return "", false, false
	}
	return cmp.Or(d.Type, string(d.Kind)), d.Entries == "", true
}

// Words returns what a fact may be set to, nil: any words.
func (pl Location) Words(fact string) (all []string) {
	d, is := pl.Layout.(*declared)
	if !is {
		return nil
	}
	for word := range d.layout.Map[sourceOf(d.Fields[fact]).Map] {
		all = append(all, word)
	}
	slices.Sort(all)
	return all
}

// Replaced returns the status of what the file at another path takes the place of; "": it has no words for that.
func (pl Location) Replaced(by Location, file string) string {
	d, is := by.Layout.(*declared)
	if !is || pl.Declared != by.Declared || !pl.Sets("status") {
		return ""
	}
	vars := map[string]string{"file": file}
	for name, value := range d.vars {
		vars[name] = cmp.Or(vars[name], value)
	}
	return fillText(d.Replaced, vars)
}

// ofWord is the word that a status begins with: what stands behind one that nobody knows may belong to it. Where another record has taken the place, it goes on to the end.
var ofWord = Pattern(`^(?:[^\p{L}]*(?i:super[sc]ed|replac)\p{L}+[^\p{L}\s]*\s+by\b.*|[^\p{L}]*([\p{L}-]+))`)

// SetFact returns a text with another value of a fact, where it stands: only the words change that say it. The text is nil
// where it does not say it in a line.
func (pl Location) SetFact(text []byte, fact, value string) []byte {
	d, is := pl.Layout.(*declared)
	if !is {
		return nil
	}
	front, body := markdown.FrontMatter(text)
	src := sourceOf(d.Fields[fact])
	for _, from := range src.From {
		if len(d.valuesAt(from, "", text, span{front: front})) == 0 {
			continue
		}
		of, name, _ := strings.Cut(from, ".")
		start, end := placeOf(of, name, text)
		isCode := func(l markdown.Line) bool { return l.Start <= start && start < l.End && l.Quiet }
		if start == end || of != "front" && (start < body || slices.ContainsFunc(markdown.Lines(text), isCode)) {
			return nil
		}
		was := string(text[start:end])
		isWord := func(word string) bool { return d.layout.Map[src.Map][strings.ToLower(word)] != "" }
		if m := ofWord().FindStringSubmatchIndex(was); !isWord(was) && m != nil && m[2] >= 0 && isWord(was[m[2]:m[3]]) {
			start, end = start+m[2], start+m[3]
		}
		letters := strings.TrimLeftFunc(was, func(r rune) bool { return !unicode.IsLetter(r) })
		if now, _ := utf8.DecodeRuneInString(letters); unicode.IsUpper(now) {
			first, size := utf8.DecodeRuneInString(value)
			value = string(unicode.ToUpper(first)) + value[size:]
		}
		text = slices.Concat(text[:start], []byte(value), text[end:])
		front, _ = markdown.FrontMatter(text)
		if says := d.valuesAt(from, "", text, span{front: front}); len(says) != 1 || !strings.Contains(says[0], value) {
			return nil // it stands over lines, say
		}
		return text
	}
	return nil
}

// fillText puts values into a template, "" where there is none.
func fillText(template string, vars map[string]string) string {
	value := func(name string) string { return vars[strings.Trim(name, "{}")] }
	return compiled(`\{\w+\}`).ReplaceAllStringFunc(template, value)
}

// Compose returns the text of a file with a new one: as the whole file, or as a section behind the last one, in the form
// which that has. All other bytes stay.
func (pl Location) Compose(old []byte, k Knowledge, status string, now time.Time) []byte {
	d := pl.Layout.(*declared)
	if d.Entries == "" && k.Title == "" {
		return []byte(k.Content)
	}
	vars := map[string]string{
		"title": k.Title, "content": strings.TrimSpace(k.Content),
		"status": cmp.Or(status, "accepted"), "date": now.Format(time.DateOnly),
	}
	made, at := fillText(d.New, vars), len(old)
	if d.Entries == "" {
		return []byte(made)
	}
	file, _ := d.Parse("", old)
	if entries := file.Entries(); len(entries) > 0 {
		made = d.likeSection(string(entries[len(entries)-1].Text), made, vars)
		at = lastEntryEnd(file, func(int, *Entry) bool { return true })
	}
	if strings.HasPrefix(made, "#") {
		made = blankBefore(old[:at], "\n") + made
	}
	return insertOwnLine(old, at, made)
}

// ofHeading are the forms of headings that count: of a day, perhaps with a title, and with a number.
var ofHeading = Pattern(`^(?:(\d{4}-\d\d-\d\d)(?:([^\p{L}\d]+)\S.*)?|(\D{0,20}?)(\d{1,4})([.:)–—-]+ *)\S.*)$`)

// likeSection returns a section in the form of the one before it: its heading, and whether a blank line stands below. Of a
// section for a day what is new is an item, of the same section if it is today's.
func (d *declared) likeSection(last, made string, vars map[string]string) string {
	heading, rest, _ := strings.Cut(strings.ReplaceAll(last, "\r\n", "\n"), "\n")
	_, text := markdown.Heading([]byte(heading))
	title := strings.TrimSpace(cmp.Or(captures(d.Match, text)["title"], text))
	lead, tail := heading[:max(strings.LastIndex(heading, title), 0)], vars["content"]
	switch m := ofHeading().FindStringSubmatch(title); {
	case m == nil:
		lead += vars["title"]
	case m[1] != "" && m[2] != "":
		lead += vars["date"] + m[2] + vars["title"]
	case m[1] != "":
		mark := "-"
		if strings.HasPrefix(strings.TrimSpace(rest), "*") {
			mark = "*"
		}
		tail = mark + " " + strings.ReplaceAll(tail, "\n", "\n  ") + "\n"
		if lead += vars["date"]; m[1] == vars["date"] {
			return tail
		}
	default:
		n, _ := strconv.Atoi(m[4]) // it is digits
		lead += m[3] + strconv.Itoa(n+1) + m[5] + vars["title"]
	}
	gap := "\n"
	if strings.HasPrefix(strings.TrimLeft(rest, " \t"), "\n") {
		gap = "\n\n"
	}
	return lead + gap + strings.TrimSpace(tail) + "\n"
}
