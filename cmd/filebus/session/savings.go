package session

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"filebus/materialize/layout"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// Savings are what a session has spared the contexts of its agents by passing
// paths in place of texts.
type Savings struct {
	Session    string         `json:"session"`
	Agents     []agentSavings `json:"agents"`     // in the order in which they first wrote or read
	Artifacts  int            `json:"artifacts"`  // that were read
	Content    textSize       `json:"content"`    // what passing contents costs
	Files      textSize       `json:"files"`      // what passing paths costs: written and references
	Written    textSize       `json:"written"`    // the artifacts that were read, each once
	References textSize       `json:"references"` // a path for each reader and artifact
	Passed     int            `json:"passed"`     // how many references
	Reduction  int            `json:"reduction"`  // by how many per cent files cost less; negative if more
	Started    time.Time      `json:"started"`
	Ended      time.Time      `json:"ended"`
	Seconds    float64        `json:"seconds"`
	Logged     bool           `json:"logged"`      // the times are those of the session's log, not of records
	AuditFiles int            `json:"audit_files"` // the files of the session

	Anonymous int `json:"-"` // reads that name no agent; they are not counted
	Unsized   int `json:"-"` // artifacts that were read and whose size is not known any more
}

// agentSavings are those of one agent.
type agentSavings struct {
	Agent      string   `json:"agent"`
	Artifacts  int      `json:"artifacts"`   // that it was given to read, all readers together
	Content    textSize `json:"content"`     // of them: what passing content costs
	References textSize `json:"files"`       // to them: what passing paths costs
	Saved      textSize `json:"saved"`       // of its prompt
	Read       int      `json:"tokens_read"` // by the log of reads

	first time.Time
}

// A textSize is that of texts.
type textSize struct {
	Bytes  int64 `json:"bytes"`
	Tokens int   `json:"tokens"` // about
}

func (s *textSize) add(n int64) {
	s.Bytes += n
	s.Tokens = record.EstimateTokens(max(s.Bytes, -s.Bytes))
	if s.Bytes < 0 {
		s.Tokens = -s.Tokens
	}
}

// SavingsOf returns the savings of a session from its artifacts and the log of
// reads. An agent counts an artifact once, and none that it wrote itself. Of trees,
// if any are given, others are left out. An unknown session is a record.NotFound.
func (r *Sessions) SavingsOf(ctx context.Context, id string, trees ...record.Tree) (*Savings, error) {
	m := &meter{
		Savings: &Savings{Session: id}, sessions: r,
		pick:      record.Filter{Kinds: []record.Kind{record.KindArtifact}, Trees: trees, Sessions: []string{id}},
		artifacts: map[string]*artifact{}, rows: map[string]*agentSavings{},
	}
	listing, err := r.read.List(ctx, query.ListRequest{Filter: m.pick})
	if err == nil && len(listing.Entries) == 0 {
		err = r.nothing(ctx, id)
	}
	if err == nil {
		m.AuditFiles = len(listing.Entries)
		err = query.EachOf(ctx, r.read, listing.Entries, m.measure)
	}
	if err != nil {
		return nil, err
	}
	reads, err := r.read.Reads(time.Time{})
	if err == nil {
		err = r.w.Store.View(ctx, func(tx *store.Tx) error { return m.countReads(tx, reads) })
	}
	if err != nil {
		return nil, err
	}
	of := m.span
	if m.Logged = m.logged.until.After(m.logged.from); m.Logged {
		of = m.logged // better than the times of records that were captured later
	}
	m.Started, m.Ended, m.Seconds = of.from, of.until, of.until.Sub(of.from).Round(time.Millisecond).Seconds()
	for _, row := range m.rows {
		m.Agents = append(m.Agents, *row)
	}
	slices.SortFunc(m.Agents, func(a, b agentSavings) int {
		return cmp.Or(a.first.Compare(b.first), cmp.Compare(a.Agent, b.Agent))
	})
	if all := m.Content.Bytes; all > 0 {
		m.Reduction = int(math.Round(100 * float64(all-m.Files.Bytes) / float64(all)))
	}
	return m.Savings, nil
}

// A meter measures the savings of a session.
type meter struct {
	*Savings
	sessions  *Sessions
	pick      record.Filter
	artifacts map[string]*artifact // by name; nil for those that do not count
	rows      map[string]*agentSavings
	span      span // of the records and reads
	logged    span // of the session's log
}

