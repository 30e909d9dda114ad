package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
)

// A machine is what figures depend on besides the program.
type machine struct {
	Go       string            `json:"go"`
	Platform string            `json:"platform"`
	Cores    int               `json:"cores"`
	CPU      string            `json:"cpu,omitempty"`   // its name, where the system tells
	Tools    map[string]string `json:"tools,omitempty"` // the versions of those that are installed
}

// thisMachine describes the machine that the benchmark runs on.
func thisMachine() machine {
	m := machine{
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Cores: runtime.NumCPU(),
		Tools: map[string]string{},
	}
	// Without the file, or the line in it, the name is not known.
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		m.CPU = cpuName(string(info))
	}
	for _, tool := range []string{"git", rg, sqlite} {
		if out, err := exec.Command(tool, "--version").Output(); err == nil {
			m.Tools[tool] = version(string(out))
		}
	}
	return m
}

// cpuName finds the name of the first CPU in what Linux says about them.
func cpuName(info string) string {
	for line := range strings.Lines(info) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// version returns the first word that begins with a digit.
func version(text string) string {
	for word := range strings.FieldsSeq(text) {
		if word[0] >= '0' && word[0] <= '9' {
			return word
		}
	}
	return "of unknown version"
}

func (m machine) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s, %s, %d cores", m.Go, m.Platform, m.Cores)
	if m.CPU != "" {
		fmt.Fprintf(&text, " of %s", m.CPU)
	}
	for _, tool := range slices.Sorted(maps.Keys(m.Tools)) {
		fmt.Fprintf(&text, ", %s %s", tool, m.Tools[tool])
	}
	return text.String()
}
