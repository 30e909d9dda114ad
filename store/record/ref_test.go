package record_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/store/record"
)

const (
	some  = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	zeros = "0000000000000000000000000000000000000000000000000000000000000000"
)

func TestParseRef(t *testing.T) {
	for _, text := range []string{some, zeros, strings.Repeat("f", 64)} {
		ref, err := record.ParseRef(text)
		if err != nil || ref.String() != text || ref.Short() != text[:12] || ref.IsZero() != (text == zeros) {
			t.Errorf("ParseRef(%q) = %v, %v; short %s, zero %v", text, ref, err, ref.Short(), ref.IsZero())
		}
		digest, err := record.ParseDigest(text)
		if err != nil || digest.String() != text {
			t.Errorf("ParseDigest(%q) = %v, %v", text, digest, err)
		}
	}
	for _, text := range []string{"", "0", some[:63], some + "0", strings.ToUpper(some), "g" + some[1:], " " + some[1:], some[:63] + "\n"} {
		if ref, err := record.ParseRef(text); err == nil || !strings.Contains(err.Error(), "ref") {
			t.Errorf("ParseRef(%q) = %v, %v; want an error that says ref", text, ref, err)
		}
		if digest, err := record.ParseDigest(text); err == nil || !strings.Contains(err.Error(), "digest") {
			t.Errorf("ParseDigest(%q) = %v, %v; want an error that says digest", text, digest, err)
		}
	}
}

func TestRefJSON(t *testing.T) {
	ref, err := record.ParseRef(some)
	if err != nil {
		t.Fatal(err)
	}
	type pair struct {
		Ref  record.Ref    `json:"ref"`
		Body record.Digest `json:"body"`
	}
	want := pair{ref, record.Digest(ref)}
	data, err := json.Marshal(want)
	if text := `{"ref":"` + some + `","body":"` + some + `"}`; err != nil || string(data) != text {
		t.Errorf("Marshal = %s, %v; want %s", data, err, text)
	}
	var got pair
	if err := json.Unmarshal(data, &got); err != nil || got != want {
		t.Errorf("Unmarshal(%s) = %v, %v; want %v", data, got, err, want)
	}
	for _, bad := range []string{`{"ref":"abc"}`, `{"body":"abc"}`} {
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("Unmarshal(%s) was accepted", bad)
		}
	}
}

func TestParsePrefix(t *testing.T) {
	ref, err := record.ParseRef(some)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		text    string
		ok      bool
		matches bool
		seek    []byte
	}{
		{some[:8], true, true, []byte{0x01, 0x23, 0x45, 0x67}},
		{some[:9], true, true, []byte{0x01, 0x23, 0x45, 0x67}},
		{some[:10], true, true, []byte{0x01, 0x23, 0x45, 0x67, 0x89}},
		{strings.ToUpper(some[:12]), true, true, []byte{0x01, 0x23, 0x45, 0x67, 0x89, 0xab}},
		{some, true, true, ref[:]},
		{"01234568", true, false, []byte{0x01, 0x23, 0x45, 0x68}},
		{"012345679", true, false, []byte{0x01, 0x23, 0x45, 0x67}},
		{"", false, false, nil}, {some[:7], false, false, nil}, {some + "0", false, false, nil},
		{"0123456g", false, false, nil}, {"0123456 ", false, false, nil}, {"-1234567", false, false, nil}, {"note/abcdef", false, false, nil},
		{"012345é7", false, false, nil}, {"0123456K", false, false, nil}, // the Kelvin sign folds to k
	} {
		p, ok := record.ParsePrefix(test.text)
		if ok != test.ok {
			t.Errorf("ParsePrefix(%q) = %q, %v; want %v", test.text, p, ok, test.ok)
		}
		if !ok || !test.ok {
			continue
		}
		if got := p.Matches(ref); got != test.matches {
			t.Errorf("prefix %s matches %s: %v, want %v", p, ref, got, test.matches)
		}
		if got := p.Seek(); !bytes.Equal(got, test.seek) {
			t.Errorf("prefix %s seeks %x, want %x", p, got, test.seek)
		}
		if test.matches && bytes.Compare(p.Seek(), ref[:]) > 0 {
			t.Errorf("prefix %s seeks past a ref that it matches", p)
		}
	}
}

