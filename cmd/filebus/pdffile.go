package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/result"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// A pdfTarget says where a document goes. The name may follow from its title.
type pdfTarget struct {
	folder, name string
}

// target returns where flags and settings want the document.
func (o *pdfCommand) target(env *cli.Environ) (pdfTarget, error) {
	t := pdfTarget{folder: env.Abs(o.Out), name: o.Filename}
	info, err := os.Stat(t.folder)
	isFolder := err == nil && info.IsDir()
	switch {
	case o.Out == "":
		if t.folder, err = pdfFolder(env); err != nil {
			return t, err
		}
	case strings.EqualFold(filepath.Ext(o.Out), ".pdf") && !isFolder:
		if o.Filename != "" {
			return t, cli.UsageError("--out %s names a file already; leave --filename out", o.Out)
		}
		return pdfTarget{filepath.Dir(t.folder), filepath.Base(t.folder)}, nil
	case err == nil && !isFolder:
		return t, cli.UsageError("--out %s is neither a folder nor a file that ends in .pdf", o.Out)
	}
	if o.Filename != "" {
		t.name = fileName(o.Filename)
	}
	return t, nil
}

// pdfFolder returns where documents go without --out: the folder that is configured, as
// seen from the workspace, or else the working directory.
func pdfFolder(e *cli.Environ) (string, error) {
	at, err := e.Locate()
	if err != nil && !errors.Is(err, store.ErrNoStore) {
		return "", err
	}
	c, err := e.Config(at)
	below, isAtHome := strings.CutPrefix(filepath.ToSlash(c.PDFDir), "~/")
	switch {
	case err != nil:
		return "", err
	case c.PDFDir == "" && e.Dir == "":
		return "", cli.Coded(record.NotFound, "run it again with --out FOLDER", cli.ErrNoDir)
	case c.PDFDir == "":
		return e.Dir, nil
	case isAtHome && e.Home() == "":
		return "", cli.UsageError("there is no home folder for pdf_dir = %q: give --out FOLDER", c.PDFDir)
	case isAtHome:
		c.PDFDir = filepath.Join(e.Home(), below)
	case !filepath.IsAbs(c.PDFDir):
		c.PDFDir = filepath.Join(at.Root, c.PDFDir)
	}
	return c.PDFDir, mayPointTo(e, at, "pdf_dir", c.PDFDir)
}

// file returns the file of a document with this title.
func (t pdfTarget) file(title string) pdfFile {
	t.name = cmp.Or(t.name, fileName(title))
	return pdfFile{filepath.Join(t.folder, t.name)}
}

// fileName makes a title the name of a PDF that every system takes.
func fileName(title string) string {
	const ext = ".pdf"
	if len(title) > len(ext) && strings.EqualFold(title[len(title)-len(ext):], ext) {
		title = title[:len(title)-len(ext)]
	}
	name := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), r == utf8.RuneError, strings.ContainsRune(`/\:*?"<>|`, r):
			return ' '
		case unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(title, " "))
	name = strings.TrimLeft(strings.Join(strings.Fields(name), " "), ". ")
	const maxFileName = 120 // the longest name of a document's file, in bytes, the extension included
	for len(name) > maxFileName-len(ext) {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	if name = strings.TrimRight(name, ". "); name == "" {
		name = "Document"
	}
	if isDevice().MatchString(name) {
		name = "_" + name
	}
	return name + ext
}

// isDevice finds names that Windows takes for those of devices.
var isDevice = layout.Pattern(`(?i)^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])\s*(\.|$)`)

// A pdfFile is a file that a document is written to.
type pdfFile struct{ path string }

// check makes sure that nothing else would be lost.
func (f pdfFile) check(document []byte, force bool) error {
	info, err := os.Lstat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return cli.UsageError("%s is a folder", f.path)
	case force || f.has(document):
		return nil
	}
	return cli.Coded(record.Conflict, "run it again with another --filename, or with --force to replace the file",
		fmt.Errorf("%s is there already, with another content", f.path))
}

// checkPlace refuses folders of git and of the store, and a place where a result
// has its file, which is written once.
func (f pdfFile) checkPlace(w *cli.Work) error {
	if err := result.CheckPlace(w.Workspace, f.path); err != nil {
		return err
	}
	rel, err := filepath.Rel(w.Root, f.path)
	if err != nil || !filepath.IsLocal(rel) {
		return nil
	}
	if place := w.Settings.Profile.Recognize(filepath.ToSlash(rel)); place.Kind == record.KindResult {
		return cli.UsageError("%s is the place of a result: give another --out", f.path)
	}
	return nil
}

