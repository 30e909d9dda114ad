package remote

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"filebus/store/bundle"
	"filebus/store/record"
)

// A Label is what people call a store, such as the name of its host: one line of 1 to 64 bytes
// in which nothing is hidden.
type Label string

// ParseLabel reads a label.
func ParseLabel(text string) (Label, error) {
	if text == "" || len(text) > 64 || !utf8.ValidString(text) || strings.ContainsFunc(text, record.IsHidden) || strings.TrimSpace(text) != text {
		return "", record.Usage.Errorf("%.80q is no label: it is one line of at most 64 bytes, without control characters", text)
	}
	return Label(text), nil
}

// A State is what a store says of itself in a remote.
type State struct {
	Origin record.StoreID
	Label  Label
	Time   time.Time    // by the store's own clock, which may be wrong
	At     bundle.Place // the end of the store's log
	Erased uint64       // what was destroyed up to this position of its log is in its blobs no more
	Left   bool         // the store has left the remote and will do nothing more
	Heard  []Heard      // of every other store that it knows, in the order of the ids
}

// A Heard is how far a store has the log of another one.
type Heard struct {
	Origin record.StoreID
	bundle.Place
}

// position returns how far the log of a store was heard; 0: not at all.
func position(all []Heard, origin record.StoreID) uint64 {
	at := slices.IndexFunc(all, func(h Heard) bool { return h.Origin == origin })
	if at < 0 {
		return 0
	}
	return all[at].Position
}

func parseHeard(text string) (h Heard, err error) {
	origin, place, _ := strings.Cut(text, " ")
	if h.Origin, err = record.ParseStoreID(origin); err == nil {
		h.Place, err = bundle.ParsePlace(place)
	}
	return h, err
}

// Encode returns the canonical text: the content of a blob of KindState.
func (s *State) Encode() ([]byte, error) {
	text := s.encode()
	_, err := ParseState(text) // which knows the rules
	return text, err
}

func (s *State) encode() []byte {
	text := appendFields([]byte("filebus state "+version), "origin", string(s.Origin), "label", string(s.Label),
		"time", record.FormatTime(s.Time), "at", s.At.String(), "erased", strconv.FormatUint(s.Erased, 10))
	if s.Left {
		text = appendFields(text, "left", "yes")
	}
	for _, h := range s.Heard {
		text = appendFields(text, "heard", string(h.Origin)+" "+h.Place.String())
	}
	return text
}

// ParseState reads what Encode wrote, and nothing else.
func ParseState(state []byte) (*State, error) {
	r := readFields("the state of a store", "filebus state ", string(state))
	s := &State{
		Origin: field(r, "origin", record.ParseStoreID),
		Label:  field(r, "label", ParseLabel),
		Time:   field(r, "time", record.ParseTime),
		At:     field(r, "at", bundle.ParsePlace),
		Erased: field(r, "erased", func(digits string) (uint64, error) { return strconv.ParseUint(digits, 10, 64) }),
	}
	isWrong := s.Erased > s.At.Position
	if r.has("left") {
		s.Left = field(r, "left", text) != ""
	}
	for r.has("heard") {
		h := field(r, "heard", parseHeard)
		isWrong = isWrong || h.Origin == s.Origin || len(s.Heard) > 0 && h.Origin <= s.Heard[len(s.Heard)-1].Origin
		s.Heard = append(s.Heard, h)
	}
	err := r.end()
	if err == nil && (isWrong || !bytes.Equal(s.encode(), state)) {
		err = malformed(r.what, "its fields contradict each other, or are not as they are written")
	}
	if err != nil {
		return &State{}, err
	}
	return s, nil
}
