package materialize

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"filebus/materialize/mirror"
	"filebus/store"
	"filebus/store/record"
)

// A LayOutReport says what was laid out.
type LayOutReport struct {
	Files     int      `json:"files"`
	Bytes     int64    `json:"bytes"`
	Unchanged int      `json:"unchanged"` // files that were there already, with the same bytes
	Displaced []string `json:"displaced"` // names whose place was taken by a newer thing
	Missing   []string `json:"missing"`   // names whose version was destroyed since that time, or since it was picked
	Protected []string `json:"protected"` // names whose paths lead into .git, .filebus or another file, or are another record's

	Damaged []string `json:"damaged,omitempty"` // names that are left out, as something of them is damaged
}

// A laidFile is a file to be written. Its bytes are read when its turn comes.
type laidFile struct {
	path string // below the output folder, slash-separated
	name record.Name
	ref  record.Ref

	text    []byte        // of an aggregate
	content store.Content // of a single record
	file    string        // of the workspace, absolute
	err     error         // why there is neither
	mode    fs.FileMode
}

// ErrForeignFolder says that a folder to be written to holds something else.
const ErrForeignFolder record.Reason = "the folder holds other files"

// LayOut writes the selected records as the files they came from, byte for byte,
// into a folder that is new, empty, or the result of the same command. One tree
// asked for alone stands at the folder's root; else the own tree does and each
// other one in a folder of its name.
func (w *Workspace) LayOut(ctx context.Context, to string, pick Selection, progress func(done, total int)) (*LayOutReport, error) {
	return w.layOut(ctx, to, pick, nil, progress)
}

func (w *Workspace) layOut(ctx context.Context, to string, pick Selection, index *indexFile, progress func(done, total int)) (*LayOutReport, error) {
	s, err := w.selectFiles(ctx, pick)
	if err != nil {
		return nil, err
	}
	for _, p := range pick.Files {
		name := record.Name{Kind: record.KindNote, ID: p}
		s.claims[store.PathValue("", p)] = claim{file: laidFile{path: p, name: name, file: w.FilePath(p)}}
	}
	files, report, err := s.files()
	if err != nil {
		return nil, err
	}
	if err := checkFolder(to, files, index.choose(files)); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(to, 0o777); err != nil {
		return nil, fmt.Errorf("laying out: %w", err)
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return nil, fmt.Errorf("laying out: %w", err)
	}
	defer func() { _ = root.Close() }() // a folder handle
	err = index.clear(root)
	if err == nil {
		err = s.write(ctx, w, root, files, report, progress)
	}
	if err == nil {
		err = s.addMissing(ctx, w.Store)
	}
	report.Damaged = slices.Compact(slices.Sorted(slices.Values(s.damaged)))
	report.Missing = append(report.Missing, slices.Compact(slices.Sorted(slices.Values(s.missing)))...)
	if err == nil {
		err = index.write(root, report)
	}
	return report, errors.Join(err, store.SyncFolder(to))
}

// files returns the places in the order of their paths in the output folder.
func (s *selector) files() ([]laidFile, *LayOutReport, error) {
	report := &LayOutReport{Displaced: []string{}, Missing: []string{}, Protected: append([]string{}, s.protected...)}
	alone := len(s.pick.Trees) == 1
	files := make([]laidFile, 0, len(s.claims))
	for _, at := range s.claims {
		if !alone && at.file.name.Tree != "" {
			at.file.path = path.Join(string(at.file.name.Tree), at.file.path)
		}
		files = append(files, at.file)
		for _, name := range at.displaced {
			report.Displaced = append(report.Displaced, name.String())
		}
	}
	slices.SortFunc(files, func(a, b laidFile) int {
		return cmp.Or(strings.Compare(a.path, b.path), cmp.Compare(a.name.Tree, b.name.Tree))
	})
	slices.Sort(report.Displaced)
	isFile := map[string]bool{}
	for i, f := range files {
		if isFile[f.path] {
			return nil, nil, twoForOnePath(f.path, files[i-1].name, f.name)
		}
		isFile[f.path] = true
	}
	return slices.DeleteFunc(files, func(f laidFile) bool {
		dir := path.Dir(f.path)
		for dir != "." && !isFile[dir] {
			dir = path.Dir(dir)
		}
		if dir != "." {
			report.Protected = append(report.Protected, f.name.String())
		}
		return dir != "."
	}), report, nil
}

