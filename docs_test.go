package filebus_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"filebus"
)

// The tests in this file hold the rules for documents and other texts, and the budgets of
// testdata/house.txt: how much there may be of everything.

// markdown returns the documents: the Markdown files that are no test data.
func markdown(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(files(t), func(name string) bool { return path.Ext(name) != ".md" || isData(name) })
}

// TestText finds what does not belong into sources and documents: paths of the
// machine they were written on, bytes that editors leave behind.
func TestText(t *testing.T) {
	machine := regexp.MustCompile(`(^|[^\w.~-])/(` + strings.Join([]string{"work", "root", "home", "Users"}, "|") + `)/\w`)
	for _, name := range files(t) {
		text := read(t, name)
		if slices.Contains([]string{".db", ".png", ".gz", ".sum"}, path.Ext(name)) || strings.Contains(name, ".min.") {
			continue
		}
		for i, line := range strings.Split(string(text), "\n") {
			if found := machine.FindString(line); found != "" {
				t.Errorf("%s:%d: the path of a machine: %q", name, i+1, found)
			}
			if !isData(name) && strings.TrimRight(line, " \t\r") != line {
				t.Errorf("%s:%d: white space at the end of the line", name, i+1)
			}
		}
		if isData(name) {
			continue
		}
		if !bytes.HasSuffix(text, []byte("\n")) || bytes.HasSuffix(text, []byte("\n\n")) {
			t.Errorf("%s: does not end with one line end", name)
		}
		if !utf8.Valid(text) {
			t.Errorf("%s: not UTF-8", name)
		}
	}
}

// TestWords holds how much there is to read, in words as wc -w counts them.
func TestWords(t *testing.T) {
	const most = 60_000
	words := 0
	for _, name := range markdown(t) {
		words += len(strings.Fields(string(read(t, name))))
	}
	if words > most {
		t.Errorf("the documents have %d words, more than %d: say less, here or elsewhere", words, most)
	}
}

