package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
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

// A Presentation is a result as it is printed: whole, or as many of its entries as
// some tokens hold. What is measured is what is printed.
type Presentation struct {
	Entries   int // that may be left out, the last ones first
	MaxTokens int // 0: all are printed
	JSON      func(entries int) any
	Text      func(entries int) string
	Exact     bool   // what is said besides is no part of it
	Strict    bool   // if not even the first entry fits, nothing is printed
	What      string // for the line in the log of reads

	// What a table says of rows that are not there, and what lines end with.
	None string // of a table without any
	Left int    // rows that were left out before
	Rest string // what prints those that were left out: see Environ.Rest
}

// Present prints a result and returns how many of its entries that are.
func (w *Work) Present(p Presentation) (printed int, err error) {
	render := func(n int) (text string) {
		if !w.Global.JSON {
			return p.Text(n)
		}
		var out strings.Builder
		err = w.WriteJSON(&out, p.JSON(n))
		return out.String()
	}
	printed = p.Entries
	text := render(printed)
	const noteTokens = 25 // what a note costs that says how much was left out
	if limit := 4 * p.MaxTokens; p.MaxTokens > 0 && w.SizeOf(text) > limit {
		if !w.Global.JSON && !p.Exact {
			limit -= 4 * noteTokens
		}
		dropped := sort.Search(p.Entries, func(n int) bool { return w.SizeOf(render(p.Entries-n)) <= limit })
		printed = p.Entries - dropped
		if text = render(printed); p.Strict && w.SizeOf(text) > limit {
			text = ""
		}
	}
	if err != nil {
		return 0, err
	}
	if w.Printf("%s", text); p.What != "" {
		w.Said.What = p.What
	}
	return printed, nil
}

// PresentTable presents rows, and says what is not there.
func (w *Work) PresentTable(rows [][]string, p Presentation) error {
	p.Entries = len(rows)
	p.Text = func(n int) string { return w.Table(rows[:n]) }
	printed, err := w.Present(p)
	switch left := p.Left + len(rows) - printed; {
	case err != nil || w.Global.JSON:
		return err
	case len(rows) == 0 && p.None != "":
		w.Note("%s", p.None)
	default:
		w.NoteRest(left, p.Rest)
	}
	return nil
}

// Rest says in one line how many of a list were left out, and what prints them: a
// command, or a flag of the one that is running.
func (e *Environ) Rest(left int, by string) string {
	if strings.HasPrefix(by, "--") {
		by = e.Again(by)
	}
	more := "more"
	if left == query.MaxCounted {
		more = "or more"
	}
	text := fmt.Sprintf("… and %d %s; %s", left, more, by)
	if e.Call != nil {
		text = e.Call.asArguments(text)
	}
	return text
}

// NoteRest says the rest of a list, if there is any. JSON says it by itself.
func (e *Environ) NoteRest(left int, by string) {
	if left > 0 {
		e.Remark("%s", e.Rest(left, by))
	}
}

// Again returns the command that is running with another flag. One that is long, or that
// reads its input, is not said again.
func (e *Environ) Again(flag string) string {
	name, _, _ := strings.Cut(flag, " ")
	if e.Call != nil && slices.Contains(e.Call.Flags, name) {
		flag = strings.Replace(flag, "--max-tokens 0", "a greater --max-tokens", 1)
		return e.Call.asArguments("call again with " + flag)
	}
	words, end := []string{"filebus"}, 0
	for i := 0; i < len(e.Args); i++ {
		switch arg := e.Args[i]; {
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

// PresentLines presents a result whose text is lines, what matters most first.
func (w *Work) PresentLines(lines []string, p Presentation) error {
	p.Text = func(n int) string {
		text := strings.Join(append(lines[:n:n], ""), "\n")
		if left := len(lines) - n; left > 0 {
			text += w.Rest(left, cmp.Or(p.Rest, "--max-tokens 0")) + "\n"
		}
		return text
	}
	if !w.Global.JSON {
		p.Entries = len(lines)
	}
	_, err := w.Present(p)
	return err
}

// PresentShort is PresentLines for lines of which none may be long.
func (w *Work) PresentShort(lines []string, p Presentation) error {
	short := func(line string) string { return markdown.Clip(OneLine(line), 2*maxCell) }
	return w.PresentLines(markdown.Each(lines, short), p)
}

// PresentWhole presents a result that is never cut.
func (w *Work) PresentWhole(what string, value any, text string) error {
	_, err := w.Present(Presentation{
		What: what, JSON: func(int) any { return value }, Text: func(int) string { return text },
	})
	return err
}

// SizeOf is how many bytes a text has without the marks of bold words.
func (e *Environ) SizeOf(text string) int {
	on := cmp.Or(e.boldOn, BoldOn) // off is as long
	return len(text) - 2*len(on)*strings.Count(text, on)
}

// PrintJSON prints one compact value and a line end. Lists that have nothing are
// empty, not null.
func (e *Environ) PrintJSON(value any) error { return e.WriteJSON(e.Out, value) }

// WriteJSON writes one compact value and a line end. An object says what was not looked at.
func (e *Environ) WriteJSON(out io.Writer, value any) error {
	var text bytes.Buffer
	err := WriteJSON(&text, value)
	body, isObject := bytes.CutSuffix(text.Bytes(), []byte("}\n"))
	if e.NotLookedAt != (NotLookedAt{}) && isObject && err == nil {
		more, encodeErr := json.Marshal(e.NotLookedAt)
		comma := ","[:min(1, len(body)-1)] // none in an empty object
		_, err = fmt.Fprintf(out, "%s%s\"not_looked_at\":%s}\n", body, comma, more)
		return errors.Join(encodeErr, err)
	}
	_, writeErr := out.Write(text.Bytes())
	return errors.Join(err, writeErr)
}

// NotLookedAt says what of the disk the answer of a reading command does not have.
type NotLookedAt struct {
	Folders   int `json:"folders,omitempty"`   // that it had no time for, with all below them
	Files     int `json:"files,omitempty"`     // that were changed, which it had no time for or could not import
	Conflicts int `json:"conflicts,omitempty"` // files that a sync would keep beside what the store has
}

// WriteJSON writes one compact value and a line end.
func WriteJSON(out io.Writer, value any) error {
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

// LogRead notes what the command has printed: the one place where anything enters a
// reader's context. Budgets tell by the command which channel was read, see
// query.Read.Channel. What a shell asks for is nobody's context.
func (e *Environ) LogRead(printed int64) {
	op := strings.TrimPrefix(e.Command, "filebus ")
	if printed == 0 || len(e.Opened) == 0 || e.Getenv("FILEBUS_NO_READS_LOG") != "" || strings.HasPrefix(op, "__") {
		return
	}
	e.NewReader(e.Opened[0].Store, query.Options{}).NoteRead(query.Read{
		Op: op, What: e.Said.What, Tokens: record.EstimateTokens(printed), Seconds: e.Said.Seconds,
		Agent: e.Or("", "FILEBUS_AGENT"), Session: e.Or("", SessionVariables()...),
		Task: e.Or("", "FILEBUS_TASK"), Run: e.Or(e.Said.Run, "FILEBUS_RUN"),
	})
}

// Waited notes for what, and since when, the command has waited.
func (e *Environ) Waited(what string, begun time.Time) {
	e.Said = query.Read{What: what, Seconds: max(e.Now().Sub(begun).Round(time.Millisecond), 0).Seconds()}
}
