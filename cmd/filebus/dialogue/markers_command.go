package dialogue

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

type dialogueMarkers struct {
	Kind  []string `flag:"kind"`
	Limit int      `flag:"limit" least:"0"`
	Body  bool     `flag:"body"`
}

// A MarkersJSON is the markers of some files in JSON. The counts are of all of
// them, listed or not.
type MarkersJSON struct {
	Markers []markerJSON   `json:"markers"`
	Counts  map[string]int `json:"counts"`         // by kind
	More    int            `json:"more,omitempty"` // markers that are not listed
	Slips   []stubJSON     `json:"slips,omitempty"`
	Stubs   []stubJSON     `json:"stubs,omitempty"`
	Unread  []string       `json:"unread,omitempty"` // files
}

type markerJSON struct {
	Kind  string          `json:"kind"`
	ID    string          `json:"id,omitempty"`
	Label string          `json:"label,omitempty"`
	Agent string          `json:"agent,omitempty"`
	Round *int            `json:"round,omitempty"`
	Refs  []markerRefJSON `json:"refs,omitempty"`
	File  string          `json:"file"`
	Line  int             `json:"line"`
	Exact bool            `json:"exact"`
	Body  string          `json:"body,omitempty"`

	bent bool // it is not exact, and not as clear either
}

type markerRefJSON struct {
	Agent string `json:"agent,omitempty"`
	Round *int   `json:"round,omitempty"`
	ID    string `json:"id"`
	Verb  string `json:"verb,omitempty"`
}

type stubJSON struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"` // of a slip
	Reason string `json:"reason"`
}

// MaxMarkersText is how much of a file is read, in bytes.
const MaxMarkersText = 4_000_000

