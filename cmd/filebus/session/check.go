package session

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"filebus/cmd/filebus/rule"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/materialize/plan"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// A Checked says how an agent finds a file that it was told to read, by its rule: ok, missing,
// unreadable, irregular (a link, a folder, a pipe), empty, truncated, growing (or just
// written by nobody's command), changed (it is not what the store has) or open (its agent
// has not ended).
type Checked struct {
	Artifact     string   `json:"artifact,omitempty"` // "" for a file of no session
	rule.Finding          // its file is absolute
	Tokens       int      `json:"tokens"`            // about
	Stored       bool     `json:"stored"`            // the store has these bytes
	Also         []string `json:"also,omitempty"`    // artifacts that another spelling of its name has
	Readers      int      `json:"readers,omitempty"` // agents that have read it, by the log of reads
}

// Check looks at artifacts of a session as an agent would that was told to read
// them; without any, at all that the store or the folder has. It writes nothing.
func (r *Sessions) Check(ctx context.Context, key Key, artifacts []string) ([]Checked, error) {
	if err := key.checkOwn(); err != nil {
		return nil, err
	}
	s, known, err := r.known(ctx, key)
	if err != nil {
		return nil, err
	}
	if len(artifacts) == 0 {
		artifacts = slices.Sorted(maps.Keys(known))
	}
	return lookAt(ctx, r, artifacts, func(artifact string) (target, error) {
		t, err := r.targetNamed(s, known, artifact)
		if known[t.artifact].of == nil {
			t.also = append(t.also, slips(slices.Sorted(maps.Keys(known)), t.artifact)...)
		}
		return t, err
	})
}

// A target is a file to be checked.
type target struct {
	artifact string
	file     string
	name     record.Name
	of       *Session // nil for a file of no session
	also     []string // see Checked
}

// known returns a session, of which there may be but a folder, and its artifacts that the
// store or the disk has, by name.
func (r *Sessions) known(ctx context.Context, key Key) (s *Session, known map[string]target, err error) {
	if s, err = r.Read(ctx, key); errors.Is(err, ErrNoSession) {
		s, err = &Session{Key: key}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	known = map[string]target{}
	for _, a := range s.Artifacts {
		known[a.Name] = target{artifact: a.Name, file: r.w.FilePath(a.Path), name: a.Version.Record.Name, of: s}
	}
	paths, err := r.paths(key)
	for _, p := range paths {
		artifact := layout.ArtifactName(p, key.Type, key.ID)
		_, isSummary := layout.IsSummary(artifact)
		if _, found := known[artifact]; !found && !isSummary && !isOwnFile(artifact) {
			name := record.Name{Kind: record.KindArtifact, ID: r.w.Settings.Profile.Recognize(p).ID}
			known[artifact] = target{artifact: artifact, file: r.w.FilePath(p), name: name, of: s}
		}
	}
	for _, asked := range s.meta.Asked { // also what nobody has written yet
		if name := nameOf(key, asked); known[name].of == nil && checkArtifact(asked) == nil && err == nil {
			t := target{artifact: name, name: key.file(asked), of: s}
			t.file, err = r.w.PathOf(t.name)
			known[name] = t
		}
	}
	return s, known, err
}

// isOwnFile reports whether a file of a session is no agent's.
func isOwnFile(name string) bool {
	return name == layout.SessionMetaFile || name == layout.SessionLogFile
}

// paths returns what lies on disk of a session, as records have it: the files of its
// folder and, of a review, those beside the folder.
func (r *Sessions) paths(key Key) (paths []string, err error) {
	file, err := r.w.PathOf(key.file(layout.SessionMetaFile))
	if err != nil {
		return nil, err
	}
	folder := filepath.Dir(file)
	top := folder
	if layout.IsReviewSession(key.Type, key.ID) {
		top = filepath.Dir(folder)
	}
	err = filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // it went meanwhile
		case err != nil:
			return err
		case d.IsDir() && filepath.Dir(file) == top && top != folder && file != folder:
			return fs.SkipDir // of another session
		case d.IsDir(), !d.Type().IsRegular() && strings.HasSuffix(file, setAside):
			return nil
		}
		p, err := filepath.Rel(r.w.Root, file)
		place := r.w.Settings.Profile.Recognize(filepath.ToSlash(p))
		if err == nil && place.Kind == record.KindArtifact && place.Facts.Session == key.ID {
			paths = append(paths, filepath.ToSlash(p))
		}
		return nil // it is below the root
	})
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", folder, err)
	}
	return paths, nil
}

