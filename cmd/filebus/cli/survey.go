package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"filebus/cmd/filebus/trust"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// A FoundFolder is a folder with files that can be taken in.
type FoundFolder struct {
	Folder string `json:"folder"` // below the workspace
	Files  int    `json:"files"`
	Notes  bool   `json:"notes,omitempty"` // mostly Markdown; else files of agents, as their layouts know them

	Layout string         `json:"layout,omitempty"` // the conventions that keep them
	Holds  map[string]int `json:"holds,omitempty"`  // what these hold, by type, and of tasks the open ones

	tasks map[string]heldTask // by id

	Lessons []string `json:"-"` // folders in it whose files are knowledge
}

// A tally counts the files below a folder. A large file weighs one for each MiB; Markdown
// weighs nothing.
type tally struct{ files, markdown, weight int }

// A survey is a bounded look at what lies in a workspace, from the top down.
type survey struct {
	root   string
	until  time.Time
	left   int              // how many files and folders may still be looked at
	agents map[string]int   // files by the folder of agents that they lie in
	others map[string]tally // of each folder outside of those
	tagged map[string]int   // of folders of lessons, files with tags less those without
	hidden map[string]int   // Markdown that nothing takes in: by the hidden folder, that in a folder of agents, or itself
}

// The limits of a survey. Note folders of more files are left to the user.
const (
	SurveyTime = 2 * time.Second
	maxEntries = 100_000
	maxNotes   = 10_000

	copies     = "/node_modules/vendor/third_party/site-packages/venv/testdata/fixtures/" // of what others have written
	usualNotes = "/docs/notes/research/thoughts/memory-bank/memory/adr/adrs/solutions/"
	ofPrograms = "/.git/.filebus/.github/.venv/.tox/.cache/.npm/.cargo/.vscode/.idea/.terraform/.gradle/.next/"
	ofLessons  = "/solutions/lessons/learnings/" // where files with tags are proposed as knowledge
)

// forPeople are files at the top or in a folder of agents that say what a project is, and not what was done.
var forPeople = regexp.MustCompile(`^(?i)(read.?me|chang|histor|news|release|contribut|licen[cs]e|copying|notice|security|` +
	`support|govern|maintain|authors|code.of|install|upgrad|migrat)[^/]*$`)

// Look surveys a workspace for about that long at most, and returns the folders with most
// files first, and where Markdown lies, hidden or at the top, that nothing knows.
func Look(root string, limit time.Duration) (found, hidden []FoundFolder) {
	s := &survey{
		root: root, until: time.Now().Add(limit), left: maxEntries, agents: map[string]int{}, others: map[string]tally{},
		tagged: map[string]int{}, hidden: map[string]int{},
	}
	for dirs := []string{"."}; len(dirs) > 0; dirs = dirs[1:] {
		below, isWhole := s.read(dirs[0])
		if dirs = append(dirs, below...); !isWhole {
			s.add(dirs[0], tally{weight: maxNotes + 1}) // what is not seen may be anything
		}
	}
	found = s.found()
	s.joinHidden()
	for _, dir := range slices.Sorted(maps.Keys(s.hidden)) {
		if !slices.ContainsFunc(found, func(f FoundFolder) bool { return f.Notes && isBelow(dir, f.Folder) }) {
			hidden = append(hidden, FoundFolder{Folder: dir, Files: s.hidden[dir], Notes: true})
		}
	}
	return found, hidden
}

// joinHidden names a hidden folder in place of the many files that lie in it, unless a client reads its settings there.
func (s *survey) joinHidden() {
	const few = 3
	in := map[string][]string{}
	for name := range s.hidden {
		if dir := path.Dir(name); strings.EqualFold(path.Ext(name), ".md") && dir != "." && dir != ".claude" {
			in[dir] = append(in[dir], name)
		}
	}
	for dir, names := range in {
		for _, name := range names {
			if len(names) > few {
				s.hidden[dir] += s.hidden[name]
				delete(s.hidden, name)
			}
		}
	}
}

