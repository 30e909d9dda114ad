package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"filebus/cmd/filebus/cli"
	"filebus/index"
	"filebus/query"
	"filebus/store/record"
)

// A desk runs command lines in a workspace, inside the test.
type desk struct {
	*testing.T
	dir string
	now time.Time
}

func newDesk(t *testing.T) *desk {
	return &desk{T: t, dir: t.TempDir(), now: time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)}
}

// run runs a command line, which must end well.
func (d *desk) run(args ...string) (out, stderr string) {
	d.Helper()
	var outText, errText bytes.Buffer
	env := docEnviron(d.dir, &outText)
	env.Err, env.Variables, env.GitBudget = &errText, os.Environ(), time.Minute
	env.Now = func() time.Time { return d.now }
	if code := run(d.Context(), env, args); code != cli.ExitDone {
		d.Fatalf("filebus %q: exit code %d\n%s", args, code, errText.String())
	}
	return outText.String(), errText.String()
}

func (d *desk) write(name, text string) {
	d.Helper()
	file := filepath.Join(d.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		d.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		d.Fatal(err)
	}
}

// TestMaxTokens searches texts of all sizes with random bounds and other flags:
// what is printed never takes more, and the note says where to go on.
func TestMaxTokens(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	random := rand.New(rand.NewPCG(3, 4))
	words := []string{"heron", "stork", "crane", "the", "überlang", "鳥が湖に立つ", "a<b>&c", "\"quoted\"", strings.Repeat("x", 70)}
	for i := range 40 {
		text := fmt.Sprintf("# Heron %d\n\n", i)
		for range random.IntN(6) {
			text += "## Part of the heron\n\n"
			for range random.IntN(60) {
				text += words[random.IntN(len(words))] + []string{" ", "\n"}[min(1, random.IntN(8)/7)]
			}
			text += "\n"
		}
		d.write(fmt.Sprintf("tree/%s%d.md", strings.Repeat("long-", random.IntN(12)), i), text)
	}
	d.write("tree/one-line.md", strings.Repeat("heron é ", 9000))
	d.run("capture", "tree")
	for range 120 {
		tokens := 1 + int(random.ExpFloat64()*400)
		args := []string{"search", "heron", append(words[:5:5], "strok")[random.IntN(6)], "--max-tokens", strconv.Itoa(tokens)}
		for _, flag := range []string{"--json", "--sections", "--explain", "--facets=kind,tag", "--duplicates", "--limit=30", "--offset=3"} {
			if random.IntN(3) == 0 {
				args = append(args, flag)
			}
		}
		out, _ := d.run(args...)
		if got := record.EstimateTokens(int64(len(out))); got > tokens {
			t.Errorf("filebus %q prints %d tokens:\n%s", args, got, out)
		}
		if isJSON := strings.Contains(strings.Join(args, " "), "--json"); isJSON && out != "" {
			var value struct {
				Next *int
				Hits []struct{ Name string }
			}
			if err := json.Unmarshal([]byte(out), &value); err != nil {
				t.Errorf("filebus %q: %v\n%s", args, err, out)
			}
			if len(value.Hits) == 0 && value.Next == nil {
				t.Errorf("filebus %q: %s; want the next, as no hit had room", args, out)
			}
		}
		if !utf8.ValidString(out) {
			t.Errorf("filebus %q prints a rune cut in two: %q", args, out)
		}
	}
}

// TestMaxTokensPages goes from page to page, each as the one before says: every hit
// is on one of them.
func TestMaxTokensPages(t *testing.T) {
	d := newDesk(t)
	for i := range 23 {
		d.write(fmt.Sprintf("tree/note%02d.md", i), fmt.Sprintf("# Heron\n\nThe heron number %d.\n", i))
	}
	d.run("capture", "tree")
	next := regexp.MustCompile(`(?m)more; .* --offset (\d+)$|"next":(\d+)`)
	for _, flags := range [][]string{{"--max-tokens=120"}, {"--max-tokens=120", "--sections"}, {"--max-tokens=300", "--json"}} {
		seen := map[string]int{}
		for offset := "0"; offset != ""; {
			out, stderr := d.run(append([]string{"search", "heron", "--duplicates", "--offset", offset}, flags...)...)
			for _, name := range regexp.MustCompile(`tree:note/note\d\d\.md`).FindAllString(out, -1) {
				seen[name]++
			}
			offset = ""
			if m := next.FindStringSubmatch(stderr + out); m != nil {
				offset = m[1] + m[2]
			}
		}
		for name, n := range seen {
			if n != 1 {
				t.Errorf("%q: %s is printed %d times", flags, name, n)
			}
		}
		if len(seen) != 23 {
			t.Errorf("%q: %d hits on all pages; want 23", flags, len(seen))
		}
	}
}