// TestDecisions holds the numbering: no number is missing or used twice, and the
// title has the file's. A decision that another one replaces is one line, which names it.
func TestDecisions(t *testing.T) {
	names, err := filepath.Glob("docs/decisions/*")
	if err != nil || len(names) == 0 {
		t.Fatalf("docs/decisions: %d files, %v", len(names), err)
	}
	file := regexp.MustCompile(`^([0-9]{4})-[a-z0-9-]+\.md$`)
	title := regexp.MustCompile(`^# 0*([0-9]+)[.:] \S`)
	for i, name := range names { // sorted
		number := file.FindStringSubmatch(filepath.Base(name))
		if number == nil {
			t.Errorf("%s: not named NNNN-title.md", name)
			continue
		}
		if n, _ := strconv.Atoi(number[1]); n != i+1 {
			t.Errorf("%s: its number is %d, want %d: numbers have no gaps and are used once", name, n, i+1)
		}
		text := string(read(t, name))
		if got := title.FindStringSubmatch(text); got == nil || got[1] != strings.TrimLeft(number[1], "0") {
			t.Errorf("%s: its first line is %q, want # and its number", name, firstLine(text))
		}
		for _, part := range []string{"Context", "Choice", "Consequences"} {
			if !strings.Contains(text, "\n## "+part+"\n") && !strings.Contains(text, "\n\nSuperseded by [") {
				t.Errorf("%s: no part %q", name, part)
			}
		}
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// TestLinks follows the relative links of the documents: each leads somewhere,
// to a heading if it names one, and each document can be reached from the README.
func TestLinks(t *testing.T) {
	reached, queue := map[string]bool{"README.md": true}, []string{"README.md"}
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		for _, l := range linksOf(string(read(t, name))) {
			target, fragment, _ := strings.Cut(l, "#")
			file := name
			if target != "" {
				file = path.Join(path.Dir(name), target)
			}
			info, err := os.Stat(filepath.FromSlash(file))
			if err != nil {
				t.Errorf("%s: the link %s leads nowhere", name, l)
				continue
			}
			if info.IsDir() || path.Ext(file) != ".md" {
				continue
			}
			if fragment != "" && !slices.Contains(anchorsOf(string(read(t, file))), fragment) {
				t.Errorf("%s: the link %s names no heading", name, l)
			}
			if !reached[file] {
				reached[file] = true
				queue = append(queue, file)
			}
		}
	}
	for _, name := range markdown(t) {
		if !reached[name] {
			t.Errorf("%s: no link leads to it from README.md", name)
		}
	}
}

// linksOf returns the relative targets of the links of a document.
func linksOf(text string) []string {
	var links []string
	for _, m := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(prose(text), -1) {
		if !strings.Contains(m[1], "://") {
			links = append(links, m[1])
		}
	}
	return links
}

// anchorsOf returns the fragments by which a document's headings are reached.
func anchorsOf(text string) []string {
	var anchors []string
	drop := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for line := range strings.Lines(prose(text)) {
		heading := strings.TrimLeft(line, "#")
		if heading != line && strings.HasPrefix(heading, " ") {
			words := drop.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
			anchors = append(anchors, strings.ReplaceAll(words, " ", "-"))
		}
	}
	return anchors
}

// prose returns a document without its fenced blocks and inline code.
func prose(text string) string {
	var out strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		ticks := trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`"))]
		switch {
		case fence == "" && len(ticks) >= 3:
			fence = ticks
		case fence != "" && trimmed == fence:
			fence = ""
		case fence == "" && strings.HasPrefix(line, "#"):
			out.WriteString(line) // anchors keep the words of inline code
		case fence == "":
			out.WriteString(inlineCode.ReplaceAllString(line, ""))
		}
	}
	return out.String()
}

var inlineCode = regexp.MustCompile("`[^`]*`")

func TestLinksOf(t *testing.T) {
	text := "# A `b` heading: 2\n\n[a](b.md#c) `[x](no.md)` [d](https://example.org) [e](#f)\n\n```\n[y](no.md)\n# no\n```\n"
	if got, want := fmt.Sprint(linksOf(text)), "[b.md#c #f]"; got != want {
		t.Errorf("linksOf(%q) = %s, want %s", text, got, want)
	}
	if got, want := fmt.Sprint(anchorsOf(text)), "[a-b-heading-2]"; got != want {
		t.Errorf("anchorsOf(%q) = %s, want %s", text, got, want)
	}
}

// TestLayoutPages makes sure that every page shows a whole file, which the tests
// of the layouts read.
func TestLayoutPages(t *testing.T) {
	names, err := filepath.Glob("docs/layouts/*.md")
	if err != nil || len(names) == 0 {
		t.Fatalf("docs/layouts: %d pages, %v", len(names), err)
	}
	for _, name := range names {
		text := string(read(t, name))
		if !strings.HasPrefix(text, "# ") {
			t.Errorf("%s: its first line is %q, want a title", name, firstLine(text))
		}
		if !strings.Contains(text, "\n````") || !strings.Contains(text, " file=") {
			t.Errorf("%s: shows no file: a fence of four backticks with file=NAME", name)
		}
	}
}

// The head of testdata/house.txt says what is counted and when a number may rise. The table
// as it is measured, and as it is written anew:
//
//	go test . -run TestBudgets -v
//	go test . -run TestBudgets -house
const budgetFile = "testdata/house.txt"

var rewrite = flag.Bool("house", false, "write "+budgetFile+" anew: numbers that fell, and where the sums did not rise, those that rose")

// A budget is a row of the table: of a package or of all, three numbers; else one.
type budget struct {
	name    string
	numbers []int
	reason  string // why the row may be higher than it was
}

// budgetColumns say what the numbers of a package are. Rows may rise where no sum of those
// with weight does.
var budgetColumns = []struct {
	name   string
	weight bool
}{{"lines", true}, {"exported names", false}, {"decisions", true}}

const budgetSum = "sum"

// say names a number of a row.
func (b *budget) say(i, n int) string {
	if len(b.numbers) == 1 {
		return fmt.Sprintf("%s: %d", b.name, n)
	}
	return fmt.Sprintf("%s: %d %s", b.name, n, budgetColumns[i].name)
}

// budgets is a table of rows.
type budgets []*budget

func parseBudgets(text string) (all budgets) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] == "#" {
			continue
		}
		b := &budget{name: words[0]}
		for words = words[1:]; len(words) > 0; words = words[1:] {
			n, err := strconv.Atoi(words[0])
			if err != nil {
				break
			}
			b.numbers = append(b.numbers, n)
		}
		b.reason = strings.Join(words, " ")
		all = append(all, b)
	}
	return all
}

