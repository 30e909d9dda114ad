package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"filebus/materialize/likeness"
)

// The bounds of an answer, in tokens: what a call may ask for at least and at most, and
// what an answer to a call has that cannot be read.
const (
	minTokens   = 100
	MaxTokens   = 20_000 // clients cut answers of 25,000, or put them into files
	UsualTokens = 2_000
)

// bytesPerToken is how tokens are estimated, as everywhere.
const bytesPerToken = 4

// all returns the arguments of a tool, with the bound that each has.
func (t *Tool) all() []Argument {
	about := fmt.Sprintf("of the answer, default %d", t.Tokens)
	return append(slices.Clip(t.Arguments), Argument{Name: "max_tokens", Type: "integer", About: about})
}

// input reads the arguments of a call. What a call means without doubt is taken: a number
// in quotes, one text for a list of texts.
func (t *Tool) input(arguments []byte) (in Input, err error) {
	in = Input{map[string][]string{}, t.Tokens}
	if len(bytes.TrimSpace(arguments)) == 0 {
		arguments = []byte("{}")
	}
	var given map[string]any
	reader := json.NewDecoder(bytes.NewReader(arguments))
	reader.UseNumber()
	if err := reader.Decode(&given); err != nil {
		return in, fmt.Errorf("the arguments of %s are no JSON object; it takes %s", t.Name, strings.Join(t.names(), ", "))
	}
	for name := range given {
		if !slices.Contains(t.names(), name) {
			return in, unknown("argument", name, t.Name, t.names())
		}
	}
	for _, a := range t.all() {
		if in.Values[a.Name], err = a.texts(given[a.Name]); err != nil {
			return in, fmt.Errorf("%s: argument %s: %w", t.Name, a.Name, err)
		}
		if value := in.Values[a.Name]; len(value) == 0 {
			delete(in.Values, a.Name)
			if a.Needed {
				return in, fmt.Errorf("%s needs the argument %s", t.Name, a.Name)
			}
		} else if len(a.Values) > 0 && !slices.Contains(a.Values, value[0]) {
			return in, unknown(a.Name, value[0], t.Name, a.Values)
		}
	}
	if asked := in.Values["max_tokens"]; len(asked) > 0 {
		tokens, _ := strconv.Atoi(asked[0]) // a number, as texts has seen
		in.Tokens = min(max(tokens, minTokens), MaxTokens)
		delete(in.Values, "max_tokens")
	}
	return in, nil
}

// texts returns the value of an argument as texts: none if it was not given.
func (a *Argument) texts(value any) ([]string, error) {
	list, isList := value.([]any)
	switch {
	case value == nil:
		return nil, nil
	case !isList:
		list = []any{value}
	case a.Type != "array" && len(list) != 1:
		return nil, fmt.Errorf("a list was given for one %s", a.Type)
	}
	var texts []string
	for _, item := range list {
		text, err := a.text(item)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

func (a *Argument) text(value any) (string, error) {
	text := fmt.Sprint(value)
	switch value.(type) {
	case nil, map[string]any, []any:
		return "", errors.New("a text, a number or a list of texts was expected")
	}
	if strings.Contains(text, "\x00") && a.Name != "text" {
		return "", errors.New("it has a zero byte")
	}
	switch a.Type {
	case "integer":
		number, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || number != math.Trunc(number) || math.Abs(number) > math.MaxInt32 {
			return "", fmt.Errorf("%q is no whole number", clip(text, 100))
		}
		text = strconv.Itoa(int(number))
	case "boolean":
		if yes, err := strconv.ParseBool(text); err != nil {
			return "", fmt.Errorf("%q is neither true nor false", clip(text, 100))
		} else {
			text = strconv.FormatBool(yes)
		}
	}
	return text, nil
}

// unknown returns the error of a word that a tool does not know, with the one that is
// spelled most like it, and all that it does know.
func unknown(what, word, tool string, known []string) error {
	near, least := "", max(1, len(word)/3)
	for _, k := range known {
		slips := likeness.Slips(k, word)
		if strings.HasPrefix(word, k) || strings.HasPrefix(k, word) && word != "" {
			slips = 0
		}
		if slips < least || slips == least && near == "" {
			near, least = k, slips
		}
	}
	if near != "" {
		near = fmt.Sprintf("did you mean %q? ", near)
	}
	return fmt.Errorf("unknown %s %q of %s: %sIt takes %s", what, clip(word, 100), tool, near, strings.Join(known, ", "))
}

// within returns an answer as one text of so many tokens, about. Where it is cut, it says
// so, and how to get the rest.
func (a *Answer) within(tokens int) string {
	room := tokens * bytesPerToken
	notes := clip(strings.Join(a.Notes, "\n"), room/2)
	text := strings.ToValidUTF8(a.Text, "\uFFFD")
	if text != "" && notes != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	const cutNote = 160 // bytes that the line has which says that it was cut
	if room -= len(notes); len(text) > room {
		whole := (len(text) + len(notes) + bytesPerToken - 1) / bytesPerToken
		text = clip(text, room-cutNote)
		if line := strings.LastIndexByte(text, '\n'); line > len(text)/2 {
			text = text[:line+1]
		}
		more := fmt.Sprintf("call again with max_tokens %d", whole)
		if whole > MaxTokens {
			more = "ask for less of it"
		}
		text = fmt.Sprintf("%s\n[truncated: about %d of %d tokens left out; %s]\n",
			strings.TrimSuffix(text, "\n"), whole-len(text)/bytesPerToken, whole, more)
	}
	return text + notes
}

// clip returns the beginning of a text, of so many bytes at most.
func clip(text string, size int) string {
	if len(text) <= size {
		return text
	}
	size = max(size, 0)
	for size > 0 && !utf8.RuneStart(text[size]) {
		size--
	}
	return text[:size]
}
