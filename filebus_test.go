package filebus_test

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// The tests in this file hold the rules of the house: who may import whom, how
// large things get, what is documented, and what lies where. A rule that a
// package has a reason to break is changed here, in the open.

// A pack is what the house says about one of our packages.
type pack struct {
	ours    []string // packages of ours that it may import
	modules []string // prefixes of other people's packages that it may import
}

// house lists every package. Who may import what is decided in
// docs/architecture.md; a package that is not here does not belong.
func house() map[string]pack {
	return map[string]pack{
		"filebus":                        {},
		"filebus/store/record":           {},
		"filebus/store/folder":           {ours: []string{"filebus/store/record"}, modules: []string{"golang.org/x/sys"}},
		"filebus/store/turnstile":        {ours: []string{"filebus/store/folder"}, modules: []string{"golang.org/x/sys"}},
		"filebus/migrations":             {modules: []string{"go.etcd.io/bbolt"}},
		"filebus/materialize/markdown":   {modules: []string{"github.com/goccy/go-yaml"}},
		"filebus/materialize/secrets":    {},
		"filebus/materialize/transcript": {ours: []string{"filebus/store/record", "filebus/store/folder"}},
		"filebus/materialize/layout": {
			[]string{"filebus/store/record", "filebus/materialize/likeness", "filebus/materialize/markdown"}, []string{"golang.org/x/text", "github.com/BurntSushi/toml"},
		},
		"filebus/index": {
			ours:    []string{"filebus/store/folder", "filebus/store/record", "filebus/materialize/markdown"},
			modules: []string{"github.com/blevesearch", "github.com/RoaringBitmap/roaring"},
		},
		"filebus/store": {
			ours: []string{
				"filebus/store/folder", "filebus/store/record", "filebus/store/turnstile", "filebus/migrations",
			},
			modules: []string{"go.etcd.io/bbolt", "github.com/klauspost/compress/zstd"},
		},
		"filebus/query": {
			ours: []string{
				"filebus/store", "filebus/store/folder", "filebus/store/record", "filebus/store/turnstile",
				"filebus/index", "filebus/materialize/layout", "filebus/materialize/likeness", "filebus/materialize/markdown", "filebus/materialize/secrets",
			},
		},
		"filebus/materialize/plan": {
			ours: []string{
				"filebus/store", "filebus/store/record", "filebus/materialize/layout", "filebus/materialize/markdown", "filebus/materialize/secrets",
			},
		},
		"filebus/materialize/release": {ours: []string{"filebus/store", "filebus/store/record"}},
		"filebus/materialize/mirror":  {[]string{"filebus/store/folder", "filebus/store/record", "filebus/store/turnstile"}, []string{"github.com/fsnotify/fsnotify", "github.com/bmatcuk/doublestar"}},
		"filebus/materialize/remote":  {[]string{"filebus/store", "filebus/store/bundle", "filebus/store/folder", "filebus/store/record", "filebus/materialize", "filebus/materialize/mirror", "filebus/materialize/secrets"}, []string{"github.com/nats-io/nats.go"}},
		"filebus/store/bundle":        {ours: []string{"filebus/store", "filebus/store/record"}},
		"filebus/materialize": {
			ours: []string{
				"filebus/store", "filebus/store/bundle", "filebus/store/folder", "filebus/store/record", "filebus/materialize/layout", "filebus/materialize/markdown", "filebus/materialize/secrets", "filebus/materialize/mirror",
				"filebus/materialize/plan", "filebus/materialize/release",
			},
		},
		"filebus/cmd/filebus/cli": {
			ours: []string{
				"filebus/cmd/filebus/hook", "filebus/cmd/filebus/noun", "filebus/cmd/filebus/rule", "filebus/cmd/filebus/trust", "filebus/index", "filebus/materialize", "filebus/materialize/layout", "filebus/materialize/likeness", "filebus/materialize/markdown", "filebus/materialize/mirror",
				"filebus/materialize/release", "filebus/materialize/remote", "filebus/materialize/secrets", "filebus/query", "filebus/store", "filebus/store/bundle", "filebus/store/folder", "filebus/store/record", "filebus/store/turnstile",
			},
			modules: []string{"github.com/BurntSushi/toml", "github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/text"},
		},
		"filebus/cmd/filebus/result": {
			ours: []string{
				"filebus/cmd/filebus/cli", "filebus/cmd/filebus/dialogue", "filebus/cmd/filebus/rule", "filebus/cmd/filebus/run", "filebus/cmd/filebus/session", "filebus/cmd/filebus/task", "filebus/materialize", "filebus/materialize/layout", "filebus/materialize/markdown", "filebus/materialize/mirror", "filebus/materialize/secrets",
				"filebus/materialize/transcript", "filebus/query", "filebus/store", "filebus/store/folder", "filebus/store/record", "filebus/store/turnstile",
			},
			modules: []string{"github.com/bmatcuk/doublestar", "github.com/kaptinlin/jsonschema", "github.com/spf13/cobra", "golang.org/x/sys", "golang.org/x/text"},
		},
		"filebus/materialize/likeness": {},
		"filebus/cmd/filebus/task": {
			ours: []string{
				"filebus/cmd/filebus/cli", "filebus/materialize", "filebus/materialize/layout", "filebus/materialize/likeness", "filebus/materialize/markdown", "filebus/materialize/mirror", "filebus/query", "filebus/store", "filebus/store/folder", "filebus/store/record",
			},
		},
		"filebus/cmd/filebus/dialogue": {
			ours: []string{
				"filebus/cmd/filebus/cli", "filebus/cmd/filebus/rule", "filebus/materialize", "filebus/materialize/layout", "filebus/materialize/likeness", "filebus/materialize/markdown", "filebus/materialize/mirror", "filebus/materialize/secrets", "filebus/materialize/transcript", "filebus/query", "filebus/store",
				"filebus/store/record",
			},
			modules: []string{"golang.org/x/text"},
		},
		"filebus/cmd/filebus/session": {
			ours: []string{
				"filebus/cmd/filebus/cli", "filebus/cmd/filebus/rule", "filebus/materialize", "filebus/materialize/layout", "filebus/materialize/likeness", "filebus/materialize/markdown", "filebus/materialize/mirror", "filebus/materialize/plan", "filebus/materialize/secrets", "filebus/query", "filebus/store", "filebus/store/folder",
				"filebus/store/record",
			},
			modules: []string{"github.com/spf13/cobra"},
		},
		"filebus/cmd/filebus/noun": {
			ours: []string{
				"filebus/store", "filebus/store/record", "filebus/index", "filebus/query",
				"filebus/materialize", "filebus/materialize/layout", "filebus/materialize/markdown", "filebus/materialize/likeness",
			},
		},
		"filebus/cmd/filebus/issue": {
			ours: []string{
				"filebus/cmd/filebus/cli", "filebus/cmd/filebus/noun", "filebus/index", "filebus/materialize", "filebus/materialize/layout", "filebus/materialize/markdown", "filebus/materialize/mirror", "filebus/query", "filebus/store", "filebus/store/record",
			},
			modules: []string{"github.com/spf13/cobra"},
		},
		"filebus/cmd/filebus/rule": {[]string{"filebus/store/record"}, nil},
		"filebus/cmd/filebus/lint": {
			ours: []string{
				"filebus/cmd/filebus/rule", "filebus/store/folder", "filebus/store/record", "filebus/materialize/layout", "filebus/materialize/mirror", "filebus/materialize/markdown", "filebus/materialize/likeness", "filebus/cmd/filebus/run",
			},
		},
		"filebus/cmd/filebus/run": {
			ours: []string{
				"filebus/cmd/filebus/cli", "filebus/cmd/filebus/knowledge", "filebus/cmd/filebus/task", "filebus/index", "filebus/materialize", "filebus/materialize/layout", "filebus/materialize/markdown", "filebus/materialize/mirror", "filebus/query", "filebus/store", "filebus/store/folder",
				"filebus/store/record", "filebus/store/turnstile",
			},
		},
		"filebus/cmd/filebus/knowledge": {
			ours: []string{
				"filebus/cmd/filebus/cli", "filebus/cmd/filebus/noun", "filebus/cmd/filebus/task", "filebus/index", "filebus/materialize", "filebus/materialize/layout", "filebus/materialize/likeness", "filebus/materialize/markdown", "filebus/materialize/secrets", "filebus/query", "filebus/store", "filebus/store/record",
			},
			modules: []string{"github.com/spf13/cobra"},
		},
		"filebus/materialize/commonmark": {modules: []string{"github.com/yuin/goldmark"}},
		"filebus/materialize/pdf": {
			ours:    []string{"filebus/materialize/commonmark", "filebus/materialize/markdown"},
			modules: []string{"github.com/go-pdf/fpdf", "github.com/yuin/goldmark", "golang.org/x/image"},
		},
		"filebus/cmd/filebus": {
			ours: []string{
				"filebus/cmd/filebus/cli",
				"filebus", "filebus/cmd/filebus/lint", "filebus/cmd/filebus/rule", "filebus/cmd/filebus/knowledge", "filebus/cmd/filebus/result", "filebus/cmd/filebus/issue", "filebus/cmd/filebus/noun", "filebus/cmd/filebus/run", "filebus/cmd/filebus/task", "filebus/cmd/filebus/dialogue", "filebus/cmd/filebus/session", "filebus/materialize/pdf", "filebus/store", "filebus/store/bundle", "filebus/store/folder", "filebus/store/record", "filebus/store/turnstile", "filebus/index",
				"filebus/query", "filebus/materialize", "filebus/materialize/layout", "filebus/materialize/markdown", "filebus/materialize/transcript", "filebus/materialize/secrets",
				"filebus/materialize/likeness", "filebus/cmd/filebus/finder", "filebus/cmd/filebus/hook", "filebus/cmd/filebus/mcp", "filebus/cmd/filebus/setup", "filebus/cmd/filebus/trust", "filebus/cmd/filebus/web", "filebus/materialize/mirror", "filebus/materialize/release", "filebus/materialize/remote",
			},
			modules: []string{
				"github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/BurntSushi/toml",
				"golang.org/x/term",
			},
		},
		"filebus/cmd/filebus/hook": {ours: []string{"filebus/store/record", "filebus/materialize/layout", "filebus/materialize/transcript"}},
		"filebus/cmd/filebus/mcp":  {[]string{"filebus/materialize/markdown"}, []string{"github.com/modelcontextprotocol/go-sdk"}},
		"filebus/cmd/filebus/finder": {
			ours:    []string{"filebus/store/record", "filebus/query"},
			modules: []string{"github.com/gdamore/tcell", "github.com/clipperhouse/displaywidth"},
		},
		"filebus/cmd/filebus/setup": {[]string{"filebus/store/folder", "filebus/store/record"}, []string{"github.com/BurntSushi/toml", "github.com/rogpeppe/go-internal/diff", "github.com/tailscale/hujson"}},
		"filebus/cmd/filebus/trust": {ours: []string{"filebus/store/folder", "filebus/store/record", "filebus/materialize/mirror"}},
		"filebus/cmd/filebus/web":   {[]string{"filebus/cmd/filebus/rule", "filebus/store/record", "filebus/materialize/commonmark"}, []string{"github.com/rogpeppe/go-internal/diff", "github.com/yuin/goldmark", "html/template"}},
		"filebus/cmd/filebus-bench": {
			ours: []string{
				"filebus", "filebus/store", "filebus/store/record", "filebus/store/turnstile", "filebus/index",
				"filebus/query", "filebus/materialize", "filebus/materialize/layout",
			},
			modules: []string{"github.com/spf13/cobra", "github.com/klauspost/compress/zstd", "github.com/nats-io/nats-server/v2"}, // the server for measurements and tests alone
		},
	}
}

