package index

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	api "github.com/blevesearch/bleve_index_api"
	zap "github.com/blevesearch/zapx/v17"

	"filebus/store/record"
)

// A plainEntry is an entry as the engine's own writer of segments asks for it.
type plainEntry struct {
	*entry
	fields []*plainField
}

// A plainField is a field with the map that the engine's own writer asks for.
type plainField struct {
	name    string
	value   []byte
	terms   api.TokenFrequencies
	length  int
	options api.FieldIndexingOptions
}

func (f *plainField) Name() string                                   { return f.name }
func (f *plainField) Value() []byte                                  { return f.value }
func (f *plainField) ArrayPositions() []uint64                       { return nil }
func (f *plainField) EncodedFieldType() byte                         { return 't' }
func (f *plainField) Analyze()                                       {}
func (f *plainField) Options() api.FieldIndexingOptions              { return f.options }
func (f *plainField) AnalyzedLength() int                            { return f.length }
func (f *plainField) AnalyzedTokenFrequencies() api.TokenFrequencies { return f.terms }
func (f *plainField) NumPlainTextBytes() uint64                      { return 0 }

func (e *plainEntry) VisitFields(visit api.FieldVisitor) {
	for _, f := range e.fields {
		visit(f)
	}
}

// plain returns e as the engine's own writer takes it.
func plain(e *entry) *plainEntry {
	p := &plainEntry{entry: e}
	for _, c := range columns() {
		f := &plainField{name: c.name, options: c.options, terms: api.TokenFrequencies{}}
		if c.scored < 0 {
			for _, term := range c.exact(e) {
				f.terms[term] = &api.TokenFreq{}
			}
			f.length, f.value = len(f.terms), e.appendStored(nil)
		} else {
			for _, t := range e.terms[c.scored] {
				frequency := &api.TokenFreq{}
				frequency.SetFrequency(int(t.count))
				f.terms[e.analyzer.terms[t.term]] = frequency
			}
			f.length = int(e.facts.lengths[c.scored])
		}
		if f.length > 0 {
			p.fields = append(p.fields, f)
		}
	}
	return p
}

// Segments are those that the engine would write, byte for byte. Only the order
// of a field's sections differs: the engine's changes from run to run.
func TestSegmentIsTheEngines(t *testing.T) {
	t.Parallel()
	many := generate(3000, 2)
	for i, d := range many {
		d.Text = append(d.Text, fmt.Sprintf(" everywhere rare%d", i)...)
		if i%3 == 0 {
			d.Text = append(d.Text, " often often"...)
		}
	}
	bare := &Document{Record: record.Record{Name: record.Name{Kind: record.KindNote, ID: "-"}}, Position: 1}
	for name, documents := range map[string][]*Document{
		"one": generate(1, 1), "some": generate(300, 1), "many": many, "without words": {bare},
	} {
		analyzers := []*Analyzer{NewAnalyzer(), NewAnalyzer()}
		var entries []*entry
		var plains []api.Document
		for i, d := range documents {
			e := analyzers[i%2].entry(d)
			entries, plains = append(entries, e), append(plains, plain(e))
		}
		theirs, _, err := new(zap.ZapPlugin).New(plains)
		if err != nil {
			t.Fatal(err)
		}
		w := &segmentWriter{}
		for range 2 { // a writer can be used again
			ours, err := w.write(entries)
			if err != nil {
				t.Fatal(err)
			}
			compareSegments(t, name, ours, theirs.(*zap.SegmentBase))
		}
	}
}

// compareSegments compares a segment with one of the engine's.
func compareSegments(t *testing.T, name string, ours newSegment, theirs *zap.SegmentBase) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "segment")
	if err := theirs.Persist(path); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want = want[:len(want)-zap.FooterSize]
	got := ours.bytes
	if len(got) != len(want) {
		t.Fatalf("%s: %d bytes, want %d", name, len(got), len(want))
	}
	first := int(binary.BigEndian.Uint64(got[ours.sections+1:])) // of the sections, behind the number of fields
	if !bytes.Equal(got[:first], want[:first]) {
		t.Errorf("%s: the %d bytes before the sections differ", name, first)
	}
	if !bytes.Equal(got[ours.sections:], want[ours.sections:]) {
		t.Errorf("%s: the index of sections differs", name)
	}
}

// A document of another kind is refused.
func TestForeignDocument(t *testing.T) {
	t.Parallel()
	e := NewAnalyzer().entry(note("a", "alpha"))
	if _, _, err := new(segmentPlugin).New([]api.Document{plain(e)}); err == nil {
		t.Error("got no error")
	}
}
