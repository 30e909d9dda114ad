package likeness_test

import (
	"strings"
	"testing"

	"filebus/materialize/likeness"
)

func TestPieces(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "--": "", "BUILD-012b": "BUILD 12 b", "Task_003": "Task 3", "L001": "L 1", "000": "000", "año-07": "año 7",
	} {
		if got := strings.Join(likeness.Pieces(name), " "); got != want {
			t.Errorf("Pieces(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestContains(t *testing.T) {
	for _, c := range []struct {
		all, part string
		want      bool
	}{
		{"a b c", "b c", true}, {"a b c", "a", true}, {"a bc", "b", false}, {"a b c", "a c", false}, {"a", "",
			false}, {"", "", false},
	} {
		if got := likeness.Contains(strings.Fields(c.all), strings.Fields(c.part)); got != c.want {
			t.Errorf("Contains(%q, %q) = %t", c.all, c.part, got)
		}
	}
}

func TestSlips(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"muffin", "muffin", 0}, {"mufin", "muffin", 1}, {"muffni", "muffin", 1}, {"maffin", "muffin", 1},
		{"muffins", "muffin", 1}, {"é", "e", 1}, {"scone", "muffin", 6}, {"", "abc", 3},
	} {
		if got := likeness.Slips(c.a, c.b); got != c.want || likeness.Slips(c.b, c.a) != c.want {
			t.Errorf("Slips(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestIsNear(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"Build-1", "build-1", true}, {"build", "build-1", true}, {"biuld", "Build", true}, {"c1", "c2", true}, {"", "a", false},
		{"build", "review", false},
	} {
		if got := likeness.IsNear(c.a, c.b); got != c.want || likeness.IsNear(c.b, c.a) != c.want {
			t.Errorf("IsNear(%q, %q) = %t", c.a, c.b, got)
		}
	}
}

func TestNearest(t *testing.T) {
	for word, want := range map[string]string{
		"handof": "handoff", "NOTE": "note", "knowlegde": "knowledge", "nothing like it": "", "tuen": "turn",
	} {
		got := likeness.Nearest(word, []string{"handoff", "note", "knowledge", "turn", "result"})
		if strings.Join(got, " ") != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
