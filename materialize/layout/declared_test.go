package layout

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// declaredCase is a file of a convention, and what its entries are: id, status, title and further facts.
type declaredCase struct {
	path, text string
	want       []string
}

func declaredCases() []declaredCase {
	return []declaredCase{
		{"specs/007-login/tasks.md", "# Tasks\n\n## Phase 2: Base (Priority: P1)\n\n- [ ] T001 [P] [US1] Make `__init__.py` in\n  src (depends on T000)\n- [X] **T002-TEST** Second\n- [ ] a step without an id\n\n## Notes\n\n- [ ] T009 is none\n", []string{
			"task 007-login/T001|pending|Make __init__.py in|parallel=P phase=2 priority=high story=US1 blocked-by=task/007-login/T000",
			"task 007-login/T002-TEST|complete|Second|phase=2 priority=high",
		}},
		{"specs/008-small/tasks.md", "- [ ] no ids here\r\n- [x] at all\r\n", []string{
			"task specs/008-small/tasks.md#no-ids-here|pending|no ids here|", "task specs/008-small/tasks.md#at-all|complete|at all|",
		}},
		{"web/specs/007-login/tasks.md", "- [ ] T001 Nested", []string{"task web/007-login/T001|pending|Nested|"}},
		{".kiro/specs/cart/tasks.md", "# 計画\n\n- [-] 1. 準備\n  - [x] 1.1 First\n    - detail\n    - _Requirements: 1.1, 2.3_\n  - [ ]* 1.2 Optional tests\n- [~] 2. Queued\n- [ ] 1.1 Twice\n", []string{
			"task cart/1|in_progress|準備|", "task cart/1.1|complete|First|requirements=1.1, 2.3 parent=task/cart/1",
			"task cart/1.2|pending|Optional tests|optional=yes parent=task/cart/1", "task cart/2|pending|Queued|",
			"task .kiro/specs/cart/tasks.md#twice|pending|Twice|parent=task/cart/1",
		}},
		{".kiro/specs/b/tasks.md", "- [ ] 1.1 (P) Beside\n- [ ] 2. Too (P)\n", []string{"task b/1.1|pending|Beside|parent=task/b/1", "task b/2|pending|Too|"}},
		{".kiro/specs/_archived/old/tasks.md", "- [ ] 1 Left\n", []string{"task old/1|archived|Left|archived=_archived/ state=pending"}},
		{".kiro/steering/product.md", "---\ninclusion: always\n---\n# Product\n", []string{"knowledge |||inclusion=always type=steering"}},
		{"openspec/changes/add-x/tasks.md", "## 1. Build\n\n- [x] 1.1 One\n- [ ] 1.2 Two\n```\n- [ ] 1.3 Three\n```\n", []string{
			"task add-x/1.1|complete|One|section=Build", "task add-x/1.2|pending|Two|section=Build", "task add-x/1.3|pending|Three|section=Build",
		}},
		{"openspec/changes/archive/2026-01-02-add-y/tasks.md", "- [ ] 1 Left\n", []string{"task 2026-01-02-add-y/1|archived|Left|archived=2026-01-02 state=pending"}},
		{"openspec/specs/auth/login/spec.md", "# Auth\n\n## Requirements\n\n### Requirement: Log in\nThe system SHALL.\n#### Scenario: a\n- **WHEN** b\n### Requirement: Log out\nIt too.\n## Other\n", []string{
			"knowledge openspec/specs/auth/login/spec.md#log-in||Log in|capability=auth/login type=requirement",
			"knowledge openspec/specs/auth/login/spec.md#log-out||Log out|capability=auth/login type=requirement",
		}},
		{".serena/memories/ci/build.md", "Use make, see `mem:ci/cache`.\n", []string{"knowledge ||ci/build|type=memory relates-to=knowledge/~/.serena/memories/ci/cache.md"}},
		{"docs/adr/0012-cache.md", "# 12. Cache reads\n\n- **Status:** `Superseded` by 14\n- Date: 2026-01-03\n", []string{"knowledge |superseded|Cache reads|created=2026-01-03 number=0012 state=Superseded` by 14 type=decision"}},
		{"doc/adr/0002-sled.md", "# 2. Use sled\n\nDate: 2025-02-04\n\n## Status\n\nSuperceded by [4. Use redb](0004-redb.md)\n", []string{"knowledge |superseded|Use sled|created=2025-02-04 number=0002 state=Superceded by [4. Use redb](0004-redb.md) type=decision superseded-by=knowledge/~/doc/adr/0004-redb.md"}},
		{"doc/adr/0004-redb.md", "# 4. Use redb\n\n## Status\n\nAccepted\n\nSupercedes [2. Use sled](0002-sled.md)\n", []string{"knowledge |accepted|Use redb|number=0004 type=decision supersedes=knowledge/~/doc/adr/0002-sled.md"}},
		{"backlog/decisions/decision-1 - Valkey.md", "---\nid: decision-1\ntitle: Valkey\nstatus: accepted\n---\n", []string{"knowledge |accepted|Valkey|id=decision-1 type=decision"}},
		{"backlog/docs/doc-1 - Net.md", "---\nid: doc-1\ntitle: Net\ntype: guide\n---\n", []string{"knowledge ||Net|id=doc-1 type=guide"}},
		{"docs/adr/ADR-003-x.md", "---\nstatus: approved\n---\n# ADR-003 — Use X\n", []string{"knowledge |accepted|Use X|number=003 state=approved type=decision"}},
		{"memory-bank/decisionLog.md", "# Log\n\n[2026-01-02 10:00:00] - Use Go\nmore\n", []string{"knowledge memory-bank/decisionLog.md#use-go||Use Go|created=2026-01-02 10:00:00 type=decision"}},
		{"tasks/todo.md", "# Now\n\n- [ ] **P0.8**: Ship it\n  - [ ] a part of it\n- [x] Done\n\n## Review\n- [ ] none\n", []string{
			"task P0.8|pending|Ship it|section=Now", "task tasks/todo.md#done|complete|Done|section=Now",
		}},
		{"tasks/lessons.md", "# Lessons\n\n## Pattern: Mock less\n\nText.\n\n## 2026-01-02\n- a\n", []string{
			"knowledge tasks/lessons.md#mock-less||Mock less|type=lesson", "knowledge tasks/lessons.md#2026-01-02||2026-01-02|type=lesson",
		}},
		{".taskmaster/tasks/tasks.json", `{"master": {"tasks": [{"id": 5, "title": "Five", "status": "done", "priority": "high",
			"subtasks": [{"id": 1, "title": "Part", "status": "in-progress"}]}, {"id": "6", "title": "Six", "status": "deferred"}, {"id": 7, "title": "Seven", "status": "review"}]}}`, []string{
			"task master/5|complete|Five|priority=high state=done", "task master/5.1|in_progress|Part|state=in-progress", "task master/6|deferred|Six|", "task master/7|in_progress|Seven|state=review",
		}},
		{"tasks/tasks.json", `{"tasks": [{"id": 1, "title": "Old form", "status": "pending"}]}`, []string{"task master/1|pending|Old form|"}},
		{".taskmaster/tasks/tasks.json", "\ufeff{broken", nil},
		{"conductor/tracks/a_20260101/plan.md", "## Phase 1: Go\n\n- [x] Task: Write it 0e8e8db\n    - [~] Sub-task\n", []string{
			"task conductor/tracks/a_20260101/plan.md#write-it|complete|Write it|commit=0e8e8db phase=1",
			"task conductor/tracks/a_20260101/plan.md#sub-task|in_progress|Sub-task|phase=1",
		}},
		{"conductor/tracks.md", "## [~] Track: Search\n*Link: [./tracks/search](x)*\n\n---\n\n- [ ] **Track: Next**\n", []string{
			"task conductor/tracks.md#search|in_progress|Search|task=conductor/tracks/search type=track", "task conductor/tracks.md#next|pending|Next|type=track",
		}},
		{"backlog/tasks/back-7 - Fix.md", "---\nid: BACK-7\ntitle: 'Fix it'\nstatus: To Do\nassignee: ['@codex']\nlabels: [web]\n---\n", []string{"task |pending|Fix it|assignee=@codex id=BACK-7 state=To Do"}},
		{"backlog/completed/back-8 - Done.md", "# Task 8: Done\n\n**Status:** ✅ Completed\n", []string{"task |complete|Task 8: Done|archived=completed state=✅ Completed"}},
		{".planning/ROADMAP.md", "- [x] **Phase 2.1: Search** - text\n- [ ] no phase\n", []string{"task phase-2.1|complete|Search|type=phase"}},
		{".planning/todos/done/a.md", "---\ntitle: A\n---\n", []string{"task |complete|A|type=todo"}},
		{".agent-os/specs/2026-01-01-x/tasks.md", "- [x] 1. Main\n  - [ ] 1.1 Sub\n", []string{"task 2026-01-01-x/1|complete|Main|", "task 2026-01-01-x/1.1|pending|Sub|parent=task/2026-01-01-x/1"}},
		{"_bmad-output/implementation-artifacts/sprint-status.yaml", "# s\ndevelopment_status:\n  epic-1: in-progress\n  1-2-log-in: review # x\n  epic-1-retrospective: optional\nother:\n  1-3-no: done\n", []string{
			"task sprint/epic-1|in_progress|epic-1|epic=1 state=in-progress type=sprint", "task sprint/1-2-log-in|in_progress|log-in|epic=1 state=review type=sprint",
			"task sprint/epic-1-retrospective|pending|epic-1-retrospective|epic=1 state=optional type=sprint",
		}},
		{"sub/.beads/issues.jsonl", "{\"id\":\"s-1.2\",\"title\":\"One\",\"status\":\"open\",\"priority\":7,\"dependencies\":[{\"depends_on_id\":\"3\",\"type\":\"blocks\"},{\"type\":\"blocks\"},1]}\nnone\n", []string{
			"issue s-1.2|pending|One|priority=7 state=open blocked-by=issue/3",
		}},
		{"_bmad-output/implementation-artifacts/1-2-log-in.md", "# Story 1.2: Log in\n\nStatus: done\n", []string{"task |complete|Log in|epic=1 state=done task=sprint/1-2-log-in type=story"}},
		{"docs/qa/gates/1.5-login.yml", "gate: PASS\nstory_title: 'Log in'\n", []string{"note ||'Log in'|state=PASS task=story/1.5 type=gate"}},
		{".planning/phases/02-search/02-01-PLAN.md", "---\nwave: 1\ndepends_on: [\"02-00\"]\n---\n<objective>\nCut words\n</objective>\n", []string{
			"task ||Cut words|task=phase-2/02-01 type=plan blocked-by=task/~/.planning/phases/02-search/02-00-PLAN.md",
		}},
		{".planning/phases/02-search/02-01-SUMMARY.md", "# S\n\n**Words are cut.**\n", []string{"note |complete||task=phase-2/02-01 type=summary"}},
		{".planning/phases/02-search/02-VERIFICATION.md", "---\nstatus: passed\n---\n", []string{"note |passed||state=passed task=phase-2"}},
		{"specs/007-login/plan.md", "# Plan\n", []string{"note |||task=007-login"}},
		{"web/openspec/changes/add-x/design.md", "# D\n", []string{"note |||task=web/add-x"}},
		{"conductor/tracks/a_20260101/metadata.json", "\ufeff{\"status\": \"new\", \"description\": \"Search\"}", []string{"note ||Search|state=new task=conductor/tracks/a_20260101 type=track"}},
		{".kiro/specs/c/tasks.md", "- [ ] 7.9* (P) Load\n- [x] **8.** Bold\n", []string{"task c/7.9|pending|Load|optional=yes parent=task/c/7", "task c/8|complete|Bold|"}},
		{"task_plan.md", "# Task Plan: Move\n\n## Phases\n\n### Phase 1: Look around ✅\n- [x] count `a_b_c`\n- **Status:** complete\n\n### Phase 2 — **Pack** [in_progress]\n- [ ] boxes\n\n### Phase 3: Drive\n- [x] load\n- [ ] go\n#### Phase 3 in short\n\n### Phase 4: Rest\n**Status:** blocked by rain\n\n### Phase 5\n- [ ] sleep\n\n## Decisions\n- [ ] none of a phase\n", []string{
			"task plan/phase-1|complete|Look around|type=phase", "task plan/phase-2|in_progress|Pack|state=[in_progress] type=phase",
			"task plan/phase-3|in_progress|Drive|type=phase", "task plan/phase-4|blocked|Rest|state=blocked by rain type=phase",
			"task plan/phase-5|pending|Phase 5|type=phase",
		}},
		{".planning/move/task_plan.md", "\ufeff# 计划\r\n\r\n### 阶段 1：看\r\n- [x] 数\r\n- **状态：** complete\r\n\r\n### 阶段 2：装\r\n- **状态：** pending\r\n", []string{
			"task move/phase-1|complete|看|type=phase", "task move/phase-2|pending|装|type=phase",
		}},
		{"web/task_plan.md", "## Phases\n- [x] **Phase 1: Look** around\n  - [ ] a part\n- [ ] Phase 2: Pack\n- [ ] a step of none\n\n## Status\n**Now in Phase 2**\n", []string{
			"task web/phase-1|complete|Look|type=phase", "task web/phase-2|pending|Pack|type=phase",
		}},
		{"docs/task_plan.md", "## Now\n\n- [x] Look\n- [ ] Pack\n  - [ ] socks\n", []string{
			"task docs/task_plan.md#look|complete|Look|type=phase", "task docs/task_plan.md#pack|pending|Pack|type=phase",
		}},
		{".planning/move/findings.md", "# Findings\n", []string{"note |||task=move"}},
		{"docs/stories/1.5.login.md", "# Story 1.5: Log in\n\n## Status\n\nReady for Review\n", []string{"task |in_progress|Log in|epic=1 state=Ready for Review task=story/1.5 type=story"}},
	}
}

