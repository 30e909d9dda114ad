package record_test

import (
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/store/record"
)

const origin = record.StoreID("000102030405060708090a0b0c0d0e0f")

// minimal is a record with nothing but what every record has.
func minimal() *record.Record {
	return &record.Record{
		Origin: origin,
		Name:   record.Name{Kind: record.KindNote, ID: "a.md"},
		Body:   record.DigestOf(nil),
		Time:   time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC),
		Source: record.SourceCapture,
	}
}

// full is a record with every field.
func full() *record.Record {
	exit := -1
	return &record.Record{
		Origin:       origin,
		Name:         record.Name{Tree: "lib", Kind: record.KindResult, ID: "conv-1/call 1.md"},
		Path:         "agent_tool_results/conv-1/call 1.md",
		Body:         record.DigestOf([]byte("the finding\n")),
		Size:         12,
		MediaType:    "text/markdown",
		Prev:         record.RefOf([]byte("before")),
		Time:         time.Date(2026, 3, 2, 10, 0, 0, 123456789, time.UTC),
		Written:      time.Date(2025, 2, 19, 0, 0, 0, 0, time.UTC),
		Agent:        "web_researcher",
		Conversation: "conv-1",
		Session:      "s-1",
		Run:          "run-2026-03-02-1",
		Loop:         "1",
		Task:         "task-003",
		Status:       "done",
		Exit:         &exit,
		Tags:         []string{"größe", "jwt"},
		Links:        []record.Link{{Type: "supersedes", Target: "note/a b"}, {Type: "supersedes", Target: "note/c"}},
		From:         []record.Ref{record.RefOf([]byte("2")), record.RefOf([]byte("1"))},
		Source:       record.SourceExec,
	}
}

const minimalText = `filebus record 1
origin 32 000102030405060708090a0b0c0d0e0f
kind 4 note
id 4 a.md
body 64 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
size 1 0
time 30 2026-03-02T10:00:00.000000000Z
source 7 capture
`

const fullText = `filebus record 1
origin 32 000102030405060708090a0b0c0d0e0f
tree 3 lib
kind 6 result
id 16 conv-1/call 1.md
path 35 agent_tool_results/conv-1/call 1.md
body 64 8d6ad4422452de350658a2e08cf4d64366e6963878fd9320b3b0f9b1ef210ef9
size 2 12
media 13 text/markdown
prev 64 6db7d803e74f1ffa7d8f5adc0bf95b3e15bf4c8373fffadf546227cc6c6742cb
time 30 2026-03-02T10:00:00.123456789Z
written 30 2025-02-19T00:00:00.000000000Z
agent 14 web_researcher
conversation 6 conv-1
session 3 s-1
run 16 run-2026-03-02-1
loop 1 1
task 8 task-003
status 4 done
exit 2 -1
tag 7 größe
tag 3 jwt
link 19 supersedes note/a b
link 17 supersedes note/c
from 64 d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35
from 64 6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b
source 4 exec
`