// TestTenHitsAreShort prints hits with long names, titles and texts: a page stays
// below 90 tokens a hit, and each hit says something.
func TestTenHitsAreShort(t *testing.T) {
	for _, id := range []string{"conv-1/call-2", strings.Repeat("long-name/", 12) + "entries.md#" + strings.Repeat("slug-", 8)} {
		env, _, _ := fakeEnviron(t)
		answer := query.SearchAnswer{Total: 20}
		for range 10 {
			answer.Hits = append(answer.Hits, query.Hit{
				Name: record.Name{Kind: record.KindResult, ID: id}, Path: "some/folder/file.md", Commits: 12, Like: make([]record.Name, 3),
				Title: strings.Repeat("A long title ", 20), Section: strings.Repeat("and a long section ", 20), Lines: query.Span{From: 100, To: 139},
				Tokens: 12345, Agent: "web_researcher", Snippet: query.Snippet{Text: strings.Repeat("heron ", 27)},
			})
		}
		p := hitPage{env: env, answer: answer, opts: &answerFlags{}, limit: 10}
		text := p.plain(10)
		if tokens := record.EstimateTokens(int64(len(text))); float64(tokens) > promised(t, "tokens/hits") || strings.Count(text, "heron") < 10 {
			t.Errorf("ten hits named %q in %d tokens, more than promised\n%s", id, tokens, text)
		}
	}
}

func TestWriteWrapped(t *testing.T) {
	snippet := query.Snippet{Text: "the heron stands in the lake and 鳥鳥鳥鳥 waits", Marks: []query.ByteRun{{Start: 4, End: 9}, {Start: 17, End: 23}}}
	tests := []struct {
		name     string
		terminal bool
		columns  int
		want     string
	}{
		{"pipe", false, 30, "  Birds: the heron stands in the lake and 鳥鳥鳥鳥 waits\n"},
		{"wide", true, 200, "  Birds: the *heron_ stands *in the_ lake and 鳥鳥鳥鳥 waits\n"},
		{"narrow", true, 30, "  Birds: the *heron_ stands *in\n  the_ lake and 鳥鳥鳥鳥 waits\n"},
		{"narrower", true, 24, "  Birds: the *heron_\n  stands *in the_ lake and\n  鳥鳥鳥鳥 waits\n"},
		{"no width", true, 3, "  Birds: the *heron_ stands *in the_ lake and 鳥鳥鳥鳥 waits\n"},
	}
	for _, test := range tests {
		env, _, _ := fakeEnviron(t)
		if env.OutTerminal = test.terminal; test.terminal {
			env.Columns = test.columns
		}
		var out strings.Builder
		writeWrapped(env, &out, "Birds: ", snippet)
		got := strings.NewReplacer("\x1b[1m", "*", "\x1b[0m", "_").Replace(out.String())
		if got != test.want {
			t.Errorf("%s, %d columns:\n%q; want\n%q", test.name, test.columns, got, test.want)
		}
	}
}

func TestHitHeading(t *testing.T) {
	for _, test := range []struct {
		title, section string
		size           int
		want           string
	}{
		{"", "", 80, ""},
		{"Birds", "", 80, "Birds: "},
		{"Birds", "Birds", 80, "Birds: "},
		{"Birds", "Heron", 80, "Birds > Heron: "},
		{"Heron", "All of the Heron", 80, "All of the Heron: "},
		{"Call of heron — kept", "Call of `heron` — **kept**", 80, "Call of `heron` — **kept**: "},
		{"Heron is `x`: all", "Heron is x", 80, "Heron is `x`: all: "},
		{"A long title", "And a section", 16, "A long title…: "},
		{"A long title", "And a section", 22, "A long title > And a…: "},
	} {
		if got := hitHeading(&query.Hit{Title: test.title, Section: test.section}, test.size); got != test.want {
			t.Errorf("hitHeading(%q, %q, %d) = %q; want %q", test.title, test.section, test.size, got, test.want)
		}
	}
}

func TestWriteFacts(t *testing.T) {
	facts := []string{"29df583e32d5", "~57 tokens", "", "鳥鳥", "2026-03-06"}
	for _, test := range []struct {
		columns int
		want    string
	}{
		{0, "  29df583e32d5  ~57 tokens  鳥鳥  2026-03-06"}, // a pipe
		{54, "  29df583e32d5  ~57 tokens  鳥鳥  2026-03-06"},
		{53, "  29df583e32d5  ~57 tokens  鳥鳥\n  2026-03-06"},
		{30, "  29df583e32d5\n  ~57 tokens  鳥鳥  2026-03-06"},
		{5, "\n  29df583e32d5\n  ~57 tokens\n  鳥鳥\n  2026-03-06"},
	} {
		env, _, _ := fakeEnviron(t)
		env.Columns = test.columns
		var out strings.Builder
		if writeFacts(env, &out, 10, facts); out.String() != test.want {
			t.Errorf("behind 10 of %d columns:\n%q; want\n%q", test.columns, out.String(), test.want)
		}
	}
}