// UnsetIn returns what is wrong with a path whose session was left out, as in
// sessions/build//context.md, or nil.
func UnsetIn(file string) error {
	if withoutSession().MatchString(filepath.ToSlash(file)) {
		return Unset(file)
	}
	return nil
}

var withoutSession = layout.Pattern(`(^|/)sessions/([^/]+/)?/`)

// CheckFiles looks at files, absolute, whatever they belong to, in the same way. The
// Sessions of no workspace has nothing to compare them with.
func (r *Sessions) CheckFiles(ctx context.Context, files []string) ([]Checked, error) {
	return lookAt(ctx, r, files, func(file string) (target, error) { return r.targetOf(ctx, file) })
}

// targetOf finds out what a file belongs to.
func (r *Sessions) targetOf(ctx context.Context, file string) (target, error) {
	if r.w == nil {
		return target{file: file}, nil
	}
	p, err := filepath.Rel(r.w.Root, file)
	if err != nil {
		p = ""
	}
	p = filepath.ToSlash(p)
	place := r.w.Settings.Profile.Recognize(p)
	t := target{file: file, name: record.Name{Kind: place.Kind, ID: place.ID}}
	key, isFile := keyIn(t.name, place.Facts.Session, place.Facts.Attributes)
	if !isFile {
		return t, nil
	}
	s, err := r.current(ctx, key)
	if errors.Is(err, ErrNoSession) {
		return t, nil
	}
	t.artifact, t.of = layout.ArtifactName(p, key.Type, key.ID), s
	return t, err
}

// A looker looks at one file.
type looker struct {
	*Sessions
	Checked
	target
	head    *store.Version // nil if the store has nothing
	prev    *store.Version // that a sync or capture has replaced
	retired bool
	info    os.FileInfo // before the file was read, and after
	after   os.FileInfo
	err     error // why it cannot be read
	scan    scan
	longer  *store.Version // the text is but the beginning of this one
}

// A fileRule is something that may be wrong with a file.
type fileRule struct {
	id     string
	is     func(*looker) bool
	text   func(*looker) string
	remedy func(*looker) string
}

// fileRules returns what files are looked at for. The first that is so counts.
func fileRules() []fileRule {
	says := func(text string) func(*looker) string { return func(*looker) string { return text } }
	return []fileRule{
		{"missing", (*looker).isAwaited,
			func(l *looker) string { return "it is not there; " + l.of.AtWork[0].Agent + " is still at work" },
			func(l *looker) string { return untilEnd(l.of.AtWork[0].Agent) }},
		{"missing", (*looker).isMissing, says("it is not there"), (*looker).again},
		{"irregular", func(l *looker) bool { return l.info != nil && !l.info.Mode().IsRegular() },
			func(l *looker) string { return "it is " + folder.TypeName(l.info.Mode()) + ", not a regular file" },
			(*looker).aside},
		{"unreadable", func(l *looker) bool { return l.info == nil }, (*looker).why,
			func(l *looker) string { return "ls -la " + record.ShellWord(filepath.Dir(l.File)) }},
		{"unreadable", func(l *looker) bool { return l.err != nil }, (*looker).why,
			func(l *looker) string { return "chmod u+r " + record.ShellWord(l.File) }},
		{"growing", func(l *looker) bool {
			return l.after.Size() != l.info.Size() || !l.after.ModTime().Equal(l.info.ModTime())
		}, says("it changed while it was read"), (*looker).later},
		{"empty", func(l *looker) bool { return l.scan.size == 0 }, says("it is empty"), (*looker).fill},
		{"truncated", func(l *looker) bool { return l.longer != nil }, func(l *looker) string {
			return fmt.Sprintf("it ends after %d of the %d bytes that the store has", l.scan.size, l.longer.Record.Size)
		}, func(l *looker) string { return l.from(l.longer) }},
		{"growing", func(l *looker) bool {
			age := l.now().Sub(l.info.ModTime())
			return !l.Stored && age >= 0 && age < materialize.StillFor
		}, says("it was written to just now"), (*looker).later},
		{"garbled", func(l *looker) bool { return l.garbled() != "" }, (*looker).garbled, (*looker).write},
		{"truncated", func(l *looker) bool { return l.early() != "" }, (*looker).early, (*looker).write},
		{"changed", func(l *looker) bool { return !l.Stored && l.head != nil },
			func(l *looker) string { return "it is not what the store has, " + l.head.Ref.Short() }, says("filebus sync")},
		{"open", func(l *looker) bool { return l.writer() != "" },
			func(l *looker) string { return l.writer() + " has begun and not ended, and may still be writing" },
			func(l *looker) string { return untilEnd(l.writer()) }},
	}
}

