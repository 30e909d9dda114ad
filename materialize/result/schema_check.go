package result

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// A Problem is a place where an output is not what it should be.
type Problem struct {
	Path    string `json:"path"`    // a JSON pointer; "" is the whole output
	Message string `json:"message"` // one line: what was expected, and what is there
}

// Error returns the problem in one line.
func (p *Problem) Error() string {
	if p.Path == "" {
		return p.Message
	}
	return p.Path + ": " + p.Message
}

// maxProblems is how many problems are told one by one.
const maxProblems = 20

// Check returns where an output does not fit the schema, its summary included, in
// the order of their paths: at most 20, and one more that says how many are left.
// The output may have its JSON object in a fence, or within other text.
func (s *Schema) Check(output []byte) []Problem {
	object, problem := FindObject(output)
	if problem != nil {
		return []Problem{*problem}
	}
	return s.checkObject(object)
}

func (s *Schema) checkObject(object []byte) []Problem {
	value, problem := decodeJSON(object)
	if problem != nil {
		return []Problem{*problem}
	}
	err := s.compiled.validate(value)
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return []Problem{{Message: err.Error()}}
	}
	return limit(problemsOf(invalid, s.document, value))
}

// limit returns at most maxProblems problems, and how many there are beyond.
func limit(all []Problem) []Problem {
	if len(all) <= maxProblems {
		return all
	}
	more := fmt.Sprintf("and %d more", len(all)-maxProblems)
	return append(slices.Clip(all[:maxProblems]), Problem{Message: more})
}

func joinProblems(all []Problem) string {
	var lines []string
	for _, p := range limit(all) {
		lines = append(lines, p.Error())
	}
	return strings.Join(lines, "; ")
}

// problemsOf returns what a validator found, sorted and each once.
func problemsOf(err *jsonschema.ValidationError, document, value any) []Problem {
	t := teller{document: document, value: value}
	t.tell(err)
	slices.SortStableFunc(t.told, func(a, b told) int {
		if order := slices.CompareFunc(a.path, b.path, compareKeys); order != 0 {
			return order
		}
		return strings.Compare(a.message, b.message)
	})
	var all []Problem
	for _, one := range t.told {
		p := Problem{pointer(one.path), one.message}
		if len(all) == 0 || all[len(all)-1] != p {
			all = append(all, p)
		}
	}
	return all
}

// compareKeys orders the parts of paths, those that are numbers as such.
func compareKeys(a, b string) int {
	if len(a) != len(b) && isIndex(a) && isIndex(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

func isIndex(key string) bool {
	return key != "" && strings.Trim(key, "0123456789") == "" && (key[0] != '0' || key == "0")
}

// A teller puts the errors of a validator into words.
type teller struct {
	document, value any // the schema and what was checked; nil if not known
	told            []told
}

type told struct {
	path    []string
	message string
}

func (t *teller) add(path []string, format string, args ...any) {
	message := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")
	t.told = append(t.told, told{path, message})
}

func pointer(path []string) string {
	var out strings.Builder
	for _, key := range path {
		if strings.ContainsAny(key, "~/") {
			key = strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
		}
		out.WriteString("/" + key)
	}
	return out.String()
}

// tell goes down to what is really wrong: the errors above only say that there is
// something.
func (t *teller) tell(err *jsonschema.ValidationError) {
	if choices := choicesOf(err); len(choices) > 0 {
		t.tellChoice(err, choices)
		return
	}
	if _, isName := err.ErrorKind.(*kind.PropertyNames); isName || len(err.Causes) == 0 {
		t.tellOne(err)
		return
	}
	for _, cause := range err.Causes {
		t.tell(cause)
	}
}

// choicesOf returns the errors of schemas of which one should have fitted.
func choicesOf(err *jsonschema.ValidationError) []*jsonschema.ValidationError {
	switch err.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		return err.Causes
	}
	return nil
}

// tellChoice says why none of several schemas fits. If they all want another type,
// that is said of all of them; else the problems of the nearest are told: the one
// that found least to say against the value, types aside.
func (t *teller) tellChoice(err *jsonschema.ValidationError, choices []*jsonschema.ValidationError) {
	var want []string
	var nearest []told
	found := false
	for _, choice := range choices {
		if wrong := typeError(choice, len(err.InstanceLocation)); wrong != nil {
			want = append(want, wrong.Want...)
			continue
		}
		inner := teller{document: t.document, value: t.value}
		if inner.tell(choice); !found || len(inner.told) < len(nearest) {
			nearest, found = inner.told, true
		}
	}
	if !found {
		t.add(err.InstanceLocation, "should be %s, is %s", orList(want), t.show(err.InstanceLocation))
		return
	}
	if len(choices)-len(want) > 1 {
		t.add(err.InstanceLocation, "fits none of %d alternatives; the nearest:", len(choices))
	}
	t.told = append(t.told, nearest...)
}

// typeError returns the error of a schema that wants another type for the value at
// a depth itself.
func typeError(err *jsonschema.ValidationError, depth int) *kind.Type {
	for {
		if wrong, ok := err.ErrorKind.(*kind.Type); ok && len(err.InstanceLocation) == depth {
			return wrong
		}
		if len(err.Causes) != 1 || len(choicesOf(err)) > 0 {
			return nil
		}
		err = err.Causes[0]
	}
}

// refusesSummary reports whether a validator has found that a part of a schema
// refuses a string as the summary.
func refusesSummary(err error) bool {
	var invalid *jsonschema.ValidationError
	return errors.As(err, &invalid) && refuses(invalid)
}

func refuses(err *jsonschema.ValidationError) bool {
	at := len(err.InstanceLocation) == 1 && err.InstanceLocation[0] == summaryKey
	switch k := err.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		if len(err.InstanceLocation) == 0 && slices.Contains(k.Properties, summaryKey) {
			return true
		}
	case *kind.PropertyNames:
		if k.Property == summaryKey {
			return true
		}
	case *kind.FalseSchema, *kind.Type:
		if at {
			return true
		}
	}
	return slices.ContainsFunc(err.Causes, refuses)
}
