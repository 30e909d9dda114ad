package layout

import (
	"fmt"
	"path"
	"strings"
	"sync"
)

// A Profile names the folders that a workspace keeps its files in: one root
// for each family of files. Roots are slash-separated and below the workspace,
// except outside ones, which begin with "/" or "~/" and are returned as such
// by Path: whoever opens the file puts the home folder in place of "~".
//
// A profile decides which names are plain. A file below one of its own roots
// is named by its template alone; a file below another profile's root has that
// root's first folder in its id, so that the two never share a name: see
// Recognize. The zero Profile has no roots; begin with Claude or ProfileBelow.
type Profile struct {
	Name      string `json:"name"`
	Root      string `json:"root"`      // journals, queues, knowledge, state, snapshots
	Markers   string `json:"markers"`   // {task}.done
	Results   string `json:"results"`   // {conversation}/{call}.md
	Dialogues string `json:"dialogues"` // {slug}/round-{n}/{name}.md
	Sessions  string `json:"sessions"`  // {type}/{session}/{artifact}.md

	Own *Conventions `json:"-"` // that the workspace declares itself; nil: none
}

// The names of folders that belong to more than one profile.
const (
	claudeRoot       = ".claude"
	orchestratorRoot = ".orchestrator"
	blueRoot         = ".blue"
	resultsFolder    = "agent_tool_results"
	dialogueFolder   = "blue-dialogue"
	reportsRoot      = orchestratorRoot + "/reports"
)

// ProfileBelow returns the profile that keeps everything below one folder of
// the workspace, under the paths of the file-based communication document:
// root/journal, root/agent_complete, root/agent_tool_results and so on. Its
// name is the folder's.
func ProfileBelow(root string) Profile {
	root = path.Clean(root)
	return Profile{
		Name:      root,
		Root:      root,
		Markers:   root + "/agent_complete",
		Results:   root + "/" + resultsFolder,
		Dialogues: root + "/dialogues",
		Sessions:  root + "/sessions",
	}
}

// Claude returns the default profile: everything below .claude.
func Claude() Profile { return ProfileBelow(claudeRoot).named("claude") }

// seed returns the profile with the exact roots of the documents that define
// the formats: results and dialogues lie outside the workspace, in
// ~/.qark/agent_tool_results and /tmp/blue-dialogue; the rest is below .claude.
func seed() Profile {
	p := ProfileBelow(claudeRoot).named("seed")
	p.Results = "~/.qark/" + resultsFolder
	p.Dialogues = "/tmp/" + dialogueFolder
	return p
}

// orchestrator returns the profile of newer orchestrators: everything below
// .orchestrator, markers in .orchestrator/complete.
func orchestrator() Profile {
	p := ProfileBelow(orchestratorRoot).named("orchestrator")
	p.Markers = orchestratorRoot + "/complete"
	return p
}

// blue returns the profile with everything below .blue, which also knows the
// assembled documents in .blue/docs/dialogues.
func blue() Profile { return ProfileBelow(blueRoot).named("blue") }

func (p Profile) named(name string) Profile {
	p.Name = name
	return p
}

// Profiles returns the predefined profiles, the default first.
func Profiles() []Profile { return []Profile{Claude(), seed(), orchestrator(), blue()} }

// ParseProfile returns the predefined profile of that name.
func ParseProfile(name string) (Profile, error) {
	var known []string
	for _, p := range Profiles() {
		if p.Name == name {
			return p, nil
		}
		known = append(known, p.Name)
	}
	return Profile{}, fmt.Errorf("unknown profile %q: the profiles are %s", name, strings.Join(known, ", "))
}

// isOutside reports whether a root lies outside the workspace.
func isOutside(root string) bool {
	return strings.HasPrefix(root, "/") || strings.HasPrefix(root, "~/")
}

// A family is a set of templates that share their roots.
type family int

const (
	familyMain family = iota // aggregates and the session state
	familyMarkers
	familyJournals
	familyReports
	familySnapshots
	familyDialogues
	familyDocs // assembled dialogue documents
	familySessions
	familyResults
	familyCount
)

// roots are where a profile keeps the files of each family. An empty root means
// that it has none.
type roots [familyCount]string

func (p Profile) roots() *roots {
	roots := &roots{
		familyMain: p.Root, familyMarkers: p.Markers, familyReports: reportsRoot, familyDialogues: p.Dialogues,
		familySessions: p.Sessions, familyResults: p.Results,
	}
	if p.Root != "" {
		roots[familyJournals], roots[familySnapshots] = p.Root+"/journal", p.Root+"/loop_snapshots"
	}
	if isOutside(p.Dialogues) { // a document stays with the project
		roots[familyDocs] = p.Root + "/dialogues/docs"
	} else {
		roots[familyDocs] = docsRoot(p.Dialogues)
	}
	return roots
}

// isMark reports whether a folder begins a foreign root of the family.
func (r *roots) isMark(f family, folder string) bool {
	root := markedRoot(f, folder)
	return root != "" && root != r[f]
}

// behind returns the root that the folders before an id stand for, and those that
// are left before its mark.
func (r *roots) behind(f family, before string) (root, prefix string) {
	if f == familyDocs {
		if root, prefix = r.behind(familyDialogues, before); root == r[familyDialogues] {
			return r[familyDocs], prefix
		}
		return docsRoot(root), prefix
	}
	cut := strings.LastIndexByte(before, '/')
	if mark := before[cut+1:]; r.isMark(f, mark) {
		return markedRoot(f, mark), before[:max(cut, 0)]
	}
	return r[f], before
}

// docsRoot returns where the assembled documents of a dialogues root lie; only
// those of .blue/dialogues have a place of their own.
func docsRoot(dialogues string) string {
	dot, found := strings.CutSuffix(dialogues, "blue/dialogues")
	if !found || strings.Trim(dot, ".") != "" || len(dot) > 1 {
		return ""
	}
	return dot + "blue/docs/dialogues"
}

// foreignRoots returns the roots that are recognised whatever the profile, with
// their families: those of the predefined profiles, with or without their leading
// dot as in a tree whose dot folders were copied to plain ones, and the bare names
// of outside roots.
var foreignRoots = sync.OnceValue(func() map[string]family {
	all := map[string]family{resultsFolder: familyResults, dialogueFolder: familyDialogues}
	for _, p := range []Profile{Claude(), orchestrator(), blue()} {
		for f, root := range p.roots() {
			if root != "" {
				all[root], all[root[1:]] = family(f), family(f)
			}
		}
	}
	// These are common words: without the dot they count only where a document names them.
	for _, root := range []string{"orchestrator/dialogues", "orchestrator/sessions", "blue/sessions"} {
		delete(all, root)
	}
	return all
})

// foreignRoot finds the root that head ends with, the longest if there are several,
// and its family; -1: none.
func foreignRoot(head string) (rootMatch, family) {
	found, of := rootMatch{}, family(-1)
	start := len(head)
	for range 3 { // no root has more segments
		start = strings.LastIndexByte(head[:max(start, 0)], '/')
		if f, known := foreignRoots()[head[start+1:]]; known {
			mark, _, _ := strings.Cut(head[start+1:], "/")
			found, of = rootMatch{head[:max(start, 0)], mark}, f
		}
	}
	return found, of
}

// markedRoot returns the foreign root of a family that begins with the folder mark,
// or "" when there is none.
func markedRoot(f family, mark string) string {
	if mark == "" {
		return ""
	}
	for root, of := range foreignRoots() {
		if first, _, _ := strings.Cut(root, "/"); of == f && first == mark {
			return root
		}
	}
	return ""
}
