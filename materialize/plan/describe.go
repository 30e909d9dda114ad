package plan

import (
	"bytes"
	"context"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/materialize/secrets"
	"filebus/store"
	"filebus/store/record"
)

// isPair finds files of data, and behind them a line that is no title.
var isPair = layout.Pattern(`(?i)\.(?:json|ya?ml|toml)\n["']?[\w.-]+["']? ?[:=] ?\S*$`)

// describerVersion is raised when describe gives other answers: descriptions
// with an older version can be made again from the bodies.
const describerVersion = 4

// Content is a text that is to be stored.
type Content struct {
	Text  []byte     // all of it, or its beginning when the body is large
	Words int        // of all of it, if Text is its beginning
	Body  store.Body // prepared, or nothing yet

	Secrets     []secrets.Match // that stand in it, the first of them, as far as somebody has looked
	SecretCount int
}

// Prepare makes sure that the body is ready to be stored.
func (c *Content) Prepare(ctx context.Context, s *store.Store) (err error) {
	if c.Body.Size == 0 {
		c.Body, err = s.Prepare(ctx, c.Text)
	}
	return err
}

// Size returns the bytes of the whole text.
func (c *Content) Size() int64 {
	if c.Body.Size > 0 {
		return c.Body.Size
	}
	return int64(len(c.Text))
}

// Digest returns the digest of the whole text.
func (c *Content) Digest() record.Digest {
	if c.Body.Size > 0 {
		return c.Body.Digest
	}
	return record.DigestOf(c.Text)
}

// describe derives what is shown of a text: its facts win over what any text has.
func describe(f File, preview int) record.Description {
	text, words, facts := f.Text, f.Words, f.Facts
	if f.About != nil {
		text, words = f.About, 0
	}
	if plain := markdown.Decode(text); words == 0 || len(plain) != len(text) {
		text, words = plain, markdown.Words(plain)
	}
	d := record.Description{
		Version: describerVersion,
		Title:   facts.Title,
		Preview: markdown.Clip(facts.Summary, preview),
		Words:   words,
		Tokens:  record.EstimateTokens(f.Size()),
	}
	if d.Title == "" {
		d.Title = markdown.Title(text)
		if isPair().MatchString(f.Path + "\n" + d.Title) {
			d.Title = path.Base(f.Path) // its first line says nothing
		}
	}
	if d.Preview == "" {
		d.Preview = markdown.Preview(layout.Readable(f.Path, text), preview)
	}
	if (d.Preview == "" || facts.Summary != "") && markdown.IsBinary(text) { // which has no preview of its own
		d.Words = 0 // what stands between its white space is no word
	}
	if len(facts.Attributes) > 0 {
		d.Attributes = maps.Clone(facts.Attributes)
	}
	return d
}

// envelope makes a record of what path and facts say about a text.
func envelope(name record.Name, f File) record.Record {
	facts := f.Facts
	r := record.Record{
		Name:         name,
		Path:         f.Path,
		MediaType:    mediaTypes[strings.ToLower(path.Ext(f.Path))],
		Agent:        word(facts.Agent),
		Conversation: word(facts.Conversation),
		Session:      word(facts.Session),
		Run:          word(facts.Run),
		Loop:         word(facts.Loop),
		Task:         word(facts.Task),
		Status:       word(facts.Status),
		Tags:         tags(facts.Tags),
		Links:        links(name.Tree, facts.Links),
		Source:       f.Source,
	}
	if !name.IsEntry() { // of which a file has several
		r.SetMode(f.Mode)
	}
	return r
}

