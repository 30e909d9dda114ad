//go:build ignore

// Mutate measures the tests: it breaks the program in one place at a time, and
// says which tests notice. What survives is either code that no test needs, or
// a test that is missing.
//
//	go run .ci/mutate.go -seed 1 -count 40
//	go run .ci/mutate.go -seed 1 -count 10 -packages ./query/...
//
// It draws places at random, all equally likely, from the Go files of the packages,
// tests left out. The same seed draws the same places from the same files. What is done there:
//
//   - the condition of an if is negated;
//   - == and != are swapped, so are < and <=, > and >=, && and ||, + and -;
//   - an integer n becomes n+1;
//   - a statement that is a call or an assignment is dropped;
//   - an error that is returned becomes nil.
//
// A mutant that does not compile is replaced by the next. The work tree is never
// touched: Go gets the changed file as an overlay. The tests of the changed package
// run first; if they pass, those of cmd/filebus. Each mutant is a line:
//
//	caught-by-package  query/scan.go:40  n < 2 became n <= 2
//
// where a test that does not end within -timeout counts as failed. The last line is the sum. It takes from seconds to minutes for each
// mutant, so it is no step of the gate. The exit code is 0 whatever survives.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A site is a place in a file, with the text that takes the place of another.
type site struct {
	pack, file string // the file's path is absolute
	line       int
	start, end int // bytes
	text       string
}

// A mutator runs the tests of mutants.
type mutator struct {
	ctx     context.Context
	dir     string // for the changed files
	timeout time.Duration
}

func main() {
	log.SetFlags(0)
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "what the places are drawn by")
	count := flag.Int("count", 40, "how many mutants are tested")
	packages := flag.String("packages", "./...", "the `pattern` of the packages that are changed")
	timeout := flag.Duration("timeout", 120*time.Second, "how long the tests of a package may take")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	m := &mutator{ctx: ctx, dir: dir, timeout: *timeout}
	if err := m.testAll(*packages, *seed, *count); err != nil {
		log.Print(err)
	}
}

// must returns a value that nothing goes on without.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// testAll draws mutants until enough of them were tested.
func (m *mutator) testAll(packages string, seed uint64, count int) error {
	sites := findSites(m.ctx, packages)
	root, _ := os.Getwd() // else names are whole
	fmt.Printf("%d places, seed %d\n", len(sites), seed)
	caught, tested := 0, 0
	for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(len(sites)) {
		if tested == count || m.ctx.Err() != nil {
			break
		}
		verdict, change := m.test(sites[i])
		if verdict == "" || m.ctx.Err() != nil {
			continue
		}
		tested++
		if verdict != "survived" {
			caught++
		}
		name := strings.TrimPrefix(sites[i].file, root+string(filepath.Separator))
		fmt.Printf("%-17s  %s:%d  %s\n", verdict, filepath.ToSlash(name), sites[i].line, change)
	}
	fmt.Printf("caught %d of %d (seed %d)\n", caught, tested, seed)
	return m.ctx.Err()
}

// findSites returns all places of some packages.
func findSites(ctx context.Context, packages string) (all []site) {
	list := exec.CommandContext(ctx, "go", "list", "-f", "{{.ImportPath}}\t{{.Dir}}\t{{join .GoFiles \"\\t\"}}",
		packages)
	list.Stderr = os.Stderr
	for line := range strings.Lines(string(must(list.Output()))) {
		words := strings.Split(strings.TrimSpace(line), "\t")
		for _, name := range words[min(len(words), 2):] {
			all = append(all, sitesOf(words[0], filepath.Join(words[1], name))...)
		}
	}
	return all
}

// sitesOf returns the places of a file.
func sitesOf(pack, file string) (all []site) {
	text, set := must(os.ReadFile(file)), token.NewFileSet()
	parsed := must(parser.ParseFile(set, file, text, parser.SkipObjectResolution))
	add := func(from, to token.Pos, text string) {
		at := set.Position(from)
		all = append(all, site{pack, file, at.Line, at.Offset, set.Position(to).Offset, text})
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			cond := text[set.Position(n.Cond.Pos()).Offset:set.Position(n.Cond.End()).Offset]
			add(n.Cond.Pos(), n.Cond.End(), "!("+string(cond)+")")
		case *ast.BinaryExpr:
			if other := swapped(n.Op); other != "" {
				add(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), other)
			}
		case *ast.BasicLit:
			if value, err := strconv.Atoi(n.Value); err == nil && n.Kind == token.INT {
				add(n.Pos(), n.End(), strconv.Itoa(value+1))
			}
		case *ast.BlockStmt:
			for _, s := range n.List {
				addStatement(s, add)
			}
		case *ast.CaseClause:
			for _, s := range n.Body {
				addStatement(s, add)
			}
		}
		return true
	})
	return all
}

// swapped returns what takes the place of an operator, if anything does.
func swapped(op token.Token) string {
	for pair := range strings.FieldsSeq("==,!= <,<= >,>= &&,|| +,-") {
		a, b, _ := strings.Cut(pair, ",")
		switch op.String() {
		case a:
			return b
		case b:
			return a
		}
	}
	return ""
}

// addStatement adds the places that are whole statements.
func addStatement(s ast.Stmt, add func(from, to token.Pos, text string)) {
	switch s := s.(type) {
	case *ast.ExprStmt:
		add(s.Pos(), s.End(), "")
	case *ast.AssignStmt:
		if s.Tok != token.DEFINE {
			add(s.Pos(), s.End(), "")
		}
	case *ast.ReturnStmt:
		for _, last := range s.Results[max(len(s.Results)-1, 0):] {
			if name, ok := last.(*ast.Ident); ok && name.Name == "err" {
				add(last.Pos(), last.End(), "nil")
			}
		}
	}
}

// test tests one mutant: it returns the verdict, "" for one that does not compile,
// and what was changed.
func (m *mutator) test(s site) (verdict, change string) {
	text := must(os.ReadFile(s.file))
	mutant := string(text[:s.start]) + s.text + string(text[s.end:])
	changed := filepath.Join(m.dir, "mutant.go")
	overlay := must(json.Marshal(map[string]any{"Replace": map[string]string{s.file: changed}}))
	must(0, errors.Join(os.WriteFile(changed, []byte(mutant), 0o666), os.WriteFile(m.overlay(), overlay, 0o666)))
	if exec.CommandContext(m.ctx, "go", "build", "-overlay", m.overlay(), "-o", os.DevNull, s.pack).Run() != nil {
		return "", ""
	}
	change = became(string(text), mutant, s)
	if m.caught(s.pack) {
		return "caught-by-package", change
	}
	if m.caught("./cmd/filebus") {
		return "caught-by-cmd", change
	}
	return "survived", change
}

func (m *mutator) overlay() string { return filepath.Join(m.dir, "overlay.json") }

// caught runs the tests of a package with the mutant, and reports whether they fail, or take too long.
func (m *mutator) caught(pack string) bool {
	args := []string{"test", "-overlay", m.overlay(), "-failfast", "-timeout", m.timeout.String(), pack}
	return exec.CommandContext(m.ctx, "go", args...).Run() != nil
}

// became says how the line of a place was changed.
func became(before, after string, s site) string {
	if s.text == "" {
		return "without " + strings.Join(strings.Fields(before[s.start:s.end]), " ")
	}
	line := func(text string) string { return strings.TrimSpace(strings.Split(text, "\n")[s.line-1]) }
	return line(before) + " became " + line(after)
}