func TestDeclared(t *testing.T) {
	t.Parallel()
	for _, c := range declaredCases() {
		place := Recognize(c.path)
		file, _ := place.Parse(c.path, []byte(c.text))
		if back := string(file.Append(nil)); back != c.text {
			t.Errorf("%s: %q comes back as %q", c.path, c.text, back)
		}
		var got []string
		for _, e := range file.Entries() {
			f := e.Facts
			more := ""
			for _, key := range []string{"archived", "assignee", "capability", "commit", "created", "epic", "id", "inclusion", "number", "optional", "parallel", "phase", "priority", "requirements", "section", "state", "story", "task", "type"} {
				v := f.Attributes[key]
				if key == "task" && f.Task != e.ID {
					v = f.Task // it joins what stands in several files
				}
				if v != "" {
					more += " " + key + "=" + v
				}
			}
			for _, l := range f.Links {
				more += " " + l.Type + "=" + l.Target
			}
			got = append(got, fmt.Sprintf("%s %s|%s|%s|%s", e.Kind, e.ID, f.Status, f.Title, strings.TrimSpace(more)))
		}
		if diff := cmp.Diff(c.want, got); diff != "" || !place.IsForeign() && place.Kind != "note" {
			t.Errorf("%s, of %q (-want +got):\n%s", c.path, place.Declared, diff)
		}
		if p, err := Claude().Path(place.Kind, place.ID); err != nil || p != c.path {
			t.Errorf("%s lies at %s, %v", c.path, p, err)
		}
	}
}

