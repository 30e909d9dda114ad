package layout

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"filebus/materialize/markdown"

	"github.com/google/go-cmp/cmp"
)

// A census counts markers by kind and form, such as "RESOLVED on T", in another way
// than the reader: by expressions, over paragraphs from which code and comments
// were cut.
type census map[string]int

// A plainMarker is what the expressions find.
type plainMarker struct{ kind, raw string }

// plainMarkers returns the markers of a text.
func plainMarkers(text string) []plainMarker {
	text = cutCode(strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), markdown.ByteOrderMark))
	const (
		keyword = `PERSPECTIVE|TENSION|REFINEMENT|CONCESSION|RESOLVED|VERDICT|DISSENT`
		inner   = `(?:[^\[\]]|\[(?:[^\[\]]|\[[^\[\]]*\])*\])*`
	)
	heads := strings.Join([]string{
		`(` + keyword + `)(?:[:\]\n]|[ \t]+[^|\s]|-[TP][0-9]+\b)`,
		`(RE):(?: *(?:SUPPORT|OPPOSE|REFINE|ADDRESS|RESOLVE|REOPEN|QUESTION|DEPEND)(?:[:\]\t\n]| +[^|\s])|[A-Z]+ +(?:[A-Z]+-)?[TP][0-9]| *[A-Z]+ +[A-Z]+-[A-Z][0-9]{4})`,
		`(CONVERGENCE|MINORITY) (?:CONFIRMED|PROPOSAL|VERDICT)[:\]\s]`,
		`(MOVE):(?:[A-Za-z-]+[:\]\s]| +[A-Z]+[:\]\s])`,
		`[A-Z][A-Z0-9_-]*-([PRTECS])(?:[0-9]{4}[:\]\s]|[0-9]+:)`,
	}, "|")
	known := regexp.MustCompile(`\[(?:` + heads + `)`)
	whole := regexp.MustCompile(`^\[` + inner + `\]`)
	other := regexp.MustCompile(`(?m)^[\s>*+#_.0-9-]*\[[A-Z_-]{3,} T[0-9]+[^0-9A-Za-z]`)
	letters := map[string]string{"P": "PERSPECTIVE", "R": "RECOMMENDATION", "T": "TENSION", "E": "EVIDENCE", "C": "CLAIM", "S": "STANCE",
		"CONVERGENCE": "MOVE", "MINORITY": "DISSENT"}
	var all []plainMarker
	for _, paragraph := range regexp.MustCompile(`\n[ \t]*\n`).Split(text, -1) {
		for paragraph != "" {
			at := known.FindStringSubmatchIndex(paragraph)
			if o := other.FindStringIndex(paragraph); o != nil && (at == nil || o[0] < at[0] && !known.MatchString(paragraph[o[0]:o[1]])) {
				open := o[0] + strings.IndexByte(paragraph[o[0]:], '[')
				raw := whole.FindString(paragraph[open:])
				all = append(all, plainMarker{"OTHER", raw})
				paragraph = paragraph[open+max(1, len(raw)):]
				continue
			}
			if at == nil {
				break
			}
			kind := ""
			for i := 2; i < len(at); i += 2 {
				if at[i] >= 0 {
					kind = paragraph[at[i]:at[i+1]]
				}
			}
			if word, isLetter := letters[kind]; isLetter {
				kind = word
			}
			raw := whole.FindString(paragraph[at[0]:])
			if raw == "" {
				raw, _, _ = strings.Cut(paragraph[at[0]:], "\n")
			}
			all = append(all, plainMarker{kind, raw})
			paragraph = paragraph[at[0]+len(raw):]
		}
	}
	return all
}

// cutCode returns text with code fences, code spans and comments made blank.
func cutCode(text string) string {
	lines := strings.Split(text, "\n")
	opens := regexp.MustCompile("^[ >]*(?:(?:[-*+]|[0-9]+[.)]) +)?(`{3,}|~{3,})[^`]*$")
	for i := 0; i < len(lines); i++ {
		m := opens.FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		closes := regexp.MustCompile(`^[ >]*` + m[1] + m[1][:1] + `*\s*$`)
		end := slices.IndexFunc(lines[i+1:], closes.MatchString)
		if end < 0 {
			continue
		}
		for range end + 2 {
			lines[i] = ""
			i++
		}
		i--
	}
	text = regexp.MustCompile(`(?s)<!--.*?-->`).ReplaceAllString(strings.Join(lines, "\n"), " ")
	lines = strings.Split(text, "\n")
	for i := range lines {
		lines[i] = cutSpans(lines[i])
	}
	return strings.Join(lines, "\n")
}

