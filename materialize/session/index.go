package session

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"filebus/materialize"
	"filebus/store/record"
)

// The bounds of an index, in tokens.
const (
	DefaultIndexTokens = 2000
	MinIndexTokens     = 100
)

// A LaidOut says what was laid out of a bundle.
type LaidOut struct {
	Session  string    `json:"session"`
	Position uint64    `json:"position"` // of the log
	Time     time.Time `json:"time"`     // of that position
	Index    string    `json:"index"`    // its name in the folder
	Files    int       `json:"files"`    // without the index
	Bytes    int64     `json:"bytes"`
	Tokens   int       `json:"tokens"`   // of the files, about
	Own      int       `json:"own"`      // records of the session itself
	Others   int       `json:"others"`   // records that they refer to
	LeftOut  []Gone    `json:"left_out"` // also what a newer thing has the place of
	Notes    []string  `json:"notes,omitempty"`
}

// LayOut lays the members of a bundle out as the files they came from, in a folder
// that is new, empty, or the result of the same call, and writes an index beside
// them, last, of at most maxTokens. Members of one tree that was asked for alone
// stand at the top.
func (r *Registry) LayOut(
	ctx context.Context, b *Bundle, to string, trees []record.Tree, maxTokens int, progress func(done, total int),
) (*LaidOut, error) {
	pick := materialize.Selection{At: b.Position, Names: []record.Name{}}
	alone := len(trees) == 1
	for _, m := range b.Members {
		pick.Names = append(pick.Names, m.Version.Record.Name)
		alone = alone && m.Version.Record.Name.Tree == trees[0]
	}
	if alone {
		pick.Trees = trees
	}
	index := indexOf(b, alone)
	report, name, err := r.w.LayOutIndexed(ctx, to, pick, index.title, func(report *materialize.LayOutReport) []byte {
		index.leaveOut(report.Displaced, "a newer thing has its place")
		index.leaveOut(report.Missing, destroyed)
		return index.fit(maxTokens)
	}, progress)
	if err != nil {
		return nil, err
	}
	return &LaidOut{
		Session: b.Session, Position: b.Position, Time: b.Time, Index: name, Files: report.Files, Bytes: report.Bytes,
		Tokens: record.EstimateTokens(report.Bytes), Own: b.Own, Others: len(b.Members) - b.Own, LeftOut: index.LeftOut, Notes: b.Notes,
	}, nil
}

// An index is what INDEX.md says of a bundle.
type index struct {
	Bundle
	title string
	files []indexed // the session's own first
	own   int
}

// An indexed is a file with its line of the index.
type indexed struct {
	path    string
	kind    record.Kind
	preview string
	tokens  int
	entries int // that share the file; 1 for others
	name    string
	own     bool
}

