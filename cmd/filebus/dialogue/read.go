package dialogue

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"filebus/cmd/filebus/cli"
	"filebus/materialize/layout"
	"filebus/materialize/likeness"
	"filebus/materialize/markdown"
	"filebus/materialize/mirror"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// A Key says which dialogue is meant: the ids of its records begin with ID and a
// slash. ID is the slug, behind the folders that it lies in if these are not the
// workspace's own.
type Key struct {
	Tree record.Tree
	ID   string
}

// Slug returns the name of the dialogue's folder.
func (k Key) Slug() string { return k.ID[strings.LastIndexByte(k.ID, '/')+1:] }

// String returns the key as it is typed.
func (k Key) String() string {
	if k.Tree == "" {
		return k.ID
	}
	return string(k.Tree) + ":" + k.ID
}

// MarshalText returns what String does.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// IsOwn reports whether the dialogue is one of the workspace itself, whose files
// may be written.
func (k Key) IsOwn() bool { return k.Tree == "" }

// keys returns every dialogue, the one with the newest record first.
func (f *Dialogues) keys(ctx context.Context) (keys []Key, err error) {
	entries, err := f.entries(ctx)
	seen := map[Key]bool{}
	for _, e := range entries {
		if key, _, found := cutKey(e); found && !seen[key] {
			seen[key] = true
			keys = append(keys, key)
		}
	}
	return keys, err
}

// cutKey cuts a record's id into the key of its dialogue and the path below it. A
// file under a path that is not canonical has an id of another form: "~/" and its
// whole path.
func cutKey(e query.Summary) (key Key, path string, found bool) {
	name := e.Version.Record.Name
	slug := e.Description.Attributes[layout.AttributeDialogue]
	at := strings.Index("/"+name.ID, "/"+slug+"/")
	if slug == "" || at < 0 {
		return Key{}, "", false // an assembled document
	}
	id, path := name.ID[:at+len(slug)], name.ID[at+len(slug)+1:]
	if strings.HasPrefix(id, elsewhere) {
		id = slug
	}
	return Key{name.Tree, id}, path, true
}

// stamp is what upstream puts before a slug.
var stamp = layout.Pattern(`^\d{4}-\d{2}-\d{2}(T\d{4,6}Z)?-`)

// Find returns the dialogue that a text means: its key, or the name of its folder,
// with or without the time that it begins with. An own dialogue comes before captured
// ones, and one with just this name before one with a time. It returns
// ErrNoDialogue.
func (f *Dialogues) Find(ctx context.Context, text string) (Key, error) {
	if own := (Key{ID: text}); text != "" && !strings.Contains(text, ":") {
		if entries, err := f.entriesBelow(ctx, own); err != nil || len(entries) > 0 {
			return own, err
		}
	}
	keys, err := f.keys(ctx)
	if err != nil {
		return Key{}, err
	}
	isStamped := func(k Key) bool {
		slug, found := strings.CutPrefix(text, strings.TrimSuffix(k.String(), k.Slug()))
		return record.IsSlug(k.Slug(), text) || found && record.IsSlug(k.Slug(), slug)
	}
	for _, matches := range []func(Key) bool{
		func(k Key) bool { return k.String() == text },
		func(k Key) bool { return k.IsOwn() && k.Slug() == text },
		func(k Key) bool { return k.IsOwn() && isStamped(k) },
		func(k Key) bool { return k.Slug() == text },
		isStamped,
	} {
		found := slices.DeleteFunc(slices.Clone(keys), func(k Key) bool { return !matches(k) })
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			err := record.Usage.Errorf("%s is the name of %d dialogues", text, len(found))
			return Key{}, err.Try("run it again with one of {all}", typed(found)...)
		}
	}
	entries, err := f.entries(ctx)
	for _, e := range entries {
		name := e.Version.Record.Name.String()
		stem, _, isDocument := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ".dialogue.")
		if isDocument && record.IsSlug(stem, text) {
			err := record.NotFound.Errorf("%s has a document alone, without files of turns: %s", text, name)
			return Key{}, err.Try("filebus show {1}, filebus dialogue lint {1}", name).Because(ErrNoDialogue).With(name)
		}
	}
	if err != nil {
		return Key{}, err
	}
	// Outside, its folder may be that of another store, or of one that was here before.
	if _, err := f.w.ImportStill(ctx, record.KindDialogue, text+"/"+poolFile); errors.Is(err, mirror.ErrRootTaken) {
		return Key{}, err
	}
	like := likeness.Nearest(text, markdown.Each(keys, Key.String))
	near := slices.DeleteFunc(keys, func(k Key) bool {
		return text == "" || !strings.Contains(k.String(), text) && !slices.Contains(like, k.String())
	})
	if hint, names := f.w.StrangerHint(ctx, text, ""); hint != "" {
		return Key{}, noDialogue(text).Try(hint, names...)
	}
	return Key{}, noDialogue(text, near...)
}

