package task

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"filebus/materialize/layout"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// LinkBlockedBy is the type of links from a task to those that must have ended before.
const LinkBlockedBy = "blocked-by"

// IsOf reports whether the id of a task begins with a folder, or with the number of one: 003 is
// the beginning of 003-search/T014. "" begins all ids.
func IsOf(id, folder string) bool {
	folder = strings.ToLower(strings.Trim(path.Clean("/"+folder), "/"))
	return isBelow(id, folder) || slices.ContainsFunc(strings.Split(strings.ToLower(id), "/"), func(part string) bool {
		return part == folder || strings.HasPrefix(part, folder+"-")
	})
}

func isBelow(name, folder string) bool {
	return folder == "" || strings.HasPrefix(strings.ToLower(name)+"/", folder+"/")
}

// isOf reports whether the task is of a folder by its id, or by a file that tells of it: 003-search is in specs.
func (i *Item) isOf(folder string) bool {
	below := strings.ToLower(strings.Trim(path.Clean("/"+folder), "/"))
	return IsOf(i.ID, folder) || slices.ContainsFunc(i.records, func(s query.Summary) bool { return isBelow(s.Path, below) })
}

// Next returns the tasks of a folder that nobody has begun and that wait for nothing, in the
// order of their files, and those that wait, with what for.
func (b *Tasks) Next(ctx context.Context, folder string) (ready, waiting []Item, err error) {
	items, err := b.List(ctx, ListOptions{})
	if err != nil {
		return nil, nil, err
	}
	open, running := map[string]string{}, map[string]bool{} // by the name of a record, the id; the keys of journals
	for _, i := range items {
		isOpen := layout.IsLeft(i.Status)
		if i.From == FromJournal && !i.Marked && layout.IsOpen(i.Status) {
			running[layout.TaskKey(i.ID)] = true
		}
		for _, s := range i.records {
			if isOpen && isTask(s) {
				open[s.Name.String()], open["task/"+strings.ToLower(s.Attributes["id"])] = s.TaskID(), i.ID
			}
		}
	}
	for _, i := range items {
		isRunning := func(s query.Summary) bool { return running[journalOf(&s).key()] }
		isBegun := i.Status != layout.StatusPending || i.Marked || slices.ContainsFunc(i.records, isRunning)
		if !slices.ContainsFunc(i.records, isTask) || isBegun || !i.isOf(folder) {
			continue
		}
		for _, s := range i.records {
			for _, l := range s.Version.Record.Links {
				if id := cmp.Or(open[l.Target], open[strings.ToLower(l.Target)]); id != "" && l.Type == LinkBlockedBy {
					i.BlockedBy = append(i.BlockedBy, id)
				}
			}
		}
		if len(i.BlockedBy) == 0 {
			ready = append(ready, i)
		} else {
			waiting = append(waiting, i)
		}
	}
	return ready, waiting, nil
}

func isTask(s query.Summary) bool { return s.Name.Kind == record.KindTask }

// A FolderCount counts the tasks that one file or folder lists: a spec, a change, a track.
type FolderCount struct {
	Folder string `json:"folder"`
	Open   int    `json:"open"`
	Done   int    `json:"done"`
}

// Folders counts the tasks of files by the folder that their ids begin with, or else by the file, those with open ones,
// that were taken in last first.
func (b *Tasks) Folders(ctx context.Context) (all []FolderCount, err error) {
	var tasks []string
	status, file, called := map[string]string{}, map[string]string{}, map[string]string{} // called is by the file
	folderOf := func(id string) string { return id[:max(strings.LastIndexAny(id, "/#"), 0)] }
	err = b.read.Each(ctx, store.FieldKind, string(record.KindTask), func(_ *store.Tx, v store.Version) bool {
		r := v.Record
		task := r.Name.ID
		if !r.Name.IsEntry() { // a file may tell of the task of an entry
			task = cmp.Or(r.Task, strings.TrimPrefix(task, record.WholeFile))
		}
		if r.Name.Tree != "" {
			return false
		}
		if _, isKnown := status[task]; !isKnown {
			tasks = append(tasks, task)
		}
		if folder := folderOf(task); r.Name.IsEntry() {
			if file[task] = r.Path; folder != r.Path {
				called[r.Path] = cmp.Or(called[r.Path], folder)
			}
		}
		if status[task] == "" || r.Name.IsEntry() {
			status[task] = cmp.Or(r.Status, status[task])
		}
		return false
	})
	at := map[string]int{}
	for _, task := range tasks {
		if status[task] == "" { // it may have a summary
			err = cmp.Or(err, b.read.Each(ctx, "task", task, func(_ *store.Tx, v store.Version) bool {
				if v.Record.Name.Kind == record.KindNote {
					status[task] = v.Record.Status
				}
				return status[task] != ""
			}))
		}
		folder := folderOf(task)
		if folder == "" || folder == file[task] {
			folder = cmp.Or(called[file[task]], file[task])
		}
		i, isKnown := at[folder]
		if !isKnown {
			i, at[folder] = len(all), len(all)
			all = append(all, FolderCount{Folder: folder})
		}
		if layout.IsLeft(status[task]) {
			all[i].Open++
		} else {
			all[i].Done++
		}
	}
	return slices.DeleteFunc(all, func(f FolderCount) bool { return f.Open == 0 }), err
}
