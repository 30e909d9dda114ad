package dialogue

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"filebus/cmd/filebus/rule"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// A TurnReport is what stands in the place of a turn that is owed, or was given.
type TurnReport struct {
	Round   int            `json:"round"`
	Agent   string         `json:"agent"`
	State   string         `json:"state"`             // turn, stub, empty, astray or missing
	Name    *record.Name   `json:"name,omitempty"`    // of the record, if there is one
	Markers map[string]int `json:"markers,omitempty"` // how many of each kind, in lower case
}

// A Report is what a check has found.
type Report struct {
	Dialogue  Key            `json:"dialogue"`
	Rounds    int            `json:"rounds"`
	Launched  int            `json:"launched"` // turns that are owed, in all rounds
	Given     int            `json:"given"`    // turns that hold something
	Missing   int            `json:"missing"`
	Empty     int            `json:"empty"`
	Stubs     int            `json:"stubs"`
	Markers   int            `json:"markers"`
	Malformed int            `json:"malformed"`
	Wanting   int            `json:"wanting"`         // findings that say that something is incomplete
	Findings  []rule.Finding `json:"findings"`        // by round; in a round by agent and line: see Check
	Turns     []TurnReport   `json:"turns,omitempty"` // by round
}

// Check looks at what was written in a round, or in all for a negative number. It
// fails for a round that there is not.
//
// The rules of files are: missing, empty, stub, astray (it is not counted as this turn),
// no_markers, long, late, stranger (its agent was not launched), twice (two files of one
// agent), broken (its JSON cannot be read), changed (after it was judged); those of markers
// and ids: malformed, repeated (in one turn), foreign (it names another agent or round),
// unknown and ambiguous (it means no tension, or several); skipped, of a round that is
// missing before one that is there; and scored, of scores for an agent that gave no turn.
// A file is below the workspace or its tree; a missing one is where it would be. The level
// is Must if a text is incomplete or its meaning is open, else Note.
func Check(d *Dialogue, round int) (*Report, error) {
	if round >= 0 {
		if _, err := d.require(round); err != nil {
			return nil, err
		}
	}
	c := &checker{d: d, report: &Report{Dialogue: d.Key}, counts: map[string]int{}}
	tracking := track(d)
	for _, r := range d.Rounds {
		if round >= 0 && r.Number != round {
			continue
		}
		c.round(r)
		c.references(r, tracking)
		c.scores(r)
	}
	if round < 0 {
		c.skipped()
		c.outside()
		if len(d.Rounds) > 0 && c.report.Given+c.counts[stateStub]+c.counts[stateEmpty] == 0 {
			c.add("no_turns", nil, "", d.folder(), 0, "no turns")
		}
	}
	c.broken(round)
	for i := range c.report.Findings {
		f := &c.report.Findings[i]
		if f.Wanting = new(f.Level == rule.Must); *f.Wanting {
			c.report.Wanting++
		}
	}
	c.report.Missing, c.report.Empty = c.counts[stateMissing], c.counts[stateEmpty]
	c.report.Stubs, c.report.Malformed = c.counts[stateStub], c.counts["malformed"]
	slices.SortStableFunc(c.report.Findings, func(a, b rule.Finding) int {
		whole := -1 // a finding of no round comes first
		return cmp.Or(*cmp.Or(a.Round, &whole)-*cmp.Or(b.Round, &whole), strings.Compare(a.Agent, b.Agent), a.Line-b.Line)
	})
	return c.report, nil
}

type checker struct {
	d      *Dialogue
	report *Report
	counts map[string]int // of findings, by kind
}

// add adds a finding of the level Must, which the caller may lower.
func (c *checker) add(kind string, round *int, agent, file string, line int, format string, args ...any) *rule.Finding {
	c.counts[kind]++
	c.report.Findings = append(c.report.Findings, rule.Finding{
		Rule: kind, Level: rule.Must, File: file, Line: line, Message: fmt.Sprintf(format, args...), Round: round, Agent: agent,
	})
	return &c.report.Findings[len(c.report.Findings)-1]
}

// mustIf returns the level of a finding by whether something is incomplete.
func mustIf(isWanting bool) rule.Level {
	if isWanting {
		return rule.Must
	}
	return rule.Note
}