// topLevel lists what may stand at the top of the repository.
func topLevel() []string {
	return []string{
		".ci", ".gitattributes", ".gitignore", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md", "cmd", "doc.go", "docs", "docs_test.go",
		"filebus_test.go", "go.mod", "go.sum", "index", "materialize", "migrations", "promises_test.go", "query", "store", "testdata",
	}
}

// The limits of size, in lines.
const (
	maxFunction    = 80
	usualFunction  = 35 // for nine in ten
	maxFile        = 700
	maxCommandFile = 300
)

// A goFile is one of our Go files, parsed.
type goFile struct {
	path string // slash-separated, below the repository
	pack string // the import path
	text []byte
	fset *token.FileSet
	tree *ast.File
}

func (f *goFile) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// at returns the place of a node, as compilers print it.
func (f *goFile) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", f.path, f.fset.Position(n.Pos()).Line)
}

// files returns the paths of all files of the house, tests' data included.
func files(t *testing.T) []string {
	t.Helper()
	var paths []string
	for _, entry := range topLevel() {
		err := filepath.WalkDir(entry, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				paths = append(paths, filepath.ToSlash(name))
			}
			return err
		})
		if err != nil {
			t.Fatalf("listing %s: %v", entry, err)
		}
	}
	return paths
}

// isData reports whether a file is the data of tests, which may look like
// anything.
func isData(name string) bool { return slices.Contains(strings.Split(name, "/"), "testdata") }

