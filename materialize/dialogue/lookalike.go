package dialogue

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/likeness"
	"filebus/store/record"
)

// aroundPause is how long a wait goes on before it looks around again.
const aroundPause = 2 * time.Second

// lookAround looks for what agents whose turns are missing may have left under
// another name or in another place. At the end of a wait it also names the files of
// the round that are nobody's.
func (w *waiter) lookAround(ctx context.Context, atEnd bool) {
	now := w.now()
	if !atEnd && now.Sub(w.around) < aroundPause {
		return
	}
	w.around = now
	for _, a := range w.turns {
		if a.State.IsComplete() {
			continue
		}
		a.Alike = w.alikes(ctx, a)
		for _, file := range a.Alike {
			info, err := os.Lstat(file)
			if err != nil || !atEnd && now.Sub(info.ModTime()) < materialize.StillFor || w.said[file] {
				continue // gone, or perhaps about to be renamed
			}
			w.said[file] = true
			if w.Alike != nil {
				w.Alike(a.seat, file)
			}
		}
	}
	if atEnd {
		w.sayStrangers()
	}
}

// sayStrangers names the files in the round's folder that look like turns, of
// agents that nobody has launched.
func (w *waiter) sayStrangers() {
	dir := filepath.Dir(w.turns[0].File)
	for _, entry := range entriesOf(dir) {
		stem, isMarkdown := strings.CutSuffix(strings.ToLower(entry.Name()), ".md")
		file := filepath.Join(dir, entry.Name())
		if !isMarkdown || entry.IsDir() || strings.HasSuffix(stem, ".prompt") || w.isKnown(stem) || w.said[file] {
			continue
		}
		w.say("%s is of nobody who owes a file in round %d", file, w.Round)
	}
}

// isKnown reports whether a name is that of an agent who owes a file in the round
// or takes part in the dialogue.
func (w *waiter) isKnown(name string) bool {
	if slices.ContainsFunc(w.turns, func(a *awaited) bool { return a.Agent == name }) || isAmong(w.dialogue.Pool.Experts, name) {
		return true
	}
	panel := w.dialogue.Round(w.Round).panel()
	return panel != nil && isAmong(panel.Experts, name)
}

// alikes returns the files, absolute, that may be meant as the turn of an agent: in
// the folder of the round or beside it, in that of another round if they are new
// there, and below the roots of other profiles and worktrees.
func (w *waiter) alikes(ctx context.Context, a *awaited) []string {
	round := filepath.Dir(a.File)
	top := filepath.Dir(round)
	found := w.alikesIn(round, a)
	for _, entry := range entriesOf(top) {
		dir := filepath.Join(top, entry.Name())
		number, isRound := strings.CutPrefix(entry.Name(), "round-")
		n, err := strconv.Atoi(number)
		switch {
		case dir == round:
		case !entry.IsDir():
			if entry.Type().IsRegular() && w.isAlike(entry.Name(), a.Agent) {
				found = append(found, dir)
			}
		case isRound && err == nil && roundFolder(n) == entry.Name():
			if file := filepath.Join(dir, filepath.Base(a.File)); w.isMisplaced(ctx, a, n, file) {
				found = append(found, file)
			}
		case digitsOf(entry.Name()) == strconv.Itoa(a.seat.Round):
			found = append(found, w.alikesIn(dir, a)...)
		}
	}
	return append(found, w.elsewhere(a)...)
}

// isMisplaced reports whether the file of an agent in another round may be meant for
// this one: the round has not begun, or it had a turn already, which was changed by
// hand since this round began.
func (w *waiter) isMisplaced(ctx context.Context, a *awaited, round int, file string) bool {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	r := w.dialogue.Round(round)
	if round > a.seat.Round && r.panel() == nil {
		return true
	}
	if r == nil || r.Turn(a.Agent) == nil || r.Turn(a.Agent).IsStub || !info.ModTime().After(w.since) {
		return false
	}
	h, err := w.head(ctx, Seat{Key: a.seat.Key, Round: round, Agent: a.Agent})
	if err != nil || isCommand(h.Version.Record.Source) && h.Version.Record.Size == info.Size() {
		return false
	}
	isLate, err := w.isLate(ctx, h.Version)
	return err == nil && !isLate
}