// lookAt returns what is found at files.
func lookAt(
	ctx context.Context, r *Sessions, files []string, targetOf func(string) (target, error),
) (all []Checked, err error) {
	readers := r.readers()
	for _, file := range files {
		t, err := targetOf(file)
		if err != nil {
			return nil, err
		}
		l := &looker{Sessions: r, target: t, Checked: Checked{Artifact: t.artifact, Also: t.also}}
		l.File, l.Rule = t.file, "ok"
		if r.w != nil {
			l.Readers = readers[t.name.String()]
			if err := r.w.Store.View(ctx, l.stored); err != nil {
				return nil, err
			}
		}
		if err := l.disk(ctx); err != nil {
			return nil, err
		}
		rules := fileRules()
		if i := slices.IndexFunc(rules, func(r fileRule) bool { return r.is(l) }); i >= 0 {
			l.Rule, l.Message, l.Remedy = rules[i].id, rules[i].text(l), rules[i].remedy(l)
		}
		all = append(all, l.Checked)
	}
	return all, nil
}

// readers returns how many agents have read what has a name, as far as the log of reads tells.
func (r *Sessions) readers() map[string]int {
	readers, seen := map[string]int{}, map[[2]string]bool{}
	if r.w == nil {
		return readers
	}
	reads, _ := r.read.Reads(time.Time{}) // as far as it can be read
	for _, read := range reads {
		if who := [2]string{read.What, layout.Slug(read.Agent)}; read.Agent != "" && !seen[who] {
			seen[who] = true
			readers[read.What]++
		}
	}
	return readers
}

// stored reads what the store has.
func (l *looker) stored(tx *store.Tx) error {
	if record.CheckID(l.name.ID) != nil {
		return nil // a path outside of the workspace
	}
	v, current, err := tx.Last(l.name)
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrDropped):
		return nil
	case err != nil:
		return err
	case !current:
		l.retired = true
		return nil
	}
	l.head = &v
	if !v.Record.Prev.IsZero() && v.Record.Source != record.SourcePut {
		prev, err := tx.Get(v.Record.Prev)
		if err == nil && prev.Record.Size > v.Record.Size { // else there is nothing to compare with
			l.prev = &prev
		}
	}
	return nil
}

// disk reads the file itself, and finds what of the store it is.
func (l *looker) disk(ctx context.Context) (err error) {
	if l.info, l.err = os.Lstat(l.File); l.err != nil || !l.info.Mode().IsRegular() {
		return nil
	}
	l.Tokens = record.EstimateTokens(l.info.Size())
	if l.scan, l.after, l.err = readFile(l.File); l.err != nil || l.scan.size == 0 {
		return nil
	}
	l.Stored = l.head != nil && l.head.Record.Body == l.scan.digest
	longer, begins := l.head, false
	if l.Stored {
		longer = l.prev
	}
	if longer != nil && longer.Record.Size > l.scan.size {
		if begins, err = l.beginsWith(ctx, longer.Record, l.scan.size, l.scan.digest); begins {
			l.longer = longer
		}
	}
	return err
}

