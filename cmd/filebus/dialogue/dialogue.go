// Package dialogue holds the commands and the rules of dialogues in rounds: several agents discuss
// one question, each writes one file a round, and a judge reads them. It makes
// dialogues, tells agents what to do, waits for their files, checks and scores
// them, and assembles the document.
//
// A dialogue is the records below one folder, {slug}/. Each of its files has one
// writer: the expert pool is written when the dialogue is made, a panel when a
// round begins, a turn by its agent (or by the infrastructure, when the agent is
// dead), the scores by the judge, and everything else is derived from these.
package dialogue

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/materialize/mirror"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// The names of a dialogue's files, below its folder or that of a round.
const (
	poolFile       = "expert-pool.json"
	panelFile      = "panel.json"  // of a round
	scoresFile     = "scores.json" // of a round
	scoreboardFile = "scoreboard.md"
	tensionsFile   = "tensions.md"
)

// MaxTurn is the longest turn, in bytes, that is read for its markers.
const MaxTurn = 1 << 20

// Dialogues are those of a workspace, in its own tree and in captured ones.
type Dialogues struct {
	w    *materialize.Workspace
	read *query.Reader
	now  func() time.Time
}

// Open returns the dialogues of a workspace.
func Open(w *materialize.Workspace, read *query.Reader, now func() time.Time) *Dialogues {
	return &Dialogues{w, read, now}
}

// A Dialogue is all that is stored of one.
type Dialogue struct {
	Key    Key
	Pool   layout.Pool // without a pool only the title is set, to the slug
	Rounds []*Round    // by number; one that was skipped is not there
	Files  []extraFile // directly below the dialogue's folder, by path

	judgeFiles []judgeFile           // what the judge has written by hand
	Problems   []*layout.SyntaxError // files of JSON that could not be read
	Unread     error                 // the pool is there, and could not be read
}

// A Round is what is stored of one round.
type Round struct {
	Number int
	Panel  *layout.Panel // nil if there is none, or none that could be read
	Scores layout.Scores // that the judge has given
	Turns  []*Turn       // by agent
	Files  []extraFile   // what else lies in its folder, by path
	Unread error         // its panel is there, and could not be read
}

// An extraFile is a file of a dialogue that is none of the known ones.
type extraFile struct {
	Path    string // below the dialogue's folder
	Version store.Version
	MayBe   *Turn // that it would be, if its agent took part; nil for what is the judge's
}

// A Turn is the file that an agent wrote in a round, or a stub that stands in for
// it.
type Turn struct {
	Agent   string // lower case
	Round   int
	Version store.Version
	Text    []byte // nil if it is longer than MaxTurn
	Markers []layout.Marker
	Stub    string // why there is no turn; empty for one
	IsStub  bool
	Astray  string // why a text is not counted as the turn of its round; empty for one that is
}

// What stands in the place of a turn. A turn and a stub are complete.
const (
	stateTurn    = "turn"
	stateStub    = "stub"         // why there is no turn
	stateEmpty   = "empty"        // a file without text
	stateAstray  = "astray"       // a text that is not counted as this turn
	stateWriting = mirror.Writing // a file that changed in the last 2 s
	stateMissing = "missing"      // no file
)

// state returns the state of a turn, which is nil if it is missing.
func (t *Turn) state() string {
	switch {
	case t == nil:
		return stateMissing
	case t.IsStub:
		return stateStub
	case t.Version.Record.Size == 0 || t.Text != nil && isBlank(t.Text):
		return stateEmpty
	case t.Astray != "":
		return stateAstray
	}
	return stateTurn
}

// Round returns a round by its number, nil if there is none.
func (d *Dialogue) Round(number int) *Round {
	at := slices.IndexFunc(d.Rounds, func(r *Round) bool { return r.Number == number })
	if at < 0 {
		return nil
	}
	return d.Rounds[at]
}

// Last returns the round with the highest number, nil if there is none.
func (d *Dialogue) Last() *Round {
	if len(d.Rounds) == 0 {
		return nil
	}
	return d.Rounds[len(d.Rounds)-1]
}

