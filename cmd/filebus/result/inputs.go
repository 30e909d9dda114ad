package result

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"

	"filebus/materialize"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

var (
	errFolder  = errors.New("it is a folder")
	errNoFile  = errors.New("it is not a regular file")
	errChanged = errors.New("it changed while it was read")
	errNoMatch = record.NotFound.Errorf("no file and no name matches")
)

// An input is one text to be combined: a version of the store, or a file.
type input struct {
	given   string        // how the user knows it
	version store.Version // zero for a file that the store does not have
	file    string        // absolute; empty if the text comes from the store
	info    fs.FileInfo   // of the file, when it was looked at
	differs bool          // the store has another text for the file
}

// inputs are the texts of a combine, in order, and what could not be read.
type inputs struct {
	list   []input
	unread []error
}

func (in *inputs) fail(given string, err error) {
	in.unread = append(in.unread, fmt.Errorf("%s: %w", cmp.Or(given, `""`), err))
}

// A gatherer finds the inputs that texts stand for.
type gatherer struct {
	w    *materialize.Workspace
	read *query.Reader
	dir  string // that relative paths begin at, absolute
}

func (g gatherer) abs(name string) string {
	if name = filepath.FromSlash(name); filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(g.dir, name)
}

// gather finds the inputs, in the order given. A text is a file if there is one,
// else what the store resolves it to, else a pattern. An error means that the
// store could not be read.
func (g gatherer) gather(ctx context.Context, texts []string) (*inputs, error) {
	files := make([]error, len(texts)) // why a text is no file
	meant := slices.Clone(texts)       // what the store is asked for
	for i, text := range texts {
		info, err := os.Stat(g.abs(text))
		if err == nil {
			err = regular(info)
		}
		if files[i] = err; err == nil {
			meant[i] = g.storedPath(g.abs(text))
		}
	}
	stored, err := g.read.ResolveAll(ctx, meant, query.ResolveOptions{Root: g.w.Root, Dir: g.dir})
	if err != nil {
		return nil, err
	}
	in := &inputs{}
	for i, text := range texts {
		found := stored[i]
		switch {
		case errors.Is(found.Err, store.ErrDamaged):
			return nil, fmt.Errorf("reading %s: %w", text, found.Err)
		case files[i] == nil:
			err = g.addFile(ctx, in, text, found.Version)
		case found.Err == nil:
			in.list = append(in.list, input{given: text, version: found.Version})
		case strings.ContainsAny(text, `*?[`):
			err = g.addMatches(ctx, in, text)
		default:
			in.fail(text, whyUnread(files[i], found.Err))
		}
		if err != nil {
			return nil, err
		}
	}
	return in, nil
}

// regular returns why a file is none that can be combined, or nil.
func regular(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return errFolder
	case !info.Mode().IsRegular():
		return errNoFile
	}
	return nil
}

// whyUnread returns the more telling of why a text is no file and why the store
// does not have it.
func whyUnread(file, stored error) error {
	switch {
	case !errors.Is(file, fs.ErrNotExist) && errors.Is(stored, store.ErrNotFound):
		return pathReason(file)
	case errors.Is(stored, query.ErrAbsent):
		return store.ErrNotFound // without the text once more
	}
	return stored
}

// pathReason returns an error of the file system without the path, which whoever
// prints it says already.
func pathReason(err error) error {
	if path, found := errors.AsType[*fs.PathError](err); found {
		return path.Err
	}
	return err
}

// storedPath returns the form in which the store finds a file by its path.
func (g gatherer) storedPath(file string) string {
	for _, root := range []struct{ dir, prefix string }{{g.w.Root, ""}, {g.w.Settings.Home, "~/"}} {
		below, err := filepath.Rel(root.dir, file)
		if root.dir == "" || err != nil || !filepath.IsLocal(below) {
			continue
		}
		if root.prefix == "" {
			return file
		}
		return root.prefix + filepath.ToSlash(below)
	}
	return "file:" + filepath.ToSlash(file)
}