// An artifact is a record of a session with what a reference to it costs.
type artifact struct {
	agent     string // who wrote it, as a slug
	size      int64
	reference int64
	readers   map[string]bool
}

// A span is a stretch of time.
type span struct{ from, until time.Time }

func (s *span) add(t time.Time) {
	if s.from.IsZero() || t.Before(s.from) {
		s.from = t
	}
	if t.After(s.until) {
		s.until = t
	}
}

// measure takes in a record of the session and, if it is the log, the times in it.
func (m *meter) measure(tx *store.Tx, e query.Summary) error {
	first, err := query.FirstOf(tx, e.Version)
	if err != nil {
		return err
	}
	r := e.Version.Record
	m.span.add(first.Record.Time)
	m.span.add(r.Time)
	m.take(e.Version, e.Description.Words)
	if r.Agent != "" {
		m.row(r.Agent, first.Record.Time)
	}
	if path.Base(r.Path) != layout.SessionLogFile {
		return nil
	}
	content, err := tx.Content(r)
	if err != nil {
		return err
	}
	text, err := content.Bytes()
	events, _ := layout.ParseAgentLog(text)
	for _, e := range events {
		if t, err := time.Parse(time.RFC3339, e.Time); err == nil {
			m.logged.add(t)
		}
	}
	return err
}

// take notes an artifact and measures the reference to it, as put prints it but
// for the preview.
func (m *meter) take(v store.Version, words int) {
	r := v.Record
	reference := record.Reference{Agent: r.Agent, ResultFile: m.sessions.w.FilePath(r.Path), WordCount: words}
	line, _ := json.Marshal(reference) // strings and a number have a JSON form
	m.artifacts[r.Name.String()] = &artifact{layout.Slug(r.Agent), r.Size, int64(len(line)), map[string]bool{}}
}

// row returns the row of an agent, which has done something at a time.
func (m *meter) row(agent string, at time.Time) *agentSavings {
	key := layout.Slug(agent)
	row := m.rows[key]
	if row == nil {
		row = &agentSavings{Agent: agent, first: at}
		m.rows[key] = row
	}
	if at.Before(row.first) {
		row.first = at
	}
	return row
}

// countReads counts by the log who was given what.
func (m *meter) countReads(tx *store.Tx, reads []query.Read) error {
	for _, read := range reads {
		a, err := m.artifactOf(tx, read.What)
		if err != nil {
			return err
		}
		// What imports a record, or the path of one.
		command, _, _ := strings.Cut(read.Op, " ")
		if a == nil || !slices.Contains([]string{"get", "show", "path", "read"}, command) {
			continue
		}
		m.span.add(read.Time)
		switch reader := layout.Slug(read.Agent); reader {
		case "":
			m.Anonymous++
		case a.agent: // it has written it
		default:
			row := m.row(read.Agent, read.Time)
			if row.Agent == reader {
				row.Agent = read.Agent // as it is called, not as it is stored
			}
			row.Read += read.Tokens
			m.give(a, row, reader)
		}
	}
	return nil
}

// give notes that an artifact was given to an agent, once.
func (m *meter) give(a *artifact, row *agentSavings, reader string) {
	if a.readers[reader] {
		return
	}
	if len(a.readers) == 0 {
		m.Artifacts++
		m.Written.add(a.size)
		m.Files.add(a.size)
	}
	a.readers[reader] = true
	row.Artifacts++
	row.Content.add(a.size)
	row.References.add(a.reference)
	row.Saved.add(a.size - a.reference)
	m.Passed++
	m.Content.add(a.size)
	m.References.add(a.reference)
	m.Files.add(a.reference)
}

// artifactOf returns the artifact of the session that a read names, or nil. It may
// have been retired since.
func (m *meter) artifactOf(tx *store.Tx, what string) (*artifact, error) {
	if a, known := m.artifacts[what]; known {
		return a, nil
	}
	name, err := record.ParseName(what)
	if err != nil || !isOf(name, m.Session) {
		return nil, nil
	}
	m.artifacts[what] = nil
	v, _, err := tx.Last(name)
	if query.IsAbsent(err) {
		m.Unsized++
		return nil, nil
	}
	if err == nil && m.pick.Accepts(v.Record) {
		m.take(v, tx.Description(v.Ref).Words)
	}
	return m.artifacts[what], err
}