// cutSpans returns a line without its code spans.
func cutSpans(line string) string {
	runs := regexp.MustCompile("`+").FindAllStringIndex(line, -1)
	for i, open := range runs {
		for _, end := range runs[i+1:] {
			if end[1]-end[0] == open[1]-open[0] {
				return line[:open[0]] + "code" + cutSpans(line[end[1]:])
			}
		}
	}
	return line
}

// formOf returns which form of its kind a marker has.
func formOf(m plainMarker) string {
	forms := []struct{ name, expression string }{
		{"generation 2", `^\[[A-Z][A-Z0-9_-]*-[PRTECS][0-9]{4}: *\S`},
		{"VERB id", `^\[RE:(?:SUPPORT|OPPOSE|REFINE|ADDRESS|RESOLVE|REOPEN|QUESTION|DEPEND) (?:[A-Z]+-[A-Z][0-9]{4}|[TP][0-9]+)(?:, *(?:[A-Z]+-[A-Z][0-9]{4}|[TP][0-9]+))*(?:: *\S[^\]]*)?\]$`},
		{"WORD", `^\[MOVE:[A-Z-]+\]$`},
		{"WORD text", `^\[MOVE:[A-Z-]+[: ]+[^\]]+\]$`},
		{"convergence", `^\[CONVERGENCE (?:CONFIRMED|PROPOSAL)(?::[^\]]*)?\]$`},
		{"minority", `^\[MINORITY VERDICT(?::[^\]]*)?\]$`},
		{"text", `^\[(?:VERDICT|DISSENT): *[^\]]+\]$`},
		{"alone", `^\[[A-Z]+\]$`},
		{"id: text", `^\[(?:PERSPECTIVE P|TENSION T|RESOLVED T)[0-9]+ *: *[^\s\]]`},
		{"id", `^\[[A-Z]+ [TP][0-9]+\]$`},
		{"id: text, no ids", `^\[(?:REFINEMENT|CONCESSION) T[0-9]+:`},
		{": T text", `^\[(?:REFINEMENT|CONCESSION): *T[0-9]+`},
		{": text", `^\\?\[[A-Z]+: *[^\s\]]`},
		{"on T", `^\[[A-Z]+ on T[0-9]+`},
		{"to NAME on T", `^\[[A-Z]+ to \w+ on T[0-9]+`},
		{"T, T", `^\[[A-Z]+ T[0-9]+ *,`},
		{"T/T", `^\[[A-Z]+ T[0-9]+ */`},
		{"T.n", `^\[[A-Z]+ T[0-9]+\.[0-9]`},
		{"T-WORD", `^\[[A-Z]+ T[0-9]*-[A-Z]`},
		{"round and id", `^\[[A-Z]+ (?:[A-Z]{3,} )?R[0-9]+[-.]T[0-9]+`},
		{"-- text", `^\[[A-Z]+ --`},
	}
	for _, f := range forms {
		if regexp.MustCompile(f.expression).MatchString(m.raw) {
			return m.kind + " " + f.name
		}
	}
	return m.kind + " ?"
}

// exactForms are those that follow the grammar.
func exactForms() map[string]bool {
	exact := map[string]bool{
		"RESOLVED id": true, "RE VERB id": true, "MOVE WORD": true, "MOVE WORD text": true, "DISSENT alone": true, "DISSENT text": true,
		"MOVE convergence": true, "DISSENT minority": true,
		"VERDICT text": true, "REFINEMENT : text": true, "REFINEMENT : T text": true, "CONCESSION : text": true, "CONCESSION : T text": true,
	}
	for _, kind := range []string{"PERSPECTIVE", "TENSION", "RESOLVED"} {
		exact[kind+" id: text"] = true
	}
	for _, kind := range []string{"PERSPECTIVE", "RECOMMENDATION", "TENSION", "EVIDENCE", "CLAIM", "STANCE"} {
		exact[kind+" generation 2"] = true
	}
	return exact
}

func (c census) String() string {
	var out strings.Builder
	for _, form := range slices.Sorted(maps.Keys(c)) {
		fmt.Fprintf(&out, "%5d %s\n", c[form], form)
	}
	return out.String()
}

