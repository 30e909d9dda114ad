package dialogue

import (
	"bytes"
	"cmp"
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
)

// A PanelChange says how the panel of a round changes.
type PanelChange struct {
	Add    []string // NAME or NAME=ROLE
	Retire []string
	Focus  string // of the round
}

// Panel changes the panel of a round and returns it: where there is none, of those who
// wrote or, in a round that has not begun, of the roster. Without a change nothing is written.
func (f *Dialogues) Panel(ctx context.Context, key Key, round int, c PanelChange) (layout.Panel, error) {
	d, err := f.Read(ctx, key)
	if err != nil {
		return layout.Panel{}, err
	}
	p := layout.Panel{Round: round}
	if p.Experts, err = d.roster(round); err != nil && len(c.Add) == 0 {
		return p, err
	}
	r := d.Round(round)
	if r.hasBegun() {
		p.Experts = slices.Clone(d.Launched(r))
	}
	for i, e := range p.Experts {
		p.Experts[i].Source = d.sourceOf(round, e.Name)
	}
	if r.panel() != nil {
		p = *r.Panel
		p.Round = round
	}
	if len(c.Add)+len(c.Retire)+len(c.Focus) == 0 {
		return p, nil
	}
	edit := layout.PanelEdit{Focus: c.Focus}
	if edit.Retire, err = d.retiring(p, c.Retire); err != nil {
		return p, err
	}
	if edit.Add, err = d.joining(round, c.Add); err != nil {
		return p, err
	}
	p.Experts = append([]layout.Expert{}, p.Experts...) // a list in JSON also when it is empty
	return f.editPanel(ctx, d, p, edit)
}

// retiring returns the names of members that may leave a panel.
func (d *Dialogue) retiring(p layout.Panel, texts []string) (agents []string, err error) {
	for _, text := range texts {
		name := layout.AgentName(text)
		if t := cmp.Or(d.Round(p.Round), &Round{}).Turn(name); t.state() == stateTurn {
			err := record.Conflict.Errorf("%s gave a turn in round %d, which would belong to nobody", name, p.Round)
			return nil, err.Try("filebus dialogue panel {1} {2} --retire {3}", d.Key.String(), strconv.Itoa(p.Round+1), name)
		}
		if !isAmong(p.Experts, name) {
			err := record.NotFound.Errorf("%s is not on the panel of round %d%s", name, p.Round, listed(", which has ", names(p.Experts)))
			return nil, err.Try("run it again for one of them")
		}
		agents = append(agents, name)
	}
	return agents, nil
}

// joining returns who joins a round, as the pool and other panels tell of them.
func (d *Dialogue) joining(round int, texts []string) (experts []layout.Expert, err error) {
	for _, text := range texts {
		text, role, _ := strings.Cut(text, "=")
		name, err := FoldName(text)
		if err != nil {
			return nil, err
		}
		e, err := d.expert(round, name)
		if err != nil {
			e = layout.Expert{Name: name, Label: labelOf(name)}
		}
		e.Role, e.Source = cmp.Or(role, e.Role), d.sourceOf(round, name)
		for _, o := range d.Pool.Experts {
			if o.Name == "" && e.Source == sourceCreated && strings.EqualFold(o.Role, e.Role) {
				e.Tier, e.Relevance, e.Focus, e.Source = o.Tier, o.Relevance, o.Focus, "pool"
			}
		}
		experts = append(experts, e)
	}
	return experts, nil
}

// editPanel edits the panel of a round, which is fresh where there is none, and makes the
// round's folder.
func (f *Dialogues) editPanel(ctx context.Context, d *Dialogue, fresh layout.Panel, edit layout.PanelEdit) (p layout.Panel, err error) {
	if err := cmp.Or(d.Key.checkOwn(), d.checkRound(fresh.Round)); err != nil {
		return p, err
	}
	if _, err := f.makeRound(ctx, d.Key, fresh.Round); err != nil {
		return p, err
	}
	name := fileName(d.Key, roundFolder(fresh.Round)+"/"+panelFile)
	_, err = f.w.EditText(ctx, name.Kind, name.ID, record.SourcePut, func(text []byte, _ *store.Version) ([]byte, error) {
		if isBlank(text) {
			text = layout.AppendJSON(nil, fresh)
		}
		text, problem := edit.Apply(text)
		if problem != nil {
			return nil, unreadable(name.String(), problem)
		}
		p, _ = layout.ParsePanel(text)
		return text, nil
	})
	p.Round = fresh.Round
	return p, err
}

// unreadable returns the error for a pool or panel that cannot be read.
func unreadable(file string, problem *layout.SyntaxError) *record.Error {
	const text = "%s, line %d: %w; who owes a turn is not known"
	return record.Wanting.Errorf(text, file, problem.Line, problem.Err).Try("filebus get {1}", file)
}

