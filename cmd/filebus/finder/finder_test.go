package finder

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gdamore/tcell/v3"
	"github.com/gdamore/tcell/v3/vt"
	"github.com/google/go-cmp/cmp"

	"filebus/query"
	"filebus/store/record"
)

// A fakeSource finds the notes whose text has the typed word.
type fakeSource struct {
	mu       sync.Mutex
	texts    []string // of note/0, note/1, ...
	searches []string // that were run to their end
	hold     chan struct{}
	changed  bool
	err      error
}

func (s *fakeSource) Search(ctx context.Context, typed string, limit int) (query.SearchAnswer, error) {
	if s.hold != nil {
		select {
		case <-s.hold:
		case <-ctx.Done():
			return query.SearchAnswer{}, ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.searches = append(s.searches, typed)
	var answer query.SearchAnswer
	for i, text := range s.texts {
		if !strings.Contains(text, typed) {
			continue
		}
		if answer.Total++; len(answer.Hits) < limit {
			answer.Hits = append(answer.Hits, query.Hit{
				Name: record.Name{Kind: record.KindNote, ID: fmt.Sprint(i)}, Ref: record.ShortRef{byte(i)},
				Title: firstLine(text),
				Lines: query.Span{From: 1, To: 2}, Path: fmt.Sprint(i), Tokens: 7, Time: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC),
			})
		}
	}
	return answer, s.err
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func (s *fakeSource) Text(_ context.Context, typed string, hit query.Hit, whole bool) (Text, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.texts[hit.Ref[0]]
	if !whole {
		lines := strings.SplitAfter(text, "\n")
		text = strings.Join(lines[:min(2, len(lines))], "")
	}
	t := Text{Body: []byte(text), Line: 1}
	if at := strings.Index(text, typed); at >= 0 && typed != "" {
		t.Marks = []query.ByteRun{{Start: at, End: at + len(typed)}}
	}
	return t, nil
}

func (s *fakeSource) Refresh(context.Context) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := s.changed
	s.changed = false
	return changed, nil
}

// A desk is a finder on a terminal that is not one. Its time is that of synctest,
// which passes at once.
type desk struct {
	*testing.T
	term vt.MockTerm
	size vt.Coord
	done chan struct{}

	choice Choice
	err    error
}

func newDesk(t *testing.T, source Source, width, height int, opts Options) *desk {
	t.Helper()
	d := &desk{T: t, size: vt.Coord{X: vt.Col(width), Y: vt.Row(height)}, done: make(chan struct{})}
	d.term = vt.NewMockTerm(vt.MockOptSize(d.size))
	// A busy machine must not take an arrow key for an Escape and the rest of it.
	screen, err := tcell.NewTerminfoScreenFromTty(d.term, tcell.OptSanitizeContent(true), tcell.OptEscapeTimeout(500*time.Millisecond))
	if err == nil {
		err = screen.Init()
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(d.done)
		d.choice, d.err = run(ctx, source, screen, opts)
	}()
	t.Cleanup(func() {
		cancel()
		<-d.done
	})
	return d
}

// screen returns the rows of the terminal without the spaces at their ends.
func (d *desk) screen() string {
	var rows []string
	for y := range d.size.Y {
		var row strings.Builder
		for x := vt.Col(0); x < d.size.X; x++ {
			c := d.term.GetCell(vt.Coord{X: x, Y: y})
			row.WriteString(c.C)
			if c.C == "" {
				row.WriteByte(' ')
			}
			if c.W == 2 {
				x++
			}
		}
		rows = append(rows, strings.TrimRight(row.String(), " "))
	}
	return strings.Join(rows, "\n")
}

// waitFor waits until the screen satisfies a condition.
func (d *desk) waitFor(what string, ok func(screen string) bool) string {
	d.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if screen := d.screen(); ok(screen) {
			return screen
		} else if time.Now().After(end) {
			d.Fatalf("the screen never has %s:\n%s", what, screen)
		}
	}
}

func (d *desk) waitText(text string) string {
	d.Helper()
	return d.waitFor(fmt.Sprintf("%q", text), func(screen string) bool { return strings.Contains(screen, text) })
}

func (d *desk) send(keys string) { d.term.SendRaw([]byte(keys)) }

// end waits for the finder's end.
func (d *desk) end() (Choice, error) {
	d.Helper()
	select {
	case <-d.done:
	case <-time.After(time.Minute):
		d.Fatalf("the finder does not end:\n%s", d.screen())
	}
	return d.choice, d.err
}

