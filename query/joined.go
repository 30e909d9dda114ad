package query

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
)

// A Joined is what another file says of the same task, of a part of it, or of what it is a part of.
type Joined struct {
	Name   string `json:"name,omitempty"` // of the record, if the file has one of them
	Path   string `json:"path"`
	Status string `json:"status,omitempty"` // else in its own words
	Title  string `json:"title,omitempty"`
	Says   string `json:"says,omitempty"` // of a file that says how far the task is: what came of it
	Open   int    `json:"open,omitempty"` // tasks, of several records
	Done   int    `json:"done,omitempty"`
}

// A Stated is a status of a task in another file than its own.
type Stated struct {
	Path   string `json:"path"`
	Status string `json:"status"`
}

// A Target is what a link of a task leads to.
type Target struct {
	Name   string `json:"name"`
	Status string `json:"status,omitempty"`
	Title  string `json:"title,omitempty"`
}

// Joined returns what other files say of a task, as declarations join them, in the order of paths. The file that
// the task stands in is left out.
func (r *Reader) Joined(ctx context.Context, tree record.Tree, task, file string) (all []Joined, err error) {
	parts, err := r.Values(ctx, "task", task+"/")
	tasks := []string{task}
	for _, v := range parts {
		tasks = append(tasks, v.Text)
	}
	for up := path.Dir(task); up != "."; up = path.Dir(up) {
		tasks = append(tasks, up)
	}
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for _, task := range tasks {
		err = cmp.Or(err, r.Each(ctx, "task", task, func(tx *store.Tx, v store.Version) bool {
			s := Summarize(tx, v)
			if s.Name.Tree != tree || s.Path == file || !IsDeclared(s) {
				return false
			}
			i, isKnown := at[s.Path]
			if !isKnown {
				i, at[s.Path] = len(all), len(all)
				all = append(all, joinedOf(s))
			} else if j := &all[i]; j.Name != "" {
				*j = Joined{Path: s.Path, Open: j.Open, Done: j.Done}
			}
			if s.Name.Kind == record.KindTask && layout.IsOpen(s.Status) {
				all[i].Open++
			} else if s.Name.Kind == record.KindTask {
				all[i].Done++
			}
			return false
		}))
	}
	for i := range all {
		if all[i].Name != "" {
			all[i].Open, all[i].Done = 0, 0
		}
	}
	slices.SortFunc(all, func(a, b Joined) int { return strings.Compare(a.Path, b.Path) })
	return all, err
}

func joinedOf(s Summary) Joined {
	j := Joined{Name: s.Name.String(), Path: s.Path, Title: s.Title, Status: cmp.Or(s.Status, s.Attributes["state"])}
	if s.Name.Kind == record.KindNote && s.Status != "" {
		j.Says = s.Description.Preview
	}
	return j
}

// IsDeclared reports whether a record is of a convention's file, a built-in one or a workspace's own.
func IsDeclared(s Summary) bool {
	return s.Attributes[layout.AttributeLayout] != "" || layout.Recognize(s.Path).Declared != ""
}

// join adds to a hit what other files state of its task.
func (r *Reader) join(ctx context.Context, h *Hit, of Summary) error {
	if h.Kind != record.KindTask || of.Task == "" || !IsDeclared(of) {
		return nil
	}
	return r.Each(ctx, "task", of.Task, func(tx *store.Tx, v store.Version) bool {
		s := Summarize(tx, v)
		isOther := s.Name.Tree == of.Name.Tree && s.Path != of.Path && s.Status != "" && s.Status != h.Status
		if isOther && (s.Name.Kind == record.KindTask || h.Status == "") && IsDeclared(s) {
			h.Elsewhere = append(h.Elsewhere, Stated{s.Path, s.Status})
		}
		return false
	})
}