func (l *looker) isMissing() bool {
	return errors.Is(l.err, os.ErrNotExist) || errors.Is(l.err, syscall.ENOTDIR)
}

// isAwaited reports whether an agent at work may still write a file of which the store has
// never had anything.
func (l *looker) isAwaited() bool {
	return l.isMissing() && l.head == nil && !l.retired && l.of != nil && len(l.of.AtWork) > 0
}

// untilEnd is what to do while an agent is at work: how it ended is its own to say.
func untilEnd(agent string) string { return "check again when " + agent + " has ended" }

// why returns the reason why a file cannot be read; its path is said beside it.
func (l *looker) why() string { return errors.Unwrap(l.err).Error() }

// aside returns the command line that makes room for a file of a session. What stands
// there may be somebody's.
func (l *looker) aside() string {
	if l.of == nil {
		return "ls -lad " + record.ShellWord(l.File)
	}
	return "mv -n " + record.ShellWord(l.File) + " " + record.ShellWord(l.File+setAside) + " && " + l.again()
}

// setAside ends the name of what is no regular file, once it has made room for one.
const setAside = ".old"

func (l *looker) later() string {
	return "sleep 2 && filebus session check --files " + record.ShellWord(l.File)
}

// again returns the command line that lays the file out where nothing stands.
func (l *looker) again() string {
	switch {
	case l.head == nil && !l.retired && len(l.Also) > 0:
		words := markdown.Each(append([]string{l.of.Key.String()}, l.Also...), record.ShellWord)
		return "filebus session check " + strings.Join(words, " ")
	case l.head != nil:
		return "filebus sync --restore " + record.ShellWord(l.File)
	case l.retired:
		return "filebus rm --restore " + record.ShellWord(l.name.String())
	}
	return l.write()
}

// from returns the command line that puts a stored text in the place of what stands
// in the file.
func (l *looker) from(v *store.Version) string {
	if l.of == nil || checkArtifact(l.artifact) != nil {
		return "filebus get " + v.Ref.Short() + " > " + record.ShellWord(l.File)
	}
	return "filebus get " + v.Ref.Short() + " | " + strings.TrimSuffix(l.write(), " FILE")
}

// fill returns the command line that gives an empty file the text that it had last.
func (l *looker) fill() string {
	for _, v := range []*store.Version{l.head, l.prev} {
		if v != nil && v.Record.Size > 0 {
			return l.from(v)
		}
	}
	return l.write()
}

// write returns the command line that stores the text for the first time.
func (l *looker) write() string {
	if l.of == nil {
		return "ls -la " + record.ShellWord(filepath.Dir(l.File))
	}
	if checkArtifact(l.artifact) != nil { // a name that only a hand gives
		return "cp FILE " + record.ShellWord(l.File)
	}
	return "filebus session put " + record.ShellWord(l.of.Key.String()) + " " + record.ShellWord(l.artifact) + " FILE"
}

func (l *looker) early() string { return endsEarly(l.scan.text, strings.HasSuffix(l.File, ".md")) }

func (l *looker) garbled() string { return garbled(l.scan.text, path.Ext(l.File)) }

// writer returns who wrote the file by hand and may still be at it.
func (l *looker) writer() string {
	if l.of == nil || l.head != nil && l.head.Record.Source == record.SourcePut {
		return ""
	}
	p, _ := filepath.Rel(l.w.Root, l.File) // the file of a session is below the root
	agent := l.w.Settings.Profile.Recognize(filepath.ToSlash(p)).Facts.Agent
	if v, found := l.of.files[l.artifact]; found {
		agent = cmp.Or(v.Record.Agent, agent)
	}
	for _, open := range l.of.AtWork {
		if agent != "" && layout.Slug(open.Agent) == layout.Slug(agent) {
			return open.Agent
		}
	}
	return ""
}

