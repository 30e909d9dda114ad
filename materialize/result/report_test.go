package result_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filebus/materialize/result"
	"filebus/store/record"
)

// TestPutReport stores reports of one agent: each text is one version, whoever brings it
// again.
func TestPutReport(t *testing.T) {
	w := newWorkspace(t)
	call := result.Call{Conversation: "s1", ID: "агент", Agent: "plan:Reviewer"}
	var refs []record.Ref
	for _, text := range []string{"First.", "Second.\r\n", "First.", "Second.\r\n", "\xff\xfe"} {
		stored, err := result.PutReport(t.Context(), w, call, record.SourceHook, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, stored.Ref)
		if stored.File == "" || stored.Record.Agent == "" || stored.Record.Source != record.SourceHook {
			t.Errorf("stored is %+v", stored)
		}
	}
	if refs[0] == refs[1] || refs[2] != refs[1] || refs[3] != refs[1] || refs[4] == refs[1] {
		t.Errorf("refs are %v", refs)
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
	w := newWorkspace(t)
	dir := w.Location.Store
	call := result.Call{Conversation: "s1", ID: "a1", Attributes: map[string]string{"duration": "2s"}}
	text := "A report.\n\nWith a second line.\n"
	for range 2 {
		if err := result.SpoolReport(dir, call, record.SourceHook, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	foreign := map[string]string{
		"half.report": `{"version":1,"sour`, "empty.report": "", "newer.report": `{"version":2,"source":"hook","conversation":"s","call":"a"}` + "\nx",
		"odd.report": `{"version":1,"source":"hook","conversation":"s","call":"../a"}` + "\nx",
	}
	for name, text := range foreign {
		if err := os.WriteFile(filepath.Join(dir, "spool", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := result.Recover(t.Context(), w)
	if len(all) != 1 || textOf(t, all[0]) != text || all[0].Name.String() != "result/s1/a1" {
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
