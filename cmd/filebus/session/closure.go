package session

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// The usual bounds of what is gathered besides a session's own records.
const (
	defaultRecords = 1000
	defaultDepth   = 16
)

const (
	citeLimit = 16 << 20 // bytes of a body that are looked at for citations
	citeMost  = 20_000   // citations of one body
	mostGone  = 1000     // things that are named as left out
)

// A GatherRequest says what is to be gathered.
type GatherRequest struct {
	Session string
	// Pick are further filters of the session's own records, with the position of
	// the log or the time to look back to. Its Names and Sessions are not used.
	Pick materialize.Selection
	// Closure adds what these records were made from, link to or cite, what that
	// refers to in turn, and so on.
	Closure bool
	Records int // that are added at most; 0: defaultRecords
	Depth   int // how many steps away from the session's own; 0: defaultDepth
}

// A Bundle is what the work in a session refers to, as it was at one position of
// the log.
type Bundle struct {
	LaidOut          // as far as it is known before it is laid out
	Members []member // the session's own by path, then the others as they were found
	partial bool     // what is damaged is left out

	cut         string // a part of the best text, that has no room as a whole
	IndexTokens int    // that Choose leaves for the index
}

// A member is a record of a bundle.
type member struct {
	Version store.Version
	Tokens  int // of the text, about; of a frame, of the whole file
	Preview string
	Depth   int // how many steps away it was found
}

// A loss is something that a record refers to and that cannot be laid out.
type loss struct {
	What   string `json:"what"`         // as it is referred to
	By     string `json:"by,omitempty"` // who refers to it; "": it was the session's own
	Reason string `json:"reason"`
	// Inexact says that nothing is lost: the file is in the workspace though not in
	// the store, or another version of it was laid out.
	Inexact bool `json:"inexact,omitempty"`

	files []string // where it could be
}

// Gather returns a session's records and what they refer to. Cycles are followed
// once. A session of which nothing is stored, or which had not begun at an earlier
// position, is a record.NotFound.
func (r *Sessions) Gather(ctx context.Context, request GatherRequest) (*Bundle, error) {
	g, err := r.begin(ctx, request)
	if err == nil {
		err = g.own(ctx)
	}
	switch {
	case err != nil:
		return nil, err
	case g.known || len(g.LeftOut) > 0:
	case g.past:
		return nil, r.nothingAt(ctx, request.Session, g.Position)
	default:
		return nil, r.nothing(ctx, request.Session)
	}
	g.Own = len(g.Members)
	if err := g.readByOwnTools(ctx); err != nil {
		return nil, err
	}
	for request.Closure && g.next < len(g.Members) {
		if err := g.follow(ctx); err != nil {
			return nil, err
		}
	}
	g.noteBounds()
	return g.Bundle, nil
}

// readByOwnTools adds what the session's agents have read with their own tools, as the log of reads tells.
func (g *gatherer) readByOwnTools(ctx context.Context) error {
	reads, err := g.sessions.read.Reads(time.Time{})
	if err != nil || !g.request.Closure {
		return err
	}
	return query.EachOf(ctx, g.sessions.read, reads, func(tx *store.Tx, read query.Read) error {
		name, err := record.ParseName(read.What)
		if err != nil || read.Op != "read" || read.Session != g.Session {
			return nil
		}
		v, err := tx.HeadAt(name, g.Position)
		if query.IsAbsent(err) || err == nil && !g.hasRoom(name) {
			return nil
		}
		if err != nil {
			return err
		}
		return g.add(tx, v, 1)
	})
}

// noteBounds says which bounds were met.
func (g *gatherer) noteBounds() {
	note := func(n int, format string, args ...any) {
		if n > 0 {
			g.Notes = append(g.Notes, fmt.Sprintf(format, args...))
		}
	}
	note(g.skipped, "more than %d records are referred to: %d references were not followed", g.request.Records,
		g.skipped)
	note(g.deep, "records that are more than %d steps away were not followed: %d", g.request.Depth, g.deep)
	note(g.more, "%d more omissions are not named", g.more)
}

// A gatherer makes a bundle.
type gatherer struct {
	*Bundle
	sessions *Sessions
	request  GatherRequest
	members  map[record.Name]bool
	gone     map[string]bool
	past     bool // it is as of an earlier position
	// stood is what stood at which path then. The look-ups of the store only know what
	// is current now.
	stood map[string]record.Ref
	known bool // the session has records, picked or not
	next  int  // the first member that was not followed

	skipped, deep, more int // what bounds have left out
}