// addFile adds a file: as the version v that the store has for it, if its bytes
// are the same, else as it is on disk.
func (g gatherer) addFile(ctx context.Context, in *inputs, given string, v store.Version) error {
	one := input{given: given, file: g.abs(given)}
	f, info, err := openRegular(one.file)
	if err != nil {
		in.fail(given, pathReason(err))
		return nil
	}
	defer func() { _ = f.Close() }() // only read
	one.info = info
	if v.Record == nil || v.Record.Name.Tree != "" || g.w.FilePath(v.Record.Path) != one.file {
		in.list = append(in.list, one)
		return nil
	}
	same, err := g.isTextOf(ctx, f, info.Size(), v)
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, store.ErrDamaged):
		return err
	case err != nil:
		in.fail(given, pathReason(err))
		return nil
	case same || v.Record.Name.Kind.IsOnce():
		one = input{given: given, version: v}
	default:
		one.differs = true
	}
	in.list = append(in.list, one)
	return nil
}

// isTextOf reports whether what r reads, size bytes, is the text of a version.
func (g gatherer) isTextOf(ctx context.Context, r io.Reader, size int64, v store.Version) (bool, error) {
	want := v.Record.Body
	if v.Record.Name.Kind == record.KindFrame {
		whole := record.NewDigester()
		if _, err := g.read.WriteBody(ctx, whole, v, query.BodyRequest{}); err != nil {
			return false, err
		}
		want = whole.Digest()
	} else if size != v.Record.Size {
		return false, nil
	}
	got, err := digestOf(ctx, r)
	return got == want, err
}

// digestOf reads r to its end.
func digestOf(ctx context.Context, r io.Reader) (record.Digest, error) {
	d := record.NewDigester()
	_, err := io.Copy(d, store.WithContext(ctx, r))
	return d.Digest(), err
}

// openRegular opens a regular file to be read. It waits for nobody: a named pipe
// that has taken the file's place is refused too.
func openRegular(file string) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// addMatches adds the files that a pattern matches or, if it matches none, the
// versions whose names it matches.
func (g gatherer) addMatches(ctx context.Context, in *inputs, pattern string) error {
	files, err := matchFiles(g.dir, pattern)
	if err != nil {
		in.fail(pattern, err)
		return nil
	}
	if len(files) == 0 {
		return g.addNames(ctx, in, pattern)
	}
	paths := markdown.Each(files, func(file string) string { return g.storedPath(g.abs(file)) })
	stored, err := g.read.ResolveAll(ctx, paths, query.ResolveOptions{Root: g.w.Root, Dir: g.dir})
	if err != nil {
		return err
	}
	for i, file := range files {
		if err := g.addFile(ctx, in, file, stored[i].Version); err != nil {
			return err
		}
	}
	return nil
}

func (g gatherer) addNames(ctx context.Context, in *inputs, pattern string) error {
	versions, err := g.read.Glob(ctx, pattern)
	if errors.Is(err, record.Usage) {
		in.fail(pattern, err)
		return nil
	}
	for _, v := range versions {
		in.list = append(in.list, input{given: v.Record.Name.String(), version: v})
	}
	if err == nil && len(versions) == 0 {
		in.fail(pattern, errNoMatch)
	}
	return err
}

// matchFiles returns the files that a pattern matches, in the order of
// their bytes. As in a shell, a name that begins with a dot must be asked for
// with one.
func matchFiles(dir, pattern string) ([]string, error) {
	pattern = filepath.ToSlash(pattern)
	fixed := ""
	if slash := strings.LastIndexByte(pattern[:strings.IndexAny(pattern, `*?[`)], '/'); slash >= 0 {
		fixed, pattern = pattern[:slash+1], pattern[slash+1:]
	}
	base := filepath.FromSlash(fixed)
	if !filepath.IsAbs(base) {
		base = filepath.Join(dir, base)
	}
	matches, err := doublestar.Glob(os.DirFS(base), pattern, doublestar.WithFilesOnly(), doublestar.WithNoHidden())
	slices.Sort(matches)
	return markdown.Each(matches, func(match string) string { return fixed + match }), err
}

// A shelf opens the texts of inputs in order. It takes stored ones from the store
// several at a time, since each look costs a turn.
type shelf struct {
	gatherer
	list     []input
	first    int // whose content was looked for
	contents []store.Content
}

// shelfTexts is how many texts a shelf takes from the store at once: each is a file, or has at most 1 MiB.
const shelfTexts = 32

