package web

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// queue returns a list of n issues as the commands say it: open and done, with hostile words, one that waits for another.
func queue(n int) said {
	var issues, records []string
	for i := range n {
		issues = append(issues, fmt.Sprintf(`{"id":"I-%d","status":"%s","priority":"%s","type":"<i>","agent":"%s","summary":"Title %04d %s","blocked_by":["I-%d"]}`,
			i, []string{"pending", "in_progress", "complete", hostile}[i%4], []string{"high", "low"}[i%2], []string{"", "anna"}[i%2], n-i, hostile, i+1))
		records = append(records, fmt.Sprintf(`{"name":"issue/I-%d","path":"a/<b>.md","tags":["t%d","%s"],"written":"2031-01-%02dT00:00:00Z"}`, i, i%3, hostile, 1+i%28))
	}
	return said{
		"issue list": `{"issues": [` + strings.Join(issues, ",") + `]}`, "list --kind=issue": `{"records": [` + strings.Join(records, ",") + `]}`,
		"task list": `{"tasks": [{"task":"spec/a/T1","status":"pending","title":"` + hostile + `","from":"queue","name":"task/tasks.md#t1","blocked_by":["spec/a/T2"]},` +
			`{"task":"spec/a/T2","status":"in_progress","agent":"zoë","from":"journal","name":"handoff/task-T2","seconds":7200,"late":true},` +
			`{"task":"B-7","status":"pending","name":"task/~/backlog/tasks/b-7.md"},{"task":"P0.1","status":"pending","name":"task/P0.1"}]}`,
	}
}

func TestIssues(t *testing.T) {
	t.Parallel()
	all := queue(400)
	for address, want := range map[string][]string{
		"/issues": {"300 issues that are not done", ">I-0<", "!>I-2<", "!<script>alert", "!\u202e<", "!<i>", "waits for <a href=\"/record?name=issue%2fI-1\">Title 0399", "(in_progress anna)",
			"after=I-", "33 days"},
		"/issues?closed=1&find=title+0398":          {"1 issues", ">I-2<"},
		"/issues?status=complete&priority=high":     {"100 issues", ">I-2<"},
		"/issues?status=complete&priority=low":      {"0 issues", "There is none", "!waits for"},
		"/issues?agent=nobody&label=t2":             {">I-8<", "!>I-0<"},
		"/issues?agent=--limit%3D0":                 {"0 issues"},
		"/issues?sort=title":                        {">I-399<", "!>I-0<"},
		"/issues?group=priority":                    {"<h2>high <small>100", "!<h2>low"},
		"/issues?view=board":                        {"<h2>in_progress <small>100", "<h2>pending", "80 more in the list"},
		"/issues?view=board&group=label":            {"t0, "},
		"/issues?after=I-399":                       {"There is none any more"},
		"/issues?after=gone&find=" + "%3Cscript%3E": {"There is none any more", "!<script>"},
		"/issues?what=tasks":                        {"4 tasks", "spec/a", `<option value="backlog/tasks">`, `!value="."`, "href=\"/record?name=task%2ftasks.md%23t1\"", "waits for <a href=\"/record?name=handoff%2ftask-T2\">spec/a/T2</a> <span class=\"status\">(in_progress zoë)", "late", "2 h", "!<script>alert"},
		"/issues?what=rm":                           {"there are issues and tasks"},
	} {
		page, _ := all.open(t, address)
		expect(t, page, want...)
	}
	var ids []string // page by page
	for address := "/issues?sort=newest&group=status"; address != ""; {
		page, _ := all.open(t, address)
		for _, part := range strings.Split(page, "<code>I-")[1:] {
			ids = append(ids, part[:strings.Index(part, "<")])
		}
		_, next, _ := strings.Cut(page, `class="next" href="`)
		address = strings.ReplaceAll(next[:max(strings.Index(next, `"`), 0)], "&amp;", "&")
	}
	slices.Sort(ids)
	if n := len(slices.Compact(ids)); n != 300 || len(ids) != 300 {
		t.Errorf("page by page there are %d issues, %d of them once, want 300", len(ids), n)
	}
}

func TestIssuesAreKept(t *testing.T) {
	t.Parallel()
	all := queue(10)
	all["log --limit=1"] = `{"position": 7}`
	page, ran := all.open(t, "/issues")
	expect(t, page, "8 issues")
	if want := []string{"issue list --max-tokens=0", "list --kind=issue --limit=0"}; !slices.Equal(ran, want) {
		t.Errorf("ran %q, want %q", ran, want)
	}
}
