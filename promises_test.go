package filebus_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPromises reads testdata/promises.txt: each row has a name and a bound, and is held by a test, whose file names it or
// takes all rows of which the test is the holder, or by a step of the gate.
func TestPromises(t *testing.T) {
	tests := map[string][]*goFile{}
	for _, f := range goFiles(t) {
		for _, d := range f.functions() {
			if f.isTest() && d.Recv == nil && strings.HasPrefix(d.Name.Name, "Test") {
				tests[d.Name.Name] = append(tests[d.Name.Name], f)
			}
		}
	}
	gate, seen := string(read(t, ".ci/run")), map[string]bool{}
	for i, line := range strings.Split(strings.TrimSuffix(string(read(t, "testdata/promises.txt")), "\n"), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 5 || slices.Contains(fields, "") || !regexp.MustCompile(`^[a-z0-9-]+(/[a-z0-9@-]+)+$`).MatchString(fields[0]) {
			t.Errorf("testdata/promises.txt:%d: %q: want a name, a relation, a bound, a unit and a holder", i+1, line)
			continue
		}
		name, relation, bound, holder := fields[0], fields[1], fields[2], fields[4]
		if _, err := strconv.ParseFloat(bound, 64); err != nil || relation != "<=" && relation != ">=" || seen[name] {
			t.Errorf("testdata/promises.txt:%d: %s %s %s: want <= or >=, a number, and no name twice", i+1, name, relation, bound)
		}
		seen[name] = true
		isHeld := slices.ContainsFunc(tests[holder], func(f *goFile) bool {
			text := string(f.text)
			return strings.Contains(text, `"`+name+`"`) || strings.Contains(text, `"promises.txt"), t.Name())`)
		}) ||
			strings.Contains(gate, `step "`+holder+`" `) && strings.Contains(gate, "promised "+name)
		if !isHeld {
			t.Errorf("testdata/promises.txt:%d: no test %s and no step of .ci/run of this name holds %s", i+1, holder, name)
		}
	}
	if len(seen) < 10 {
		t.Errorf("testdata/promises.txt has %d rows", len(seen))
	}
}