// noDialogue returns ErrNoDialogue for a text, with the keys that come near.
func noDialogue(text string, near ...Key) *record.Error {
	hint := "run it again with {all}"
	if len(near) == 0 {
		hint = "filebus dialogue list"
	}
	return record.NotFound.Errorf("there is no dialogue %s", text).Try(hint, typed(near)...).Because(ErrNoDialogue)
}

// Read returns all that is stored of a dialogue.
func (f *Dialogues) Read(ctx context.Context, key Key) (*Dialogue, error) {
	entries, err := f.entriesBelow(ctx, key)
	if err != nil {
		return nil, err
	}
	d := &Dialogue{Key: key, Pool: layout.Pool{Title: key.Slug()}}
	if len(entries) == 0 {
		return nil, noDialogue(key.String())
	}
	for _, e := range entries {
		_, path, _ := cutKey(e)
		if err := f.add(ctx, d, e, path); err != nil {
			return nil, err
		}
	}
	d.sortOut()
	slices.SortFunc(d.Rounds, func(a, b *Round) int { return cmp.Compare(a.Number, b.Number) })
	slices.SortFunc(d.Files, compareFiles)
	for _, r := range d.Rounds {
		slices.SortFunc(r.Files, compareFiles)
		// Capitals come before the others: of muffin.md and Muffin.md the first is the one in lower case.
		slices.SortFunc(r.Turns, func(a, b *Turn) int {
			return cmp.Or(strings.Compare(a.Agent, b.Agent), strings.Compare(b.fileName(), a.fileName()))
		})
	}
	d.findAstray()
	return d, f.readJudgeFiles(ctx, d)
}

// readOwn is Read, but for ErrCaptured of a dialogue that is only read.
func (f *Dialogues) readOwn(ctx context.Context, key Key) (*Dialogue, error) {
	if err := key.checkOwn(); err != nil {
		return nil, err
	}
	return f.Read(ctx, key)
}

func compareFiles(a, b extraFile) int { return strings.Compare(a.Path, b.Path) }

// roundOf returns the round in whose folder a file lies. Of the workspace's own files
// one in a folder of another spelling, such as round-00, is in none: agents are told to
// write elsewhere.
func roundOf(e query.Summary, path string) (number int, found bool) {
	number, err := strconv.Atoi(e.Description.Attributes[layout.AttributeRound])
	folder, _, found := strings.Cut(path, "/")
	return number, err == nil && found && (e.Version.Record.Name.Tree != "" || folder == roundFolder(number))
}

