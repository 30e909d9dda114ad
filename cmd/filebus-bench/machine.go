package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
)

var (
	cpuName = regexp.MustCompile(`(?m)^model name\s*:\s*(.*\S)`)
	version = regexp.MustCompile(`(?:^|\s)(\d\S*)`)
)

// thisMachine says what figures depend on besides the program: the machine that the
// benchmark runs on, and the tools that are installed.
func thisMachine() string {
	text := fmt.Sprintf("%s, %s/%s, %d cores", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		text += " of " + first(cpuName, info)
	}
	for _, tool := range []string{"git", ripgrep, sqlite} {
		if out, err := exec.Command(tool, "--version").Output(); err == nil {
			text += ", " + tool + " " + first(version, out)
		}
	}
	return text
}

// first returns what the group of a pattern first matches.
func first(pattern *regexp.Regexp, text []byte) string {
	if match := pattern.FindSubmatch(text); match != nil {
		return string(match[1])
	}
	return "unknown"
}