func (s *survey) isOver() bool { return s.left <= 0 || time.Now().After(s.until) }

// read counts the files of a folder and returns the folders in it, unless it is another
// project's.
func (s *survey) read(dir string) (folders []string, isWhole bool) {
	if s.isOver() {
		return nil, false
	}
	f, err := os.Open(filepath.Join(s.root, filepath.FromSlash(dir)))
	if err != nil {
		return nil, true
	}
	defer func() { _ = f.Close() }() // only read
	var entries, more []fs.DirEntry
	for err == nil && !s.isOver() {
		more, err = f.ReadDir(1000)
		entries, s.left = append(entries, more...), s.left-len(more)
	}
	isForeign := func(e fs.DirEntry) bool { return strings.Contains("/.git/.filebus/pyvenv.cfg/", "/"+e.Name()+"/") }
	if dir != "." && slices.ContainsFunc(entries, isForeign) {
		return nil, true
	}
	for _, e := range entries {
		if name := path.Join(dir, e.Name()); !e.IsDir() && time.Now().Before(s.until) {
			s.count(name, e)
		} else if !e.IsDir() {
			return folders, false
		} else if OneLine(name) != name {
			continue // no command can name it
		} else if isPlace := agentFolder(name)+declaredFolder(name)+declaredFolder(e.Name()) != ""; isPlace ||
			e.Name()[0] != '.' && !strings.Contains(copies, "/"+e.Name()+"/") {
			folders = append(folders, name)
		} else if dir == "." && e.Name()[0] == '.' && !strings.Contains(ofPrograms, "/"+e.Name()+"/") {
			s.countHidden(name)
		}
	}
	return folders, err != nil
}

// countHidden counts the Markdown in a hidden folder at the top.
func (s *survey) countHidden(top string) {
	_ = filepath.WalkDir(filepath.Join(s.root, top), func(name string, e fs.DirEntry, err error) error {
		if s.left--; err != nil || s.isOver() {
			return fs.SkipAll
		}
		if e.IsDir() && e.Name()[0] == '.' && e.Name() != top || e.Name() == "node_modules" {
			return fs.SkipDir
		}
		if e.Type().IsRegular() && strings.EqualFold(filepath.Ext(name), ".md") {
			s.hidden[top]++
		}
		return nil
	})
}

// agentFolder returns the folder of agents that a path leads into, or "".
func agentFolder(name string) string {
	parts := strings.Split(name, "/")
	isOne := func(part string) bool { return slices.Contains(materialize.AgentFolders(), part) }
	return strings.Join(parts[:slices.IndexFunc(parts, isOne)+1], "/")
}

// declaredFolder returns the folder of a convention that a path leads into, or that lies below it.
func declaredFolder(name string) string {
	all := layout.DeclaredFolders()
	if i := slices.IndexFunc(all, func(f string) bool { return isBelow(name, f) || isBelow(f, name) }); i >= 0 {
		return all[i]
	}
	return ""
}

func (s *survey) count(name string, e fs.DirEntry) {
	top, at := agentFolder(name), layout.Recognize(name)
	switch info, err := e.Info(); {
	case err != nil || !info.Mode().IsRegular():
	case at.Declared != "":
		dir := declaredFolder(strings.TrimPrefix(strings.TrimPrefix(name, at.Root), "/"))
		if dir != "" {
			dir = path.Join(at.Root, dir)
		}
		s.agents[cmp.Or(dir, top, path.Dir(name))]++
	case top != "" && at.Kind != record.KindNote:
		s.agents[top]++
	case strings.EqualFold(path.Ext(name), ".md"):
		s.countMarkdown(top, name)
	case top == "" && e.Name()[0] != '.': // others may hold secrets
		s.add(path.Dir(name), tally{1, 0, 1 + int(info.Size()>>20)})
	}
}