// indexOf returns the index of a bundle, with the entries of one file together.
func indexOf(b *Bundle, alone bool) *index {
	x := &index{Bundle: *b, title: "# Files of session " + cut(safe(b.Session), 60)}
	x.LeftOut = slices.Clone(b.LeftOut)
	at := map[string]int{}
	for i, m := range b.Members {
		r := m.Version.Record
		file := indexed{r.Path, r.Name.Kind, m.Preview, m.Tokens, 1, r.Name.String(), i < b.Own}
		if !alone && r.Name.Tree != "" {
			file.path = path.Join(string(r.Name.Tree), r.Path)
		}
		before, taken := at[file.path]
		switch {
		case !taken:
			at[file.path] = len(x.files)
			x.files = append(x.files, file)
		case r.Name.Kind == record.KindFrame: // it has the entries that are there
			file.own = x.files[before].own
			x.files[before] = file
		case r.Name.Kind.IsEntry() && x.files[before].kind != record.KindFrame:
			f := &x.files[before]
			f.tokens += file.tokens
			f.preview += "; " + file.preview
			f.entries++
		}
	}
	slices.SortStableFunc(x.files, func(a, b indexed) int {
		if a.own != b.own {
			return btoi(b.own) - btoi(a.own)
		}
		return cmp.Compare(a.path, b.path)
	})
	for _, f := range x.files {
		x.own += btoi(f.own)
	}
	return x
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// leaveOut moves what was not laid out after all to what was left out.
func (x *index) leaveOut(names []string, reason string) {
	for _, name := range names {
		x.LeftOut = append(x.LeftOut, Gone{What: name, Reason: reason})
		x.files = slices.DeleteFunc(x.files, func(f indexed) bool {
			gone := f.entries == 1 && f.name == name
			x.own -= btoi(gone && f.own)
			return gone
		})
	}
}

// fit returns the text of the index, at most so many tokens of it: with shorter
// previews, then with counts by folder, then by kind, if there is no room.
func (x *index) fit(maxTokens int) []byte {
	var text string
	for _, lines := range []func() []string{
		func() []string { return x.lines(160) },
		func() []string { return x.lines(80) },
		func() []string { return x.lines(40) },
		func() []string { return x.lines(0) },
		func() []string { return x.groups(folderOf) },
		func() []string { return x.groups(topOf) },
		func() []string { return x.groups(func(indexed) string { return "" }) },
	} {
		listed := strings.Join(lines(), "")
		for _, most := range []int{len(x.LeftOut), 20, 5} {
			if text = x.head() + listed + x.tail(most); record.EstimateTokens(int64(len(text))) <= maxTokens {
				return []byte(text)
			}
		}
	}
	text = x.head() + x.tail(0)
	for record.EstimateTokens(int64(len(text))) > maxTokens { // a line at a time
		text = text[:strings.LastIndexByte(strings.TrimRight(text, "\n"), '\n')+1]
	}
	return []byte(text)
}

// head returns what stands before the lines.
func (x *index) head() string {
	tokens := 0
	for _, f := range x.files {
		tokens += f.tokens
	}
	text := fmt.Sprintf("%s\n\n%s of the session", x.title, count(x.own, "file"))
	if others := len(x.files) - x.own; others > 0 {
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
	for i, gone := range x.LeftOut {
		if i == most {
			fmt.Fprintf(&text, "- %d more\n", len(x.LeftOut)-most)
			break
		}
		text.WriteString("- " + gone.String() + "\n")
	}
	for i, note := range x.Notes {
		if i == 0 {
			text.WriteString("\n")
		}
		if i == 3 {
			fmt.Fprintf(&text, "%d more bounds were met.\n", len(x.Notes)-i)
			break
		}
		text.WriteString("Bounded: " + cut(safe(note), 300) + ".\n")
	}
	return text.String()
}

// String says on one line what is gone, why, and who refers to it.
func (g Gone) String() string {
	text := cut(safe(g.What), 200) + ": " + safe(g.Reason)
	if g.By != "" {
		text += "; " + cut(safe(g.By), 200) + " refers to it"
	}
	return text
}

// lines returns a line for each file: path, kind, tokens, preview.
func (x *index) lines(preview int) []string {
	var lines []string
	for i, f := range x.files {
		lines = append(lines, x.heading(i))
		line := fmt.Sprintf("- %s | %s", safe(f.path), f.kind)
		if f.entries > 1 {
			line += fmt.Sprintf(" ×%d", f.entries)
		}
		line += fmt.Sprintf(" | ~%d", f.tokens)
		if shown := cut(safe(strings.Join(strings.Fields(f.preview), " ")), preview); shown != "" {
			line += " | " + shown
		}
		lines = append(lines, line+"\n")
	}
	return lines
}

// heading returns the heading that stands before a file, if one does.
func (x *index) heading(i int) string {
	switch {
	case i == 0 && x.files[0].own:
		return "\n## Of the session (path, kind, tokens, preview)\n\n"
	case i == x.own:
		return "\n## Referred to\n\n"
	}
	return ""
}

// groups returns a line for each group of files: what they have in common, how
// many there are of which kinds, tokens.
func (x *index) groups(key func(indexed) string) []string {
	type group struct {
		count, tokens int
		kinds         map[record.Kind]int
	}
	found := map[string]*group{}
	var keys []string
	for _, f := range x.files {
		k := key(f)
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
		var kinds []string
		for _, kind := range record.Kinds() {
			if n := g.kinds[kind]; n > 0 {
				kinds = append(kinds, fmt.Sprintf("%d %s", n, kind))
			}
		}
		lines = append(lines, fmt.Sprintf("- %s%s (%s), ~%d\n", safe(k), count(g.count, "file"), strings.Join(kinds, ", "), g.tokens))
	}
	return lines
}

// folderOf returns the folder of a file, as the beginning of a line.
func folderOf(f indexed) string { return path.Dir(f.path) + "/: " }

// topOf returns the first two folders of a file, as the beginning of a line.
func topOf(f indexed) string {
	parts := strings.SplitN(path.Dir(f.path), "/", 3)
	return strings.Join(parts[:min(len(parts), 2)], "/") + "/: "
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
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

// cut shortens text to at most so many characters, at a space if there is one
// near.
func cut(text string, most int) string {
	if most <= 0 {
		return ""
	}
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	short := string(runes[:most-1])
	if at := strings.LastIndexByte(short, ' '); at > len(short)*2/3 {
		short = short[:at]
	}
	return strings.TrimRight(short, " ,;:") + "…"
}
