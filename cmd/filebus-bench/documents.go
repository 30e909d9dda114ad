package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// documents are those of a judged collection, each a file.
type documents struct {
	dir     string
	numbers map[string]string // of files that hold one of several documents, by name
	ending  bool              // a document's number has the ending of its file
}

// readDocuments finds the documents of a collection: the files in docs, or in the
// archive docs.tar.gz. A file of several documents in the form of TREC, blocks
// <DOC> with a <DOCNO>, is cut into one file each, in a temporary folder.
func (b *bench) readDocuments(dir string, relevance judgements) (*documents, error) {
	d := &documents{dir: filepath.Join(dir, "docs"), numbers: make(map[string]string)}
	if _, err := os.Stat(d.dir); errors.Is(err, fs.ErrNotExist) {
		if d.dir, err = b.folder("documents"); err != nil {
			return nil, err
		}
		if err := unpack(d.dir, dir); err != nil {
			return nil, err
		}
	}
	blocks, err := hasBlocks(d.dir)
	if err != nil {
		return nil, err
	}
	if blocks {
		from := d.dir
		if d.dir, err = b.folder("documents"); err != nil {
			return nil, err
		}
		if err := d.cut(from); err != nil {
			return nil, err
		}
	}
	for _, judged := range relevance {
		for number := range judged {
			d.ending = d.ending || filepath.Ext(number) != "" && exists(filepath.Join(d.dir, number))
		}
	}
	return d, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// number returns the number of the document in a file: what the file says, or its
// name without its ending.
func (d *documents) number(file string) string {
	base := path.Base(file)
	if number, known := d.numbers[base]; known {
		return number
	}
	if d.ending {
		return base
	}
	return strings.TrimSuffix(base, path.Ext(base))
}

// unpack writes the files of the archive docs.tar.gz in a folder.
func unpack(to, dir string) error {
	file, err := os.Open(filepath.Join(dir, "docs.tar.gz"))
	if err != nil {
		return &missingError{filepath.Join(dir, "docs") + " or docs.tar.gz"}
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("unpacking %s: %w", file.Name(), err)
	}
	for archive := tar.NewReader(z); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("unpacking %s: %w", file.Name(), err)
		}
		if header.Typeflag != tar.TypeReg || !filepath.IsLocal(header.Name) {
			continue
		}
		body, err := io.ReadAll(archive)
		if err != nil {
			return fmt.Errorf("unpacking %s: %w", header.Name, err)
		}
		if err := writeFile(filepath.Join(to, header.Name), body); err != nil {
			return err
		}
	}
}

var (
	documentBlock = regexp.MustCompile(`(?is)<DOC>(.*?)</DOC>`)
	documentID    = regexp.MustCompile(`(?is)<DOCNO>\s*(\S+?)\s*</DOCNO>`)
	unsafeInName  = regexp.MustCompile(`[^A-Za-z0-9._-]`)
	documentTag   = regexp.MustCompile(`</?[A-Za-z][^<>]*>`)
)

// hasBlocks reports whether the first file of a folder is in the form of TREC.
func hasBlocks(dir string) (found bool, err error) {
	err = eachFile(dir, func(body []byte) error {
		found = documentBlock.Match(body) && documentID.Match(body)
		return filepath.SkipAll
	})
	return found, err
}

// eachFile calls visit with the text of each file below a folder.
func eachFile(dir string, visit func(body []byte) error) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return visit(body)
	})
}

// cut writes each document of the files in a folder to a file of its own, without
// its tags and number.
func (d *documents) cut(from string) error {
	return eachFile(from, func(body []byte) error {
		for _, block := range documentBlock.FindAllSubmatch(body, -1) {
			id := documentID.FindSubmatch(block[1])
			if id == nil {
				continue
			}
			text := strings.Replace(string(block[1]), string(id[0]), "", 1)
			name := fmt.Sprintf("%06d-%s.txt", len(d.numbers), unsafeInName.ReplaceAllString(string(id[1]), "_"))
			d.numbers[name] = string(id[1])
			text = strings.TrimSpace(documentTag.ReplaceAllString(text, " ")) + "\n"
			if err := writeFile(filepath.Join(d.dir, name), []byte(text)); err != nil {
				return err
			}
		}
		return nil
	})
}