// add puts one record in its place.
func (f *Dialogues) add(ctx context.Context, d *Dialogue, e query.Summary, path string) error {
	v := e.Version
	number, inRound := roundOf(e, path)
	if v.Record.Name.Kind == record.KindTurn && inRound {
		return f.addTurn(ctx, d.round(number), v, path)
	}
	if !inRound {
		mayBe, err := f.mayBe(ctx, v, path)
		if v.Record.Name.Kind == record.KindTurn {
			path += ".md"
		}
		d.Files = append(d.Files, extraFile{path, v, mayBe})
		return cmp.Or(err, f.addJSON(ctx, d, nil, v, path))
	}
	r := d.round(number)
	r.Files = append(r.Files, extraFile{path, v, nil})
	return f.addJSON(ctx, d, r, v, path)
}

// mayBe returns the turn that a file outside of the rounds may be meant as, nil if it has
// not the form of one.
func (f *Dialogues) mayBe(ctx context.Context, v store.Version, path string) (*Turn, error) {
	if v.Record.Name.Kind != record.KindTurn && !strings.HasSuffix(strings.ToLower(path), ".md") {
		return nil, nil
	}
	r := &Round{}
	err := f.addTurn(ctx, r, v, path)
	if t := r.Turns[0]; len(t.perspectives()) > 0 && t.hasForm() && !isJudges(t.Agent) {
		return t, err
	}
	return nil, err
}

// rosterFile finds the files that are meant as a pool or a panel.
var rosterFile = layout.Pattern(`(?i)^(?:panel|agents|members|expert[-_]?pool|experts)\.(?:json|ya?ml|toml)$`)

var errElsewhere = errors.New("members are read in expert-pool.json and round-N/panel.json alone")

// addElsewhere notes a pool or panel with another name, place or form than those that are read.
func (d *Dialogue) addElsewhere(r *Round, v store.Version) {
	problem, unread := &layout.SyntaxError{File: v.Record.Path, Line: 1, Err: errElsewhere}, &d.Unread
	if d.Problems = append(d.Problems, problem); r != nil {
		unread = &r.Unread
	}
	const hint = "filebus get {1}, and filebus dialogue panel {2} {3} --add NAME"
	*unread = unreadable(v.Record.Name.String(), problem).Try(hint, d.Key.String(), strconv.Itoa(cmp.Or(r, &Round{}).Number))
}

// addJSON puts what a file of JSON holds in its place, of a round or without one of the
// dialogue, and notes what could not be read.
func (f *Dialogues) addJSON(ctx context.Context, d *Dialogue, r *Round, v store.Version, path string) error {
	name := path[strings.LastIndexByte(path, '/')+1:]
	isPool := r == nil && path == poolFile
	if !isPool && (r == nil || name != panelFile && name != scoresFile) {
		if rosterFile().MatchString(name) {
			d.addElsewhere(r, v)
		}
		return nil
	}
	text, err := f.text(ctx, v)
	if err != nil {
		return err
	}
	var problem *layout.SyntaxError
	unread := func() error { return unreadable(v.Record.Name.String(), problem) }
	switch {
	case isPool:
		if d.Pool, problem = layout.ParsePool(text); d.Pool.Experts == nil {
			d.Unread = unread()
		}
		d.Pool.Title = cmp.Or(d.Pool.Title, d.Key.Slug())
	case name == panelFile:
		p, bad := layout.ParsePanel(text)
		if r.Panel, problem = &p, bad; p.Experts == nil {
			r.Panel, r.Unread = nil, unread()
		}
	default:
		r.Scores, problem = layout.ParseScores(text)
	}
	if problem != nil {
		problem.File = v.Record.Path
		d.Problems = append(d.Problems, problem)
	}
	return nil
}

func (f *Dialogues) addTurn(ctx context.Context, r *Round, v store.Version, path string) error {
	name := path[strings.LastIndexByte(path, '/')+1:]
	text, err := f.text(ctx, v)
	t := &Turn{Agent: foldExpert(strings.TrimSuffix(name, ".md")), Round: r.Number, Version: v, Text: text}
	if t.Stub, t.IsStub = layout.ParseStub(text); !t.IsStub {
		t.Markers = layout.ParseMarkers(text)
	}
	r.Turns = append(r.Turns, t)
	return err
}

