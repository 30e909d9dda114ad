package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
)

// A Notice is what note prints where JSON is asked for.
type Notice struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"` // the next command to run
}

// Note tells the user something that is not a result.
func (e *Environ) Note(format string, args ...any) { e.NoteTry("", format, args...) }

// NoteTry is note, with the command that goes on from there.
func (e *Environ) NoteTry(hint, format string, args ...any) {
	said := Notice{e.AtStore(fmt.Sprintf(format, args...)), e.AtStore(hint)}
	if e.Call != nil {
		e.Call.Said = append(e.Call.Said, Failure{Message: said.Message, Hint: said.Hint})
		return
	}
	if e.Global.JSON {
		_ = WriteJSON(e.Err, map[string]Notice{"notice": said})
		return
	}
	fmt.Fprintf(e.Err, "filebus: %s\n", said.Message)
	if hint != "" {
		fmt.Fprintf(e.Err, "  try: %s\n", said.Hint)
	}
}

// AtStore puts the store that the user has named into the commands that a text names.
func (e *Environ) AtStore(text string) string {
	if e.Global.Store == "" {
		return text
	}
	flag, parts := e.StoreFlag(e.Abs(e.Global.Store)), strings.SplitAfter(text, "filebus ")
	for i, rest := range parts[1:] {
		called := rest[:strings.IndexAny(rest+"\n", ",;\n")]
		isCalled := func(c Command) bool { return strings.HasPrefix(called+" ", c.Name()+" ") }
		isFolder := strings.HasSuffix(parts[i], materialize.StoreFolder+" ")
		if slices.ContainsFunc(e.Commands(), isCalled) && !isFolder && !strings.Contains(called, " --store ") {
			parts[i] = strings.TrimSuffix(parts[i], " ") + flag + " "
		}
	}
	return strings.Join(parts, "")
}

// Remark is note for people: JSON says it by itself.
func (e *Environ) Remark(format string, args ...any) {
	if !e.Global.JSON {
		e.Note(format, args...)
	}
}

// Printf prints plain text of a result. An error of the output ends the command
// line, not the command: see run.
func (e *Environ) Printf(format string, args ...any) { fmt.Fprintf(e.Out, format, args...) }

// Print prints a result: in JSON as it is, else as text.
func (e *Environ) Print(value any, format string, args ...any) error {
	if e.Global.JSON {
		return e.PrintJSON(value)
	}
	e.Printf(format, args...)
	return nil
}

// PrintTable prints rows.
func (e *Environ) PrintTable(rows [][]string) { e.Printf("%s", e.Table(rows)) }

// Table returns rows in columns for a terminal, separated by tabs for a pipe.
// Nothing is ever cut.
func (e *Environ) Table(rows [][]string) string {
	var out strings.Builder
	columns := 0
	for _, row := range rows {
		columns = max(columns, len(row))
	}
	aligned := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		line := strings.Join(markdown.Each(row, OneLine), "\t")
		if e.OutTerminal {
			_, _ = fmt.Fprintln(aligned, line+strings.Repeat("\t", columns-len(row))) // a buffer cannot fail
		} else {
			out.WriteString(line + "\n")
		}
	}
	_ = aligned.Flush() // as above
	return spacesAtEnd().ReplaceAllString(out.String(), "")
}

var spacesAtEnd = layout.Pattern(`(?m) +$`)

// OneLine makes text from a record safe to print in a line: without line ends,
// tabs and the sequences that terminals obey.
func OneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text)
}

// Bold marks text where somebody looks at it in a terminal that likes it.
func (e *Environ) Bold(text string) string {
	if !e.OutTerminal || e.Getenv("NO_COLOR") != "" || e.Getenv("TERM") == "dumb" {
		return text
	}
	return cmp.Or(e.boldOn, BoldOn) + text + cmp.Or(e.boldOff, BoldOff)
}

// BoldOn begins bold text in a terminal.
// BoldOff ends bold text in a terminal.
const BoldOn, BoldOff = "\x1b[1m", "\x1b[0m"

// Minute shows a time to people: the local one to a terminal, UTC to a pipe.
func (e *Environ) Minute(t time.Time) string {
	if e.OutTerminal {
		return t.Local().Format("2006-01-02 15:04")
	}
	return t.UTC().Format("2006-01-02T15:04Z")
}

// DateText says when a text was written, if that is known, and when it was stored else.
func (e *Environ) DateText(stored, written time.Time, form func(time.Time) string) string {
	if written.IsZero() {
		return "stored " + form(stored)
	}
	return "written " + e.writtenText(written, form)
}

// writtenText formats the date of a text: a day without a time is a day everywhere.
func (e *Environ) writtenText(written time.Time, form func(time.Time) string) string {
	if written.Equal(written.Truncate(24 * time.Hour)) {
		return UTCDay(written)
	}
	return form(written)
}

// UTCDay returns the day of a time in UTC.
func UTCDay(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// Plural returns "1 file" or "2 files".
func Plural(n int, noun string) string {
	many := noun + "s"
	if short, found := strings.CutSuffix(noun, "y"); found && !strings.ContainsAny(short[len(short)-1:], "aeiou") {
		many = short + "ies"
	}
	return Count(n, "1 "+noun, "%d "+many)
}

// Count returns one, or many with a number that is not one.
func Count(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}

// ByteSize returns a size in bytes as people read it.
func ByteSize(n int64) string {
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

// TokenText shows a number of tokens, which is always an estimate.
func TokenText(n int) string { return fmt.Sprintf("~%d tokens", n) }

// OutputError returns the error that the output has met, if any: work without
// end stops then.
func (e *Environ) OutputError() error {
	if out, ok := e.Out.(*ResultWriter); ok {
		return out.Err
	}
	return nil
}

// FirstNames lists some names and says how many more there are.
func FirstNames(names []string) string {
	const most = 5
	text := strings.Join(names[:min(len(names), most)], ", ")
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return text
}

// ClipText puts text on one line of bounded length.
func ClipText(text string) string {
	return markdown.Clip(OneLine(text), 200)
}

// TreeText is a value as flags take it: the own tree is a dot.
func TreeText(condition, value string) string {
	if condition == "tree" && value == "" {
		return "."
	}
	return value
}

// CutText cuts a text that somebody else has written.
func CutText(text string) string { return markdown.Clip(OneLine(text), maxCell) }

// maxCell is how many characters of one value a bounded output shows.
const maxCell = 120

// Words joins texts with one space between two words.
func Words(texts ...string) string {
	return markdown.SingleSpaced(strings.Join(texts, " "))
}

// Led returns lines behind a lead.
func Led(lead string, lines []string) []string {
	return markdown.Each(lines, func(line string) string { return lead + line })
}

// A ResultWriter remembers the first error, so that commands may print without
// looking, and writes no more after it. It counts what was written.
type ResultWriter struct {
	W    io.Writer
	Err  error
	Size int64
}

// Write writes, unless an earlier write has failed.
func (r *ResultWriter) Write(p []byte) (int, error) {
	if r.Err != nil {
		return 0, r.Err
	}
	n, err := r.W.Write(p)
	r.Err, r.Size = err, r.Size+int64(n)
	return n, err
}

// StateTokens is what the commands that an orchestrator repeats print at most.
const StateTokens = 300
