package task

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"filebus/materialize/layout"
	"filebus/store/record"
)

// looksLike reports whether a file's name may be meant as the marker of a task,
// though it is not: another case or ending, a prefix or suffix, a slip of the
// pen. Numbers must be the same, as those of two tasks differ.
func looksLike(file string, id ID) bool {
	name := strings.ToLower(stem(file))
	want := strings.ToLower(id.key())
	if name == want || name == "task-"+want {
		return true
	}
	parts, wanted := pieces(name), pieces(want)
	if len(wanted) == 0 || len(parts) == 0 {
		return false
	}
	if len(wanted) == 1 && digits(wanted) != "" {
		return slices.Contains(words(name), wanted[0]) // L001 is not 001
	}
	if strings.Contains(" "+strings.Join(parts, " ")+" ", " "+strings.Join(wanted, " ")+" ") {
		return true
	}
	if wanted[0] != "task" && parts[0] == "task" {
		parts = parts[1:]
	}
	joined, whole := strings.Join(parts, ""), strings.Join(wanted, "")
	if digits(parts) != digits(wanted) {
		return false
	}
	return distance(joined, whole) <= min(2, len(whole)/4)
}

// stem returns the name of a file without what may be taken for its ending.
func stem(file string) string {
	for _, ending := range []string{".tmp", ".md", ".txt", ".json"} {
		file = strings.TrimSuffix(file, ending)
	}
	lower := strings.ToLower(file)
	for _, ending := range []string{".done", ".failed", ".complete", ".completed", ".finished", "_done", "-done"} {
		if strings.HasSuffix(lower, ending) {
			return file[:len(file)-len(ending)]
		}
	}
	return file
}

// pieces cuts a name into its words and numbers, the numbers without zeros at
// their beginning.
func pieces(name string) []string {
	var all []string
	var last rune // 'a' in a word, '0' in a number
	for _, r := range name {
		class := rune(0)
		switch {
		case unicode.IsDigit(r):
			class = '0'
		case unicode.IsLetter(r):
			class = 'a'
		}
		if class != 0 && class == last {
			all[len(all)-1] += string(r)
		} else if class != 0 {
			all = append(all, string(r))
		}
		last = class
	}
	return trimZeros(all)
}

// words cuts a name at what is neither letter nor digit.
func words(name string) []string {
	return trimZeros(strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }))
}

// trimZeros takes the zeros at the beginning of numbers away.
func trimZeros(list []string) []string {
	for i, p := range list {
		if trimmed := strings.TrimLeft(p, "0"); trimmed != "" {
			list[i] = trimmed
		}
	}
	return list
}

// digits returns the numbers among pieces, joined.
func digits(parts []string) string {
	var all []string
	for _, p := range parts {
		if p[0] >= '0' && p[0] <= '9' {
			all = append(all, p)
		}
	}
	return strings.Join(all, " ")
}

// distance returns how many letters have to be put in, left out or exchanged, or
// swapped with their neighbour, to make one word of another.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for k := range rows[0] {
		rows[0][k] = k
	}
	for i := 1; i <= len(x); i++ {
		for k := 1; k <= len(y); k++ {
			cost := 1
			if x[i-1] == y[k-1] {
				cost = 0
			}
			rows[i][k] = min(rows[i-1][k]+1, rows[i][k-1]+1, rows[i-1][k-1]+cost)
			if i > 1 && k > 1 && x[i-1] == y[k-2] && x[i-2] == y[k-1] {
				rows[i][k] = min(rows[i][k], rows[i-2][k-2]+1)
			}
		}
	}
	return rows[len(x)][len(y)]
}

// maxLookAlike is the longest name that is compared, in bytes.
const maxLookAlike = 255

// lookAlikes returns the files, absolute, that may be meant as the marker of a
// task: in the folder of markers, or in that of another profile. Markers of tasks
// that have a journal are those tasks' own.
func (b *Board) lookAlikes(id ID) []string {
	isOwn := map[string]bool{}
	for _, markerID := range b.markerIDs(id) {
		isOwn[b.work.FilePath(b.markerPath(markerID))] = true
	}
	var found []string
	for _, place := range b.places() {
		entries, err := os.ReadDir(place.dir)
		if err != nil {
			continue // it was there, or is made again by the watch
		}
		for _, entry := range entries {
			file := filepath.Join(place.dir, entry.Name())
			if len(entry.Name()) <= maxLookAlike && !isOwn[file] && looksLike(entry.Name(), id) && !b.isOthers(place.profile, entry.Name(), id) {
				found = append(found, file)
			}
		}
	}
	return found
}

// isOthers reports whether a file is the marker of another task, which has a
// journal.
func (b *Board) isOthers(profile layout.Profile, name string, id ID) bool {
	base, found := strings.CutSuffix(name, ".done")
	if !found {
		base, found = strings.CutSuffix(name, failedSuffix)
	}
	other, err := ParseID(base)
	if !found || err != nil || other.key() == id.key() {
		return false
	}
	p, err := profile.Path(record.KindHandoff, other.Journal())
	if err != nil {
		return false
	}
	_, err = os.Stat(b.work.FilePath(p))
	return err == nil
}
