package mirror

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// takenBy returns what a filter takes in of the files below a folder.
func takenBy(t *testing.T, dir string, rules Rules) []string {
	t.Helper()
	walk, err := WalkTree(t.Context(), dir, NewFilter(dir, rules))
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, f := range walk.Files {
		files = append(files, f.Path)
	}
	return files
}

func lay(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		name, text, _ := strings.Cut(name, "=")
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPatterns compares what patterns leave out with what git ignores by the same ones:
// those that went wrong in other programs, and random ones.
func TestPatterns(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git program")
	}
	dir := t.TempDir()
	parts := []string{"a", "b", "foo", "x.log", "ab", "a b", "d{1}", "[q]", "äöü", "-", "z!"}
	var paths []string
	random := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		var p []string
		for range 1 + random.IntN(4) {
			p = append(p, parts[random.IntN(len(parts))])
		}
		paths = append(paths, strings.Join(p, "/")+"/f"+fmt.Sprint(random.IntN(4))+".txt", strings.Join(p, "/")+"/x.log1")
	}
	paths = append(paths, "trail ", "#hash", "!bang", "sub/deep/k.tmp", "A.TXT")
	lay(t, dir, paths...)
	git := func(args ...string) string {
		out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "core.quotePath=false"}, args...)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	git("init", "-q")
	git("config", "core.excludesFile", os.DevNull)
	for _, text := range texts(random) {
		lay(t, dir, ".filebusignore="+text, ".git/info/exclude="+text)
		list := git("ls-files", "-z", "--others", "--exclude-standard")
		want := slices.DeleteFunc(strings.Split(list, "\x00"), func(p string) bool { return p == "" })
		got := takenBy(t, dir, Rules{All: true})
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q (-git +filebus):\n%.600s", text, diff)
		}
	}
}

// texts returns ignore files.
func texts(random *rand.Rand) []string {
	all := []string{
		"*\n!*/\n!*.txt\n", "a/**/*\n!a/b\n", "*.txt\n!foo/\n", "/*\n!/foo\n", "foo/**\n", "**/foo/**\n", "**/b/f1.txt\n",
		"a**b\n", "*/f1.txt\n", "/f1.txt\n", "trail \\ \ntrail\\ \n", "\\#hash\n\\!bang\n", "# a comment\n\n   \n", "f1.txt  \nf2.txt\r\n",
		"\ufefffoo\n", "[!a]*\n", "[^a-f]*/\n", "f[0-2].txt\n", "?\n", "??\n", "d{1}\n", "d{1,2}\n", "\\[q\\]\n", "/a[!x]b\n", "a[!x]b/f1.txt\n",
		"foo/\n!foo/\nfoo/b/\n", "**\n", "**/\n", "/**\n", "/\n", "!\n", "//\n", "a//b\n", "*.log1\n!x.log1\n", "x.*\n", "f*.t?t\n", "\\f1.txt\n",
		"a/\\*\n", "foo/*/b\n", "foo/**/b/\n", "/**/a/**/b/**\n", "äöü\n", "**/**/**/**/**/**/nothing\n", "deep\n!sub/deep/k.tmp\n", "A.txt\n",
	}
	pieces := []string{"a", "b", "foo", "*", "**", "?", "f*", "*.txt", "f[0-2].txt", "[!a]", "x.log", "ab", "*b*"}
	for range 80 {
		text := ""
		for range 1 + random.IntN(4) {
			var p []string
			for range 1 + random.IntN(3) {
				p = append(p, pieces[random.IntN(len(pieces))])
			}
			text += []string{"", "", "!"}[random.IntN(3)] + []string{"", "", "/", "**/"}[random.IntN(4)] + strings.Join(p, "/") +
				[]string{"", "", "/"}[random.IntN(3)] + "\n"
		}
		all = append(all, text)
	}
	return all
}