// leave presses Escape until the finder ends: one that comes together with what the
// terminal says of its size counts for a part of that.
func (d *desk) leave() {
	d.Helper()
	for range 100 {
		d.send(keyEscape)
		select {
		case <-d.done:
			if !errors.Is(d.err, ErrCancelled) {
				d.Errorf("after Escape: %v; want that nothing was chosen", d.err)
			}
			return
		case <-time.After(2 * time.Second):
		}
	}
	d.Fatalf("the finder does not end:\n%s", d.screen())
}

// What terminals send.
const (
	keyDown   = "\x1b[B"
	keyEnter  = "\r"
	keyEscape = "\x1b"
	keyTab    = "\t"
)

func zoo() *fakeSource {
	return &fakeSource{texts: []string{
		"The lion\nroars loudly\nall night", "The zebra\nruns", "The lioness\nhunts", "Dull \x1b[31mred\x1b[0m\x07 text\nwith \u202eturned\x9b words",
		"漢字漢字漢字 wide\n漢字 👩‍🚀 wide", "One\twith tabs\nand\ttabs",
	}}
}

func TestHeadingOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ title, section, want string }{
		{"", "", "text"},
		{"Birds", "", "Birds"},
		{"", "Heron", "Heron"},
		{"Birds", "Heron", "Birds > Heron"},
		{"Birds of the lake", "Birds", "Birds of the lake"},
		{"Birds", "B-2: Birds", "B-2: Birds"},
	} {
		hit := query.Hit{Title: test.title, Section: test.section, Snippet: query.Snippet{Text: "text"}}
		if got := headingOf(&hit); got != test.want {
			t.Errorf("heading of title %q and section %q is %q; want %q", test.title, test.section, got, test.want)
		}
	}
}

func TestTypeAndChoose(t *testing.T) { synctest.Test(t, testTypeAndChoose) }

func testTypeAndChoose(t *testing.T) {
	d := newDesk(t, zoo(), 80, 24, Options{})
	d.waitText("1/6")
	d.send("lion")
	d.waitFor("two hits", func(s string) bool { return strings.Contains(s, "1/2") && strings.Contains(s, "roars") })
	d.send(keyDown)
	// The text of the second hit may stand in the list before it is chosen.
	d.waitFor("the second hit, and no zebra", func(s string) bool {
		return strings.HasPrefix(s, "> lion\n2/2") && strings.Contains(s, "hunts") && !strings.Contains(s, "zebra")
	})
	d.send(keyEnter)
	choice, err := d.end()
	if err != nil || choice.Hit.Name.ID != "2" || choice.Ref {
		t.Errorf("choice = %+v, %v; want note/2", choice, err)
	}
}

func TestLeave(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, keys string
		want       error
		ref        bool
	}{
		{"escape", keyEscape, ErrCancelled, false},
		{"ctrl-c", "\x03", ErrCancelled, false},
		{"ctrl-o", "\x0f", nil, true},
		{"alt-enter", "\x1b\r", nil, true},
		{"enter", keyEnter, nil, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t, zoo(), 80, 24, Options{Typed: "zebra"})
				d.waitText("1/1")
				d.send(test.keys)
				choice, err := d.end()
				if !errors.Is(err, test.want) || choice.Ref != test.ref {
					t.Errorf("after %q: %+v, %v; want ref %t, %v", test.keys, choice, err, test.ref, test.want)
				}
			})
		})
	}
}

func TestEnterWithoutHits(t *testing.T) { synctest.Test(t, testEnterWithoutHits) }

func testEnterWithoutHits(t *testing.T) {
	d := newDesk(t, zoo(), 80, 24, Options{Typed: "unicorn"})
	d.waitText("no hits")
	d.send(keyEnter + "s\x15zebra") // nothing to choose: it goes on
	d.waitText("1/1")
	d.send(keyEnter)
	if choice, err := d.end(); err != nil || choice.Hit.Name.ID != "1" {
		t.Errorf("choice = %+v, %v; want note/1", choice, err)
	}
}

// TestEnterBeforeHits presses Enter right behind the text: the choice is of the hits
// for that text, not of those that are still on the screen.
func TestEnterBeforeHits(t *testing.T) { synctest.Test(t, testEnterBeforeHits) }

func testEnterBeforeHits(t *testing.T) {
	source := zoo()
	source.hold = make(chan struct{})
	d := newDesk(t, source, 80, 24, Options{Typed: "lion"})
	source.hold <- struct{}{}
	d.waitText("1/2")
	d.send("\x15zebra" + keyEnter)
	d.waitText("> zebra")
	close(source.hold)
	if choice, err := d.end(); err != nil || choice.Hit.Name.ID != "1" {
		t.Errorf("choice = %+v, %v; want note/1", choice, err)
	}
}

func TestWhole(t *testing.T) { synctest.Test(t, testWhole) }

