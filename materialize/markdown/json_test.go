package markdown

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseObject(t *testing.T) {
	text := []byte("\ufeff \n{ \"a\" : 1.5e3,\"b\\u0062\":[\"]\",{}] , \"\":{\"x\":\"\\\"}\"},\"n\":null }\n")
	object, err := ParseObject(text)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range object.Members {
		got = append(got, m.Key+"="+string(text[m.Value.Start:m.Value.End]))
	}
	want := []string{"a=1.5e3", `bb=["]",{}]`, `={"x":"\"}"}`, "n=null"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("members of %s (-want +got):\n%s", text, diff)
	}
	if got := string(text[object.Span.Start:object.Span.End]); !strings.HasPrefix(got, "{") || !strings.HasSuffix(got, "}") {
		t.Errorf("object of %s is %s", text, got)
	}
}

func TestElements(t *testing.T) {
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
		for _, span := range Elements([]byte(test.text), Span{0, len(test.text)}) {
			got = append(got, test.text[span.Start:span.End])
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("Elements(%s) (-want +got):\n%s", test.text, diff)
		}
	}
}

func TestLineCounter(t *testing.T) {
	c := LineCounter{Text: []byte("a\n\nb\n"), Line: 1}
	for _, test := range []struct{ offset, want int }{{0, 1}, {1, 1}, {2, 2}, {3, 3}, {3, 3}, {5, 4}} {
		if got := c.At(test.offset); got != test.want {
			t.Errorf("line of offset %d = %d, want %d", test.offset, got, test.want)
		}
	}
}

// FuzzParseObject compares the scanner with encoding/json.
func FuzzParseObject(f *testing.F) {
	f.Add([]byte(`{"a": [1, {"b": "c"}], "d": "\u0041"}`))
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		object, err := ParseObject(text)
		var want map[string]json.RawMessage
		if wantErr := json.Unmarshal([]byte(strings.TrimPrefix(string(text), "\ufeff")), &want); (wantErr != nil || want == nil) != (err != nil) {
			t.Fatalf("ParseObject(%q): %v, encoding/json: %v", text, err, wantErr)
		}
		got := make(map[string]string)
		for _, m := range object.Members {
			got[m.Key] = string(text[m.Value.Start:m.Value.End])
		}
		for key, value := range want {
			if got[key] != string(value) {
				t.Errorf("member %q of %q is %q, want %q", key, text, got[key], value)
			}
		}
	})
}