// row returns the row with this name, which may have no numbers: then there is none.
func (all budgets) row(name string) *budget {
	if i := slices.IndexFunc(all, func(b *budget) bool { return b.name == name }); i >= 0 {
		return all[i]
	}
	return &budget{name: name}
}

// number returns a number of a row, 0 if it has none.
func (all budgets) number(name string, i int) int {
	if numbers := all.row(name).numbers; i < len(numbers) {
		return numbers[i]
	}
	return 0
}

// isAbove reports whether a sum is higher than in another table.
func (all budgets) isAbove(other budgets) bool {
	return slices.ContainsFunc([]int{0, 1, 2}, func(i int) bool {
		return budgetColumns[i].weight && all.number(budgetSum, i) > other.number(budgetSum, i)
	})
}

// text returns the table as the file has it.
func (all budgets) text() string {
	var out strings.Builder
	for _, b := range all {
		fmt.Fprintf(&out, "%-24s", b.name)
		for _, n := range b.numbers {
			fmt.Fprintf(&out, " %9d", n)
		}
		if b.reason != "" {
			out.WriteString("  " + b.reason)
		}
		out.WriteString("\n")
	}
	return out.String()
}

// measure returns the table as it is.
func measure(t *testing.T) (all budgets) {
	t.Helper()
	packages, sum := map[string]*budget{}, &budget{name: budgetSum, numbers: make([]int, 3)}
	notes, findings, waiters := 0, 0, 0
	for _, f := range libraryFiles(t) {
		b := packages[f.pack]
		if b == nil {
			b = &budget{name: strings.TrimPrefix(f.pack, "filebus/"), numbers: make([]int, 3)}
			packages[f.pack], all = b, append(all, b)
		}
		for i, n := range []int{bytes.Count(f.text, []byte("\n")), len(f.exported()), f.count(isDecision)} {
			b.numbers[i] += n
			if b.name != "cmd/filebus-bench" {
				sum.numbers[i] += n
			}
		}
		if strings.HasPrefix(f.pack, "filebus/cmd/filebus") {
			notes += f.count(isNote)
		}
		findings, waiters = findings+f.count(isFinding), waiters+f.count(isWaiter)
	}
	slices.SortFunc(all, func(a, b *budget) int { return strings.Compare(a.name, b.name) })
	cli := string(read(t, "docs/cli.md"))
	one := func(name string, n int) *budget { return &budget{name: name, numbers: []int{n}} }
	return append(all, sum, one("flags", strings.Count(cli, "\n- `-")), one("notes", notes), one("findings", findings),
		one("waiters", waiters), one("words", len(strings.Fields(cli))))
}

// count returns how many nodes of a file are so.
func (f *goFile) count(is func(ast.Node) bool) (n int) {
	ast.Inspect(f.tree, func(node ast.Node) bool {
		if node != nil && is(node) {
			n++
		}
		return true
	})
	return n
}

func isDecision(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
		return true
	case *ast.CaseClause:
		return n.List != nil
	case *ast.CommClause:
		return n.Comm != nil
	case *ast.BinaryExpr:
		return n.Op == token.LAND || n.Op == token.LOR
	}
	return false
}