// TestConventions reads all declarations: each has a file and a row.
func TestConventions(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("declared/*.toml")
	if err != nil || len(files) != len(conventions) {
		t.Errorf("%d declarations, %v, and %d rows", len(files), err, len(conventions))
	}
	for _, c := range conventions {
		for _, r := range c.read() {
			if r.layout.Layout != c.file {
				t.Errorf("declared/%s.toml is of %s", c.file, r.layout.Layout)
			}
		}
	}
	for _, path := range []string{"specs/tasks.md", "specs/web/tasks.md", "docs/adr/README.md", "src/backlog.md", ".kiro/x.md", "a/tasks/other.md", "docs/adr/0001-TEMPLATE.md"} {
		if at := Recognize(path); at.Declared != "" {
			t.Errorf("%s is of %s", path, at.Declared)
		}
	}
}

// TestWrongDeclarations reads declarations with a mistake: each is named with its line, and nothing panics.
func TestWrongDeclarations(t *testing.T) {
	t.Parallel()
	const head = "layout = \"own\"\n\n[[file]]\npath = [\"a/{x}.md\"]\nkind = \"task\"\n"
	for _, c := range []struct{ text, want string }{
		{"layuot = 'x'", "line 1: layuot is no key of a declaration: here stand layout, owner, file, place, map"},
		{"layout = 'own'\n[[file]\n", "line 2: expected end of table"},
		{head + "entires = 'lines'", "line 6: file.entires is no key of a declaration: here stand path, not,"},
		{head + "match = '('", "line 6: error parsing regexp"},
		{head + "not = ['\\.txt$', '(']", "line 6: error parsing regexp"},
		{head + "skip = ['(']", "line 6: error parsing regexp"},
		{head + "entries = 'rows'", `line 6: entries = "rows" is none of items,`},
		{head + "nest = 'all'", `line 6: nest = "all" is none of part`},
		{head + "need = 'title'", `line 6: need = "title" is none of id, id?`},
		{head + "entries = 'sections'", `line 6: entries = "sections" needs at: write at = ["2"]`},
		{head + "entries = 'jsonl'\nat = ['/run']", `line 7: at says nothing where entries = "jsonl"`},
		{head + "entries = 'items'\nkey = '/id'", `line 7: key says nothing where entries = "items"`},
		{head + "entries = 'items'\nmatch = '^(?P<nr>\\d+)'\nid = '{number}'", `line 8: nothing captures the number of "{number}"`},
		{head + "set = ['status']", "line 6: set is for knowledge that is a file each"},
		{"layout = 'own'\n[[file]]\npath = ['a/{x}.md']\nkind = 'knowledge'\nset = ['stauts']", `line 5: set names "stauts"`},
		{head + "entries = 'items'\nmatch = '^(?P<nr>\\d+)'\nid = '{id}'", `line 8: nothing captures the id of "{id}"`},
		{head + "[file.fields]\ntitle = 'macht.title'", `line 7: title: "macht.title" is no place`},
		{head + "[file.fields]\ntitle = 'label'", `line 7: title: "label" is no place`},
		{head + "[file.fields]\ntitle = 'match.titel'", `line 7: title: nothing has the name of "match.titel"`},
		{head + "[file.fields]\na = 'text'\nstatus = { from = 'text', map = 'words' }", "line 8: status: there are no words [map.words]"},
		{head + "[file.fields]\nstatus = { form = 'text' }", "line 7: form is no key of the fact status: here stand from,"},
		{head + "boxes = 'yes'", "line 6 (last key \"file.boxes\"): incompatible types"},
		{head + "[[file]]\nkind = 'note'", "line 6: a [[file]] of own has no path"},
		{head + "[[file]]\npath = ['b/{a:(}']", "line 7: error parsing regexp"},
		{"layout = 'own'", "line 1: own has no [[file]]"},
		{head + "[[file]]\npath = ['b']\nkind = 'state'", `line 8: the kind "state"`},
	} {
		d, err := ParseDeclaration([]byte(c.text))
		if err == nil {
			err = d.Check()
		}
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q gives %v, want %s", c.text, err, c.want)
		}
	}
}