// TestLeftOut holds which names hold secrets and which folders can be made again.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	const venv, tag = "pyvenv.cfg", "CACHEDIR.TAG=Signature: 8a477f597d28d172789f06886806bc55\n"
	tests := map[string][]string{
		RuleSecret: {
			".env", ".ENV", ".env.local", "prod.env", "Prod.Env", ".env.production.local", ".envrc", ".flaskenv", ".dev.vars",
			"id_rsa", "Id_RSA", "deploy_ed25519", "id_ed25519", "x.pem", "a.KEY", "a.p12", "a.pfx", "a.jks", "a.keystore", "a.kdbx",
			"a.ppk", ".npmrc", ".yarnrc.yml", ".netrc", "_netrc", ".pypirc", ".pgpass", ".my.cnf", ".git-credentials", ".htpasswd",
			"credentials", "credentials.json", ".cargo/credentials.toml", ".gem/credentials", "client_secret_12.json", "secrets.yaml",
			"Secrets.YML", "secrets.json", "secrets.toml", "terraform.tfstate", "terraform.tfstate.backup", "x.tfvars", ".vault-token",
			"gh/hosts.yml", "rclone.conf", ".docker/config.json", ".kube/config", "deep/er/.kube/config", "my-service-account.json",
			".claude/.credentials.json", ".codex/auth.json", "a\nb.env", ".claude/sessions/plan/s1/.env",
			".env~", "#.env#", ".#.env", ".env copy", ".env copy 2", "ID_RSA~", "id_rsa copy", "server.key.bak", "server.pem.old", "credentials.json.bak",
			"credentials (1).json", "credentials(1).json", "credentials copy.json", ".netrc~", ".npmrc.bak", ".pgpass.old", ".git-credentials~", ".my.cnf~",
			"prod.tfvars~", ".kube/config.bak", ".docker/config.json.bak", ".envrc.local", "prod.env.local", "prod.env.bak~", ".env.swp", "env.production",
			"kubeconfig-prod.yaml", "id_ed25519_work", "id_rsa_github", "deploy_key", ".gemini/oauth_creds.json", ".python_history", "fish_history",
			"secrets.txt", "Password.txt",
		},
		RuleRemade: {"node_modules/x.js", "deep/node_modules/x.js", "__pycache__/a.pyc", "any/" + venv, ".env/" + venv, "conda/conda-meta/x",
			"target/" + tag, ".venv/x", ".next/x", ".terraform/x", ".Cache/x"},
		RuleMachine: {"a~", ".env.md~", "#a.md#", ".#a", "x.SWP", "a.md.orig", "._a.md", ".DS_Store", "Thumbs.db", ".Trash-1000/a.md", ".obsidian/x.json",
			".a.md.kate-swp", ".a.md.icloud", ".trashed-1700000000-a.md", "a.md.part", "a.crdownload", ".history/a_1.md", ".AppleDouble/a.md"},
		RuleConflict: {"a.sync-conflict-20260102-030405-ABCDEFG.md", "a (Ann's conflicted copy 2026-01-02).md", "a (SFConflict x 1).md", "a_conflict-20260102-1.md"},
		RuleVersions: {".hg/x", ".svn/x", ".jj/x", ".bzr/x", "CVS/Root"},
		"": {
			"secrets.md", "credentials.md", "Secrets.MD", ".env.example", ".env.sample", ".env.template", ".env.dist", "id_rsa.pub", "secrets/a.txt",
			"credentials/a.txt", ".env.d/a.txt", "build/x", "dist/x", "target/x", "vendor/x", "env.go", "key.go", "environment", "cvs/mine.txt",
			"notag/CACHEDIR.TAG=Signature: none", "x.key/inside", ".filebusignore", "monkey", "hosts.yml", "config.json", "id_rsa_notes.md", "id_rsa_test.go", "env",
			"kubeconfig-prod.md", ".env.example.bak", "plan copy.md", "node_modules.bak/x", "#", "plan (conflict of interest).md", "Use case conflict.md", "conflicted copy.md", "x.original", "secret.md (1)", ".claude/reports/secrets-loop-1.json",
		},
		" secret folder": {".ssh/config", ".SSH/notes.md", "a/.aws/config", ".gnupg/x", ".azure/x", ".ssh.bak/x", ".aws copy/x", ".config/gcloud/x.json"},
	}
	for rule, names := range tests {
		for _, name := range names {
			dir := t.TempDir()
			lay(t, dir, name)
			name, _, _ = strings.Cut(name, "=")
			walk, err := WalkTree(t.Context(), dir, NewFilter(dir, Rules{}))
			if err != nil {
				t.Fatal(err)
			}
			got := "none"
			switch {
			case len(walk.Files) == 1:
				got = ""
			case len(walk.LeftOut) == 1:
				got = walk.LeftOut[0].Rule
			}
			if strings.HasPrefix(rule, " ") && strings.HasSuffix(walk.LeftOut[0].Path, "/") {
				got = " " + got + " folder"
			}
			if got != rule {
				t.Errorf("%s is left out by %q, want %q", name, got, rule)
			}
			if all := takenBy(t, dir, Rules{All: true}); len(all) != 1 {
				t.Errorf("with All %s is not taken in", name)
			}
		}
	}
}

