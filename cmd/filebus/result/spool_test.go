package result_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filebus/cmd/filebus/result"
	"filebus/store"
	"filebus/store/folder"
)

// aCall is the call.json of a command that ran as c1/k1.
const aCall = `{"version":1,"conversation":"c1","call":"k1","agent":"scout","command":["scout"],` +
	`"started":"2026-03-02T10:00:00Z","pid":1,"host":"h"}`

// spoolOf makes a spool with one folder and returns that.
func spoolOf(t *testing.T, storeFolder string, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(storeFolder, "spool", "1a")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestRecover finds a folder as each way of being cut off leaves it.
func TestRecover(t *testing.T) {
	// Alone: a process that another test starts has its locks, too, until it runs its program.
	done := `{"status":"done","exit":0}`
	tests := []struct {
		name         string
		files        map[string]string
		status, exit string // of what is stored; "": nothing is
	}{
		{"begun", map[string]string{}, "", ""},
		{"locked", map[string]string{"lock": ""}, "", ""},
		{"no call yet", map[string]string{"lock": "", "output": "", "call.json.new": "{", "schema.json": "{}"}, "", ""},
		{"running", map[string]string{"lock": "", "output": "Text.", "call.json": aCall}, "interrupted", "unknown"},
		{"nothing written", map[string]string{"lock": "", "output": "", "call.json": aCall}, "interrupted", "unknown"},
		{"ended", map[string]string{"lock": "", "output": "Text.", "call.json": aCall, "end.json": done}, "done", "0"},
		{"failed", map[string]string{"lock": "", "output": "Text.", "call.json": aCall, "end.json": `{"status":"failed","exit":3}`}, "failed", "3"},
		{"end cut off", map[string]string{"lock": "", "output": "Text.", "call.json": aCall, "end.json": `{"stat`}, "interrupted", "unknown"},
		{"end unknown", map[string]string{"lock": "", "output": "Text.", "call.json": aCall, "end.json": `{"status":"great","exit":0}`}, "interrupted", "unknown"},
		{"stored", map[string]string{"lock": "", "output": "Text.", "stored": aCall, "end.json": done}, "", ""},
		{"nearly removed", map[string]string{"lock": "", "stored": aCall}, "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorkspace(t)
			spoolOf(t, w.Location.Store, test.files)
			all, err := result.Recover(t.Context(), w)
			if err != nil {
				t.Fatal(err)
			}
			var status, exit string
			for _, stored := range all {
				status, exit = stored.Record.Status, exitOf(stored.Record)
				if stored.Name.String() != "result/c1/k1" || textOf(t, stored) != test.files["output"] {
					t.Errorf("recovered %s with %q", stored.Name, textOf(t, stored))
				}
			}
			if len(all) > 1 || status != test.status || exit != test.exit {
				t.Errorf("recovered %d: status %q, exit %q; want %q, %q", len(all), status, exit, test.status, test.exit)
			}
			if again, err := result.Recover(t.Context(), w); len(again) != 0 || err != nil {
				t.Errorf("recovered again: %v, %v", again, err)
			}
			wantNoSpool(t, w)
		})
	}
}

// TestRecoverForeign leaves alone what is not, or not wholly, the output of a
// command, and names it.
func TestRecoverForeign(t *testing.T) {
	// Alone: a process that another test starts has its locks, too, until it runs its program.
	tests := []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"no lock", map[string]string{"notes.txt": "mine"}, "not the output of a command"},
		{"no call", map[string]string{"lock": "", "output": "Text."}, "call.json"},
		{"no output", map[string]string{"lock": "", "call.json": aCall}, "output"},
		{"cut off", map[string]string{"lock": "", "output": "Text.", "call.json": aCall[:20]}, "call.json"},
		{"empty call", map[string]string{"lock": "", "output": "Text.", "call.json": ""}, "call.json"},
		{"unknown key", map[string]string{"lock": "", "output": "Text.", "call.json": aCall[:1] + `"x":1,` + aCall[1:]}, `unknown field "x"`},
		{"more behind it", map[string]string{"lock": "", "output": "Text.", "call.json": aCall + "{}"}, "behind"},
		{"newer", map[string]string{"lock": "", "output": "Text.", "call.json": strings.Replace(aCall, ":1", ":2", 1)}, "version 2"},
		{"outside", map[string]string{"lock": "", "output": "Text.", "call.json": strings.Replace(aCall, `"k1"`, `"../../x"`, 1)}, "without a slash"},
		{"no ids", map[string]string{"lock": "", "output": "Text.", "call.json": strings.Replace(aCall, `"k1"`, `""`, 1)}, "malformed"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorkspace(t)
			dir := spoolOf(t, w.Location.Store, test.files)
			all, err := result.Recover(t.Context(), w)
			if len(all) != 0 || err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), dir) {
				t.Errorf("Recover = %v, %v; want an error with %q and the folder", all, err, test.want)
			}
			for name, text := range test.files {
				if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != text {
					t.Errorf("%s holds %q afterwards, %v", name, got, err)
				}
			}
		})
	}
}

