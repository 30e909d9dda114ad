package layout

import (
	"encoding/json"
	"fmt"
)

// The files of a loop's snapshot, in the order in which they are listed.
const (
	SnapshotDiff     = "diff.patch"
	SnapshotState    = "state.md"
	SnapshotIssues   = "issues_completed.md"
	SnapshotManifest = "manifest.json"
	SnapshotStart    = "start.json" // there before the snapshot is taken
)

// snapshotVersion is the version of manifest.json and start.json.
const snapshotVersion = 1

// A LoopStart is what start.json says: from where on a loop's changes count.
type LoopStart struct {
	Version int    `json:"version"`
	Run     string `json:"run"`
	Loop    int    `json:"loop"`
	Time    string `json:"time"` // RFC 3339
	// State is the version of the session state with which the loop before ended;
	// empty in a run's first loop.
	State string `json:"state,omitempty"`
	// Completed is how many agents of the session state had ended by then.
	Completed int `json:"completed"`
	SnapshotPoint
	// Files are those of the workspace, where there is no git repository.
	Files []SnapshotFile `json:"files,omitempty"`
	// LeftOut names the files that are not in the tree, or not in Files, with the
	// reason.
	LeftOut []string `json:"left_out,omitempty"`
}

// A SnapshotPoint is a moment between which and another one changes are counted.
type SnapshotPoint struct {
	Position uint64 `json:"position"`         // of the store's log
	Commit   string `json:"commit,omitempty"` // of git; empty before the first one, and without git
	Tree     string `json:"tree,omitempty"`   // the work tree as an object of git, uncommitted files included
}

// A SnapshotFile is a file with its content's size and digest.
type SnapshotFile struct {
	Path     string `json:"path"`
	Size     int64  `json:"size"`
	Modified string `json:"modified,omitempty"` // RFC 3339
	Digest   string `json:"sha256,omitempty"`   // empty of a large file: size and time count
}

// A SnapshotChange is a file that was changed in a loop.
type SnapshotChange struct {
	Path    string `json:"path"`
	Was     string `json:"was,omitempty"` // its path before it was renamed
	Status  string `json:"status"`        // added, changed, deleted, renamed or mode
	Added   int    `json:"added,omitempty"`
	Removed int    `json:"removed,omitempty"`
	Binary  bool   `json:"binary,omitempty"`
	// Cut says that diff.patch only names the file, because the patch would be too
	// large.
	Cut bool `json:"cut,omitempty"`
}

// The ways in which a snapshot finds the changes of a loop.
const (
	MethodGit   = "git"   // the difference of two trees of git
	MethodFiles = "files" // size, time and digest of each file
)

// A Manifest is what manifest.json says of a loop's snapshot.
type Manifest struct {
	Version int    `json:"version"`
	Run     string `json:"run"`
	Loop    int    `json:"loop"`
	Started string `json:"started,omitempty"` // the loop, RFC 3339
	Taken   string `json:"taken"`             // the snapshot
	Method  string `json:"method"`

	From SnapshotPoint `json:"from"`
	To   SnapshotPoint `json:"to"`

	FilesChanged int              `json:"files_changed"`
	LinesAdded   int              `json:"lines_added"`
	LinesRemoved int              `json:"lines_removed"`
	Changed      []SnapshotChange `json:"changed,omitempty"` // at most MaxSnapshotChanges

	Issues    []string `json:"issues,omitempty"` // ids of those completed
	Running   int      `json:"running"`          // agents at the loop's end
	Completed int      `json:"completed"`        // agents that ended in the loop

	Files []SnapshotFile `json:"files"` // of the snapshot, the manifest left out
	Notes []string       `json:"notes,omitempty"`
}

// MaxSnapshotChanges is how many changed files a manifest names.
const MaxSnapshotChanges = 1000

// AppendLoopStart appends start.json.
func AppendLoopStart(dst []byte, s LoopStart) ([]byte, error) {
	s.Version = snapshotVersion
	return appendIndented(dst, s, " ")
}

// AppendManifest appends manifest.json.
func AppendManifest(dst []byte, m Manifest) ([]byte, error) {
	m.Version = snapshotVersion
	return appendIndented(dst, m, " ")
}

// ParseLoopStart reads start.json, of this version alone.
func ParseLoopStart(text []byte) (s LoopStart, err error) {
	if err := json.Unmarshal(text, &s); err != nil {
		return LoopStart{}, err
	}
	return s, checkSnapshotVersion(s.Version)
}

// ParseManifest reads manifest.json. One that others have written has other
// fields: what is not known is left out, and the version is an error.
func ParseManifest(text []byte) (m Manifest, err error) {
	if err := json.Unmarshal(text, &m); err != nil {
		return Manifest{}, err
	}
	return m, checkSnapshotVersion(m.Version)
}

func checkSnapshotVersion(version int) error {
	if version != snapshotVersion {
		return fmt.Errorf("version %d instead of %d", version, snapshotVersion)
	}
	return nil
}