// Turn returns the turn of an agent, nil if there is none. Of two files for one agent,
// muffin.md and Muffin.md, it is the one that holds a turn; if both do, or neither, the
// one in lower case.
func (r *Round) Turn(agent string) *Turn {
	var found *Turn
	for _, t := range r.Turns {
		isTurn, wasTurn := t.state() == stateTurn, found.state() == stateTurn
		if t.Agent == agent && (found == nil || isTurn && !wasTurn || isTurn == wasTurn && t.fileName() == agent+".md") {
			found = t
		}
	}
	return found
}

// Launched returns the agents that owe a file in a round: those of its panel; before the
// first panel those of the pool; if that has no names either, or later, those who have
// a prompt or wrote. Of a round whose panel cannot be read it is not known.
func (d *Dialogue) Launched(r *Round) []layout.Expert {
	switch experts := d.pooled(r.Number); {
	case r.Panel != nil:
		return r.Panel.Experts
	case d.unknown(r) != nil:
		return nil
	case len(experts) > 0:
		return experts
	}
	return folded(append(r.members(), writers(r.Turns)...))
}

// pooled returns the experts of the pool that have names, none behind a round with a panel.
func (d *Dialogue) pooled(round int) []layout.Expert {
	if slices.ContainsFunc(d.Rounds, func(r *Round) bool { return r.Number < round && r.Panel != nil }) {
		return nil
	}
	return named(d.Pool.Experts)
}

// writers returns whose files some turns are.
func writers(turns []*Turn) []layout.Expert {
	return markdown.Each(turns, func(t *Turn) layout.Expert { return layout.Expert{Name: t.Agent} })
}

// named returns the experts that have names.
func named(experts []layout.Expert) []layout.Expert {
	return slices.DeleteFunc(slices.Clone(experts), func(e layout.Expert) bool { return e.Name == "" })
}

// folded returns the experts that have names, each once and by the name that its
// files have.
func folded(experts []layout.Expert) []layout.Expert {
	var once []layout.Expert
	for _, e := range experts {
		if e.Name = foldExpert(e.Name); e.Name != "" && !isAmong(once, e.Name) {
			once = append(once, e)
		}
	}
	return once
}

// names returns what experts are called.
func names(experts []layout.Expert) []string {
	return markdown.Each(experts, func(e layout.Expert) string { return e.Name })
}

// files returns all files that are no turns: those of the rounds come first.
func (d *Dialogue) files() []extraFile {
	of := markdown.Each(d.Rounds, func(r *Round) []extraFile { return r.Files })
	return slices.Concat(append(of, d.Files)...)
}

// file returns the version of a file that is no turn, by its path below the dialogue's
// folder.
func (d *Dialogue) file(path string) (store.Version, bool) {
	for _, f := range d.files() {
		if f.Path == path {
			return f.Version, true
		}
	}
	return store.Version{}, false
}

// versions returns all that a dialogue is made from.
func (d *Dialogue) versions() []store.Version {
	all := markdown.Each(d.files(), func(f extraFile) store.Version { return f.Version })
	for _, r := range d.Rounds {
		all = append(all, markdown.Each(r.Turns, func(t *Turn) store.Version { return t.Version })...)
	}
	return all
}

// turnName is the name of a turn of a dialogue in the own tree.
func turnName(k Key, round int, agent string) record.Name {
	return record.Name{Tree: k.Tree, Kind: record.KindTurn, ID: k.ID + "/" + roundFolder(round) + "/" + agent}
}

// fileName is the name of another file, by its path below the dialogue's folder.
func fileName(k Key, path string) record.Name {
	return record.Name{Tree: k.Tree, Kind: record.KindDialogue, ID: k.ID + "/" + path}
}

// given returns the turns of a round that hold something: those of agents that were
// there.
func (r *Round) given() []*Turn {
	isAway := func(t *Turn) bool { return t.state() != stateTurn || r.Turn(t.Agent) != t }
	return slices.DeleteFunc(slices.Clone(r.Turns), isAway)
}

