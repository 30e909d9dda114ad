package knowledge

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/noun"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// Stand says the standing of an entry for good: in its text, where filebus writes that and it has a field for it, and
// in the store. What superseded an entry that is accepted does so no more.
func (b *Entries) Stand(ctx context.Context, name record.Name, s query.Standing, who, because string) error {
	e, err := b.Get(ctx, name)
	stands, standsErr := b.Read.Standings(ctx)
	if err = cmp.Or(err, standsErr); err != nil {
		return err
	}
	now := stands.Of(name)
	if now.Standing == s && (s == query.Current || now.Because == cli.Words(who, because)) {
		return nil // nobody says anything new
	}
	if s == query.Current {
		if err := b.free(ctx, name); err != nil {
			return err
		}
	}
	status, says := markdown.OneLine(says(s, b.Now(), who, because)), statusOf(&e.Fields)
	at := b.at(e.Path)
	switch isTheirs := at.Sets("status"); {
	case name.Tree != "":
	case isTheirs && errStatus(at, string(s)) == nil:
		err = b.setStatus(ctx, e.Path, string(s))
	case !isTheirs && at.KnowledgeForm() != nil && name.IsEntry() && !at.IsForeign() && (s != query.Current || says != ""):
		_, err = b.Change(ctx, name.ID, func(f layout.EntryForm[layout.Knowledge], e noun.Entry[layout.Knowledge]) ([]byte, error) {
			return f.Set(e.Text, "Status", status), nil
		})
	}
	if err != nil {
		return err
	}
	return b.Work.Stand(ctx, name, func(at time.Time) record.Link { return query.StandingLink(s, at, cli.Words(who, because)) })
}

// says returns the status of an entry: rejected (2026-11-28, who): why.
func says(s query.Standing, at time.Time, who, because string) string {
	word := map[query.Standing]string{query.Current: "accepted"}[s]
	dates := slices.DeleteFunc([]string{at.UTC().Format(time.DateOnly), who}, func(part string) bool { return part == "" })
	text := cmp.Or(word, string(s)) + " (" + strings.Join(dates, ", ") + ")"
	if because != "" {
		text += ": " + because
	}
	return text
}

// free takes the links away by which others supersede an entry, as far as their texts can be changed.
func (b *Entries) free(ctx context.Context, name record.Name) error {
	stands, err := b.Read.Standings(ctx)
	by := stands.Of(name).By
	if err != nil || by.IsZero() || !b.isWritten(ctx, by) {
		return err
	}
	if _, getErr := b.Get(ctx, by); getErr != nil { // it is gone
		return nil
	}
	_, err = b.relink(ctx, by, layout.LinkSupersedes, name, layout.KnowledgeForm.DropLink)
	return err
}

// maxBecause is the longest reason, in bytes.
const maxBecause = 500

type knowledgeReject struct {
	Because string `flag:"because"`
}

func (o *knowledgeReject) Check(*cli.Environ, []string) error {
	switch o.Because = cli.OneLine(markdown.SingleSpaced(o.Because)); {
	case strings.TrimSpace(o.Because) == "":
		return cli.UsageError("--because TEXT says why: whoever meets the entry again reads that")
	case len(o.Because) > maxBecause:
		return cli.UsageError("the reason has %d bytes; %d are enough, and knowledge supersede takes a whole text", len(o.Because), maxBecause)
	}
	return nil
}

func (o *knowledgeReject) Do(ctx context.Context, w *cli.Work, args []string) error {
	return stand(ctx, w, args[0], query.Rejected, o.Because)
}

type knowledgeAccept struct{}

func (*knowledgeAccept) Do(ctx context.Context, w *cli.Work, args []string) error {
	return stand(ctx, w, args[0], query.Current, "")
}

// StandJSON is what a command prints with --json.
type StandJSON struct {
	ID string `json:"id"`
	query.Stand
}

func stand(ctx context.Context, w *cli.Work, id string, s query.Standing, because string) error {
	w, err := w.OpenFresh(ctx)
	if err != nil {
		return err
	}
	name, err := knowledgeName(ctx, w, id)
	if err == nil {
		err = Knowledge(w).Stand(ctx, name, s, w.Or("", "FILEBUS_AGENT"), because)
	}
	if err != nil {
		return err
	}
	stands, err := w.Reader.Standings(ctx)
	if err != nil {
		return err
	}
	now := stands.Of(name)
	return w.Print(StandJSON{LinkEnd(name), now}, "%s  %s\n", cli.OneLine(LinkEnd(name)), StandText(now, record.Name{}))
}

