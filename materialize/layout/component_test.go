package layout

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestComponentRoundTrip(t *testing.T) {
	t.Parallel()
	tests := []struct {
		columns   []string
		component Component
		row       string
	}{
		{components.columns(), Component{Name: "src/auth/", Modified: "task-003", Notes: "JWT | tokens"},
			"| src/auth/ | task-003 | JWT \\| tokens |\n"},
		{components.columns(), Component{Name: "src/a"}, "| src/a | | |\n"},
		{[]string{"Notes", "Owner", "component", "Location"},
			Component{Name: "Form", Location: "src/Form.tsx", Notes: `\`, Extra: []Property{{"Owner", "agent-1"}}},
			"| \\ | agent-1 | Form | src/Form.tsx |\n"},
	}
	for _, test := range tests {
		row := appendComponent(nil, test.component, test.columns)
		if string(row) != test.row {
			t.Errorf("appendComponent(%+v) = %q, want %q", test.component, row, test.row)
		}
		got, err := parseComponent(row, test.columns)
		if diff := cmp.Diff(test.component, got); diff != "" || err != nil {
			t.Errorf("parseComponent(%q) (-want +got):\n%s\nerror %v", row, diff, err)
		}
	}
}

func TestParseComponentErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ row, name, err string }{
		{"| a | b | c |", "a", ""},
		{"a | b | c", "", "line is not a table row"},
		{"| | b | c |", "", "table row names no component"},
		{"| a | b |", "a", "table row has 2 cells, its header 3"},
		{"| a | b | c | d |\r\n", "a", "table row has 4 cells, its header 3"},
		{"", "", "line is not a table row"},
	}
	for _, test := range tests {
		got, err := parseComponent([]byte(test.row), components.columns())
		message := ""
		if err != nil {
			message = err.Error()
		}
		if got.Name != test.name || message != test.err {
			t.Errorf("parseComponent(%q) = %q, %q, want %q, %q", test.row, got.Name, message, test.name, test.err)
		}
	}
}

func TestComponentID(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, want string }{
		{"src/auth/", "src/auth"}, {"`src/auth/`", "src/auth"}, {" ` a b ` ", "a b"}, {"Form", "Form"},
		{"/etc/app", ""}, {"a//b", ""}, {"../x", ""}, {"", ""}, {"/", ""},
	}
	for _, test := range tests {
		if got := (Component{Name: test.name}).ID(); got != test.want {
			t.Errorf("ID of component %q = %q, want %q", test.name, got, test.want)
		}
	}
}

func TestSetComponentField(t *testing.T) {
	t.Parallel()
	set := func(text []byte, field, value string) []byte {
		var c Component
		if f := components.field(field); f.text != nil {
			*f.text(&c) = value
		}
		return components.update(text, components.columns(), c)
	}
	runSets(t, set, []setCase{
		{"cell", "| src/a/  | task-1 | n |\r\n", "Last Modified", "task-2", "| src/a/  | task-2 | n |\r\n"},
		{"other name", "| src/a | task-1 | n |", "modified", "task-2", "| src/a | task-2 | n |"},
		{"pipe", "| src/a | task-1 | n |\n", "Notes", "a|b", "| src/a | task-1 | a\\|b |\n"},
		{"empty cell", "| src/a || n |\n", "Last Modified", "task-2", "| src/a | task-2 | n |\n"},
		{"short row", "| src/a |\n", "Notes", "n", "| src/a |  | n |\n"},
		{"short open row", "| src/a", "Last Modified", "task-2", "| src/a | task-2 |"},
		{"no such column", "| src/a |\n", "Owner", "x", "| src/a |\n"},
		{"no row", "text\n", "Notes", "x", "text\n"},
	})
}

func TestContextMapInsert(t *testing.T) {
	t.Parallel()
	const header = "| Component | Last Modified | Notes |\n|-----------|---------------|-------|\n"
	row := "| b | task-2 | n |\n"
	crlf := strings.ReplaceAll("## Context Map\n\n"+header+row, "\n", "\r\n")
	runInserts(t, contextMap{}, []insertCase{
		{"empty file", "", "b", row, "# Journal Index\n\n## Context Map\n\n" + header + row, []string{"b"}},
		{"after the last", "## Context Map\n" + header + "| a | | |\n\nText\n", "b", row,
			"## Context Map\n" + header + "| a | | |\n" + row + "\nText\n", []string{"a", "b"}},
		{"no final newline", "## Context Map\n" + header + "| a | | |", "b", row, "## Context Map\n" + header + "| a | | |\n" + row, nil},
		{"header alone", "## Context Map\n" + header, "b", row, "## Context Map\n" + header + row, nil},
		{"section alone", "## Context Map\n\nText\n\n## Log\n", "b", row,
			"## Context Map\n\nText\n\n" + header + row + "\n## Log\n", nil},
		{"section at the end", "# I\n\n## Context Map", "b", row, "# I\n\n## Context Map\n\n" + header + row, nil},
		{"no section", "# I\r\n", "b", row, "# I\r\n\r\n" + crlf, nil},
		{"below a bad row", "## Context Map\n" + header + "| a | | |\n| |\n", "b", row,
			"## Context Map\n" + header + "| a | | |\n| |\n" + row, nil},
	})
}

func TestContextMapColumns(t *testing.T) {
	t.Parallel()
	text := []byte("# Context Map\n|**Component**|Location|\n|-|-|\n|a|b|\n")
	if diff := cmp.Diff([]string{"Component", "Location"}, components.find(text).columns); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(components.columns(), components.find(nil).columns); diff != "" {
		t.Errorf("columns of an empty file (-want +got):\n%s", diff)
	}
}

func TestContextMapDocument(t *testing.T) {
	t.Parallel()
	f, errs := checkAggregate(t, contextMap{}, "journal/index.md", docExample(t, "context-map", "journal/index.md"))
	var got []string
	for _, e := range f.Entries() {
		got = append(got, e.ID+" "+e.Facts.Task)
	}
	want := []string{"src/upload task-003", "src/store/digest.go task-002", "search page task-012"}
	if diff := cmp.Diff(want, got); diff != "" || len(errs) > 0 {
		t.Errorf("rows of the document (-want +got):\n%s\nerrors %v", diff, errs)
	}
}

func FuzzContextMap(f *testing.F) { fuzzAggregate(f, contextMap{}, "*-index.md") }

func TestUpdateComponent(t *testing.T) {
	t.Parallel()
	columns := []string{"Component", "Location", "Notes"}
	for _, test := range []struct {
		label, row string
		update     Component
		want       string
	}{
		{"some cells", "| a |  x  | n |\r\n", Component{Location: "y"}, "| a |  y  | n |\r\n"},
		{"a cell that is not there yet", "| a | x\n", Component{Notes: "m | n"}, "| a | x | m \\| n |\n"},
		{"a column that the table lacks", "| a | x | n |\n", Component{Modified: "task-1"}, "| a | x | n |\n"},
		{"the name stays", "| a | x | n |\n", Component{Name: "b"}, "| a | x | n |\n"},
		{"nothing", "| a | x | n |\n", Component{}, "| a | x | n |\n"},
	} {
		if got := string(components.update([]byte(test.row), columns, test.update)); got != test.want {
			t.Errorf("%s: components.update(%q, %+v) = %q, want %q", test.label, test.row, test.update, got, test.want)
		}
	}
}

func TestComponentUnknownColumn(t *testing.T) {
	t.Parallel()
	row := appendComponent(nil, Component{Name: "a", Extra: []Property{{"Owner", "x"}}},
		[]string{"Component", "Risk", "Owner"})
	if string(row) != "| a | | x |\n" {
		t.Errorf("a column without a value: %q", row)
	}
}