// countMarkdown counts a Markdown file, in a folder of agents unless that is "".
func (s *survey) countMarkdown(top, name string) {
	if top == "" {
		s.add(path.Dir(name), tally{1, 1, 0})
		s.countTags(name)
		if name[0] == '.' {
			top, _, _ = strings.Cut(name, "/")
		}
	}
	below := strings.TrimPrefix(strings.TrimPrefix(name, top), "/")
	first, _, isDeep := strings.Cut(below, "/")
	if (top != "" || !isDeep) && !layout.IsObeyed(name) && !forPeople.MatchString(below) {
		s.hidden[path.Join(top, first)]++
	}
}

// countTags looks into a Markdown file of a folder of lessons, as long as that may tell
// what most of these are.
func (s *survey) countTags(name string) {
	const enough = 10
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if n := s.tagged[dir]; !strings.Contains(ofLessons, "/"+path.Base(dir)+"/") || max(n, -n) >= enough {
			continue
		}
		text, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(name)))
		if fields, _ := markdown.FrontMatter(text); err == nil && len(fields["tags"]) > 0 {
			s.tagged[dir]++
		} else {
			s.tagged[dir]--
		}
		return
	}
}

// lessonsIn returns the folders of lessons in a folder, or itself.
func (s *survey) lessonsIn(top string) (all []string) {
	for _, dir := range slices.Sorted(maps.Keys(s.tagged)) {
		if s.tagged[dir] > 0 && isBelow(dir, top) {
			all = append(all, dir)
		}
	}
	return all
}

func (s *survey) add(dir string, n tally) {
	for ; dir != "."; dir = path.Dir(dir) {
		was := s.others[dir]
		s.others[dir] = tally{was.files + n.files, was.markdown + n.markdown, was.weight + n.weight}
	}
}

// found returns what can be taken in.
func (s *survey) found() (all []FoundFolder) {
	for dir, n := range s.agents {
		all = append(all, FoundFolder{Folder: dir, Files: n})
	}
	for _, dir := range slices.Sorted(maps.Keys(s.others)) {
		n, least := s.others[dir], 3
		if strings.Contains(usualNotes, "/"+strings.ToLower(path.Base(dir))+"/") {
			least = 1
		}
		isIn := func(f FoundFolder) bool { return isBelow(dir, f.Folder) }
		isNotes := n.markdown >= max(least, n.weight) && n.files <= maxNotes
		if isNotes && mayHoldFiles(dir) && !slices.ContainsFunc(all, isIn) {
			all = append(all, FoundFolder{Folder: dir, Files: n.files, Notes: true, Lessons: s.lessonsIn(dir)})
		}
	}
	slices.SortFunc(all, func(a, b FoundFolder) int {
		return cmp.Or(cmp.Compare(b.Files, a.Files), strings.Compare(a.Folder, b.Folder))
	})
	return all
}

func isBelow(dir, top string) bool { return strings.HasPrefix(dir+"/", strings.Trim(top, "/")+"/") }

// Without leaves out the folders that sync looks at by itself, or by the configuration.
func (c Configuration) Without(found []FoundFolder) []FoundFolder {
	known := slices.Concat(layout.DeclaredFolders(), c.Notes, c.Agents, []string{cmp.Or(c.Root, ".")})
	return slices.DeleteFunc(slices.Clone(found), func(f FoundFolder) bool {
		isIn := func(dir string) bool { return isBelow(f.Folder, dir) }
		return slices.ContainsFunc(known, isIn) || !f.Notes && slices.ContainsFunc(materialize.AgentFolders(), isIn)
	})
}

// Detailed adds to what was found what the files of conventions hold, of those that a look has
// listed. Of a store that has nothing yet the listed files alone count.
func Detailed(root string, p layout.Profile, found []FoundFolder, report *materialize.SyncReport,
	isEmpty bool) []FoundFolder {
	if isEmpty {
		for i := range found {
			found[i].Files = 0
		}
	}
	for _, file := range report.Files {
		in := func(f FoundFolder) bool { return isBelow(file.Path, f.Folder) }
		i := slices.IndexFunc(found, in)
		if i < 0 {
			top, _, _ := strings.Cut(file.Path, "/")
			i, found = len(found), append(found, FoundFolder{Folder: top})
		}
		if isEmpty {
			found[i].Files++
		}
		if at := p.Recognize(file.Path); at.Declared != "" {
			found[i].Hold(at, root, file.Path)
		}
	}
	return slices.DeleteFunc(found, func(f FoundFolder) bool { return f.Files == 0 })
}