// FuzzDeclared cuts any bytes by every declaration: they come back.
func FuzzDeclared(f *testing.F) {
	for i, c := range declaredCases() {
		f.Add(i, []byte(c.text))
	}
	f.Add(0, []byte("- [ ]\n  - [x] \n\n#\n- [ ] a\n```\n- [ ] b\n"))
	f.Fuzz(func(t *testing.T, i int, text []byte) {
		all := declaredCases()
		path := all[max(i, -i)%len(all)].path
		file, _ := Recognize(path).Parse(path, text)
		if back := file.Append(nil); string(back) != string(text) {
			t.Errorf("%s: %q comes back as %q", path, text, back)
		}
	})
}

// TestRealConventions prints what real files hold: see docs/architecture.md.
func TestRealConventions(t *testing.T) {
	root := os.Getenv("FILEBUS_REAL")
	if root == "" {
		t.Skip("FILEBUS_REAL names no folder of real files")
	}
	err := filepath.WalkDir(root, func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(root, file)
		text, err := os.ReadFile(file)
		place := Recognize(filepath.ToSlash(rel))
		if err != nil || place.Declared == "" {
			return err
		}
		parsed, problems := place.Parse(rel, text)
		if string(parsed.Append(nil)) != string(text) {
			t.Errorf("%s does not come back", rel)
		}
		t.Logf("%s: %d entries, %d problems", rel, len(parsed.Entries()), len(problems))
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
