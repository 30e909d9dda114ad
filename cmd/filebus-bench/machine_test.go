package main

import "testing"

func TestMachineText(t *testing.T) {
	for _, test := range []struct {
		machine machine
		want    string
	}{
		{machine{Go: "go1.26", Platform: "linux/amd64", Cores: 2}, "go1.26, linux/amd64, 2 cores"},
		{
			machine{Go: "go1.26", Platform: "linux/amd64", Cores: 2, CPU: "A 1", Tools: map[string]string{"rg": "14", "git": "2.39"}},
			"go1.26, linux/amd64, 2 cores of A 1, git 2.39, rg 14",
		},
	} {
		if got := test.machine.String(); got != test.want {
			t.Errorf("%+v: got %q, want %q", test.machine, got, test.want)
		}
	}
	if got := thisMachine(); got.Cores < 1 || got.Go == "" || (got.Tools["git"] != "") != hasTool("git") {
		t.Errorf("this machine: got %+v", got)
	}
}

func TestVersion(t *testing.T) {
	for text, want := range map[string]string{
		"git version 2.39.5\n":                  "2.39.5",
		"ripgrep 14.1.0 (rev abc)\n-SIMD":       "14.1.0",
		"3.40.1 2022-12-28 14:03:47 df5c2536\n": "3.40.1",
		"":                                      "of unknown version",
	} {
		if got := version(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestCPUName(t *testing.T) {
	info := "processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7763\nflags\t: a b\n\nprocessor\t: 1\nmodel name\t: Other\n"
	if got, want := cpuName(info), "AMD EPYC 7763"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := cpuName("nothing here"); got != "" {
		t.Errorf("got %q, want nothing", got)
	}
}