// parsed holds what goFiles returns, once the first test has asked for it.
var parsed struct {
	once sync.Once
	all  []*goFile
}

// goFiles returns all Go files.
func goFiles(t *testing.T) []*goFile {
	t.Helper()
	parsed.once.Do(func() {
		for _, name := range files(t) {
			if path.Ext(name) != ".go" || isData(name) {
				continue
			}
			f := &goFile{path: name, pack: path.Join("filebus", path.Dir(name)), text: read(t, name), fset: token.NewFileSet()}
			var err error
			if f.tree, err = parser.ParseFile(f.fset, name, f.text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
				t.Errorf("parsing: %v", err)
				continue
			}
			parsed.all = append(parsed.all, f)
		}
	})
	if len(parsed.all) < 100 {
		t.Fatalf("found %d Go files; is the working directory the repository?", len(parsed.all))
	}
	return slices.Clone(parsed.all)
}

// libraryFiles returns the Go files that are not tests.
func libraryFiles(t *testing.T) []*goFile {
	t.Helper()
	return slices.DeleteFunc(goFiles(t), (*goFile).isTest)
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatalf("reading: %v", err)
	}
	return text
}

func TestImports(t *testing.T) {
	table := house()
	for _, f := range goFiles(t) {
		rules, known := table[f.pack]
		if !known && f.pack != "filebus/.ci" { // programs of the gate, which no other package sees
			t.Errorf("%s: package %s is not in the house's table", f.path, f.pack)
			continue
		}
		if f.isTest() {
			continue
		}
		for _, spec := range f.tree.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatalf("%s: %v", f.at(spec), err)
			}
			if !rules.mayImport(imported) {
				t.Errorf("%s: %s may not import %s", f.at(spec), f.pack, imported)
			}
		}
	}
}

