package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
)

// A notice is what note prints where JSON is asked for.
type notice struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"` // the next command to run
}

// note tells the user something that is not a result.
func (e *environ) note(format string, args ...any) { e.noteTry("", format, args...) }

// noteTry is note, with the command that goes on from there.
func (e *environ) noteTry(hint, format string, args ...any) {
	said := notice{e.atStore(fmt.Sprintf(format, args...)), e.atStore(hint)}
	if e.call != nil {
		e.call.said = append(e.call.said, failure{Message: said.Message, Hint: said.Hint})
		return
	}
	if e.global.json {
		_ = writeJSON(e.err, map[string]notice{"notice": said})
		return
	}
	fmt.Fprintf(e.err, "filebus: %s\n", said.Message)
	if hint != "" {
		fmt.Fprintf(e.err, "  try: %s\n", said.Hint)
	}
}

// atStore puts the store that the user has named into the commands that a text names.
func (e *environ) atStore(text string) string {
	if e.global.store == "" {
		return text
	}
	flag, parts := e.storeFlag(e.abs(e.global.store)), strings.SplitAfter(text, "filebus ")
	for i, rest := range parts[1:] {
		called := rest[:strings.IndexAny(rest+"\n", ",;\n")]
		isCalled := func(c command) bool { return strings.HasPrefix(called+" ", c.name()+" ") }
		if slices.ContainsFunc(e.commands(), isCalled) && !strings.Contains(called, " --store ") {
			parts[i] = strings.TrimSuffix(parts[i], " ") + flag + " "
		}
	}
	return strings.Join(parts, "")
}

// remark is note for people: JSON says it by itself.
func (e *environ) remark(format string, args ...any) {
	if !e.global.json {
		e.note(format, args...)
	}
}

// printf prints plain text of a result. An error of the output ends the command
// line, not the command: see run.
func (e *environ) printf(format string, args ...any) { fmt.Fprintf(e.out, format, args...) }

// print prints a result: in JSON as it is, else as text.
func (e *environ) print(value any, format string, args ...any) error {
	if e.global.json {
		return e.printJSON(value)
	}
	e.printf(format, args...)
	return nil
}

// printTable prints rows.
func (e *environ) printTable(rows [][]string) { e.printf("%s", e.table(rows)) }

// table returns rows in columns for a terminal, separated by tabs for a pipe.
// Nothing is ever cut.
func (e *environ) table(rows [][]string) string {
	var out strings.Builder
	columns := 0
	for _, row := range rows {
		columns = max(columns, len(row))
	}
	aligned := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		line := strings.Join(markdown.Each(row, oneLine), "\t")
		if e.outTerminal {
			_, _ = fmt.Fprintln(aligned, line+strings.Repeat("\t", columns-len(row))) // a buffer cannot fail
		} else {
			out.WriteString(line + "\n")
		}
	}
	_ = aligned.Flush() // as above
	return spacesAtEnd().ReplaceAllString(out.String(), "")
}

var spacesAtEnd = layout.Pattern(`(?m) +$`)

// oneLine makes text from a record safe to print in a line: without line ends,
// tabs and the sequences that terminals obey.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text)
}

// bold marks text where somebody looks at it in a terminal that likes it.
func (e *environ) bold(text string) string {
	if !e.outTerminal || e.getenv("NO_COLOR") != "" || e.getenv("TERM") == "dumb" {
		return text
	}
	return cmp.Or(e.boldOn, boldOn) + text + cmp.Or(e.boldOff, boldOff)
}

const boldOn, boldOff = "\x1b[1m", "\x1b[0m"

// minute shows a time to people: the local one to a terminal, UTC to a pipe.
func (e *environ) minute(t time.Time) string {
	if e.outTerminal {
		return t.Local().Format("2006-01-02 15:04")
	}
	return t.UTC().Format("2006-01-02T15:04Z")
}

// dateText says when a text was written, if that is known, and when it was stored else.
func (e *environ) dateText(stored, written time.Time, form func(time.Time) string) string {
	if written.IsZero() {
		return "stored " + form(stored)
	}
	return "written " + e.writtenText(written, form)
}

// writtenText formats the date of a text: a day without a time is a day everywhere.
func (e *environ) writtenText(written time.Time, form func(time.Time) string) string {
	if written.Equal(written.Truncate(24 * time.Hour)) {
		return utcDay(written)
	}
	return form(written)
}

func utcDay(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// plural returns "1 file" or "2 files".
func plural(n int, noun string) string {
	many := noun + "s"
	if short, found := strings.CutSuffix(noun, "y"); found && !strings.ContainsAny(short[len(short)-1:], "aeiou") {
		many = short + "ies"
	}
	return count(n, "1 "+noun, "%d "+many)
}

// count returns one, or many with a number that is not one.
func count(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}

// byteSize returns a size in bytes as people read it.
func byteSize(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprintf("%d B", n)
	case n < 10_000_000:
		return fmt.Sprintf("%.0f KB", float64(n)/1e3)
	case n < 10_000_000_000:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// tokenText shows a number of tokens, which is always an estimate.
func tokenText(n int) string { return fmt.Sprintf("~%d tokens", n) }

// outputError returns the error that the output has met, if any: work without
// end stops then.
func (e *environ) outputError() error {
	if out, ok := e.out.(*resultWriter); ok {
		return out.err
	}
	return nil
}
