package web

import (
	"cmp"
	"context"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
)

// An issuesPage is issues or tasks, filtered, sorted and in groups.
type issuesPage struct {
	What, View, Sort, Group, Find string
	Closed                        bool // those that are done are shown too
	Fields                        []field
	Total                         int // that pass
	Groups                        []rowGroup
	After                         string // the last row that is shown, where others follow
}

// A rowGroup is the rows that have a value in common, or the first of them.
type rowGroup struct {
	Value string
	Count int
	Rows  []*row
}

// A row is an issue or a task.
type row struct {
	ID, Name, Title, Status, Priority, Type, Agent, From string
	Labels                                               []string
	Created                                              time.Time
	Late                                                 bool // its claim is over, or it takes long
	Waits                                                []waiting
	Open                                                 bool
	key                                                  string              // what is searched
	has                                                  map[string][]string // values, by the names of fields
}

// A waiting is what a row waits for, and why that is not done.
type waiting struct{ ID, Name, Title, Why string }

// The words of the page. What is open is what no command counts as done.
const (
	pageRows  = 100
	boardRows = 20
)

func rowFields() []string {
	return []string{"status", "priority", "type", "agent", "label", "from", "waits"}
}

func priorities() []string { return []string{"critical", "high", "medium", "low"} }

func states() []string {
	return []string{"in_progress", "accepted", "pending", "blocked", "complete", "duplicate", "wont_fix"}
}

func loadIssues(ctx context.Context, s *Site, r *http.Request) (any, error) {
	v := &issuesPage{What: cmp.Or(r.FormValue("what"), "issues"), View: cmp.Or(r.FormValue("view"), "list"), Sort: r.FormValue("sort"),
		Group: r.FormValue("group"), Find: r.FormValue("find"), Closed: r.FormValue("closed") != ""}
	all, err := s.rows.of(ctx, s, v.What)
	if err != nil {
		return nil, err
	}
	words := strings.Fields(strings.ToLower(v.Find))
	passes := func(row *row, but string) bool {
		for _, name := range rowFields() {
			if wanted := r.FormValue(name); wanted != "" && name != but && !slices.Contains(row.has[name], wanted) {
				return false
			}
		}
		lacks := func(word string) bool { return !strings.Contains(row.key, word) }
		return (row.Open || v.Closed || r.FormValue("status") != "") && !slices.ContainsFunc(words, lacks)
	}
	for _, name := range rowFields() {
		f, counts := field{Name: name, Chosen: r.FormValue(name)}, map[string]int{}
		for _, row := range all {
			if passes(row, name) {
				for _, value := range row.has[name] {
					counts[value]++
				}
			}
		}
		delete(counts, "")
		f.Values = counted(counts)
		f.Values, f.More = cut(f.Values, maxChips)
		v.Fields = append(v.Fields, f)
	}
	all = slices.DeleteFunc(slices.Clone(all), func(row *row) bool { return !passes(row, "") })
	v.Total = len(all)
	by := v.Group
	if v.View == "board" {
		by = cmp.Or(by, "status")
	}
	v.sort(all, by)
	v.show(all, by, r.FormValue("after"))
	return v, nil
}

// counted returns values with how many have them, the most frequent first.
func counted(counts map[string]int) (values []facetValue) {
	for value, n := range counts {
		values = append(values, facetValue{Value: value, Count: n})
	}
	slices.SortFunc(values, func(a, b facetValue) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.Value, b.Value)) })
	return values
}

// sort puts rows in the order that was asked for, within their groups; without one they keep that of the command, what is to be
// done next first.
func (v *issuesPage) sort(all []*row, by string) {
	known := append(states(), priorities()...)
	orders := map[string]func(a, b *row) int{
		"newest": func(a, b *row) int { return b.Created.Compare(a.Created) },
		"oldest": func(a, b *row) int { return a.Created.Compare(b.Created) },
		"title":  func(a, b *row) int { return cmp.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title)) },
		"id":     func(a, b *row) int { return cmp.Compare(a.ID, b.ID) },
	}
	group := func(r *row) string { return strings.Join(r.has[by], ", ") }
	place := func(r *row) uint { return uint(slices.Index(known, group(r))) } // of -1 the largest
	slices.SortStableFunc(all, func(a, b *row) int {
		if by != "" {
			if n := cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(group(a), group(b))); n != 0 {
				return n
			}
		}
		if order := orders[v.Sort]; order != nil {
			return order(a, b)
		}
		return 0
	})
}

