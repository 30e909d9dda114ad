package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"filebus/materialize"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// DefaultIndexTokens bounds an index where nobody says how long it may be.
const DefaultIndexTokens = 2000

// A LaidOut says what was laid out of a bundle.
type LaidOut struct {
	Session  string    `json:"session"`
	Position uint64    `json:"position"` // of the log
	Time     time.Time `json:"time"`     // of that position
	Index    string    `json:"index"`    // its name in the folder
	Files    int       `json:"files"`    // without the index
	Bytes    int64     `json:"bytes"`
	Tokens   int       `json:"tokens"`          // of the files, about
	Own      int       `json:"own"`             // records of the session itself
	Others   int       `json:"others"`          // records that they refer to
	LeftOut  []loss    `json:"left_out"`        // also what a newer thing has the place of
	Notes    []string  `json:"notes,omitempty"` // which bounds were met
}

// LayOut lays the members of a bundle out as the files they came from, in a folder
// that is new, empty, or the result of the same call, and writes an index beside
// them, last, of at most maxTokens. Members of one tree that was asked for alone
// stand at the top.
func (r *Sessions) LayOut(
	ctx context.Context, b *Bundle, to string, trees []record.Tree, maxTokens int, progress func(done, total int),
) (*LaidOut, error) {
	pick := materialize.Selection{At: b.Position, Names: []record.Name{}, Partial: b.partial}
	alone := len(trees) == 1
	for _, m := range b.Members {
		if m.Version.Ref.IsZero() {
			pick.Files = append(pick.Files, m.Version.Record.Path)
		} else {
			pick.Names = append(pick.Names, m.Version.Record.Name)
		}
		alone = alone && m.Version.Record.Name.Tree == trees[0]
	}
	if alone {
		pick.Trees = trees
	}
	index := indexOf(b, alone)
	report, name, err := r.w.LayOutIndexed(ctx, to, pick, index.title, func(report *materialize.LayOutReport) []byte {
		index.leaveOut(report.Displaced, "a newer record has its path")
		index.leaveOut(report.Missing, destroyed)
		index.leaveOut(report.Protected, "its path leads into .git or .filebus, or is another record's")
		index.leaveOut(report.Damaged, "it is damaged")
		return index.fit(maxTokens)
	}, progress)
	if err != nil {
		return nil, err
	}
	out := b.LaidOut
	out.Index, out.Files, out.Bytes, out.Tokens = name, report.Files, report.Bytes, record.EstimateTokens(report.Bytes)
	out.Others, out.LeftOut = len(b.Members)-b.Own, index.LeftOut
	return &out, nil
}

// indexHead is how many tokens an index has beside its lines, about.
const indexHead = 50

// HasRoom reports whether a text has room with an index of it alone.
func HasRoom(tokens int, tree record.Tree, path string, room int) bool {
	return indexHead+tokensOf(tokens, tree, path) <= room
}

// tokensOf returns how many tokens a text takes with its line of an index, about.
func tokensOf(tokens int, tree record.Tree, path string) int {
	return tokens + record.EstimateTokens(int64(len(tree)+len(path)+40))
}

// Choose returns the texts of some names, best first, as many as have room with their index in so many tokens. The index
// has cut too, a part of what has no room as a whole.
func (r *Sessions) Choose(ctx context.Context, names []record.Name, pick materialize.Selection, room int, cut string) (*Bundle, error) {
	g, err := r.begin(ctx, GatherRequest{Pick: pick})
	if err != nil {
		return nil, err
	}
	g.cut, g.IndexTokens = cut, indexHead+record.EstimateTokens(int64(len(cut)))
	room -= g.IndexTokens
	err = query.EachOf(ctx, r.read, names, func(tx *store.Tx, name record.Name) error {
		v, err := tx.HeadAt(name, g.Position)
		switch {
		case errors.Is(err, store.ErrNotFound) || err == nil && (v.Record.Path == "" || !pick.Accepts(v.Record)):
			return nil
		case err != nil:
			return err
		}
		tokens := record.EstimateTokens(v.Record.Size)
		if all := tokensOf(tokens, name.Tree, v.Record.Path); all <= room {
			room -= all
			g.IndexTokens += all - tokens
			return g.add(tx, v, 0)
		}
		g.leaveOut(loss{What: name.String(), Reason: "it has no room in --max-tokens", Inexact: true})
		return nil
	})
	g.Own, g.IndexTokens = len(g.Members), min(g.IndexTokens+max(room, 0), max(g.IndexTokens, DefaultIndexTokens))
	g.noteBounds()
	return g.Bundle, err
}