// round checks the files of a round.
func (c *checker) round(r *Round) {
	c.report.Rounds++
	c.report.Given += len(r.given())
	owing := c.d.owingNames(r)
	c.report.Launched += len(owing)
	for _, agent := range owing {
		if r.Turn(agent) == nil {
			file := path.Join(c.d.folder(), roundFolder(r.Number), agent+".md") // where it would be
			c.add(stateMissing, &r.Number, agent, file, 0, "no file")
			c.report.Turns = append(c.report.Turns, TurnReport{Round: r.Number, Agent: agent, State: stateMissing})
		}
	}
	for _, t := range r.Turns {
		if first := r.Turn(t.Agent); first != t {
			f := c.wanting("twice", t, 0, "a second file of %s, beside %s", t.Agent, first.fileName())
			f.Level = mustIf(first.state() != stateTurn || !t.IsStub && t.digest() != first.digest()) // no other text
			continue
		}
		if !t.IsStub && !slices.Contains(owing, t.Agent) && c.d.unknown(r) == nil {
			c.wanting("stranger", t, 0, "%s was not launched in this round", t.Agent)
		}
		c.turn(t)
	}
	for _, f := range r.Files {
		if t := f.MayBe; t != nil {
			if c.d.unknown(r) != nil {
				c.wanting("stranger", t, 0, "this may be a turn, but it is not known who takes part").Level = rule.Note
				continue
			}
			const text = "%s does not take part; if this is a turn: filebus dialogue panel %s %d --add %s"
			found := c.wanting("stranger", t, 0, text, t.Agent, c.d.Key, r.Number, layout.AgentName(t.Agent))
			if found.Level = mustIf(t.hasForm() || r.Panel == nil); !c.d.Key.IsOwn() {
				found.Message, _, _ = strings.Cut(found.Message, ";") // it is only read
			}
		}
	}
}

// outside names the files that may be turns, and lie in no round's folder, but for copies.
func (c *checker) outside() {
	for _, f := range c.d.Files {
		isCopy := func(t *Turn) bool { return t.Version.Record.Body == f.Version.Record.Body }
		isIn := func(r *Round) bool { return slices.ContainsFunc(r.Turns, isCopy) }
		if f.MayBe != nil && !slices.ContainsFunc(c.d.Rounds, isIn) {
			c.add("stranger", nil, "", c.d.shown(f.Version.Record.Path), 0, "not counted: it lies in no folder of a round")
		}
	}
}

// wanting is add for a turn.
func (c *checker) wanting(kind string, t *Turn, line int, format string, args ...any) *rule.Finding {
	return c.add(kind, &t.Round, t.Agent, c.d.shown(t.Version.Record.Path), line, format, args...)
}

// turn checks one file.
func (c *checker) turn(t *Turn) {
	said := TurnReport{t.Round, t.Agent, t.state(), &t.Version.Record.Name, map[string]int{}}
	for _, m := range t.Markers {
		said.Markers[strings.ToLower(string(m.Kind))]++
	}
	c.report.Turns = append(c.report.Turns, said)
	if state := t.state(); state != stateTurn {
		c.wanting(state, t, 0, "%s", map[string]string{
			stateStub: "a stub: " + t.Stub, stateEmpty: "the file is empty", stateAstray: "not counted: " + t.Astray,
		}[state])
		return
	}
	c.report.Markers += len(t.Markers)
	switch {
	case t.Text == nil:
		c.wanting("long", t, 0, "%d bytes; markers are read in files of up to %d", t.Version.Record.Size, MaxTurn)
	case len(t.Markers) == 0 && !utf8.Valid(t.Text):
		c.wanting("no_markers", t, 0, "no markers: it is not UTF-8")
	case len(t.Markers) == 0:
		c.wanting("no_markers", t, 0, "no markers")
	}
	c.markers(t)
	if j, _ := c.d.Round(t.Round).Scores.Find(t.Agent); t.isChanged(j) {
		c.wanting("changed", t, 0, "it has changed since it was judged: judge it again")
	}
	if begun, known := c.d.Round(t.Round + 1).begunBy(); known && c.d.Key.IsOwn() &&
		t.Version.Record.Time.After(begun) {
		c.wanting("late", t, 0, "written after round %d began", t.Round+1).Level = rule.Note // nobody can mend it
	}
}

