package layout

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"filebus/materialize/markdown"
)

// Scores is round-{n}/scores.json: what the judge gives the agents of a round.
type Scores struct {
	Round  int          `json:"round"`
	Agents []JudgedTurn `json:"agents"` // by agent
}

// A JudgedTurn is what the judge gives one agent in one round.
type JudgedTurn struct {
	Agent         string `json:"agent"` // as the file is called: muffin
	Wisdom        int    `json:"wisdom"`
	Consistency   int    `json:"consistency"`
	Truth         int    `json:"truth"`
	Relationships int    `json:"relationships"`
	Converge      bool   `json:"converge,omitempty"` // the judge's word that the agent has converged
	Note          string `json:"note,omitempty"`
	Judge         string `json:"judge,omitempty"` // who has given them
}

// Marks returns the four numbers.
func (j JudgedTurn) Marks() Marks { return Marks{j.Wisdom, j.Consistency, j.Truth, j.Relationships} }

// MaxMark is the highest of the numbers that a judge may give. They are unbounded
// in spirit; this keeps their sums numbers.
const MaxMark = 1_000_000

// Check returns an error that names a number which is not 0 to MaxMark.
func (j JudgedTurn) Check() error {
	for _, mark := range []struct {
		name string
		n    int
	}{
		{"wisdom", j.Wisdom}, {"consistency", j.Consistency}, {"truth", j.Truth}, {"relationships", j.Relationships},
	} {
		if mark.n < 0 || mark.n > MaxMark {
			return fmt.Errorf("%s %d is not 0 to %d", mark.name, mark.n, MaxMark)
		}
	}
	return nil
}

// Find returns what an agent was given.
func (s Scores) Find(agent string) (JudgedTurn, bool) {
	at := slices.IndexFunc(s.Agents, func(j JudgedTurn) bool { return j.Agent == agent })
	if at < 0 {
		return JudgedTurn{}, false
	}
	return s.Agents[at], true
}

// Set returns scores in which an agent has what is given, and the others what they
// had.
func (s Scores) Set(j JudgedTurn) Scores {
	agents := slices.DeleteFunc(slices.Clone(s.Agents), func(old JudgedTurn) bool { return old.Agent == j.Agent })
	agents = append(agents, j)
	slices.SortFunc(agents, func(a, b JudgedTurn) int { return cmp.Compare(a.Agent, b.Agent) })
	s.Agents = agents
	return s
}

// AppendScores appends the JSON of scores: an agent a line, with a line break at
// the end.
func AppendScores(dst []byte, s Scores) ([]byte, error) {
	dst = fmt.Appendf(dst, "{\n  \"round\": %d,\n  \"agents\": [", s.Round)
	for i, j := range s.Agents {
		line, err := json.Marshal(j)
		if err != nil {
			return dst, err
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, "\n    "...), line...)
	}
	if len(s.Agents) > 0 {
		dst = append(dst, "\n  "...)
	}
	return append(dst, "]\n}\n"...), nil
}

// ParseScores reads scores. Names are folded to lower case; of two entries for one
// agent the last one counts. A number out of range, and an entry without an agent,
// is a problem of the whole file.
func ParseScores(text []byte) (s Scores, problem *SyntaxError) {
	var raw Scores
	if problem = markdown.DecodeJSON(text, &raw); problem != nil {
		return s, problem
	}
	s.Round = raw.Round
	for _, j := range raw.Agents {
		j.Agent = strings.ToLower(strings.TrimSpace(j.Agent))
		if err := j.Check(); err != nil {
			return Scores{}, &SyntaxError{Line: 1, Err: fmt.Errorf("agent %q: %w", j.Agent, err)}
		}
		if j.Agent == "" {
			return Scores{}, &SyntaxError{Line: 1, Err: fmt.Errorf("an entry names no agent")}
		}
		s = s.Set(j)
	}
	return s, nil
}
