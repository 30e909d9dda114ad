package noun

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// State returns the state of an entry.
func (t *Type[T]) State(e Entry[T]) string { return cmp.Or(e.Facts.Status, t.States[0]) }

// Verb returns the verb with a name, the zero one if there is none.
func (t *Type[T]) Verb(name string) Verb {
	if i := slices.IndexFunc(t.Verbs, func(v Verb) bool { return v.Name == name }); i >= 0 {
		return t.Verbs[i]
	}
	return Verb{}
}

// Change gives the entry that a user's id means the text that a rule makes of it, and
// returns the entry as it is then.
func (c *Collection[T]) Change(ctx context.Context, id string, rule func(layout.EntryForm[T], Entry[T]) ([]byte, error)) (changed Entry[T], err error) {
	at, err := c.Get(ctx, id)
	switch {
	case errors.Is(err, ErrAbsent): // it may have been written by hand just now
		at.Name.ID = ""
	case err != nil:
		return at, err
	case c.Work.Settings.Profile.Recognize(at.Path).IsForeign():
		return at, c.ErrForeign(at.Name.ID, at.Path)
	}
	err = c.Work.EditEntries(ctx, c.Kind, at.Name.ID, record.SourcePut, func(file *materialize.Entries) error {
		changed, err = c.ChangeIn(file, id, rule)
		return err
	})
	return changed, err
}

// ChangeIn is Change for a file that is being edited.
func (c *Collection[T]) ChangeIn(file *materialize.Entries, id string, rule func(layout.EntryForm[T], Entry[T]) ([]byte, error)) (e Entry[T], err error) {
	f, err := c.form(file.Path)
	if err != nil {
		return e, err
	}
	i, all := -1, c.In(file)
	for _, form := range c.IDs(id) {
		if i < 0 {
			i = slices.IndexFunc(all, func(e Entry[T]) bool { return e.Name.ID == form })
		}
	}
	if i < 0 {
		return e, c.absent(id)
	}
	text, err := rule(f, all[i])
	if err != nil || string(text) == string(all[i].Text) {
		return all[i], err
	}
	file.Set(all[i].Name, text)
	return c.Entry(all[i].Name, file.Path, text)
}

// Do does a verb to the entry that a user's id means, and returns the entry as it is then. What a
// verb may not do is an error, and changes nothing.
func (c *Collection[T]) Do(ctx context.Context, v Verb, id string, a Act) (Entry[T], error) {
	return c.Change(ctx, id, func(f layout.EntryForm[T], e Entry[T]) ([]byte, error) { return c.apply(f, v, e, a) })
}

// DoIn is Do for an entry of a file that is being edited.
func (c *Collection[T]) DoIn(file *materialize.Entries, v Verb, id string, a Act) (Entry[T], error) {
	return c.ChangeIn(file, id, func(f layout.EntryForm[T], e Entry[T]) ([]byte, error) { return c.apply(f, v, e, a) })
}

// apply returns the text of an entry after a verb.
func (c *Collection[T]) apply(f layout.EntryForm[T], v Verb, e Entry[T], a Act) ([]byte, error) {
	state, text := c.State(e), e.Text
	a.Now = c.Now()
	if c.May != nil {
		if err := c.May(e, v, a); err != nil {
			return nil, err
		}
	}
	switch isKnown := slices.Contains(c.States, state); {
	case state == v.To && !v.Again:
		return text, nil
	case state != v.To && isKnown && v.From != nil && !slices.Contains(v.From, state):
		return nil, c.ErrState(e, v)
	}
	if state != v.To {
		text = f.Set(text, "Status", v.To)
	}
	if c.Set == nil {
		return text, nil
	}
	for _, field := range c.Set(e, v, a) {
		text = f.Set(text, field[0], filled(field[1])...)
	}
	return text, nil
}

