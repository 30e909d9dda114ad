package index

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func termsOf(text string) []string {
	var terms []string
	for token := range Analyze([]byte(text)) {
		terms = append(terms, token.Term)
	}
	return terms
}

func TestAnalyzeTerms(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", ""},
		{"space", " \n\t", ""},
		{"punctuation", "... --- /// '' ++ # .", ""},
		{"words", "Parsing the parsers", "pars parser"},
		{"stop words", "What is this and that?", ""},
		{"capitals", "README Error ERROR", "readm error error"},
		{"camel case", "parseHTTPHeader", "parsehttphead pars http header"},
		{"snake case", "parse_http_header", "parsehttphead pars http header"},
		{"kebab case", "parse-http-header", "parsehttphead pars http header"},
		{"constant", "MAX_RETRIES", "maxretri max retri"},
		{"pascal case", "LoadBalancer", "loadbalanc load balanc"},
		{"one capital inside", "OAuth2Token", "oauth2token o auth2 token"},
		{"plural of capitals", "APIs", "api"},
		{"digits", "sha256 sha-256", "sha256 sha256 sha 256"},
		{"underscores around", "__init__ _text_ _", "init text"},
		{"compound", "file-based", "file base"},
		{"name with a short end", "agent-a phase-ii plan-b", "agenta agent phaseii phase ii planb plan b"},
		{"prefix", "sub-agents subagents e-mail", "subag sub agent subag email e mail"},
		{"file name", "jwt.go", "jwtgo jwt go"},
		{"path", "src/auth/jwt.go", "src auth jwtgo jwt go"},
		{"rooted path", "/usr/local/bin", "usr local bin"},
		{"dot file", ".env", ".env env"},
		{"dot file in a path", "app/.gitignore,", "app .gitignore gitignor"},
		{"sentence end", "end. Next", "end next"},
		{"ellipsis", "wait...go", "wait go"},
		{"version", "v1.2.3", "v1.2.3 1.2.3"},
		{"number", "3.14 1.2.3 2.", "3.14 1.2.3 2"},
		{"version of a name", "bleve-v2.6.1", "blevev2.6.1 bleve v2.6.1 2.6.1"},
		{"issue id", "ISSUE-20251212-001", "issue20251212001 issu 20251212 001"},
		{"task id", "task-003", "task003 task 003"},
		{"languages", "C++ C# F#, c", "c++ c# f# c"},
		{"language behind a dot", ".C++ !'B#", "c++ b#"},
		{"not a language", "C## x#y", "c x y"},
		{"dotted name", "os.ReadFile()", "osreadfil os read file"},
		{"possessive", "agent's agent’s don't", "agent agent dont"},
		{"quotes", "'quoted' ‘word’", "quot word"},
		{"accents", "Café naïve Straße Ångström", "cafe naiv strass angstrom"},
		{"combining marks", "cafe\u0301", "cafe"},
		{"Cyrillic", "Привет МИР", "привет мир"},
		{"Greek keeps its accents", "Λόγος", "λόγος"},
		{"Han", "全文検索", "全文 文検 検索"},
		{"one character", "犬", "犬"},
		{"Katakana", "サーバー", "サー ーバ バー"},
		{"Hangul", "검색", "검색"},
		{"mixed scripts", "Go言語mode", "go 言語 mode"},
		{"URL", "https://example.com/a_b?x=1", "https examplecom exampl com ab b x 1"},
		{"Markdown", "**bold** `code` [link](a.md)", "bold code link amd md"},
		{"invalid UTF-8", "good\xff\xfebytes \xc3", "good byte"},
		{"replacement character", "a\ufffdword", "word"},
		{"NUL", "one\x00two", "one two"},
		{"emoji", "🧁 Muffin ✅done", "🧁 muffin ✅ done"},
		{"emoji of several characters", "⚠️ 👩🏽‍💻 🇩🇪", "⚠ 👩 💻 🇩 🇪"},
		{"arrows and boxes", "a → b │ ─ © ™", "b"},
		{"error codes", "E1001 TS2345 ERR_CONNECTION_RESET 0x80070005", "e1001 ts2345 errconnectionreset err connect reset 0x80070005"},
		{"hashes", "9f86d081884c sha256:3b0c44298fc1c149", "9f86d081884c sha256 3b0c44298fc1c149"},
		{"home folder", "~/.config/app.toml", ".config config apptoml app toml"},
		{"windows path", `C:\Users\me\notes.md`, "c user notesmd note md"},
		{"scoped package", "@scope/my-pkg@1.2.0", "scope mypkg pkg 1.2.0"},
		{"flag", "--dry-run -v", "dryrun dri run v"},
		{"key and value", "retries=3;timeout:30s", "retri 3 timeout 30s"},
		{"generic type", "Map<String, List<Int>>", "map string list int"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := strings.Join(termsOf(test.text), " ")
			if got != test.want {
				t.Errorf("Analyze(%q)\n got %s\nwant %s", test.text, got, test.want)
			}
		})
	}
}

