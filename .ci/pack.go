//go:build ignore

// Pack puts folders into archives that have the same bytes wherever and whenever they are
// made: sorted, of one time, owned by nobody.
//
//	go run .ci/pack.go SECONDS FOLDER...
//
// The archive of a folder is FOLDER.tar.gz beside it, or FOLDER.zip if a program for Windows
// is in it. SECONDS is the Unix time of all files. The programs alone can be run.
package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"log"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing/fstest"
	"time"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("pack: ")
	if len(os.Args) < 3 {
		log.Fatal("usage: go run .ci/pack.go SECONDS FOLDER...")
	}
	seconds, err := strconv.ParseInt(os.Args[1], 10, 64)
	if err != nil {
		log.Fatal(err)
	}
	for _, folder := range os.Args[2:] {
		if err := pack(folder, time.Unix(seconds, 0).UTC()); err != nil {
			log.Fatal(err)
		}
	}
}

func pack(folder string, written time.Time) error {
	files, err := read(folder, written)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(folder, "filebus.exe")); err == nil {
		return write(folder+".zip", func(w io.Writer) error {
			z := zip.NewWriter(w)
			return errors.Join(z.AddFS(files), z.Close())
		})
	}
	return write(folder+".tar.gz", func(w io.Writer) error {
		g := gzip.NewWriter(w)
		t := tar.NewWriter(g)
		return errors.Join(t.AddFS(files), t.Close(), g.Close())
	})
}

// read returns what lies in a folder, below its name. Of files in memory the writers of
// archives know no owner.
func read(folder string, written time.Time) (fstest.MapFS, error) {
	files := fstest.MapFS{}
	above := os.DirFS(filepath.Dir(folder))
	err := fs.WalkDir(above, filepath.Base(folder), func(name string, d fs.DirEntry, err error) error {
		file := &fstest.MapFile{Mode: 0o644, ModTime: written}
		switch {
		case err != nil:
			return err
		case d.IsDir():
			file.Mode = fs.ModeDir | 0o755
		default:
			file.Data, err = fs.ReadFile(above, name)
		}
		if strings.TrimSuffix(path.Base(name), ".exe") == "filebus" {
			file.Mode = 0o755
		}
		files[name] = file
		return err
	})
	return files, err
}

func write(name string, content func(io.Writer) error) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(content(file), file.Close())
}
