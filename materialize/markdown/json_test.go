package markdown

import (
	"encoding/json"
	"fmt"
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
	for _, m := range object.Inner {
		got = append(got, m.Key+"="+string(text[m.Start:m.End]))
	}
	want := []string{"a=1.5e3", `bb=["]",{}]`, `={"x":"\"}"}`, "n=null"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("members of %s (-want +got):\n%s", text, diff)
	}
	if got := string(text[object.Start:object.End]); !strings.HasPrefix(got, "{") || !strings.HasSuffix(got, "}") {
		t.Errorf("object of %s is %s", text, got)
	}
}

// TestParseValue checks the places of all values, and what they are.
func TestParseValue(t *testing.T) {
	tests := []struct {
		text string
		want []string
	}{
		{"[]", nil},
		{"[ ]", nil},
		{"[1]", []string{"1:1"}},
		{"[ true , -1.5 ,\n\"a,]\" ,[[]],\n\n{\"a\":[1]} ]", []string{"1:true", "1:-1.5", `2:"a,]"`, "2:[[]]",
			`4:{"a":[1]}`}},
		{`["\\","\""]`, []string{`1:"\\"`, `1:"\""`}},
	}
	for _, test := range tests {
		array, err := ParseValue([]byte(test.text), nil)
		if err != nil || !array.IsArray() {
			t.Fatalf("ParseValue(%s) = %v, %v", test.text, array, err)
		}
		var got []string
		for _, v := range array.Inner {
			got = append(got, fmt.Sprintf("%d:%s", v.Line, test.text[v.Start:v.End]))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("ParseValue(%s) (-want +got):\n%s", test.text, diff)
		}
		var data any
		if err := json.Unmarshal([]byte(test.text), &data); err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(array.Data()), fmt.Sprint(data); got != want {
			t.Errorf("the data of %s is %s, want %s", test.text, got, want)
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
		for _, m := range object.Inner {
			got[m.Key] = string(text[m.Start:m.End])
		}
		for key, value := range want {
			if got[key] != string(value) {
				t.Errorf("member %q of %q is %q, want %q", key, text, got[key], value)
			}
		}
	})
}
