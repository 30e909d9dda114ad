package result

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"filebus/materialize"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// combineAgent is the agent of a combined text, unless another one is named.
const combineAgent = "combine_files"

// A CombineRequest says which texts to join, and whose result that is. The call's
// From is added to the refs of the inputs.
type CombineRequest struct {
	Call
	// Inputs are files, refs, names and patterns of files or names, in order. A
	// pattern stands for the files that it matches, in the order of their bytes,
	// or for names if there is no such file.
	Inputs    []string
	Dir       string // that relative paths begin at, absolute
	Separator string // between two texts; nothing else is added to them
	Expected  int    // how many texts there must be; 0: any number
	Output    string // a file to write the text to, absolute; "": only the result's own
	Force     bool   // replace another text in Output
}

// A Combined is the result of a combine.
type Combined struct {
	*Stored
	Output  string   // the file that was asked for; "": only the result's own
	Texts   int      // that were combined
	Unread  []error  // why inputs were left out, which each names
	Differs []string // files that do not hold what is stored, and were read from disk
}

// Reference returns what a parent agent gets in place of the text.
func (c *Combined) Reference() record.Reference {
	r := c.Stored.Reference()
	if c.Output != "" {
		r.ResultFile = c.Output
	}
	return r
}

// countError says that another number of texts could be read than was expected, or
// none at all. That a count is wrong is a failure of the whole, whatever kept single
// inputs from being read.
func countError(read, expected int, unread []error) error {
	whys, args := "", []any{}
	for i, err := range unread {
		whys += []string{": %w", "; %w"}[min(i, 1)]
		args = append(args, err)
	}
	err := fmt.Errorf("nothing to combine"+whys, args...)
	if expected > 0 {
		why := strings.TrimPrefix(err.Error(), "nothing to combine")
		return record.Failed.Errorf("%d of the %d expected texts could be read; nothing was combined%s", read, expected,
			why)
	}
	return err
}

// Combine joins texts, stores the whole as a result that was made from them, and
// writes its files. It streams: texts may have any size. Inputs that cannot be
// read are left out and listed. Without an id of the call, the same texts joined
// again are the result that is there: in the conversation or, if that would be
// made, in any.
//
// If the number of texts is not the expected one, or none can be read, it returns
// an error; if the output may not be written, ErrOutput or ErrOutputTaken. An input
// that changes or fails while it is read is an error too. Nothing is stored then.
func Combine(ctx context.Context, w *materialize.Workspace, read *query.Reader, r CombineRequest) (*Combined, error) {
	c := combiner{gatherer: gatherer{w, read, r.Dir}, CombineRequest: r}
	c.Agent = cmp.Or(c.Agent, combineAgent)
	in, err := c.gather(ctx, r.Inputs)
	if err != nil {
		return nil, err
	}
	if n := len(in.list); n == 0 || r.Expected > 0 && n != r.Expected {
		return nil, countError(n, r.Expected, in.unread)
	}
	c.in = in
	if c.Conversation == "" && c.Name == "" {
		c.Conversation = in.conversation()
	}
	done := &Combined{Output: r.Output, Texts: len(in.list), Unread: in.unread}
	c.From = nil
	for _, one := range in.list { // one that was given twice is there twice: so is its text
		if one.version.Record != nil {
			c.From = append(c.From, one.version.Ref)
		}
		if one.differs {
			done.Differs = append(done.Differs, one.given)
		}
	}
	c.From = append(c.From, r.From...)
	if done.Stored, err = c.run(ctx); err != nil {
		return nil, err
	}
	return done, nil
}

// conversation returns the conversation that all stored inputs share, if it can
// be that of the result.
func (in *inputs) conversation() string {
	shared := ""
	for i := range in.list {
		r := in.list[i].version.Record
		switch {
		case r == nil:
		case r.Conversation == "", shared != "" && r.Conversation != shared:
			return ""
		default:
			shared = r.Conversation
		}
	}
	return usableConversation(shared)
}

// A combiner carries out one request.
type combiner struct {
	gatherer
	CombineRequest
	in *inputs
}

// run stores the text: while it is read or, with an output, from the file that is
// then given the output's name. Only if the text may be there already is it read
// once before, to find out.
func (c *combiner) run(ctx context.Context) (stored *Stored, err error) {
	var before []*record.Record // that the call may be one of
	if c.ID == "" && c.Name == "" {
		if before, err = c.madeBefore(ctx, c.read, record.SourceCombine); err != nil {
			return nil, err
		}
	}
	var out *output
	var digest record.Digest
	text := c.text(ctx, c.in, c.Separator)
	if c.Output != "" {
		if out, err = c.newOutput(ctx, c.Output, c.Force, c.in); err != nil {
			return nil, err
		}
		defer out.discard()
		digest, err = out.write(ctx, text)
		text = out.tmp
	} else if len(before) > 0 {
		digest, err = digestOf(ctx, text)
		text = c.text(ctx, c.in, c.Separator)
	}
	if err != nil {
		return nil, err
	}
	if len(before) > 0 {
		c.Name = idOfText(before, digest)
	}
	r, err := c.request(record.SourceCombine, text)
	if err != nil {
		return nil, err
	}
	if stored, err = c.put(ctx, c.w, r); err == nil && out != nil {
		err = out.publish(ctx, digest)
	}
	return stored, err
}

// ParseSeparator reads a separator as it is typed: \n, \t, \r and \\ stand for a
// line end, a tab, a carriage return and a backslash. Any other backslash is one.
func ParseSeparator(typed string) string {
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r").Replace(typed)
}

// What filebus itself makes of stored texts, combined texts and documents, is the
// same result when it is made again.

// madeBefore returns the results that were made from the versions of the call, in
// its order, by its agent and in one way: those of its conversation or, if that is
// to be made, of all. Tags that were added later do not count.
func (c Call) madeBefore(ctx context.Context, read *query.Reader, source record.Source) ([]*record.Record, error) {
	var found []*record.Record
	picked := record.Filter{
		Trees: []record.Tree{""}, Agents: []string{c.Facts().Agent}, Conversations: record.Any(c.Conversation),
	}
	err := eachResult(ctx, read, picked, func(s query.Summary, first store.Version) {
		if slices.Equal(s.Version.Record.From, c.From) && first.Record.Source == source {
			found = append(found, s.Version.Record)
		}
	})
	return found, err
}

// idOfText returns the id of the first of some results that has a text, or "".
func idOfText(results []*record.Record, text record.Digest) string {
	for _, r := range results {
		if r.Body == text {
			return r.Name.ID
		}
	}
	return ""
}

// usableConversation returns the conversation of a source if it can be that of a
// result, else "".
func usableConversation(id string) string {
	if _, err := resultName(id, "x"); err != nil {
		return ""
	}
	return id
}
