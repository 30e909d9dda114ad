package layout

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"

	"filebus/materialize/markdown"
)

// A Pool is expert-pool.json: what a dialogue is about, and who may be asked. Its
// fields beyond domain, question and experts are those of filebus.
type Pool struct {
	Title    string    `json:"title,omitempty"`
	Created  time.Time `json:"created,omitzero"`
	Domain   string    `json:"domain,omitempty"`
	Question string    `json:"question,omitempty"`
	Judge    string    `json:"judge,omitempty"`
	Experts  []Expert  `json:"experts"`
}

// An Expert is one who may be asked. In pools that others wrote, experts have
// roles and no names: who takes which role, a panel says.
type Expert struct {
	Name      string  `json:"name,omitempty"`  // as files are called: muffin
	Label     string  `json:"label,omitempty"` // as people call it: Muffin
	Role      string  `json:"role,omitempty"`
	Tier      string  `json:"tier,omitempty"` // core, adjacent or wildcard
	Relevance float64 `json:"relevance,omitempty"`
	Emoji     string  `json:"emoji,omitempty"`
	Focus     string  `json:"focus,omitempty"`
	Source    string  `json:"source,omitempty"` // how it came into a panel: pool, retained or created
}

// A Panel is round-{n}/panel.json: the agents that are to take part in a round, each
// of which owes a file.
type Panel struct {
	Round    int       `json:"round"`
	Launched time.Time `json:"launched,omitzero"`
	Focus    string    `json:"focus,omitempty"` // of the round
	Experts  []Expert  `json:"experts"`
}

// AppendJSON appends the JSON of a pool or panel, indented, with a line break at the end.
func AppendJSON(dst []byte, value any) []byte {
	return append(append(dst, encodeJSON(value, "  ")...), '\n')
}

// ParsePool reads a pool. Keys that it does not know are left out, and experts may have a role and no name. Where they
// cannot be read, Experts is nil beside the problem.
func ParsePool(text []byte) (p Pool, problem *SyntaxError) {
	r, problem := readRoster(text, &p, false)
	p.Experts = r.experts
	return p, problem
}

// ParsePanel is ParsePool for a panel, whose members have names.
func ParsePanel(text []byte) (p Panel, problem *SyntaxError) {
	r, problem := readRoster(text, &p, true)
	p.Experts = r.experts
	return p, problem
}

// A roster is the members of a pool or panel, and where they stand in its text.
type roster struct {
	experts   []Expert
	whole, in *markdown.Value // in has the members, in their order
}

// readRoster reads members, and the other fields of a text into a pool or panel.
func readRoster(text []byte, into any, isPanel bool) (r roster, problem *SyntaxError) {
	if r.whole, problem = markdown.ParseObject(text); problem != nil {
		return r, problem
	}
	fields := map[string]json.RawMessage{}
	r.in = &markdown.Value{}
	for _, v := range r.whole.Inner {
		if fields[v.Key] = text[v.Start:v.End]; v.IsArray() && (v.Key == "experts" || v.Key == "panel") {
			r.in = v
		}
	}
	delete(fields, "experts")
	markdown.ReadMembers(fields, into, func(key string) {
		problem = wrong(1, "%q is not understood: %s", key, fields[key])
	})
	if r.in.End == 0 && isPanel {
		return r, wrong(1, `no members: they are a list of objects under "experts" or "panel"`)
	}
	experts := []Expert{} // a list in JSON also when it is empty
	for _, v := range r.in.Inner {
		e, err := readExpert(text[v.Start:v.End])
		if err != nil || e.Name == "" && (isPanel || e.Role == "") {
			return r, wrong(v.Line, "a member without a name: %s", markdown.Clip(string(text[v.Start:v.End]), 80))
		}
		experts = append(experts, e)
	}
	r.experts = experts
	return r, problem
}

// readExpert reads a member: what its name says beside the name of its file are its label and emoji.
func readExpert(text []byte) (e Expert, err error) {
	err = json.Unmarshal(text, &e)
	before, emoji, after := splitEmoji(e.Name)
	e.Emoji, e.Name = cmp.Or(e.Emoji, emoji), AgentName(e.Name)
	if said := markdown.SingleSpaced(before + " " + after); said != e.Name {
		e.Label = cmp.Or(e.Label, said)
	}
	return e, err
}

// AgentName returns the name of a member as its file has it: "Data Engineer 🧁" is
// data-engineer.
func AgentName(text string) string {
	text = strings.TrimSuffix(strings.ToLower(strings.TrimSpace(text)), ".md")
	words := strings.FieldsFunc(text, func(c rune) bool {
		return IsEmoji(c) || !unicode.In(c, unicode.L, unicode.M, unicode.Nd) && !strings.ContainsRune("-_.", c)
	})
	return strings.Trim(strings.Join(words, "-"), "-.")
}

// A PanelEdit is what becomes of a panel.
type PanelEdit struct {
	Add      []Expert // who are not there yet
	Retire   []string
	Focus    string    // of the round; "" for no other
	Launched time.Time // of a panel that does not say it
}

// Apply returns the text of a panel after an edit. What it holds besides stays, in its
// order. An edit that changes nothing leaves the text as it is.
func (p PanelEdit) Apply(text []byte) ([]byte, *SyntaxError) {
	r, problem := readRoster(text, &Panel{}, true)
	if r.experts == nil {
		return nil, problem
	}
	members := []json.RawMessage{}
	for i, v := range r.in.Inner {
		if !slices.Contains(p.Retire, r.experts[i].Name) {
			members = append(members, text[v.Start:v.End])
		}
	}
	for _, e := range p.Add {
		if !slices.ContainsFunc(r.experts, func(o Expert) bool { return o.Name == e.Name }) {
			members = append(members, encodeJSON(e, ""))
		}
	}
	if len(p.Retire) > 0 || len(members) > len(r.experts) {
		edited, tail := setMember(text, r.in.Key, members), len(text)-r.whole.End
		var out bytes.Buffer
		_ = json.Indent(&out, edited[r.whole.Start:len(edited)-tail], "", "  ") // it is JSON
		text = slices.Concat(text[:r.whole.Start], markdown.WithEnding(out.Bytes(), text), text[r.whole.End:])
	}
	if p.Focus != "" {
		text = setMember(text, "focus", p.Focus)
	}
	if !p.Launched.IsZero() && r.whole.Member("launched").End == 0 {
		text = setMember(text, "launched", p.Launched)
	}
	return text, nil
}
