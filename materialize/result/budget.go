package result

import (
	"bytes"
	"context"
	"encoding/json"

	"filebus/materialize"
	"filebus/query"
	"filebus/store/record"
)

// A Step is a run of consecutive calls of one agent, with what they returned: in
// full, as the agent's words would have stood in its parent's context, and by
// reference. All tokens are estimates.
type Step struct {
	Agent           string `json:"agent"`
	Calls           int    `json:"calls"`
	Words           int    `json:"words"`            // returned inline
	Tokens          int    `json:"tokens"`           // of these words
	ReferenceTokens int    `json:"reference_tokens"` // of the references, with their previews

	// The sums up to here: what the parent carries after the step.
	WordsInline       int `json:"words_inline"`
	TokensInline      int `json:"tokens_inline"`
	TokensByReference int `json:"tokens_by_reference"`

	returnsPath bool
}

// A Budget is what the calls of a conversation cost the context of the parent.
type Budget struct {
	Conversation    Conversation
	Steps           []Step
	Calls           int
	Words           int // that the calls would have returned inline
	Tokens          int // of these words, about
	ReferenceTokens int // of all references with their previews, about
}

// Ratio returns how many times the parent's context is smaller by reference.
func (b *Budget) Ratio() float64 { return ratio(b.Tokens, b.ReferenceTokens) }

// Ratio returns how many times the parent's context is smaller after the step.
func (s *Step) Ratio() float64 { return ratio(s.TokensInline, s.TokensByReference) }

func ratio(inline, byReference int) float64 {
	if byReference == 0 {
		return 0
	}
	return float64(inline) / float64(byReference)
}

// BudgetOf returns the budget of a conversation, by its id or "tree:id", from what
// is stored. The tools that give a path in any case, combine and pdf, return no
// words inline; their references count. What was hidden or destroyed does not. An
// unknown conversation is ErrNoBudget.
func BudgetOf(ctx context.Context, w *materialize.Workspace, read *query.Reader, conversation string) (*Budget, error) {
	c, calls, err := callsOf(ctx, w, read, conversation, ErrNoBudget)
	if err != nil {
		return nil, err
	}
	b := &Budget{Conversation: c}
	for i := range calls {
		if err := b.add(&calls[i]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// add counts a call, in the last step if that is of the same agent.
func (b *Budget) add(call *StoredCall) error {
	returnsPath := call.Source == record.SourceCombine || call.Source == record.SourcePDF
	last := len(b.Steps) - 1
	if last < 0 || b.Steps[last].Agent != call.Agent || b.Steps[last].returnsPath != returnsPath {
		b.Steps = append(b.Steps, Step{Agent: call.Agent, returnsPath: returnsPath})
		last++
	}
	step := &b.Steps[last]
	reference, err := referenceTokens(call.Reference)
	if err != nil {
		return err
	}
	step.Calls++
	step.ReferenceTokens += reference
	b.Calls++
	b.ReferenceTokens += reference
	if !returnsPath {
		step.Words += call.WordCount
		step.Tokens += call.Tokens
		b.Words += call.WordCount
		b.Tokens += call.Tokens
	}
	step.WordsInline, step.TokensInline, step.TokensByReference = b.Words, b.Tokens, b.ReferenceTokens
	return nil
}

// referenceTokens estimates what a reference costs: the line that is printed.
func referenceTokens(r record.Reference) (int, error) {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(r)
	return record.EstimateTokens(int64(line.Len())), err
}