// fileName returns the name of a turn's file, in the letter case that it has.
func (t *Turn) fileName() string {
	id := t.Version.Record.Name.ID
	return strings.TrimSuffix(id[strings.LastIndexByte(id, '/')+1:], ".md") + ".md"
}

func (t *Turn) digest() string { return t.Version.Record.Body.String()[:12] }

// isChanged reports whether a turn is known to be another text than the one that was judged.
func (t *Turn) isChanged(j layout.JudgedTurn) bool { return j.Turn != "" && j.Turn != t.digest() }

// hasConverged reports whether an agent signals in its turn that there is nothing to
// add.
func (t *Turn) hasConverged() bool {
	return slices.ContainsFunc(t.Markers, func(m layout.Marker) bool { return strings.EqualFold(m.Move(), "CONVERGE") })
}

// perspectives returns what an agent raises in a turn. An id that it uses twice
// counts once.
func (t *Turn) perspectives() (all []*tension) {
	seen := map[string]bool{}
	for _, m := range t.Markers {
		if m.Kind != layout.MarkerPerspective || m.ID != "" && seen[m.ID] {
			continue
		}
		seen[m.ID] = true
		ref := layout.MarkerRef{Agent: t.Agent, Round: t.Round, ID: m.ID}
		all = append(all, &tension{MarkerRef: ref, Label: m.Label, Line: m.Line})
	}
	return all
}

// Why something fails that is asked of dialogues.
const (
	ErrNoDialogue record.Reason = "no such dialogue"        // names those that are called alike, at most five
	ErrCaptured   record.Reason = "a captured dialogue"     // which is only read
	ErrOccupied   record.Reason = "another turn is there"   // nothing was changed; names its ref
	errEdited     record.Reason = "document edited by hand" // or not one that was assembled; names its file
)

// maxNear is how many names an error lists.
const maxNear = 5

// typed returns keys as they are typed, as many as an error names.
func typed(keys []Key) []string {
	return markdown.Each(keys[:min(len(keys), maxNear)], Key.String)
}

// checkOwn returns ErrCaptured for a dialogue that is not the workspace's own.
func (k Key) checkOwn() error {
	if k.IsOwn() {
		return nil
	}
	return record.Usage.Errorf("%s is in a captured tree, which is only read", k).
		Try("run it again with a dialogue of this project: filebus dialogue list").Because(ErrCaptured)
}

// What helps where a round is not there, or cannot begin yet.
const (
	tryRounds = "run it again with one of its rounds"
	tryPrompt = "filebus dialogue prompt {1} {2} --all" // the dialogue, the round that can begin
)

// noRound returns the error that a dialogue has no round of a number.
func (d *Dialogue) noRound(number int) error {
	if number < 0 {
		return record.NotFound.Errorf("round %d: rounds are counted from 0", number).Try(tryRounds)
	}
	var has []string
	for _, r := range d.Rounds {
		if r.hasBegun() {
			has = append(has, strconv.Itoa(r.Number))
		}
	}
	list, last := cmp.Or(listed("; it has ", has), ": none has begun"), d.lastBegun()
	if number < last {
		return record.NotFound.Errorf("round %d of %s was skipped%s", number, d.Key, list).Try(tryRounds)
	}
	err := record.NotFound.Errorf("%s has no round %d%s", d.Key, number, list)
	if !d.Key.IsOwn() {
		return err.Try(tryRounds)
	}
	return err.Try(tryPrompt, d.Key.String(), strconv.Itoa(last+1))
}

// occupied returns ErrOccupied for the turn that stands at a slot.
func (s Slot) occupied(ref record.Ref) error {
	err := record.Conflict.Errorf("%s has another turn in round %d already: %s", s.Agent, s.Round, s.File)
	return err.Try("filebus get {1}, or run it again with --force", ref.Short()).Because(ErrOccupied)
}

// refuse returns an error about what a user asked for, with what helps.
func refuse(hint, format string, args ...any) error {
	return record.Usage.Errorf(format, args...).Try(hint)
}

// listed returns names behind a text, nothing where there are none.
func listed(text string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return text + strings.Join(names, ", ")
}