func TestParseStoreID(t *testing.T) {
	if got, err := record.ParseStoreID(some[:32]); err != nil || string(got) != some[:32] {
		t.Errorf("ParseStoreID = %q, %v", got, err)
	}
	for _, text := range []string{"", some, some[:31], strings.ToUpper(some[:32]), "g" + some[:31]} {
		if got, err := record.ParseStoreID(text); err == nil {
			t.Errorf("ParseStoreID(%q) = %q, want an error", text, got)
		}
	}
}

func TestNormalizeTags(t *testing.T) {
	for _, test := range []struct{ in, want []string }{
		{nil, nil},
		{[]string{"", " "}, nil},
		{[]string{"b", "a"}, []string{"a", "b"}},
		{[]string{" JWT ", "jwt", "Auth"}, []string{"auth", "jwt"}},
		{[]string{"Ü", "ü"}, []string{"ü"}},
		{[]string{"two words"}, []string{"two words"}},
	} {
		before := slices.Clone(test.in)
		if diff := cmp.Diff(test.want, record.NormalizeTags(test.in)); diff != "" {
			t.Errorf("NormalizeTags(%q) (-want +got):\n%s", test.in, diff)
		}
		if !slices.Equal(before, test.in) {
			t.Errorf("NormalizeTags changed its argument %q to %q", before, test.in)
		}
	}
}

func TestLinks(t *testing.T) {
	links := []record.Link{{Type: "b", Target: "1"}, {Type: "a", Target: "2"}, {Type: "a", Target: "1"}}
	record.SortLinks(links)
	want := []record.Link{{Type: "a", Target: "1"}, {Type: "a", Target: "2"}, {Type: "b", Target: "1"}}
	if diff := cmp.Diff(want, links); diff != "" {
		t.Errorf("SortLinks (-want +got):\n%s", diff)
	}
	r := minimal()
	r.Links = links
	if r.IsConflict() {
		t.Error("IsConflict without a conflict link")
	}
	r.Links = append(r.Links, record.Link{Type: record.LinkConflict, Target: some})
	if !r.IsConflict() {
		t.Error("no IsConflict with a conflict link")
	}
}

func TestEstimateTokens(t *testing.T) {
	for size, want := range map[int64]int{0: 0, 1: 1, 4: 1, 5: 2, 20000: 5000, 1 << 40: 1 << 38} {
		if got := record.EstimateTokens(size); got != want {
			t.Errorf("EstimateTokens(%d) = %d, want %d", size, got, want)
		}
	}
}

// TestTexts writes what names a body or a record, in the forms that users see.
func TestTexts(t *testing.T) {
	d := record.NewDigester()
	for _, part := range []string{"a ", "body"} {
		if n, err := d.Write([]byte(part)); n != len(part) || err != nil {
			t.Errorf("Write(%q) = %d, %v", part, n, err)
		}
	}
	if got, want := d.Digest(), record.DigestOf([]byte("a body")); got != want {
		t.Errorf("in two parts the digest is %v, want %v", got, want)
	}
	ref, err := record.ParseRef(some)
	if err != nil {
		t.Fatal(err)
	}
	if got := record.ShortRef(ref).String(); got != some[:12] {
		t.Errorf("the short ref is %s, want %s", got, some[:12])
	}
	text, err := json.Marshal([]any{record.ShortRef(ref), record.Link{Type: "conflict", Target: "note/a"}})
	if want := `["` + some + `","conflict note/a"]`; err != nil || string(text) != want {
		t.Errorf("in JSON: %s, %v; want %s", text, err, want)
	}
}
