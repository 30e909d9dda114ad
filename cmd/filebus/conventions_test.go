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
			{"task show 003/T002", `^task/003-search/T002`},
			{"knowledge show 0002", `^# 2\. Auth by sessions`},
			{"show adr/2", `docs/adr/0002-sessions\.md`},
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
			set := conventionSet(t, name)
			laidOut(t, dir, set)
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

// conventionSet returns the files of a set of testdata/conventions; "pages" are the examples of the pages of conventions.
func conventionSet(t *testing.T, name string) *txtar.Archive {
	t.Helper()
	if name != "pages" {
		set, err := txtar.ParseFile(filepath.Join("testdata", "conventions", name+".txtar"))
		must(t, err)
		return set
	}
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "layouts", "conventions", "*.md"))
	must(t, err)
	set := &txtar.Archive{}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		must(t, err)
		for _, m := range regexp.MustCompile("(?s)\n````\\w+ file=([^\n]+)\n(.*?\n)````\n").FindAllStringSubmatch(string(text), -1) {
			set.Files = append(set.Files, txtar.File{Name: m[1], Data: []byte(m[2])})
		}
	}
	return set
}

// laidOut makes a workspace with the files of a set.
func laidOut(t *testing.T, dir string, set *txtar.Archive) {
	t.Helper()
	for _, f := range set.Files {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, f.Name)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644))
	}
	mustRun(t, dir, "init", "--yes")
}

// TestPrintedIDs gives each id and name that a list prints to the commands that somebody writes next.
func TestPrintedIDs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"shop", "werk", "lab", "ids", "pages", "sample"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, set := t.TempDir(), &txtar.Archive{Files: []txtar.File{{Name: "tasks/todo.md", Data: []byte("- [ ] Rest\n")}}}
			if name == "sample" {
				must(t, os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "testdata", "workspace"))))
			} else {
				set = conventionSet(t, name)
			}
			laidOut(t, dir, set)
			ids := 0
			for _, c := range [][2]string{
				{"task list", "task show,show,get,context --task"}, {"task next --limit 0", "task show"},
				{"issue list", "issue show,show,get"}, {"knowledge list --all --limit 0", "knowledge show,show,get"},
				{"list --limit 0", "show,get"}, {"session list", "session show"}, {"dialogue list", "dialogue markers"}, {"search the --limit 50", "get"},
			} {
				for line := range strings.Lines(mustRun(t, dir, strings.Fields(c[0])...)) {
					id := regexp.MustCompile(`^'(.+?)'|^([^\t\n ].*?)(?:  |\t| --lines|\n)`).FindStringSubmatch(line)
					for next := range strings.SplitSeq(c[1], ",") {
						if id != nil {
							ids++
							mustRun(t, dir, append(strings.Fields(next), id[1]+id[2])...)
						}
					}
				}
			}
			if ids < 60 {
				t.Errorf("%d ids were printed", ids)
			}
		})
	}
}
