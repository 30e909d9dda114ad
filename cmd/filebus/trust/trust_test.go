package trust_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"filebus/cmd/filebus/trust"
	"filebus/store/record"
)

// newStore makes what counts as a store below a folder.
func newStore(t *testing.T, dir string) string {
	t.Helper()
	folder := filepath.Join(dir, ".filebus")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"store.db", "config.toml"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// TestOwner gives files of a store to another user.
func TestOwner(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	for _, name := range []string{"", "store.db", "config.toml"} {
		folder := newStore(t, t.TempDir())
		user := trust.User{State: t.TempDir()}
		if err := user.Check(folder); err != nil {
			t.Fatalf("Check of an own store: %v", err)
		}
		if err := os.Chown(filepath.Join(folder, name), 65534, -1); err != nil {
			t.Fatal(err)
		}
		err := user.Check(folder)
		if !errors.Is(err, record.Untrusted) || !strings.Contains(err.Error(), "65534") {
			t.Errorf("Check with %q of another = %v", name, err)
		}
		for _, id := range []string{"", "1", "655340"} {
			if err := (&trust.User{Sudo: id}).Check(folder); err == nil {
				t.Errorf("Check with %q of another, by sudo of %q: no error", name, id)
			}
		}
		if err := (&trust.User{Sudo: "65534"}).Check(folder); err != nil {
			t.Errorf("Check with %q of the user who became root = %v", name, err)
		}
		if err := user.Consent(folder); err != nil {
			t.Fatal(err)
		}
		if err := user.Check(folder); err != nil {
			t.Errorf("Check with %q of another, by consent = %v", name, err)
		}
	}
}

// TestGroup lets groups write a store.
func TestGroup(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || os.Geteuid() != 0 {
		t.Skip("only root can give files to any group")
	}
	folder := newStore(t, t.TempDir())
	user := trust.User{}
	if err := os.Chmod(folder, 0o770); err != nil {
		t.Fatal(err)
	}
	if err := user.Check(folder); err != nil {
		t.Errorf("Check with the user's own group = %v", err)
	}
	if err := os.Chown(folder, -1, 4242); err != nil {
		t.Fatal(err)
	}
	if err := user.Check(folder); err == nil || !strings.Contains(err.Error(), "4242") {
		t.Errorf("Check with another group = %v", err)
	}
	if err := os.Chmod(folder, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := user.Check(folder); err != nil {
		t.Errorf("Check with another group that only reads = %v", err)
	}
}

// git runs git in a folder.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

// TestIndexes has git keep its index in every form that it has, with and without the
// store, and names that look like the store's.
func TestIndexes(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git program")
	}
	forms := map[string][]string{
		"version 2":   {"update-index", "--index-version", "2"},
		"version 3":   {"update-index", "--index-version", "3"},
		"version 4":   {"update-index", "--index-version", "4"},
		"split":       {"update-index", "--split-index"},
		"not changed": {"status"},
	}
	for form, args := range forms {
		for _, below := range []string{"", "deep/folder"} {
			top := t.TempDir()
			git(t, top, "init", "-q")
			dir := filepath.Join(top, below)
			folder := newStore(t, dir)
			user := &trust.User{State: t.TempDir(), Variables: os.Environ()}
			check := func(what string, refused bool) {
				t.Helper()
				for range 2 { // the second time it may be remembered
					if err := user.Check(folder); errors.Is(err, record.Untrusted) != refused {
						t.Errorf("%s, below %q: %s: Check = %v", form, below, what, err)
					}
				}
			}
			check("nothing added", false)
			for _, name := range []string{".editorconfig", ".filebus.md", "hardlink", "x.filebus"} {
				if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			git(t, dir, "add", "-N", ".editorconfig", "hardlink")
			git(t, dir, args...)
			check("others added", false)
			git(t, dir, "add", ".filebus.md", "x.filebus")
			git(t, dir, args...)
			check("names alike added", false)
			git(t, dir, "add", "-f", ".filebus/config.toml")
			git(t, dir, args...)
			check("the configuration added", true)
			git(t, dir, "rm", "-q", "--cached", ".filebus/config.toml")
			check("taken out", false)
		}
	}
}

// TestRepositories finds the index of linked work trees and of submodules, and what
// tracks a store as a whole.
func TestRepositories(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git program")
	}
	top := t.TempDir()
	repo, side := filepath.Join(top, "repo"), filepath.Join(top, "side")
	git(t, top, "init", "-q", "repo")
	git(t, repo, "commit", "-q", "--allow-empty", "-m", "one")
	git(t, repo, "worktree", "add", "-q", side)
	user := &trust.User{Variables: os.Environ()}
	folder := newStore(t, side)
	if err := user.Check(folder); err != nil {
		t.Errorf("Check in a work tree = %v", err)
	}
	git(t, side, "add", "-f", ".filebus")
	if err := user.Check(folder); err == nil {
		t.Error("Check in a work tree that tracks the store: no error")
	}
	if err := user.Check(newStore(t, repo)); err != nil {
		t.Errorf("Check beside the repository, of which another work tree tracks a store = %v", err)
	}

	// A store that is a repository itself, which the one around it names.
	outer := filepath.Join(top, "outer")
	git(t, top, "init", "-q", "outer")
	inner := newStore(t, outer)
	git(t, inner, "init", "-q")
	git(t, inner, "commit", "-q", "--allow-empty", "-m", "one")
	git(t, outer, "-c", "advice.addEmbeddedRepo=false", "add", "-f", ".filebus")
	if err := user.Check(inner); err == nil {
		t.Error("Check of a store that is a submodule: no error")
	}

	// Letters of another size are the same folder on some disks, and so is a short name.
	for _, name := range []string{".FileBus/a", "FILEBU~1/a", "filebu~1"} {
		other := t.TempDir()
		git(t, other, "init", "-q")
		folder = newStore(t, other)
		git(t, other, "update-index", "--add", "--cacheinfo", "100644,e69de29bb2d1d6434b8b29ae775ad8c2e48c5391,"+name)
		if err := user.Check(folder); err == nil {
			t.Errorf("Check of .filebus where git tracks %s: no error", name)
		}
	}
}

// TestIndexDamaged decides without git's word.
func TestIndexDamaged(t *testing.T) {
	t.Parallel()
	for text, refused := range map[string]bool{
		"":                               false,
		"no index at all":                false,
		"DIRC\x00\x00\x00\x04":           true, // its names are not whole
		"DIRC .filebus/config.toml":      true,
		"DIRC\x00\x00\x00\x02 .FILEBUS/": true,
	} {
		dir := t.TempDir()
		folder := newStore(t, dir)
		if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ".git", "index"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := (&trust.User{Variables: os.Environ()}).Check(folder)
		if errors.Is(err, record.Untrusted) != refused {
			t.Errorf("Check with the index %q = %v, want refused: %v", text, err, refused)
		}
	}
}

// TestConsentDamaged reads what is remembered strictly.
func TestConsentDamaged(t *testing.T) {
	t.Parallel()
	user := &trust.User{State: t.TempDir()}
	folder := newStore(t, t.TempDir())
	if err := user.Consent(folder); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(user.State, "trust", trust.Key(folder)+".user")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(whole) {
		if err := os.WriteFile(file, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		if user.Trusts(folder) {
			t.Errorf("Trusts with the entry %q", whole[:cut])
		}
	}
	for range 2 {
		if err := user.Revoke(folder); err != nil || user.Trusts(folder) {
			t.Errorf("Revoke does not forget: %v", err)
		}
	}
	if (&trust.User{}).Consent(folder) == nil {
		t.Error("Consent of a user of whom nothing is remembered: no error")
	}
}

// TestRemembered takes the git program away after it was asked: its "no" stands until
// the index changes or the store is another one, and is no consent.
func TestRemembered(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git program")
	}
	path := os.Getenv("PATH")
	dir := t.TempDir()
	folder := newStore(t, dir)
	git(t, dir, "init", "-q")
	if err := os.WriteFile(filepath.Join(dir, "x.filebus"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "add", "x.filebus")
	user := &trust.User{State: t.TempDir(), Variables: os.Environ()}
	check := func(what string, refused bool) {
		t.Helper()
		if err := user.Check(folder); errors.Is(err, record.Untrusted) != refused || user.Trusts(folder) {
			t.Errorf("%s: Check = %v, Trusts = %v", what, err, user.Trusts(folder))
		}
	}
	t.Setenv("PATH", t.TempDir())
	check("without git", true)
	t.Setenv("PATH", path)
	check("with git", false)
	t.Setenv("PATH", t.TempDir())
	check("remembered", false)
	if err := (&trust.User{}).Check(folder); err == nil {
		t.Error("Check of a user of whom nothing is remembered: no error")
	}
	t.Setenv("PATH", path)
	git(t, dir, "add", "-f", ".filebus/config.toml")
	check("tracked since", true)
	git(t, dir, "rm", "-q", "--cached", ".filebus/config.toml")
	check("tracked no more", false)
	t.Setenv("PATH", t.TempDir())
	if err := os.Rename(folder, folder+".away"); err != nil {
		t.Fatal(err)
	}
	newStore(t, dir)
	check("another store", true)

	t.Setenv("PATH", path)
	if err := user.Consent(folder); err != nil {
		t.Fatal(err)
	}
	if reasons := user.Reasons(folder); len(reasons) != 0 || !user.Trusts(folder) {
		t.Errorf("after consent and a no of git: Reasons = %v, Trusts = %v", reasons, user.Trusts(folder))
	}
}

// TestConsents trusts by the environment what another user has made, as in a container.
func TestConsents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder := newStore(t, dir)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(folder, link); err != nil {
		t.Skip(err)
	}
	for consent, refused := range map[string]bool{
		filepath.Dir(link): false, link: false, folder: false, dir: true, filepath.Dir(dir): true, "": true,
	} {
		err := (&trust.User{Consents: []string{consent}}).Check(link)
		if errors.Is(err, record.Untrusted) != refused {
			t.Errorf("Check of a link with consent to %q = %v, want refused: %v", consent, err, refused)
		}
	}
}

// TestBirth makes another folder at the path of a trusted one, often with its number.
func TestBirth(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("the system does not say when a folder was made")
	}
	dir, user := t.TempDir(), trust.User{State: t.TempDir()}
	for range 20 {
		folder := newStore(t, dir)
		if user.Trusts(folder) {
			t.Fatal("another folder at the path is trusted")
		}
		if err := user.Consent(folder); err != nil || !user.Trusts(folder) {
			t.Fatalf("Consent = %v, and it is not trusted", err)
		}
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
	}
}
