package main

import (
	"strings"
	"testing"
)

func TestMachine(t *testing.T) {
	t.Parallel()
	got := thisMachine()
	git := strings.Contains(got, ", git ")
	if !strings.HasPrefix(got, "go") || !strings.Contains(got, " cores") || git != hasTool("git") {
		t.Errorf("got %q, want the version of Go, the cores, and git where there is one", got)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"git version 2.39.5\n":                  "2.39.5",
		"ripgrep 14.1.0 (rev abc)\n-SIMD":       "14.1.0",
		"3.40.1 2022-12-28 14:03:47 df5c2536\n": "3.40.1",
		"":                                      "unknown",
	} {
		if got := first(version, []byte(text)); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestCPUName(t *testing.T) {
	t.Parallel()
	info := "processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7763\nflags\t: a b\n\nprocessor\t: 1\nmodel name\t: Other\n"
	if got, want := first(cpuName, []byte(info)), "AMD EPYC 7763"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := first(cpuName, []byte("nothing here")); got != "unknown" {
		t.Errorf("got %q, want unknown", got)
	}
}