// unknown returns unreadable for the file that would say who owes a turn in a round, which
// may be nil: then nothing is concluded of it.
func (d *Dialogue) unknown(r *Round) error {
	switch {
	case r.panel() != nil:
		return nil
	case r != nil && r.Unread != nil:
		return r.Unread
	}
	return d.Unread
}

// roster returns who is to be asked in a round: who takes part in it and, back to the newest
// panel that the judge has made, which gives a source or no time of launch, in those before;
// without such a panel also the pool, or, if it has no names, who took part in the last one.
func (d *Dialogue) roster(round int) (all []layout.Expert, err error) {
	if r := d.Round(round); r != nil && r.Panel == nil {
		all = append(r.members(), writers(r.Turns)...)
	}
	isSourced := func(e layout.Expert) bool { return e.Source != "" }
	for _, r := range slices.Backward(d.Rounds) {
		switch {
		case r.Number > round:
		case r.Panel == nil && r.Unread != nil:
			return nil, r.Unread
		case r.Panel != nil:
			all = append(all, r.Panel.Experts...)
			if r.Panel.Launched.IsZero() || slices.ContainsFunc(r.Panel.Experts, isSourced) {
				return folded(all), nil
			}
		}
	}
	experts := named(d.Pool.Experts)
	if before := d.Round(round - 1); len(experts) == 0 && before != nil {
		experts = d.Launched(before)
	}
	return folded(append(experts, all...)), d.Unread
}

// sourceOf returns how an agent comes into the panel of a round: it is retained if a round
// before had it.
func (d *Dialogue) sourceOf(round int, agent string) string {
	for _, r := range d.Rounds {
		if r.Number < round && isAmong(d.takingPart(r), agent) {
			return sourceRetained
		}
	}
	if isAmong(d.Pool.Experts, agent) {
		return "pool"
	}
	return sourceCreated
}

const sourceRetained, sourceCreated = "retained", "created"

// members returns the members of a round's panel, or who has a prompt in it.
func (r *Round) members() (experts []layout.Expert) {
	if r.Panel != nil {
		return r.Panel.Experts
	}
	for _, file := range r.Files {
		if name, found := strings.CutSuffix(path.Base(file.Path), ".prompt.md"); found && !isJudges(name) {
			experts = append(experts, layout.Expert{Name: layout.AgentName(name)})
		}
	}
	return experts
}

// isJudges reports whether a file has a name that judges give to their own.
func isJudges(stem string) bool {
	words := strings.FieldsFunc(stem, func(c rune) bool { return strings.ContainsRune("-_. ", c) })
	return len(words) > 0 && (words[0] == "judge" || slices.Contains(strings.Fields("agenda background brief context "+
		"convergence judge notes panel perspectives prompt readme scoreboard scores summary synthesis tensions verdict"), words[len(words)-1]))
}

// sortOut leaves as turns the files of those who take part in the dialogue and, in a round
// without names, those that are a stub, have a marker at the beginning of a line, or were
// put as a turn. The others are files of the round.
func (d *Dialogue) sortOut() {
	known := map[string]string{}
	for _, r := range d.Rounds {
		for _, e := range append(named(d.Pool.Experts), r.members()...) {
			known[foldFile(e.Name)] = cmp.Or(known[foldFile(e.Name)], e.Name)
			known[foldExpert(e.Name)] = e.Name // a_b and a-b are two
		}
	}
	for _, r := range d.Rounds {
		isOpen := r.Panel == nil && len(named(d.Pool.Experts)) == 0
		r.Turns = slices.DeleteFunc(r.Turns, func(t *Turn) bool {
			name := cmp.Or(known[t.Agent], known[foldFile(t.Agent)])
			if t.Agent = cmp.Or(name, t.Agent); name != "" ||
				isOpen && !isJudges(t.Agent) && (t.hasForm() || isCommand(t.Version.Record.Source)) {
				return false
			}
			file := extraFile{roundFolder(r.Number) + "/" + t.fileName(), t.Version, t}
			if isJudges(t.Agent) && !(isOpen && bytes.HasPrefix(bytes.TrimSpace(t.Text), []byte("["))) {
				file.MayBe = nil
			}
			r.Files = append(r.Files, file)
			return true
		})
		r.Files = slices.DeleteFunc(r.Files, func(f extraFile) bool { // put as somebody's turn: nothing is left over
			isCopied := func(t *Turn) bool { return t.isGiven() && t.digest() == f.MayBe.digest() }
			return f.MayBe != nil && !f.MayBe.isGiven() && slices.ContainsFunc(r.Turns, isCopied)
		})
	}
}

// hasForm reports whether a file says by itself that it is a turn.
func (t *Turn) hasForm() bool {
	return t.IsStub || slices.ContainsFunc(t.Markers, func(m layout.Marker) bool {
		at := max(bytes.Index(t.Text, []byte(m.Raw)), 0)
		return len(bytes.Trim(t.Text[bytes.LastIndexByte(t.Text[:at], '\n')+1:at], " \t*#>-")) == 0
	})
}
