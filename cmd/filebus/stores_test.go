package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/trust"
)

// environWith returns an environment with variables, in a folder.
func environWith(dir string, variables map[string]string) *cli.Environ {
	env := docEnviron(dir, &bytes.Buffer{})
	env.Getenv = func(name string) string { return variables[name] }
	env.Now = time.Now
	return env
}

func TestStateBase(t *testing.T) {
	tests := []struct {
		system    string
		variables map[string]string
		want      string
	}{
		{"linux", map[string]string{"HOME": "/h/u"}, "/h/u/.local/state"},
		{"linux", map[string]string{"HOME": "/h/u", "XDG_STATE_HOME": "/var/u"}, "/var/u"},
		{"linux", map[string]string{"HOME": "/h/u", "XDG_STATE_HOME": "below"}, "/h/u/.local/state"},
		{"darwin", map[string]string{"HOME": "/u"}, "/u/Library/Application Support"},
		{"windows", map[string]string{"USERPROFILE": "/u"}, "/u/AppData/Local"},
		{"windows", map[string]string{"USERPROFILE": "/u", "LOCALAPPDATA": "/Local"}, "/Local"},
		{"linux", map[string]string{"HOME": "here"}, ""},
		{"linux", nil, ""},
	}
	for _, test := range tests {
		got := environWith(t.TempDir(), test.variables).StateBase(test.system)
		if filepath.ToSlash(got) != test.want && (filepath.IsAbs("/") || test.want != "") {
			t.Errorf("stateBase(%s, %v) = %q, want %q", test.system, test.variables, got, test.want)
		}
	}
}

// makeStore makes what counts as a store.
func makeStore(t *testing.T, folder string) string {
	t.Helper()
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "store.db"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	return folder
}

