package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"filebus/materialize/markdown"
)

// The bounds of an answer, in tokens: what a call may ask for, and what it gets usually.
const (
	minTokens   = 100
	maxTokens   = 20_000 // clients cut answers of 25,000, or put them into files
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
func (f *Face) input(t *Tool, arguments []byte) (in Input, err error) {
	in = Input{map[string][]string{}, t.Tokens}
	names := markdown.Each(t.all(), func(a Argument) string { return a.Name })
	var given map[string]any
	reader := json.NewDecoder(bytes.NewReader(arguments))
	reader.UseNumber()
	if err := reader.Decode(&given); err != nil && err != io.EOF {
		return in, fmt.Errorf("the arguments of %s are no JSON object; it takes %s", t.Name, strings.Join(names, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(names, name) {
			return in, f.unknown("argument", name, t.Name, names)
		}
	}
	for _, a := range t.all() {
		values, err := f.values(t, &a, given[a.Name])
		if err != nil {
			return in, err
		}
		if len(values) > 0 {
			in.Values[a.Name] = values
		}
	}
	if asked := in.Values["max_tokens"]; asked != nil {
		if in.Tokens, err = strconv.Atoi(asked[0]); err != nil {
			return in, fmt.Errorf("max_tokens takes a whole number, not %q", markdown.Head(asked[0], 100))
		}
		in.Tokens = min(max(in.Tokens, minTokens), maxTokens)
		delete(in.Values, "max_tokens")
	}
	return in, nil
}

// values returns what was given for an argument.
func (f *Face) values(t *Tool, a *Argument, given any) ([]string, error) {
	values, err := texts(given)
	switch {
	case err != nil:
	case len(values) > 1 && a.Type != "array":
		err = errors.New("one was expected, and a list was given")
	case strings.Contains(strings.Join(values, ""), "\x00") && a.Name != "text":
		err = errors.New("it has a zero byte")
	case len(values) == 0 && a.Needed:
		return nil, fmt.Errorf("%s needs the argument %s", t.Name, a.Name)
	case len(values) > 0 && len(a.Values) > 0 && !slices.Contains(a.Values, values[0]):
		return nil, f.unknown(a.Name, values[0], t.Name, a.Values)
	}
	if err != nil {
		return nil, fmt.Errorf("argument %s of %s: %w", a.Name, t.Name, err)
	}
	return values, nil
}

// texts returns a value of JSON as texts: of a list each, none if it was not given.
func texts(value any) (all []string, err error) {
	switch value := value.(type) {
	case nil:
		return nil, nil
	case map[string]any:
		return nil, errors.New("a text, a number or a list of texts was expected")
	case []any:
		for _, item := range value {
			more, err := texts(item)
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		}
		return all, nil
	case json.Number:
		return []string{strings.TrimSuffix(value.String(), ".0")}, nil // some clients write all numbers so
	}
	return []string{fmt.Sprint(value)}, nil
}

// unknown returns the error of a word that something does not know, with those that it does.
func (f *Face) unknown(what, word, of string, known []string) error {
	word = markdown.Head(word, 100)
	return fmt.Errorf("unknown %s %q of %s: it takes %s%s", what, word, of, strings.Join(known, ", "), f.Near(word, known))
}

// within returns an answer as one text of so many tokens, about. Where it is cut, it says
// so, and how to get the rest.
func (a *Answer) within(tokens int) string {
	room := tokens * bytesPerToken
	notes := markdown.Head(strings.Join(a.Notes, "\n"), room/2)
	text := strings.ToValidUTF8(a.Text, "\uFFFD")
	const cutNote = 160 // bytes that the line has which says that it was cut
	if room -= len(notes); len(text) > room {
		whole := (len(text)+len(notes))/bytesPerToken + 1
		text = markdown.Head(text, room-cutNote)
		if line := strings.LastIndexByte(text, '\n'); line > len(text)/2 {
			text = text[:line]
		}
		more := fmt.Sprintf("call again with max_tokens %d", whole)
		if whole > maxTokens {
			more = "ask for less of it"
		}
		text += fmt.Sprintf("\n[truncated: about %d of %d tokens left out; %s]\n", whole-len(text)/bytesPerToken, whole, more)
	}
	if text != "" && notes != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + notes
}
