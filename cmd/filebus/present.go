package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"sort"
	"strings"
	"time"

	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store/record"
)

// A presentation is a result as it is printed: whole, or as many of its entries as
// some tokens hold. What is measured is what is printed.
type presentation struct {
	entries   int // that may be left out, the last ones first
	maxTokens int // 0: all are printed
	json      func(entries int) any
	text      func(entries int) string
	exact     bool   // what is said besides is no part of it
	strict    bool   // if not even the first entry fits, nothing is printed
	what      string // for the line in the log of reads

	// What a table says of rows that are not there, and what lines end with.
	none string // of a table without any
	left int    // rows that were left out before
	rest string // what prints those that were left out: see environ.rest
}

// present prints a result and returns how many of its entries that are.
func (w *workspace) present(p presentation) (printed int, err error) {
	render := func(n int) (text string) {
		if !w.global.json {
			return p.text(n)
		}
		var out strings.Builder
		err = writeJSON(&out, p.json(n))
		return out.String()
	}
	printed = p.entries
	text := render(printed)
	const noteTokens = 25 // what a note costs that says how much was left out
	if limit := 4 * p.maxTokens; p.maxTokens > 0 && w.sizeOf(text) > limit {
		if !w.global.json && !p.exact {
			limit -= 4 * noteTokens
		}
		dropped := sort.Search(p.entries, func(n int) bool { return w.sizeOf(render(p.entries-n)) <= limit })
		printed = p.entries - dropped
		if text = render(printed); p.strict && w.sizeOf(text) > limit {
			text = ""
		}
	}
	if err != nil {
		return 0, err
	}
	if w.printf("%s", text); p.what != "" {
		w.said.What = p.what
	}
	return printed, nil
}

// presentTable presents rows, and says what is not there.
func (w *workspace) presentTable(rows [][]string, p presentation) error {
	p.entries = len(rows)
	p.text = func(n int) string { return w.table(rows[:n]) }
	printed, err := w.present(p)
	switch left := p.left + len(rows) - printed; {
	case err != nil || w.global.json:
		return err
	case len(rows) == 0 && p.none != "":
		w.note("%s", p.none)
	default:
		w.noteRest(left, p.rest)
	}
	return nil
}

// rest says in one line how many of a list were left out, and what prints them: a
// command, or a flag of the one that is running.
func (e *environ) rest(left int, by string) string {
	if strings.HasPrefix(by, "--") {
		by = e.again(by)
	}
	more := "more"
	if left == query.MaxCounted {
		more = "or more"
	}
	text := fmt.Sprintf("… and %d %s; %s", left, more, by)
	if e.call != nil {
		text = e.call.asArguments(text)
	}
	return text
}

// noteRest says the rest of a list, if there is any. JSON says it by itself.
func (e *environ) noteRest(left int, by string) {
	if left > 0 {
		e.remark("%s", e.rest(left, by))
	}
}

// again returns the command that is running with another flag. One that is long, or that
// reads its input, is not said again.
func (e *environ) again(flag string) string {
	name, _, _ := strings.Cut(flag, " ")
	if e.call != nil && slices.Contains(e.call.flags, name) {
		flag = strings.Replace(flag, "--max-tokens 0", "a greater --max-tokens", 1)
		return e.call.asArguments("call again with " + flag)
	}
	words, end := []string{"filebus"}, 0
	for i := 0; i < len(e.args); i++ {
		switch arg := e.args[i]; {
		case arg == name && name != flag:
			i++ // its value
		case arg != name && !strings.HasPrefix(arg, name+"="):
			words = append(words, record.ShellWord(arg))
		}
	}
	if end = slices.Index(words, "--"); end < 0 {
		end = len(words)
	}
	line := strings.Join(slices.Insert(words, end, flag), " ")
	if len(line) > 2*maxCell || slices.Contains(words, "-") {
		return "the same command with " + flag
	}
	return line
}

// presentLines presents a result whose text is lines, what matters most first.
func (w *workspace) presentLines(lines []string, p presentation) error {
	p.text = func(n int) string {
		text := strings.Join(append(lines[:n:n], ""), "\n")
		if left := len(lines) - n; left > 0 {
			text += w.rest(left, cmp.Or(p.rest, "--max-tokens 0")) + "\n"
		}
		return text
	}
	if !w.global.json {
		p.entries = len(lines)
	}
	_, err := w.present(p)
	return err
}

// presentShort is presentLines for lines of which none may be long.
func (w *workspace) presentShort(lines []string, p presentation) error {
	short := func(line string) string { return markdown.Clip(oneLine(line), 2*maxCell) }
	return w.presentLines(markdown.Each(lines, short), p)
}

// presentWhole presents a result that is never cut.
func (w *workspace) presentWhole(what string, value any, text string) error {
	_, err := w.present(presentation{
		what: what, json: func(int) any { return value }, text: func(int) string { return text },
	})
	return err
}

// sizeOf is how many bytes a text has without the marks of bold words.
func (e *environ) sizeOf(text string) int {
	on := cmp.Or(e.boldOn, boldOn) // off is as long
	return len(text) - 2*len(on)*strings.Count(text, on)
}

// printJSON prints one compact value and a line end. Lists that have nothing are
// empty, not null.
func (e *environ) printJSON(value any) error { return writeJSON(e.out, value) }

func writeJSON(out io.Writer, value any) error {
	if v := reflect.ValueOf(value); v.IsValid() && v.Kind() != reflect.Pointer {
		copied := reflect.New(v.Type()) // whose fields can be set
		copied.Elem().Set(v)
		value = copied.Interface()
	}
	emptyLists(reflect.ValueOf(value))
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// emptyLists makes a list of what would be null in JSON.
func emptyLists(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			emptyLists(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() || f.Anonymous {
				emptyLists(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.IsNil() && v.CanSet() && v.Type().Elem().Kind() != reflect.Uint8 {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		for i := range v.Len() {
			emptyLists(v.Index(i))
		}
	}
}

// logRead notes what the command has printed: the one place where anything enters a
// reader's context. Budgets tell by the command which channel was read, see
// query.Read.Channel. What a shell asks for is nobody's context.
func (e *environ) logRead(printed int64) {
	op := strings.TrimPrefix(e.command, "filebus ")
	if printed == 0 || len(e.opened) == 0 || e.getenv("FILEBUS_NO_READS_LOG") != "" || strings.HasPrefix(op, "__") {
		return
	}
	e.reader(e.opened[0].Store, query.Options{}).NoteRead(query.Read{
		Op: op, What: e.said.What, Tokens: record.EstimateTokens(printed), Seconds: e.said.Seconds,
		Agent: e.or("", "FILEBUS_AGENT"), Session: e.or("", sessionVariables()...),
		Task: e.or("", "FILEBUS_TASK"), Run: e.or(e.said.Run, "FILEBUS_RUN"),
	})
}

// waited notes for what, and since when, the command has waited.
func (e *environ) waited(what string, begun time.Time) {
	e.said = query.Read{What: what, Seconds: max(e.now().Sub(begun).Round(time.Millisecond), 0).Seconds()}
}