// TestRememberedStores takes stores away in several ways.
func TestRememberedStores(t *testing.T) {
	old := time.Now().Add(-2 * cli.AwayFor)
	tests := []struct {
		name      string
		change    func(t *testing.T, store, entry string)
		found     bool
		forgotten bool
	}{
		{"nothing", func(*testing.T, string, string) {}, true, false},
		{"unreadable", func(t *testing.T, store, _ string) {
			must(t, os.WriteFile(filepath.Join(store, "store.db"), []byte("x"), 0o666))
		}, true, false},
		{"store removed", func(t *testing.T, store, _ string) { must(t, os.RemoveAll(store)) }, false, true},
		{"workspace removed", func(t *testing.T, store, _ string) { must(t, os.RemoveAll(filepath.Dir(store))) }, false, true},
		{"disk away", func(t *testing.T, store, _ string) {
			must(t, os.RemoveAll(filepath.Dir(filepath.Dir(store))))
			must(t, os.Mkdir(filepath.Dir(filepath.Dir(store)), 0o777))
		}, false, false},
		{"all removed", func(t *testing.T, store, _ string) { must(t, os.RemoveAll(filepath.Dir(filepath.Dir(store)))) }, false, false},
		{"away for long", func(t *testing.T, store, entry string) {
			must(t, os.RemoveAll(filepath.Dir(filepath.Dir(store))))
			must(t, os.Chtimes(entry, old, old))
		}, false, true},
		{"private", func(t *testing.T, store, _ string) {
			must(t, os.WriteFile(filepath.Join(store, "config.toml"), []byte("private = true\n"), 0o666))
		}, false, true},
		{"damaged entry", func(t *testing.T, _, entry string) { must(t, os.WriteFile(entry, []byte("/else"), 0o666)) }, false, true},
		{"half an entry", func(t *testing.T, _, entry string) { must(t, os.Truncate(entry, 3)) }, false, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			env := environWith(dir, map[string]string{"FILEBUS_STATE": filepath.Join(dir, "state")})
			store := makeStore(t, filepath.Join(dir, "disk", "w", ".filebus"))
			makeStore(t, filepath.Join(dir, "disk", "other", ".filebus"))
			must(t, os.WriteFile(filepath.Join(filepath.Dir(store), "README.md"), nil, 0o666))
			env.RememberStore(store)
			entry := filepath.Join(dir, "state", "stores", trust.Key(store))
			if _, err := os.Stat(entry); err != nil {
				t.Fatalf("the store was not noted: %v", err)
			}
			test.change(t, store, entry)
			want := []string(nil)
			if test.found {
				want = []string{store}
			}
			if diff := gocmp.Diff(want, env.RememberedStores()); diff != "" {
				t.Errorf("remembered stores (-want +got):\n%s", diff)
			}
			if _, err := os.Stat(entry); os.IsNotExist(err) != test.forgotten {
				t.Errorf("the entry: %v; want forgotten: %t", err, test.forgotten)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestRememberNot makes sure that nothing is noted where nothing can or may be.
func TestRememberNot(t *testing.T) {
	dir := t.TempDir()
	store := makeStore(t, filepath.Join(dir, "w", ".filebus"))
	private := makeStore(t, filepath.Join(dir, "p", ".filebus"))
	must(t, os.WriteFile(filepath.Join(private, "config.toml"), []byte("private = true\n"), 0o666))
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o666))
	tests := []struct {
		name      string
		store     string
		variables map[string]string
	}{
		{"off", store, map[string]string{"FILEBUS_STATE": "off", "HOME": dir}},
		{"no home", store, nil},
		{"a home that does not exist", store, map[string]string{"HOME": filepath.Join(dir, "nobody")}},
		{"a file for a folder", store, map[string]string{"FILEBUS_STATE": filepath.Join(dir, "file")}},
		{"a private store", private, map[string]string{"FILEBUS_STATE": filepath.Join(dir, "state")}},
	}
	for _, test := range tests {
		env := environWith(dir, test.variables)
		env.RememberStore(test.store)
		if got := env.RememberedStores(); got != nil {
			t.Errorf("%s: remembered %v", test.name, got)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "nobody")); err == nil {
		t.Error("a home folder was made")
	}
}

// TestRememberOrder makes sure that the store that was used last comes first.
func TestRememberOrder(t *testing.T) {
	dir := t.TempDir()
	env := environWith(dir, map[string]string{"FILEBUS_STATE": filepath.Join(dir, "state")})
	var want []string
	for i, name := range []string{"a", "b", "c"} {
		store := makeStore(t, filepath.Join(dir, name, ".filebus"))
		env.RememberStore(store)
		at := time.Now().Add(-time.Duration(i+2) * cli.UsedAgain)
		must(t, os.Chtimes(filepath.Join(dir, "state", "stores", trust.Key(store)), at, at))
		want = append(want, store)
	}
	env.RememberStore(want[2])
	want = []string{want[2], want[0], want[1]}
	if diff := gocmp.Diff(want, env.RememberedStores()); diff != "" {
		t.Errorf("remembered stores (-want +got):\n%s", diff)
	}
}

func TestStoreFlag(t *testing.T) {
	tests := []struct{ home, folder, want string }{
		{"/h/u", "", ""},
		{"/h/u", "/h/u/w/.filebus", " --store ~/w/.filebus"},
		{"/h/u", "/h/u/my work/.filebus", " --store ~/'my work/.filebus'"},
		{"/h/u", "/h/user/.filebus", " --store /h/user/.filebus"},
		{"/h/u", "/srv/it's/.filebus", ` --store '/srv/it'\''s/.filebus'`},
		{"", "/srv/w/.filebus", " --store /srv/w/.filebus"},
	}
	for _, test := range tests {
		env := environWith(t.TempDir(), map[string]string{"HOME": test.home})
		if got := env.StoreFlag(test.folder); filepath.IsAbs("/") && got != test.want {
			t.Errorf("storeFlag(%q) at home in %q = %q, want %q", test.folder, test.home, got, test.want)
		}
	}
}
