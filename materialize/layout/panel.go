package layout

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
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

// ParsePool reads a pool in the forms of others too: keys that it does not know are
// left out, and experts may have a role and no name. Where they cannot be read, Experts
// is nil beside the problem.
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
	if problem = markdown.DecodeJSON(text, new(json.RawMessage)); problem != nil {
		return r, problem
	}
	r.whole, _ = markdown.ParseValue(text, nil) // it is JSON
	r.in = &markdown.Value{Line: 1}
	fields := map[string]json.RawMessage{}
	for _, v := range append(r.whole.Inner, r.whole) {
		key := strings.ToLower(v.Key)
		isList := slices.Contains([]string{"experts", "agents", "panel", "members"}, key) || v == r.whole && v.IsArray()
		if fields[key] = text[v.Start:v.End]; isList && r.in.End == 0 && (v.IsArray() || v.IsObject()) {
			r.in = v
		}
	}
	delete(fields, "experts")
	markdown.ReadMembers(fields, into, func(key string) {
		if key != "round" { // its folder says it
			problem = wrong(1, "%q is not understood: %s", key, fields[key])
		}
	})
	if r.in.End == 0 && isPanel {
		const want = `no members: they are a list, or an object by name, under "experts", "agents", "panel" or "members"`
		return r, wrong(1, want)
	}
	experts := []Expert{} // a list in JSON also when it is empty
	for _, v := range r.in.Inner {
		e := readExpert(v, r.in.IsArray())
		if e.Name == "" && (isPanel || e.Role == "") {
			return r, wrong(v.Line, "a member without a name: %s", markdown.Clip(string(text[v.Start:v.End]), 80))
		}
		experts = append(experts, e)
	}
	r.experts = experts
	return r, problem
}

// rolePattern cuts "Muffin (Platform)", "Muffin: Platform" and "Muffin - Platform".
var rolePattern = Pattern(`^(.+?)\s*(?:\(|:\s|\s[-–—]\s)\s*(.*?)\)?$`)

// readExpert reads a member: a text, an object, or the value of a name. What should be
// a text and is none is taken as people read it; what is no member has no name.
func readExpert(v *markdown.Value, inList bool) Expert {
	e := Expert{Name: v.Key}
	switch text, isText := v.Data().(string); {
	case !isText && !v.IsObject() && (inList || v.Data() != nil):
		return Expert{}
	case isText && inList:
		e.Name = text
		if m := rolePattern().FindStringSubmatch(text); m != nil {
			e.Name, e.Role = m[1], m[2]
		}
	default:
		e.Role = text
	}
	texts := map[string]*string{
		"name": &e.Name, "agent": &e.Name, "label": &e.Label, "role": &e.Role, "tier": &e.Tier, "emoji": &e.Emoji,
		"focus": &e.Focus, "source": &e.Source,
	}
	for _, inner := range v.Inner {
		key, value := strings.ToLower(inner.Key), string(appendReadable(nil, inner, ", "))
		if field := texts[key]; field != nil {
			*field = value
		}
		number, isPercent := strings.CutSuffix(value, "%")
		if n, err := strconv.ParseFloat(number, 64); key == "relevance" && err == nil && n >= 0 && n <= 1000 {
			if e.Relevance = n; isPercent {
				e.Relevance /= 100
			}
		}
	}
	before, emoji, after := splitEmoji(e.Name)
	e.Emoji, e.Name = cmp.Or(e.Emoji, emoji), AgentName(e.Name)
	if said := markdown.SingleSpaced(before + " " + after); said != e.Name {
		e.Label = cmp.Or(e.Label, said)
	}
	return e
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
// order; a panel that is a list has no focus and no time. An edit that changes nothing
// leaves the text as it is.
func (p PanelEdit) Apply(text []byte) ([]byte, *SyntaxError) {
	r, problem := readRoster(text, &Panel{}, true)
	if r.experts == nil {
		return nil, problem
	}
	if v := r.whole.Member("focus"); v.End > 0 && p.Focus != "" {
		raw, _ := json.Marshal(p.Focus) // it is plain data, as below
		p.Focus = ""
		return p.Apply(slices.Concat(text[:v.Start], raw, text[v.End:]))
	}
	put := func(list []string, in *markdown.Value, key string, value any) []string {
		raw, _ := json.Marshal(value)
		if in.IsObject() {
			raw = append([]byte(strconv.Quote(key)+":"), raw...)
		}
		return append(list, string(raw))
	}
	var members []string
	for i, v := range r.in.Inner {
		if !slices.Contains(p.Retire, r.experts[i].Name) {
			members = append(members, string(text[v.First:v.End]))
		}
	}
	for _, e := range p.Add {
		if !slices.ContainsFunc(r.experts, func(o Expert) bool { return o.Name == e.Name }) {
			members = put(members, r.in, e.Name, e)
		}
	}
	fields := []string{string(text[r.in.Start]) + strings.Join(members, ",") + string(text[r.in.End-1])}
	if p.Focus != "" && r.whole.IsObject() {
		fields = put(fields, r.whole, "focus", p.Focus)
	}
	if !p.Launched.IsZero() && r.whole.IsObject() && r.whole.Member("launched").End == 0 {
		fields = put(fields, r.whole, "launched", p.Launched)
	}
	if len(fields) == 1 && len(p.Retire) == 0 && len(members) == len(r.experts) {
		return text, nil
	}
	var out bytes.Buffer
	from, to := r.whole.Start, r.whole.End
	_ = json.Indent(&out, slices.Concat(text[from:r.in.Start], []byte(strings.Join(fields, ",")), text[r.in.End:to]), "", "  ") // it is JSON
	return slices.Concat(text[:from], markdown.WithEnding(out.Bytes(), text), text[to:]), nil
}