// markers checks the markers of a turn.
func (c *checker) markers(t *Turn) {
	for _, slip := range layout.MarkerSlips(t.Text) {
		c.wanting("malformed", t, slip.Line, "%v", slip.Err)
	}
	first := map[string]int{} // the line of each id
	for _, m := range t.Markers {
		if !m.Exact && !m.NamesWhole() {
			text := "malformed: " + markdown.Clip(markdown.OneLine(m.Raw), 60)
			if needsID(m) {
				text += ", which has no id"
			}
			c.wanting("malformed", t, m.Line, "%s", text).Level = mustIf(needsID(m))
		}
		if m.Agent != "" && (m.Agent != t.Agent || m.Round != t.Round) {
			c.wanting("foreign", t, m.Line, "%s is an id of %s in round %d", m.ID, m.Agent, m.Round)
		}
		if m.ID == "" || m.Kind == layout.MarkerResolved {
			continue
		}
		if line, used := first[m.ID]; used {
			c.wanting("repeated", t, m.Line, "%s is used again, first in line %d", m.ID, line)
		} else {
			first[m.ID] = m.Line
		}
	}
}

// needsID reports whether a marker cannot be taken for what it is meant to be: it
// raises something that has no id, or resolves nothing that has one.
func needsID(m layout.Marker) bool {
	need := []layout.MarkerKind{layout.MarkerPerspective, layout.MarkerTension, layout.MarkerResolved}
	return m.ID == "" && len(m.Refs) == 0 && slices.Contains(need, m.Kind)
}

// references adds the references of a round that mean no tension, or several.
func (c *checker) references(r *Round, t *tracking) {
	for _, ref := range t.Unclear {
		if ref.Round != r.Number {
			continue
		}
		turn := r.Turn(ref.Agent)
		if len(ref.Matches) == 0 {
			c.wanting("unknown", turn, ref.Line, "%s is no tension that was raised before", ref.Text)
			continue
		}
		names := markdown.Each(ref.Matches[:min(2, len(ref.Matches))], (*tension).String)
		if ref.Count > 2 {
			names = append(names, "…")
		}
		const text = "%s may be any of %d tensions: name it as %s"
		c.wanting("ambiguous", turn, ref.Line, text, ref.Text, ref.Count, strings.Join(names, ", "))
	}
}

// scores adds the scores of agents that gave no turn.
func (c *checker) scores(r *Round) {
	for _, agent := range c.d.presence(r).Discarded {
		file := path.Join(c.d.folder(), roundFolder(r.Number), scoresFile)
		c.add("scored", &r.Number, agent, file, 0, "%s has scores but gave no turn: the scores do not count", agent)
	}
}

// skipped adds the rounds that are not there before one that is.
func (c *checker) skipped() {
	next := 0
	for _, r := range c.d.Rounds {
		if r.Number > next {
			text := fmt.Sprintf("round %d is missing", next)
			if r.Number > next+1 {
				text = fmt.Sprintf("rounds %d to %d are missing", next, r.Number-1)
			}
			file := path.Join(c.d.folder(), roundFolder(next))
			c.add("skipped", new(next), "", file, 0, "%s", text)
		}
		next = r.Number + 1
	}
}

// broken adds the files of JSON that could not be read; with a round, those of other
// rounds are left out.
func (c *checker) broken(round int) {
	for _, p := range c.d.Problems {
		var of *int
		for _, r := range c.d.Rounds {
			if path.Base(path.Dir(p.File)) == roundFolder(r.Number) {
				of = &r.Number
			}
		}
		if round >= 0 && of != nil && *of != round {
			continue
		}
		isOpen := func(r *Round) bool { return r.Panel == nil }
		found := c.add("broken", of, "", c.d.shown(p.File), p.Line, "%v", p.Err)
		found.Level = mustIf(p.Err != errElsewhere || len(c.d.Rounds) == 0 || slices.ContainsFunc(c.d.Rounds, isOpen))
	}
}

// folder returns the folder of a dialogue as its records have it, below the workspace
// or the root of its tree.
func (d *Dialogue) folder() string {
	for _, v := range d.versions() {
		if at := strings.LastIndex("/"+v.Record.Path, "/"+d.Key.Slug()+"/"); at >= 0 {
			return d.shown(v.Record.Path[:at+len(d.Key.Slug())])
		}
	}
	return d.Key.ID
}

// shown returns a path of the dialogue's tree as it is typed.
func (d *Dialogue) shown(p string) string {
	if d.Key.IsOwn() {
		return strings.TrimPrefix(p, "file:") // outside of the workspace
	}
	return string(d.Key.Tree) + ":" + p
}
