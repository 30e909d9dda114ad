package knowledge_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/cmd/filebus/knowledge"
	"filebus/materialize/layout"
	"filebus/store/record"
)

func TestTouch(t *testing.T) {
	t.Parallel()
	for _, profile := range []layout.Profile{layout.Claude(), profileOf("orchestrator")} {
		f := newFixture(t, profile, nil)
		for _, c := range []struct {
			touch knowledge.Touch
			isNew bool
		}{
			{knowledge.Touch{Name: "src/auth/", Modified: "003", Notes: "JWT | tokens\ntwo"}, true},
			{knowledge.Touch{Name: "`src/auth`", Modified: "task-004"}, false},
			{knowledge.Touch{Name: "/etc", Notes: "no id"}, true},
			{knowledge.Touch{Name: "/etc/", Notes: "still none"}, false},
			{knowledge.Touch{Name: "search", Location: "src/search"}, true},
			{knowledge.Touch{Name: "src/auth", Location: "here", Notes: "n"}, false},
		} {
			if rows, err := f.Touch(t.Context(), c.touch); err != nil || len(rows) != 1 || rows[0].New != c.isNew {
				t.Errorf("%s: Touch(%+v) = %+v, %v; want a new row: %t", profile.Name, c.touch, rows, err, c.isNew)
			}
		}
		want := "# Journal Index\n\n## Context Map\n\n| Component | Last Modified | Notes | Location |\n|-----------|---------------|-------|----------|\n" +
			"| src/auth/ | task-004 | n | here |\n| /etc | | still none | |\n| search | | | src/search |\n"
		if diff := cmp.Diff(want, f.text(t, profile.Root+"/journal/index.md")); diff != "" {
			t.Errorf("%s: the context map (-want +got):\n%s", profile.Name, diff)
		}
		rows, err := f.Find(t.Context(), "src/auth")
		if err != nil || len(rows) != 1 || rows[0].Location != "here" || rows[0].Time.IsZero() {
			t.Errorf("%s: Find = %+v, %v", profile.Name, rows, err)
		}
		_, err = f.Find(t.Context(), "nothing")
		if !errors.Is(err, record.NotFound) || !strings.Contains(err.Error(), "no component nothing") {
			t.Errorf("%s: Find of what is not there: %v", profile.Name, err)
		}
	}
}

func TestTouchRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t, layout.Claude(), nil)
	for _, touch := range []knowledge.Touch{{Name: " ` "}, {Name: "/"}, {Name: "a", Notes: strings.Repeat("n", 2000)}} {
		if _, err := f.Touch(t.Context(), touch); err == nil {
			t.Errorf("Touch of %q with notes of %d bytes was accepted", touch.Name, len(touch.Notes))
		}
	}
}

// TestTouchAllRefused touches a component beside one that cannot be touched:
// neither is.
func TestTouchAllRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t, layout.Claude(), nil)
	rows, err := f.Touch(t.Context(), knowledge.Touch{Name: "a", Modified: "001"}, knowledge.Touch{Name: ""})
	if err == nil || len(rows) > 0 {
		t.Errorf("Touch with an empty name = %+v, %v", rows, err)
	}
	if rows, err := f.Rows(t.Context()); err != nil || len(rows) > 0 {
		t.Errorf("rows after Touch was refused: %+v, %v", rows, err)
	}
}

func TestTouchAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, layout.Claude(), nil)
	var group sync.WaitGroup
	for i := range 10 {
		group.Go(func() {
			touch := knowledge.Touch{Name: fmt.Sprintf("src/c%d/", i), Modified: fmt.Sprint("task-", i), Location: "x"}
			if _, err := f.Touch(t.Context(), touch); err != nil {
				t.Errorf("touching %d: %v", i, err)
			}
		})
	}
	group.Wait()
	rows, err := f.Rows(t.Context())
	if err != nil || len(rows) != 10 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, row := range rows {
		if row.Modified != "task-"+strings.Trim(row.Name, "src/") || row.Location != "x" {
			t.Errorf("row %+v", row.Component)
		}
	}
}

func TestRankRows(t *testing.T) {
	t.Parallel()
	var rows []knowledge.Row
	for _, c := range []layout.Component{
		{Name: "src/auth/", Notes: "JWT middleware"}, {Name: "src/api/*.go", Notes: "user endpoints"}, {Name: "web/**", Notes: "forms"},
		{Name: "search page", Location: "src/search/", Notes: "keeps its filter"}, {Name: "docs/", Notes: "middleware of auth"}, {Name: "src/authority/"},
	} {
		rows = append(rows, knowledge.Row{Component: c})
	}
	for _, c := range []struct {
		files []string
		about string
		want  string
	}{
		{[]string{"src/auth/middleware.go"}, "", "src/auth/ 6, docs/ 2"},
		{[]string{"src/api/users.go", "./src/api/teams.go"}, "", "src/api/*.go 9"},
		{[]string{"web/a/b.ts"}, "forms", "web/** 6"},
		{[]string{"src/search/filter.ts"}, "", "search page 6"},
		{nil, "the JWT of a user", "src/api/*.go 1, src/auth/ 1"},
		{[]string{"other/x.go"}, "", ""},
	} {
		var got []string
		for _, m := range knowledge.RankRows(rows, c.files, c.about) {
			got = append(got, fmt.Sprint(m.Name, " ", m.Score))
		}
		if line := strings.Join(got, ", "); line != c.want {
			t.Errorf("RankRows(%q, %q) = %q, want %q", c.files, c.about, line, c.want)
		}
	}
	var many []knowledge.Row
	for i := range 30 {
		many = append(many, knowledge.Row{Component: layout.Component{Name: fmt.Sprintf("auth/%02d", i)}})
	}
	if got := knowledge.RankRows(many, nil, "auth"); len(got) != knowledge.MaxMatches || got[0].Name != "auth/00" {
		t.Errorf("of 30 rows %d are returned, the first %v", len(got), got[0].Name)
	}
}
