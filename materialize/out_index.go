package materialize

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"filebus/store/record"
)

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
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		err := record.Conflict.Errorf("laying out: %w: %s is no file that was made before", ErrForeignFolder, x.name)
		return err.Because(ErrForeignFolder)
	}
	f, err := root.Open(x.name)
	if err != nil {
		return err
	}
	line, err := bufio.NewReader(f).ReadSlice('\n')
	_ = f.Close() // only read
	if err != nil || strings.TrimSuffix(string(line), "\n") != x.title {
		return record.Conflict.Errorf("laying out: %w: %s", ErrForeignFolder, x.name).Because(ErrForeignFolder)
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
