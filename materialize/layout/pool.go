package layout

import (
	"encoding/json"
	"time"

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
}

// A Panel is round-{n}/panel.json: the agents that were launched in a round, each
// of which owes a file.
type Panel struct {
	Round    int       `json:"round"`
	Launched time.Time `json:"launched,omitzero"`
	Experts  []Expert  `json:"experts"`
}

// AppendPool appends the JSON of a pool, indented, with a line break at the end.
func AppendPool(dst []byte, p Pool) ([]byte, error) { return appendIndented(dst, p, "  ") }

// AppendPanel appends the JSON of a panel in the same way.
func AppendPanel(dst []byte, p Panel) ([]byte, error) { return appendIndented(dst, p, "  ") }

func appendIndented(dst []byte, value any, indent string) ([]byte, error) {
	text, err := json.MarshalIndent(value, "", indent)
	if err != nil {
		return dst, err
	}
	return append(append(dst, text...), '\n'), nil
}

// ParsePool reads a pool, in the forms of others too: keys that it does not know
// are left out.
func ParsePool(text []byte) (p Pool, problem *SyntaxError) {
	problem = markdown.DecodeJSON(text, &p)
	return p, problem
}

// ParsePanel reads a panel in the same way.
func ParsePanel(text []byte) (p Panel, problem *SyntaxError) {
	problem = markdown.DecodeJSON(text, &p)
	return p, problem
}
