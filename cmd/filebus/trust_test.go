package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"filebus/cmd/filebus/cli"
	"filebus/materialize"
	"filebus/store/record"
)

// TestMayPointTo names folders in a configuration, plainly and by links.
func TestMayPointTo(t *testing.T) {
	home, main := t.TempDir(), t.TempDir()
	// What lies outside must not lie below the folder for temporary files.
	outside := filepath.VolumeName(main) + string(filepath.Separator) + "no such folder"
	at := materialize.Location{Store: makeStore(t, filepath.Join(main, ".filebus")), Main: main, Root: main}
	link := filepath.Join(main, "link")
	if err := os.Symlink(outside, link); err != nil {
		t.Skip(err)
	}
	for _, to := range []string{filepath.VolumeName(main) + string(filepath.Separator), filepath.Dir(outside)} {
		if err := os.Symlink(to, filepath.Join(main, "root")); err == nil {
			break
		}
	}
	for _, test := range []struct {
		folder string
		may    bool
	}{
		{main, true},
		{filepath.Join(main, "papers"), true},
		{filepath.Join(main, "a", "b", "c"), true},
		{filepath.Join(home, "papers"), true},
		{filepath.Join(os.TempDir(), "papers"), true},
		{outside, false},
		{filepath.Join(outside, "papers"), false},
		{filepath.Join(home, "..", "..", "..", "..", "..", "..", "etc"), false},
		{filepath.Join(main, "root", "no such folder", "papers"), false},
		{filepath.VolumeName(main) + string(filepath.Separator), false},
	} {
		env := environWith(main, map[string]string{"HOME": home, "FILEBUS_STATE": filepath.Join(home, "state")})
		err := mayPointTo(env, at, "pdf_dir", test.folder)
		if (err == nil) != test.may || err != nil && !errors.Is(err, record.Untrusted) {
			t.Errorf("mayPointTo(%s) = %v, want %v", test.folder, err, test.may)
		}
		env = environWith(main, map[string]string{"HOME": home, "FILEBUS_TRUST": main})
		if err := mayPointTo(env, at, "pdf_dir", test.folder); err != nil {
			t.Errorf("mayPointTo(%s) = %v with consent", test.folder, err)
		}
	}
}

// TestPDFFolderOutside refuses a document whose place somebody else has configured.
func TestPDFFolderOutside(t *testing.T) {
	dir := t.TempDir()
	folder := makeStore(t, filepath.Join(dir, ".filebus"))
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(folder, cli.ConfigFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	variables := map[string]string{"HOME": dir, "FILEBUS_STORE": folder}
	for _, pdfDir := range []string{"/no such folder", "~/../../../../../../../no such folder", "../../../../../../../x"} {
		write("pdf_dir = '" + pdfDir + "'\n")
		if got, err := pdfFolder(environWith(dir, variables)); !errors.Is(err, record.Untrusted) {
			t.Errorf("pdfFolder() with %s = %s, %v", pdfDir, got, err)
		}
	}
	write("pdf_dir = 'papers'\n")
	if got, err := pdfFolder(environWith(dir, variables)); got != filepath.Join(dir, "papers") || err != nil {
		t.Errorf("pdfFolder() = %s, %v", got, err)
	}
}
