package layout

import "testing"

func TestPlainPath(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", " ` `": "", "`src/auth/`": "src/auth", "./src//a.go": "src/a.go", "src/x/../a.go\n": "src/a.go", "/": "",
	} {
		if got := PlainPath(text); got != want {
			t.Errorf("PlainPath(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestCovers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		place, file string
		want        bool
	}{
		{"src", "src/a.go", true}, {"src", "src", true}, {"src", "srcs/a.go", false}, {"src/a.go", "src", false},
		{"src/*.go", "src/a.go", true}, {"src/*.go", "src/x/a.go", false}, {"src/**/a.go", "src/x/y.go", true},
		{"**/a.go", "src/b.go", false}, {"src/[", "src/[", true}, {"src/[", "src/a", false},
		{"", "src", false}, {"src", "", false},
	} {
		if got := Covers(test.place, test.file); got != test.want {
			t.Errorf("Covers(%q, %q) = %t, want %t", test.place, test.file, got, test.want)
		}
	}
}