// TestRootIsSecret captures a folder of secrets, and a part of one.
func TestRootIsSecret(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lay(t, dir, ".ssh/config", ".kube/config", ".kube/cache/x", ".ssh/keys/deep/a", ".config/gcloud/b", ".aws/sso/c", "node_modules/x.js")
	if err := os.Symlink(".ssh", filepath.Join(dir, "keys")); err != nil {
		t.Skip(err)
	}
	tests := map[string][]string{"keys": nil, ".ssh": nil, ".ssh/keys/deep": nil, "keys/keys": nil, ".config/gcloud": nil, ".aws/sso": nil, ".config": nil, ".kube": {"cache/x"}, "node_modules": {"x.js"}}
	for name, want := range tests {
		if diff := cmp.Diff(want, takenBy(t, filepath.Join(dir, name), Rules{})); diff != "" {
			t.Errorf("of %s is taken in (-want +got):\n%s", name, diff)
		}
	}
}

// TestIgnoreFiles holds that the nearest file counts, that what is written takes in what
// would be left out, and that nothing is taken in where one cannot be understood.
func TestIgnoreFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lay(t, dir, ".filebusignore=*.log\n!node_modules/\n/a/only.txt\n", "x.log", "a/.filebusignore=!keep.log\r\n!.env", "a/keep.log", "a/x.log",
		"a/only.txt", "a/.env", ".env", "node_modules/y.js", "node_modules/.npmrc", "b/only.txt", "bad/.filebusignore=[abc\n", "bad/x.md", "bad/below/y.md",
		"\xffgone.log", "huge/z.md", "folder/.filebusignore/z.md", "c/x.md", "c/.filebusignore=\xff.md\n", "utf16/.filebusignore=\xff\xfex\x00", "nul/.filebusignore=x\x00",
		"d/.filebusignore=k[[:digit:]].txt\n[![:upper:]].md\n", "d/k3.txt", "d/kx.txt", "d/K.md", "d/B.md", "d/b.md")
	if err := os.WriteFile(filepath.Join(dir, "huge", ".filebusignore"), bytes.Repeat([]byte("x\n"), ignoreLimit), 0o666); err != nil {
		t.Fatal(err)
	}
	want := []string{".filebusignore", "a/.env", "a/.filebusignore", "a/keep.log", "b/only.txt", "d/.filebusignore", "d/B.md", "d/K.md", "d/kx.txt", "node_modules/y.js"}
	if diff := cmp.Diff(want, takenBy(t, dir, Rules{})); diff != "" {
		t.Errorf("taken in (-want +got):\n%s", diff)
	}
	walk, err := WalkTree(t.Context(), dir, NewFilter(dir, Rules{}))
	if diff := cmp.Diff([]string{"bad", "c", "folder", "huge", "nul", "utf16"}, walk.Blind); err != nil || diff != "" {
		t.Errorf("not looked into (-want +got): %v\n%s", err, diff)
	}
	want = []string{".filebusignore", "a/.filebusignore", "d/.filebusignore", "node_modules/.npmrc", "node_modules/y.js"}
	if diff := cmp.Diff(want, takenBy(t, dir, Rules{All: true, Exclude: []string{"*.log", "*.txt", "/a/.env", "?.md", ".env"}})); diff != "" {
		t.Errorf("with --all and --exclude (-want +got):\n%s", diff)
	}
}

// TestManyPatterns holds that many patterns, and such as others take for ever, cost little.
func TestManyPatterns(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&text, "%s%d.*x\n", []string{"name", "/pkg/**/", "**/a", "*.e"}[i%4], i)
	}
	hard, _ := parsePatterns(text.String() + strings.Repeat("**/", 40) + "z\n" + strings.Repeat("a*", 60) + "b\n")
	p := strings.Repeat("a/", 60) + strings.Repeat("a", 100)
	begin := time.Now()
	for range 20 {
		if hard.match("", p, false) != nil {
			t.Fatal("something matches")
		}
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}
