package result

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/materialize"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// A Conversation is the set of results that belong to one run of a parent agent.
// Those of a captured tree are another's.
type Conversation struct {
	ID         string      `json:"conversation"`
	Tree       record.Tree `json:"tree,omitempty"`
	Results    int         `json:"results"`
	Agents     []string    `json:"agents"` // sorted
	Words      int         `json:"words"`
	Tokens     int         `json:"tokens"`           // of all results, about
	Inline     int         `json:"inline_tokens"`    // of them in the parent's context, as its Budget has it
	References int         `json:"reference_tokens"` // of references in their place
	First      time.Time   `json:"first"`
	Last       time.Time   `json:"last"`
}

// String returns the id, with "tree:" before that of a captured tree.
func (c Conversation) String() string {
	if c.Tree == "" {
		return c.ID
	}
	return string(c.Tree) + ":" + c.ID
}

// Conversations lists the conversations with a result that a filter picks, the one with
// the newest result first, and reports how many are behind them. A limit of 0
// is none. What is hidden or destroyed does not count.
func Conversations(
	ctx context.Context, w *materialize.Workspace, read *query.Reader, f record.Filter, limit, offset int,
) (page []Conversation, more int, err error) {
	all, err := sums(ctx, w, read)
	if !f.IsZero() && err == nil {
		field, value := store.FieldKind, string(record.KindResult)
		if len(f.Agents) == 1 {
			field, value = "agent", f.Agents[0]
		}
		picked := map[[2]string]uint64{} // the position of the newest result that is picked
		err = read.Each(ctx, field, value, func(_ *store.Tx, v store.Version) bool {
			of := [2]string{string(v.Record.Name.Tree), v.Record.Conversation}
			if v.Record.Name.Kind == record.KindResult && picked[of] == 0 && f.Accepts(v.Record) {
				picked[of] = v.Position
			}
			return false
		})
		for i := range all {
			all[i].Newest = picked[[2]string{string(all[i].Tree), all[i].ID}]
		}
		all = slices.DeleteFunc(all, func(t talk) bool { return t.Newest == 0 })
	}
	slices.SortFunc(all, func(a, b talk) int { return cmp.Compare(b.Newest, a.Newest) })
	all = all[min(offset, len(all)):]
	if limit > 0 {
		more = max(len(all)-limit, 0)
		all = all[:len(all)-more]
	}
	return markdown.Each(all, func(t talk) Conversation { return t.Conversation }), more, err
}

// A talk is a conversation as it is counted.
type talk struct {
	Conversation
	Newest uint64 `json:"newest"` // the position of its newest result
	calls  []StoredCall
}

// count returns the conversations that the heads of a look-up belong to and that are wanted, whole, with their calls in order.
func count(ctx context.Context, w *materialize.Workspace, read *query.Reader, field store.Field, value string,
	isWanted func(id string) bool) ([]talk, error) {
	all, at := []talk(nil), map[[2]string]int{}
	var failed error
	err := read.Each(ctx, field, value, func(tx *store.Tx, v store.Version) bool {
		r := v.Record
		if r.Name.Kind != record.KindResult || r.Conversation == "" || !isWanted(r.Conversation) {
			return false
		}
		of := [2]string{string(r.Name.Tree), r.Conversation}
		i, found := at[of]
		if !found {
			i, at[of] = len(all), len(all)
			all = append(all, talk{Conversation: Conversation{Tree: r.Name.Tree, ID: r.Conversation}, Newest: v.Position})
		}
		first, err := query.FirstOf(tx, v)
		if failed = err; err == nil {
			all[i].add(w, query.Summarize(tx, v), first.Record)
		}
		return err != nil
	})
	for i := range all {
		t := &all[i]
		slices.SortFunc(t.calls, func(a, b StoredCall) int {
			return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.position, b.position))
		})
		b := budgetOf(t.Conversation, t.calls)
		t.Inline, t.References = b.Tokens, b.ReferenceTokens
	}
	return all, cmp.Or(err, failed)
}