// Hold counts what the file of a convention holds.
func (f *FoundFolder) Hold(at layout.Location, root, name string) (file layout.File, problems []*layout.SyntaxError) {
	const mostRead = 8 << 20 // of a file, in bytes
	if names := strings.Split(f.Layout, ", "); f.Layout == "" {
		f.Layout = at.Declared
	} else if !slices.Contains(names, at.Declared) {
		f.Layout = strings.Join(append(names, at.Declared), ", ")
	}
	text, err := folder.At(root).ReadUpTo(name, mostRead)
	if err != nil {
		return file, nil // the sync says so
	}
	if f.Holds == nil {
		f.Holds = map[string]int{}
	}
	file, problems = at.Layout.Parse(name, text)
	for _, part := range file.Parts {
		e := part.Entry
		if e == nil {
			continue
		}
		switch what := cmp.Or(e.Facts.Attributes[record.AttributeType], string(e.Kind)); {
		case e.Kind == record.KindTask, e.Facts.Task != "":
			f.holdTask(e)
		case e.Kind == record.KindNote:
		case e.Kind == record.KindIssue:
			f.Holds["issue"]++
			if layout.IsLeft(e.Facts.Status) {
				f.Holds["open"]++
			}
		case what == string(record.KindKnowledge):
			f.Holds["entry"]++
		default:
			f.Holds[what]++
		}
	}
	return file, problems
}

// A heldTask is a task of which one file or several tell.
type heldTask struct {
	status        string
	isTask, isOwn bool // a file that is no task may tell of it; an entry has its id
}

// holdTask counts a task once, however many files tell of it: see task.Tasks.List.
func (f *FoundFolder) holdTask(e *layout.Entry) {
	id, isOwn := cmp.Or(e.Facts.Task, e.ID, string(e.Text)), e.ID != "" && e.ID == e.Facts.Task
	for isOwn && f.tasks[id].isOwn { // another file has that id
		id += "~"
	}
	t := f.tasks[id]
	count := func(by int) {
		if t.isTask {
			f.Holds["task"] += by
		}
		if t.isTask && layout.IsLeft(t.status) {
			f.Holds["open"] += by
		}
	}
	count(-1)
	t.isTask, t.isOwn = t.isTask || e.Kind == record.KindTask, t.isOwn || isOwn
	if t.status = cmp.Or(t.status, e.Facts.Status); isOwn {
		t.status = cmp.Or(e.Facts.Status, t.status)
	}
	count(1)
	if f.tasks == nil {
		f.tasks = map[string]heldTask{}
	}
	f.tasks[id] = t
}

// NewConventions says what the files of conventions hold that a sync has found where no command has told of any before.
func (w *Work) NewConventions(report *materialize.SyncReport, dryRun bool) (lines []string, err error) {
	at, err := w.NewPlaces(report.Found, dryRun)
	for _, place := range slices.Sorted(maps.Keys(at)) {
		f := FoundFolder{Folder: place, Files: len(at[place])}
		for _, file := range at[place] {
			f.Hold(w.Settings.Profile.Recognize(file), report.Root, file)
		}
		lines = append(lines, OneLine(place)+": "+f.HoldsText())
	}
	return lines, err
}

// HoldsText says what the files of a convention hold.
func (f FoundFolder) HoldsText() string {
	parts := []string{Plural(f.Files, "file") + " of " + f.Layout}
	for _, what := range slices.Sorted(maps.Keys(f.Holds)) {
		switch n := f.Holds[what]; what {
		case "open":
		case "task", "issue":
			parts = append(parts, fmt.Sprintf("%s (%d open)", Plural(n, what), f.Holds["open"]))
		default:
			parts = append(parts, Plural(n, what))
		}
	}
	return strings.Join(parts, ", ")
}