// mayImport reports whether an import is of the standard library or allowed. Packages named
// template are allowed to those that name them: with one the linker keeps every method of the program, 5 MB.
func (p pack) mayImport(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	if first == "filebus" {
		return slices.Contains(p.ours, imported)
	}
	return !strings.Contains(first, ".") && path.Base(imported) != "template" || slices.ContainsFunc(p.modules, func(module string) bool {
		return imported == module || strings.HasPrefix(imported, module+"/")
	})
}

func TestMayImport(t *testing.T) {
	p := pack{ours: []string{"filebus/store"}, modules: []string{"example.org/a", "html/template"}}
	tests := []struct {
		imported string
		want     bool
	}{
		{"os", true},
		{"html/template", true},
		{"text/template", false},
		{"filebus/store", true},
		{"filebus/store/record", false},
		{"filebus", false},
		{"example.org/a", true},
		{"example.org/a/b", true},
		{"example.org/ab", false},
		{"example.org/b", false},
	}
	for _, test := range tests {
		if got := p.mayImport(test.imported); got != test.want {
			t.Errorf("mayImport(%q) = %t, want %t", test.imported, got, test.want)
		}
	}
	for name, p := range house() {
		if got, want := p.mayImport("html/template"), name == "filebus/cmd/filebus/web"; got != want {
			t.Errorf("%s: mayImport(html/template) = %t, want %t", name, got, want)
		}
	}
}

// TestHouse finds packages of the table that are no more, and those that the
// document does not have.
func TestHouse(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range libraryFiles(t) {
		seen[f.pack] = true
	}
	architecture := string(read(t, "docs/architecture.md"))
	for name := range house() {
		if !seen[name] {
			t.Errorf("the table has package %s, which has no files", name)
		}
		short := strings.TrimPrefix(name, "filebus/")
		if !strings.Contains(architecture, "\n- `"+short+"`: ") {
			t.Errorf("docs/architecture.md has no line for `%s` in its list of packages", short)
		}
	}
}

func TestTopLevel(t *testing.T) {
	for _, name := range tracked(t) {
		if first, _, _ := strings.Cut(name, "/"); !slices.Contains(topLevel(), first) {
			t.Errorf("%s: %q has no place at the top of the repository", name, first)
		}
	}
}

// tracked returns the files that git knows.
func tracked(t *testing.T) []string {
	t.Helper()
	return strings.FieldsFunc(git(t, "ls-files", "-z"), func(r rune) bool { return r == 0 })
}