// begin fixes the position and, for an earlier one, reads what stood where.
func (r *Sessions) begin(ctx context.Context, request GatherRequest) (*gatherer, error) {
	request.Records = cmp.Or(request.Records, defaultRecords)
	request.Depth = cmp.Or(request.Depth, defaultDepth)
	g := &gatherer{
		Bundle: &Bundle{LaidOut: LaidOut{Session: request.Session}, partial: request.Pick.Partial}, sessions: r, request: request,
		past:    request.Pick.At > 0 || !request.Pick.AsOf.IsZero(),
		members: map[record.Name]bool{}, gone: map[string]bool{},
	}
	err := r.w.Store.View(ctx, func(tx *store.Tx) (err error) {
		g.Position = tx.Position()
		switch {
		case request.Pick.At > 0:
			g.Position = min(g.Position, request.Pick.At)
		case g.past:
			g.Position, err = tx.AsOf(request.Pick.AsOf)
		}
		if err == nil && g.Position > 0 {
			var e store.Entry
			e, err = tx.Entry(g.Position)
			g.Time = e.Time
		}
		return err
	})
	if err == nil && g.past && request.Closure {
		err = g.readPast(ctx)
	}
	return g, err
}

// current lists what was current at the position and passes a filter, newest first.
func (g *gatherer) current(ctx context.Context, filter record.Filter) ([]query.Summary, error) {
	request := query.ListRequest{Filter: filter}
	if g.past {
		if request.At = g.Position; request.At == 0 {
			return nil, nil
		}
	}
	listing, err := g.sessions.read.List(ctx, request)
	return listing.Entries, err
}

// readPast reads what stood at which path at an earlier position.
func (g *gatherer) readPast(ctx context.Context) error {
	entries, err := g.current(ctx, record.Filter{})
	g.stood = map[string]record.Ref{}
	for _, e := range entries {
		r := e.Version.Record
		value := store.PathValue(r.Name.Tree, r.Path)
		if _, taken := g.stood[value]; !taken && r.Path != "" && !r.Name.IsEntry() {
			g.stood[value] = e.Version.Ref
		}
	}
	return err
}

// own reads the session's own records, by path, and names those of an earlier
// position that are destroyed.
func (g *gatherer) own(ctx context.Context) error {
	entries, err := g.current(ctx, record.Filter{Sessions: []string{g.Session}})
	if err != nil {
		return err
	}
	slices.SortFunc(entries, func(a, b query.Summary) int {
		x, y := a.Version.Record, b.Version.Record
		return cmp.Or(strings.Compare(x.Path, y.Path), strings.Compare(x.Name.String(), y.Name.String()))
	})
	err = query.EachOf(ctx, g.sessions.read, entries, func(tx *store.Tx, e query.Summary) error {
		if e.Version.Position > g.Position {
			return nil
		}
		g.known = true
		if !g.request.Pick.Accepts(e.Version.Record) {
			return nil
		}
		return g.add(tx, e.Version, 0)
	})
	if err != nil || !g.past {
		return err
	}
	dropped := func(tx *store.Tx, from store.NamedRef) iter.Seq2[store.NamedRef, error] {
		return tx.DroppedAt(from.Name, g.Position)
	}
	return store.ViewAll(ctx, g.sessions.w.Store, dropped, func(_ *store.Tx, n store.NamedRef) error {
		if isOf(n.Name, g.Session) {
			g.leaveOut(loss{What: n.Name.String(), Reason: destroyed})
		}
		return nil
	})
}

// add makes a version a member.
func (g *gatherer) add(tx *store.Tx, v store.Version, depth int) error {
	if v.Record.Path == "" {
		return nil // it is no file
	}
	d := tx.Description(v.Ref)
	m := member{v, record.EstimateTokens(v.Record.Size), cmp.Or(d.Preview, d.Title), depth}
	var err error
	if v.Record.Name.Kind == record.KindFrame {
		m.Preview = "the whole file"
		m.Tokens, err = g.frameTokens(tx, v)
	}
	g.members[v.Record.Name] = true
	g.Members = append(g.Members, m)
	return err
}