// FoundText names what was found, or returns "".
func FoundText(found []FoundFolder) string {
	const most = 5
	n, folders := 0, []string{}
	for _, f := range found {
		n += f.Files
		folders = append(folders, fmt.Sprintf("%s: %d", f.Folder, f.Files))
	}
	if n == 0 {
		return ""
	}
	if more := len(folders) - most; more > 0 {
		folders = append(folders[:most], Plural(more, "more folder"))
	}
	return OneLine(Plural(n, "file") + " that agents wrote, or notes (" + strings.Join(folders, ", ") + ")")
}

// UsualSyncBudget is how long a reading command looks for changed files: longer than a busy machine
// needs for tens of thousands.
const UsualSyncBudget = time.Second

// surveyBudget is how long a command looks for what it might take in, besides what it does.
const surveyBudget = 50 * time.Millisecond

// NoStore says of a store that is missing which files here could be taken in.
func (e *Environ) NoStore(at materialize.Location, err error) error {
	isGiven := e.Or(e.Global.Store, "FILEBUS_STORE") != ""
	if !errors.Is(err, store.ErrNoStore) || isGiven || e.IsShared(at.Root) || materialize.HasLost(at.Store) {
		return err
	}
	isMarked := func(dir string) bool {
		isIn := func(name string) bool { return IsThere(filepath.Join(dir, name)) }
		return slices.ContainsFunc(append(materialize.AgentFolders(), ".git"), isIn)
	}
	dir, command := at.Root, "filebus init --yes"
	for !isMarked(dir) && !e.IsShared(dir) {
		dir = filepath.Dir(dir)
	}
	if e.IsShared(dir) {
		dir = at.Root
	} else if dir != at.Root {
		command += " --store " + record.ShellWord(filepath.Join(dir, materialize.StoreFolder))
	}
	found, _ := Look(dir, surveyBudget)
	if text := FoundText(found); text != "" {
		return record.NoStore.Errorf("%w yet; found %s", err, text).Try(command + ", which takes them in")
	}
	return err
}

// IsShared reports whether a folder holds other projects: the home folder, and the top.
func (e *Environ) IsShared(dir string) bool {
	return dir == filepath.Dir(dir) || e.Home() != "" && trust.IsSame(dir, e.Home())
}

// IsEmpty reports whether nothing was ever stored.
func (w *Work) IsEmpty(ctx context.Context) bool {
	end, err := query.View(ctx, w.Store, func(tx *store.Tx) (uint64, error) { return tx.Position(), nil })
	return err == nil && end == 0
}

// RemarkLeft says of a store that has nothing yet which files here it does not take in by
// itself.
func (w *Work) RemarkLeft(ctx context.Context) {
	if w.Global.JSON || w.IsShared(w.Root) || !w.Store.IsNew() && !w.IsEmpty(ctx) {
		return
	}
	c, err := w.Config(w.Location)
	found, _ := Look(w.Root, surveyBudget)
	if text := FoundText(c.Without(found)); err == nil && text != "" {
		w.Remark("not taken in yet: %s; filebus init --yes does", text)
	}
}

// RemarkStrangers names the folders outside of the workspace that other programs have written, and what takes them in.
func (w *Work) RemarkStrangers(ctx context.Context) {
	const most = 5
	dirs, err := w.Strangers(ctx)
	if n := len(dirs); err == nil && n > 0 && !w.Global.JSON {
		more := map[bool]string{true: fmt.Sprintf(" and %d more", n-most)}[n > most]
		dirs = dirs[:min(n, most)]
		bases := markdown.Each(dirs, func(dir string) string { return record.ShellWord(filepath.Base(dir)) })
		w.Remark("not taken in, as another program wrote it: %s%s; filebus init --take-over %s does, and leaves the files to it",
			OneLine(strings.Join(dirs, ", ")), more, OneLine(strings.Join(bases, " ")))
	}
}