// git runs git on the repository. Without it the test is skipped: there is nothing to tell
// the repository's files from the user's, or how they were before.
func git(t *testing.T, args ...string) string {
	t.Helper()
	program, err := exec.LookPath("git")
	if err != nil {
		t.Skip("there is no git program")
	}
	if _, err := os.Stat(".git"); err != nil {
		t.Skip("the sources are no git repository")
	}
	out, err := exec.CommandContext(t.Context(), program, append([]string{"-c", "safe.directory=*"}, args...)...).Output()
	if err != nil {
		t.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

func TestFormat(t *testing.T) {
	for _, f := range goFiles(t) {
		formatted, err := format.Source(f.text)
		if err != nil {
			t.Errorf("%s: %v", f.path, err)
		} else if !bytes.Equal(formatted, f.text) {
			t.Errorf("%s: not as gofmt writes it", f.path)
		}
	}
}

func TestSizes(t *testing.T) {
	library, long := 0, 0
	for _, f := range goFiles(t) {
		limit := maxFile
		if f.imports("github.com/spf13/cobra") && !f.isTest() {
			limit = maxCommandFile
		}
		if n := bytes.Count(f.text, []byte("\n")); n > limit {
			t.Errorf("%s has %d lines, more than %d", f.path, n, limit)
		}
		for _, d := range f.functions() {
			if f.isTest() {
				continue // its table is data
			}
			n := f.fset.Position(d.End()).Line - f.fset.Position(d.Pos()).Line + 1
			if n > maxFunction {
				t.Errorf("%s: %s has %d lines, more than %d", f.at(d), d.Name.Name, n, maxFunction)
			}
			library++
			if n > usualFunction {
				long++
			}
		}
	}
	if long*10 > library {
		t.Errorf("%d of %d functions have more than %d lines; one in ten may", long, library, usualFunction)
	}
}

func (f *goFile) functions() []*ast.FuncDecl {
	var all []*ast.FuncDecl
	for _, d := range f.tree.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			all = append(all, fn)
		}
	}
	return all
}

// TestGlobals finds what changes behind a caller's back: init functions, and
// variables of packages that are given a value later.
func TestGlobals(t *testing.T) {
	variables := map[string]bool{} // package and name
	for _, f := range libraryFiles(t) {
		for _, spec := range f.variables() {
			if len(spec.Values) == 0 && !isEmbedded(spec) {
				t.Errorf("%s: the variable %s has no value from the start", f.at(spec), spec.Names[0])
			}
			for _, name := range spec.Names {
				variables[f.pack+"."+name.Name] = name.Name != "_"
			}
		}
	}
	for _, f := range libraryFiles(t) {
		for _, d := range f.functions() {
			if d.Recv == nil && d.Name.Name == "init" {
				t.Errorf("%s: an init function", f.at(d))
			}
			for _, name := range assigned(d) {
				if variables[f.pack+"."+name.Name] {
					t.Errorf("%s: %s changes the variable %s of the package", f.at(name), d.Name.Name, name)
				}
			}
		}
	}
}

func (f *goFile) variables() []*ast.ValueSpec {
	var all []*ast.ValueSpec
	for _, d := range f.tree.Decls {
		if gen, ok := d.(*ast.GenDecl); ok && gen.Tok == token.VAR {
			for _, spec := range gen.Specs {
				all = append(all, spec.(*ast.ValueSpec))
			}
		}
	}
	return all
}

// assigned returns the names that a function assigns to, whole or in part.
func assigned(d *ast.FuncDecl) []*ast.Ident {
	var names []*ast.Ident
	add := func(e ast.Expr) {
		if name := root(e); name != nil {
			names = append(names, name)
		}
	}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IncDecStmt:
			add(n.X)
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if n.Tok != token.DEFINE {
					add(left)
				}
			}
		}
		return true
	})
	return names
}

// root returns the name that an expression such as x, x.f or x[i] begins with.
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// isEmbedded reports whether the compiler gives a variable its value.
func isEmbedded(spec *ast.ValueSpec) bool {
	return spec.Doc != nil && slices.ContainsFunc(spec.Doc.List,
		func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed ") })
}

// TestSignatures finds other people's types in what a package exports. Migrations work
// on the database itself, commonmark is the parser of those who render its tree, and cli shows
// cobra's commands and their flags to the few commands that say more of them than tags can.
func TestSignatures(t *testing.T) {
	for _, f := range libraryFiles(t) {
		if f.pack == "filebus/migrations" || f.pack == "filebus/materialize/commonmark" || f.pack == "filebus/cmd/filebus/cli" {
			continue
		}
		foreign := f.foreignNames()
		for _, e := range f.exported() {
			ast.Inspect(e.shape, func(n ast.Node) bool {
				if field, ok := n.(*ast.Field); ok && len(field.Names) > 0 && !field.Names[0].IsExported() && e.isType {
					return false
				}
				if s, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := s.X.(*ast.Ident); ok && foreign[x.Name] {
						t.Errorf("%s: %s shows %s.%s to importers", f.at(s), e.name, x.Name, s.Sel.Name)
					}
				}
				return true
			})
		}
	}
}

