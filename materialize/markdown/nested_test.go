package markdown

import (
	"strings"
	"testing"
)

// TestMarkNested marks code in lists and quotations: an x below a text's line says
// that the line is code.
func TestMarkNested(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ label, text, want string }{
		{"item", "- a\n  ```\n  # b\n  ```\n- c\n", ".xxx."},
		{"behind the mark", "1. ```go\n   x\n   ```\ntext\n", "xxx."},
		{"quotation", "> ~~~\n> b\n> ~~~\n> c\n", "xxx."},
		{"closed in another list alone", "10. a\n    ```\n    b\n\ntext\n- ```\n", "......"},
		{"closed by the same marks alone", "10. ````\n    ```\n    ````\n", "xxx"},
		{"two", "- ```\n\ta\n\t```\n- ```\n\tb\n\t```\n", "xxxxxx"},
		{"no list", "text\n1.5 ```\n", ".."},
		{"of the whole file", "```\n- a\n```\n- b\n", "xxx."},
		{"tabs and line ends", "*\ta\r\n\t```\r\n\tb\r\n\t```\r\n", ".xxx"},
	} {
		lines := Lines([]byte(test.text))
		MarkNested(lines)
		var got strings.Builder
		for _, l := range lines {
			got.WriteByte(".x"[map[bool]int{true: 1}[l.Quiet]])
		}
		if got.String() != test.want {
			t.Errorf("%s: the code of %q is %s, want %s", test.label, test.text, got.String(), test.want)
		}
	}
}