// TestSectionsAreMarked shows the words of a search in bold on a terminal alone, and
// the marks take no room.
func TestSectionsAreMarked(t *testing.T) {
	hit := query.Hit{Name: record.Name{Kind: record.KindNote, ID: "a.md"}, Lines: query.Span{From: 1, To: 1}}
	section := query.SectionText{Text: []byte("two \x00\x1b herons\n"), Last: 1}
	var request query.SearchRequest
	request.Parse("heron")
	for _, test := range []struct {
		terminal bool
		want     string
	}{{false, "two \x00\x1b herons\n"}, {true, "two    \x1b[1mherons\x1b[0m\n"}} {
		env, _, _ := fakeEnviron(t)
		env.OutTerminal = test.terminal
		p := hitPage{env: env, opts: &answerFlags{}, marks: request.Marks}
		s := sectionPage{hitPage: &p, sections: []hitSection{{Hit: hit, text: section}}}
		text := s.plain(s.size())
		plain := strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "").Replace(text)
		if _, got, _ := strings.Cut(text, "\n"); got != test.want || env.SizeOf(text) != len(plain) {
			t.Errorf("terminal %v: %q of %d bytes; want %q of %d", test.terminal, got, env.SizeOf(text), test.want,
				len(plain))
		}
	}
}

// TestCommitsSince commits files that a note names, after it was imported.
func TestCommitsSince(t *testing.T) {
	d := newDesk(t)
	program, err := exec.LookPath("git")
	if err != nil {
		t.Skip("there is no git program")
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
		cmd.Dir = d.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	commit := func(at time.Time, text string, files ...string) {
		t.Helper()
		for _, file := range files {
			d.write(file, text)
		}
		t.Setenv("GIT_COMMITTER_DATE", at.Format(time.RFC3339))
		git("add", "src")
		git("commit", "-qm", text)
	}
	git("init", "-q")
	commit(d.now.Add(-time.Hour), "one", "src/auth/jwt.go", "src/main.go", "src/other.go")
	d.write("tree/note.md", "# Heron\n\nThe heron of src/auth/jwt.go\n")
	d.write("note.md", "# Heron\n\nThe heron of `jwt.go:12` and src/main.go\n")
	d.run("put", "--name", "note/note.md", "note.md")
	d.run("capture", "tree")
	since := regexp.MustCompile(`note/note.md .*  (\d commits? since)`)
	steps := []struct {
		file string
		want string
	}{{"", ""}, {"src/auth/jwt.go", "1 commit since"}, {"src/other.go", "1 commit since"}, {"src/main.go", "2 commits since"}}
	for i, step := range steps {
		if step.file != "" {
			commit(d.now.Add(time.Duration(i)*time.Hour), fmt.Sprint(i), step.file)
		}
		out, _ := d.run("search", "heron", "--duplicates")
		got := ""
		for _, m := range since.FindAllStringSubmatch(out, -1) {
			got += m[1]
		}
		if got != step.want {
			t.Errorf("after a commit of %q: %q; want %q, and nothing of the other tree\n%s", step.file, got, step.want, out)
		}
	}
	if out, _ := d.run("search", "heron", "--tree", ".", "--json"); !strings.Contains(out, `"commits_since":2`) {
		t.Errorf("JSON has no commits_since 2: %s", out)
	}
	if out, _ := d.run("search", "heron", "--no-git"); strings.Contains(out, "since") {
		t.Errorf("with --no-git: %s", out)
	}
}

func TestPeriods(t *testing.T) {
	for _, test := range []struct {
		name string
		days []string
		want []index.FacetCount
	}{
		{"none", nil, nil},
		{"one day", []string{"2026-03-02"}, []index.FacetCount{{Value: "2026-03-02", Count: 1}}},
		{"62 days", []string{"2026-01-31", "2026-04-02"}, []index.FacetCount{{Value: "2026-04-02", Count: 1}, {Value: "2026-01-31", Count: 1}}},
		{"63 days", []string{"2026-04-03", "2026-01-31", "2026-04-01"}, []index.FacetCount{{Value: "2026-04", Count: 2}, {Value: "2026-01", Count: 1}}},
		{"years", []string{"1999-12-31", "2026-03-02", "0001-01-01", "2026-01-01"}, []index.FacetCount{
			{Value: "2026", Count: 2}, {Value: "1999", Count: 1}, {Value: "0001", Count: 1},
		}},
	} {
		var days []index.FacetCount
		for _, day := range test.days {
			days = append(days, index.FacetCount{Value: day, Count: 1})
		}
		if diff := cmp.Diff(test.want, periods(days)); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.name, diff)
		}
	}
}
