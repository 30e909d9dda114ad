package markdown

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const findText = `# Review
## Round 1
### Notes
### Open ` + "`config.toml`" + ` **now**
## Round 2
### Notes
#### Detail
## Notes
## src/auth
## C#
## Issue #12
## Round#2
# Notes
# Überblick
`

func TestFindSection(t *testing.T) {
	t.Parallel()
	sections := Outline([]byte(findText))
	tests := []struct {
		want       string
		line       int // 0: not found
		candidates []string
	}{
		{"Review", 1, []string{"Review"}},
		{"review", 1, []string{"Review"}},
		{"# Review", 1, []string{"Review"}},
		{"##  round   1 ", 2, []string{"Round 1"}},
		{"Notes", 3, []string{"Notes#1", "Notes#2", "Notes#3", "Notes#4"}},
		{"Notes#2", 6, []string{"Notes#2"}},
		{"### Notes#4", 13, []string{"Notes#4"}},
		{"Round 2/Notes", 6, []string{"Notes#2"}},
		{"## Round 2/### Notes", 6, []string{"Notes#2"}},
		{"Review/Notes", 3, []string{"Notes#1", "Notes#2", "Notes#3"}},
		{"Review/Notes#3", 8, []string{"Notes#3"}},
		{"Review/Round 2/Notes/Detail", 7, []string{"Detail"}},
		{"Review/Detail", 7, []string{"Detail"}},
		{"Notes#2/Detail", 7, []string{"Detail"}},
		{"open config.toml now", 4, []string{"Open `config.toml` **now**"}},
		{"Open `config.toml` **now**", 4, []string{"Open `config.toml` **now**"}},
		{"src/auth", 9, []string{"src/auth"}},
		{"Review/src/auth", 9, []string{"src/auth"}},
		{"C#", 10, []string{"C#"}},
		{"Issue #12", 11, []string{"Issue #12"}},
		{"Round#2", 12, []string{"Round#2"}},
		{"ÜBERBLICK", 14, []string{"Überblick"}},

		{"Notes#5", 0, []string{"Notes#1", "Notes#2", "Notes#3", "Notes#4"}},
		{"Notes#0", 0, []string{"Notes#1", "Notes#2", "Notes#3", "Notes#4"}},
		{"Round 1/Detail", 0, []string{"Detail"}},
		{"Round", 0, []string{"Round 1", "Round 2", "Round#2"}},
		{"The Issue", 0, []string{"Issue #12"}},
		{"nothing", 0, []string{"Review", "Round 1", "Notes#1", "Open `config.toml` **now**", "Round 2", "Notes#2", "Detail", "Notes#3", "src/auth", "C#"}},
		{"", 0, []string{"Review", "Round 1", "Notes#1", "Open `config.toml` **now**", "Round 2", "Notes#2", "Detail", "Notes#3", "src/auth", "C#"}},
	}
	for _, test := range tests {
		found, candidates, ok := FindSection(sections, test.want)
		if ok != (test.line > 0) || found.Line != test.line {
			t.Errorf("FindSection(%q) = %+v, %v; want line %d", test.want, found, ok, test.line)
		}
		if diff := cmp.Diff(test.candidates, candidates); diff != "" {
			t.Errorf("FindSection(%q): candidates: -want +got\n%s", test.want, diff)
		}
	}
}

func TestFindSectionWithoutSections(t *testing.T) {
	t.Parallel()
	if found, candidates, ok := FindSection(nil, "a"); ok || candidates != nil || found != (Section{}) {
		t.Errorf("FindSection(nil, \"a\") = %+v, %q, %v; want nothing", found, candidates, ok)
	}
}

func TestCandidatesFindTheirSections(t *testing.T) {
	t.Parallel()
	sections := Outline([]byte(findText))
	f := sectionFinder{sections: sections}
	for _, s := range sections {
		f.keys = append(f.keys, headingKey(s.Title))
	}
	for i, want := range sections {
		address := f.addresses([]int{i})[0]
		if got, _, ok := FindSection(sections, address); !ok || got != want {
			t.Errorf("FindSection(%q) = %+v, %v; want %+v", address, got, ok, want)
		}
	}
}

func TestFindSectionTakesLittleTime(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range maxSections {
		fmt.Fprintf(&text, "%s a\n", "######"[:1+i%6])
	}
	sections := Outline([]byte(text.String()))
	want := strings.Repeat("a/", 1000) + "a"
	if found, _, ok := FindSection(sections, want); ok {
		t.Errorf("FindSection(a/a/a...) found %+v, want nothing so deep", found)
	}
	if found, _, _ := FindSection(sections, "a/a/a/a/a#2"); found.Line != 6 {
		t.Errorf("FindSection(a/a/a/a/a#2) found line %d, want 6", found.Line)
	}
}