// text returns the body of a version, nil if it is longer than MaxTurn.
func (f *Dialogues) text(ctx context.Context, v store.Version) ([]byte, error) {
	if v.Record.Size > MaxTurn {
		return nil, nil
	}
	return f.w.TextOf(ctx, v)
}

// round returns a round, which it makes if there is none yet.
func (d *Dialogue) round(number int) *Round {
	r := d.Round(number)
	if r == nil {
		r = &Round{Number: number}
		d.Rounds = append(d.Rounds, r)
	}
	return r
}

func roundFolder(number int) string { return "round-" + strconv.Itoa(number) }

// isBlank reports whether a text has nothing but blanks, perhaps behind a byte order
// mark.
func isBlank(text []byte) bool {
	return len(bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))) == 0
}

// foldExpert returns the name of an expert as its files have it.
// Disks and editors differ in how they write an accent.
func foldExpert(name string) string { return norm.NFC.String(layout.AgentName(name)) }

// foldFile returns what the names have in common that files of an expert may have:
// Data_Engineer.md is data-engineer's, and bo-@ops.md is bo-ops'.
func foldFile(name string) string {
	return strings.Join(strings.FieldsFunc(foldExpert(name), func(c rune) bool { return c == '-' || c == '_' }), "-")
}

// elsewhere is how the ids of records begin whose files lie under paths that are not
// canonical.
const elsewhere = "~/"

// kinds are those of a dialogue's records.
func kinds() []record.Kind { return []record.Kind{record.KindTurn, record.KindDialogue} }

// entries lists the records of dialogues of all trees, newest first. Each kind is
// looked up by itself: what else the store holds is not read.
func (f *Dialogues) entries(ctx context.Context) (all []query.Summary, err error) {
	for _, kind := range kinds() {
		listing, err := f.read.List(ctx, query.ListRequest{Filter: record.Filter{Kinds: []record.Kind{kind}}})
		if err != nil {
			return nil, err
		}
		all = append(all, listing.Entries...)
	}
	slices.SortFunc(all, newestFirst)
	return all, nil
}

func newestFirst(a, b query.Summary) int { return cmp.Compare(b.Version.Position, a.Version.Position) }

// entriesBelow lists the records of one dialogue, newest first, and reads no others but
// those whose paths are not canonical.
func (f *Dialogues) entriesBelow(ctx context.Context, key Key) (all []query.Summary, err error) {
	var from []record.Name
	for _, kind := range kinds() {
		for _, prefix := range []string{key.ID + "/", elsewhere} {
			from = append(from, record.Name{Tree: key.Tree, Kind: kind, ID: prefix})
		}
	}
	all, err = f.startingWith(ctx, from...)
	all = slices.DeleteFunc(all, func(e query.Summary) bool {
		of, _, found := cutKey(e)
		return !found || of != key
	})
	slices.SortFunc(all, newestFirst)
	return all, err
}

// startingWith returns the records whose names begin as one of some does.
func (f *Dialogues) startingWith(ctx context.Context, names ...record.Name) (all []query.Summary, err error) {
	err = f.w.Store.View(ctx, func(tx *store.Tx) error {
		for _, from := range names {
			for n, err := range tx.Names(from) {
				if err != nil {
					return err
				}
				if n.Name.Tree != from.Tree || n.Name.Kind != from.Kind || !strings.HasPrefix(n.Name.ID, from.ID) {
					break
				}
				v, err := tx.Get(n.Ref)
				if err != nil {
					return err
				}
				all = append(all, query.Summarize(tx, v))
			}
		}
		return nil
	})
	return all, err
}

