package result

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kaptinlin/jsonschema"
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

// How many problems are told one by one, and how much of each.
const (
	maxProblems = 20
	maxMessage  = 300 // characters
)

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
	root, problem := decodeJSON(object)
	if problem != nil {
		return []Problem{*problem}
	}
	all, err := s.compiled.findings(root.Data())
	if err != nil {
		return []Problem{{Message: err.Error()}}
	}
	var problems []Problem
	for _, f := range all[:min(len(all), maxProblems)] {
		problems = append(problems, Problem{pointer(f.path), cut(strings.Join(strings.Fields(f.message), " "),
			maxMessage)})
	}
	if more := len(all) - len(problems); more > 0 {
		problems = append(problems, Problem{Message: fmt.Sprintf("and %d more", more)})
	}
	return problems
}

// A finding is what one keyword of a schema found wrong.
type finding struct {
	path             []string
	keyword, message string
}

// findings returns what is wrong with a value, in the order of the paths, each once.
func (v *validator) findings(value any) ([]finding, error) {
	result, err := v.validate(value)
	if err != nil {
		return nil, err
	}
	all := findingsOf(result, nil, value)
	compare := func(a, b finding) int {
		if order := slices.CompareFunc(a.path, b.path, compareKeys); order != 0 {
			return order
		}
		return strings.Compare(a.message, b.message)
	}
	slices.SortFunc(all, compare)
	return slices.CompactFunc(all, func(a, b finding) bool { return compare(a, b) == 0 }), nil
}

// findingsOf goes down to what is really wrong: the errors above only say that
// there is something.
func findingsOf(result *jsonschema.EvaluationResult, path []string, value any) []finding {
	var all []finding
	explained := map[string]bool{}
	for _, part := range result.Details {
		keyword := keywordOf(part)
		if err := result.Errors[keyword]; part.Valid || err == nil || err.Code == "one_of_multiple_matches" {
			continue
		}
		explained[keyword] = keyword != "anyOf" && keyword != "oneOf" // of these, any one has to fit
		key, isBelow := strings.CutPrefix(part.InstanceLocation, "/")
		child, found := childOf(value, key)
		switch {
		case isForbidden(part, keyword):
			all = append(all, finding{path, keyword, fmt.Sprintf("key %q is not allowed", key)})
		case !isBelow || keyword == "dependentSchemas":
			all = append(all, findingsOf(part, path, value)...)
		case found: // else it is missing, which is told of the object
			all = append(all, findingsOf(part, append(slices.Clip(path), key), child)...)
		}
	}
	for keyword, err := range result.Errors {
		if !explained[keyword] {
			all = append(all, finding{path, keyword, err.Error()})
		}
	}
	return all
}

// keywordOf returns the keyword of the error that a result stands for.
func keywordOf(part *jsonschema.EvaluationResult) string {
	keyword, _, _ := strings.Cut(strings.TrimPrefix(part.EvaluationPath, "/"), "/")
	switch keyword {
	case "":
		return "$ref"
	case "patternProperties":
		return "properties"
	}
	return keyword
}

// isForbidden reports whether it is the key of an object that is wrong, not its value.
func isForbidden(part *jsonschema.EvaluationResult, keyword string) bool {
	switch keyword {
	case "propertyNames":
		return true
	case "additionalProperties", "unevaluatedProperties":
		return part.Errors["schema"] != nil
	}
	return false
}

func childOf(value any, key string) (child any, found bool) {
	switch value := value.(type) {
	case map[string]any:
		child, found = value[key]
	case []any:
		if i, err := strconv.Atoi(key); err == nil && i < len(value) {
			child, found = value[i], true
		}
	}
	return child, found
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

func pointer(path []string) string {
	var out strings.Builder
	for _, key := range path {
		out.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key))
	}
	return out.String()
}
