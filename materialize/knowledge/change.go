package knowledge

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/query"
	"filebus/store/record"
)

// An edit makes the new text of an entry.
type edit func(f form, e Entry) ([]byte, error)

// change gives an entry of the own tree the text that an edit makes of it.
func (b *Base) change(ctx context.Context, name record.Name, rewrite edit) (Entry, error) {
	if name.Tree != "" {
		return Entry{}, errCaptured(name)
	}
	if _, err := b.Get(ctx, name); err != nil {
		return Entry{}, err
	}
	err := b.editFile(ctx, name, func(all *materialize.Entries, f form) error {
		return b.changeIn(all, f, name, rewrite)
	})
	if err != nil {
		return Entry{}, err
	}
	return b.Get(ctx, name)
}

// editFile changes the file that holds an entry.
func (b *Base) editFile(ctx context.Context, name record.Name, change func(*materialize.Entries, form) error) error {
	return b.work.EditEntries(ctx, record.KindKnowledge, name.ID, record.SourcePut,
		func(all *materialize.Entries) error {
			f, err := b.formOf(all.Path)
			if err != nil {
				return err
			}
			return change(all, f)
		})
}

// changeIn is change for a file that is being edited.
func (b *Base) changeIn(all *materialize.Entries, f form, name record.Name, rewrite edit) error {
	stored, found := all.Find(name.ID)
	if !found {
		return query.NoKnowledge(name) // it went away a moment ago
	}
	text, err := rewrite(f, b.entry(f, name, all.Path, stored.Text))
	if err == nil && string(text) != string(stored.Text) {
		all.Set(name, text)
	}
	return err
}

// Edit sets fields of an entry to what a draft says: type, title, tags, content,
// source, confidence, file, as named by flags. All other bytes stay.
func (b *Base) Edit(ctx context.Context, name record.Name, d Draft, flags []string) (Entry, error) {
	d = d.clean()
	return b.change(ctx, name, func(f form, e Entry) ([]byte, error) {
		if err := d.check(f); err != nil {
			return nil, err
		}
		if d.Content == "" && slices.Contains(flags, "content") {
			return nil, errField("content", "", "it cannot be taken away")
		}
		text := e.Text
		fields := layout.Knowledge(d)
		for _, usual := range layout.KnowledgeFields().Inputs() { // the order in which they are added
			if !slices.Contains(flags, usual.Flag) {
				continue
			}
			field := f.Input(usual.Flag)
			values := field.Get(&fields)
			if field.Flag == "title" && e.Fields.ID == "" {
				const why = "one to be changed to: the id of the entry is made from its title"
				return nil, errField("title", cmp.Or(d.Title, "-"), why)
			}
			if isList, _ := field.IsList(); !isList && len(values) == 0 {
				values = []string{""} // it stays as an empty field
			}
			text = f.Set(text, field.Name, values...)
		}
		return text, nil
	})
}

// Link writes a link of one of layout.LinkTypes into the entry from; the target
// may be a record of any kind. Of "supersedes" the entry that is superseded is
// told too. It reports whether the entry did not have the link. Unlink takes it
// away again.
func (b *Base) Link(ctx context.Context, from record.Name, kind string, to record.Name) (changed bool, err error) {
	if err := b.checkLink(ctx, from, kind, to); err != nil {
		return false, err
	}
	return b.relink(ctx, from, kind, to, false)
}

// Unlink takes a link away that Link has written.
func (b *Base) Unlink(ctx context.Context, from record.Name, kind string, to record.Name) (changed bool, err error) {
	return b.relink(ctx, from, kind, to, true)
}

func (b *Base) relink(
	ctx context.Context, from record.Name, kind string, to record.Name, remove bool,
) (changed bool, err error) {
	set := func(l record.Link) edit {
		return func(f form, e Entry) ([]byte, error) {
			link := f.AddLink
			if remove {
				link = f.DropLink
			}
			text := link(e.Text, l)
			changed = changed || string(text) != string(e.Text)
			return text, nil
		}
	}
	if _, err := b.change(ctx, from, set(record.Link{Type: kind, Target: to.String()})); err != nil {
		return false, err
	}
	if kind == layout.LinkSupersedes && to.Tree == "" && to.Kind == record.KindKnowledge {
		_, err = b.change(ctx, to, set(record.Link{Type: layout.LinkSupersededBy, Target: from.String()}))
	}
	return changed, err
}

// checkLink reports what keeps two entries from being linked.
func (b *Base) checkLink(ctx context.Context, from record.Name, kind string, to record.Name) error {
	switch {
	case from.Tree != "":
		return errCaptured(from)
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
	superseded, err := b.read.Superseded(ctx)
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
func (b *Base) Supersede(ctx context.Context, old, by record.Name) (changed bool, err error) {
	if err := b.checkOld(ctx, old, by); err != nil {
		return false, err
	}
	return b.Link(ctx, by, layout.LinkSupersedes, old)
}

func (b *Base) checkOld(ctx context.Context, old, by record.Name) error {
	superseded, err := b.read.Superseded(ctx)
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
func (b *Base) SupersedeWith(ctx context.Context, old record.Name, d Draft) (Entry, error) {
	if old.Tree != "" {
		return Entry{}, errCaptured(old)
	}
	if err := b.checkOld(ctx, old, record.Name{}); err != nil {
		return Entry{}, err
	}
	before, err := b.Get(ctx, old)
	if err != nil {
		return Entry{}, err
	}
	d = d.from(before).clean()
	link := layout.LinkText(record.Link{Type: layout.LinkSupersedes, Target: old.String()})
	d.Extra = append(slices.Clone(d.Extra), layout.Property{Key: "Links", Value: link})
	var name record.Name
	err = b.editFile(ctx, old, func(all *materialize.Entries, f form) error {
		if err := d.checkNew(f); err != nil {
			return err
		}
		if name, err = b.insert(all, f, d); err != nil {
			return err
		}
		return b.changeIn(all, f, old, func(f form, e Entry) ([]byte, error) {
			for _, l := range e.Fields.Links() { // another process was faster
				if l.Type == layout.LinkSupersededBy {
					by, _ := record.ParseName(l.Target)
					return nil, errSuperseded(old, by)
				}
			}
			return f.AddLink(e.Text, record.Link{Type: layout.LinkSupersededBy, Target: name.String()}), nil
		})
	})
	if err != nil {
		return Entry{}, err
	}
	return b.added(ctx, name, before.Path)
}

// from fills in what a draft leaves to the entry that it supersedes.
func (d Draft) from(e Entry) Draft {
	d.Type = cmp.Or(d.Type, e.Type)
	if len(d.Tags) == 0 {
		d.Tags = e.Fields.Tags
	}
	if c := word(e.Fields.Confidence); d.Confidence == "" && slices.Contains(Confidences(), c) {
		d.Confidence = c
	}
	return d
}
