package markdown

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTables reads tables that are written in many ways.
func TestTables(t *testing.T) {
	t.Parallel()
	const text = "\ufeff| **Agent Name** | `R0`|Total |\r\n|:--|:-:|--:|\r\n| 🧁 Muffin | 5 | **12** pts |\r\n" +
		"|short|\r\n  | a \\| b | 1 | 2 | more\r\n\r\n" +
		"| no | table |\r\n| a | b |\r\n```\r\n| x |\r\n|---|\r\n```\r\n<!-- | y |\r\n|---|\r\n-->\r\n" +
		"| z |\r\n|---|\r\n# end\r\n| last |\r\n|---|"
	var got []string
	for _, table := range Tables(Lines([]byte(text))) {
		got = append(got, strings.Join(table.Columns, "/"))
		for _, row := range table.Rows {
			got = append(got, fmt.Sprintf("%d: %s", row.Line, strings.Join(row.cells, "/")))
		}
	}
	want := []string{"agent_name/`r0`/total", "3: 🧁 Muffin/5/12 pts", "4: short", "5: a | b/1/2/more", "z", "last"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tables of %q (-want +got):\n%s", text, diff)
	}
}

func TestTableCells(t *testing.T) {
	t.Parallel()
	tables := Tables(Lines([]byte("| ID | Score | Round |\n|---|---|---|\n| T1 | 94% | R2 |\n| T2 | none |\n")))
	if len(tables) != 1 || len(tables[0].Rows) != 2 {
		t.Fatalf("read %+v, want one table of two rows", tables)
	}
	table := tables[0]
	if got := table.Column("points", "score"); got != 1 {
		t.Errorf("the column of points or score is %d, want 1", got)
	}
	if got := table.Column("points"); got != -1 {
		t.Errorf("the column of points is %d, want -1", got)
	}
	for _, test := range []struct {
		row, column int
		text        string
		n           int
		found       bool
	}{{0, 0, "T1", 0, false}, {0, 1, "94%", 94, true}, {0, 2, "R2", 2, true}, {1, 1, "none", 0, false}, {1, 2, "", 0,
		false}, {1, -1, "", 0, false}} {
		row := table.Rows[test.row]
		n, found := CellNumber(row.Cell(test.column))
		if got := row.Cell(test.column); got != test.text || n != test.n || found != test.found {
			t.Errorf("cell %d of row %d is %q, %d, %t, want %q, %d, %t", test.column, test.row, got, n, found,
				test.text, test.n, test.found)
		}
	}
}

func TestCellNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"12": 12, "**12**": 12, "r 3": 3, "92 points": 92, "1000000000": maxNumber,
		"1000000001": -1, "99999999999999999999": -1, "-3": -1, "x1": -1, "": -1,
	} {
		if n, found := CellNumber(text); found != (want >= 0) || found && n != want {
			t.Errorf("CellNumber(%q) = %d, %t, want %d", text, n, found, want)
		}
	}
}

// TestAppendTable writes tables and reads them again.
func TestAppendTable(t *testing.T) {
	t.Parallel()
	head, wide := AppendHead(nil, "A|B", "Größe"), AppendWideHead(nil, "A|B", "Größe")
	if want := "| A\\|B | Größe |\n|---|---|\n"; string(head) != want {
		t.Errorf("AppendHead = %q, want %q", head, want)
	}
	if want := "| A\\|B | Größe |\n|-----|-------|\n"; string(wide) != want {
		t.Errorf("AppendWideHead = %q, want %q", wide, want)
	}
	text := AppendRow(head, "x\n y", "")
	if want := "| x y |  |\n"; !strings.HasSuffix(string(text), want) {
		t.Errorf("AppendRow gives %q, want %q at its end", text, want)
	}
	if got, want := string(AppendTightRow(nil, "", "|")), "| | \\| |\n"; got != want {
		t.Errorf("AppendTightRow = %q, want %q", got, want)
	}
	tables := Tables(Lines(text))
	if len(tables) != 1 || tables[0].Columns[0] != "a|b" || tables[0].Rows[0].Cell(0) != "x y" {
		t.Errorf("%q is read as %+v", text, tables)
	}
}

func TestNoCell(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"": true, " — ": true, "-": true, "–": true, "0": false, "- a": false} {
		if got := IsNoCell(text); got != want {
			t.Errorf("IsNoCell(%q) = %t, want %t", text, got, want)
		}
	}
}

func TestClosedRow(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"| a |": true, "| a": false, `| a \|`: false, "": false} {
		if got := IsClosedRow([]byte(text)); got != want {
			t.Errorf("IsClosedRow(%q) = %t, want %t", text, got, want)
		}
	}
}

func TestHasRow(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"a\n  | b |": true, "a | b": false, "~~~\n| a |\n~~~\n": false,
		"~~~\n| a |\n": true, "": false} {
		if got := HasRow(text); got != want {
			t.Errorf("HasRow(%q) = %t, want %t", text, got, want)
		}
	}
}
