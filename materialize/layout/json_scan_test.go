package layout

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestScanObject(t *testing.T) {
	text := []byte("\ufeff \n{ \"a\" : 1.5e3,\"b\\u0062\":[\"]\",{}] , \"\":{\"x\":\"\\\"}\"},\"n\":null }\n")
	object, err := scanObject(text)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range object.members {
		got = append(got, m.key+"="+string(text[m.value.start:m.value.end]))
	}
	want := []string{"a=1.5e3", `bb=["]",{}]`, `={"x":"\"}"}`, "n=null"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("members of %s (-want +got):\n%s", text, diff)
	}
	if got := string(text[object.span.start:object.span.end]); !strings.HasPrefix(got, "{") || !strings.HasSuffix(got, "}") {
		t.Errorf("object of %s is %s", text, got)
	}
}

func TestScanArray(t *testing.T) {
	tests := []struct {
		text string
		want []string
	}{
		{"[]", nil},
		{"[ ]", nil},
		{"[1]", []string{"1"}},
		{`[ true , -1.5 ,"a,]" ,[[]],{"a":[1]} ]`, []string{"true", "-1.5", `"a,]"`, "[[]]", `{"a":[1]}`}},
		{`["\\","\""]`, []string{`"\\"`, `"\""`}},
	}
	for _, test := range tests {
		var got []string
		for _, span := range scanArray([]byte(test.text), jsonSpan{0, len(test.text)}) {
			got = append(got, test.text[span.start:span.end])
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("scanArray(%s) (-want +got):\n%s", test.text, diff)
		}
	}
}

// TestScanGraphDeep checks that depth costs neither stack nor a panic, and that
// what encoding/json refuses is an error.
func TestScanGraphDeep(t *testing.T) {
	for _, depth := range []int{100, 9_000, 20_000} {
		text := `{"nodes": [{"id": "a", "x": ` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}]}`
		graph, err := scanGraph([]byte(text))
		if refused := depth > 10_000; refused != (err != nil) || !refused && len(graph.elements) != 1 {
			t.Errorf("%d arrays in each other: %d nodes, error %v", depth, len(graph.elements), err)
		}
	}
}

func TestLineCounter(t *testing.T) {
	c := lineCounter{text: []byte("a\n\nb\n"), line: 1}
	for _, test := range []struct{ offset, want int }{{0, 1}, {1, 1}, {2, 2}, {3, 3}, {3, 3}, {5, 4}} {
		if got := c.at(test.offset); got != test.want {
			t.Errorf("line of offset %d = %d, want %d", test.offset, got, test.want)
		}
	}
}

// FuzzScanObject compares the scanner with encoding/json.
func FuzzScanObject(f *testing.F) {
	f.Add([]byte(`{"a": [1, {"b": "c"}], "d": "\u0041"}`))
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		object, err := scanObject(text)
		var want map[string]json.RawMessage
		if wantErr := json.Unmarshal([]byte(strings.TrimPrefix(string(text), "\ufeff")), &want); (wantErr != nil || want == nil) != (err != nil) {
			t.Fatalf("scanObject(%q): %v, encoding/json: %v", text, err, wantErr)
		}
		got := make(map[string]string)
		for _, m := range object.members {
			got[m.key] = string(text[m.value.start:m.value.end])
		}
		for key, value := range want {
			if got[key] != string(value) {
				t.Errorf("member %q of %q is %q, want %q", key, text, got[key], value)
			}
		}
	})
}