// An index is what INDEX.md says of a bundle.
type index struct {
	Bundle
	title string
	files []indexed // the session's own first
}

// An indexed is a file with its line of the index.
type indexed struct {
	path     string
	kind     record.Kind
	preview  string
	tokens   int
	names    []string // several where entries share a file
	referred int      // 0: it is the session's own; 1: that refers to it
}

// indexOf returns the index of a bundle, with the entries of one file together.
func indexOf(b *Bundle, alone bool) *index {
	title := strings.TrimSuffix("# Files of session "+markdown.Clip(safe(b.Session), 60), " of session ")
	x := &index{Bundle: *b, title: title}
	x.LeftOut = slices.Clone(b.LeftOut)
	at := map[string]int{}
	for i, m := range b.Members {
		r := m.Version.Record
		file := indexed{r.Path, r.Name.Kind, m.Preview, m.Tokens, []string{r.Name.String()}, 0}
		if i >= b.Own {
			file.referred = 1
		}
		if !alone && r.Name.Tree != "" {
			file.path = path.Join(string(r.Name.Tree), r.Path)
		}
		before, taken := at[file.path]
		if !taken {
			at[file.path] = len(x.files)
			x.files = append(x.files, file)
			continue
		}
		switch have := &x.files[before]; {
		case file.kind == record.KindFrame: // it has the entries that are there
			file.referred = have.referred
			*have = file
		case file.kind.IsEntry() && have.kind != record.KindFrame:
			have.tokens += file.tokens
			have.preview += "; " + file.preview
			have.names = append(have.names, file.names...)
		}
	}
	slices.SortStableFunc(x.files, func(a, b indexed) int {
		return cmp.Or(a.referred-b.referred, min(len(x.Session), 1)*cmp.Compare(a.path, b.path))
	})
	return x
}

// sums returns how many files are not the session's own, and the tokens of all.
func (x *index) sums() (others, tokens int) {
	for _, f := range x.files {
		others += f.referred
		tokens += f.tokens
	}
	return others, tokens
}

// leaveOut moves what was not laid out after all to what was left out.
func (x *index) leaveOut(names []string, reason string) {
	for _, name := range names {
		x.LeftOut = append(x.LeftOut, loss{What: name, Reason: reason})
		x.files = slices.DeleteFunc(x.files, func(f indexed) bool { return len(f.names) == 1 && f.names[0] == name })
	}
}

// fit returns the text of the index, at most so many tokens of it: with shorter
// previews, then with counts by folder, then by kind, if there is no room.
func (x *index) fit(maxTokens int) []byte {
	var forms []func() []string
	for _, preview := range []int{160, 80, 40, 0} {
		forms = append(forms, func() []string { return x.lines(preview) })
	}
	for _, depth := range []int{math.MaxInt, 2, 0} {
		forms = append(forms, func() []string { return x.groups(depth) })
	}
	isShort := func(text string) bool { return record.EstimateTokens(int64(len(text))) <= maxTokens }
	most := []int{len(x.LeftOut), 20, 5, 0}
	for i, lines := range forms {
		listed := strings.Join(lines(), "")
		for _, most := range most[:3+min(1, i/3)] { // previews are given up first
			if text := x.head() + listed + x.tail(most); isShort(text) {
				return []byte(text)
			}
		}
	}
	text := x.head() + x.tail(0)
	for !isShort(text) { // a line at a time
		text = text[:strings.LastIndexByte(strings.TrimRight(text, "\n"), '\n')+1]
	}
	return []byte(text)
}

