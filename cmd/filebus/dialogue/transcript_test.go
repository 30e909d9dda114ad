package dialogue

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// says returns a line of an agent with blocks of text.
func says(t testing.TB, id string, texts ...string) string {
	t.Helper()
	type block struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	var blocks []block
	for _, text := range texts {
		blocks = append(blocks, block{"text", text})
	}
	line, err := json.Marshal(map[string]any{
		"type": "assistant", "message": map[string]any{"role": "assistant", "id": id, "content": blocks},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(line) + "\n"
}

// wantedUpTo is the turn of muffin in a round of retry, of at most limit bytes.
func wantedUpTo(limit int) wanted { return wanted{"retry/round-0/", "muffin", false, limit} }

const asked = `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"no"}]},{"type":"text","text":"no"}]}}` + "\n"

func TestReadTranscript(t *testing.T) {
	t.Parallel()
	type seen = transcriptText
	for _, test := range []struct {
		name, text string
		want       seen
	}{
		{"nothing", "", seen{}},
		{"blank lines", "\n \r\n\t", seen{}},
		{"the last one", says(t, "1", "a") + asked + says(t, "2", "b"), seen{Text: "b", Line: 3, Lines: 3, Messages: 2}},
		{"several blocks", says(t, "1", "a", "b"), seen{Text: "a\n\nb", Line: 1, Lines: 1, Messages: 1}},
		{"a line for each block", says(t, "1", "x") + says(t, "2", "a") + says(t, "2", "b"), seen{Text: "a\n\nb", Line: 3, Lines: 3, Messages: 3}},
		{"without ids", says(t, "", "a") + says(t, "", "b"), seen{Text: "b", Line: 2, Lines: 2, Messages: 2}},
		{"blank blocks", says(t, "1", "a") + says(t, "2", " \n", ""), seen{Text: "a", Line: 1, Lines: 2, Messages: 2}},
		{"a string", `{"type":"assistant","message":{"role":"assistant","content":"a"}}`, seen{Text: "a", Line: 1, Lines: 1, Messages: 1}},
		{"the message itself", `{"role":"assistant","content":[{"text":"a","type":"text"}]}`, seen{Text: "a", Line: 1, Lines: 1, Messages: 1}},
		{"escapes", `{"message":{"content":"\u00e9\ud83d\ude00\n\"\\","role":"assistant"}}`, seen{Text: "é😀\n\"\\", Line: 1, Lines: 1, Messages: 1}},
		{"spaces and CRLF", "\r\n { \"type\" : \"assistant\" ,\t\"message\" : { \"content\" : [ ] } }\r\n" + says(t, "", "a"), seen{Text: "a", Line: 3, Lines: 2, Messages: 2}},
		{"tools and thoughts", `{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"no","text":"no"},{"type":"tool_use","input":{"text":"no","type":"text"}}]}}`,
			seen{Lines: 1, Messages: 1}},
		{"only others", asked + `{"type":"system","content":"no"}` + "\n" + `{"type":"progress","data":{"message":{"role":"assistant","content":"no"}}}`, seen{Lines: 3}},
		{"odd values", `{"type":5,"message":null,"a":[1,{"b":[true]}],"c":-1e9}` + "\n" + `{"type":"assistant","message":{"content":{"text":"no"},"role":[]}}`, seen{Lines: 2, Messages: 1}},
		{"errors in its name", says(t, "1", "a") + `{"type":"assistant","isApiErrorMessage":true,"message":{"content":"no"}}` + "\n" +
			`{"type":"assistant","isApiErrorMessage":false,"message":{"model":"<synthetic>","content":"no"}}`, seen{Text: "a", Line: 1, Lines: 3, Messages: 1, Faults: 2}},
		{"broken lines", "no\n" + says(t, "1", "a") + "{\"type\":\n[1]\n{}x\n{\"a\" 1}\n{\"a\":}\n" + `{"type":"assistant","message":{"content":"cut`,
			seen{Text: "a", Line: 2, Lines: 8, Messages: 1, Broken: 7}},
	} {
		for what, r := range map[string]io.Reader{"whole": strings.NewReader(test.text), "byte by byte": iotest.OneByteReader(strings.NewReader(test.text))} {
			got, err := readTranscript(t.Context(), r, wantedUpTo(1000))
			if err != nil {
				t.Errorf("%s, %s: %v", test.name, what, err)
				continue
			}
			got.isShort, got.chains, got.roots = false, nil, nil
			if diff := cmp.Diff(&test.want, got, cmp.AllowUnexported(transcriptText{})); diff != "" {
				t.Errorf("%s, %s: readTranscript(%s) (-want +got):\n%s", test.name, what, test.text, diff)
			}
		}
	}
}

// TestLongText has texts at the limit and above it. One that is too long is an error
// only if it is the last.
func TestLongText(t *testing.T) {
	t.Parallel()
	const limit = 100
	long, fits := strings.Repeat("x", limit+1), strings.Repeat("\x01", limit)
	for name, text := range map[string]string{
		"one block": says(t, "1", long), "two blocks": says(t, "1", long[:60], long[:60]), "two lines": says(t, "1", long[:60]) + says(t, "1", long[:60]),
		"far too long": says(t, "1", strings.Repeat(long, 100)), "before a block": says(t, "1", long, "a"), "before a line": says(t, "1", long) + says(t, "1", "a"),
	} {
		seen, err := readTranscript(t.Context(), strings.NewReader(says(t, "0", "a")+text), wantedUpTo(limit))
		if err != nil || seen.Text != "" || seen.Line < 2 {
			t.Errorf("%s = %+v, %v, want its line without the text", name, seen, err)
		}
	}
	for name, text := range map[string]string{"not the last": says(t, "1", long) + says(t, "2", fits), "escaped": says(t, "1", fits)} {
		if got, err := readTranscript(t.Context(), strings.NewReader(text), wantedUpTo(limit)); err != nil ||
			got.Text != fits {
			t.Errorf("%s = %+v, %v", name, got, err)
		}
	}
	if _, err := readTranscript(t.Context(), iotest.ErrReader(io.ErrNoProgress), wantedUpTo(limit)); !errors.Is(err,
		io.ErrNoProgress) {
		t.Errorf("a reader that fails = %v", err)
	}
}

// A repeated reads a text n times.
type repeated struct {
	text string
	n    int
	at   int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.n == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.text[r.at:])
	if r.at += n; r.at == len(r.text) {
		r.at = 0
		r.n--
	}
	return n, nil
}

// TestTranscriptMemory reads lines of 30 MB each: what is allocated on the way does not
// grow with them.
func TestTranscriptMemory(t *testing.T) {
	part := &repeated{text: strings.Repeat(`word \"\n`, 1000), n: 3300}
	again := *part
	text := io.MultiReader(
		strings.NewReader(`{"type":"user","message":{"role":"user","content":"`), part, strings.NewReader("\"}}\n"),
		strings.NewReader(`{"type":"assistant","message":{"content":[{"type":"text","text":"`), &again, strings.NewReader("\"}]}}\n"),
		strings.NewReader(says(t, "last", "[PERSPECTIVE P01: One]")),
	)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := readTranscript(t.Context(), text, wantedUpTo(100_000))
	runtime.ReadMemStats(&after)
	if err != nil || got.Text != "[PERSPECTIVE P01: One]" {
		t.Fatalf("readTranscript = %+v, %v", got, err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 10_000_000 {
		t.Errorf("%d bytes were allocated for a transcript of 60 MB", used)
	}
}

// plainTranscript reads a transcript in the plain way: each line by encoding/json.
// Found is false if a line is not an object, or has a key twice.
func plainTranscript(text []byte) (last string, found bool) {
	lastID := ""
	for line := range bytes.Lines(text) {
		if len(bytes.Trim(line, " \t\r\n")) == 0 {
			continue
		}
		var m struct {
			Type    string
			Message struct {
				ID, Role string
				Content  []struct{ Type, Text string }
			}
		}
		if !json.Valid(line) || json.Unmarshal(line, &m) != nil {
			return "", false
		}
		joined := ""
		for _, b := range m.Message.Content {
			if b.Type == "text" && strings.TrimSpace(b.Text) != "" {
				joined = strings.TrimPrefix(joined+"\n\n"+b.Text, "\n\n")
			}
		}
		if role := m.Message.Role; joined == "" || role != "assistant" && (role != "" || m.Type != "assistant") {
			continue
		}
		if m.Message.ID != "" && m.Message.ID == lastID {
			joined = last + "\n\n" + joined
		}
		last, lastID = joined, m.Message.ID
	}
	return last, true
}

// FuzzTranscript takes texts apart into lines of agents and has them read in both
// ways; and it has the raw bytes read, which must do no harm.
func FuzzTranscript(f *testing.F) {
	f.Add("a", "b\n\x00", "1", []byte(asked))
	f.Add("\\\"{", "", "", []byte(`{"type":"assistant","message":{"content":"a`))
	f.Fuzz(func(t *testing.T, one, two, id string, raw []byte) {
		id = id[:min(len(id), 80)]              // longer ones tell no messages apart
		const marker = "[PERSPECTIVE P01: x]\n" // with which a short text is one all the same
		one, two = marker+one, marker+two
		text := says(t, id, one, two) + asked + says(t, "2", two) + says(t, id, one)
		want, found := plainTranscript([]byte(text))
		got, err := readTranscript(t.Context(), strings.NewReader(text), wantedUpTo(1<<20))
		if err != nil || !found || got.Text != want || got.Broken > 0 {
			t.Errorf("readTranscript(%q) = %+v, %v, want %q", text, got, err, want)
		}
		got, err = readTranscript(t.Context(), bytes.NewReader(raw), wantedUpTo(1<<20))
		if err != nil || got.Lines < got.Broken+got.Messages+got.Faults {
			t.Errorf("readTranscript(%q) = %+v, %v", raw, got, err)
		}
	})
}
