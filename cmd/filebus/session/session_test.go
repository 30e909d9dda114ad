package session

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// newWorkspace makes a workspace whose store must be sound when the test ends.
func newWorkspace(t testing.TB, settings materialize.Settings, clock func() time.Time) *materialize.Workspace {
	t.Helper()
	dir := t.TempDir()
	at := materialize.Location{Store: filepath.Join(dir, ".filebus"), Main: dir, Root: dir}
	w, err := materialize.Create(t.Context(), at, settings, store.Options{Now: clock, Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		report, err := w.Store.Check(context.Background(), nil)
		if err = errors.Join(err, report.Err()); err != nil {
			t.Errorf("the store after the test: %v", err)
		}
	})
	return w
}

// A bench is a workspace with a clock that stands still until it is moved.
type bench struct {
	t   *testing.T
	dir string
	now time.Time
	w   *materialize.Workspace
	*Sessions
}

func newBench(t *testing.T, profile layout.Profile) *bench {
	t.Helper()
	x := &bench{t: t, now: time.Now().Add(time.Minute)} // files on disk have the machine's time
	clock := func() time.Time { return x.now }
	w := newWorkspace(t, materialize.Settings{Profile: profile}, clock)
	x.w, x.dir = w, w.Root
	x.Sessions = Open(w, query.New(w.Store, query.Options{Now: clock}), clock)
	return x
}

func (x *bench) start(kind, name string) Key {
	x.t.Helper()
	started, err := x.Start(x.t.Context(), kind, name)
	if err != nil {
		x.t.Fatalf("starting %s %q: %v", kind, name, err)
	}
	return started.Key
}

func (x *bench) put(key Key, artifact, text, summary string) *materialize.PutResult {
	x.t.Helper()
	put, err := x.Put(x.t.Context(), key, PutRequest{Artifact: artifact, Text: strings.NewReader(text), Summary: summary, Agent: "Web Tester"})
	if err != nil {
		x.t.Fatalf("putting %s: %v", artifact, err)
	}
	return put
}

func (x *bench) read(key Key) *Session {
	x.t.Helper()
	s, err := x.Read(x.t.Context(), key)
	if err != nil {
		x.t.Fatalf("reading %s: %v", key, err)
	}
	return s
}

// file writes a file below the workspace, as an agent's hand does, that was left
// alone for a minute.
func (x *bench) file(p, text string) string {
	x.t.Helper()
	file := filepath.Join(x.dir, filepath.FromSlash(p))
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o666)); err != nil {
		x.t.Fatal(err)
	}
	return file
}

func (x *bench) sync() {
	x.t.Helper()
	if _, err := x.w.Sync(x.t.Context(), x.dir, materialize.SyncOptions{Announced: true}); err != nil {
		x.t.Fatal(err)
	}
}

// TestStart starts sessions in one second: ids are safe, sort by time, and their
// folders are there.
func TestStart(t *testing.T) {
	t.Parallel()
	for _, profile := range []layout.Profile{layout.Claude(), profileOf("blue")} {
		t.Run(profile.Name, func(t *testing.T) {
			x := newBench(t, profile)
			seen := map[string]bool{}
			for i := range 50 {
				started, err := x.Start(t.Context(), "build", "")
				if err != nil {
					t.Fatal(err)
				}
				id := started.Key.ID
				if seen[id] || strings.Trim(id, "0123456789abcdefghijklmnopqrstuvwxyz-") != "" || !strings.HasPrefix(id, x.now.UTC().Format("20060102-150405-")) {
					t.Errorf("id %d is %q", i, id)
				}
				seen[id] = true
				want := filepath.Join(x.dir, filepath.FromSlash(profile.Sessions), "build", id)
				if info, err := os.Stat(started.Folder); started.Folder != want || err != nil || !info.IsDir() {
					t.Errorf("folder %s, %v; want %s", started.Folder, err, want)
				}
			}
			key := x.start("build", "  Release 1.2: ä ")
			if !strings.HasSuffix(key.ID, "-release-1-2") || x.read(key).Name != "Release 1.2: ä" {
				t.Errorf("named: %s, %+v", key, x.read(key))
			}
		})
	}
}

