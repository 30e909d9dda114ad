package dialogue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
)

// An AbsentError says that an agent gave no turn in a round, and so is not scored.
type AbsentError struct {
	Key    Key
	Round  int
	Agent  string
	Reason Absence
	Stub   string   // why there is a stub
	Others []string // agents that gave a turn
}

func (e *AbsentError) Error() string {
	text := fmt.Sprintf("%s gave no turn in round %d of %s", e.Agent, e.Round, e.Key)
	switch e.Reason {
	case AbsentMissing:
		if len(e.Others) > 0 {
			text += ", in which there is one of " + strings.Join(e.Others, ", ")
		}
	case AbsentStub:
		text += ", but a stub: " + e.Stub
	case AbsentEmpty:
		text += ": its file is empty"
	}
	return text + "; an absent agent is never scored"
}

// An Absence says why an agent counts as absent.
type Absence string

// The reasons for which an agent counts as absent.
const (
	AbsentMissing Absence = "missing" // no file
	AbsentEmpty   Absence = "empty"
	AbsentStub    Absence = "stub"
)

// absence returns why an agent counts as absent from a round; "" for one that gave a
// turn.
func (r *Round) absence(agent string) Absence {
	switch t := r.Turn(agent); {
	case t == nil:
		return AbsentMissing
	case t.IsStub:
		return AbsentStub
	case t.IsEmpty():
		return AbsentEmpty
	}
	return ""
}

// require returns a round, or a *NoRoundError.
func (d *Dialogue) require(number int) (*Round, error) {
	if r := d.Round(number); r != nil {
		return r, nil
	}
	return nil, d.noRound(number)
}

// A Judgement is what was recorded of a judge's word.
type Judgement struct {
	Round     int
	Turns     []layout.JudgedTurn // as recorded, in the order given
	File      string              // absolute
	Unchanged bool                // it was recorded already
}

// ErrMark says that a number is none that a judge may give.
var ErrMark = errors.New("malformed mark")

// Judge records what the judge gives agents of a round, all or nothing. What an agent
// was given before is replaced. It returns a *CapturedError, a *NoRoundError, an
// *AbsentError for an agent that gave no turn, a *NameError, a *TwiceError, or
// ErrMark for a number that is none.
func (f *Forum) Judge(ctx context.Context, key Key, round int, given []layout.JudgedTurn) (*Judgement, error) {
	if !key.IsOwn() {
		return nil, &CapturedError{key}
	}
	d, err := f.Read(ctx, key)
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
	return &Judgement{round, turns, put.File, put.Unchanged}, nil
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
			return nil, &TwiceError{name}
		}
		if err := j.Check(); err != nil {
			return nil, fmt.Errorf("%s: %w: %w", name, ErrMark, err)
		}
		if reason := r.absence(name); reason != "" {
			return nil, d.absent(r, name, reason)
		}
		j.Agent, j.Note, j.Judge = name, oneSpaced(j.Note), oneSpaced(j.Judge)
		seen[name] = true
		turns = append(turns, j)
	}
	return turns, nil
}

func (d *Dialogue) absent(r *Round, agent string, reason Absence) *AbsentError {
	e := &AbsentError{Key: d.Key, Round: r.Number, Agent: agent, Reason: reason}
	if t := r.Turn(agent); t != nil {
		e.Stub = t.Stub
	}
	for _, t := range r.given() {
		e.Others = append(e.Others, t.Agent)
	}
	return e
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