func TestEncodeGolden(t *testing.T) {
	old := full()
	old.Written = time.Time{}
	oldText := strings.Replace(fullText, "written 30 2025-02-19T00:00:00.000000000Z\n", "", 1)
	for _, test := range []struct {
		label, ref, text string
		record           *record.Record
	}{
		{"minimal", "0ca9e32540844625d5f4a5a8a51d408e6b6e4ce7e78b5e6559fb61a416d8ac7a", minimalText, minimal()},
		{"full", "54c3e804cce0a86a17495ef2344611576def6cfdffafe380f4c417b21edb8a2f", fullText, full()},
		{"without what schema 3 added", "4de74153aa0c3282086baca50ed923a425945dde8d332a1640f1c917a51ea035", oldText, old},
	} {
		t.Run(test.label, func(t *testing.T) {
			got := test.record.Encode()
			if diff := cmp.Diff(test.text, string(got)); diff != "" {
				t.Errorf("Encode (-want +got):\n%s", diff)
			}
			if got := test.record.Ref().String(); got != test.ref {
				t.Errorf("Ref = %s, want %s", got, test.ref)
			}
			decoded, err := record.Decode([]byte(test.text))
			if err != nil {
				t.Fatalf("Decode: %v", err)
			}
			if diff := cmp.Diff(test.record, decoded); diff != "" {
				t.Errorf("Decode (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEncodeSameInstant shows that the ref does not depend on the time zone in
// which a time is held.
func TestEncodeSameInstant(t *testing.T) {
	there := minimal()
	there.Time = there.Time.In(time.FixedZone("UTC+5:30", 19800))
	if got, want := there.Ref(), minimal().Ref(); got != want {
		t.Errorf("Ref in another time zone = %v, want %v", got, want)
	}
}

func TestEveryFieldChangesTheRef(t *testing.T) {
	exit := 0
	seen := map[record.Ref]string{full().Ref(): "none"}
	for label, edit := range map[string]func(r *record.Record){
		"origin": func(r *record.Record) { r.Origin = "ff0102030405060708090a0b0c0d0e0f" },
		"tree":   func(r *record.Record) { r.Name.Tree = "" }, "kind": func(r *record.Record) { r.Name.Kind = "note" },
		"id": func(r *record.Record) { r.Name.ID += "2" }, "path": func(r *record.Record) { r.Path = "" },
		"body": func(r *record.Record) { r.Body[0]++ }, "size": func(r *record.Record) { r.Size++ },
		"media": func(r *record.Record) { r.MediaType = "" }, "prev": func(r *record.Record) { r.Prev[31]++ },
		"time": func(r *record.Record) { r.Time = r.Time.Add(1) }, "agent": func(r *record.Record) { r.Agent = "x" },
		"written":      func(r *record.Record) { r.Written = r.Written.Add(1) },
		"conversation": func(r *record.Record) { r.Conversation = "x" }, "session": func(r *record.Record) { r.Session = "x" },
		"run": func(r *record.Record) { r.Run = "x" }, "loop": func(r *record.Record) { r.Loop = "x" },
		"task": func(r *record.Record) { r.Task = "x" }, "status": func(r *record.Record) { r.Status = "x" },
		"exit": func(r *record.Record) { r.Exit = &exit }, "no exit": func(r *record.Record) { r.Exit = nil },
		"tag": func(r *record.Record) { r.Tags = r.Tags[1:] }, "link": func(r *record.Record) { r.Links = r.Links[1:] },
		"order of from": func(r *record.Record) { r.From[0], r.From[1] = r.From[1], r.From[0] },
		"source":        func(r *record.Record) { r.Source = record.SourcePut },
	} {
		r := full()
		edit(r)
		if other, taken := seen[r.Ref()]; taken {
			t.Errorf("changing %s gives the same ref as changing %s", label, other)
		}
		seen[r.Ref()] = label
	}
}

// edited returns the minimal encoding with the first old replaced by new.
func edited(t *testing.T, text, old, new string) string {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Fatalf("the encoding holds no %q", old)
	}
	return strings.Replace(text, old, new, 1)
}

// refuses edits the minimal encoding, the first text to the second, and wants an
// error from Decode that holds a text.
func refuses(t *testing.T, want string, edits map[string][2]string) {
	t.Helper()
	for label, change := range edits {
		t.Run(label, func(t *testing.T) {
			text := edited(t, minimalText, change[0], change[1])
			r, err := record.Decode([]byte(text))
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Decode(%q)\n= %+v, %v; want an error with %q", text, r, err, want)
			}
		})
	}
}

func TestDecodeUnknownField(t *testing.T) {
	refuses(t, "", map[string][2]string{
		"between":     {"kind 4 note\n", "color 3 red\nkind 4 note\n"},
		"in the tail": {"source 7", "color 3 red\nsource 7"},
		"at the end":  {"capture\n", "capture\ncolor 3 red\n"},
		"upper case":  {"kind 4", "Kind 4"},
		"empty key":   {"kind 4", " 4"},
	})
}

func TestDecodeMisordered(t *testing.T) {
	refuses(t, "", map[string][2]string{
		"size before body":  {"kind 4 note\n", "size 1 0\nkind 4 note\n"},
		"id before kind":    {"kind 4 note\nid 4 a.md\n", "id 4 a.md\nkind 4 note\n"},
		"tag after source":  {"capture\n", "capture\ntag 1 a\n"},
		"agent before time": {"time 30", "agent 1 a\ntime 30"},
		"tree after kind":   {"id 4", "tree 3 lib\nid 4"},
	})
}

func TestDecodeRepeated(t *testing.T) {
	refuses(t, "", map[string][2]string{
		"origin": {"kind 4", "origin 32 000102030405060708090a0b0c0d0e0f\nkind 4"},
		"id":     {"body 64", "id 4 a.md\nbody 64"},
		"agent":  {"source 7", "agent 1 a\nagent 1 a\nsource 7"},
		"exit":   {"source 7", "exit 1 0\nexit 1 0\nsource 7"},
		"tag":    {"source 7", "tag 1 a\ntag 1 a\nsource 7"},
		"source": {"capture\n", "capture\nsource 7 capture\n"},
	})
}

func TestDecodeWrongLength(t *testing.T) {
	refuses(t, "length", map[string][2]string{
		"too short":     {"id 4 a.md", "id 3 a.md"},
		"too long":      {"id 4 a.md", "id 5 a.md"},
		"past the end":  {"source 7", "source 9"},
		"far past it":   {"source 7", "source 2147483647"},
		"over 31 bits":  {"id 4 a.md", "id 4294967300 a.md"},
		"over 64 bits":  {"id 4 a.md", "id 18446744073709551620 a.md"},
		"negative":      {"id 4 a.md", "id -4 a.md"},
		"not a number":  {"id 4 a.md", "id x a.md"},
		"empty":         {"id 4 a.md", "id  a.md"},
		"none":          {"capture\n", "capture\ntag 1"},
		"hexadecimal":   {"id 4 a.md", "id 0x4 a.md"},
		"an underscore": {"origin 32", "origin 3_2"},
	})
}

func TestDecodeLengthNotCanonical(t *testing.T) {
	refuses(t, "", map[string][2]string{
		"leading zero": {"id 4 a.md", "id 04 a.md"},
		"zeros":        {"size 1 0", "size 01 0"},
		"plus":         {"id 4 a.md", "id +4 a.md"},
	})
}

func TestDecodeValueNotCanonical(t *testing.T) {
	refuses(t, "", map[string][2]string{
		"size with plus":   {"size 1 0", "size 2 +0"},
		"size with zero":   {"size 1 0", "size 2 00"},
		"size below zero":  {"size 1 0", "size 2 -1"},
		"size not decimal": {"size 1 0", "size 3 0x0"},
		"size too great":   {"size 1 0", "size 19 9223372036854775808"},
		"exit with plus":   {"source 7", "exit 2 +1\nsource 7"},
		"exit minus zero":  {"source 7", "exit 2 -0\nsource 7"},
		"exit a word":      {"source 7", "exit 4 fail\nsource 7"},
		"upper-case hex":   {"body 64 e3b0", "body 64 E3B0"},
		"short digest":     {"body 64 e3b0", "body 63 3b0"},
		"not hex":          {"body 64 e3b0", "body 64 g3b0"},
		"prev of zeros":    {"time 30", "prev 64 " + zeros + "\ntime 30"},
		"prev malformed":   {"time 30", "prev 2 ab\ntime 30"},
		"from malformed":   {"source 7", "from 2 ab\nsource 7"},
		"empty path":       {"body 64", "path 0 \nbody 64"},
		"empty tag":        {"source 7", "tag 0 \nsource 7"},
		"empty tree":       {"kind 4", "tree 0 \nkind 4"},
		"unsorted tags":    {"source 7", "tag 1 b\ntag 1 a\nsource 7"},
		"unsorted links":   {"source 7", "link 3 b x\nlink 3 a x\nsource 7"},
		"bare link":        {"source 7", "link 1 a\nsource 7"},
		"link of no type":  {"source 7", "link 2  a\nsource 7"},
		"time offset":      {"time 30 2026-03-02T10:00:00.000000000Z", "time 35 2026-03-02T10:00:00.000000000+00:00"},
		"time in seconds":  {"time 30 2026-03-02T10:00:00.000000000Z", "time 20 2026-03-02T10:00:00Z"},
		"no such day":      {"2026-03-02", "2026-02-30"},
		"the zero time":    {"2026-03-02T10", "0001-01-01T00"},
		"unknown kind":     {"kind 4 note", "kind 4 nota"},
		"unknown source":   {"capture", "copying"},
		"bad origin":       {"origin 32 00", "origin 32 zz"},
		"id with ..":       {"id 4 a.md", "id 4 ../a"},
		"absolute path":    {"body 64", "path 2 /a\nbody 64"},
		"agent with LF":    {"source 7", "agent 3 a\nb\nsource 7"},
		"tree with a /":    {"kind 4", "tree 3 a/b\nkind 4"},
	})
}

func TestDecodeTrailingBytes(t *testing.T) {
	refuses(t, "", map[string][2]string{
		"a line feed": {"capture\n", "capture\n\n"},
		"a NUL":       {"capture\n", "capture\n\x00"},
		"a word":      {"capture\n", "capture\nend"},
		"a space":     {"capture\n", "capture\n "},
	})
}

func TestDecodeMissing(t *testing.T) {
	refuses(t, "missing", map[string][2]string{
		"origin": {"origin 32 000102030405060708090a0b0c0d0e0f\n", ""},
		"kind":   {"kind 4 note\n", ""},
		"id":     {"id 4 a.md\n", ""},
		"body":   {"body 64 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n", ""},
		"size":   {"size 1 0\n", ""},
		"time":   {"time 30 2026-03-02T10:00:00.000000000Z\n", ""},
		"source": {"source 7 capture\n", ""},
	})
}

func TestDecodeHeader(t *testing.T) {
	refuses(t, "header", map[string][2]string{
		"none":            {"filebus record 1\n", ""},
		"another version": {"record 1\n", "record 2\n"},
		"a BOM before":    {"filebus", "\ufefffilebus"},
		"CR LF":           {"record 1\n", "record 1\r\n"},
		"no line feed":    {"record 1\n", "record 1"},
	})
}

// TestDecodeCut cuts an encoding short at every byte.
func TestDecodeCut(t *testing.T) {
	for n := range len(fullText) {
		if r, err := record.Decode([]byte(fullText[:n])); err == nil {
			t.Errorf("Decode of the first %d bytes = %+v, want an error", n, r)
		}
	}
}

// TestValidMeansReadable holds Validate against Decode at the edges of what a
// field may hold: whatever is valid must come back.
func TestValidMeansReadable(t *testing.T) {
	long := strings.Repeat("w", 1024)
	for label, test := range map[string]struct {
		valid bool
		edit  func(r *record.Record)
	}{
		"as it is":               {true, func(*record.Record) {}},
		"longest word":           {true, func(r *record.Record) { r.Agent = long }},
		"word too long":          {false, func(r *record.Record) { r.Agent = long + "w" }},
		"media with a tab":       {false, func(r *record.Record) { r.MediaType = "a\tb" }},
		"word of invalid UTF-8":  {true, func(r *record.Record) { r.Status = "\xff\xfe" }},
		"longest tag":            {true, func(r *record.Record) { r.Tags = []string{long} }},
		"tag too long":           {false, func(r *record.Record) { r.Tags = []string{long + "w"} }},
		"equal tags":             {false, func(r *record.Record) { r.Tags = []string{"a", "a"} }},
		"tag with NUL":           {false, func(r *record.Record) { r.Tags = []string{"a\x00"} }},
		"longest path":           {true, func(r *record.Record) { r.Path = strings.Repeat("p", record.MaxID) }},
		"path too long":          {false, func(r *record.Record) { r.Path = strings.Repeat("p", record.MaxID+1) }},
		"path of any bytes":      {true, func(r *record.Record) { r.Path = "a\nb/\xff \\ ü" }},
		"link to nothing":        {true, func(r *record.Record) { r.Links = []record.Link{{Type: "a"}} }},
		"link with a line feed":  {true, func(r *record.Record) { r.Links = []record.Link{{Type: "a", Target: "b\nc d"}} }},
		"link type with a space": {false, func(r *record.Record) { r.Links = []record.Link{{Type: "a b", Target: "c"}} }},
		"link target with NUL":   {false, func(r *record.Record) { r.Links = []record.Link{{Type: "a", Target: "\x00"}} }},
		"greatest size":          {true, func(r *record.Record) { r.Size = 1<<63 - 1 }},
		"last year":              {true, func(r *record.Record) { r.Time = time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC) }},
		"year 10000":             {false, func(r *record.Record) { r.Time = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }},
		"before year 0":          {false, func(r *record.Record) { r.Time = time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC) }},
		"no time":                {false, func(r *record.Record) { r.Time = time.Time{} }},
		"no origin":              {false, func(r *record.Record) { r.Origin = "" }},
		"no source":              {false, func(r *record.Record) { r.Source = "" }},
		"negative size":          {false, func(r *record.Record) { r.Size = -1 }},
	} {
		r := minimal()
		test.edit(r)
		if err := r.Validate(); (err == nil) != test.valid {
			t.Errorf("%s: Validate = %v, want valid %v", label, err, test.valid)
			continue
		}
		if !test.valid {
			continue
		}
		decoded, err := record.Decode(r.Encode())
		if err != nil {
			t.Errorf("%s: valid, but Decode = %v", label, err)
			continue
		}
		if diff := cmp.Diff(r, decoded); diff != "" {
			t.Errorf("%s: Decode(Encode) (-want +got):\n%s", label, diff)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(minimalText))
	f.Add([]byte(fullText))
	f.Add([]byte("filebus record 1\n"))
	f.Add([]byte("filebus record 1\norigin 32 "))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := record.Decode(data)
		if err != nil {
			return
		}
		if got := r.Encode(); string(got) != string(data) {
			t.Errorf("Encode(Decode(%q)) = %q", data, got)
		}
		if got, want := r.Ref(), record.RefOf(data); got != want {
			t.Errorf("Ref = %v, want %v", got, want)
		}
	})
}

func TestTime(t *testing.T) {
	zone := time.FixedZone("", -3600)
	for _, test := range []struct {
		time time.Time
		want string
	}{
		{time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC), "2026-03-02T10:00:00.000000000Z"},
		{time.Date(2026, 12, 31, 23, 30, 0, 1, zone), "2027-01-01T00:30:00.000000001Z"},
		{time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), "0001-01-01T00:00:00.000000000Z"},
	} {
		got := record.FormatTime(test.time)
		if got != test.want {
			t.Errorf("FormatTime(%v) = %s, want %s", test.time, got, test.want)
		}
		if back, err := record.ParseTime(got); err != nil || !back.Equal(test.time) {
			t.Errorf("ParseTime(%s) = %v, %v; want %v", got, back, err, test.time)
		}
	}
	for _, text := range []string{
		"", "now", "2026-03-02", "2026-03-02T10:00:00Z", "2026-03-02T10:00:00.000Z", "2026-03-02T10:00:00.0000000000Z",
		"2026-03-02T10:00:00.000000000+01:00", "2026-03-02t10:00:00.000000000Z", "2026-03-02 10:00:00.000000000Z",
		"2026-03-02T10:00:60.000000000Z", "2026-03-02T24:00:00.000000000Z", "2026-03-02T10:00:00,000000000Z",
		" 2026-03-02T10:00:00.000000000Z", "2026-03-02T10:00:00.000000000Z\n", "12026-03-02T10:00:00.000000000Z",
	} {
		if got, err := record.ParseTime(text); err == nil {
			t.Errorf("ParseTime(%q) = %v, want an error", text, got)
		}
	}
}

func TestRefOf(t *testing.T) {
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // FIPS 180-4
	if got := record.RefOf([]byte("abc")).String(); got != abc {
		t.Errorf("RefOf(abc) = %s, want %s", got, abc)
	}
	if got := record.DigestOf([]byte("abc")); hex.EncodeToString(got[:]) != abc {
		t.Errorf("DigestOf(abc) = %x, want %s", got, abc)
	}
}

func BenchmarkEncode(b *testing.B) {
	for label, r := range map[string]*record.Record{"minimal": minimal(), "full": full()} {
		b.Run(label, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Encode()
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for label, r := range map[string]*record.Record{"minimal": minimal(), "full": full()} {
		data := r.Encode()
		b.Run(label, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := record.Decode(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