func isNote(n ast.Node) bool {
	call, _ := n.(*ast.CallExpr)
	if call == nil {
		return false
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	return ok && slices.Contains([]string{"Note", "NoteTry", "Remark"}, method.Sel.Name)
}

func isFinding(n ast.Node) bool {
	spec, isType := n.(*ast.TypeSpec)
	if !isType || !endsIn(spec, "finding", "problem") {
		return false
	}
	fields, ok := spec.Type.(*ast.StructType)
	return ok && slices.ContainsFunc(fields.Fields.List, func(f *ast.Field) bool { return f.Tag != nil && strings.Contains(f.Tag.Value, "json:") })
}

func isWaiter(n ast.Node) bool {
	spec, isType := n.(*ast.TypeSpec)
	return isType && endsIn(spec, "waiter")
}

func endsIn(spec *ast.TypeSpec, words ...string) bool {
	name := strings.ToLower(spec.Name.Name)
	return slices.ContainsFunc(words, func(word string) bool { return strings.HasSuffix(name, word) })
}

// rewritten returns the table with what was measured: what fell, and if no sum rose, what rose.
// The reason of a row that fell is done with.
func (all budgets) rewritten(measured budgets) (out budgets) {
	for _, m := range measured {
		b := &budget{m.name, slices.Clone(m.numbers), all.row(m.name).reason}
		for i, n := range m.numbers {
			switch bound := all.number(m.name, i); {
			case n < bound:
				b.reason = ""
			case len(all) > 0 && measured.isAbove(all):
				b.numbers[i] = bound
			}
		}
		out = append(out, b)
	}
	return out
}

// TestBudgets holds what is measured against the table.
func TestBudgets(t *testing.T) {
	text := string(read(t, budgetFile))
	rows, measured := parseBudgets(text), measure(t)
	if *rewrite {
		rows = rows.rewritten(measured)
		head := regexp.MustCompile(`(?m)^(#.*\n)+`).FindString(text)
		if err := os.WriteFile(budgetFile, []byte(head+rows.text()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("as measured:\n%s", measured.text())
	for _, complaint := range rows.held(measured) {
		t.Errorf("%s: %s", budgetFile, complaint)
	}
}

// held returns what is wrong with a table, as things are measured. A number that is lower than
// its row by a twentieth, or by 100, has to be written down: else what was gained would be
// room for somebody to fill. What is less may wait for the next one.
func (all budgets) held(measured budgets) (complaints []string) {
	for _, m := range measured {
		for i, n := range m.numbers {
			switch bound := all.number(m.name, i); {
			case n > bound:
				complaints = append(complaints, fmt.Sprintf("%s, more than %d: take as much away, here or elsewhere; if no sum rose, run "+
					"\"go test . -run TestBudgets -house\"; if an open issue allows it, write the number with the issue's title behind it", m.say(i, n), bound))
			case bound-n > min(bound/20, 100):
				complaints = append(complaints, fmt.Sprintf("%s, fewer than %d: run \"go test . -run TestBudgets -house\", so that it stays so", m.say(i, n), bound))
			}
		}
	}
	for _, b := range all {
		if len(measured.row(b.name).numbers) != len(b.numbers) {
			complaints = append(complaints, fmt.Sprintf("%s: the row has %d numbers, want %d", b.name, len(b.numbers), len(measured.row(b.name).numbers)))
		}
	}
	return complaints
}

// TestBudgetsRise looks at how the last commits changed the table, and at what is not committed.
func TestBudgetsRise(t *testing.T) {
	at := func(commit string) budgets { return parseBudgets(git(t, "show", commit+":"+budgetFile)) }
	now := parseBudgets(string(read(t, budgetFile)))
	for line := range strings.Lines(git(t, "log", "-n30", "--no-merges", "--diff-filter=M", "--format=%H %P", "--", budgetFile)) {
		if commit, parent, _ := strings.Cut(strings.TrimSpace(line), " "); parent != "" { // a shallow clone has not all
			for _, complaint := range at(commit).risen(at(parent), now) {
				t.Errorf("%s as of commit %.12s: %s", budgetFile, commit, complaint)
			}
		}
	}
	if git(t, "ls-tree", "HEAD", budgetFile) != "" {
		for _, complaint := range now.risen(at("HEAD"), now) {
			t.Errorf("%s: %s", budgetFile, complaint)
		}
	}
}

// risen returns what a change of the table has raised against the rule, and what has not been
// put right since.
func (all budgets) risen(before, now budgets) (complaints []string) {
	for _, b := range all {
		if !all.isAbove(before) || !now.isAbove(before) || b.reason != "" || now.row(b.name).reason != "" {
			continue
		}
		for i, n := range b.numbers {
			if was := before.number(b.name, i); n > was && now.number(b.name, i) > was {
				complaints = append(complaints, fmt.Sprintf("%s, %d before: it rose without a reason, though a sum rose: take as much away, "+
					"or write the title of the open issue that allows it behind the row", b.say(i, n), was))
			}
		}
	}
	return complaints
}

func TestBudgetRules(t *testing.T) {
	before := parseBudgets("# a b\na 100 10 20\nb 3000 10 20\nsum 3100 20 40\nflags 40\n")
	tests := []struct {
		about, after string
		held, risen  int    // complaints: measured against before; as a change of the table
		rewritten    string // the table, once what is after was measured
	}{
		{"nothing", "a 100 10 20\nb 3000 10 20\nsum 3100 20 40\nflags 40", 0, 0, "a 100 10 20 b 3000 10 20 sum 3100 20 40 flags 40"},
		{"moved", "a 150 11 25\nb 2950 9 15\nsum 3100 20 40\nflags 41", 6, 0, "a 150 11 25 b 2950 9 15 sum 3100 20 40 flags 41"},
		{"lines", "a 150 10 20\nb 3000 10 20\nsum 3150 20 40\nflags 41", 3, 3, "a 100 10 20 b 3000 10 20 sum 3100 20 40 flags 40"},
		{"decisions", "a 100 10 21 The title\nb 2990 10 20\nsum 3090 20 41 The title\nflags 39", 2, 0, "a 100 10 20 b 2990 10 20 sum 3090 20 40 flags 39"},
		{"much less", "a 94 10 20\nb 2899 10 20\nsum 2993 20 40\nflags 37", 4, 0, "a 94 10 20 b 2899 10 20 sum 2993 20 40 flags 37"},
		{"a package", "a 100 10 20\nc 50 1 2\nb 3000 10 20\nsum 3150 21 42\nflags 40", 6, 6, "a 100 10 20 c 0 0 0 b 3000 10 20 sum 3100 20 40 flags 40"},
		{"none", "a 100 10 20\nsum 3100 20 40\nflags 40", 1, 0, "a 100 10 20 sum 3100 20 40 flags 40"},
	}
	for _, test := range tests {
		after := parseBudgets(test.after)
		if got := before.held(after); len(got) != test.held {
			t.Errorf("%s: held says %q, want %d", test.about, got, test.held)
		}
		if got := after.risen(before, after); len(got) != test.risen {
			t.Errorf("%s: risen says %q, want %d", test.about, got, test.risen)
		}
		if got := after.risen(before, before); len(got) != 0 {
			t.Errorf("%s: risen says %q of what was put right", test.about, got)
		}
		if got := strings.Join(strings.Fields(before.rewritten(after).text()), " "); got != test.rewritten {
			t.Errorf("%s: rewritten is %s, want %s", test.about, got, test.rewritten)
		}
	}
}

// TestSample makes sure that the embedded sample is what lies on disk,
// dot folders included.
func TestSample(t *testing.T) {
	embedded, onDisk := map[string]bool{}, 0
	sample, err := filebus.Sample()
	if err != nil {
		t.Fatal(err)
	}
	err = fs.WalkDir(sample, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			embedded[name] = true
		}
		return err
	})
	if err != nil {
		t.Fatalf("walking the sample: %v", err)
	}
	for _, name := range files(t) {
		inside, isSample := strings.CutPrefix(name, "testdata/workspace/")
		if !isSample {
			continue
		}
		onDisk++
		if !embedded[inside] {
			t.Errorf("%s is not embedded", name)
		}
	}
	if onDisk != len(embedded) || onDisk < 40 {
		t.Errorf("the sample has %d files on disk and %d embedded, want the same and at least 40", onDisk, len(embedded))
	}
}