// end closes the time in which an older entry held where the newer one's begins, and keeps what still holds of it.
func (o *knowledgeSupersede) end(ctx context.Context, w *cli.Work, old, by record.Name) error {
	b := Knowledge(w)
	for _, side := range []struct {
		name record.Name
		set  validFlags
	}{{old, validFlags{Until: o.From}}, {by, validFlags{From: o.From}}} {
		e, err := b.Get(ctx, side.name)
		var d layout.Knowledge
		fields, setErr := side.set.set(&d, e.Fields.Valid)
		if err = cmp.Or(err, setErr); err == nil && len(fields) > 0 {
			_, err = b.Edit(ctx, side.name, d, fields)
		}
		if err != nil {
			return err
		}
	}
	if o.Rest == "" {
		return nil
	}
	e, err := b.Get(ctx, old)
	if err != nil {
		return err
	}
	link := layout.LinkText(record.Link{Type: "derived-from", Target: old.String()})
	rest, err := b.Add(ctx, layout.Knowledge{
		Type: e.Type, Tags: e.Fields.Tags, Confidence: e.Fields.Confidence, Content: o.Rest,
		Extra: []layout.Property{{Key: "Links", Value: link}},
	}, e.Path, false)
	if err == nil {
		w.Note("%s keeps what still holds of %s", rest.ID, old.ID)
	}
	return err
}

// NoteStanding says of an entry that was shown whether it counts, and what to read in its place.
func NoteStanding(ctx context.Context, w *cli.Work, text string) error {
	name, err := knowledgeName(ctx, w, text)
	if err != nil {
		return nil // a version that is current no more, say
	}
	stands, err := w.Reader.Standings(ctx)
	s, id := stands.Of(name), record.ShellWord(LinkEnd(name))
	switch {
	case err != nil || s.Standing == query.Current:
	case !s.By.IsZero():
		w.Note("it is superseded: filebus knowledge show %s", record.ShellWord(LinkEnd(s.By)))
	case s.Standing == query.Past:
		w.Note("it is %s", s)
	default:
		w.Note("it is %s; filebus knowledge accept %s makes it count", cli.OneLine(s.String()), id)
	}
	return err
}

type knowledgeReview struct {
	cli.Page
}

// ReviewJSON is what a command prints with --json.
type ReviewJSON struct {
	Total int          `json:"total"`
	More  int          `json:"more,omitempty"`
	Items []ReviewItem `json:"items"`
}

// A ReviewItem is an entry that somebody is to decide about, with what it is to be compared with.
type ReviewItem struct {
	ID      string   `json:"id"`
	Why     string   `json:"why"` // proposed, contradicts, alike or due
	Text    string   `json:"text"`
	Other   string   `json:"other,omitempty"` // the entry that it contradicts, or is like
	Against string   `json:"against,omitempty"`
	Try     []string `json:"try"` // commands that decide
}

// mostCompared is how many entries are compared with all others, the first of a list.
const mostCompared = 200