func TestAnalyzeTokens(t *testing.T) {
	t.Parallel()
	text := "Call parseHTTP in src/a.go, not C++: 検索語"
	var got []string
	for token := range Analyze([]byte(text)) {
		got = append(got, fmt.Sprintf("%d %s %q", token.Position, token.Term, text[token.Start:token.End]))
	}
	want := []string{
		`0 call "Call"`,
		`1 parsehttp "parseHTTP"`, `1 pars "parse"`, `2 http "HTTP"`,
		`4 src "src"`, `5 ago "a.go"`, `6 go "go"`,
		`8 c++ "C++"`,
		`9 検索 "検索"`, `10 索語 "索語"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Analyze(%q): -want +got\n%s", text, diff)
	}
}

// Every spelling of a name must be found by every other.
func TestAnalyzeSpellings(t *testing.T) {
	t.Parallel()
	for _, group := range [][]string{
		{"parseHTTPHeader", "parse_http_header", "parse-http-header", "ParseHttpHeader", "parse.http.header"},
		{"sub-agent", "subAgent", "sub_agents"},
		{"sha-256", "SHA_256"},
	} {
		for _, spelling := range group[1:] {
			if got, want := termsOf(spelling), termsOf(group[0]); !slices.Equal(got, want) {
				t.Errorf("Analyze(%q) = %q, want %q as for %q", spelling, got, want, group[0])
			}
		}
	}
}

func TestAnalyzeBounds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text string }{
		{"one long word", strings.Repeat("x", 1<<20)},
		{"long word of two-byte letters", strings.Repeat("é", 1<<19)},
		{"encoded data", strings.Repeat("aGVsbG8gd29ybGQ", 1<<16)},
		{"encoded data with slashes", strings.Repeat("aGVs/bG8g+d29ybGQ", 1<<16)},
		{"long path", strings.Repeat("dir/", 1<<18)},
		{"long dotted name", strings.Repeat("a.", 1<<19)},
		{"dots", strings.Repeat(".", 1<<20)},
		{"underscores", strings.Repeat("_", 1<<20)},
		{"apostrophes", strings.Repeat("a'", 1<<19)},
		{"Han", strings.Repeat("検索", 1<<17)},
		{"marks", "a" + strings.Repeat("\u0301", 1<<19)},
	} {
		t.Run(test.name, func(t *testing.T) {
			tokens := 0
			for token := range Analyze([]byte(test.text)) {
				tokens++
				if len(token.Term) > maxTerm || token.Term == "" || token.Start < 0 || token.End > len(test.text) || token.Start >= token.End {
					t.Fatalf("token %d is %+v", tokens, token)
				}
			}
			if tokens > len(test.text) {
				t.Errorf("%d tokens in %d bytes", tokens, len(test.text))
			}
		})
	}
}

// The parts of an identifier can be any number of bytes apart.
func TestAnalyzeFarApart(t *testing.T) {
	t.Parallel()
	for _, gap := range []int{1, 300, 1 << 16, 1 << 17} {
		text := "a1" + strings.Repeat("_", gap) + "b2 end"
		want := []Token{{"a1b2", 0, gap + 4, 0}, {"a1", 0, 2, 0}, {"b2", gap + 2, gap + 4, 1}, {"end", gap + 5, gap + 8, 2}}
		got := slices.Collect(Analyze([]byte(text)))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("tokens of two parts with %d underscores between (-want +got):\n%s", gap, diff)
		}
	}
}

func TestAnalyzerRemembers(t *testing.T) {
	t.Parallel()
	a := NewAnalyzer()
	text := []byte("parseHTTPHeader 検索 words " + strings.Repeat("long", 40))
	first := slices.Collect(a.tokens(text, nil))
	if again := slices.Collect(a.tokens(text, nil)); !slices.Equal(first, again) {
		t.Errorf("the second time %v, the first %v", again, first)
	}
	var many strings.Builder
	for i := range 2*maxMemo + 10 {
		fmt.Fprintf(&many, "w%d ", i)
	}
	for range a.tokens([]byte(many.String()), nil) {
	}
	if got := slices.Collect(a.tokens(text, nil)); !slices.Equal(got, first) {
		t.Errorf("after %d other words %v, before %v", 2*maxMemo+10, got, first)
	}
	if a.memo.count > 3*maxMemo || len(a.terms) > 3*maxMemo {
		t.Errorf("the analyzer remembers %d runs and %d terms", a.memo.count, len(a.terms))
	}
}

func TestAnalyzeStops(t *testing.T) {
	t.Parallel()
	for token := range Analyze([]byte("alpha beta gamma")) {
		if token.Term != "alpha" {
			t.Errorf("got %q after the loop had ended", token.Term)
		}
		break
	}
}

func TestFrequencies(t *testing.T) {
	t.Parallel()
	a := NewAnalyzer()
	for range 2 { // the counts must be clean after the first time
		counts, length := a.frequencies([]byte("error errors jwt.go the error" + strings.Repeat(" many", 300)))
		got := map[string]int{}
		for _, c := range counts {
			got[a.terms[c.term]] = int(c.count)
		}
		want := map[string]int{"error": 3, "jwtgo": 1, "jwt": 1, "go": 1, "mani": 300}
		if diff := cmp.Diff(want, got); diff != "" || length != 306 {
			t.Errorf("frequencies: length %d, want 306; -want +got\n%s", length, diff)
		}
	}
}

// A change of the analysis must come with a new analysisVersion; this is what
// version 3 gives.
func TestAnalysisVersion(t *testing.T) {
	t.Parallel()
	text := "Running getUserIDs in src/api/v2.1/User-Service.test.ts; état 検索 C++ don't .env x86_64 re-run 2026-01-05 ✅"
	want := "4: run getuserid get user id src api v2.1 2.1 userservicetestt user servic test ts etat 検索 c++ dont .env env x8664 x86 64 rerun re run 20260105 2026 01 05 ✅"
	if got := fmt.Sprintf("%d: %s", analysisVersion, strings.Join(termsOf(text), " ")); got != want {
		t.Errorf("Analyze(%q)\n got %s\nwant %s", text, got, want)
	}
}

func FuzzAnalyze(f *testing.F) {
	for _, seed := range []string{"", "parseHTTPHeader a/.env C++ v1.2 don’t", "検索 é\u0301 \xff", "a.b-c_d/e'f#"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		last := 0
		for token := range Analyze(text) {
			switch {
			case token.Term == "" || len(token.Term) > maxTerm || !utf8.ValidString(token.Term):
				t.Fatalf("Analyze(%q): term %q", text, token.Term)
			case token.Start < 0 || token.Start >= token.End || token.End > len(text):
				t.Fatalf("Analyze(%q): token %+v is not inside %d bytes", text, token, len(text))
			case token.Position < last:
				t.Fatalf("Analyze(%q): position %d after %d", text, token.Position, last)
			}
			last = token.Position
		}
	})
}
