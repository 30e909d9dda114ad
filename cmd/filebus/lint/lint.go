// Package lint checks the files of a workspace against the rules of file-based
// communication: state that holds outputs, journals and markers that do not
// belong together, ids used twice, files too large to be read, and instructions
// that make an orchestrator read what it should not.
//
// [Check] walks a folder and returns a [Report] of [rule.Finding] values. It reads
// files alone, neither store nor index, and writes nothing; no symbolic link is
// followed and no more is read than its limits say.
//
// Instructions are prose. What they forbid is told from what they ask for by the
// words of a clause, by headings and by the lines that lead in to a list or to
// code, so a prohibition is no finding. It errs on the side of silence.
package lint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"filebus/cmd/filebus/rule"
	"filebus/materialize/layout"
	"filebus/materialize/mirror"
	"filebus/store/record"
)

// The limits of the work.
const (
	maxTokens = 25_000  // of a file that is read at once
	MaxFiles  = 200_000 // entries of folders that are looked at
	maxRead   = 4 << 20 // bytes of a file that is parsed; more is only called large
)

// A Report is what Check found.
type Report struct {
	Dir      string         `json:"dir"`              // absolute
	Files    int            `json:"files"`            // that were read, or are named
	Findings []rule.Finding `json:"findings"`         // by file, slash-separated below the folder, line and rule
	More     int            `json:"more,omitempty"`   // findings beyond the limit
	Unread   []string       `json:"unread,omitempty"` // what could not be read, with the reason
	Cut      bool           `json:"-"`                // MaxFiles was reached: the rest was not looked at
}

// Options say how files are recognised, and what is looked for.
type Options struct {
	Profile layout.Profile // of the workspace; zero: the default one
	Notes   []string       // folders of notes, below the folder; "." is the folder itself
	Rules   []string       // ids of the rules; empty: all of them
	Limit   int            // of findings; 0: none
}

// Check checks the files below a folder, absolute. It returns an error if the folder
// cannot be read; a file that cannot is in the report.
func Check(ctx context.Context, dir string, opts Options) (*Report, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is no folder", dir)
	}
	if opts.Profile.Root == "" {
		opts.Profile = layout.Claude()
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // only read
	c := &checker{
		root: root, filter: mirror.NewFilter(dir, mirror.Rules{}), opts: opts, report: Report{Dir: dir}, ids: map[string]place{},
		looked: map[string]bool{}, tasks: &tasks{at: map[taskKey]*task{}}, signs: signs(),
	}
	if name := filepath.Base(dir); isRoot(name) || name == opts.Profile.Root {
		c.within = name
	}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return c.visit(name, d, err)
	})
	if err != nil {
		return nil, err
	}
	c.tasks.report(c)
	return c.finish(), nil
}

// A checker goes through a folder and gathers findings.
type checker struct {
	root    *os.Root
	filter  *mirror.Filter
	opts    Options
	within  string // the name of a folder that is itself the root of a layout: paths begin with it
	report  Report
	looked  map[string]bool // the files that count
	entries int
	ids     map[string]place // of entries, by base, kind and id
	tasks   *tasks
	signs   []sign
}

// A place is a line of a file.
type place struct {
	file string
	line int
}

// add adds a finding in a line of a file, the first where all of it is meant, unless its rule
// was not asked for. Without a remedy it is that of the rule.
func (c *checker) add(file string, line int, id, message, remedy string) {
	if len(c.opts.Rules) > 0 && !slices.Contains(c.opts.Rules, id) {
		return
	}
	rules := Rules()
	known := rules[slices.IndexFunc(rules, func(r row) bool { return r.ID == id })]
	f := rule.Finding{Rule: id, File: file, Line: line, Message: message, Remedy: cmp.Or(remedy, known.remedy)}
	c.report.Findings = append(c.report.Findings, f)
	c.looked[file] = true
}

func (c *checker) unread(name string, err error) {
	if inner, found := errors.AsType[*fs.PathError](err); found {
		err = inner.Err
	}
	c.report.Unread = append(c.report.Unread, fmt.Sprintf("%s: %v", name, err))
}