// Review returns what somebody is to decide about: what is proposed, what contradicts something else that counts, what
// says nearly the same, and what is past its date of review. Nothing is decided by that.
func Review(ctx context.Context, w *cli.Work) (items []ReviewItem, err error) {
	b := Knowledge(w)
	all, _, err := w.Reader.Knowledge(ctx, query.KnowledgeRequest{Filter: record.Filter{Trees: []record.Tree{""}}})
	texts, entries := map[record.Name]string{}, map[record.Name]noun.Entry[layout.Knowledge]{}
	err = cmp.Or(err, query.EachOf(ctx, w.Reader, all, func(tx *store.Tx, k query.Knowledge) error {
		texts[k.Name] = k.Line()
		if e, headErr := b.Head(tx, k.Name); headErr == nil { // it is no whole file, say
			entries[k.Name] = e
		}
		return nil
	}))
	alike := b.Among(slices.Collect(maps.Values(entries)))
	add := func(k query.Knowledge, why string, other record.Name) {
		id := record.ShellWord(LinkEnd(k.Name))
		i := ReviewItem{ID: LinkEnd(k.Name), Why: why, Text: k.Line(), Try: []string{"filebus knowledge accept " + id, "filebus knowledge reject " + id + " --because TEXT"}}
		if !other.IsZero() {
			i.Other, i.Against = LinkEnd(other), texts[other]
			end := record.ShellWord(i.Other)
			i.Try = append(i.Try, "filebus knowledge supersede "+end+" "+id, "filebus knowledge link "+id+" relates-to "+end)
		}
		items = append(items, i)
	}
	for n, k := range all {
		if k.Standing == query.Proposed {
			add(k, "proposed", record.Name{})
		}
		if !k.Due.IsZero() {
			add(k, "due", record.Name{})
		}
		for _, l := range k.Version.Record.Links {
			if other, parseErr := record.ParseName(l.Target); parseErr == nil && l.Type == "contradicts" && texts[other] != "" {
				add(k, "contradicts", other)
			}
		}
		e, isRead := entries[k.Name]
		if n >= mostCompared || !k.Name.IsEntry() || !isRead {
			continue
		}
		b.Fields.Clean(&e.Fields)
		for _, l := range alike(&e.Fields) {
			other := record.Name{Kind: record.KindKnowledge, ID: l.ID}
			isRelated := slices.ContainsFunc(k.Version.Record.Links, func(of record.Link) bool { return of.Target == other.String() })
			if other.ID < k.Name.ID && texts[other] != "" && !isRelated {
				add(k, "alike", other)
			}
		}
	}
	return items, err
}

func (o *knowledgeReview) Do(ctx context.Context, w *cli.Work, _ []string) error {
	items, err := Review(ctx, w)
	if err != nil {
		return err
	}
	from := min(o.Offset, len(items))
	page := items[from:]
	if o.Limit > 0 {
		page = page[:min(o.Limit, len(page))]
	}
	var text strings.Builder
	for _, i := range page {
		fmt.Fprintf(&text, "%s    %s\n", i.sides(w), strings.Join(markdown.Each(i.Try, cli.OneLine), "\n    "))
	}
	if w.InTerminal && !w.Global.JSON {
		return decide(ctx, w, page)
	}
	more := len(items) - from - len(page)
	err = w.PresentWhole("", ReviewJSON{len(items), more, append([]ReviewItem{}, page...)}, text.String())
	if err == nil && len(items) == 0 {
		w.Remark("nothing is to be decided")
	} else if err == nil {
		w.NoteRest(more, o.Next(len(page)))
	}
	return err
}

// sides shows an entry, and below it what it is to be compared with.
func (i ReviewItem) sides(w *cli.Work) string {
	text := fmt.Sprintf("%s  %s\n  %s\n", w.Bold(cli.OneLine(i.ID)), i.Why, cli.OneLine(i.Text))
	if i.Other != "" {
		text += fmt.Sprintf("%s\n  %s\n", w.Bold(cli.OneLine(i.Other)), cli.OneLine(i.Against))
	}
	return text
}

// decide asks whoever types about each item; a key and Enter decide.
func decide(ctx context.Context, w *cli.Work, items []ReviewItem) error {
	in, b := bufio.NewReader(w.In), Knowledge(w)
	ask := func(text string) string {
		fmt.Fprint(w.Err, text)
		answer, _ := in.ReadString('\n') // none is nothing
		return strings.TrimSpace(answer)
	}
	for _, i := range items {
		fmt.Fprint(w.Err, i.sides(w))
		keys := "a accept, r reject, q quit, Enter goes on: "
		if i.Other != "" {
			keys = "a accept, r reject, s supersedes " + cli.OneLine(i.Other) + ", k keep both, q quit, Enter goes on: "
		}
		name, err := knowledgeName(ctx, w, i.ID)
		other := record.Name{}
		if err == nil && i.Other != "" {
			other, err = knowledgeName(ctx, w, i.Other)
		}
		who := w.Or("", "FILEBUS_AGENT")
		switch key := ask(keys); {
		case err != nil:
		case key == "q":
			return nil
		case key == "a":
			err = b.Stand(ctx, name, query.Current, who, "")
		case key == "r":
			if why := ask("why? "); why != "" {
				err = b.Stand(ctx, name, query.Rejected, who, markdown.SingleSpaced(why))
			}
		case key == "s" && i.Other != "":
			_, err = b.Supersede(ctx, other, name)
		case key == "k" && i.Other != "":
			_, err = b.Link(ctx, name, layout.LinkRelatesTo, other)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
