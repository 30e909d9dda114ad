package query

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store"
	"filebus/store/record"
)

// A Standing says whether an entry of knowledge counts. Its text is seen by users.
type Standing string

// The standings.
const (
	Current    Standing = "current"
	Proposed   Standing = "proposed" // somebody is to accept it
	Superseded Standing = "superseded"
	Rejected   Standing = "rejected" // it was never so
	Past       Standing = "past"     // it held, and holds no more
)

// A Stand is the standing of an entry, with what is known of how it came about.
type Stand struct {
	Standing Standing    `json:"standing"`
	By       record.Name `json:"by,omitzero"`    // what is to be read in its place
	Since    time.Time   `json:"since,omitzero"` // zero: nobody knows
	Because  string      `json:"because,omitempty"`
}

// status returns a status as it stands: what its text still calls proposed or worse may be accepted.
func (s Stand) status(said string) string {
	if s.Standing == Current && standingOf(said) != "" {
		return "accepted"
	}
	return said
}

// IsOld reports whether an entry counts no more.
func (s Stand) IsOld() bool { return s.Standing != Current && s.Standing != Proposed }

// String says it in a few words: superseded by knowledge/x, since 2026-11-28.
func (s Stand) String() string {
	text := string(s.Standing)
	if !s.By.IsZero() {
		text += " by " + s.By.String()
	} else if !s.Since.IsZero() {
		text += " since " + s.Since.UTC().Format(time.DateOnly)
	}
	if s.Because != "" {
		text += ": " + s.Because
	}
	return text
}

// LinkStanding is the type of the link by which a command says the standing of an entry. Its target is what
// StandingLink makes. It is stored.
const LinkStanding = "standing"

// StandingLink returns the link by which somebody gives an entry a standing, for a reason or "".
func StandingLink(s Standing, at time.Time, because string) record.Link {
	return record.Link{Type: LinkStanding, Target: strings.TrimSpace(record.FormatTime(at) + " " + string(s) + " " + because)}
}

// standingWords are the words by which a status says what an entry's standing is.
var standingWords = map[string]Standing{
	"superseded": Superseded, "deprecated": Superseded, "obsolete": Superseded, "replaced": Superseded,
	"rejected": Rejected, "withdrawn": Rejected, "declined": Rejected, "wont": Rejected, // as layout.NormalizeStatus has it
	"proposed": Proposed, "draft": Proposed, "proposal": Proposed,
}

// standingOf returns what a status says of an entry's standing; "": nothing.
func standingOf(status string) Standing {
	words := strings.FieldsFunc(strings.ToLower(status), func(r rune) bool { return !unicode.IsLetter(r) })
	return standingWords[append(words, "")[0]]
}

// standingFile keeps, in the folder of the index, what is told of entries of knowledge whose standing is not
// simply current. It is derived and may be deleted: reading all entries again is what it spares.
const standingFile = "standing"

// standingFormat is the number of its form; a file of another is made anew.
const standingFormat = 3

// The steps by which what is kept follows the log.
const (
	followEntries = 2000 // a log that is further ahead costs more than all knowledge
	keepEntries   = 64   // so many entries are rather read again than the file written
)

// standings are what all entries tell, as of a position of the log: the form of the file.
type standings struct {
	Format   int                  `json:"format"`
	Store    record.StoreID       `json:"store"`
	Position uint64               `json:"position"`
	Ref      record.Ref           `json:"ref"` // of the log entry there: another history has another one
	Told     map[quotedName]*told `json:"told"`
	Said     map[string]time.Time `json:"said"` // digests of what entries say that count no more, since when

	kept  uint64    // the position of the file
	until time.Time // what was told later is not read; zero: all is
}

// A told is what all versions of an entry tell of its standing. What says for the first time that an entry counts no
// more says it for good; that it counts again a command alone can say, by a StandingLink. So older files that come
// back, with a checkout, change nothing.
type told struct {
	Word    Standing     `json:"word,omitempty"` // superseded or rejected; current: somebody has accepted it since
	Since   time.Time    `json:"since,omitzero"`
	Because string       `json:"because,omitempty"`
	Links   []succession `json:"links,omitempty"`
	Open    bool         `json:"open,omitempty"`  // its text calls itself proposed, or says what counts no more
	Valid   string       `json:"valid,omitempty"` // as layout.ParseValid reads it
}