// filled returns the values of a field with one value: none where that is empty.
func filled(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

// ErrState says that the state of an entry does not allow a verb, and which one leads to
// a state that does, if it closes nothing.
func (t *Type[T]) ErrState(e Entry[T], v Verb) error {
	state, way := t.State(e), "show"
	for _, w := range slices.Backward(t.Verbs) {
		if slices.Contains(w.From, state) && t.IsOpen(w.To) && (w.To == v.To || slices.Contains(v.From, w.To)) {
			way = w.Name
		}
	}
	err := record.Conflict.Errorf("%s is %s: %s needs one that is %s", e.Name.ID, state, v.Name, strings.Join(v.From, " or "))
	return err.Try("filebus "+t.Group+" {1} {2}", way, e.Name.ID)
}

// ErrForeign says that another program keeps an entry: filebus only reads it.
func (c *Collection[T]) ErrForeign(id, path string) error {
	owner := c.Work.Settings.Profile.Recognize(path).Owner()
	err := record.Conflict.Errorf("%s is in %s, which belongs to %s: filebus reads it and never writes it", id, path, owner)
	if owner == layout.ProgramBD {
		err = err.Try("bd update {1}, or bd close {1}", id)
	}
	return err.Because(materialize.ErrForeign, id)
}

// Add adds an entry with an id that none has or had to a file, "": the one that new entries go
// to. One of those that Likely has found stands for it if it says the same. With strict set one that
// is likely to be known is refused: as one of those, or by what is in the file by now.
func (c *Collection[T]) Add(ctx context.Context, path string, draft T, strict bool, known ...Likeness) (added Entry[T], err error) {
	if path == "" {
		if path, err = c.Work.Settings.Profile.Path(c.Kind, "new"); err != nil {
			return added, err
		}
	}
	f, err := c.form(path)
	if err != nil {
		return added, err
	}
	f.Complete(&draft)
	err = c.Check(f, &draft)
	if err == nil && strict && len(known) > 0 {
		err = c.ErrKnown(known)
	}
	if err != nil {
		return added, err
	}
	for _, l := range known {
		if e, err := c.Get(ctx, l.ID); err == nil && e.Path == path && c.IsOpen(c.State(e)) && c.isSame(f, draft, e) {
			return e, nil
		}
	}
	var name record.Name
	err = c.Work.EditEntriesIn(ctx, path, record.SourcePut, func(file *materialize.Entries) error {
		if like := c.Among(c.In(file))(&draft); strict && len(like) > 0 {
			return c.ErrKnown(like)
		}
		name, err = c.Insert(file, draft)
		return err
	})
	if err != nil {
		return added, err
	}
	return c.Added(ctx, path, name)
}

// isSame reports whether an entry says all that a user can say of a draft.
func (c *Collection[T]) isSame(f layout.EntryForm[T], draft T, e Entry[T]) bool {
	if c.New(f, &draft, c.Now()) != "" {
		f.SetID(&draft, e.Name.ID)
	}
	made, err := c.Entry(e.Name, e.Path, f.Append(nil, draft))
	return err == nil && !slices.ContainsFunc(f.Inputs(), func(field layout.Field[T]) bool {
		return !slices.Equal(field.Get(&made.Fields), field.Get(&e.Fields))
	})
}

// Added reads an entry that was just added to a file. If it is not there, the file has taken
// its text as no entry.
func (c *Collection[T]) Added(ctx context.Context, path string, name record.Name) (Entry[T], error) {
	e, err := c.Get(ctx, name.ID)
	if errors.Is(err, ErrAbsent) {
		err = ErrBroken(path)
	}
	return e, err
}

// Insert adds an entry to a file that is being edited, and returns its name.
func (c *Collection[T]) Insert(file *materialize.Entries, draft T) (name record.Name, err error) {
	f, err := c.form(file.Path)
	if err != nil {
		return name, err
	}
	id := ""
	if prefix := c.New(f, &draft, c.Now()); prefix != "" {
		if id, err = file.NextID(c.Kind, prefix); err != nil {
			return name, err
		}
		f.SetID(&draft, id)
	}
	text := f.Append(nil, draft)
	if id, err = c.idIn(file, id, text); err != nil {
		return name, err
	}
	file.Add(c.Kind, id, text)
	return record.Name{Kind: c.Kind, ID: id}, nil
}

// idIn returns the id that a new entry has in its file, which may make it from the text.
func (c *Collection[T]) idIn(file *materialize.Entries, id string, text []byte) (string, error) {
	format, _ := c.Work.Settings.Profile.Recognize(file.Path).Layout.(layout.Aggregate) // its form was found
	now, _ := format.Parse(file.Path, file.Text())
	known := map[string]bool{}
	for _, old := range now.Entries() {
		known[old.ID] = true
	}
	now = format.Insert(now, layout.Entry{Kind: c.Kind, ID: id, Text: text})
	now, _ = format.Parse(file.Path, now.Append(nil))
	for _, entry := range now.Entries() {
		if !known[entry.ID] && (id == "" || entry.ID == id) {
			return entry.ID, nil
		}
	}
	return "", ErrBroken(file.Path)
}

// ErrBroken says that a file is in no state to be added to.
func ErrBroken(path string) error {
	err := record.Conflict.Errorf("%s cannot take an entry as it is: it is broken, or holds conflict markers of git", path)
	return err.Try("filebus sync --problems")
}

// Edit sets fields of the entry that a user's id means to what a draft says. The fields are named as
// their flags are. One whose value is empty is taken away.
func (c *Collection[T]) Edit(ctx context.Context, id string, draft T, flags []string) (Entry[T], error) {
	return c.Change(ctx, id, func(f layout.EntryForm[T], e Entry[T]) ([]byte, error) {
		values := draft
		if err := c.check(f, &values); err != nil {
			return nil, err
		}
		text := e.Text
		for _, lists := range []bool{false, true} { // in this order they are added
			for _, field := range f.Inputs() {
				given := field.Get(&values)
				switch isList, _ := field.IsList(); {
				case isList != lists || !slices.Contains(flags, field.Flag):
					continue
				case field.Needed && len(given) == 0:
					return nil, c.errField(field, "", "it cannot be taken away")
				}
				text = f.Set(text, field.Name, given...)
			}
		}
		return text, nil
	})
}

// check cleans the fields of a draft. The first one that has a value which it cannot have is
// an error.
func (t *Type[T]) check(f layout.EntryForm[T], draft *T) error {
	f.Clean(draft)
	if field, value, want := f.Wrong(draft); want != "" {
		return t.errField(field, value, want)
	}
	size := 0
	for _, field := range f.Inputs() {
		size += len(strings.Join(field.Get(draft), "\n"))
	}
	if size > t.Max {
		return t.ErrTooLong(size)
	}
	return nil
}

// CheckFor is Check for an entry that is to stand in a file.
func (c *Collection[T]) CheckFor(path string, draft *T) error {
	f, err := c.form(path)
	if err != nil {
		return err
	}
	return c.Check(f, draft)
}

// ErrTooLong says that an entry has too many bytes.
func (t *Type[T]) ErrTooLong(size int) error {
	err := record.Usage.Errorf("an %s of %d bytes is too long for %s, which takes %d: store the text as a result, and name that", t.Word, size, t.Place, t.Max)
	return err.Try("filebus put FILE")
}

// Check cleans what is to be a new entry, and reports what keeps it from being one.
func (t *Type[T]) Check(f layout.EntryForm[T], draft *T) error {
	err := t.check(f, draft)
	if field, is := f.Missing(draft); is {
		err = t.errField(field, "", field.Ask)
	}
	return err
}

// errField says that a value is not one for a field.
func (t *Type[T]) errField(f layout.Field[T], value, want string) error {
	const maxValue = 60 // how much of a value is named, in characters
	err := record.Usage.Errorf("%s %q is not %s", f.Flag, markdown.Clip(value, maxValue), want)
	if value == "" {
		err = record.Usage.Errorf("the %s needs a %s: %s", t.Word, f.Flag, want)
	}
	return err.Try("run it again with --{1} {2}", f.Flag, cmp.Or(f.Example, "TEXT"))
}