// follow looks at what the next member refers to.
func (g *gatherer) follow(ctx context.Context) error {
	m := g.Members[g.next]
	g.next++
	if m.Version.Record.Name.Kind == record.KindFrame {
		return nil // of a whole queue or graph, not everything that it mentions is meant
	}
	found, err := g.referencesOf(ctx, m.Version)
	if err != nil || len(found) == 0 {
		return err
	}
	if m.Depth == g.request.Depth {
		g.deep++
		return nil
	}
	by := m.Version.Record
	var unknown []loss
	err = query.EachOf(ctx, g.sessions.read, found, func(tx *store.Tx, c reference) error {
		v, gone, err := g.find(tx, by, c)
		if err != nil {
			return err
		}
		if gone.By = by.Name.String(); gone.files != nil {
			unknown = append(unknown, gone)
		} else if gone.Reason != "" {
			g.leaveOut(gone)
		}
		if v.Record == nil || !g.hasRoom(v.Record.Name) {
			return nil
		}
		return g.add(tx, v, m.Depth+1)
	})
	for _, gone := range unknown {
		g.addFile(gone, m.Depth+1)
	}
	return err
}

// hasRoom reports whether a record is to be added: it is no member, and it has room.
func (g *gatherer) hasRoom(name record.Name) bool {
	isNew := !g.members[name]
	if isNew && len(g.Members)-g.Own >= g.request.Records {
		g.skipped++
		return false
	}
	return isNew
}

func (g *gatherer) leaveOut(gone loss) {
	key := gone.What + "\x00" + gone.Reason
	switch {
	case g.gone[key]:
	case len(g.LeftOut) == mostGone:
		g.more++
	default:
		g.gone[key] = true
		g.LeftOut = append(g.LeftOut, gone)
	}
}

// A reference is what a record refers to: a citation of its text, or what its
// envelope says.
type reference struct {
	citation
	ref record.Ref // that it was made from; zero: none
}

