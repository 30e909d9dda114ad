package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestConventionAnswers asks three sets of files of other tools what people ask of them: each question is one command,
// whose answer is short.
func TestConventionAnswers(t *testing.T) {
	t.Parallel()
	const most = 1200 // bytes of an answer
	for name, questions := range map[string][][2]string{
		"shop": {
			{"task list 003 --open", `(?s)^003-search/T002\tpending.*\n003-search/T003\tpending.*\n$`},
			{"task show 12", `blocked-by +task/master/11  in_progress  Make keys`},
			{"task next 003", `^003-search/T002\tRank`},
			{"search auth --kind knowledge", `(?s)0002-sessions\.md .* accepted .*0001-tokens\.md .*superseded by knowledge/~/docs/adr/0002`},
			{"knowledge list --type decision --all", `(?s)0002-sessions\.md .*accepted\n.*0001-tokens.*superseded by knowledge/~/docs/adr/0002`},
			{"knowledge list tests", `Mock the clock`},
			{"task show phase-2", `joined .*02-01-SUMMARY\.md  complete  The cart survives a restart\.`},
			{"task show TASK-12", `assignee +@codex`},
			{"get HANDOFF.md", `Mend the ranking`},
			{"search hits --kind task", `^task/003-search/T002 .* pending `},
			{"context --task 003-search/T002", `(?s)## Depends on\n- task/003-search/T001.*## Notes\n.*specs/003-search/spec\.md`},
			{"task show 003", `spec\.md  Draft  Search\n  specs/003-search/tasks\.md  2 open, 1 done`},
		},
		"werk": {
			{"task list 003 --open", `(?s)^003-suche/2\tpending.*\n003-suche/2\.1\tin_progress.*\n003-suche/3\tpending`},
			{"task show 12", `blocked-by +task/master/11  in_progress  Schlüssel`},
			{"search auth --kind knowledge", `(?s)0007-auth\.md .* proposed\n.*0003-auth\.md .*superseded by`},
			{"knowledge list tests", `tests/uhr`},
			{"task show phase-2", `joined .*02-01-SUMMARY\.md  complete  Der Wagen hält\.`},
			{"task show TASK-12", `assignee +ana`},
			{"get .agents/HANDOFF.md", `noch nicht geordnet`},
			{"search Treffer --kind task", `^task/003-suche/2 .* pending `},
			{"context --task 003-suche/2", `requirements\.md`},
		},
		"lab": {
			{"task list 003 --open", `^003-search/1\.2\tpending.*\n$`},
			{"task show T012", `blocked-by +task/001-auth/T011  pending  Make keys`},
			{"search auth --kind knowledge", `ADR-004-auth\.md .* accepted `},
			{"knowledge list tests", `Seed the random`},
			{"task show phase-2", `complete  Notes are kept in one file\.`},
			{"task show TASK-12", `assignee +@bo`},
			{"get .agents/sessions/handoffs/2026-01-03-12-handoff.md", `The ranking is next`},
			{"search notes --kind task", `task/003-search/1\.2 .* pending `},
			{"task show auth_20260101", `metadata\.json  new  Auth\n.*plan\.md`},
			{"context --task 003-search/1.2", `proposal\.md`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			set, err := txtar.ParseFile(filepath.Join("testdata", "conventions", name+".txtar"))
			must(t, err)
			for _, f := range set.Files {
				must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, f.Name)), 0o755))
				must(t, os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644))
			}
			mustRun(t, dir, "init", "--yes")
			for _, q := range questions {
				answer := mustRun(t, dir, strings.Fields(q[0])...)
				if !regexp.MustCompile(q[1]).MatchString(answer) || len(answer) > most {
					t.Errorf("%s: %d bytes, no %s in\n%s", q[0], len(answer), q[1], answer)
				}
			}
			session := mcpServer(t, dir)
			mustAsk(t, session, "task", arguments{"action": "list", "folder": "003", "open": true}, "003-s")
			mustAsk(t, session, "task", arguments{"action": "next", "folder": "003"}, "003-s")
			mustAsk(t, session, "task", arguments{"action": "show", "id": "phase-2"}, "joined", "complete")
			mustAsk(t, session, "search", arguments{"query": "auth", "kind": []string{"knowledge"}}, "uth")
			for _, f := range set.Files {
				if text, err := os.ReadFile(filepath.Join(dir, f.Name)); err != nil || string(text) != string(f.Data) {
					t.Errorf("%s is now %q, %v", f.Name, text, err)
				}
			}
		})
	}
}