func TestStartRefused(t *testing.T) {
	t.Parallel()
	x := newBench(t, layout.Claude())
	x.start("pr_reviews", "pr_7")
	tests := []struct {
		kind, name string
		want       string
	}{
		{"", "", " is no "},
		{"Build", "", " is no "},
		{"a/b", "", " is no "},
		{"..", "", " is no "},
		{"a b", "", " is no "},
		{"con", "", " is no "},
		{strings.Repeat("a", 41), "", " is no "},
		{"build", "???", " is no "},
		{"pr_reviews", "pr_7", "is there already"},
	}
	for _, test := range tests {
		_, err := x.Start(t.Context(), test.kind, test.name)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Start(%q, %q): %v, want %v", test.kind, test.name, err, test.want)
		}
	}
}

// TestTakenID starts a session whose id is that of another type's already.
func TestTakenID(t *testing.T) {
	t.Parallel()
	x := newBench(t, layout.Claude())
	x.file(".claude/sessions/other/pr_8/notes.md", "text\n")
	x.sync()
	_, err := x.Start(t.Context(), "pr_reviews", "pr_8")
	if err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("an id that another type has: %v, want it refused", err)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	x := newBench(t, layout.Claude())
	a, b := x.start("build", "one"), x.start("build", "two")
	c := x.start("review", "two")
	d, e := x.start("review", "Release 1.2 / ä"), x.start("review", strings.Repeat("long ", 30))
	x.file(".claude/sessions/build/k7m2p9/plan.md", "# Plan\n")
	x.file("sub/.claude/sessions/build/q1w2e3/plan.md", "# Plan\n")
	x.sync()
	tests := []struct {
		text string
		want string
		err  string // "": none
	}{
		{a.ID, a.String(), ""},
		{"build/" + a.ID, a.String(), ""},
		{"one", a.String(), ""},
		{"two", "", "two can be 2 sessions"},
		{"build/two", b.String(), ""},
		{"review/two", c.String(), ""},
		{"Release 1.2 / ä", d.String(), ""},
		{"release-1-2", d.String(), ""},
		{"review/Release 1.2 / ä", d.String(), ""},
		{"build/Release 1.2 / ä", "", "there is no session"},
		{strings.Repeat("long ", 30), e.String(), ""},
		{"k7m2p9", "build/k7m2p9", ""},
		{"", "", "the id of the session is "},
		{"build/", "", "the id of the session is "},
		{"sessions/build//context.md", "", "the id of the session is "},
		{"k7m2p8", "", "there is no session"},
		{"..", "", "there is no session"},
	}
	for _, test := range tests {
		got, err := x.Find(t.Context(), test.text)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("Find(%q): %s, %v; want %v", test.text, got, err, test.err)
			}
			continue
		}
		if err != nil || got.String() != test.want {
			t.Errorf("Find(%q) = %s, %v; want %s", test.text, got, err, test.want)
		}
	}
	_, err := x.Find(t.Context(), "k7m2p8")
	var missing *record.Error
	if !errors.As(err, &missing) || missing.Reason != ErrNoSession ||
		!slices.Equal(missing.Names, []string{"build/k7m2p9"}) {
		t.Errorf("a slip of the pen: %v, %+v; want k7m2p9 near", err, missing)
	}
}

// TestPut stores artifacts and their summaries as versions, in folders and flat.
func TestPut(t *testing.T) {
	t.Parallel()
	for _, profile := range []layout.Profile{layout.Claude(), profileOf("orchestrator")} {
		t.Run(profile.Name, func(t *testing.T) {
			x := newBench(t, profile)
			tests := []struct {
				kind, name, artifact, want string
			}{
				{"build", "", "plan", "/build/ID/plan.md"},
				{"build", "", "plan.md", "/build/ID/plan.md"},
				{"build", "", "plan.json", "/build/ID/plan.json"},
				{"build", "", "v1.2", "/build/ID/v1.2"},
				{"pr_reviews", "pr_1", "context", "/pr_reviews/pr_1_context.md"},
				{"pr_reviews", "pr_2", "diff.patch", "/pr_reviews/pr_2/diff.patch"},
			}
			for _, test := range tests {
				key := x.start(test.kind, test.name)
				put := x.put(key, test.artifact, "{}", "In short.")
				want := filepath.Join(x.dir, filepath.FromSlash(profile.Sessions+strings.ReplaceAll(test.want, "ID", key.ID)))
				if put.File != want || put.Record.Session != key.ID || put.Reference().Preview != "In short." || put.Record.Agent != "web_tester" {
					t.Errorf("%s: file %s, session %s, reference %+v; want %s", test.artifact, put.File, put.Record.Session, put.Reference(), want)
				}
				s := x.read(key)
				if len(s.Artifacts) != 1 || len(s.Files) != 3 {
					t.Errorf("%s: %d artifacts, %d files; want 1 and 3: %+v", test.artifact, len(s.Artifacts), len(s.Files), s.Artifacts)
				}
				if got, err := x.Summaries(t.Context(), s); err != nil || len(got) != 1 || got[0].Text != "In short." || !got[0].Given {
					t.Errorf("%s: summaries %+v, %v", test.artifact, got, err)
				}
				for _, v := range s.Files {
					if v.Record.Session != key.ID {
						t.Errorf("%s has the session %q, want %q", v.Record.Name, v.Record.Session, key.ID)
					}
				}
			}
		})
	}
}