// written returns when a text was written, and zero if nothing tells. What the text says
// comes first, then the name of its file, then what is known of the file. What a command
// has written is as old as its record, unless the text says else.
//
// Dates before 1970 or more than a day ahead are slips, or no dates of writing: the next
// one is taken.
func (w Planner) written(f File) time.Time {
	latest := w.Now().Add(24 * time.Hour)
	isSound := func(date time.Time) bool { return date.Unix() > 0 && !date.After(latest) }
	isFile := f.Source == record.SourceCapture || f.Source == record.SourceSync
	dates := slices.Clone(f.Facts.Dates)
	if created, ok := layout.ParseDate(f.Facts.Attributes[record.AttributeCreated]); ok && isFile && !f.wasThere {
		dates = append(dates, created)
	}
	if date, ok := layout.PathDate(f.Path, f.Location.Kind); ok && isFile {
		dates = append(dates, date)
	}
	if at := slices.IndexFunc(dates, isSound); at >= 0 {
		return dates[at].UTC()
	}
	if isFile && f.Changed != nil {
		if date := f.Changed(); isSound(date) {
			return date.UTC()
		}
	}
	return time.Time{}
}

// links returns the links that a text states, as they are stored: their targets
// are names in the text's own tree. No text makes itself a conflict version.
func links(tree record.Tree, stated []record.Link) []record.Link {
	var out []record.Link
	for _, l := range stated {
		if name, err := record.ParseName(l.Target); err == nil && name.Tree == "" {
			name.Tree = tree
			l.Target = name.String()
		}
		if l.Type != "" && word(l.Type) == l.Type && !strings.Contains(l.Type, " ") && l.Type != record.LinkConflict && strings.IndexByte(l.Target, 0) < 0 {
			out = append(out, l)
		}
	}
	record.SortLinks(out)
	return slices.Compact(out)
}

// maxWord is the longest field taken from a file, in bytes; what is longer is
// not an id or a tag but prose.
const maxWord = 200

// word makes a one-line field of what an agent wrote: valid UTF-8 without
// control characters, and nothing if it is too long to be a word.
func word(text string) string {
	text = strings.ToValidUTF8(text, "�")
	text = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f {
			return ' '
		}
		return r
	}, text)
	if text = strings.TrimSpace(text); len(text) > maxWord {
		return ""
	}
	return text
}

// commandTags returns the tags of a version that its text does not give, at its place: those
// that a command gave. They stay with the name.
func commandTags(tx *store.Tx, v store.Version, place layout.Location) []string {
	if len(v.Record.Tags) == 0 {
		return nil
	}
	var text []byte // of what cannot be read, all are kept
	if content, err := tx.Content(v.Record); err == nil {
		if r, err := content.Open(); err == nil {
			text, _ = io.ReadAll(io.LimitReader(r, store.InlineLimit))
			_ = r.Close() // it was read only
		}
	}
	file, _ := place.Parse(v.Record.Path, text)
	return without(v.Record.Tags, file.Entries())
}

// givenTags is commandTags for an entry of a file.
func (s *State) givenTags(f File, of Entry) []string {
	f.Content = Content{Text: s.Text(s.Frame)}
	file, _ := parseAggregate(f)
	isOther := func(e *layout.Entry) bool { return !bytes.Equal(e.Text, of.Text) }
	return without(of.Version.Record.Tags, slices.DeleteFunc(file.Entries(), isOther))
}

// without returns the tags that entries do not give.
func without(all []string, entries []*layout.Entry) []string {
	all = slices.Clone(all)
	for _, e := range entries {
		stated := tags(e.Facts.Tags)
		all = slices.DeleteFunc(all, func(tag string) bool { return slices.Contains(stated, tag) })
	}
	return all
}

func tags(list []string) []string {
	return record.NormalizeTags(markdown.Each(list, word))
}

// mediaTypes are the media types of files by their extensions. It is a table of our own
// because the system's differs from machine to machine, and a record must not.
var mediaTypes = map[string]string{
	".md": "text/markdown", ".markdown": "text/markdown",
	".json": "application/json", ".jsonl": "application/jsonl",
	".yaml": "application/yaml", ".yml": "application/yaml",
	".csv": "text/csv", ".html": "text/html", ".pdf": "application/pdf", ".png": "image/png",
	".txt": "text/plain", ".log": "text/plain", ".done": "text/plain", ".failed": "text/plain",
	".patch": "text/x-diff", ".diff": "text/x-diff",
}
