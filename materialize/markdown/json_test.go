package markdown

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseObject(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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
		if err != nil {
			return
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

func TestMember(t *testing.T) {
	t.Parallel()
	object, err := ParseObject([]byte("\ufeff{\r\n \"a\": 1,\r\n \"ä\": {\"b\": [true]},\r\n \"a\": 2\r\n}"))
	if err != nil {
		t.Fatal(err)
	}
	if got := object.Member("a"); fmt.Sprint(got.Data()) != "2" || got.Line != 4 {
		t.Errorf("of two members the value is %v at line %d, want the last, 2 at line 4", got.Data(), got.Line)
	}
	if got := object.Member("ä").Member("b"); !got.IsArray() || len(got.Inner) != 1 || got.Line != 3 {
		t.Errorf("a member of a member is %v at line %d", got.Data(), got.Line)
	}
	for _, v := range []*Value{object.Member("c"), object.Member("a").Member("b"),
		object.Member("ä").Member("b").Member("")} {
		if v.Data() != nil || v.End != 0 {
			t.Errorf("a member that is not there is %v, up to %d", v.Data(), v.End)
		}
	}
}

// TestParseObjectErrors locates what is wrong with a text, whatever its line ends.
func TestParseObjectErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text, want string
		line       int
	}{
		{"", "broken JSON: unexpected end", 1}, {"{\r\n\"a\": 1,\r\n}", "broken JSON: invalid character '}'", 3},
		{"\ufeff\n\n[1]", "the file is not a JSON object", 3}, {"{} {}", "broken JSON: invalid character '{'", 1},
		{"{\n\"a\": 1\n", "broken JSON: unexpected end", 2}, {"null", "not a JSON object", 1},
	} {
		object, err := ParseObject([]byte(test.text))
		if err == nil || err.Line != test.line || !strings.Contains(err.Err.Error(), test.want) {
			t.Errorf("ParseObject(%q) = %v, %v, want line %d: %s", test.text, object, err, test.line, test.want)
		}
	}
}

func TestDecodeJSONMismatch(t *testing.T) {
	t.Parallel()
	var v struct{ A map[string]int }
	err := DecodeJSON([]byte("[\n1]"), &v)
	if err == nil || err.Line != 1 || err.Err.Error() != "JSON array instead of an object" {
		t.Errorf("an array instead of an object gives %v", err)
	}
	if err := DecodeJSON([]byte("\ufeff{\"A\": {\"x\": 1}}"), &v); err != nil || v.A["x"] != 1 {
		t.Errorf("behind a byte order mark: %v, %v", v, err)
	}
}

// TestParseValueCheck ends reading at what a check refuses, however deep.
func TestParseValueCheck(t *testing.T) {
	t.Parallel()
	tooDeep := fmt.Errorf("too deep")
	check := func(depth int, _ json.Token) error {
		if depth > 2 {
			return tooDeep
		}
		return nil
	}
	if v, err := ParseValue([]byte(`{"a": [1, 2]}`), check); err != nil || len(v.Member("a").Inner) != 2 {
		t.Errorf("depth 2: %v, %v", v, err)
	}
	if _, err := ParseValue([]byte(`{"a": [1, [2]]}`), check); err != tooDeep {
		t.Errorf("depth 3: error %v, want %v", err, tooDeep)
	}
}

func TestReadMembers(t *testing.T) {
	t.Parallel()
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(`{"name": "n", "loop": "no number", "own": [1]}`), &members); err != nil {
		t.Fatal(err)
	}
	into := struct {
		Name   string `json:"name,omitempty"`
		Loop   int    `json:"loop"`
		Absent int    `json:"absent"`
		Plain  string
	}{Loop: 7, Absent: 8, Plain: "p"}
	var wrong []string
	ReadMembers(members, &into, func(key string) { wrong = append(wrong, key) })
	if into.Name != "n" || into.Loop != 7 || into.Absent != 8 || into.Plain != "p" {
		t.Errorf("read %+v", into)
	}
	if diff := cmp.Diff([]string{"loop"}, wrong); diff != "" {
		t.Errorf("what does not fit (-want +got):\n%s", diff)
	}
	if _, stays := members["own"]; !stays || len(members) != 2 {
		t.Errorf("what was not read is %v, want own and loop", members)
	}
}
