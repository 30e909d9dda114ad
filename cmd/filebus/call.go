package main

import (
	"cmp"
	"fmt"
	"strings"

	"filebus/cmd/filebus/result"
	sessions "filebus/cmd/filebus/session"
	"filebus/materialize"
	"filebus/materialize/markdown"
	"filebus/materialize/secrets"
	"filebus/store/record"
)

// callFlags are the flags of the commands that store a result: whose it is, and how its
// reference looks.
type callFlags struct {
	Agent        string   `flag:"agent"`
	Conversation string   `flag:"conversation"`
	Call         string   `flag:"call"`
	Session      string   `flag:"session"`
	Task         string   `flag:"task"`
	Run          string   `flag:"run"`
	Tags         []string `flag:"tag"`
	From         []string `flag:"from"`
	Preview      int      `flag:"preview"`
	Format       string   `flag:"format"` // empty: formatJSON

	call result.Call // that check has made of them, without what it was made from
}

// structuredFlags are for output that is a JSON object.
type structuredFlags struct {
	Structured bool   `flag:"structured"`
	Schema     string `flag:"schema"` // a file
	Raw        bool   `flag:"raw"`
}

// usualCall returns the flags as they are when none is given.
func usualCall() callFlags { return callFlags{Format: formatJSON} }

func (o *callFlags) check(env *environ, _ []string) (err error) {
	id, taskErr := env.task(o.Task)
	o.call = result.Call{
		Agent: env.or(o.Agent, "FILEBUS_AGENT"), Conversation: env.or(o.Conversation, "FILEBUS_CONVERSATION"),
		ID: o.Call, Session: env.or(o.Session, sessionVariables()...), Task: string(id),
		Run: env.or(o.Run, "FILEBUS_RUN"), Tags: o.Tags, Preview: o.Preview,
	}
	if err := cmp.Or(taskErr, checkPreview(o.Preview), checkFormat(o.Format)); err != nil {
		return err
	}
	if o.call.Session != "" {
		o.call.Session, err = sessions.IDOf(o.call.Session)
	}
	return err
}

// set makes c a call with structured output, if the flags say so.
func (o *structuredFlags) set(env *environ, c *result.Call) (err error) {
	c.Raw, c.Structured = o.Raw, o.Structured || o.Schema != ""
	switch o.Schema {
	case "":
	case "-":
		return usageError("the schema must be a file: standard input is for the output")
	default:
		c.Schema, err = env.readSchema(o.Schema)
	}
	return err
}

// The forms in which a reference is printed.
const (
	formatJSON = "json"
	formatLine = "line"
)

func checkPreview(n int) error {
	if n < 0 {
		return usageError("--preview %d: a preview has at least one character", n)
	}
	return nil
}

func checkFormat(format string) error {
	if format != formatJSON && format != formatLine {
		return usageError("--format %q is neither json nor line", format)
	}
	return nil
}

// A reference of one line has about lineSize bytes, so that it costs about 20
// tokens, and shows at least leastPreview bytes of the preview.
const (
	lineSize     = 80
	leastPreview = 20
)

// printReference prints what the parent agent gets, and on stderr where the output
// does not fit its schema; it is then an error.
func (o *callFlags) printReference(env *environ, stored *result.Stored) error {
	if err := env.printReference(o.Format, stored.Reference(), stored.PutResult); err != nil {
		return err
	}
	for _, problem := range stored.Problems {
		env.note("%s: %s", stored.Name, problem)
	}
	if len(stored.Problems) > 0 {
		return silentError(record.Wanting)
	}
	return nil
}

// A referenceJSON is a reference, with what was found of secrets in the text.
type referenceJSON struct {
	record.Reference
	Secrets []secrets.Finding `json:"secrets,omitempty"`
}

// printReference prints a reference as JSON, or as one line: ref, agent, words and
// the beginning of the preview.
func (e *environ) printReference(format string, r record.Reference, stored *materialize.PutResult) error {
	if e.said.What = stored.Name.String(); format != formatLine || e.global.json {
		return e.printJSON(referenceJSON{r, stored.Secrets})
	}
	line := stored.Ref.Short()
	if r.Agent != "" {
		line += " " + r.Agent
	}
	line = fmt.Sprintf("%s %dw: ", line, r.WordCount)
	e.printf("%s\n", oneLine(line+shortened(r.Preview, max(lineSize-len(line), leastPreview))))
	return nil
}

// shortened returns at most n bytes of text, which end with "…" if some are
// missing: whole characters and, unless that takes more than half, whole words.
func shortened(text string, n int) string {
	if len(text) <= n {
		return text
	}
	if n < len("…") {
		return ""
	}
	end := len(markdown.Head(text, n-len("…")))
	if space := strings.LastIndexByte(text[:end+1], ' '); space > end/2 {
		end = space
	}
	return text[:end] + "…"
}
