package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// Savings are what a session has spared the contexts of its agents by passing
// paths in place of texts. Sizes are in bytes; tokens are estimates from them.
type Savings struct {
	Session string
	Agents  []AgentSavings // in the order in which they first wrote or read
	// Written is the size of all artifacts that were read, each once: what file
	// passing costs besides the references.
	Written    int64
	Artifacts  int // that were read
	AuditFiles int // the files of the session
	Started    time.Time
	Ended      time.Time
	Logged     bool // the times are those of the session's log, not of records and reads
	Assumed    bool // the readers are assumed
	Anonymous  int  // reads that name no agent; they are not counted
	Unsized    int  // artifacts that were read and whose size is not known any more
}

// AgentSavings are those of one agent.
type AgentSavings struct {
	Agent      string
	Readers    int   // 1, or how many such agents are assumed
	Artifacts  int   // that it was given to read, all readers together
	Content    int64 // of them: what passing content costs
	References int64 // to them: what passing paths costs
	Read       int   // tokens that it took in, by the log of reads
	first      time.Time
}

// Saved returns how many bytes passing paths has spared an agent's prompt.
func (a *AgentSavings) Saved() int64 { return a.Content - a.References }

// Content returns the bytes that passing contents would cost.
func (s *Savings) Content() (sum int64) {
	for _, a := range s.Agents {
		sum += a.Content
	}
	return sum
}

// References returns the bytes of all references, and how many there are.
func (s *Savings) References() (sum int64, number int) {
	for _, a := range s.Agents {
		sum += a.References
		number += a.Artifacts
	}
	return sum, number
}

// Files returns the bytes that passing files costs: each artifact once, and a
// reference for each time that an agent was given one.
func (s *Savings) Files() int64 {
	references, _ := s.References()
	return s.Written + references
}

// Reduction returns by how many per cent passing files costs less; negative if it
// costs more, as with few readers of small files.
func (s *Savings) Reduction() int {
	content := s.Content()
	if content == 0 {
		return 0
	}
	return int(math.Round(100 * float64(content-s.Files()) / float64(content)))
}

// An Assumption says who reads a session's context, in place of the log of reads:
// its artifact called context, or all artifacts if there is none.
type Assumption struct {
	Readers int      // that many agents without a name
	Agents  []string // these agents
}

// SavingsOf returns the savings of a session from its artifacts and the log of
// reads. An agent counts an artifact once, and none that it wrote itself. Of trees,
// if any are given, others are left out. An unknown session is ErrNothingStored.
func (r *Registry) SavingsOf(ctx context.Context, id string, assume Assumption, trees ...record.Tree) (*Savings, error) {
	m := &meter{Savings: &Savings{Session: id}, registry: r, pick: materialize.Selection{Filter: record.Filter{Trees: trees}}, artifacts: map[string]*artifact{}, lost: map[string]bool{}, rows: map[string]*AgentSavings{}}
	if err := m.measure(ctx); err != nil {
		return nil, err
	}
	if len(m.artifacts) == 0 {
		return nil, r.nothing(ctx, id)
	}
	reads, err := r.read.Reads(time.Time{})
	if err == nil {
		err = m.countReads(ctx, reads, assume)
	}
	if err != nil {
		return nil, err
	}
	if !m.Logged {
		m.Started, m.Ended = m.span.from, m.span.until
	}
	for _, row := range m.rows {
		m.Agents = append(m.Agents, *row)
	}
	slices.SortFunc(m.Agents, func(a, b AgentSavings) int {
		if c := a.first.Compare(b.first); c != 0 {
			return c
		}
		return cmp.Compare(a.Agent, b.Agent)
	})
	for _, a := range m.artifacts {
		if a.read {
			m.Artifacts++
			m.Written += a.size
		}
	}
	return m.Savings, nil
}

// A meter measures the savings of a session.
type meter struct {
	*Savings
	registry  *Registry
	pick      materialize.Selection
	artifacts map[string]*artifact // by name
	lost      map[string]bool      // names of which nothing is known any more
	rows      map[string]*AgentSavings
	span      span
}