// TestMarkerCensus counts what testdata/turns marks, by hand in this table.
func TestMarkerCensus(t *testing.T) {
	t.Parallel()
	want := map[string]census{
		"opening.md": {"PERSPECTIVE id: text": 2, "TENSION id: text": 2, "REFINEMENT : text": 1},
		"answers.md": {
			"RESOLVED id": 2, "RESOLVED id: text": 1, "RESOLVED on T": 1, "RESOLVED round and id": 2, "RESOLVED T/T": 1, "RESOLVED T, T": 1,
			"RESOLVED -- text": 1, "RESOLVED ?": 1, "REFINEMENT on T": 1, "REFINEMENT : T text": 1, "REFINEMENT id: text, no ids": 1,
			"REFINEMENT alone": 1, "CONCESSION : T text": 1, "CONCESSION to NAME on T": 1, "CONCESSION on T": 1, "CONCESSION : text": 1,
			"TENSION T-WORD": 3, "TENSION T.n": 1, "PERSPECTIVE id: text": 1, "OTHER ?": 1,
		},
		"second.md": {
			"PERSPECTIVE generation 2": 1, "TENSION generation 2": 1, "RECOMMENDATION generation 2": 1, "EVIDENCE generation 2": 1,
			"CLAIM generation 2": 1, "STANCE generation 2": 1, "TENSION ?": 1, "RE VERB id": 8, "RE : text": 2, "DISSENT text": 1, "DISSENT alone": 1,
			"MOVE WORD": 1, "MOVE WORD text": 1, "VERDICT text": 1,
		},
		"exports.dialogue.md": {
			"PERSPECTIVE id: text": 3, "TENSION id: text": 3, "CONCESSION : text": 1, "RESOLVED id": 1, "RESOLVED id: text": 1,
			"RESOLVED T, T": 1, "MOVE WORD": 2, "VERDICT text": 1,
		},
		"noise.md":  {},
		"ending.md": {"RESOLVED id": 1, "TENSION id: text": 1, "MOVE convergence": 3, "MOVE ?": 1, "DISSENT minority": 2},
		"slips.md": {
			"TENSION id: text": 2, "TENSION ?": 1, "RESOLVED id: text": 2, "RESOLVED id": 1, "CONCESSION : text": 1, "PERSPECTIVE id": 1,
			"PERSPECTIVE : text": 1, "PERSPECTIVE ?": 1, "RESOLVED : text": 1,
		},
	}
	files, err := filepath.Glob("testdata/turns/*.md")
	if err != nil || len(files) != len(want) {
		t.Fatalf("testdata/turns: %d files, %v; want %d", len(files), err, len(want))
	}
	for _, file := range files {
		got := compareMarkers(t, file)
		if diff := cmp.Diff(want[filepath.Base(file)], got); diff != "" {
			t.Errorf("%s: markers by form (-want +got):\n%s", file, diff)
		}
	}
}

// compareMarkers reads the markers of a file in both ways, and returns their census.
func compareMarkers(t *testing.T, file string) census {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	counts := census{}
	var want, got []string
	exact := exactForms()
	for _, m := range plainMarkers(string(text)) {
		form := formOf(m)
		counts[form]++
		closed := strings.HasSuffix(m.raw, "]")
		want = append(want, fmt.Sprintf("%s exact %t", m.kind, exact[form] && closed))
	}
	for _, m := range ParseMarkers(text) {
		got = append(got, fmt.Sprintf("%s exact %t", m.Kind, m.Exact))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: markers in their order (-counted +read):\n%s", file, diff)
	}
	return counts
}

// TestRealMarkers counts the markers of the Markdown files below the folder that
// FILEBUS_REAL names, in both ways. Run it with -v to see the census: of turns,
// of prompts, of all other files.
func TestRealMarkers(t *testing.T) {
	t.Parallel()
	root := os.Getenv("FILEBUS_REAL")
	if root == "" {
		t.Skip("FILEBUS_REAL names no folder with dialogues")
	}
	files, sums := 0, map[string]census{"turns": {}, "prompts": {}, "others": {}}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".md" {
			return err
		}
		files++
		group := "others"
		if _, isTurn := turnSpeaker(filepath.ToSlash(name)); isTurn {
			group = "turns"
		} else if strings.HasSuffix(name, ".prompt.md") {
			group = "prompts"
		}
		for form, n := range compareMarkers(t, name) {
			sums[group][form] += n
		}
		return nil
	})
	if err != nil || files == 0 {
		t.Fatalf("%s: %d files, %v", root, files, err)
	}
	for _, group := range slices.Sorted(maps.Keys(sums)) {
		t.Logf("%s:\n%s", group, sums[group])
	}
}