// eachResult calls visit with the results that a filter picks, the newest first, and
// with the first version of each.
func eachResult(
	ctx context.Context, read *query.Reader, f record.Filter, visit func(s query.Summary, first store.Version),
) error {
	f.Kinds = []record.Kind{record.KindResult}
	found, err := read.List(ctx, query.ListRequest{Filter: f})
	if err != nil {
		return err
	}
	return query.EachOf(ctx, read, found.Entries, func(tx *store.Tx, s query.Summary) error {
		first, err := query.FirstOf(tx, s.Version)
		if err == nil {
			visit(s, first)
		}
		return err
	})
}

// add counts a result, of which first is the first version.
func (t *talk) add(w *materialize.Workspace, s query.Summary, first *record.Record) {
	t.Results++
	t.Words += s.Description.Words
	if s.Description.Words > 0 { // bytes that are no text cost no tokens
		t.Tokens += s.Tokens
	}
	if i, found := slices.BinarySearch(t.Agents, s.Agent); !found && s.Agent != "" {
		t.Agents = slices.Insert(t.Agents, i, s.Agent)
	}
	if t.First.IsZero() || first.Time.Before(t.First) {
		t.First = first.Time
	}
	if first.Time.After(t.Last) {
		t.Last = first.Time
	}
	t.calls = append(t.calls, StoredCall{referenceOf(w, s.Version.Record, s.Description), s.Name, s.Ref, s.Tokens, first.Time,
		s.Status, s.Exit, first.Source, s.Version.Position})
}

// A StoredCall is one result of a conversation: what the parent got, or would get,
// and what else is known.
type StoredCall struct {
	record.Reference
	Name   record.Name     `json:"name"`
	Ref    record.ShortRef `json:"ref"`
	Tokens int             `json:"tokens"` // of the text, about
	Time   time.Time       `json:"time"`   // when it came in; tags that were added later do not count
	Status string          `json:"status,omitempty"`
	Exit   *int            `json:"exit,omitempty"`
	Source record.Source   `json:"-"` // how it came in

	position uint64
}

// Calls returns a conversation, by its id or "tree:id", with its results in the
// order in which they came in.
func Calls(ctx context.Context, w *materialize.Workspace, read *query.Reader, text string) (Conversation, []StoredCall, error) {
	forms := []Conversation{{ID: text}}
	if head, id, found := strings.Cut(text, ":"); found {
		if tree, err := record.ParseTree(head); err == nil {
			forms = append(forms, Conversation{Tree: tree, ID: id})
		}
	}
	for _, c := range forms {
		all, err := count(ctx, w, read, store.FieldConversation, c.ID, func(id string) bool { return id == c.ID })
		if err != nil {
			return c, nil, err
		}
		if i := slices.IndexFunc(all, func(t talk) bool { return t.Tree == c.Tree }); i >= 0 {
			return all[i].Conversation, all[i].calls, nil
		}
	}
	err := record.NotFound.Errorf("there is no conversation %q", text)
	hint, names := w.StrangerHint(ctx, text, "filebus conversation list")
	return Conversation{}, nil, err.Try(hint, names...)
}

// referenceOf returns what a parent gets in place of a stored text. A captured
// tree has no files here: the path is the one within the tree.
func referenceOf(w *materialize.Workspace, r *record.Record, d record.Description) record.Reference {
	file := r.Path
	if r.Name.Tree == "" {
		file = w.FilePath(r.Path)
	}
	return record.Reference{Agent: r.Agent, ResultFile: strings.ToValidUTF8(file, "\ufffd"), WordCount: d.Words, Preview: d.Preview}
}

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

	Ratio Ratio `json:"ratio"` // of the last two

	returnsPath bool
}

// A Ratio is how many times smaller something is; in JSON it has one decimal.
type Ratio float64

// MarshalJSON returns the ratio as JSON has it.
func (r Ratio) MarshalJSON() ([]byte, error) { return json.Marshal(math.Round(float64(r)*10) / 10) }