// referencesOf returns what a version refers to: what it was made from, its
// links, and what its text cites.
func (g *gatherer) referencesOf(ctx context.Context, v store.Version) ([]reference, error) {
	all := markdown.Each(v.Record.From, func(ref record.Ref) reference { return reference{ref: ref} })
	for _, l := range record.WithoutLinks(v.Record.Links, record.LinkConflict, record.LinkCommand, record.LinkMode) {
		all = append(all, reference{citation: citation{Text: l.Target}})
	}
	text, err := g.textOf(ctx, v)
	if !strings.HasSuffix(v.Record.Path, ".json") {
		text = backslash().ReplaceAll(bytes.ReplaceAll(text, []byte(`..\`), []byte("../")), []byte("/$1"))
	}
	if errors.Is(err, store.ErrDropped) {
		return all, nil
	}
	cited, more := citations(text, citeMost)
	if more {
		g.Notes = append(g.Notes, fmt.Sprintf("%s cites more than %d things: the others were not looked up", v.Record.Name, citeMost))
	}
	return append(all, markdown.Each(cited, func(c citation) reference { return reference{citation: c} })...), err
}

// textOf returns the beginning of a body; nothing of one that is no text.
func (g *gatherer) textOf(ctx context.Context, v store.Version) (text []byte, err error) {
	var body io.ReadCloser
	if !v.Ref.IsZero() {
		body, err = g.sessions.open(ctx, v.Record)
	} else if isDocument().MatchString(v.Record.Path) {
		body, err = os.Open(g.sessions.w.FilePath(v.Record.Path))
	}
	if err != nil || body == nil {
		return nil, err
	}
	text, err = io.ReadAll(io.LimitReader(body, citeLimit))
	err = errors.Join(err, body.Close())
	if v.Record.Size > citeLimit {
		g.Notes = append(g.Notes, fmt.Sprintf("%s is large: its first %d MiB were looked at for citations", v.Record.Name, citeLimit>>20))
	}
	if bytes.IndexByte(text[:min(len(text), 8192)], 0) >= 0 {
		return nil, err
	}
	return text, err
}

// find returns the version that a reference of a record means, as it was at the
// position, and what is gone of it. If neither is set, nothing shows that a record
// was meant.
func (g *gatherer) find(tx *store.Tx, by *record.Record, c reference) (v store.Version, lost loss, err error) {
	if !c.ref.IsZero() {
		return g.byRef(tx, c.ref)
	}
	for _, form := range c.forms() {
		v, gone, err := g.form(tx, by, form)
		if err != nil || v.Record != nil {
			return v, gone, err
		}
		if lost.Reason == "" {
			lost = gone
		}
	}
	if lost.Reason == "" {
		lost = g.unknown(by, c)
	}
	return v, lost, nil
}

// form looks one form of a citation up: as a reference, a name, a path.
func (g *gatherer) form(tx *store.Tx, by *record.Record, form string) (v store.Version, gone loss, err error) {
	if prefix, ok := record.ParsePrefix(form); ok {
		ref, err := tx.Resolve(prefix)
		_, isAmbiguous := errors.AsType[*store.AmbiguousError](err)
		switch {
		case err == nil:
			return g.byRef(tx, ref)
		case isAmbiguous, errors.Is(err, store.ErrNotFound):
			return v, gone, nil // one of many numbers that are no references
		case errors.Is(err, store.ErrDropped):
			return v, loss{What: form, Reason: destroyed}, nil
		}
		return v, gone, err
	}
	if name, err := record.ParseName(form); err == nil {
		v, gone, err := g.byName(tx, by.Name.Tree, name)
		if err != nil || v.Record != nil || gone.Reason != "" {
			return v, gone, err
		}
	}
	for _, value := range g.values(by, form) {
		if v, err = g.at(tx, value); err != nil || v.Record != nil {
			break
		}
	}
	return v, gone, err
}

// byRef returns the version that a name had whose record is referred to.
func (g *gatherer) byRef(tx *store.Tx, ref record.Ref) (head store.Version, gone loss, err error) {
	gone.What = ref.Short()
	v, err := tx.Get(ref)
	switch {
	case errors.Is(err, store.ErrDropped):
		gone.Reason = destroyed
		return head, gone, nil
	case errors.Is(err, store.ErrNotFound):
		gone.Reason = notStored
		return head, gone, nil
	case err != nil || v.Position > g.Position:
		return head, gone, err
	}
	head, err = tx.HeadAt(v.Record.Name, g.Position)
	switch {
	case query.IsAbsent(err):
		gone.Reason, err = "retired: "+v.Record.Name.String(), nil
	case err == nil && head.Ref != ref && head.Record.Body != v.Record.Body:
		gone.Reason = "an older version of " + v.Record.Name.String() + ", whose current one is here"
		gone.Inexact = true
	}
	return head, gone, err
}

// byName looks a name up, first in the tree of who refers to it.
func (g *gatherer) byName(tx *store.Tx, tree record.Tree, name record.Name) (v store.Version, gone loss, err error) {
	names := []record.Name{name}
	if name.Tree == "" && tree != "" {
		names = []record.Name{{Tree: tree, Kind: name.Kind, ID: name.ID}, name}
	}
	for _, name := range names {
		if v, err = tx.HeadAt(name, g.Position); !query.IsAbsent(err) {
			return v, loss{}, err
		}
		events, err := tx.History(name)
		if err != nil {
			return v, gone, err
		}
		for _, e := range events {
			if e.Position > g.Position {
				break
			}
			gone = loss{What: name.String(), Reason: "retired"}
			if e.Change == store.ChangeDrop {
				gone.Reason = destroyed
			}
		}
	}
	return store.Version{}, gone, nil
}

// at returns the newest version that stood at a path; none is no error.
func (g *gatherer) at(tx *store.Tx, value string) (store.Version, error) {
	if g.past {
		ref, found := g.stood[value]
		if !found {
			return store.Version{}, nil
		}
		return tx.Get(ref)
	}
	for at, err := range tx.Lookup(store.FieldPath, value) {
		if err != nil {
			return store.Version{}, err
		}
		v, err := tx.Find(at)
		if err == nil && v.Position > g.Position {
			v, err = tx.HeadAt(v.Record.Name, g.Position)
		}
		if !query.IsAbsent(err) {
			return v, err
		}
	}
	return store.Version{}, nil
}

// values returns where a path may lead that a record cites, as values of
// store.FieldPath: a path of the tree; below the record's own folder, as links
// are written; below one of the folders above that, as files of a root mention
// each other; and each with and without a leading dot. A name without a folder
// is looked for beside the record and at the top alone.
func (g *gatherer) values(by *record.Record, form string) []string {
	if tree, rest, found := strings.Cut(form, ":"); found && rest != "" {
		if parsed, err := record.ParseTree(tree); err == nil && tree != "file" {
			return []string{store.PathValue(parsed, path.Clean(rest))}
		}
	}
	var paths []string
	add := func(candidate string) {
		if candidate = path.Clean(candidate); record.CheckID(candidate) == nil {
			paths = append(paths, candidate)
		}
	}
	dir := path.Dir(by.Path)
	isAbsolute := strings.HasPrefix(form, "/") || strings.HasPrefix(form, "~/")
	const mostFolders = 12 // bounds how many folders above a record a path is looked up in
	switch {
	case isAbsolute:
		for _, candidate := range g.absolute(form) {
			add(candidate)
		}
	default:
		levels := mostFolders
		if !strings.Contains(form, "/") {
			levels = 1
		} else if !strings.HasPrefix(form, "./") && !strings.HasPrefix(form, "../") {
			add(form)
		}
		for n := 0; n < levels && dir != "." && dir != "/"; n++ {
			add(path.Join(dir, form))
			dir = path.Dir(dir)
		}
		add(form)
	}
	for _, candidate := range paths[:len(paths):len(paths)] {
		other, hasDot := strings.CutPrefix(candidate, ".")
		if !hasDot {
			other = "." + candidate
		}
		if !isAbsolute {
			add(other)
		}
	}
	return markdown.Each(paths, func(p string) string { return store.PathValue(by.Name.Tree, p) })
}

// absolute returns the stored paths that an absolute path, or one below the home
// folder, may have.
func (g *gatherer) absolute(form string) []string {
	if strings.HasPrefix(form, "~/") {
		return []string{form}
	}
	var paths []string
	w := g.sessions.w
	for _, root := range []struct{ folder, as string }{{w.Root, ""}, {w.Main, ""}, {w.Settings.Home, "~/"}} {
		below, err := filepath.Rel(root.folder, filepath.FromSlash(form))
		if err == nil && root.folder != "" && filepath.IsLocal(below) {
			paths = append(paths, root.as+filepath.ToSlash(below))
		}
	}
	return append(paths, "file:"+form)
}

// frameTokens returns the tokens of a whole aggregate file, about.
func (g *gatherer) frameTokens(tx *store.Tx, v store.Version) (int, error) {
	content, err := tx.Content(v.Record)
	if err != nil {
		return 0, err
	}
	body, err := content.Bytes()
	if err != nil {
		return 0, err
	}
	pieces, err := record.DecodeFrame(v.Record.Name.Tree, body)
	if err != nil {
		return 0, fmt.Errorf("%w: frame %s: %w", store.ErrDamaged, v.Record.Name, err)
	}
	var size int64
	for _, piece := range pieces {
		size += int64(len(piece.Text))
		if piece.Slot.IsZero() {
			continue
		}
		e, err := tx.HeadAt(piece.Slot, g.Position)
		if err == nil {
			size += e.Record.Size
		} else if !query.IsAbsent(err) {
			return 0, err
		}
	}
	return record.EstimateTokens(size), nil
}

// unknown returns where a file could be that a citation means which leads to nothing
// stored, and whether it was meant as one: by a name, a path that a layout knows, a link.
func (g *gatherer) unknown(by *record.Record, c reference) (gone loss) {
	form := c.plain()
	if strings.ContainsAny(form, "*?${}<>\n") || strings.Contains(form, "...") || !isPlausible(form) && !c.Link {
		return gone
	}
	gone.What, gone.files = form, []string{}
	for _, form := range c.forms() {
		if by.Name.Tree == "" && withoutPlace(form) == form {
			gone.files = append(gone.files, g.values(by, form)...)
		}
	}
	if c.isMeant(g, by, form) {
		gone.Reason = notStored
	}
	return gone
}

// Why something is left out.
const (
	notStored = "it is not stored"
	destroyed = "its content was destroyed"
)

// isDocument tells the files of the workspace that are read for what they cite.
var isDocument = layout.Pattern(`(?i)(^|/)[^.]+$|\.(md|mdx|markdown|rst|adoc|txt)$`)

// addFile makes the file of the workspace a member that a citation means, as it is now, or says why not.
func (g *gatherer) addFile(cited loss, depth int) {
	inside := slices.DeleteFunc(cited.files, func(value string) bool {
		return strings.HasPrefix(value, ":~/") || strings.HasPrefix(value, ":file:")
	})
	missing := cited.Reason
	cited.Inexact, cited.Reason = true, "a file of the workspace that is not laid out"
	for _, value := range inside {
		p := strings.TrimPrefix(value, ":")
		info, rule, err := g.sessions.w.Look(p)
		if err != nil {
			continue
		}
		name := record.Name{Kind: record.KindNote, ID: p}
		switch {
		case !info.Mode().IsRegular():
			cited.Reason = folder.TypeName(info.Mode()) + ", which is not followed"
			g.leaveOut(cited)
		case g.past || rule != "" || info.Size() > citeLimit:
			g.leaveOut(cited)
		case g.hasRoom(name):
			g.members[name] = true
			v := store.Version{Record: &record.Record{Name: name, Path: p, Size: info.Size()}}
			g.Members = append(g.Members, member{v, record.EstimateTokens(info.Size()), "not stored: as it is now", depth})
		}
		return
	}
	if cited.Reason = "it is outside of the workspace"; len(inside) > 0 {
		cited.Inexact, cited.Reason = false, missing
	}
	if missing != "" {
		g.leaveOut(cited)
	}
}
