package main

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"filebus/cmd/filebus/cli"
)

func TestFileName(t *testing.T) {
	long := strings.Repeat("ü", 100)
	for title, want := range map[string]string{
		"Review Article": "Review Article.pdf", "draft.pdf": "draft.pdf", "draft.PDF": "draft.pdf", "v1.2": "v1.2.pdf",
		"a/b\\c:d*e?f\"g<h>i|j": "a b c d e f g h i j.pdf", "a\x00\tb\nc": "a b c.pdf", "a\xffb": "a b.pdf",
		"": "Document.pdf", "...": "Document.pdf", "/": "Document.pdf", ".pdf": "pdf.pdf", "../../x": "x.pdf",
		".hidden": "hidden.pdf", "end. ": "end.pdf", "con": "_con.pdf", "NUL.txt": "_NUL.txt.pdf", "com1": "_com1.pdf",
		"LPT¹": "_LPT¹.pdf", "COM10": "COM10.pdf", "company": "company.pdf", "a\u202eb": "ab.pdf",
		long: strings.Repeat("ü", 58) + ".pdf",
	} {
		if got := fileName(title); got != want {
			t.Errorf("fileName(%q) = %q, want %q", title, got, want)
		}
	}
}

func writeFile(t *testing.T, name string, data []byte) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(name), 0o777)
	if err == nil {
		err = os.WriteFile(name, data, 0o666)
	}
	if err != nil {
		t.Fatalf("writing: %v", err)
	}
}

// TestPDFImages makes sure that images come from the source's folder and from the
// workspace, and from nowhere else.
func TestPDFImages(t *testing.T) {
	t.Parallel()
	env, _, stderr := fakeEnviron(t)
	outside := t.TempDir()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatalf("encoding: %v", err)
	}
	for _, name := range []string{
		filepath.Join(env.Dir, "docs", "with space.png"), filepath.Join(env.Dir, "top.png"), filepath.Join(outside, "out.png"),
	} {
		writeFile(t, name, picture.Bytes())
	}
	if err := os.Symlink(filepath.Join(outside, "out.png"), filepath.Join(env.Dir, "docs", "link.png")); err != nil {
		t.Logf("no link out of the folder is tried: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(env.Dir, "docs", "folder.png"), 0o777); err != nil {
		t.Fatal(err)
	}
	escape := filepath.ToSlash(filepath.Join("..", "..", filepath.Base(outside), "out.png"))
	for destination, want := range map[string]string{
		"with%20space.png": "", "./with%20space.png": "", "../top.png": "", "top.png": "",
		"none.png": "there is no such file", escape: "there is no such file",
		filepath.ToSlash(filepath.Join(outside, "out.png")): "",
		"link.png":   "is shown as its text",
		"folder.png": "it is no file",
	} {
		if filepath.IsAbs(destination) {
			want = "is shown as its text" // with a drive, it is said to be no file
		}
		stderr.Reset()
		writeFile(t, filepath.Join(env.Dir, "docs", "source.md"), []byte("![x](<"+destination+">)\n"))
		code := run(t.Context(), env, []string{"pdf", "docs/source.md", "--out", "out", "--force"})
		got := strings.TrimSpace(strings.ReplaceAll(stderr.String(),
			"filebus: made a store in "+filepath.Join(env.Dir, ".filebus"), ""))
		if code != cli.ExitDone || !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("image %s: code %d, stderr %q, want %q", destination, code, got, want)
		}
	}
}

// TestPDFAtOnce lets several processes' worth of commands write the same document,
// and others to the same file: one of these wins.
func TestPDFAtOnce(t *testing.T) {
	t.Parallel()
	env, _, _ := fakeEnviron(t)
	writeFile(t, filepath.Join(env.Dir, "a.md"), []byte("# A\n\nsame\n"))
	if code := run(t.Context(), env, []string{"init"}); code != cli.ExitDone {
		t.Fatalf("init: code %d", code)
	}
	const n = 8
	var outs [2 * n]bytes.Buffer
	var codes [2 * n]int
	var wait sync.WaitGroup
	for i := range codes {
		other := filepath.Join(env.Dir, fmt.Sprintf("b%d.md", i))
		writeFile(t, other, fmt.Appendf(nil, "# B\n\nother %d\n", i))
		wait.Go(func() {
			own := *env
			own.Out, own.Err = &outs[i], &outs[i]
			args := []string{"pdf", "a.md", "--out", "out/a.pdf"}
			if i >= n {
				args = []string{"pdf", other, "--out", "out/b.pdf"}
			}
			codes[i] = run(t.Context(), &own, args)
		})
	}
	wait.Wait()
	won := 0
	for i, code := range codes {
		switch {
		case i < n && code != cli.ExitDone, code != cli.ExitDone && code != cli.ExitConflict:
			t.Errorf("command %d: code %d, %s", i, code, outs[i].String())
		case i >= n && code == cli.ExitDone:
			won++
		}
	}
	if won != 1 {
		t.Errorf("%d of %d commands have written the same file, want 1", won, n)
	}
	left, err := filepath.Glob(filepath.Join(env.Dir, "out", ".filebus-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
}
