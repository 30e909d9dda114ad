package result

import (
	"cmp"
	"context"

	"filebus/cmd/filebus/cli"
	sessions "filebus/cmd/filebus/session"
	"filebus/cmd/filebus/task"
	"filebus/store/record"
)

// CallFlags are the flags of the commands that store a result: whose it is, and how its
// reference looks.
type CallFlags struct {
	Agent        string   `flag:"agent"`
	Conversation string   `flag:"conversation"`
	Call         string   `flag:"call"`
	Session      string   `flag:"session"`
	Task         string   `flag:"task"`
	Run          string   `flag:"run"`
	Tags         []string `flag:"tag"`
	From         []string `flag:"from"`
	Preview      int      `flag:"preview"`
	Format       string   `flag:"format"` // empty: FormatJSON

	Checked Call // that check has made of them, without what it was made from
}

// StructuredFlags are for output that is a JSON object.
type StructuredFlags struct {
	Structured bool   `flag:"structured"`
	Schema     string `flag:"schema"` // a file
	Raw        bool   `flag:"raw"`
}

// UsualCall returns the flags as they are when none is given.
func UsualCall() CallFlags { return CallFlags{Format: cli.FormatJSON} }

// Check refuses flags and arguments that make no sense.
func (o *CallFlags) Check(env *cli.Environ, _ []string) (err error) {
	id, taskErr := task.GivenID(env, o.Task)
	o.Checked = Call{
		Agent: env.Or(o.Agent, "FILEBUS_AGENT"), Conversation: env.Or(o.Conversation, "FILEBUS_CONVERSATION"),
		ID: o.Call, Session: env.Or(o.Session, cli.SessionVariables()...), Task: string(id),
		Run: env.Or(o.Run, "FILEBUS_RUN"), Tags: o.Tags, Preview: o.Preview,
	}
	if err := cmp.Or(taskErr, CheckPreview(o.Preview), cli.CheckFormat(o.Format)); err != nil {
		return err
	}
	if o.Checked.Session != "" {
		o.Checked.Session, err = sessions.IDOf(o.Checked.Session)
	}
	return err
}

// Set makes c a call with structured output, if the flags say so.
func (o *StructuredFlags) Set(env *cli.Environ, c *Call) (err error) {
	c.Raw, c.Structured = o.Raw, o.Structured || o.Schema != ""
	switch o.Schema {
	case "":
	case "-":
		return cli.UsageError("the schema must be a file: standard input is for the output")
	default:
		c.Schema, err = readSchema(env, o.Schema)
	}
	return err
}

// CheckPreview refuses a length of previews that is negative.
func CheckPreview(n int) error {
	if n < 0 {
		return cli.UsageError("--preview %d: a preview has at least one character", n)
	}
	return nil
}

// PrintReference prints what the parent agent gets, and on stderr where the output
// does not fit its schema; it is then an error.
func (o *CallFlags) PrintReference(env *cli.Environ, stored *Stored) error {
	if err := env.PrintReference(o.Format, stored.Reference(), stored.PutResult); err != nil {
		return err
	}
	for _, problem := range stored.Problems {
		env.Note("%s: %s", stored.Name, problem)
	}
	if len(stored.Problems) > 0 {
		return cli.SilentError(record.Wanting)
	}
	return nil
}

// ResolveAll returns the versions that texts of a user mean.
func ResolveAll(ctx context.Context, w *cli.Work, texts []string) ([]record.Ref, error) {
	var refs []record.Ref
	for _, text := range texts {
		v, err := w.VersionOf(ctx, text)
		if err != nil {
			return nil, err
		}
		refs = append(refs, v.Ref)
	}
	return refs, nil
}
