package index

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestFactsRoundTrip(t *testing.T) {
	t.Parallel()
	for _, want := range []facts{
		{time: time.Unix(0, 0).UTC()},
		{position: 7, time: time.Date(2026, 1, 2, 3, 4, 5, 999999999, time.UTC), lengths: [scoredFields]uint64{1, 2, 3, 4, 1 << 20}},
		{position: 8, time: time.Unix(0, 0).UTC(), print: [printLength]byte([]byte("0123456789abcdefABC-_x"))},
		{position: math.MaxUint64, time: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)},
		{time: time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC)},
	} {
		text := want.encode()
		got, err := decodeFacts([]byte(text))
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(facts{})); diff != "" || err != nil {
			t.Errorf("decodeFacts(%q): error %v; -want +got\n%s", text, err, diff)
		}
		if when, err := decodeTime([]byte(text)); !when.Equal(want.time) || err != nil {
			t.Errorf("decodeTime(%q) = %v, error %v, want %v", text, when, err, want.time)
		}
	}
}

func TestMalformedFacts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", " ", "1", "1 2 3 4 5 6 7", "1 2 3 4 5 6 7 ", "1 2 3 4 5 6 7 8 9", "1  2 3 4 5 6 7", "-1 2 3 4 5 6 7 8",
		"1 2 3 4 5 6 7 8#", "1 2 3 4 5 6 7 8#0123456789abcdefABCDE", "1 2 3 4 5 6 7 8#0123456789abcdefABCDEFG",
		"1 2 3 4 5 6 7#0123456789abcdefABCDEF", "#0123456789abcdefABCDEF", "1 2 3 4 5 6 7 8 0123456789abcdefABCDEF",
		"1 2 3 4 5 6 7 8 ", "A 2 3 4 5 6 7 8", "1 2 3 4 5 6 7 \xff",
	} {
		if f, err := decodeFacts([]byte(text)); err == nil {
			t.Errorf("decodeFacts(%q) = %+v, want an error", text, f)
		}
		if when, err := decodeTime([]byte(text)); err == nil && !strings.HasPrefix(text, "1 2 3 4") {
			t.Errorf("decodeTime(%q) = %v, want an error", text, when)
		}
	}
}

func TestTotals(t *testing.T) {
	t.Parallel()
	var got totals
	one := facts{lengths: [scoredFields]uint64{1, 2, 3, 4, 5}}
	two := facts{lengths: [scoredFields]uint64{10, 0, 0, 0, 50}}
	got.add(&one)
	got.add(&two)
	if err := got.remove(&one); err != nil {
		t.Fatal(err)
	}
	want := totals{Documents: 1, Having: [scoredFields]uint64{1, 0, 0, 0, 1}, Lengths: two.lengths}
	if got != want {
		t.Errorf("totals %+v, want %+v", got, want)
	}
	if err := got.remove(&one); err == nil {
		t.Error("removed a document longer than the total")
	}
	if err := new(totals).remove(&facts{}); err == nil {
		t.Error("removed a document from none")
	}
}

func TestTotalsRoundTrip(t *testing.T) {
	t.Parallel()
	want := totals{Position: math.MaxUint64, Documents: 3, Lengths: [scoredFields]uint64{1, 2, 3, 4, 5}, Unfinished: true}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decodeTotals(text); err != nil || got != want {
		t.Errorf("decodeTotals(%s) = %+v, %v, want %+v", text, got, err, want)
	}
	for _, text := range [][]byte{nil, {}, []byte("{"), []byte(`{"position":-1}`)} {
		if got, err := decodeTotals(text); err == nil {
			t.Errorf("decodeTotals(%q) = %+v, want an error", text, got)
		}
	}
}

func TestAverage(t *testing.T) {
	t.Parallel()
	filled := totals{Documents: 9, Having: [scoredFields]uint64{fieldBody: 4}, Lengths: [scoredFields]uint64{fieldBody: 6}}
	for _, test := range []struct {
		totals totals
		field  int
		want   float64
	}{
		{totals{}, fieldBody, 1},
		{filled, fieldTitle, 1},
		{filled, fieldBody, 1.5},
	} {
		if got := test.totals.average(test.field); got != test.want {
			t.Errorf("average of field %d of %+v = %v, want %v", test.field, test.totals, got, test.want)
		}
	}
}