// imports reports whether a file imports a package.
func (f *goFile) imports(name string) bool {
	return slices.ContainsFunc(f.tree.Imports, func(spec *ast.ImportSpec) bool { return spec.Path.Value == strconv.Quote(name) })
}

// foreignNames returns the names under which a file knows other people's packages.
func (f *goFile) foreignNames() map[string]bool {
	names := map[string]bool{}
	version := regexp.MustCompile(`^v[0-9]+$`)
	for _, spec := range f.tree.Imports {
		imported := strings.Trim(spec.Path.Value, `"`)
		if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
			continue
		}
		name := path.Base(imported)
		if version.MatchString(name) {
			name = path.Base(path.Dir(imported))
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = true
	}
	return names
}

// An export is a name that importers see.
type export struct {
	name   string
	node   ast.Node
	shape  ast.Node // what of it importers see
	doc    string
	isType bool
}

// exported returns the exported names of a file: functions, methods of exported
// types, types, constants and variables.
func (f *goFile) exported() []export {
	var all []export
	for _, d := range f.tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && isExportedReceiver(d.Recv) {
				all = append(all, export{d.Name.Name, d, d.Type, d.Doc.Text(), false})
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				all = append(all, exportsOf(d, spec)...)
			}
		}
	}
	return all
}

func exportsOf(d *ast.GenDecl, spec ast.Spec) []export {
	var all []export
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if spec.Name.IsExported() {
			all = append(all, export{spec.Name.Name, spec, spec.Type, spec.Doc.Text() + d.Doc.Text(), true})
		}
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			if name.IsExported() {
				all = append(all, export{name.Name, name, name, spec.Doc.Text() + spec.Comment.Text() + d.Doc.Text(), false})
			}
		}
	}
	return all
}

func isExportedReceiver(recv *ast.FieldList) bool {
	if recv == nil {
		return true
	}
	e := recv.List[0].Type
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	name, ok := e.(*ast.Ident)
	return ok && name.IsExported()
}

func TestComments(t *testing.T) {
	packages := map[string]int{}
	for _, f := range libraryFiles(t) {
		if f.tree.Doc != nil {
			packages[f.pack]++
		}
		for _, e := range f.exported() {
			if e.doc == "" && !isSelfEvident(e.name) {
				t.Errorf("%s: %s has no comment", f.at(e.node), e.name)
			}
		}
		for _, group := range f.tree.Comments {
			if word := unfinished.FindString(group.Text()); word != "" {
				t.Errorf("%s: %s in a comment", f.at(group), word)
			}
		}
	}
	for name := range house() {
		if packages[name] != 1 {
			t.Errorf("package %s has %d package comments, want 1", name, packages[name])
		}
	}
}

// unfinished finds words of work that was put off.
var unfinished = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)

// isSelfEvident reports whether everybody knows what a method of that name does:
// those of the standard library's interfaces.
func isSelfEvident(name string) bool {
	return slices.Contains([]string{"Error", "Unwrap", "String"}, name)
}

// TestGate makes sure that the gate and the scripts beside it can be run in a fresh clone.
func TestGate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no permission to be run")
	}
	scripts, err := filepath.Glob(".ci/*")
	if err != nil || len(scripts) < 4 {
		t.Fatalf("the scripts of .ci are %q, %v", scripts, err)
	}
	for _, script := range scripts {
		if path.Ext(script) == ".go" {
			continue
		}
		info, err := os.Stat(script)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode()&0o111 == 0 {
			t.Errorf("%s has mode %v: it cannot be run", script, info.Mode())
		}
		out, err := exec.CommandContext(t.Context(), "bash", "-n", script).CombinedOutput()
		if err != nil && !errors.Is(err, exec.ErrNotFound) {
			t.Errorf("bash -n %s: %v\n%s", script, err, out)
		}
	}
}