// A succession says that one entry takes the place of another.
type succession struct {
	Newer quotedName `json:"newer"`
	Older quotedName `json:"older"`
	At    time.Time  `json:"at"` // when that was said first
}

// successionOf reads a link of a record, if it is such a claim.
func successionOf(r *record.Record, l record.Link) (s succession, found bool) {
	target, err := record.ParseName(l.Target)
	if err != nil || target.Kind != record.KindKnowledge || target == r.Name {
		return s, false
	}
	switch own, other := quotedName(r.Name), quotedName(target); l.Type {
	case layout.LinkSupersedes:
		return succession{own, other, r.Time}, true
	case layout.LinkSupersededBy:
		return succession{other, own, r.Time}, true
	}
	return s, false
}

// A quotedName is written as a string of Go, as names may hold any bytes.
type quotedName record.Name

// MarshalText returns the quoted name.
func (n quotedName) MarshalText() ([]byte, error) {
	return strconv.AppendQuote(nil, record.Name(n).String()), nil
}

// UnmarshalText reads what MarshalText wrote.
func (n *quotedName) UnmarshalText(quoted []byte) error {
	text, err := strconv.Unquote(string(quoted))
	if err == nil {
		*(*record.Name)(n), err = record.ParseName(text)
	}
	return err
}

// tell reads the versions of an entry, the oldest first.
func tell(versions []store.Version) *told {
	t, seen := &told{}, map[record.Digest]bool{}
	for _, v := range versions {
		r := v.Record
		isNew := !seen[r.Body]
		seen[r.Body] = true
		for _, l := range r.Links {
			s, found := successionOf(r, l)
			isSame := func(b succession) bool { return b.Newer == s.Newer && b.Older == s.Older }
			if found && !slices.ContainsFunc(t.Links, isSame) {
				t.Links = append(t.Links, s)
			}
			if at, word, because, is := parseStandingLink(l); is {
				t.say(word, at, because)
			}
		}
		if word := standingOf(r.Status); isNew && (word == Superseded || word == Rejected) {
			t.say(word, r.Time, "")
		}
	}
	return t
}

func (t *told) say(word Standing, at time.Time, because string) {
	if !at.Before(t.Since) {
		t.Word, t.Since, t.Because = word, at, because
	}
}

func (t *told) isOld() bool { return t.Word != "" && t.Word != Current }

// isAccepted reports whether an entry was accepted after it was superseded.
func (t *told) isAccepted(s succession) bool {
	return t != nil && t.Word == Current && !s.At.After(t.Since)
}

// wordsOfEntry returns a digest of what an entry says, "" of nothing: the text may be destroyed while this is kept.
func wordsOfEntry(d record.Description) string {
	if text := markdown.SingleSpaced(d.Preview); text != "" {
		return record.DigestOf([]byte(text)).String()
	}
	return ""
}

// says notes what an entry says that counts no more, since when first. It reports whether that is news.
func (c *standings) says(text string, since time.Time) bool {
	before, found := c.Said[text]
	isNew := text != "" && (!found || since.Before(before))
	if isNew {
		c.Said[text] = since
	}
	return isNew
}

func parseStandingLink(l record.Link) (at time.Time, word Standing, because string, is bool) {
	stamp, rest, _ := strings.Cut(l.Target, " ")
	name, because, _ := strings.Cut(rest, " ")
	at, err := record.ParseTime(stamp)
	word = Standing(name)
	return at, word, because, l.Type == LinkStanding && err == nil && slices.Contains([]Standing{Current, Superseded, Rejected}, word)
}

