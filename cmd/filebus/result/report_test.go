package result_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filebus/cmd/filebus/result"
	"filebus/store/record"
)

// TestPutReport stores reports of one agent: what is new is a version, and what says the
// same, or stands for it, is none.
func TestPutReport(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	call := result.Call{Conversation: "s1", ID: "агент", Agent: "plan:Reviewer"}
	var last *result.Stored
	put := func(text string) bool {
		t.Helper()
		stored, err := result.PutReport(t.Context(), w, call, record.SourceHook, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if stored.File == "" || stored.Record.Agent == "" || stored.Record.Source != record.SourceHook {
			t.Errorf("stored is %+v", stored)
		}
		last = stored
		return !stored.Unchanged
	}
	for _, step := range []struct {
		text  string
		isNew bool
	}{
		{"First.", true}, {"Second.\r\n\r\nMore.", true}, {" Second. More.\n", false}, {"First.", true}, {"\xff\xfe", true},
		{"# Report\n\nOf the second run.\n", true},
	} {
		if isNew := put(step.text); isNew != step.isNew {
			t.Errorf("%q is new: %v", step.text, isNew)
		}
	}
	reference, err := json.MarshalIndent(last.Reference(), "  ", "\t")
	if err != nil || put(string(reference)) || put("The report is stored: "+last.Ref.Short()+".") {
		t.Errorf("what stands for the report is stored (%v)", err)
	}
	if !put("Beside what is in " + last.Ref.Short() + strings.Repeat(" there is more", 40)) {
		t.Error("a report that names the one before it is not stored")
	}
	call.ID = "told"
	for _, step := range []struct {
		text                string
		told, yields, isNew bool
	}{
		{"Otters swim well.", false, false, true}, {"Note: Otters  swim well. End.", true, false, false}, {"swim well.", true, false, false},
		{"wim well", true, false, true}, {"Otters swim well.", false, false, true}, {"Bears", true, true, false}, {"swim", false, false, true},
	} {
		if call.Told, call.Yields = step.told, step.yields; put(step.text) != step.isNew {
			t.Errorf("%+v: it is new: %v", step, !step.isNew)
		}
	}
	for _, id := range []string{"", "a/b", "..", "a\nb", strings.Repeat("x", 300)} {
		call.ID = id
		if _, err := result.PutReport(t.Context(), w, call, record.SourceHook, []byte("x")); err == nil && id != "" {
			t.Errorf("the id %.10q is taken", id)
		}
	}
}

// TestSpooledReport leaves reports in the spool, beside files that are none: Recover stores
// the first once, and leaves the others where they are.
func TestSpooledReport(t *testing.T) {
	// Alone: a process that another test starts has its locks, too, until it runs its program.
	w := newWorkspace(t)
	dir := w.Location.Store
	call := result.Call{Conversation: "s1", ID: "a1", Attributes: map[string]string{"duration": "2s"}}
	text := "A report.\n\nWith a second line.\n"
	for range 2 {
		if err := result.SpoolReport(dir, call, record.SourceHook, text); err != nil {
			t.Fatal(err)
		}
	}
	foreign := map[string]string{
		"half.report": `{"version":1,"sour`, "empty.report": "", "newer.report": `{"version":2,"source":"hook","conversation":"s","call":"a","report":"x"}`,
		"odd.report": `{"version":1,"source":"hook","conversation":"s","call":"../a","report":"x"}`,
	}
	for name, text := range foreign {
		if err := os.WriteFile(filepath.Join(dir, "spool", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := result.Recover(t.Context(), w)
	if len(all) != 2 || textOf(t, all[0]) != text || all[0].Name.String() != "result/s1/a1" || !all[1].Unchanged {
		t.Errorf("Recover = %v", all)
	}
	if err == nil || strings.Count(err.Error(), "left alone") != len(foreign) {
		t.Errorf("Recover: %v; want %d files left alone", err, len(foreign))
	}
	for name, text := range foreign {
		if got, err := os.ReadFile(filepath.Join(dir, "spool", name)); err != nil || string(got) != text {
			t.Errorf("%s holds %q afterwards, %v", name, got, err)
		}
	}
}