// show cuts sorted rows into groups, and those into what a page shows: of a list the rows behind one, of a board the first of each.
func (v *issuesPage) show(all []*row, by, after string) {
	first, counts, shown := 0, map[string]int{}, 0
	if after != "" {
		if first = 1 + slices.IndexFunc(all, func(r *row) bool { return r.ID == after }); first == 0 {
			first = len(all)
		}
	}
	for i, r := range all {
		value := strings.Join(r.has[by], ", ")
		counts[value]++
		isBoard, isNew := v.View == "board", len(v.Groups) == 0 || v.Groups[len(v.Groups)-1].Value != value
		if isBoard && counts[value] > boardRows || !isBoard && (i < first || shown == pageRows) {
			continue
		}
		if isNew {
			v.Groups = append(v.Groups, rowGroup{Value: value})
		}
		g := &v.Groups[len(v.Groups)-1]
		g.Rows, shown = append(g.Rows, r), shown+1
		if v.After = ""; !isBoard && shown == pageRows && i < len(all)-1 {
			v.After = r.ID
		}
	}
	for i := range v.Groups {
		v.Groups[i].Count = counts[v.Groups[i].Value]
	}
}

// loadRows asks for all issues or tasks.
func (s *Site) loadRows(ctx context.Context, what string) (rows []*row, err error) {
	var said struct {
		Issues  []issue
		Tasks   []doing
		Records []struct {
			Name, Path string
			Tags       []string
			Written    *time.Time
			Time       time.Time
		}
	}
	commands := map[string][][]string{
		"issues": {{"issue", "list", "--max-tokens=0"}, {"list", "--kind=issue", "--limit=0"}}, "tasks": {{"task", "list", "--max-tokens=0"}},
	}[what]
	if commands == nil {
		return nil, &Refusal{Code: "usage", Message: "there are issues and tasks", Hint: ""}
	}
	for _, command := range commands {
		if err := s.Ask(ctx, &said, command...); err != nil {
			return nil, err
		}
	}
	byID := map[string]*row{}
	add := func(r *row, waits []string) {
		r.Open = !slices.Contains([]string{"complete", "duplicate", "wont_fix", "archived", "superseded", "failed"}, r.Status)
		for _, id := range waits {
			r.Waits = append(r.Waits, waiting{ID: id, Name: id})
		}
		rows, byID[r.ID] = append(rows, r), r
	}
	for _, i := range said.Issues {
		add(&row{ID: i.ID, Name: "issue/" + i.ID, Title: i.Summary, Status: i.Status, Priority: i.Priority, Type: i.Type,
			Agent: i.Agent, Late: i.Expired}, i.BlockedBy)
	}
	for _, t := range said.Tasks {
		r := &row{ID: t.Task, Name: t.Name, Title: t.Title, Status: t.Status, Agent: t.Agent, Late: t.Late}
		if r.From = path.Dir(strings.TrimSuffix(t.Task, "/")); r.From == "." { // it has no folder, but its file may have
			_, file, _ := strings.Cut(t.Name, "/~/")
			r.From = path.Dir("/" + file)[1:]
		}
		if r.From, _, _ = strings.Cut(r.From, "#"); t.Seconds > 0 {
			r.Created = s.Now().Add(-time.Duration(t.Seconds) * time.Second)
		}
		add(r, t.BlockedBy)
	}
	for _, f := range said.Records {
		if r := byID[strings.TrimPrefix(f.Name, "issue/")]; r != nil {
			r.Labels, r.From, r.Created = f.Tags, f.Path, f.Time
			if f.Written != nil {
				r.Created = *f.Written
			}
		}
	}
	for _, r := range rows {
		for i := range r.Waits {
			if on := byID[r.Waits[i].ID]; on != nil {
				r.Waits[i].Name, r.Waits[i].Title, r.Waits[i].Why = on.Name, on.Title, strings.TrimSpace(on.Status+" "+on.Agent)
			}
		}
		r.has = map[string][]string{"status": {r.Status}, "priority": {r.Priority}, "type": {r.Type}, "agent": {cmp.Or(r.Agent, "nobody")},
			"label": r.Labels, "from": {r.From}, "waits": {map[bool]string{true: "yes", false: "no"}[len(r.Waits) > 0]}}
		r.key = strings.ToLower(strings.Join(append([]string{r.ID, r.Title, r.Agent}, r.Labels...), " "))
	}
	return rows, nil
}
