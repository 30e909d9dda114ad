package remote_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize/remote"
	"filebus/store/bundle"
	"filebus/store/record"
)

func place(position uint64) bundle.Place {
	return bundle.Place{Position: position, Chain: record.DigestOf([]byte{byte(position)})}
}

func someState() *remote.State {
	return &remote.State{
		Origin: storeA, Label: "laptop of ü", Time: time.Date(2026, 3, 2, 10, 0, 0, 1, time.UTC), At: place(12), Erased: 7, Left: true,
		Heard: []remote.Heard{{Origin: storeB, Place: place(3)}, {Origin: "cccccccccccccccccccccccccccccccc", Place: place(4)}},
	}
}

// stateText is what someState encodes to.
func stateText() string {
	return "filebus state 1\norigin 32 " + string(storeA) + "\nlabel 12 laptop of ü\ntime 30 2026-03-02T10:00:00.000000001Z\nat 67 " + place(12).String() +
		"\nerased 1 7\nleft 3 yes\nheard 99 " + string(storeB) + " " + place(3).String() + "\nheard 99 cccccccccccccccccccccccccccccccc " + place(4).String() + "\n"
}

func TestState(t *testing.T) {
	t.Parallel()
	for label, edit := range map[string]func(*remote.State){
		"all":             func(*remote.State) {},
		"nothing heard":   func(s *remote.State) { s.Heard, s.Left = nil, false },
		"nothing done":    func(s *remote.State) { s.At, s.Erased = place(0), 0 },
		"a clock far off": func(s *remote.State) { s.Time = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC) },
		"longest label":   func(s *remote.State) { s.Label = remote.Label(strings.Repeat("x", 64)) },
	} {
		s := someState()
		edit(s)
		text, err := s.Encode()
		if err != nil {
			t.Errorf("%s: Encode: %v", label, err)
			continue
		}
		got, err := remote.ParseState(text)
		if err != nil {
			t.Errorf("%s: ParseState: %v", label, err)
		}
		if diff := cmp.Diff(s, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", label, diff)
		}
		if label == "all" && string(text) != stateText() {
			t.Errorf("Encode = %q\nwant %q", text, stateText())
		}
	}
}

func TestStateRefuses(t *testing.T) {
	t.Parallel()
	for label, edit := range map[string]func(*remote.State){
		"no origin":      func(s *remote.State) { s.Origin = "" },
		"no label":       func(s *remote.State) { s.Label = "" },
		"two lines":      func(s *remote.State) { s.Label = "a\nb" },
		"an escape":      func(s *remote.State) { s.Label = "a\x1b[0m" },
		"turned text":    func(s *remote.State) { s.Label = "a\u202eb" },
		"no UTF-8":       func(s *remote.State) { s.Label = "\xff" },
		"a long label":   func(s *remote.State) { s.Label = remote.Label(strings.Repeat("x", 65)) },
		"a space behind": func(s *remote.State) { s.Label = "a " },
		"no time":        func(s *remote.State) { s.Time = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) },
		"erased ahead":   func(s *remote.State) { s.Erased = 13 },
		"heard itself":   func(s *remote.State) { s.Heard[0].Origin = storeA },
		"heard twice":    func(s *remote.State) { s.Heard[1].Origin = storeB },
		"out of order":   func(s *remote.State) { s.Heard[0], s.Heard[1] = s.Heard[1], s.Heard[0] },
		"heard nobody":   func(s *remote.State) { s.Heard[0].Origin = "" },
	} {
		s := someState()
		edit(s)
		if text, err := s.Encode(); !errors.Is(err, remote.ErrMalformed) {
			t.Errorf("%s: Encode = %q, %v; want that it is malformed", label, text, err)
		}
	}
}

func TestParseStateMalformed(t *testing.T) {
	t.Parallel()
	text := stateText()
	for n := range len(text) {
		// Cut behind the erased position or one of the stores it is a whole state.
		if s, err := remote.ParseState([]byte(text[:n])); err == nil && !strings.HasPrefix(text[n:], "left") && !strings.HasPrefix(text[n:], "heard") {
			t.Errorf("ParseState of the first %d bytes = %+v", n, s)
		}
	}
	for label, edit := range map[string][2]string{
		"erased 07": {"erased 1 7", "erased 2 07"}, "left no": {"left 3 yes", "left 2 no"}, "left twice": {"left 3 yes\n", "left 3 yes\nleft 3 yes\n"},
		"header": {"filebus state ", ""}, "unknown field": {"heard", "herd"}, "more behind": {"yes\n", "yes\nx"}, "time": {"10:00", "25:00"},
		"place": {"at 67 12", "at 67 +2"}, "order": {"label 12 laptop of ü\ntime 30 2026-03-02T10:00:00.000000001Z\n", "time 30 2026-03-02T10:00:00.000000001Z\nlabel 12 laptop of ü\n"},
	} {
		if !strings.Contains(text, edit[0]) {
			t.Fatalf("%s: %q is not in the state", label, edit[0])
		}
		if s, err := remote.ParseState([]byte(strings.Replace(text, edit[0], edit[1], 1))); !errors.Is(err, remote.ErrMalformed) {
			t.Errorf("%s: %+v, %v; want that it is malformed", label, s, err)
		}
	}
	if _, err := remote.ParseState([]byte("filebus state 2\nanything")); !errors.Is(err, record.NewerStore) {
		t.Errorf("a newer state: %v", err)
	}
}

func FuzzParseState(f *testing.F) {
	f.Add([]byte(stateText()))
	f.Add([]byte("filebus state 1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := remote.ParseState(text)
		if err != nil {
			return
		}
		if again, err := s.Encode(); err != nil || !bytes.Equal(again, text) {
			t.Errorf("Encode(ParseState(%q)) = %q, %v", text, again, err)
		}
	})
}