// An artifact is a record of a session with what a reference to it costs.
type artifact struct {
	name      record.Name
	agent     string // who wrote it, as a slug
	size      int64
	reference int64
	read      bool
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

// measure takes in the session's records.
func (m *meter) measure(ctx context.Context) error {
	var failed error
	var logs []store.Version
	err := m.registry.read.Each(ctx, store.FieldSession, m.Session, func(tx *store.Tx, v store.Version) bool {
		r := v.Record
		if r.Name.Kind != record.KindArtifact || !m.pick.Picks(tx, v) {
			return false
		}
		m.AuditFiles++
		first, err := query.FirstOf(tx, v)
		if err != nil {
			failed = err
			return true
		}
		m.span.add(first.Record.Time)
		m.span.add(r.Time)
		m.take(v, tx.Description(v.Ref).Words)
		if r.Agent != "" {
			m.row(r.Agent, first.Record.Time)
		}
		if path.Base(r.Path) == layout.SessionLogFile {
			logs = append(logs, v)
		}
		return false
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	return m.readLogs(ctx, logs)
}

// take notes an artifact and measures the reference to it, as put prints it but
// for the preview.
func (m *meter) take(v store.Version, words int) *artifact {
	r := v.Record
	line, err := json.Marshal(record.Reference{Agent: r.Agent, ResultFile: m.registry.w.FilePath(r.Path), WordCount: words})
	if err != nil { // strings and a number have a JSON form
		line = []byte(r.Path)
	}
	a := &artifact{
		name: r.Name, agent: layout.Slug(r.Agent), size: r.Size, reference: int64(len(line)), readers: map[string]bool{},
	}
	m.artifacts[r.Name.String()] = a
	return a
}

// readLogs takes the times of the session's own log, which are better than those of
// records that were captured later.
func (m *meter) readLogs(ctx context.Context, logs []store.Version) error {
	var logged span
	for _, v := range logs {
		text, err := m.registry.w.TextOf(ctx, v)
		if err != nil {
			return err
		}
		events, _ := layout.ParseAgentLog(text)
		for _, e := range events {
			if t, err := time.Parse(time.RFC3339, e.Time); err == nil {
				logged.add(t)
			}
		}
	}
	if logged.until.After(logged.from) {
		m.Logged, m.Started, m.Ended = true, logged.from, logged.until
	}
	return nil
}

// row returns the row of an agent, which has done something at a time.
func (m *meter) row(agent string, at time.Time) *AgentSavings {
	key := layout.Slug(agent)
	row := m.rows[key]
	if row == nil {
		row = &AgentSavings{Agent: agent, Readers: 1, first: at}
		m.rows[key] = row
	}
	if at.Before(row.first) {
		row.first = at
	}
	return row
}

// countReads counts who was given what: as it is assumed, or by the log.
func (m *meter) countReads(ctx context.Context, reads []query.Read, assume Assumption) error {
	if assume.Readers > 0 || len(assume.Agents) > 0 {
		m.assume(assume)
		return nil
	}
	for _, read := range reads {
		a, err := m.artifactOf(ctx, read.What)
		if err != nil {
			return err
		}
		if a == nil || !isReading(read.Op) {
			continue
		}
		m.span.add(read.Time)
		switch reader := layout.Slug(read.Agent); reader {
		case "":
			m.Anonymous++
		case a.agent: // it has written it
		default:
			row := m.row(read.Agent, read.Time)
			row.Agent = read.Agent // as it is called, not as it is stored
			row.Read += read.Tokens
			m.give(a, row, reader)
		}
	}
	return nil
}

// isReading reports whether a command takes in a record, or the path of one.
func isReading(op string) bool {
	command, _, _ := strings.Cut(op, " ")
	return slices.Contains([]string{"get", "show", "path"}, command)
}

// give notes that an artifact was given to an agent, once.
func (m *meter) give(a *artifact, row *AgentSavings, reader string) {
	if a.readers[reader] {
		return
	}
	a.readers[reader], a.read = true, true
	row.Artifacts += row.Readers
	row.Content += a.size * int64(row.Readers)
	row.References += a.reference * int64(row.Readers)
}

// artifactOf returns the artifact of the session that a read names, or nil. It may
// have been retired since.
func (m *meter) artifactOf(ctx context.Context, what string) (*artifact, error) {
	if a, known := m.artifacts[what]; known {
		return a, nil
	}
	name, err := record.ParseName(what)
	if err != nil || !isOf(name, m.Session) || m.lost[what] {
		return nil, nil
	}
	var a *artifact
	err = m.registry.w.Store.View(ctx, func(tx *store.Tx) error {
		v, _, err := tx.Last(name)
		if isGone(err) {
			m.Unsized++
			m.lost[what] = true
			return nil
		}
		if err == nil && v.Record.Session == m.Session && m.pick.Picks(tx, v) {
			a = m.take(v, tx.Description(v.Ref).Words)
		}
		return err
	})
	return a, err
}

// assume gives the context to readers that nobody has noted.
func (m *meter) assume(assume Assumption) {
	m.Assumed = true
	last := m.span.until.Add(1)
	var rows []*AgentSavings
	for _, agent := range assume.Agents {
		rows = append(rows, m.row(agent, last))
	}
	if assume.Readers > 0 {
		row := m.row("reader ×"+strconv.Itoa(assume.Readers), last)
		row.Readers = assume.Readers
		rows = append(rows, row)
	}
	for _, a := range m.context() {
		for _, row := range rows {
			if reader := layout.Slug(row.Agent); reader != a.agent {
				m.give(a, row, reader)
			}
		}
	}
}

// context returns the artifacts called context; without any, all. The log, the
// metadata and the summaries are none.
func (m *meter) context() []*artifact {
	var context, all []*artifact
	for _, a := range m.artifacts {
		base := path.Base(a.name.ID)
		if _, isSummary := layout.IsSummary(base); isSummary || isOwnFile(base) {
			continue
		}
		if stem(base) == "context" {
			context = append(context, a)
		}
		all = append(all, a)
	}
	if len(context) > 0 {
		return context
	}
	return all
}
