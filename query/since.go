package query

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"filebus/store/record"
)

const (
	maxMentions = 40      // files of one hit that are looked for
	maxMention  = 200     // bytes of a word that is taken for a file
	mentionHead = 4 << 10 // bytes of a text that are its beginning
)

// A Commit is a change of files, named as Hit.Files has them.
type Commit struct {
	Time  time.Time
	Files []string
}

// CountCommits fills in Hit.Commits of those hits that are of the own tree. The log returns
// the commits not older than a time that changed any of some files; it is called
// once at most, and only when a hit names files.
func CountCommits(hits []*Hit, log func(since time.Time, files []string) []Commit) {
	var since time.Time
	var files []string
	for _, h := range hits {
		if h.Name.Tree != "" || len(h.Files) == 0 {
			continue
		}
		if since.IsZero() || h.written().Before(since) {
			since = h.written()
		}
		files = append(files, h.Files...)
	}
	if len(files) == 0 {
		return
	}
	slices.Sort(files)
	commits := log(since, slices.Compact(files))
	for _, h := range hits {
		if h.Name.Tree == "" {
			h.Commits = h.countCommits(commits)
		}
	}
}

// Date returns when the text of the hit was written, if that is known, else when it was
// stored.
func (h *Hit) Date() time.Time { return (&record.Record{Time: h.Time, Written: h.Written}).Date() }

// written returns when the hit's text was surely written.
func (h *Hit) written() time.Time { return endOf(h.Date()) }

// endOf returns the end of the day of a date that has no time: what happened on that day
// may have come before the text.
func endOf(date time.Time) time.Time {
	if date.Equal(date.UTC().Truncate(24 * time.Hour)) {
		return date.Add(24*time.Hour - 1)
	}
	return date
}

// countCommits counts the commits after the hit's text that changed a file that it
// names.
func (h *Hit) countCommits(commits []Commit) (n int) {
	written := h.written()
	for _, c := range commits {
		named := func(file string) bool { return slices.Contains(h.Files, file) }
		if c.Time.After(written) && slices.ContainsFunc(c.Files, named) {
			n++
		}
	}
	return n
}

// mentions returns the words of a text that may be files, each once: paths with a
// slash, and names with an extension that files of programs and documents have.
// The record's own path is none.
func mentions(text []byte, own string) []string {
	var files []string
	isOutside := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("./_-@+~", r)
	}
	for piece := range bytes.FieldsFuncSeq(text, isOutside) {
		if !bytes.ContainsAny(piece, "./") {
			continue
		}
		word := strings.TrimRight(strings.TrimPrefix(string(piece), "./"), "./-+")
		if len(word) <= maxMention && mayBeFile(word) && word != own && !slices.Contains(files, word) {
			files = append(files, word)
		}
		if len(files) == maxMentions {
			break
		}
	}
	return files
}

// mayBeFile reports whether a word looks like a file below the workspace.
func mayBeFile(word string) bool {
	base := path.Base(word)
	if strings.Contains(strings.TrimLeft(word, "/"), "/") && !strings.HasPrefix(word, "/") {
		return strings.Trim(base, ".") != ""
	}
	extension := strings.ToLower(strings.TrimPrefix(path.Ext(base), "."))
	return base == word && len(extension) < len(base)-1 && slices.Contains(fileExtensions(), extension)
}

// fileExtensions are those by which a word without a slash is taken for a file:
// "main.go", and not "e.g" or "window.open".
func fileExtensions() []string {
	return []string{
		"bash", "c", "cc", "cfg", "conf", "cpp", "cs", "css", "csv", "dart", "ex", "exs", "go", "gradle", "graphql", "h", "hpp", "hs",
		"html", "ini", "ipynb", "java", "js", "json", "jsx", "kt", "less", "lock", "lua", "md", "mdx", "mjs", "ml", "mod", "php", "pl",
		"properties", "proto", "ps1", "py", "r", "rb", "rs", "rst", "sass", "scala", "scss", "sh", "sql", "sum", "svelte", "svg", "swift",
		"tex", "tf", "toml", "ts", "tsx", "txt", "vue", "xml", "yaml", "yml", "zig",
	}
}