// TestRecoverUnfinished removes what a process has left that was ended while it wrote
// down what it is about to run.
func TestRecoverUnfinished(t *testing.T) {
	// Alone: a process that another test starts has its locks, too, until it runs its program.
	temporary := folder.TemporaryName(".tmp")
	for name, files := range map[string]map[string]string{
		"locked": {"lock": "", "output": "", "end.json.new": "", temporary: aCall[:20]},
		"rest":   {temporary: aCall},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			dir := spoolOf(t, w.Location.Store, files)
			all, err := result.Recover(t.Context(), w)
			if len(all) != 0 || err != nil {
				t.Errorf("Recover = %v, %v; want nothing", all, err)
			}
			if _, err := os.Stat(dir); !os.IsNotExist(err) {
				t.Errorf("the folder is there afterwards, %v", err)
			}
		})
	}
}

// TestRecoverOddFiles meets what is no folder, and a link out of the spool.
func TestRecoverOddFiles(t *testing.T) {
	// Alone: a process that another test starts has its locks, too, until it runs its program.
	w := newWorkspace(t)
	spool := filepath.Join(w.Location.Store, "spool")
	dir := spoolOf(t, w.Location.Store, map[string]string{"lock": "", "call.json": aCall})
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(spool, "file"), []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "output")); err != nil {
		t.Skipf("there are no symbolic links: %v", err)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(spool, "link")); err != nil {
		t.Fatal(err)
	}
	all, err := result.Recover(t.Context(), w)
	if len(all) != 0 || err == nil || strings.Count(err.Error(), "left alone") != 3 {
		t.Errorf("Recover = %v, %v; want three errors", all, err)
	}
	if names := resultNames(t, w); len(names) != 0 {
		t.Errorf("stored %q of it", names)
	}
}

// TestRecoverStored finds an output that was stored when its process was ended,
// and one whose ids another text has by now.
func TestRecoverStored(t *testing.T) {
	// Alone: a process that another test starts has its locks, too, until it runs its program.
	tests := []struct {
		name, there string
		end         string
		same        bool
		status      string
	}{
		{"stored", "Text.", "", true, "done"},
		{"stored, end known", "Text.", `{"status":"done","exit":0}`, true, "done"},
		{"taken", "Another.", "", false, "interrupted"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorkspace(t)
			call := result.Call{Agent: "scout", Conversation: "c1", ID: "k1", Status: "done"}
			first, err := result.Put(t.Context(), w, call, store.Expect{}, strings.NewReader(test.there))
			if err != nil {
				t.Fatal(err)
			}
			files := map[string]string{"lock": "", "output": "Text.", "call.json": aCall}
			if test.end != "" {
				files["end.json"] = test.end
			}
			spoolOf(t, w.Location.Store, files)
			got := mustRecover(t, w)
			if (got.Name == first.Name) != test.same || got.Record.Status != test.status || textOf(t, got) != "Text." {
				t.Errorf("recovered %s, status %s, text %q", got.Name, got.Record.Status, textOf(t, got))
			}
			if text := textOf(t, first); text != test.there {
				t.Errorf("what was there is %q now, want %q", text, test.there)
			}
			wantNoSpool(t, w)
		})
	}
}

// TestRecoverBesideOthers recovers again and again while commands begin and end:
// what is being made or removed is nobody's leftover.
func TestRecoverBesideOthers(t *testing.T) {
	// Alone: a process that another test starts has its locks, too, until it runs its program.
	w := newWorkspace(t)
	spoolOf(t, w.Location.Store, map[string]string{"stored": aCall}) // a process died in its last step
	folder := filepath.Join(w.Location.Store, "spool")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 2000 { // what a command does to its folder, first and last
			dir := filepath.Join(folder, "other")
			_ = os.Mkdir(dir, 0o700) // Recover may take the empty folder away
			if os.WriteFile(filepath.Join(dir, "lock"), nil, 0o600) == nil {
				_ = os.WriteFile(filepath.Join(dir, "stored"), nil, 0o600)
				_ = os.Remove(filepath.Join(dir, "lock"))
				_ = os.Remove(filepath.Join(dir, "stored"))
			}
			_ = os.Remove(dir)
		}
	}()
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true
		default:
		}
		all, err := result.Recover(t.Context(), w)
		// A folder that is locked for a moment by Recover itself has no call yet.
		if len(all) != 0 || err != nil && strings.Contains(err.Error(), "not the output of a command") {
			t.Fatalf("Recover = %v, %v; want nothing", all, err)
		}
	}
	wantNoSpool(t, w)
}
