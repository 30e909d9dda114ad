package web

import (
	"fmt"
	"html"
	"net/url"
	"reflect"
	"strings"
)

// A markup is HTML that is written as it is.
type markup string

// markup writes HTML, and remembers the value of an attribute that it leaves open.
func (r *rendering) markup(text string) {
	r.out.WriteString(text)
	if i := strings.LastIndex(text, `="`); i >= 0 {
		text, r.open = text[i+2:], ""
	} else if r.open == "" {
		return
	}
	if r.open += " " + text; strings.Contains(text, `"`) {
		r.open = ""
	}
}

// show writes a value where text or the value of an attribute in double quotes stands, which are the only places for it; behind
// the ? of an address as a part of that.
func (r *rendering) show(v reflect.Value) {
	if !plainOf(v).IsValid() {
		return
	}
	if _, speaks := v.Interface().(fmt.Stringer); !speaks {
		v = plainOf(v)
	}
	text := strings.ReplaceAll(fmt.Sprint(v.Interface()), "\x00", "\uFFFD")
	switch {
	case v.Type() == reflect.TypeFor[markup]():
		r.out.WriteString(text)
	case strings.Contains(r.open, "?"):
		r.out.WriteString(url.QueryEscape(text))
	default:
		r.out.WriteString(html.EscapeString(text))
	}
}
