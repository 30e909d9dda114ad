package dialogue

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
)

// An Absence says why an agent counts as absent.
type Absence string

// The reasons for which an agent counts as absent.
const (
	AbsentMissing Absence = "missing" // no file
	AbsentEmpty   Absence = "empty"
	AbsentStub    Absence = "stub"
)

// absence returns an agent that counts as absent from a round; found is false for one
// that gave a turn.
func (r *Round) absence(agent string) (a AbsentAgent, found bool) {
	a.Agent = agent
	switch t := r.Turn(agent); {
	case t == nil:
		a.Reason = AbsentMissing
	case t.IsStub:
		a.Reason, a.Stub = AbsentStub, t.Stub
	case t.IsEmpty():
		a.Reason = AbsentEmpty
	}
	return a, a.Reason != ""
}

// require returns a round, or ErrNoRound.
func (d *Dialogue) require(number int) (*Round, error) {
	if r := d.Round(number); r != nil {
		return r, nil
	}
	return nil, d.noRound(number)
}

// A Judgement is what was recorded of a judge's word.
type Judgement struct {
	Dialogue  Key      `json:"dialogue"`
	Round     int      `json:"round"`
	Agents    []Judged `json:"agents"` // as recorded, in the order given
	File      string   `json:"file"`   // absolute
	Unchanged bool     `json:"unchanged"`
}

// A Judged is what one agent was given.
type Judged struct {
	Agent string `json:"agent"`
	layout.Marks
	Score    int    `json:"score"` // their sum
	Converge bool   `json:"converge,omitempty"`
	Note     string `json:"note,omitempty"`
	Judge    string `json:"judge,omitempty"`
}

// Judge records what the judge gives agents of a round, all or nothing. What an agent
// was given before is replaced. It returns ErrCaptured, ErrNoRound, ErrAbsent
// for an agent that gave no turn, ErrName, ErrTwice, or ErrMark for a number that is
// none.
func (f *Forum) Judge(ctx context.Context, key Key, round int, given []layout.JudgedTurn) (*Judgement, error) {
	d, err := f.readOwn(ctx, key)
	if err != nil {
		return nil, err
	}
	r, err := d.require(round)
	if err != nil {
		return nil, err
	}
	turns, err := d.judged(r, given)
	if err != nil {
		return nil, err
	}
	name := fileName(key, roundFolder(round)+"/"+ScoresFile)
	put, err := f.w.EditText(ctx, name.Kind, name.ID, record.SourcePut, judgeEdit(name, round, turns))
	if err != nil {
		return nil, err
	}
	out := &Judgement{Dialogue: key, Round: round, File: put.File, Unchanged: put.Unchanged}
	for _, j := range turns {
		out.Agents = append(out.Agents, Judged{j.Agent, j.Marks(), j.Marks().Sum(), j.Converge, j.Note, j.Judge})
	}
	return out, nil
}

// judged returns what is given with the names of agents as files have them.
func (d *Dialogue) judged(r *Round, given []layout.JudgedTurn) ([]layout.JudgedTurn, error) {
	var turns []layout.JudgedTurn
	seen := map[string]bool{}
	for _, j := range given {
		name, err := FoldName(j.Agent)
		if err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, refuse(ErrTwice, "%s is among the agents twice", name)
		}
		if err := j.Check(); err != nil {
			return nil, refuse(ErrMark, "%s: %s: %w", name, ErrMark, err)
		}
		if a, isAbsent := r.absence(name); isAbsent {
			return nil, d.absent(r, a)
		}
		j.Agent, j.Note, j.Judge = name, oneSpaced(j.Note), oneSpaced(j.Judge)
		seen[name] = true
		turns = append(turns, j)
	}
	return turns, nil
}

// absent returns ErrAbsent for an agent that gave no turn.
func (d *Dialogue) absent(r *Round, a AbsentAgent) error {
	why := ""
	switch a.Reason {
	case AbsentMissing:
		var others []string
		for _, t := range r.given() {
			others = append(others, t.Agent)
		}
		why = listed(", in which there is one of ", others)
	case AbsentStub:
		why = ", but a stub: " + a.Stub
	case AbsentEmpty:
		why = ": its file is empty"
	}
	const text = "%s gave no turn in round %d of %s%s; an absent agent is never scored"
	err := record.Conflict.Errorf(text, a.Agent, r.Number, d.Key, why)
	return err.Because(ErrAbsent, d.Key.String(), strconv.Itoa(r.Number))
}

// oneSpaced returns text as one line of valid UTF-8.
func oneSpaced(text string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(text, "\ufffd")), " ")
}

// judgeEdit returns the edit that puts judged turns into the text of scores.
func judgeEdit(name record.Name, round int, turns []layout.JudgedTurn) materialize.TextEdit {
	return func(old []byte, _ *store.Version) ([]byte, error) {
		scores := layout.Scores{Round: round}
		if !isBlank(old) {
			var problem *layout.SyntaxError
			if scores, problem = layout.ParseScores(old); problem != nil {
				return nil, fmt.Errorf("%s cannot be read: %w", name.ID, problem.Err)
			}
		}
		scores.Round = round
		changed := isBlank(old)
		for _, j := range turns {
			if was, found := scores.Find(j.Agent); !found || was != j {
				scores, changed = scores.Set(j), true
			}
		}
		if !changed {
			return old, nil
		}
		text, err := layout.AppendScores(nil, scores)
		if err == nil && bytes.Equal(text, old) {
			return old, nil
		}
		return text, err
	}
}
