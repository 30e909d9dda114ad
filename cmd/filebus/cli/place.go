package cli

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"filebus/materialize"
	"filebus/store/record"
)

// IsThere reports whether there is a file, folder or link of a name.
func IsThere(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

// ErrNoPlace says that a store is not made where it would be.
const ErrNoPlace record.Reason = "no place for a store"

// mayBecomeStore reports whether a folder is missing, empty, or of the name that stores have.
func mayBecomeStore(dir string) bool {
	ignore, _ := os.ReadFile(filepath.Join(dir, ".gitignore")) // a store begins with it
	entries, _ := os.ReadDir(dir)
	return filepath.Base(dir) == materialize.StoreFolder || len(entries) == 0 || string(ignore) == "*\n"
}

// confirm asks whoever types whether a store shall be made.
func (e *Environ) confirm(dir string) bool {
	if !e.InTerminal {
		return false
	}
	fmt.Fprintf(e.Err, "filebus: %s is the home folder or the top of a disk; make a store here? [y/N] ", dir)
	answer, _ := bufio.NewReader(e.In).ReadString('\n') // none is no
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(answer)), "y")
}

// StoreFlag returns the flag that names a store, with a space before it; nothing for
// no store.
func (e *Environ) StoreFlag(folder string) string {
	if folder == "" {
		return ""
	}
	if short := e.ShortPath(folder); short != folder {
		return " --store ~/" + record.ShellWord(filepath.ToSlash(short[2:])) // a shell expands no tilde in quotes
	}
	return " --store " + record.ShellWord(folder)
}

// ShortPath writes a path below the home folder with a tilde.
func (e *Environ) ShortPath(path string) string {
	home := e.Home()
	below, err := filepath.Rel(home, path)
	if home == "" || err != nil || !filepath.IsLocal(below) || below == "." {
		return path
	}
	return "~/" + strings.ReplaceAll(below, "\\", "/")
}

// RepairHint is the command that repairs a store.
const RepairHint = "filebus verify --repair"