// versionsOf returns what is left of the versions of a name, the oldest first.
func versionsOf(tx *store.Tx, name record.Name) (versions []store.Version, err error) {
	events, err := tx.History(name)
	seen := map[record.Ref]bool{}
	for _, e := range events {
		v, err := tx.Get(e.Ref)
		if err == nil && !seen[e.Ref] && !v.Record.IsConflict() {
			versions = append(versions, v)
		}
		if seen[e.Ref] = true; err != nil && !errors.Is(err, store.ErrDropped) && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
	}
	slices.SortStableFunc(versions, func(a, b store.Version) int { return a.Record.Time.Compare(b.Record.Time) })
	return versions, err
}

// read reads what a name tells. Where it begins to count no more, what all others say is to be compared with it: errAnew.
func (c *standings) read(tx *store.Tx, name record.Name) error {
	versions, err := versionsOf(tx, name)
	if err != nil {
		return err
	}
	head, headErr := tx.Head(name)
	if !c.until.IsZero() {
		versions = slices.DeleteFunc(versions, func(v store.Version) bool { return v.Record.Time.After(c.until) })
		head, headErr = tx.HeadAt(name, c.Position)
	}
	t, before, said := tell(versions), c.Told[quotedName(name)], ""
	if headErr == nil {
		d := tx.Description(head.Ref)
		t.Valid, said = d.Attributes[record.AttributeValid], wordsOfEntry(d)
		since, isKnown := c.Said[said]
		t.Open = standingOf(head.Record.Status) == Proposed || isKnown && t.Word == "" && versions[0].Record.Time.After(since)
	}
	c.Told[quotedName(name)] = t
	if t.Word == "" && len(t.Links) == 0 && !t.Open && t.Valid == "" {
		delete(c.Told, quotedName(name))
	}
	isNew := before != nil && before.isOld() && !t.isOld() // what says the same counts again
	if t.isOld() {
		isNew = c.says(said, t.Since) || isNew
	}
	for _, s := range t.Links {
		if v, _, err := tx.Last(record.Name(s.Older)); err == nil && !c.Told[s.Older].isAccepted(s) {
			isNew = c.says(wordsOfEntry(tx.Description(v.Ref)), s.At) || isNew
		}
	}
	if isNew {
		return errAnew
	}
	return ignoreGone(headErr)
}