func (o *dialogueMarkers) Do(ctx context.Context, w *cli.Work, args []string) error {
	kinds, err := parseMarkerKinds(o.Kind)
	if err != nil {
		return err
	}
	args, err = slugNames(ctx, w.Environ, args, turnNames)
	if err != nil {
		return err
	}
	list := markerList{Work: w, opts: o, kinds: kinds, out: MarkersJSON{Counts: map[string]int{}}}
	var failed []error
	for _, arg := range args {
		if err := list.add(ctx, arg); err != nil {
			failed, list.out.Unread = append(failed, err), append(list.out.Unread, arg)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	for i, err := range failed {
		if list.files == 0 && i == len(failed)-1 {
			return err
		}
		w.Note("not read: %s", cli.Message(err))
	}
	return list.printAll()
}

// parseMarkerKinds returns the kinds that are named, in any case; none means all.
func parseMarkerKinds(names []string) ([]layout.MarkerKind, error) {
	var kinds []layout.MarkerKind
	for _, name := range names {
		kind := layout.MarkerKind(strings.ToUpper(strings.TrimSpace(name)))
		if !slices.Contains(layout.MarkerKinds(), kind) {
			known := markdown.Each(layout.MarkerKinds(), func(k layout.MarkerKind) string { return strings.ToLower(string(k)) })
			return nil, cli.UsageError("--kind %q is none of %s", name, strings.Join(known, ", "))
		}
		kinds = append(kinds, kind)
	}
	return kinds, nil
}

// A markerList collects the markers of files.
type markerList struct {
	*cli.Work
	opts  *dialogueMarkers
	kinds []layout.MarkerKind // empty: all
	out   MarkersJSON
	bent  int // markers that are not exact
	files int
}

// add reads the markers of what a user named.
func (l *markerList) add(ctx context.Context, arg string) error {
	l.EmptyInput = true
	in, err := l.ReadInput(ctx, arg, MaxMarkersText)
	if err != nil {
		return err
	}
	l.files++
	if !in.Whole {
		in.Text = in.Text[:bytes.LastIndexByte(in.Text, '\n')+1] // a marker may have been cut
		l.out.Unread = append(l.out.Unread, arg)
		l.Note("%s: only the first %s were read", cli.OneLine(arg), cli.ByteSize(MaxMarkersText))
	}
	if reason, isStub := layout.ParseStub(in.Text); isStub {
		l.out.Stubs = append(l.out.Stubs, stubJSON{arg, 0, reason})
		l.Note("%s is a stub: %s", cli.OneLine(arg), cli.OneLine(reason))
		return nil
	}
	path := filepath.ToSlash(l.Abs(arg))
	if in.Found != nil {
		path = ""
		if name := in.Found.Record.Name; name.Kind == record.KindTurn {
			path = name.ID + ".md"
		}
	}
	for _, slip := range layout.MarkerSlips(in.Text) {
		l.out.Slips = append(l.out.Slips, stubJSON{arg, slip.Line, slip.Err.Error()})
		l.Note("%s:%d: %s", cli.OneLine(arg), slip.Line, cli.OneLine(slip.Err.Error()))
	}
	for _, said := range layout.Spoken(path, in.Text) {
		l.addMarker(arg, said)
	}
	return nil
}

// addMarker counts a marker, and lists it unless there are enough.
func (l *markerList) addMarker(file string, said layout.SpokenMarker) {
	m := said.Marker
	if len(l.kinds) > 0 && !slices.Contains(l.kinds, m.Kind) {
		return
	}
	l.out.Counts[kindWord(m.Kind)]++
	bent := !m.Exact && !m.NamesWhole()
	if bent {
		l.bent++
	}
	if l.opts.Limit > 0 && len(l.out.Markers) >= l.opts.Limit {
		l.out.More++
		return
	}
	view := markerJSON{
		Kind: kindWord(m.Kind), ID: m.ID, Label: m.Label, Agent: said.Voice.Agent, Round: knownRound(said.Voice.Round),
		File: file, Line: m.Line, Exact: m.Exact, bent: bent,
	}
	view.Refs = markdown.Each(m.Refs, func(r layout.MarkerRef) markerRefJSON {
		return markerRefJSON{r.Agent, knownRound(r.Round), r.ID, r.Verb}
	})
	if l.opts.Body {
		view.Body = m.Body
	}
	l.out.Markers = append(l.out.Markers, view)
}

func kindWord(kind layout.MarkerKind) string { return strings.ToLower(string(kind)) }

// knownRound returns a round for JSON, nil if it is not known.
func knownRound(round int) *int {
	if round < 0 {
		return nil
	}
	return &round
}

// printAll prints what was collected. What could not be read makes it partly.
func (l *markerList) printAll() error {
	if err := l.PresentWhole("", l.out, l.text()); err != nil {
		return err
	}
	l.Remark("%s", l.summary())
	l.NoteRest(l.out.More, "--limit 0")
	if len(l.out.Unread) > 0 {
		return cli.SilentError(record.Partly)
	}
	return nil
}

// text returns what people are shown: a line for each marker, with its text below it.
func (l *markerList) text() string {
	var out strings.Builder
	for _, m := range l.out.Markers {
		out.WriteString(m.line() + "\n")
		for line := range strings.Lines(m.Body) {
			out.WriteString(strings.TrimRight("  "+cli.OneLine(line), " ") + "\n")
		}
	}
	return out.String()
}

// line returns what people are shown of a marker.
func (m markerJSON) line() string {
	head := fmt.Sprintf("%s:%d: %s", m.File, m.Line, strings.ToUpper(m.Kind))
	if m.bent {
		head += "?"
	}
	words := []string{head}
	if m.ID != "" {
		words = append(words, m.ID)
	}
	if m.Exact && len(m.Refs) > 0 && m.Refs[0].Verb != "" {
		words = append(words, m.Refs[0].Verb)
		for _, r := range m.Refs {
			words = append(words, r.ID)
		}
	}
	if m.Label != "" {
		words = append(words, m.Label)
	}
	return cli.OneLine(strings.Join(words, " "))
}

// summary says how many markers there are of each kind.
func (l *markerList) summary() string {
	total := 0
	var kinds []string
	for _, kind := range layout.MarkerKinds() {
		if n := l.out.Counts[kindWord(kind)]; n > 0 {
			total += n
			kinds = append(kinds, fmt.Sprintf("%d %s", n, kindWord(kind)))
		}
	}
	text := fmt.Sprintf("%s in %s", cli.Plural(total, "marker"), cli.Plural(l.files, "file"))
	if total > 0 {
		text += ": " + strings.Join(kinds, ", ")
	}
	if l.bent > 0 {
		text += fmt.Sprintf("; %d not written as the grammar says", l.bent)
	}
	return text
}
