package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// texts returns the text of each document by its number.
func (d *documents) texts(t *testing.T) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, entry := range entries {
		body, err := os.ReadFile(filepath.Join(d.dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		texts[d.number(entry.Name())] = string(body)
	}
	return texts
}

func TestReadDocuments(t *testing.T) {
	for _, test := range []struct {
		name      string
		files     map[string]string
		relevance judgements
		want      map[string]string
	}{
		{"one a file", map[string]string{"docs/D1.html": "<pre>a</pre>", "docs/D2": "b"}, judgements{"1": {"D1": 1}},
			map[string]string{"D1": "<pre>a</pre>", "D2": "b"}},
		{"judged with their endings", map[string]string{"docs/D1.txt": "a", "docs/D2.txt": "b"}, judgements{"1": {"D2.txt": 1}},
			map[string]string{"D1.txt": "a", "D2.txt": "b"}},
		{"several a file", map[string]string{
			"docs/part1": "<DOC>\n<DOCNO> FT911-3 </DOCNO>\n<HEADLINE>A lock</HEADLINE>\n<TEXT>\nif x < y\n</TEXT>\n</DOC>\n<doc><docno>a/b.1</docno>two</doc>",
			"docs/part2": "<DOC><DOCNO>a.b/1</DOCNO>three</DOC>\n<DOC>no number</DOC>",
		}, judgements{}, map[string]string{"FT911-3": "A lock \n \nif x < y\n", "a/b.1": "two\n", "a.b/1": "three\n"}},
	} {
		dir := t.TempDir()
		for name, body := range test.files {
			if err := writeFile(filepath.Join(dir, name), []byte(body)); err != nil {
				t.Fatal(err)
			}
		}
		d, err := (&bench{temp: t.TempDir()}).readDocuments(dir, test.relevance)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if diff := cmp.Diff(test.want, d.texts(t)); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.name, diff)
		}
	}
}

func TestReadPackedDocuments(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	archive := tar.NewWriter(z)
	for _, file := range []struct{ name, body string }{{"D1.html", "one"}, {"../D2.html", "outside"}} {
		if err := archive.WriteHeader(&tar.Header{Name: file.name, Mode: 0o666, Size: int64(len(file.body))}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(file.body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	b := &bench{temp: t.TempDir()}
	var missing *missingError
	if _, err := b.readDocuments(dir, nil); !errors.As(err, &missing) {
		t.Errorf("no documents: got %v, want a %T", err, missing)
	}
	if err := writeFile(filepath.Join(dir, "docs.tar.gz"), packed.Bytes()); err != nil {
		t.Fatal(err)
	}
	d, err := b.readDocuments(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"D1": "one"}, d.texts(t)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if err := os.WriteFile(filepath.Join(dir, "docs.tar.gz"), packed.Bytes()[:30], 0o666); err != nil {
		t.Fatal(err)
	}
	if d, err := b.readDocuments(dir, nil); err == nil {
		t.Errorf("half an archive: got %v, want an error", d)
	}
}
