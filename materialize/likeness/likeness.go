// Package likeness tells how much two words, names or texts are alike: whether one may be a
// slip of the pen for the other, or what somebody says is known already. It owns what all
// others compare by, and in which order they name what is alike. It reads and writes nothing.
package likeness

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words cuts a name at what is neither letter nor digit.
func Words(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// Pieces cuts a name into its words and numbers, the numbers without zeros at their
// beginning: BUILD-012b is BUILD, 12, b.
func Pieces(name string) []string {
	var all []string
	for _, word := range Words(name) {
		var last rune
		for _, r := range word {
			if last == 0 || unicode.IsDigit(r) != unicode.IsDigit(last) {
				all = append(all, "")
			}
			all[len(all)-1] += string(r)
			last = r
		}
	}
	for i, p := range all {
		all[i] = cmp.Or(strings.TrimLeft(p, "0"), p)
	}
	return all
}

// Contains reports whether part, of one word or more, is a run of words of all.
func Contains(all, part []string) bool {
	return len(part) > 0 && strings.Contains(" "+strings.Join(all, " ")+" ", " "+strings.Join(part, " ")+" ")
}

// IsMeant reports whether a name may be meant as another one: it has the same words among others,
// or it is a slip of the pen or two away. The numbers of both are the same, since they tell things
// apart: L001 is not 001. Case is for the caller.
func IsMeant(name, want string) bool {
	parts, wanted := Pieces(name), Pieces(want)
	switch {
	case len(wanted) == 0 || len(parts) == 0:
		return false
	case len(wanted) == 1 && numbers(wanted) != "":
		isWanted := func(word string) bool { return slices.Equal(Pieces(word), wanted) }
		return slices.ContainsFunc(Words(name), isWanted)
	case Contains(parts, wanted):
		return true
	}
	whole := strings.Join(wanted, "")
	return numbers(parts) == numbers(wanted) && Slips(strings.Join(parts, ""), whole) <= min(2, len(whole)/4)
}

// numbers returns the numbers among pieces, joined.
func numbers(parts []string) string {
	isWord := func(p string) bool { return p[0] < '0' || p[0] > '9' }
	return strings.Join(slices.DeleteFunc(slices.Clone(parts), isWord), " ")
}

// Slips returns how many letters have to be put in, left out or exchanged, or swapped
// with their neighbour, to make one word of another, in any case.
func Slips(a, b string) int {
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
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
			same := rows[i-1][k-1]
			if x[i-1] != y[k-1] {
				same++
			}
			rows[i][k] = min(rows[i-1][k]+1, rows[i][k-1]+1, same)
			if i > 1 && k > 1 && x[i-1] == y[k-2] && x[i-2] == y[k-1] {
				rows[i][k] = min(rows[i][k], rows[i-2][k-2]+1)
			}
		}
	}
	return rows[len(x)][len(y)]
}

// IsSlip reports whether one slip of the pen at most makes one word of another.
func IsSlip(a, b string) bool {
	return max(len(a)-len(b), len(b)-len(a)) <= utf8.UTFMax && Slips(a, b) <= 1
}

// IsNear reports whether somebody who wrote one name may have meant another: in any case, one
// is a part of the other, or a slip of the pen away from it.
func IsNear(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return a != "" && b != "" && (strings.Contains(a, b) || strings.Contains(b, a) || IsSlip(a, b))
}

// Nearest returns those of some values that are spelled most like a word, in any case. A
// third of its letters may be wrong, one at least and two at most.
func Nearest[T ~string](word string, values []T) (near []T) {
	least := min(2, max(1, len(word)/3))
	for _, value := range values {
		slips := Slips(word, string(value))
		if slips < least {
			least, near = slips, nil
		}
		if slips == least {
			near = append(near, value)
		}
	}
	return near
}