// A Budget is what the calls of a conversation cost the context of the parent.
type Budget struct {
	Conversation    string      `json:"conversation"`
	Tree            record.Tree `json:"tree,omitempty"`
	Steps           []Step      `json:"steps"`
	Calls           int         `json:"calls"`
	Words           int         `json:"words"`            // that the calls would have returned inline
	Tokens          int         `json:"tokens"`           // of these words, about
	ReferenceTokens int         `json:"reference_tokens"` // of all references with their previews, about
	Ratio           Ratio       `json:"ratio"`            // of the last two
	// Reports says how many are those of a client's sub-agents, which a hook or a capture has stored.
	Reports int      `json:"reports,omitempty"`
	Entered *Entered `json:"entered,omitempty"` // nil: the transcript of the session is not there
	Advice  string   `json:"advice,omitempty"`  // why references by hooks are not worth it; "": they may be
}

// Entered is what has come from sub-agents into the context of their client's session, by its transcript.
type Entered struct {
	Texts  int `json:"texts"`
	Tokens int `json:"tokens"`
	Saved  int `json:"saved"` // of the tokens of the reports, which have not entered
}

// weigh says what has been saved, and whether references by hooks are worth it.
func (b *Budget) weigh(refers bool) {
	const frame = 175 // about what clients put around a text, in tokens: that is there in any case
	if b.Entered != nil {
		b.Entered.Saved = max(0, b.Tokens-max(0, b.Entered.Tokens-frame*b.Entered.Texts))
	}
	switch {
	case b.Reports > 0 && b.ReferenceTokens >= b.Tokens:
		b.Advice = "reports as short as these cost no more than references to them: hooks.mode capture does as well"
	case refers && b.Entered != nil && b.Entered.Saved == 0:
		b.Advice = "references have saved nothing, as agents have repeated their reports: hooks.mode capture costs no turn"
	}
}

// BudgetOf returns the budget of a conversation, by its id or "tree:id", from what
// is stored. The tools that give a path in any case, combine and pdf, return no
// words inline; their references count. What was hidden or destroyed does not.
func BudgetOf(ctx context.Context, w *materialize.Workspace, read *query.Reader, conversation string) (*Budget, error) {
	c, calls, err := Calls(ctx, w, read, conversation)
	if err != nil {
		return nil, err
	}
	return budgetOf(c, calls), nil
}

func budgetOf(c Conversation, calls []StoredCall) *Budget {
	b := &Budget{Conversation: c.ID, Tree: c.Tree}
	for _, call := range calls {
		isPast := call.Source == record.SourceTranscript
		if isPast && call.Name.ID == c.ID+"/"+finalAnswer {
			continue // it went to the user
		}
		if isPast || call.Source == record.SourceHook {
			b.Reports++
			call.Preview = cli.Shortened(call.Preview, cli.LineSize) // as hooks give it
		}
		b.add(call)
	}
	return b
}

// add counts a call, in the last step if that is of the same agent.
func (b *Budget) add(call StoredCall) {
	returnsPath := call.Source == record.SourceCombine || call.Source == record.SourcePDF
	last := len(b.Steps) - 1
	if last < 0 || b.Steps[last].Agent != call.Agent || b.Steps[last].returnsPath != returnsPath {
		b.Steps = append(b.Steps, Step{Agent: call.Agent, returnsPath: returnsPath})
		last++
	}
	step := &b.Steps[last]
	reference := referenceTokens(call.Reference)
	step.Calls++
	step.ReferenceTokens += reference
	b.Calls++
	b.ReferenceTokens += reference
	if !returnsPath && call.WordCount > 0 { // bytes that are no text have no words inline
		step.Words += call.WordCount
		step.Tokens += call.Tokens
		b.Words += call.WordCount
		b.Tokens += call.Tokens
	}
	b.Ratio = Ratio(b.Tokens) / Ratio(b.ReferenceTokens)
	step.WordsInline, step.TokensInline, step.TokensByReference = b.Words, b.Tokens, b.ReferenceTokens
	step.Ratio = b.Ratio
}

// referenceTokens estimates what a reference costs: the line that is printed.
func referenceTokens(r record.Reference) int {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(r) // strings and a number have a JSON form
	return record.EstimateTokens(int64(line.Len()))
}