// open opens the text of input i. A file must be as it was when it was looked at,
// until its end.
func (s *shelf) open(ctx context.Context, i int) (io.ReadCloser, error) {
	in := &s.list[i]
	if in.file != "" {
		f, info, err := openRegular(in.file)
		switch {
		case err != nil:
			return nil, pathReason(err)
		case !os.SameFile(info, in.info) || !sameState(info, in.info):
			return nil, errors.Join(errChanged, f.Close())
		}
		return &stableFile{File: f, was: info}, nil
	}
	if in.version.Record.Name.Kind == record.KindFrame {
		var text bytes.Buffer
		_, err := s.read.WriteBody(ctx, &text, in.version, query.BodyRequest{})
		return io.NopCloser(&text), err
	}
	if i >= s.first+len(s.contents) {
		if err := s.fill(ctx, i); err != nil {
			return nil, err
		}
	}
	return s.contents[i-s.first].Open()
}

// fill takes the contents of the stored inputs from i on. One that cannot be had
// stops it, and is reported when it is its turn.
func (s *shelf) fill(ctx context.Context, i int) error {
	s.first, s.contents = i, nil
	return s.read.Store().View(ctx, func(tx *store.Tx) error {
		for _, in := range s.list[i:min(i+shelfTexts, len(s.list))] {
			var content store.Content
			var err error
			if r := in.version.Record; r != nil && r.Name.Kind != record.KindFrame {
				if _, err = tx.Get(in.version.Ref); err == nil { // else it was destroyed since it was found
					content, err = tx.Content(r)
				}
			}
			if err != nil && len(s.contents) > 0 {
				return nil
			}
			if err != nil {
				return err
			}
			s.contents = append(s.contents, content)
		}
		return nil
	})
}

func sameState(a, b fs.FileInfo) bool { return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) }

// A stableFile reads a file that must not change meanwhile.
type stableFile struct {
	*os.File
	was  fs.FileInfo
	read int64
}

func (f *stableFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	if f.read += int64(n); f.read > f.was.Size() {
		return 0, errChanged // one that grows without end has one too
	}
	if errors.Is(err, io.EOF) {
		now, statErr := f.Stat()
		if statErr != nil || f.read != f.was.Size() || !sameState(now, f.was) {
			return n, errors.Join(errChanged, statErr)
		}
	}
	return n, err
}

// utf8Mark is how UTF-8 begins on some systems.
const utf8Mark = "\ufeff"

// text returns a reader of all inputs with a separator between them. Each is
// opened when it is its turn. Byte order marks but the first input's are left
// out: they belong at the start of a text.
func (g gatherer) text(ctx context.Context, in *inputs, separator string) io.Reader {
	var parts []io.Reader
	s := &shelf{gatherer: g, list: in.list}
	for i := range in.list {
		if i > 0 {
			parts = append(parts, strings.NewReader(separator))
		}
		parts = append(parts, &lazyReader{given: in.list[i].given, first: i == 0, open: func() (io.ReadCloser, error) {
			return s.open(ctx, i)
		}})
	}
	return store.WithContext(ctx, io.MultiReader(parts...))
}

// A lazyReader reads what it opens at the first Read and closes at the end.
type lazyReader struct {
	given  string // for errors
	first  bool
	open   func() (io.ReadCloser, error)
	text   *bufio.Reader
	closer io.Closer
}

func (l *lazyReader) Read(p []byte) (int, error) {
	if l.text == nil {
		r, err := l.open()
		if err != nil {
			return 0, fmt.Errorf("reading %s: %w", l.given, err)
		}
		l.text, l.closer = bufio.NewReader(r), r
		if start, _ := l.text.Peek(len(utf8Mark)); !l.first && string(start) == utf8Mark {
			_, _ = l.text.Discard(len(start)) // they are in the buffer
		}
	}
	n, err := l.text.Read(p)
	if err != nil && l.closer != nil {
		if closeErr := l.closer.Close(); closeErr != nil {
			err = closeErr
		}
		l.closer = nil
	}
	if err == nil || err == io.EOF {
		return n, err
	}
	return n, fmt.Errorf("reading %s: %w", l.given, err)
}
