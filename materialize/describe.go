package materialize

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// DescriberVersion is raised when describe gives other answers: descriptions
// with an older version can be made again from the bodies.
const DescriberVersion = 2

// DescribeLimit is how much of a large body is looked at, in bytes: titles and
// previews stand at the beginning.
const DescribeLimit = 1 << 20

// A sample is what of a text is looked at to describe it: all of it, or the
// beginning of a large one with the figures of the whole.
type sample struct {
	text  []byte
	words int
}

func sampleOf(text []byte) sample { return sample{text, markdown.Words(text)} }

// describe derives what is shown of a body of size bytes: facts that its layout
// read win over what any text has.
func describe(s sample, size int64, facts layout.Facts, preview int) record.Description {
	text := s.text
	d := record.Description{
		Version: DescriberVersion,
		Title:   facts.Title,
		Preview: markdown.Clip(facts.Summary, preview),
		Words:   s.words,
		Tokens:  record.EstimateTokens(size),
	}
	if markdown.IsBinary(text) {
		d.Words = 0 // what stands between its white space is no word
	}
	if d.Title == "" {
		d.Title = markdown.Title(text)
	}
	if d.Preview == "" {
		d.Preview = markdown.Preview(text, preview)
	}
	if len(facts.Attributes) > 0 {
		d.Attributes = maps.Clone(facts.Attributes)
	}
	return d
}

// describePut derives what is shown of a text that was put. The preview of a
// result begins with how its command ended, unless that went well, and says
// something of any output: a parent agent has nothing else to go by.
func (w *Workspace) describePut(r PutRequest, text preparedText, facts layout.Facts) record.Description {
	limit := r.Preview
	if limit == 0 {
		limit = w.Settings.Preview
	}
	about, size := text.sample, text.body.Size
	if r.About != nil {
		about, size = sampleOf(r.About), int64(len(r.About))
	}
	d := describe(about, text.body.Size, facts, limit)
	if r.Kind != record.KindResult {
		return d
	}
	if d.Preview == "" {
		d.Preview = EmptyPreview(about.text, size)
	}
	if note := outcomeNote(facts.Status, r.Exit); note != "" {
		d.Preview = markdown.Clip(strings.TrimSpace(note+" "+d.Preview), max(limit, utf8.RuneCountInString(note)))
	}
	return d
}

// EmptyPreview says what a text is in which nothing is to be read, in place of a
// preview. The text is the beginning of one of size bytes.
func EmptyPreview(text []byte, size int64) string {
	switch {
	case markdown.IsBinary(text):
		return fmt.Sprintf("(binary, %d bytes)", size)
	case size > DescribeLimit:
		return fmt.Sprintf("(no text in the first %d of %d bytes)", DescribeLimit, size)
	}
	return "(no output)"
}

// outcomeNote returns what the preview of a result begins with when its command
// did not end well: "[failed, exit 3]".
func outcomeNote(status string, exit *int) string {
	switch status {
	case "", StatusDone:
		if exit == nil || *exit == 0 {
			return ""
		}
		status = StatusFailed
	case StatusFailed, StatusTimeout, StatusKilled, StatusInterrupted, StatusInvalid:
	default: // a word of the agent's own
		return ""
	}
	if exit == nil || *exit == 0 {
		return "[" + status + "]"
	}
	return fmt.Sprintf("[%s, exit %d]", status, *exit)
}

// The statuses of results whose command filebus has run. Their text is stored.
const (
	StatusDone        = "done"        // it ended with exit code 0
	StatusFailed      = "failed"      // with another
	StatusTimeout     = "timeout"     // it was ended because its time was over
	StatusKilled      = "killed"      // a signal ended it
	StatusInterrupted = "interrupted" // filebus itself was ended: what came until then
	StatusInvalid     = "invalid"     // the output does not fit its schema
)

// envelope makes a record of what path and text say about an entry.
func envelope(name record.Name, path string, facts layout.Facts, source record.Source) record.Record {
	return record.Record{
		Name:         name,
		Path:         path,
		MediaType:    mediaType(path),
		Agent:        word(facts.Agent),
		Conversation: word(facts.Conversation),
		Session:      word(facts.Session),
		Run:          word(facts.Run),
		Loop:         word(facts.Loop),
		Task:         word(facts.Task),
		Status:       word(facts.Status),
		Tags:         tags(facts.Tags),
		Links:        links(name.Tree, facts.Links),
		Source:       source,
	}
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

func tags(list []string) []string {
	var clean []string
	for _, tag := range list {
		clean = append(clean, word(tag))
	}
	return record.NormalizeTags(clean)
}

// mediaType returns the media type of a file by its extension, and nothing for
// one that is not known. It is a table of our own because the system's differs
// from machine to machine, and a record must not.
func mediaType(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown":
		return "text/markdown"
	case ".json":
		return "application/json"
	case ".jsonl":
		return "application/jsonl"
	case ".yaml", ".yml":
		return "application/yaml"
	case ".csv":
		return "text/csv"
	case ".txt", ".log", ".done", ".failed":
		return "text/plain"
	case ".patch", ".diff":
		return "text/x-diff"
	case ".html":
		return "text/html"
	case ".pdf":
		return "application/pdf"
	case ".png":
		return "image/png"
	}
	return ""
}