// ignoreGone returns the error of a look-up, unless it says that nothing is there.
func ignoreGone(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// latest returns what takes the place of each older entry: of several the first by name. Of
// two that supersede each other neither does.
func latest(all map[[2]quotedName]succession) map[record.Name]succession {
	by := map[record.Name]succession{}
	for key, s := range all {
		older := record.Name(s.Older)
		before, found := by[older]
		_, isMutual := all[[2]quotedName{key[1], key[0]}]
		if !isMutual && (!found || record.Name.Compare(record.Name(s.Newer), record.Name(before.Newer)) < 0) {
			by[older] = s
		}
	}
	return by
}

// Stands are the standings of entries of knowledge that are not simply current. The names of entries that are
// gone may be among them.
type Stands map[record.Name]Stand

// Of returns the standing of a name.
func (all Stands) Of(name record.Name) Stand {
	if s, found := all[name]; found {
		return s
	}
	return Stand{Standing: Current}
}

// Standings returns the standings of now.
func (r *Reader) Standings(ctx context.Context) (Stands, error) {
	c, err := r.currentStandings(ctx)
	if err != nil || len(c.Told) == 0 {
		return Stands{}, err
	}
	return r.standingsOf(ctx, c, r.opts.Now())
}

// standingsAt returns the standings as they were known at a time, and the versions that were current then.
func (r *Reader) standingsAt(ctx context.Context, at time.Time) (Stands, []store.Place, error) {
	c, found := &standings{Told: map[quotedName]*told{}, Said: map[string]time.Time{}, until: at}, []store.Place(nil)
	err := r.store.View(ctx, func(tx *store.Tx) (err error) {
		c.Position, err = tx.AsOf(at)
		return err
	})
	if err == nil {
		err = r.readAll(ctx, c)
	}
	if err == nil {
		err = store.ViewAll(ctx, r.store, knowledgeNames, func(tx *store.Tx, name record.Name) error {
			v, err := tx.HeadAt(name, c.Position)
			if err == nil {
				found = append(found, store.Place{Ref: v.Ref, Position: v.Position})
			}
			if errors.Is(err, store.ErrDropped) {
				err = nil
			}
			return ignoreGone(err)
		})
	}
	if err != nil {
		return nil, nil, err
	}
	all, err := r.standingsOf(ctx, c, at)
	return all, found, err
}

func (r *Reader) standingsOf(ctx context.Context, c *standings, now time.Time) (Stands, error) {
	stated := map[[2]quotedName]succession{}
	var byOlder []succession
	for name, t := range c.Told {
		for _, s := range t.Links {
			if c.Told[s.Older].isAccepted(s) {
				continue // it was accepted since
			}
			if s.Newer == name {
				stated[[2]quotedName{s.Newer, s.Older}] = s
			} else {
				byOlder = append(byOlder, s)
			}
		}
	}
	err := EachOf(ctx, r, byOlder, func(tx *store.Tx, s succession) error {
		_, _, err := tx.Last(record.Name(s.Newer))
		if err == nil {
			stated[[2]quotedName{s.Newer, s.Older}] = s
		}
		if errors.Is(err, store.ErrDropped) {
			err = nil
		}
		return ignoreGone(err)
	})
	all := Stands{}
	for name, t := range c.Told {
		switch from, until := layout.ParseValid(t.Valid); {
		case t.Word == Superseded, t.Word == Rejected:
			all[record.Name(name)] = Stand{Standing: t.Word, Since: t.Since, Because: t.Because}
		case !until.IsZero() && !until.After(now):
			all[record.Name(name)] = Stand{Standing: Past, Since: until}
		case t.Open && t.Word == "", from.After(now):
			all[record.Name(name)] = Stand{Standing: Proposed}
		}
	}
	for older, s := range latest(stated) {
		if all[older].Standing != Rejected {
			all[older] = Stand{Standing: Superseded, By: record.Name(s.Newer), Since: s.At, Because: all[older].Because}
		}
	}
	return all, err
}

// Superseded returns what is to be read in place of each entry of knowledge that something supersedes.
func (r *Reader) Superseded(ctx context.Context) (map[record.Name]record.Name, error) {
	all, err := r.Standings(ctx)
	return replacements(all), err
}

func replacements(all Stands) map[record.Name]record.Name {
	by := map[record.Name]record.Name{}
	for name, s := range all {
		if !s.By.IsZero() {
			by[name] = s.By
		}
	}
	return by
}

// currentStandings returns what is told as of now, from what is kept of it and the log since. It keeps it if that
// was much.
func (r *Reader) currentStandings(ctx context.Context) (*standings, error) {
	at, err := r.newCatchUp(ctx)
	if err != nil {
		return nil, err
	}
	c := r.readStandings(at.origin)
	err = r.follow(ctx, c)
	if errors.Is(err, errAnew) {
		if c, err = r.standingsAnew(ctx); err == nil {
			err = r.follow(ctx, c) // what was put meanwhile
		}
		if errors.Is(err, errAnew) {
			return c, nil // much is put and dropped at once: it is as good as before that
		}
	}
	if err == nil && c.Position >= c.kept+keepEntries {
		c.Format, c.Store = standingFormat, at.origin
		r.writeStandings(c)
	}
	return c, err
}

// errAnew says that what is kept does not lead to the log's end.
var errAnew = errors.New("the standings must be read anew")

// follow brings standings to the end of the log. It returns errAnew if they are of
// another history, if that is too far, or if a record was destroyed since, whose
// name nobody knows.
func (r *Reader) follow(ctx context.Context, c *standings) error {
	begun := false
	return r.InSlices(ctx, func(tx *store.Tx) (bool, error) {
		if !begun {
			begun = true
			if err := c.check(tx); err != nil {
				return false, err
			}
		}
		if c.Position == tx.Position() {
			return true, nil
		}
		e, err := tx.Entry(c.Position + 1)
		if err != nil {
			return false, err
		}
		v, err := mustFind(tx.Get(e.Ref))
		switch {
		case errors.Is(err, store.ErrDropped) && e.Op == store.OpPut: // what became of it comes later
		case errors.Is(err, store.ErrDropped):
			return false, errAnew
		case err != nil:
			return false, err
		case v.Record.Name.Kind == record.KindKnowledge:
			if err := c.read(tx, v.Record.Name); err != nil {
				return false, err
			}
		}
		c.Position, c.Ref = e.Position, e.Ref
		return false, nil
	})
}

// check returns errAnew unless standings are of the history of a store, and not far
// behind.
func (c *standings) check(tx *store.Tx) error {
	if c.Position > tx.Position() || tx.Position()-c.Position > followEntries {
		return errAnew
	}
	if c.Position == 0 {
		return nil
	}
	e, err := tx.Entry(c.Position)
	if err == nil && e.Ref != c.Ref {
		return errAnew
	}
	return err
}

// standingsAnew reads all entries of knowledge: first what counts no more, and then what says the same. They are as of
// the position before that, or later.
func (r *Reader) standingsAnew(ctx context.Context) (*standings, error) {
	c := &standings{Told: map[quotedName]*told{}, Said: map[string]time.Time{}}
	err := r.store.View(ctx, func(tx *store.Tx) error {
		if c.Position = tx.Position(); c.Position == 0 {
			return nil
		}
		e, err := tx.Entry(c.Position)
		c.Ref = e.Ref
		return err
	})
	if err == nil {
		err = r.readAll(ctx, c)
	}
	return c, err
}

// readAll reads all names, and once more what says the same as others that count no more.
func (r *Reader) readAll(ctx context.Context, c *standings) (err error) {
	for again := true; again && err == nil; {
		again = false
		err = store.ViewAll(ctx, r.store, knowledgeNames, func(tx *store.Tx, name record.Name) error {
			err := c.read(tx, name)
			if errors.Is(err, errAnew) {
				again, err = true, nil
			}
			return err
		})
	}
	return err
}

// knowledgeNames returns the names of knowledge that ever were, from one on.
func knowledgeNames(tx *store.Tx, from record.Name) iter.Seq2[record.Name, error] {
	return func(yield func(record.Name, error) bool) {
		for at, more := from, true; more; {
			more = false
			for name, err := range tx.NamesEver(at) {
				if err == nil && name.Kind != record.KindKnowledge { // names go by tree, then by kind
					at, more = record.Name{Tree: name.Tree, Kind: record.KindKnowledge}, true
					if name.Kind > record.KindKnowledge {
						at = record.Name{Tree: name.Tree + "\x01"}
					}
					break
				}
				if !yield(name, err) || err != nil {
					return
				}
			}
		}
	}
}

// readStandings reads what is kept. If that is nothing, or not to be understood, it
// returns standings as of the log's beginning.
func (r *Reader) readStandings(origin record.StoreID) *standings {
	var c standings
	text, err := r.own.ReadFile(path.Join(indexFolder, standingFile))
	isNone := func(t *told) bool { return t == nil }
	if err != nil || json.Unmarshal(text, &c) != nil || c.Format != standingFormat || c.Store != origin ||
		c.Told == nil || c.Said == nil || slices.ContainsFunc(slices.Collect(maps.Values(c.Told)), isNone) {
		return &standings{Told: map[quotedName]*told{}, Said: map[string]time.Time{}}
	}
	c.kept = c.Position
	return &c
}

// writeStandings keeps standings, if the folder of the index may be written. The next
// reader does the work again if not.
func (r *Reader) writeStandings(c *standings) {
	text, err := json.Marshal(c)
	if err == nil && r.own.Make(indexFolder) == nil {
		_ = r.own.Replace(path.Join(indexFolder, standingFile), text, false) // see above
	}
}

// ends returns what supersedes each entry in the end, given what does next. Of entries that supersede each other none does.
func ends(by map[record.Name]record.Name) map[record.Name]record.Name {
	ends := map[record.Name]record.Name{}
	for name := range by {
		end, steps := by[name], 0
		for ; !by[end].IsZero() && steps <= len(by); steps++ {
			end = by[end]
		}
		if steps <= len(by) {
			ends[name] = end
		}
	}
	return ends
}