// alikesIn returns the files of a folder that may be meant as a turn.
func (w *waiter) alikesIn(dir string, a *awaited) []string {
	var found []string
	for _, entry := range entriesOf(dir) {
		file := filepath.Join(dir, entry.Name())
		if file != a.File && entry.Type().IsRegular() && w.isAlike(entry.Name(), a.Agent) {
			found = append(found, file)
		}
	}
	return found
}

// elsewhere returns the files that would be the turn in another profile, or in
// another worktree of the project.
func (w *waiter) elsewhere(a *awaited) []string {
	var found []string
	for _, profile := range layout.Profiles() {
		p, err := profile.Path(record.KindTurn, a.seat.name().ID)
		if err != nil || strings.HasPrefix(p, "~/") {
			continue
		}
		files := []string{p}
		if !strings.HasPrefix(p, "/") {
			files = nil
			for _, root := range append(w.w.Roots(), w.w.Root) {
				files = append(files, filepath.Join(root, filepath.FromSlash(p)))
			}
		}
		for _, file := range files {
			info, err := os.Lstat(file)
			if err == nil && info.Mode().IsRegular() && info.Size() > 0 && file != a.File && !slices.Contains(found, file) {
				found = append(found, file)
			}
		}
	}
	return found
}

// maxEntries bounds how many entries of a folder are looked at.
const maxEntries = 2000

// entriesOf lists a folder; none if it cannot be read.
func entriesOf(dir string) []fs.DirEntry {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()    // only read
	entries, _ := f.ReadDir(maxEntries) // what was read before an error is all there is to see
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries
}

// isAlike reports whether a file's name may be meant as that of an agent's turn: in
// another case, with another ending, with more words or numbers, or with a slip of
// the pen. The files of other agents are their own.
func (w *waiter) isAlike(file, agent string) bool {
	name := strings.ToLower(file)
	stem := stemOf(name)
	switch {
	case strings.HasPrefix(name, "."), strings.HasSuffix(name, ".prompt.md"), strings.HasSuffix(name, ".summary.md"):
		return false
	case stem == agent:
		return true
	case name == stem+".md" && w.isKnown(stem):
		return false
	}
	return likeness.Contains(likeness.Words(stem), likeness.Words(agent)) ||
		strings.TrimRight(stem, "0123456789") == agent || isSlip(stem, agent)
}

// stemOf returns a name without what may be taken for its ending.
func stemOf(name string) string {
	for {
		ending := filepath.Ext(name)
		switch ending {
		case ".md", ".markdown", ".mdx", ".txt", ".text", ".tmp", ".part", ".new", ".bak":
			name = strings.TrimSuffix(name, ending)
		default:
			return name
		}
	}
}

// digitsOf returns the number in a name that has one, without zeros before it.
func digitsOf(name string) string {
	digits := strings.TrimFunc(name, func(r rune) bool { return r < '0' || r > '9' })
	if n, err := strconv.Atoi(digits); err == nil {
		return strconv.Itoa(n)
	}
	return ""
}

// leastSlip is the shortest name, in letters, in which one letter more or less is a
// slip and no other name.
const leastSlip = 5

// isSlip reports whether one letter was left out, put in, exchanged or swapped with
// its neighbour.
func isSlip(a, b string) bool {
	if min(utf8.RuneCountInString(a), utf8.RuneCountInString(b)) < leastSlip-1 || utf8.RuneCountInString(b) < leastSlip {
		return false
	}
	return likeness.Slips(a, b) <= 1
}
