package run

import (
	"bytes"
	"fmt"
	"slices"
)

// unifiedContext is how many unchanged lines stand around a change.
const unifiedContext = 3

// maxCompared bounds the product of the lines that are compared; of longer texts
// all lines between the first and the last difference count as changed.
const maxCompared = 4_000_000

// unifiedDiff returns the difference of two texts as diff -u prints it, or
// nothing if they are the same.
func unifiedDiff(oldName, newName string, a, b []byte) []byte {
	if bytes.Equal(a, b) {
		return nil
	}
	d := &unified{a: splitLines(a), b: splitLines(b)}
	d.compare()
	d.out = fmt.Appendf(nil, "--- %s\n+++ %s\n", oldName, newName)
	d.hunks()
	return d.out
}

func splitLines(text []byte) [][]byte { return slices.Collect(bytes.Lines(text)) }

// A unified is a comparison of two texts.
type unified struct {
	a, b [][]byte
	ops  []lineOp // in order
	out  []byte
}

// A lineOp is a line of the difference: ' ', '-' or '+'.
type lineOp struct {
	sign byte
	i, j int // where it stands in a and b
}

// compare finds the lines that both texts have, in order, as many as possible.
func (d *unified) compare() {
	first := 0
	for first < len(d.a) && first < len(d.b) && bytes.Equal(d.a[first], d.b[first]) {
		d.ops = append(d.ops, lineOp{' ', first, first})
		first++
	}
	last := 0
	for last < len(d.a)-first && last < len(d.b)-first && bytes.Equal(d.a[len(d.a)-1-last], d.b[len(d.b)-1-last]) {
		last++
	}
	d.middle(first, len(d.a)-last, len(d.b)-last)
	for k := last; k > 0; k-- {
		d.ops = append(d.ops, lineOp{' ', len(d.a) - k, len(d.b) - k})
	}
}

// middle compares the lines from first up to the ends.
func (d *unified) middle(first, endA, endB int) {
	n, m := endA-first, endB-first
	var longest [][]int32 // common lines from (i, j) on
	if n*m <= maxCompared {
		longest = make([][]int32, n+1)
		for i := range longest {
			longest[i] = make([]int32, m+1)
		}
		for i := n - 1; i >= 0; i-- {
			for j := m - 1; j >= 0; j-- {
				if bytes.Equal(d.a[first+i], d.b[first+j]) {
					longest[i][j] = longest[i+1][j+1] + 1
				} else {
					longest[i][j] = max(longest[i+1][j], longest[i][j+1])
				}
			}
		}
	}
	i, j := 0, 0
	for i < n || j < m {
		switch {
		case longest != nil && i < n && j < m && bytes.Equal(d.a[first+i], d.b[first+j]):
			d.ops = append(d.ops, lineOp{' ', first + i, first + j})
			i, j = i+1, j+1
		case i < n && (j == m || longest == nil || longest[i+1][j] >= longest[i][j+1]):
			d.ops = append(d.ops, lineOp{'-', first + i, first + j})
			i++
		default:
			d.ops = append(d.ops, lineOp{'+', first + i, first + j})
			j++
		}
	}
}

// hunks writes the changes with the lines around them.
func (d *unified) hunks() {
	for at := 0; at < len(d.ops); {
		next := slices.IndexFunc(d.ops[at:], func(op lineOp) bool { return op.sign != ' ' })
		if next < 0 {
			return
		}
		from := max(at, at+next-unifiedContext)
		end, same := at+next, 0 // the hunk ends where twice as many lines are the same
		for end < len(d.ops) && same <= 2*unifiedContext {
			if same++; d.ops[end].sign != ' ' {
				same = 0
			}
			end++
		}
		to := min(end, max(end-same+unifiedContext, at+next+1))
		d.hunk(d.ops[from:to])
		at = to
	}
}

// hunk writes one hunk.
func (d *unified) hunk(ops []lineOp) {
	before, after := 0, 0
	for _, op := range ops {
		if op.sign != '+' {
			before++
		}
		if op.sign != '-' {
			after++
		}
	}
	d.out = fmt.Appendf(d.out, "@@ -%s +%s @@\n", hunkRange(ops[0].i, before), hunkRange(ops[0].j, after))
	for _, op := range ops {
		line := d.b
		at := op.j
		if op.sign == '-' {
			line, at = d.a, op.i
		}
		d.out = append(append(d.out, op.sign), line[at]...)
		if !bytes.HasSuffix(line[at], []byte("\n")) {
			d.out = append(d.out, "\n\\ No newline at end of file\n"...)
		}
	}
}

// hunkRange returns where lines stand, as diff -u writes it.
func hunkRange(first, count int) string {
	if count == 0 {
		return fmt.Sprintf("%d,0", first)
	}
	return fmt.Sprintf("%d,%d", first+1, count)
}
