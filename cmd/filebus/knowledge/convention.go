package knowledge

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"filebus/cmd/filebus/noun"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// at returns what the file at a path is.
func (b *Entries) at(p string) layout.Location { return b.Work.Settings.Profile.Recognize(p) }

// statusOf returns the status that a draft gives.
func statusOf(draft *layout.Knowledge) string {
	field := layout.KnowledgeFields().Input("status")
	return strings.Join(field.Get(draft), "")
}

// errStatus says that a convention has no word for a status.
func errStatus(at layout.Location, status string) error {
	words := at.Words("status")
	isAny := len(words) == 0 && status != "" && !strings.ContainsAny(status, "\r\n|#\"'`")
	if isAny || slices.Contains(words, strings.ToLower(status)) {
		return nil
	}
	all := cmp.Or(strings.Join(words, ", "), "a few words in one line")
	err := record.Usage.Errorf("status %q is none of %s", status, all)
	return err.Try("run it again with another --status; filebus knowledge supersede OLD NEW names what takes its place")
}

// setStatus changes the status of an entry where its file says it, and nothing else.
func (b *Entries) setStatus(ctx context.Context, p, status string) error {
	return b.Work.Amend(ctx, p, func(at layout.Location, old []byte) ([]byte, error) {
		text := at.SetFact(old, "status", status)
		if text == nil {
			err := record.Conflict.Errorf("%s states no status in a line of its own: nothing was changed", p)
			return nil, err.Try("write the line {1} below its title", "- Status: "+status)
		}
		return text, nil
	})
}

// editStatus is Edit for the file of a convention, of which only the status may be changed.
func (b *Entries) editStatus(ctx context.Context, e Entry, draft *layout.Knowledge, flags []string) error {
	at := b.at(e.Path)
	if !slices.Equal(flags, []string{"status"}) {
		return record.Conflict.Errorf("of %s filebus writes the status alone", e.Path).
			Try("change the file, or filebus knowledge edit {1} --status WORD", e.Name.String()).
			Because(materialize.ErrForeign, e.Name.ID)
	}
	status := statusOf(draft)
	if err := errStatus(at, status); err != nil {
		return err
	}
	return b.setStatus(ctx, e.Path, status)
}

// replacedBy returns what a convention writes as the status of an entry that another file of it takes the place of,
// and the path of the old one; "": nothing.
func (b *Entries) replacedBy(ctx context.Context, old, by record.Name) (p, status string) {
	from, err := b.Get(ctx, old)
	to, toErr := b.Get(ctx, by)
	if err != nil || toErr != nil || old.Tree+by.Tree != "" || path.Dir(from.Path) != path.Dir(to.Path) {
		return "", ""
	}
	return from.Path, b.at(from.Path).Replaced(b.at(to.Path), path.Base(to.Path))
}

// checkAdded reports what a convention does not write of a draft.
func (b *Entries) checkAdded(p string, draft *layout.Knowledge, flags []string) error {
	at := b.at(p)
	kind, _, _ := at.Adds()
	for _, flag := range flags {
		isWritten := slices.Contains([]string{"title", "content"}, flag) ||
			flag == "type" && draft.Type == kind || flag == "status" && at.Sets(flag)
		if !isWritten {
			return record.Usage.Errorf("--%s is nothing that %s has: a %s there is a title and its text", flag, p, kind).
				Try("run it again without --{1}", flag)
		}
	}
	if draft.Type = kind; slices.Contains(flags, "status") {
		return errStatus(at, statusOf(draft))
	}
	return nil
}

// addTo adds a text to a convention: as a file where none is, or as a section behind those of a file.
func (b *Entries) addTo(
	ctx context.Context, draft layout.Knowledge, p string, strict bool, known ...noun.Likeness,
) (Entry, error) {
	if strict && len(known) > 0 {
		return Entry{}, b.ErrKnown(known)
	}
	of, isFile, _ := b.at(p).Adds()
	if !isFile && draft.Title == "" {
		draft.Title = markdown.FirstWords(draft.Content, layout.MaxKnowledgeTitle)
	}
	name := record.Name{Kind: record.KindKnowledge, ID: record.WholeFile + p}
	err := b.Work.Amend(ctx, p, func(at layout.Location, old []byte) ([]byte, error) {
		if isFile && old != nil {
			err := record.Conflict.Errorf("%s is there already, and nothing is written over it", p)
			return nil, err.Try("run it again with another --into")
		}
		text := at.Compose(old, draft, statusOf(&draft), b.Now())
		if isFile {
			return text, nil
		}
		before, _ := at.Parse(p, old)
		after, _ := at.Parse(p, text)
		ids := markdown.Each(before.Entries(), func(e *layout.Entry) string { return e.ID })
		added := slices.DeleteFunc(after.Entries(), func(e *layout.Entry) bool { return slices.Contains(ids, e.ID) })
		if all := after.Entries(); len(added) > 1 || len(all) < len(ids) || len(all) == 0 {
			return nil, record.Usage.Errorf("the text has headings that would be %s of their own in %s", of+"s", p)
		} else if name.ID = all[len(all)-1].ID; len(added) == 1 {
			name.ID = added[0].ID
		}
		return text, nil
	})
	if err != nil {
		return Entry{}, err
	}
	return b.Get(ctx, name)
}
