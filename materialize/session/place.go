package session

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// find returns the version that a reference of a record means, as it was at the
// position, and what is gone of it. If neither is set, nothing shows that a record
// was meant.
func (g *gatherer) find(tx *store.Tx, by *record.Record, c reference) (v store.Version, lost Gone, err error) {
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
func (g *gatherer) form(tx *store.Tx, by *record.Record, form string) (v store.Version, gone Gone, err error) {
	if prefix, ok := record.ParsePrefix(form); ok {
		ref, err := tx.Resolve(prefix)
		var ambiguous *store.AmbiguousError
		switch {
		case err == nil:
			return g.byRef(tx, ref)
		case errors.As(err, &ambiguous), errors.Is(err, store.ErrNotFound):
			return v, gone, nil // one of many numbers that are no references
		case errors.Is(err, store.ErrDropped):
			return v, Gone{What: form, Reason: destroyed}, nil
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
func (g *gatherer) byRef(tx *store.Tx, ref record.Ref) (head store.Version, gone Gone, err error) {
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
func (g *gatherer) byName(tx *store.Tx, tree record.Tree, name record.Name) (v store.Version, gone Gone, err error) {
	names := []record.Name{name}
	if name.Tree == "" && tree != "" {
		names = []record.Name{{Tree: tree, Kind: name.Kind, ID: name.ID}, name}
	}
	for _, name := range names {
		if v, err = tx.HeadAt(name, g.Position); !query.IsAbsent(err) {
			return v, Gone{}, err
		}
		events, err := tx.History(name)
		if err != nil {
			return v, gone, err
		}
		for _, e := range events {
			if e.Position > g.Position {
				break
			}
			gone = Gone{What: name.String(), Reason: "retired"}
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
	for ref, err := range tx.Lookup(store.FieldPath, value) {
		if err != nil {
			return store.Version{}, err
		}
		v, err := tx.Get(ref)
		if err == nil && v.Position > g.Position {
			v, err = tx.HeadAt(v.Record.Name, g.Position)
		}
		if !query.IsAbsent(err) {
			return v, err
		}
	}
	return store.Version{}, nil
}

// mostFolders bounds how many folders above a record a path is looked up in.
const mostFolders = 12

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
	folder := path.Dir(by.Path)
	isAbsolute := strings.HasPrefix(form, "/") || strings.HasPrefix(form, "~/")
	switch {
	case isAbsolute:
		for _, candidate := range g.absolute(form) {
			add(candidate)
		}
	case strings.Contains(form, "/"):
		if strings.HasPrefix(form, "./") || strings.HasPrefix(form, "../") {
			add(path.Join(folder, form))
		}
		add(form)
		for n := 0; n < mostFolders && folder != "." && folder != "/"; n++ {
			add(path.Join(folder, form))
			folder = path.Dir(folder)
		}
	default:
		add(path.Join(folder, form))
		add(form)
	}
	for _, candidate := range paths[:len(paths):len(paths)] {
		if !isAbsolute {
			add(toggleDot(candidate))
		}
	}
	for i, candidate := range paths {
		paths[i] = store.PathValue(by.Name.Tree, candidate)
	}
	return paths
}

// toggleDot returns a path with a dot before its first folder, or without it.
func toggleDot(p string) string {
	if rest, found := strings.CutPrefix(p, "."); found {
		return rest
	}
	return "." + p
}

// absolute returns the stored paths that an absolute path, or one below the home
// folder, may have.
func (g *gatherer) absolute(form string) []string {
	if strings.HasPrefix(form, "~/") {
		return []string{form}
	}
	var paths []string
	w := g.registry.w
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

// unknown says of a citation that leads nowhere whether it was meant as one of
// something stored: a name, a path that a layout knows, or a link.
func (g *gatherer) unknown(by *record.Record, c reference) (gone Gone) {
	form := c.plain()
	isPattern := strings.ContainsAny(form, "*?${}<>\n") || strings.Contains(form, "...") || strings.HasSuffix(form, "/")
	if isPattern || !c.isMeant(g, form) {
		return gone
	}
	gone = Gone{What: c.Text, Reason: notStored}
	if by.Name.Tree == "" {
		gone.files = g.values(by, form)
	}
	return gone
}

// Why something is left out.
const (
	notStored = "it is not stored"
	destroyed = "its content was destroyed"
)

// isFile reports whether a path at which something could lie is that of a file in the
// workspace.
func (g *gatherer) isFile(value string) bool {
	below := strings.TrimPrefix(value, ":")
	info, err := os.Stat(g.registry.w.FilePath(below))
	return err == nil && info.Mode().IsRegular() && !strings.HasPrefix(below, "~/") &&
		!strings.HasPrefix(below, "file:")
}

// isMeant reports whether a citation can hardly mean anything but something that
// is stored.
func (c reference) isMeant(g *gatherer, form string) bool {
	if c.Link {
		return true
	}
	if name, err := record.ParseName(form); err == nil {
		return strings.ContainsAny(name.ID, "/0123456789") // note/comment are two words
	}
	if strings.HasPrefix(form, "/") {
		form = g.absolute(form)[0]
	}
	form = path.Clean(form)
	isRoot := strings.Contains("/"+form, "/.") || strings.HasPrefix(form, "~/") || strings.HasPrefix(form, "file:")
	return isRoot && record.CheckID(form) == nil && hasExtension(form) &&
		g.registry.w.Settings.Profile.Recognize(form).Kind != record.KindNote
}