func TestPutRefused(t *testing.T) {
	t.Parallel()
	x := newBench(t, layout.Claude())
	key := x.start("build", "")
	words := func(n int) string { return strings.Repeat("word ", n) }
	tests := []struct {
		artifact, text, summary string
		want                    string
	}{
		{"", "text", "", " is no "},
		{"../x", "text", "", " is no "},
		{"a/b", "text", "", " is no "},
		{"a//b", "text", "", "the id of the session is "},
		{"a:b", "text", "", " is no "},
		{"metadata.json", "{}", "", " is no "},
		{".agent_log", "text", "", " is no "},
		{"plan.summary.md", "text", "", " is no "},
		{"nul.md", "text", "", " is no "},
		{"plan", "", "", "is empty, so nothing"},
		{"plan", "text", words(200), "the summary has 200 words"},
	}
	for _, test := range tests {
		_, err := x.Put(t.Context(), key, PutRequest{Artifact: test.artifact, Text: strings.NewReader(test.text), Summary: test.summary})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Put(%q, %d bytes, %d words): %v, want %v", test.artifact, len(test.text),
				len(strings.Fields(test.summary)), err, test.want)
		}
	}
	if s := x.read(key); len(s.Files) != 1 {
		t.Errorf("what was refused left %d files", len(s.Files)-1)
	}
	x.put(key, "plan", "text", words(199))
}