// ReadFresh is Read after what agents have written just now was imported: a sync waits
// until a file is still. What could not be imported is returned as skipped; what is
// stored is read all the same.
func (f *Dialogues) ReadFresh(ctx context.Context, key Key) (d *Dialogue, skipped, err error) {
	if d, err = f.Read(ctx, key); err != nil || !key.IsOwn() {
		return d, nil, err
	}
	for _, r := range d.Rounds {
		wrote := markdown.Each(r.Turns, func(t *Turn) string { return strings.TrimSuffix(t.fileName(), ".md") })
		for _, agent := range append(d.owingNames(r), wrote...) {
			name := turnName(key, r.Number, agent)
			if record.CheckID(name.ID) == nil {
				skipped = errors.Join(skipped, f.w.ImportNew(ctx, name.Kind, name.ID))
			}
		}
		name := fileName(key, roundFolder(r.Number)+"/"+scoresFile)
		skipped = errors.Join(skipped, f.w.ImportNew(ctx, name.Kind, name.ID))
	}
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	d, err = f.Read(ctx, key)
	return d, skipped, err
}

// An Item is a dialogue in a list.
type Item struct {
	Key    Key       `json:"dialogue"`
	Title  string    `json:"title"`          // the slug, where the pool says none
	Rounds int       `json:"rounds"`         // that have a file
	Last   *int      `json:"last,omitempty"` // the number of the last of them; nil: there is none
	Turns  int       `json:"turns"`          // that were given in the last round, as check and score count them
	Owed   int       `json:"owed,omitempty"` // that are owed in it, likewise; 0: nobody is known to owe one
	Agents []string  `json:"agents,omitempty"`
	Status string    `json:"status,omitempty"` // open or converged, by the last scoreboard; "" without one
	Time   time.Time `json:"time"`             // of the newest record
}

// List returns a page of the dialogues, the one with the newest record first, and how many
// are left behind it.
func (f *Dialogues) List(ctx context.Context, page cli.Page) ([]Item, int, error) {
	keys, err := f.keys(ctx)
	if err != nil {
		return nil, 0, err
	}
	keys, left := cli.CutPage(page, keys)
	var items []Item
	for _, key := range keys {
		item, err := f.item(ctx, key)
		if err != nil {
			return nil, 0, err
		}
		items = append(items, item)
	}
	return items, left, nil
}

// item describes a dialogue.
func (f *Dialogues) item(ctx context.Context, key Key) (Item, error) {
	item := Item{Key: key}
	d, err := f.Read(ctx, key)
	if err != nil {
		return item, err
	}
	for _, v := range d.versions() {
		if v.Record.Time.After(item.Time) {
			item.Time = v.Record.Time.UTC()
		}
	}
	item.Title, item.Rounds, item.Agents = cmp.Or(d.title(), key.Slug()), len(d.Rounds), names(named(d.Pool.Experts))
	for _, r := range d.Rounds {
		agents := names(slices.Concat(r.members(), writers(r.Turns)))
		item.Last, item.Owed, item.Turns = &r.Number, 0, len(r.given())
		if len(r.members())+len(d.pooled(r.Number)) > 0 { // else whoever wrote is all that is known
			item.Owed = len(d.owingNames(r))
		}
		item.Agents = append(item.Agents, agents...)
	}
	slices.Sort(item.Agents)
	item.Agents = slices.Compact(item.Agents)
	return item, f.addStatus(ctx, d, &item)
}

// addStatus adds what the scoreboard says. A dialogue without turns, or of which is not
// known who owes one, has not converged.
func (f *Dialogues) addStatus(ctx context.Context, d *Dialogue, item *Item) error {
	last := cmp.Or(d.Last(), &Round{})
	v, found := d.file(scoreboardFile)
	if !found {
		return nil
	}
	text, err := f.text(ctx, v)
	if err != nil {
		return err
	}
	board, found := layout.ParseScoreboard(text)
	if n := len(board.Rounds); found && n > 0 {
		item.Status = "open"
		if r := board.Rounds[n-1]; r.Velocity == 0 && r.Converge >= 100 && r.Round >= last.Number &&
			len(last.given()) > 0 && d.unknown(last) == nil {
			item.Status = "converged"
		}
	}
	return nil
}
