package knowledge

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"filebus/cmd/filebus/noun"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store/record"
)

// Link writes a link of one of layout.LinkTypes into the entry from; the target
// may be a record of any kind. Of "supersedes" the entry that is superseded is
// told too. It reports whether the entry did not have the link. Unlink takes it
// away again.
func (b *Entries) Link(ctx context.Context, from record.Name, kind string, to record.Name) (changed bool, err error) {
	if err := b.checkLink(ctx, from, kind, to); err != nil {
		return false, err
	}
	return b.relink(ctx, from, kind, to, layout.KnowledgeForm.AddLink)
}

// Unlink takes a link away that Link has written.
func (b *Entries) Unlink(ctx context.Context, from record.Name, kind string, to record.Name) (changed bool, err error) {
	return b.relink(ctx, from, kind, to, layout.KnowledgeForm.DropLink)
}

// A linking writes a link into the text of an entry, or takes it away.
type linking func(f layout.KnowledgeForm, text []byte, l record.Link) []byte

func (b *Entries) relink(ctx context.Context, from record.Name, kind string, to record.Name, link linking) (changed bool, err error) {
	set := func(of record.Name, l record.Link) error {
		if err := b.own(ctx, of); err != nil {
			return err
		}
		_, err := b.Change(ctx, of.ID, func(f layout.EntryForm[layout.Knowledge], e noun.Entry[layout.Knowledge]) ([]byte, error) {
			text := link(f.(layout.KnowledgeForm), e.Text, l)
			changed = changed || string(text) != string(e.Text)
			return text, nil
		})
		return err
	}
	err = set(from, record.Link{Type: kind, Target: to.String()})
	if err == nil && kind == layout.LinkSupersedes && b.isWritten(ctx, to) {
		err = set(to, record.Link{Type: layout.LinkSupersededBy, Target: from.String()})
	}
	return changed, err
}

// isWritten reports whether an entry stands in a file that filebus writes, and so is told what supersedes it.
func (b *Entries) isWritten(ctx context.Context, name record.Name) bool {
	e, err := b.Get(ctx, name)
	return name.Tree == "" && name.IsEntry() && (err != nil || !b.Work.Settings.Profile.Recognize(e.Path).IsForeign())
}

// checkLink reports what keeps two entries from being linked.
func (b *Entries) checkLink(ctx context.Context, from record.Name, kind string, to record.Name) error {
	switch {
	case from == to:
		return errLink(from, kind, to, "it is the same entry")
	case !slices.Contains(layout.LinkTypes(), kind):
		types := strings.Join(layout.LinkTypes(), ", ")
		return record.Usage.Errorf("link %q is not one of %s", kind, types).Try("filebus knowledge link A supersedes B")
	case kind == layout.LinkSupersedes && to.Kind != record.KindKnowledge:
		return errLink(from, kind, to, "it is no entry of knowledge")
	case kind != layout.LinkSupersedes:
		return nil
	}
	superseded, err := b.Read.Superseded(ctx)
	if err != nil {
		return err
	}
	seen := map[record.Name]bool{}
	for at := from; !at.IsZero() && !seen[at]; at = superseded[at] {
		if at == to {
			return errLink(from, kind, to, "it is superseded by it already")
		}
		seen[at] = true
	}
	return nil
}

// Supersede lets one entry take the place of an older one. An older one that
// another has superseded is refused.
func (b *Entries) Supersede(ctx context.Context, old, by record.Name) (changed bool, err error) {
	if err := b.checkOld(ctx, old, by); err != nil {
		return false, err
	}
	if p, status := b.replacedBy(ctx, old, by); status != "" {
		err := b.checkLink(ctx, by, layout.LinkSupersedes, old)
		if err == nil {
			err = b.setStatus(ctx, p, status)
		}
		return err == nil, err
	}
	return b.Link(ctx, by, layout.LinkSupersedes, old)
}

func (b *Entries) checkOld(ctx context.Context, old, by record.Name) error {
	superseded, err := b.Read.Superseded(ctx)
	if err != nil {
		return err
	}
	if other := superseded[old]; !other.IsZero() && other != by {
		return errSuperseded(old, other)
	}
	return nil
}

// SupersedeWith adds an entry to the file of an older one, and lets it take its
// place, in one change. Type, tags and confidence that the draft does not say it has
// from the older one.
func (b *Entries) SupersedeWith(ctx context.Context, old record.Name, draft layout.Knowledge) (Entry, error) {
	if err := cmp.Or(b.own(ctx, old), b.checkOld(ctx, old, record.Name{})); err != nil {
		return Entry{}, err
	}
	before, err := b.Get(ctx, old)
	if err != nil {
		return Entry{}, err
	}
	draft.Type = cmp.Or(draft.Type, before.Type)
	if len(draft.Tags) == 0 {
		draft.Tags = before.Fields.Tags
	}
	if was := strings.ToLower(before.Fields.Confidence); draft.Confidence == "" && slices.Contains(layout.Confidences(), was) {
		draft.Confidence = was
	}
	link := layout.LinkText(record.Link{Type: layout.LinkSupersedes, Target: old.String()})
	draft.Extra = append(slices.Clone(draft.Extra), layout.Property{Key: "Links", Value: link})
	var name record.Name
	err = b.Work.EditEntries(ctx, record.KindKnowledge, old.ID, record.SourcePut, func(file *materialize.Entries) error {
		if err := b.CheckFor(file.Path, &draft); err != nil {
			return err
		}
		if name, err = b.Insert(file, draft); err != nil {
			return err
		}
		_, err := b.ChangeIn(file, old.ID, func(f layout.EntryForm[layout.Knowledge], e noun.Entry[layout.Knowledge]) ([]byte, error) {
			for _, l := range e.Fields.Links() { // another process was faster
				if l.Type == layout.LinkSupersededBy {
					by, _ := record.ParseName(l.Target)
					return nil, errSuperseded(old, by)
				}
			}
			return f.(layout.KnowledgeForm).AddLink(e.Text, record.Link{Type: layout.LinkSupersededBy, Target: name.String()}), nil
		})
		return err
	})
	if err != nil {
		return Entry{}, err
	}
	return b.made(b.Added(ctx, before.Path, name))
}

// errLink says that two entries cannot be linked.
func errLink(from record.Name, kind string, to record.Name, why string) error {
	err := record.Usage.Errorf("%s cannot be linked as %s to %s: %s", from.ID, kind, to.ID, why)
	return err.Try("filebus knowledge related {1}", from.ID)
}

func errSuperseded(name, by record.Name) error {
	err := record.Conflict.Errorf("%s is superseded by %s already", name.ID, by.ID)
	return err.Try("filebus knowledge show {1}", by.ID)
}

func errNoHandoff(name record.Name) error {
	return record.NotFound.Errorf("%s has no handoff yet", name).Try("filebus get {1}", name.String())
}
