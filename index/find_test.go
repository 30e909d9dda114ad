package index

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// wantFound fails if Find gives other tokens than Tokens has.
func wantFound(t *testing.T, text, query string) {
	t.Helper()
	wanted := make(map[string]int)
	for token := range Analyze([]byte(query)) {
		wanted[token.Term] = len(wanted)
	}
	var want []Token
	for token := range Analyze([]byte(text)) {
		if _, ok := wanted[token.Term]; ok {
			want = append(want, token)
		}
	}
	got := slices.Collect(NewAnalyzer().Find([]byte(text), wanted))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%q in %q: -Tokens +Find\n%s", query, text, diff)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "a", "x y z", "Dying, lying and tying: they die, lie, tie.", "skies skis sky", "aed aing eed ies us s",
		"Rotate ROTATE rotates rotating rotation the rotations", "parseHTTPHeader parse_http_header jwt.go src/auth/jwt.go",
		"C++ C# .env v1.2.3 café ÉCOLE don't o'clock", "日本語のテキスト 日本", "yes yells y yy yyy ying yed",
	} {
		for _, query := range []string{"", "die lie tie", "sky ski", "a e i s u", "rotation", "parse header go", "c++ env v1.2.3 cafe ecole", "日本", "y yy yell x", text} {
			wantFound(t, text, query)
		}
	}
}

// TestFindEveryWord looks for each word of the sample workspace among all words
// that begin with the same letter.
func TestFindEveryWord(t *testing.T) {
	t.Parallel()
	words := make(map[byte][]string)
	seen := make(map[string]bool)
	err := filepath.WalkDir("../testdata/workspace", func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		for word := range strings.FieldsSeq(strings.ToLower(string(text))) {
			if !seen[word] {
				seen[word] = true
				words[word[0]] = append(words[word[0]], word)
			}
		}
		return err
	})
	if err != nil || len(seen) < 1000 {
		t.Fatalf("reading the sample workspace: %d words, %v", len(seen), err)
	}
	for _, some := range words {
		text := strings.Join(some, " ")
		for i := 0; i < len(some); i += 7 {
			wantFound(t, text, some[i])
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add("Dying, parseHTTPHeader at 日本", "die parse")
	f.Add("a\x00b don't C++ \xff", "C++ b")
	f.Fuzz(wantFound)
}
