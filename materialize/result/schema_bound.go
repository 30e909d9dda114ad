package result

import (
	"errors"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxSteps is how often the parts of a schema are applied to the values of an
// output. References that branch can multiply a few parts beyond any number.
const maxSteps = 1_000_000

// A validator is a compiled schema that gives up in time. Any number of
// goroutines may use it, one after the other.
type validator struct {
	schema *jsonschema.Schema
	steps  *steps
}

// Steps are what is left of the work of one validation. They are a part of each
// object of the schema, which the validator comes by when it applies it.
type steps struct {
	mu   sync.Mutex
	left int
}

// errSteps says that a schema is too much work. The library can only be stopped
// by a panic, which validate ends.
type errSteps struct{}

func (errSteps) Error() string {
	return fmt.Sprintf("checking it takes more than %d steps: the references of the schema branch too often", maxSteps)
}

// Validate takes a step.
func (s *steps) Validate(*jsonschema.ValidatorContext, any) {
	if s.left--; s.left < 0 {
		panic(errSteps{})
	}
}

// vocabulary makes the steps a part of each object of a schema.
func (s *steps) vocabulary() *jsonschema.Vocabulary {
	return &jsonschema.Vocabulary{
		URL:     schemaURL + "steps",
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) { return s, nil },
	}
}

// validate returns a *jsonschema.ValidationError for a value that does not fit.
func (v *validator) validate(value any) (err error) {
	v.steps.mu.Lock()
	defer v.steps.mu.Unlock()
	v.steps.left = maxSteps
	defer func() {
		thrown := recover()
		if thrown, ok := thrown.(error); ok && errors.Is(thrown, errSteps{}) {
			err = thrown
		} else if thrown != nil {
			panic(thrown)
		}
	}()
	return v.schema.Validate(value)
}