// head returns what stands before the lines.
func (x *index) head() string {
	others, tokens := x.sums()
	text := fmt.Sprintf("%s\n\n%s", x.title, markdown.CountOf(len(x.files)-others, "file"))
	if others > 0 {
		text += fmt.Sprintf(", %d that they refer to", others)
	}
	return text + fmt.Sprintf(", ~%d tokens, as of position %d of the log (%s).\n",
		tokens, x.Position, x.Time.UTC().Format(time.RFC3339))
}

// tail returns what stands behind the lines: what was left out, at most so many
// things by name, and the bounds that were met.
func (x *index) tail(most int) string {
	var text strings.Builder
	if len(x.LeftOut) > 0 {
		text.WriteString("\n## Left out\n\n")
	}
	for _, gone := range x.LeftOut[:min(most, len(x.LeftOut))] {
		text.WriteString("- " + gone.String() + "\n")
	}
	if more := len(x.LeftOut) - most; more > 0 {
		fmt.Fprintf(&text, "- %d more\n", more)
	}
	if len(x.Notes) > 0 {
		text.WriteString("\n")
	}
	for _, note := range x.Notes[:min(3, len(x.Notes))] {
		text.WriteString("Bounded: " + markdown.Clip(safe(note), 300) + ".\n")
	}
	if more := len(x.Notes) - 3; more > 0 {
		fmt.Fprintf(&text, "%d more limits were reached.\n", more)
	}
	if x.cut != "" {
		text.WriteString("\n## The best, in part\n\n" + x.cut)
	}
	return text.String()
}

// String says on one line what is gone, why, and who refers to it.
func (g loss) String() string {
	text := markdown.Clip(safe(g.What), 200) + ": " + safe(g.Reason)
	if g.By != "" {
		text += "; " + markdown.Clip(safe(g.By), 200) + " refers to it"
	}
	return text
}

// lines returns a line for each file: path, kind, tokens, preview.
func (x *index) lines(preview int) []string {
	var lines []string
	others, _ := x.sums()
	for i, f := range x.files {
		switch {
		case i == len(x.files)-others:
			lines = append(lines, "\n## Referred to\n\n")
		case i == 0:
			lines = append(lines, "\n## Files (path, kind, tokens, preview)\n\n")
		}
		line := fmt.Sprintf("- %s | %s", safe(f.path), f.kind)
		if len(f.names) > 1 {
			line += fmt.Sprintf(" ×%d", len(f.names))
		}
		line += fmt.Sprintf(" | ~%d", f.tokens)
		if shown := safe(strings.Join(strings.Fields(f.preview), " ")); shown != "" && preview > 0 {
			line += " | " + markdown.Clip(shown, preview)
		}
		lines = append(lines, line+"\n")
	}
	return lines
}

// groups returns a line for each group of files: the first folders that they have in
// common, how many there are of which kinds, tokens.
func (x *index) groups(depth int) []string {
	type group struct {
		count, tokens int
		kinds         map[record.Kind]int
	}
	found := map[string]*group{}
	var keys []string
	for _, f := range x.files {
		k, folders := "", strings.Split(path.Dir(f.path), "/")
		if depth > 0 {
			k = strings.Join(folders[:min(len(folders), depth)], "/") + "/: "
		}
		if found[k] == nil {
			found[k] = &group{kinds: map[record.Kind]int{}}
			keys = append(keys, k)
		}
		g := found[k]
		g.count++
		g.tokens += f.tokens
		g.kinds[f.kind]++
	}
	lines := []string{"\n"}
	for _, k := range keys {
		g := found[k]
		kinds := slices.DeleteFunc(record.Kinds(), func(kind record.Kind) bool { return g.kinds[kind] == 0 })
		list := markdown.Each(kinds, func(kind record.Kind) string { return fmt.Sprintf("%d %s", g.kinds[kind], kind) })
		files := markdown.CountOf(g.count, "file")
		lines = append(lines, fmt.Sprintf("- %s%s (%s), ~%d\n", safe(k), files, strings.Join(list, ", "), g.tokens))
	}
	return lines
}

// safe returns text for one line of an index: raw bytes and control characters of
// paths are written as Go does.
func safe(text string) string {
	if utf8.ValidString(text) && strings.IndexFunc(text, unicode.IsControl) < 0 {
		return text
	}
	quoted := strconv.Quote(text)
	return quoted[1 : len(quoted)-1]
}