// checkFolder refuses a folder that holds anything but the files to be written.
// Whether their bytes are the same is seen when they are written.
func checkFolder(to string, files []laidFile, index string) error {
	wanted := map[string]bool{index: true, unfinishedIndex: index != ""}
	for _, f := range files {
		wanted[f.path] = true
	}
	err := filepath.WalkDir(to, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(to, name)
		if err == nil && !wanted[filepath.ToSlash(rel)] {
			err = record.Conflict.Errorf("laying out into %s: %w: %s", to, ErrForeignFolder,
				rel).Because(ErrForeignFolder)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// write writes files chunk by chunk, so that few bodies are in memory: one chunk
// is written while the next is read.
func (s *selector) write(ctx context.Context, w *Workspace, root *os.Root, files []laidFile, report *LayOutReport, progress func(done, total int)) error {
	modes := modesOf{}
	load := func(ctx context.Context, chunk []laidFile) ([]laidFile, error) {
		return chunk, w.Store.View(ctx, func(tx *store.Tx) error {
			for i := range chunk {
				if f := &chunk[i]; f.file == "" {
					f.err = s.load(tx, f)
					f.mode = modes.of(w, f, tx)
				}
			}
			return nil
		})
	}
	return ahead(ctx, slices.Chunk(files, viewBodies), load, func(ctx context.Context, chunk []laidFile) error {
		err := s.writeFiles(ctx, root, chunk, report)
		if err == nil && progress != nil {
			progress(report.Files, len(files))
		}
		clear(chunk)
		return err
	})
}

// modesOf are what is remembered of files here, by their trees.
type modesOf map[record.Tree]*mirror.Memory

// of returns the mode that a file is laid out with: that of the file that was taken in here. Another text than
// that one's, and what came from another store, is never executable.
func (m modesOf) of(w *Workspace, f *laidFile, tx *store.Tx) fs.FileMode {
	tree := f.name.Tree
	if m[tree] == nil {
		m[tree], _ = w.mirrors.Remembered(w.Root)
		if t, err := w.Tree(tree); tree != "" && err == nil {
			m[tree] = w.recall(t)
		}
	}
	v, err := tx.Get(f.ref)
	if err != nil {
		return 0o666
	}
	known, _ := m[tree].Get(v.Record.Path)
	mode := cmp.Or(known.Mode, 0o666) & v.Record.Mode()
	if v.Record.Body != known.Digest || !tx.IsOwn(v.Record.Origin) {
		mode &^= 0o111
	}
	return mode
}

// load fetches the bytes of a file.
func (s *selector) load(tx *store.Tx, f *laidFile) error {
	v, err := tx.Get(f.ref)
	if err != nil {
		return err
	}
	if f.name.Kind == record.KindFrame {
		f.text, _, err = s.aggregate(tx, v)
		return err
	}
	f.content, err = tx.Content(v.Record)
	return err
}

// writeFiles writes files on all cores, each through a handle of its own folder:
// that spares looking up the folders above it for every file.
func (s *selector) writeFiles(ctx context.Context, root *os.Root, files []laidFile, report *LayOutReport) error {
	folders, err := openFolders(root, files)
	defer func() {
		for _, f := range folders {
			_ = f.Close() // a folder handle
		}
	}()
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var failed error
	parallel(len(files), func(i int) {
		n, same, err := int64(0), false, cmp.Or(ctx.Err(), files[i].err)
		if err == nil {
			n, same, err = files[i].write(folders[path.Dir(files[i].path)])
		}
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			failed = errors.Join(failed, s.leaveOut(files[i].name, fmt.Errorf("laying out %s: %w", files[i].name, err)))
			return
		case same:
			report.Unchanged++
		}
		report.Files++
		report.Bytes += n
	})
	return failed
}

// openFolders makes and opens the folders that files lie in, by their slash-separated paths.
func openFolders(root *os.Root, files []laidFile) (map[string]*os.Root, error) {
	folders := map[string]*os.Root{}
	for _, f := range files {
		dir := path.Dir(f.path)
		if folders[dir] != nil {
			continue
		}
		err := root.MkdirAll(filepath.FromSlash(dir), 0o777)
		if err == nil {
			folders[dir], err = root.OpenRoot(filepath.FromSlash(dir))
		}
		if err != nil {
			delete(folders, dir)
			return folders, fmt.Errorf("laying out %s: %w", f.name, err)
		}
	}
	return folders, nil
}

// write writes one file into its folder and returns its size. A file that is
// there must have the same bytes.
func (f *laidFile) write(root *os.Root) (n int64, same bool, err error) {
	name := path.Base(f.path)
	source, err := f.open()
	if err != nil {
		return 0, false, err
	}
	defer func() { _ = source.Close() }() // only read
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, cmp.Or(f.mode, 0o666))
	if errors.Is(err, fs.ErrExist) {
		return f.compare(root, name, source)
	}
	if err != nil {
		return 0, false, err
	}
	n, err = io.Copy(out, source)
	if err = errors.Join(err, out.Close()); err != nil {
		return n, false, errors.Join(err, root.Remove(name))
	}
	return n, false, nil
}

func (f *laidFile) open() (io.ReadCloser, error) {
	if f.file != "" {
		return os.Open(f.file)
	}
	if f.name.Kind == record.KindFrame {
		return io.NopCloser(bytes.NewReader(f.text)), nil
	}
	return f.content.Open()
}

// compare holds a file that is there against what would be written. One that ends
// early was cut short by a killed process, and is written to its end.
func (f *laidFile) compare(root *os.Root, name string, source io.Reader) (n int64, same bool, err error) {
	there, err := root.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return 0, false, err
	}
	defer func() { err = errors.Join(err, there.Close()) }()
	c := &continued{file: there}
	n, err = io.Copy(c, source)
	if more, _ := there.Read(make([]byte, 1)); err == nil && more > 0 {
		err = errOtherBytes
	}
	if errors.Is(err, errOtherBytes) {
		err = record.Conflict.Errorf("%w: %s has other bytes", ErrForeignFolder, name).Because(ErrForeignFolder)
	}
	return n, !c.grows, err
}