func (f pdfFile) has(document []byte) bool {
	info, err := os.Stat(f.path)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(document)) {
		return false
	}
	old, err := os.ReadFile(f.path)
	return err == nil && bytes.Equal(old, document)
}

// write puts the document in its place, whole. A file that has come there meanwhile
// is replaced only by force.
func (f pdfFile) write(ctx context.Context, w *cli.Work, document []byte, force bool) error {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o777); err != nil {
		return fmt.Errorf("making the folder: %w", err)
	}
	err := result.WriteFile(ctx, f.path, document, force)
	if errors.Is(err, result.ErrOutputTaken) {
		return cmp.Or(f.check(document, force), err) // it says what to do
	}
	line := fmt.Appendf(nil, "%s %q\n", record.DigestOf(document), f.path)
	return cmp.Or(err, folder.At(w.Location.Store).Append(documentsFile, line))
}

// documentsFile has where PDFs were written, with their digests, in the store's folder.
const documentsFile = "documents"

// documentsOf returns the files, absolute, that were written as PDFs and still have one of some texts.
func documentsOf(w *cli.Work, texts []record.Digest) (files []string) {
	known, _ := folder.At(w.Location.Store).ReadFile(documentsFile) // there may be none
	for line := range strings.Lines(string(known)) {
		var digest, file string
		_, err := fmt.Sscanf(line, "%s %q", &digest, &file)
		of, digestErr := record.ParseDigest(digest)
		if err != nil || digestErr != nil || !slices.Contains(texts, of) || slices.Contains(files, file) {
			continue
		}
		if now, err := os.ReadFile(file); err == nil && record.DigestOf(now) == of {
			files = append(files, file)
		}
	}
	return files
}

// imageFolders are the folders that images of a source may lie in, and the place in
// each that names begin at: its own, and the workspace if it lies in there, once from
// its own place and once from the top. Nothing outside of them is read.
type imageFolders []imageFolder

type imageFolder struct {
	root  *os.Root
	below string // slash-separated
}

func newImageFolders(workspace, own string) (folders imageFolders) {
	if own == "" {
		return nil
	}
	if root, err := os.OpenRoot(own); err == nil { // a folder that is not there has no images
		folders = append(folders, imageFolder{root, ""})
	}
	if rel, err := filepath.Rel(workspace, own); err == nil && filepath.IsLocal(rel) {
		if root, err := os.OpenRoot(workspace); err == nil {
			folders = append(folders, imageFolder{root, filepath.ToSlash(rel)}, imageFolder{root, ""})
		}
	}
	return folders
}

func (f imageFolders) close() {
	for _, folder := range f {
		_ = folder.root.Close() // only read
	}
}

var errNoImage = errors.New("there is no such file in the source's folder or the workspace")

// read reads an image as the source names it: from its own folder, else from the
// workspace's.
func (f imageFolders) read(destination string) ([]byte, error) {
	if name, err := url.PathUnescape(destination); err == nil {
		destination = name
	}
	if path.IsAbs(destination) || filepath.IsAbs(destination) {
		return nil, errors.New("its path is absolute")
	}
	for _, folder := range f {
		name := filepath.FromSlash(path.Join(folder.below, destination))
		if !filepath.IsLocal(name) {
			continue
		}
		data, err := readImage(folder.root, name)
		if !errors.Is(err, fs.ErrNotExist) {
			return data, err
		}
	}
	return nil, errNoImage
}

// maxImageFile is the largest image that is read, in bytes.
const maxImageFile = 20_000_000

func readImage(root *os.Root, name string) ([]byte, error) {
	info, err := root.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no file")
	case info.Size() > maxImageFile:
		return nil, fmt.Errorf("it has more than %d bytes", maxImageFile)
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(file, maxImageFile+1))
	return data, errors.Join(err, file.Close())
}

// mayPointTo refuses a folder that a configuration names outside of the project, the
// home folder and those for temporary files, unless the user has consented.
func mayPointTo(e *cli.Environ, at materialize.Location, setting, dir string) error {
	there := folder.WithoutLinks(dir)
	for _, around := range []string{at.Main, at.Root, e.Home(), os.TempDir(), "/tmp"} {
		around, err := filepath.EvalSymlinks(around)
		below, relErr := filepath.Rel(around, there)
		if err == nil && relErr == nil && filepath.IsLocal(below) && around != filepath.Dir(around) {
			return nil
		}
	}
	if u := e.User(); !u.Trusts(at.Store) {
		return u.Refuse(at.Store, "its "+setting+" "+dir+" lies outside of the project, the home folder and /tmp")
	}
	return nil
}