// A scan is what was read of a file.
type scan struct {
	text   []byte // nil if it is longer than maxScan
	size   int64
	digest record.Digest
}

// maxScan is the longest text, in bytes, of which it is told whether it ends too early.
const maxScan = 16 << 20

// readFile reads a file to its end, and returns its state after that. A file that lost
// its name meanwhile is an error, even where its text can still be read.
func readFile(file string) (s scan, after os.FileInfo, err error) {
	f, err := os.Open(file)
	if err != nil {
		return s, nil, err
	}
	defer func() { _ = f.Close() }() // only read
	digest := record.NewDigester()
	in := io.TeeReader(f, digest)
	if s.text, err = io.ReadAll(io.LimitReader(in, maxScan)); err != nil {
		return s, nil, err
	}
	rest, err := io.Copy(io.Discard, in)
	if err != nil {
		return s, nil, err
	}
	s.size, s.digest = int64(len(s.text))+rest, digest.Digest()
	if rest > 0 {
		s.text = nil
	}
	after, err = os.Lstat(file)
	return s, after, err
}

// beginsWith reports whether the first size bytes of a body have a digest.
func (r *Sessions) beginsWith(ctx context.Context, file *record.Record, size int64, head record.Digest) (bool, error) {
	body, err := r.open(ctx, file)
	if err != nil {
		return false, err
	}
	digest := record.NewDigester()
	_, err = io.Copy(digest, io.LimitReader(body, size))
	return digest.Digest() == head, errors.Join(err, body.Close())
}

// textEndings are the endings of files that hold text, besides none.
const textEndings = " .md .markdown .txt .log .json .jsonl .ndjson .csv .tsv .yaml .yml .toml .xml .html "

// garbled says why a file that should be a text, by the ending of its name, is none that can be read, or "".
func garbled(text []byte, ending string) string {
	if ending != "" && !strings.Contains(textEndings, " "+strings.ToLower(ending)+" ") {
		return ""
	}
	zero := bytes.IndexByte(text, 0)
	switch wide := markdown.Wide(text); {
	case wide != "":
		return "it is " + wide + "; agents read UTF-8"
	case zero >= 0:
		return fmt.Sprintf("its byte %d is zero: it is no text", zero+1)
	case !utf8.Valid(text) && !endsInRune(text[max(0, len(text)-utf8.UTFMax):]):
		return "it is no UTF-8: no text, or one in another encoding"
	case plan.MergeMarker(text) > 0:
		return fmt.Sprintf("its line %d is a conflict marker of git", plan.MergeMarker(text))
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	ending = strings.ToLower(ending)
	for i, document := range map[string][][]byte{".json": {text}, ".jsonl": lines, ".ndjson": lines}[ending] {
		var any json.RawMessage
		if problem := markdown.DecodeJSON(document, &any); problem != nil && len(bytes.TrimSpace(document)) > 0 {
			return fmt.Sprintf("its line %d is no JSON: %v", i+problem.Line, problem.Err)
		}
	}
	if ending != ".yaml" && ending != ".yml" {
		return ""
	}
	if problem := markdown.CheckYAML(text); problem != nil {
		return fmt.Sprintf("its line %d is no YAML: %v", problem.Line, problem.Err)
	}
	return ""
}

// endsEarly says how a text seems to end too early, within a character or within a code
// fence of Markdown, or "".
func endsEarly(text []byte, isMarkdown bool) string {
	switch {
	case bytes.IndexByte(text, 0) >= 0: // it is no text
	case endsInRune(text[max(0, len(text)-utf8.UTFMax):]):
		return "it ends within a character"
	case isMarkdown && strings.Trim(markdown.Unclosed(text), "->") != "": // a comment may stay open
		return "it ends within a block of code"
	}
	return ""
}

// endsInRune reports whether the last character of a text is not whole.
func endsInRune(tail []byte) bool {
	for i := len(tail) - 1; i >= 0; i-- {
		if utf8.RuneStart(tail[i]) {
			return !utf8.FullRune(tail[i:])
		}
	}
	return false
}