// A continued file takes what it has, and behind that what it has not.
type continued struct {
	file  *os.File
	grows bool
}

var errOtherBytes = errors.New("other bytes")

func (c *continued) Write(p []byte) (int, error) {
	old := make([]byte, len(p))
	n, err := io.ReadFull(c.file, old)
	switch {
	case !bytes.Equal(old[:n], p[:n]):
		return 0, errOtherBytes
	case err == nil, !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return n, err
	}
	c.grows = true
	more, err := c.file.Write(p[n:])
	return n + more, err
}

// LayOutIndexed lays out as LayOut does, and at last writes a file at the top of
// the folder that says what the others are: INDEX.md, or another name when a file
// that is laid out has that one. It returns the name. The text is made when all
// files are written, and its first line is the title: a file of that name and
// title is one that was made before and is replaced, any other is
// ErrForeignFolder.
func (w *Workspace) LayOutIndexed(ctx context.Context, to string, pick Selection, title string, text func(*LayOutReport) []byte, progress func(done, total int)) (*LayOutReport, string, error) {
	index := &indexFile{title: title, text: text}
	report, err := w.layOut(ctx, to, pick, index, progress)
	return report, index.name, err
}

// unfinishedIndex is the name of an index that is being written. A killed process
// may leave it behind.
const unfinishedIndex = ".filebus-index.tmp"

// An indexFile says what was laid out. A nil one is none.
type indexFile struct {
	name  string
	title string
	text  func(*LayOutReport) []byte
}

// choose takes a name that no file or folder at the top has, in any case, as file
// systems may not tell the cases apart. It returns "" if there is no index.
func (x *indexFile) choose(files []laidFile) string {
	if x == nil {
		return ""
	}
	tops := map[string]bool{}
	for _, f := range files {
		top, _, _ := strings.Cut(f.path, "/")
		tops[strings.ToLower(top)] = true
	}
	x.name = "INDEX.md"
	for n := 1; tops[strings.ToLower(x.name)]; n++ {
		x.name = "INDEX.filebus.md"
		if n > 1 {
			x.name = "INDEX.filebus-" + strconv.Itoa(n) + ".md"
		}
	}
	return x.name
}

// clear takes an index away that was made before: it is written last, so that
// where it stands, all files do.
func (x *indexFile) clear(root *os.Root) error {
	if x == nil {
		return nil
	}
	info, err := root.Lstat(x.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var text []byte
	if err == nil && info.Mode().IsRegular() {
		text, err = root.ReadFile(x.name)
	}
	if err == nil && !bytes.HasPrefix(text, []byte(x.title+"\n")) {
		err = record.Conflict.Errorf("laying out: %w: %s is no file that was made before", ErrForeignFolder, x.name).
			Because(ErrForeignFolder)
	}
	if err != nil {
		return err
	}
	return root.Remove(x.name)
}

// write writes the index under a temporary name and renames it.
func (x *indexFile) write(root *os.Root, report *LayOutReport) error {
	if x == nil {
		return nil
	}
	err := root.WriteFile(unfinishedIndex, x.text(report), 0o666)
	if err == nil {
		err = root.Rename(unfinishedIndex, x.name)
	}
	if err != nil {
		_ = root.Remove(unfinishedIndex) // what is left of it is worth nothing
		return fmt.Errorf("writing %s: %w", x.name, err)
	}
	return nil
}