func testWhole(t *testing.T) {
	d := newDesk(t, zoo(), 80, 24, Options{Typed: "lion"})
	if screen := d.waitText("roars"); strings.Contains(screen, "all night") {
		t.Errorf("the section has more than its lines:\n%s", screen)
	}
	d.send(keyTab)
	d.waitText("all night")
	d.send(keyTab)
	d.waitFor("the section alone", func(s string) bool { return !strings.Contains(s, "all night") })
}

// TestScreens draws at many sizes, while the window changes: nothing may panic, and
// no control character of a text may get to a cell.
func TestScreens(t *testing.T) { synctest.Test(t, testScreens) }

func testScreens(t *testing.T) {
	for _, typed := range []string{"", "Dull", "wide", "tabs"} {
		d := newDesk(t, zoo(), 80, 24, Options{Typed: typed})
		d.waitText("1/")
		for _, size := range []vt.Coord{{X: 1, Y: 1}, {X: 2, Y: 3}, {X: 9, Y: 40}, {X: 40, Y: 9}, {X: 109, Y: 12}, {X: 200, Y: 60}, {X: 80, Y: 24}} {
			d.size = size
			d.term.SetSize(size)
			d.send(keyDown)
			screen := d.waitFor("the prompt", func(s string) bool { return strings.HasPrefix(s, ">") })
			for _, r := range strings.ReplaceAll(screen, "\n", "") {
				if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e' {
					t.Errorf("%q at %v: the screen has %q:\n%s", typed, size, r, screen)
				}
			}
		}
		d.leave()
	}
}

// TestTypingDoesNotWait types while a search hangs: the letters appear, and the
// search is told to end.
func TestTypingDoesNotWait(t *testing.T) { synctest.Test(t, testTypingDoesNotWait) }

func testTypingDoesNotWait(t *testing.T) {
	source := zoo()
	source.hold = make(chan struct{})
	d := newDesk(t, source, 80, 24, Options{})
	for _, letter := range "zebra" {
		d.send(string(letter))
		time.Sleep(2 * debounce)
	}
	d.waitText("> zebra")
	close(source.hold)
	d.waitText("1/1")
	source.mu.Lock()
	defer source.mu.Unlock()
	if last := source.searches[len(source.searches)-1]; last != "zebra" || len(source.searches) > 2 {
		t.Errorf("searches = %q; want that of zebra, and at most one before", source.searches)
	}
}

func TestRefresh(t *testing.T) { synctest.Test(t, testRefresh) }

func testRefresh(t *testing.T) {
	source := zoo()
	d := newDesk(t, source, 80, 24, Options{Typed: "yak"})
	d.waitText("no hits")
	source.mu.Lock()
	source.texts = append(source.texts, "The yak\nis new")
	source.changed = true
	source.mu.Unlock()
	d.waitText("is new")
}

func TestFailure(t *testing.T) { synctest.Test(t, testFailure) }

func testFailure(t *testing.T) {
	source := zoo()
	source.err = errors.New("the store\nis \x1b[31mgone")
	d := newDesk(t, source, 80, 24, Options{})
	d.waitText("the store is [31mgone")
	d.send("x")
	d.waitText("> x")
}

func TestPaste(t *testing.T) { synctest.Test(t, testPaste) }

func testPaste(t *testing.T) {
	d := newDesk(t, zoo(), 80, 24, Options{})
	d.waitText("1/6")
	d.send("\x1b[200~The\rzebra\x1b[201~")
	screen := d.waitText("1/1")
	if diff := cmp.Diff("> The zebra", firstLine(screen)); diff != "" {
		t.Errorf("after a paste (-want +got):\n%s", diff)
	}
}

// TestMany goes down a list that is longer than what was found at first.
func TestMany(t *testing.T) { synctest.Test(t, testMany) }

func testMany(t *testing.T) {
	source := &fakeSource{}
	for i := range 200 {
		source.texts = append(source.texts, fmt.Sprintf("Text %d", i))
	}
	d := newDesk(t, source, 80, 24, Options{})
	d.waitText("1/200")
	for n := 2; n <= 150; n++ {
		d.send(keyDown)
		d.waitText(fmt.Sprintf("%d/200", n))
	}
	d.send(keyEnter)
	if choice, err := d.end(); err != nil || choice.Hit.Name.ID != "149" {
		t.Errorf("choice = %v, %v; want note/149", choice.Hit.Name, err)
	}
}

func TestContextEnds(t *testing.T) { synctest.Test(t, testContextEnds) }

func testContextEnds(t *testing.T) {
	term := vt.NewMockTerm()
	screen, err := tcell.NewTerminfoScreenFromTty(term)
	if err == nil {
		err = screen.Init()
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := run(ctx, zoo(), screen, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("run with a context that is over: %v", err)
	}
}
