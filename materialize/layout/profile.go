package layout

import (
	"fmt"
	"path"
	"strings"
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
}

// The names of folders that belong to more than one profile.
const (
	claudeRoot       = ".claude"
	orchestratorRoot = ".orchestrator"
	blueRoot         = ".blue"
	resultsFolder    = "agent_tool_results"
	dialogueFolder   = "blue-dialogue"
	docsFolder       = "docs"
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

// Seed returns the profile with the exact roots of the documents that define
// the formats: results and dialogues lie outside the workspace, in
// ~/.qark/agent_tool_results and /tmp/blue-dialogue; the rest is below .claude.
func Seed() Profile {
	p := ProfileBelow(claudeRoot).named("seed")
	p.Results = "~/.qark/" + resultsFolder
	p.Dialogues = "/tmp/" + dialogueFolder
	return p
}

// Orchestrator returns the profile of newer orchestrators: everything below
// .orchestrator, markers in .orchestrator/complete.
func Orchestrator() Profile {
	p := ProfileBelow(orchestratorRoot).named("orchestrator")
	p.Markers = orchestratorRoot + "/complete"
	return p
}

// Blue returns the profile with everything below .blue, which also knows the
// assembled documents in .blue/docs/dialogues.
func Blue() Profile { return ProfileBelow(blueRoot).named("blue") }

func (p Profile) named(name string) Profile {
	p.Name = name
	return p
}

// Profiles returns the predefined profiles, the default first.
func Profiles() []Profile { return []Profile{Claude(), Seed(), Orchestrator(), Blue()} }

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

// own returns the profile's root of a family and the folder below it that the
// family's templates begin at; the two are kept apart to save joining them.
// An empty root means that the profile has none.
func (p Profile) own(f family) (root, folder string) {
	switch f {
	case familyMain:
		return p.Root, ""
	case familyMarkers:
		return p.Markers, ""
	case familyJournals:
		return p.Root, "journal"
	case familyReports:
		return reportsRoot, ""
	case familySnapshots:
		return p.Root, "loop_snapshots"
	case familyDialogues:
		return p.Dialogues, ""
	case familyDocs:
		return docsRoot(p.Dialogues), ""
	case familySessions:
		return p.Sessions, ""
	default:
		return p.Results, ""
	}
}

// ownRoot returns the profile's whole root of a family.
func (p Profile) ownRoot(f family) string {
	root, folder := p.own(f)
	if root == "" || folder == "" {
		return root
	}
	return root + "/" + folder
}

// docsRoot returns where the assembled documents of a dialogues root lie; only
// those of .blue/dialogues have a place of their own.
func docsRoot(dialogues string) string {
	if dialogues == blueRoot+"/dialogues" {
		return blueRoot + "/docs/dialogues"
	}
	return ""
}

// markedRoot returns the root of a family that begins with the folder mark,
// which is a root of some profile with or without its leading dot, or the bare
// name of an outside root. It returns "" when there is none.
func markedRoot(f family, mark string) string {
	if folder := markedFolder(f, mark); folder != "" {
		return mark + "/" + folder
	}
	switch {
	case f == familyMain && isMain(mark):
		return mark
	case f == familyResults && mark == resultsFolder:
		return mark
	case f == familyDialogues && mark == dialogueFolder:
		return mark
	}
	return ""
}

// markedFolder returns the folder of a family below a main folder. Folders of
// sessions and dialogues are common words: without the dot they count only
// where a document names them.
func markedFolder(f family, main string) string {
	if !isMain(main) {
		return ""
	}
	dotless := main[0] != '.' // as in a tree whose dot folders were copied to plain ones
	switch name := strings.TrimPrefix(main, "."); f {
	case familyMarkers:
		if name == "orchestrator" {
			return "complete"
		}
		return "agent_complete"
	case familyJournals:
		return "journal"
	case familyReports:
		if name == "orchestrator" {
			return "reports"
		}
	case familySnapshots:
		return "loop_snapshots"
	case familyDialogues:
		if !dotless || name != "orchestrator" {
			return "dialogues"
		}
	case familyDocs:
		if name == "blue" {
			return "docs/dialogues"
		}
	case familySessions:
		if !dotless || name == "claude" {
			return "sessions"
		}
	case familyResults:
		return resultsFolder
	}
	return ""
}

// isMain reports whether a folder is the main root of a predefined profile,
// with or without its leading dot.
func isMain(folder string) bool {
	switch folder {
	case claudeRoot, claudeRoot[1:], orchestratorRoot, orchestratorRoot[1:], blueRoot, blueRoot[1:]:
		return true
	}
	return false
}