// finish returns the report in order, each finding once.
func (c *checker) finish() *Report {
	slices.SortStableFunc(c.report.Findings, rule.Compare)
	all := slices.CompactFunc(c.report.Findings, func(a, b rule.Finding) bool {
		return rule.Compare(a, b) == 0 && a.Message == b.Message
	})
	shown := len(all)
	if c.opts.Limit > 0 {
		shown = min(shown, c.opts.Limit)
	}
	c.report.Findings, c.report.More, c.report.Files = all[:shown], len(all)-shown, len(c.looked)
	return &c.report
}

// leftOut are the folders that hold nothing that agents communicate by.
const leftOut = "/.git/.hg/.svn/.filebus/node_modules/__pycache__/.venv/"

// visit looks at one entry of a folder.
func (c *checker) visit(name string, d fs.DirEntry, err error) error {
	if err != nil {
		c.unread(name, err)
		if d != nil && d.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	if c.entries++; c.entries > MaxFiles {
		c.report.Cut = true
		return fs.SkipAll
	}
	full := path.Join(c.within, name)
	location := c.opts.Profile.Recognize(full)
	switch {
	case name == ".":
	case d.IsDir() && strings.Contains(leftOut, "/"+d.Name()+"/"):
		return fs.SkipDir
	case location.Kind == record.KindMarker && !d.Type().IsRegular():
		c.oddMarker(name, d.Type())
	case d.Type().IsRegular():
		c.file(name, full, location, d)
	}
	return nil
}

// file checks a file, if it is one that agents communicate by.
func (c *checker) file(name, full string, location layout.Location, d fs.DirEntry) {
	leftOut := c.filter.Find(name)
	switch leftOut {
	case mirror.RuleConflict:
		c.add(name, 1, "layout", "a file syncer made it of two versions", "by hand: take over what you need of "+name+", then delete it")
		return
	case mirror.RuleMachine:
		return
	}
	if c.tasks.stray(name, full, location, c.opts.Profile) {
		return
	}
	known := location.Kind != record.KindNote
	if !known {
		c.oddJournal(name, full)
	}
	isNote := !known && leftOut == "" && slices.ContainsFunc(c.opts.Notes, func(dir string) bool {
		return dir == "." || strings.HasPrefix(name+"/", dir+"/")
	})
	isOther := !known && !isInstruction(full, c.opts.Profile)
	if isOther && !isNote {
		return
	}
	info, err := d.Info()
	if err != nil {
		c.unread(name, err)
		return
	}
	if tokens := record.EstimateTokens(info.Size()); tokens > maxTokens && location.Kind != record.KindSnapshot && !isOther {
		message := fmt.Sprintf("~%d tokens, more than %d", tokens, maxTokens)
		c.add(name, 1, "large-file", message, c.partsOf(name, location))
	}
	isRead := []record.Kind{record.KindNote, record.KindFrame, record.KindHandoff, record.KindMarker, record.KindState}
	if !slices.Contains(isRead, location.Kind) || info.Size() > maxRead {
		return
	}
	text, err := c.read(name)
	switch {
	case err != nil:
		c.unread(name, err)
	case known:
		c.data(name, full, location, text)
	case isNote:
		_, problems := location.Parse(full, text)
		for _, p := range problems {
			c.syntax(name, location, layout.File{}, p)
		}
	}
	if err == nil && !known && !isOther {
		c.instruction(name, text)
	}
}

// read returns the text of a file.
func (c *checker) read(name string) ([]byte, error) {
	f, err := c.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	c.looked[name] = true
	return io.ReadAll(io.LimitReader(f, maxRead))
}

// pattern returns an expression that is compiled when it is first used.
func pattern(text string) func() *regexp.Regexp { return layout.Pattern(text) }

// A row is a rule: something that Check looks for.
type row struct {
	ID     string
	About  string // what is found, in a sentence
	remedy string // what mends it, "" where that depends on the file
}

// Rules returns all rules, those of data first. Their ids are printed, and taken by --rule: add,
// never rename.
func Rules() []row {
	return []row{
		{"state-output", "the session state holds what an agent wrote",
			"filebus put FILE --agent NAME, and its reference in place of the text"},
		{"journal-handoff", "a journal whose task has ended has no Handoff section", ""},
		{"handoff-incomplete", "a handoff lacks its outcome, summary, blockers or next steps", ""},
		{"journal-marker", "a journal's task has ended without a marker", ""},
		{"journal-name", "a journal has a name that no command looks at", ""},
		{"marker-journal", "a marker's task has neither journal nor report", ""},
		{"marker-name", "a marker has a name or place that no wait looks at", ""},
		{"marker-file", "a marker is a folder, a link or something else that is not a file", ""},
		{"marker-status", "a journal says that its task goes on, but the task has a marker", ""},
		{"large-file", fmt.Sprintf("a file has more than %d tokens", maxTokens), ""},
		{"duplicate-id", "an issue, a knowledge entry or a queued task has the id of another one", ""},
		{"layout", "a line departs from the layout of its file", ""},
		{"agent-output", "an instruction calls AgentOutputTool or TaskOutput",
			"filebus wait TASK, then filebus task show TASK"},
		{"polling", "an instruction polls in place of one blocking wait",
			"filebus wait TASK; for the issue queue filebus issue wait"},
		{"whole-journal", "an instruction reads a whole journal in place of its Handoff section",
			"filebus task show TASK; filebus list --kind handoff has all of them"},
	}
}

// isRoot reports whether a folder is the root of a predefined profile.
func isRoot(folder string) bool {
	return slices.Contains([]string{".claude", ".orchestrator", ".blue"}, folder)
}

// baseOf returns the folder in which the root of a path's layout lies: what is
// below two roots of one folder belongs together.
func baseOf(full string, p layout.Profile) string {
	if at := strings.LastIndex("/"+full, "/"+p.Root+"/"); at >= 0 && p.Root != "" {
		return full[:max(at-1, 0)]
	}
	segments := strings.Split(full, "/")
	for i := len(segments) - 2; i >= 0; i-- {
		if isRoot("." + strings.TrimPrefix(segments[i], ".")) {
			return strings.Join(segments[:i], "/")
		}
	}
	return ""
}

// isInstruction reports whether a file that no layout knows tells agents what to
// do: CLAUDE.md and its like, and the Markdown of agents, commands and skills.
func isInstruction(full string, p layout.Profile) bool {
	name := path.Base(full)
	known := []string{"CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", "copilot-instructions.md",
		".cursorrules"}
	if slices.Contains(known, name) {
		return true
	}
	if ext := strings.ToLower(path.Ext(name)); ext != ".md" && ext != ".mdc" {
		return false
	}
	folders := strings.Split(path.Dir(full), "/")
	for i, folder := range slices.Backward(folders) {
		if !isAgentFolder(folder) && folder != p.Root {
			continue
		}
		// What lies in the folders for data is none, even if no layout knows it.
		return i+1 == len(folders) || !isDataFolder(folders[i+1]) && !records().MatchString(path.Join(folders[i+1:]...))
	}
	// As in the repository of a plugin.
	return slices.Contains([]string{"agents", "commands", "skills", "prompts"}, folders[0]) && !records().MatchString(path.Dir(full))
}

// records are the folders that hold what was said and done, wherever they lie.
var records = pattern(`(?i)(^|/)(transcripts|logs|history|conversations|reports|results|outputs?|archive|journal)(/|$)`)

// isAgentFolder reports whether a folder is one in which agents are set up.
func isAgentFolder(name string) bool {
	return isRoot(name) || slices.Contains([]string{".cursor", ".codex", ".agents", ".gemini", ".opencode"}, name)
}

// isDataFolder reports whether a folder below a root holds what agents wrote.
func isDataFolder(name string) bool {
	return strings.Contains("/journal/lessons/agent_complete/complete/agent_tool_results/loop_snapshots/dialogues/sessions/reports/docs/"+
		"projects/todos/plans/logs/cache/", "/"+name+"/")
}