// TestSummaryOfVersion keeps the summary of one version from standing for another.
func TestSummaryOfVersion(t *testing.T) {
	t.Parallel()
	x := newBench(t, layout.Claude())
	key := x.start("build", "")
	check := func(step, want string, given bool) {
		t.Helper()
		got, err := x.Summaries(t.Context(), x.read(key))
		if err != nil || len(got) != 1 || got[0].Text != want || got[0].Given != given {
			t.Errorf("%s: %+v, %v; want %q, given %t", step, got, err, want, given)
		}
	}
	x.put(key, "plan", "First text.\n", "First.")
	check("with a summary", "First.", true)
	x.put(key, "plan", "Second text.\n", "")
	check("without one", "Second text.", false)
	x.put(key, "plan", "Third text.\n", "First.")
	check("with the same again", "First.", true)
	x.put(key, "plan", "Third text.\n", "Third.")
	check("the same text with another", "Third.", true)
	if s := x.read(key); s.Artifacts[0].Preview != "Third." {
		t.Errorf("its preview is %q", s.Artifacts[0].Preview)
	}
	if _, err := x.Put(t.Context(), key, PutRequest{
		Artifact: "plan", Text: strings.NewReader("Lost text.\n"), Summary: "Lost.", Expect: store.Absent(),
	}); !errors.Is(err, store.ErrConflict) {
		t.Errorf("putting over a version that was not expected: %v", err)
	}
	check("one that was refused", "Third.", true)
	text, err := os.ReadFile(filepath.Join(x.dir, ".claude/sessions/build", key.ID, "plan.summary.md"))
	if string(text) != "Third.\n" || err != nil {
		t.Errorf("the file of the summary after that is %q, %v; want the text of before", text, err)
	}
	x.file(".claude/sessions/build/"+key.ID+"/plan.md", "By hand.\n")
	x.sync()
	check("changed by hand", "By hand.", false)
	x.file(".claude/sessions/build/"+key.ID+"/plan.summary.md", strings.Repeat("long ", 250))
	x.sync()
	got, err := x.Summaries(t.Context(), x.read(key))
	if err != nil || len(got) != 1 || got[0].Words != 250 || len(strings.Fields(got[0].Text)) != maxSummary+1 {
		t.Errorf("too long by hand: %+v, %v; want it cut after %d words", got, err, maxSummary)
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	const hour = time.Hour
	tests := []struct {
		name  string
		files []string
		log   string // %s: the time
		later time.Duration
		start bool
		want  string
	}{
		{"just started", nil, "", 0, true, "in_progress"},
		{"started long ago", nil, "", 2 * hour, true, "failed"},
		{"planned just now", []string{"plan"}, "", 0, true, "in_progress"},
		{"planned long ago", []string{"plan"}, "", 2 * hour, true, "completed"},
		{"reported just now", []string{"plan", "security_report"}, "", 0, true, "in_progress"},
		{"by hand", []string{"context"}, "", 0, false, "completed"},
		{"by hand in another language", []string{"bericht"}, "", 0, false, "completed"},
		{"nothing by hand", nil, "%s | SUCCESS | a |\n", 0, false, "completed"},
		{"at work", []string{"report"}, "%s | START | a |\n", 0, false, "in_progress"},
		{"at work long ago", []string{"report"}, "%s | START | a |\n", 2 * hour, false, "interrupted"},
		{"ended", []string{"report"}, "%[1]s | START | a |\n%[1]s | ERROR | a | x\n", 0, false, "interrupted"},
		{"one of two ended", []string{"report"}, "%[1]s | START | a |\n%[1]s | START | a |\n%[1]s | SUCCESS | a | x\n", 0, false, "in_progress"},
	}
	for _, test := range tests {
		x := newBench(t, layout.Claude())
		key := Key{Type: "build", ID: "k7"}
		if test.start {
			key = x.start("build", "")
		}
		folder := ".claude/sessions/build/" + key.ID + "/"
		for _, name := range test.files {
			x.file(folder+name+".md", "text\n")
		}
		if test.log != "" {
			x.file(folder+".agent_log", fmt.Sprintf(test.log, x.now.UTC().Format(time.RFC3339)))
		}
		x.sync()
		x.now = x.now.Add(test.later)
		if got := x.read(key).Status; got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestEnd(t *testing.T) {
	t.Parallel()
	x := newBench(t, layout.Claude())
	x.file(".claude/sessions/build/k7/metadata.json", `{"started": "yesterday", "mode": [1, 2], "id": "k7"}`)
	x.file(".claude/sessions/build/k7/plan.md", "# Plan\n")
	x.sync()
	key := Key{Type: "build", ID: "k7"}
	s, err := x.End(t.Context(), key, "")
	if err != nil || s.Status != statusCompleted {
		t.Fatalf("ended as %+v, %v; want completed", s, err)
	}
	ended := x.now.UTC().Format(time.RFC3339)
	want := "{\n  \"type\": \"build\",\n  \"id\": \"k7\",\n  \"status\": \"completed\",\n  \"ended\": \"" + ended + "\",\n  \"mode\": [\n    1,\n    2\n  ],\n  \"started\": \"yesterday\"\n}\n"
	text, err := os.ReadFile(filepath.Join(x.dir, ".claude/sessions/build/k7/metadata.json"))
	if diff := cmp.Diff(want, string(text)); diff != "" || err != nil {
		t.Errorf("metadata.json (-want +got):\n%s%v", diff, err)
	}
	x.put(key, "report", "# Report\n", "")
	if err := x.Reopen(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if s := x.read(key); s.Status != layout.StatusInProgress || !s.Ended.IsZero() {
		t.Errorf("after a further report: %s, ended %v; want it in progress", s.Status, s.Ended)
	}
	if s, err = x.End(t.Context(), key, "interrupted"); err != nil || s.Status != statusInterrupted {
		t.Errorf("ended again: %+v, %v", s, err)
	}
	if s, err = x.End(t.Context(), key, ""); err != nil || s.Status != statusInterrupted {
		t.Errorf("ended once more: %+v, %v; want it as it was", s, err)
	}
	if s, err = x.End(t.Context(), key, "completed"); err != nil || s.Status != statusCompleted {
		t.Errorf("ended otherwise: %+v, %v", s, err)
	}
	if _, err := x.End(t.Context(), key, "done"); err == nil {
		t.Errorf("ended with a status that is none: no error")
	}
	key = x.start("build", "")
	file := ".claude/sessions/build/" + key.ID + "/metadata.json"
	x.file(file, "{broken")
	if s, err = x.End(t.Context(), key, "failed"); err != nil || s.Status != "failed" ||
		!s.Started.Equal(x.now.UTC().Truncate(time.Second)) {
		t.Errorf("metadata that cannot be read: %+v, %v", s, err)
	}
	if before := x.before(s.Files[0]); before != "{broken" {
		t.Errorf("the version before that is %q", before)
	}
}

// before returns the text of the version before one.
func (x *bench) before(v store.Version) string {
	x.t.Helper()
	var prev store.Version
	err := x.w.Store.View(x.t.Context(), func(tx *store.Tx) (err error) {
		prev, err = tx.Get(v.Record.Prev)
		return err
	})
	if err != nil {
		x.t.Fatal(err)
	}
	text, err := x.w.TextOf(x.t.Context(), prev)
	if err != nil {
		x.t.Fatal(err)
	}
	return string(text)
}

// TestOld finds the sessions that are kept no longer.
func TestOld(t *testing.T) {
	t.Parallel()
	x := newBench(t, layout.Claude())
	var keys []Key
	for i := range 5 {
		kind := "build"
		if i == 1 {
			kind = "review"
		}
		key := x.start(kind, "")
		if i != 2 {
			if _, err := x.End(t.Context(), key, "completed"); err != nil {
				t.Fatal(err)
			}
		}
		keys = append(keys, key)
		x.now = x.now.Add(10 * time.Minute)
	}
	// Of build 0, 2 (in progress), 3 and 4; of review 1.
	tests := []struct {
		keep   int
		before time.Time
		want   []Key
	}{
		{1, time.Time{}, []Key{keys[3], keys[0]}},
		{2, time.Time{}, []Key{keys[0]}},
		{0, x.now.Add(-25 * time.Minute), []Key{keys[1], keys[0]}},
		{1, x.now.Add(-25 * time.Minute), []Key{keys[0]}},
		{9, time.Time{}, nil},
	}
	for _, test := range tests {
		old, err := x.Old(t.Context(), test.keep, test.before)
		var got []Key
		for _, o := range old {
			got = append(got, o.Key)
		}
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("Old(%d, %v) (-want +got):\n%s%v", test.keep, test.before, diff, err)
		}
	}

	// The first report makes no session old while others may be written.
	key := x.start("audit", "")
	x.put(key, "security_report", "# Report\n", "")
	for _, step := range []struct {
		later time.Duration
		want  int
	}{{0, 0}, {59 * time.Minute, 0}, {2 * time.Minute, 1}} {
		x.now = x.now.Add(step.later)
		old, err := x.Old(t.Context(), 0, x.now)
		got := slices.DeleteFunc(old, func(o *Session) bool { return o.Key != key })
		if len(got) != step.want || err != nil {
			t.Errorf("with a report, %v later: %v, %v; want %d", step.later, got, err, step.want)
		}
	}
}

// TestOldAtWork keeps sessions that nobody has ended while something changes, in the
// store or on disk, whatever their artifacts say.
func TestOldAtWork(t *testing.T) {
	t.Parallel()
	x := newBench(t, layout.Claude())
	key := x.start("review", "")
	x.put(key, "security_report", "# Report\n", "")
	if _, err := x.Note(t.Context(), key, "SUCCESS", "a", ""); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(x.dir, ".claude/sessions/review", key.ID, "late.md")
	if s := x.read(key); s.Status != statusCompleted {
		t.Fatalf("the session is %s; the test is about one that looks completed", s.Status)
	}
	tests := []struct {
		later   time.Duration
		written time.Duration // when a file is written by hand; 0: none
		want    int
	}{
		{59 * time.Minute, 0, 0},
		{3 * time.Hour, 0, 1},
		{3 * time.Hour, 3*time.Hour - time.Second, 0},
		{5 * time.Hour, 0, 1},
	}
	start := x.now
	for _, test := range tests {
		x.now = start.Add(test.later)
		if test.written > 0 {
			at := start.Add(test.written)
			if err := errors.Join(os.WriteFile(file, []byte("# Late\n"), 0o666), os.Chtimes(file, at, at)); err != nil {
				t.Fatal(err)
			}
		}
		old, err := x.Old(t.Context(), 0, time.Time{})
		if len(old) != test.want || err != nil {
			t.Errorf("%v later, a file written at %v: %+v, %v; want %d", test.later, test.written, old, err, test.want)
		}
	}
}

// TestArchive packs a session twice, with the same bytes, and takes its files away.
func TestArchive(t *testing.T) {
	t.Parallel()
	x := newBench(t, profileOf("blue"))
	key := x.start("build", "")
	large := strings.Repeat("a line of a large text\n", 100_000)
	x.put(key, "plan", "# Plan\n", "A plan.")
	x.put(key, "large.txt", large, "")
	x.file(".blue/sessions/build/"+key.ID+"/notes.md", "by hand\n")
	one, two := filepath.Join(x.dir, "one.tar.gz"), filepath.Join(x.dir, "two.tar.gz")
	for _, to := range []string{one, two} {
		if _, err := x.Archive(t.Context(), key, to, false); err != nil {
			t.Fatal(err)
		}
	}
	a, errA := os.ReadFile(one)
	b, errB := os.ReadFile(two)
	if !bytes.Equal(a, b) || errA != nil || errB != nil {
		t.Errorf("two archives of the same differ: %d and %d bytes, %v, %v", len(a), len(b), errA, errB)
	}
	texts := untar(t, a)
	prefix := ".blue/sessions/build/" + key.ID + "/"
	if texts[prefix+"plan.md"] != "# Plan\n" || texts[prefix+"large.txt"] != large || texts[prefix+"notes.md"] != "by hand\n" ||
		texts[prefix+"plan.summary.md"] != "A plan.\n" || len(texts) != 5 {
		t.Errorf("the archive has %d files", len(texts))
	}
	if _, err := x.Archive(t.Context(), key, one, false); err == nil || !strings.HasSuffix(err.Error(), "is there already") {
		t.Errorf("an archive over a file: %v", err)
	}
	if _, err := x.Archive(t.Context(), key, "", true); err == nil || !strings.HasSuffix(err.Error(), "has not ended") {
		t.Errorf("removing a session that has not ended: %v", err)
	}
	if _, err := x.End(t.Context(), key, "completed"); err != nil {
		t.Fatal(err)
	}
	done, err := x.Archive(t.Context(), key, filepath.Join(x.dir, "three.tgz"), true)
	if err != nil || done.Removed != 4 {
		t.Fatalf("removed %+v, %v; want 4", done, err)
	}
	left, err := os.ReadDir(filepath.Join(x.dir, filepath.FromSlash(prefix)))
	if err != nil || len(left) != 1 || left[0].Name() != "metadata.json" {
		t.Errorf("left: %v, %v; want metadata.json", left, err)
	}
	if s := x.read(key); s.Archive != "three.tgz" || s.Status != statusCompleted {
		t.Errorf("after that: %+v", s)
	}

	// What comes later is in another archive; one without files is not named.
	for _, step := range []struct{ add, to, want string }{
		{"", "four.tgz", "three.tgz"},
		{"more", "five.tgz", "three.tgz, five.tgz"},
		{"last", "", "three.tgz, five.tgz"},
	} {
		if step.add != "" {
			x.put(key, step.add, "# More\n", "")
		}
		to := ""
		if step.to != "" {
			to = filepath.Join(x.dir, step.to)
		}
		if _, err := x.Archive(t.Context(), key, to, true); err != nil || x.read(key).Archive != step.want {
			t.Errorf("after %q in %q: %q, %v; want %q", step.add, step.to, x.read(key).Archive, err, step.want)
		}
	}
}

func untar(t *testing.T, packed []byte) map[string]string {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for in := tar.NewReader(zip); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		texts[h.Name] = string(text)
	}
}

// profileOf returns the predefined profile of a name.
func profileOf(name string) layout.Profile {
	p, err := layout.ParseProfile(name)
	if err != nil {
		panic(err)
	}
	return p
}
