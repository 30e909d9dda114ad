package result

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"filebus/materialize"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// A Conversation is the set of results that belong to one run of a parent agent.
// Those of a captured tree are another's.
type Conversation struct {
	ID      string      `json:"conversation"`
	Tree    record.Tree `json:"tree,omitempty"`
	Results int         `json:"results"`
	Agents  []string    `json:"agents"` // sorted
	Words   int         `json:"words"`
	Tokens  int         `json:"tokens"` // of all results, about
	First   time.Time   `json:"first"`
	Last    time.Time   `json:"last"`
}

// String returns the id, with "tree:" before that of a captured tree.
func (c Conversation) String() string {
	if c.Tree == "" {
		return c.ID
	}
	return string(c.Tree) + ":" + c.ID
}

// A ConversationsRequest says which conversations to list: those with a result
// that passes all fields that are set.
type ConversationsRequest struct {
	record.Filter
	Limit, Offset int // a Limit of 0 is none
}

// Conversations lists conversations, the one with the newest result first, and
// reports whether there are more behind them. What is hidden or destroyed does not
// count.
func Conversations(ctx context.Context, read *query.Reader, q ConversationsRequest) (page []Conversation, more bool, err error) {
	type key struct {
		tree record.Tree
		id   string
	}
	field, value := store.FieldKind, string(record.KindResult)
	if len(q.Agents) == 1 {
		field, value = store.FieldAgent, q.Agents[0]
	}
	seen := map[key]bool{}
	err = read.Each(ctx, field, value, func(_ *store.Tx, v store.Version) bool {
		r := v.Record
		k := key{r.Name.Tree, r.Conversation}
		if k.id == "" || r.Name.Kind != record.KindResult || seen[k] || !q.Accepts(r) {
			return false
		}
		if q.Limit > 0 && len(page) == q.Limit {
			more = true
			return true
		}
		if seen[k] = true; len(seen) > q.Offset {
			page = append(page, Conversation{Tree: k.tree, ID: k.id})
		}
		return false
	})
	for i := range page {
		if err == nil {
			err = page[i].each(ctx, read, func(*store.Tx, store.Version, store.Version) {}) // to fill in the figures
		}
	}
	return page, more, err
}

// each counts all results, and calls visit with each and with its first version.
func (c *Conversation) each(ctx context.Context, read *query.Reader, visit func(tx *store.Tx, v, first store.Version)) error {
	var failed error
	err := read.Each(ctx, store.FieldConversation, c.ID, func(tx *store.Tx, v store.Version) bool {
		if v.Record.Name.Tree != c.Tree || v.Record.Name.Kind != record.KindResult {
			return false
		}
		first, err := query.FirstOf(tx, v)
		if err != nil {
			failed = err
			return true
		}
		c.add(v.Record, tx.Description(v.Ref), first.Record.Time)
		visit(tx, v, first)
		return false
	})
	return errors.Join(err, failed)
}

// add counts a result that came in at a time.
func (c *Conversation) add(r *record.Record, d record.Description, at time.Time) {
	c.Results++
	c.Words += d.Words
	c.Tokens += tokensOf(r, d)
	if i, found := slices.BinarySearch(c.Agents, r.Agent); !found && r.Agent != "" {
		c.Agents = slices.Insert(c.Agents, i, r.Agent)
	}
	if c.First.IsZero() || at.Before(c.First) {
		c.First = at
	}
	if at.After(c.Last) {
		c.Last = at
	}
}

// tokensOf returns the estimate that was made when the text was stored. An old
// description may have none.
func tokensOf(r *record.Record, d record.Description) int {
	if d.Tokens > 0 {
		return d.Tokens
	}
	return record.EstimateTokens(r.Size)
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
// order in which they came in. One that is not there is ErrNoConversation.
func Calls(ctx context.Context, w *materialize.Workspace, read *query.Reader, text string) (Conversation, []StoredCall, error) {
	return callsOf(ctx, w, read, text, ErrNoConversation)
}

func callsOf(
	ctx context.Context, w *materialize.Workspace, read *query.Reader, text string, unknown record.Reason,
) (Conversation, []StoredCall, error) {
	forms := []Conversation{{ID: text}}
	if head, id, found := strings.Cut(text, ":"); found {
		if tree, err := record.ParseTree(head); err == nil {
			forms = append(forms, Conversation{Tree: tree, ID: id})
		}
	}
	for _, c := range forms {
		calls, err := c.calls(ctx, w, read)
		if err != nil || len(calls) > 0 {
			return c, calls, err
		}
	}
	near, err := nearConversations(ctx, read, text)
	if err != nil {
		return Conversation{}, nil, err
	}
	return Conversation{}, nil, record.NotFound.Errorf("there is no conversation %q", text).Because(unknown, near...)
}

// calls returns the results in order, and fills in the figures.
func (c *Conversation) calls(ctx context.Context, w *materialize.Workspace, read *query.Reader) (calls []StoredCall, err error) {
	if c.ID == "" {
		return nil, nil
	}
	err = c.each(ctx, read, func(tx *store.Tx, v, first store.Version) {
		r, d := v.Record, tx.Description(v.Ref)
		calls = append(calls, StoredCall{
			referenceOf(w, r, d), r.Name, record.ShortRef(v.Ref), tokensOf(r, d), first.Record.Time, r.Status, r.Exit,
			first.Record.Source, v.Position,
		})
	})
	slices.SortFunc(calls, func(a, b StoredCall) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.position, b.position))
	})
	return calls, err
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

// maxNearConversations is how many are worth showing.
const maxNearConversations = 5

// nearConversations returns conversations that a text may have meant: the same
// one of another tree, in other letters, longer or shorter.
func nearConversations(ctx context.Context, read *query.Reader, text string) ([]string, error) {
	values, err := read.Values(ctx, store.FieldConversation, "")
	if err != nil {
		return nil, err
	}
	if _, id, found := strings.Cut(text, ":"); found {
		text = id
	}
	var near []string
	for _, value := range values {
		if !isNear(value.Text, text) {
			continue
		}
		trees := map[record.Tree]bool{}
		err := read.Each(ctx, store.FieldConversation, value.Text, func(_ *store.Tx, v store.Version) bool {
			if name := v.Record.Name; name.Kind == record.KindResult && !trees[name.Tree] {
				trees[name.Tree] = true
				near = append(near, Conversation{ID: value.Text, Tree: name.Tree}.String())
			}
			return len(near) == maxNearConversations
		})
		if err != nil || len(near) == maxNearConversations {
			return near, err
		}
	}
	return near, nil
}

// isNear reports whether two ids are alike but for letter case, or one is the
// beginning of the other.
func isNear(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return a != "" && b != "" && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a) || isTypo(a, b))
}

// isTypo reports whether two ids of the same length differ in one place, or in
// two that are exchanged.
func isTypo(a, b string) bool {
	if len(a) != len(b) || len(a) < 3 {
		return false
	}
	for len(a) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(a) == 1 || len(a) == 2 && a[0] == b[1] && a[1] == b[0]
}
