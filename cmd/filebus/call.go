package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"filebus/materialize/result"
	sessions "filebus/materialize/session"
	"filebus/store/record"
)

// callOptions are the flags of the commands that store a result.
type callOptions struct {
	agent, conversation, call, session, task, run string
	tags, from                                    []string
	preview                                       int
	structured                                    bool
	schema                                        string // a file
	format                                        string // of the reference
}

// add gives cmd the flags that say whose result it is and how its reference looks.
func (o *callOptions) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.agent, "agent", "", "")
	flags.StringVar(&o.conversation, "conversation", "", "")
	flags.StringVar(&o.call, "call", "", "")
	flags.StringVar(&o.session, "session", "", "")
	flags.StringVar(&o.task, "task", "", "")
	flags.StringVar(&o.run, "run", "", "")
	flags.StringSliceVar(&o.tags, "tag", nil, "")
	flags.StringSliceVar(&o.from, "from", nil, "")
	flags.IntVar(&o.preview, "preview", 0, "")
	flags.StringVar(&o.format, "format", formatJSON, "")
}

// addStructured gives cmd the flags for output that is a JSON object.
func (o *callOptions) addStructured(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.structured, "structured", false, "")
	cmd.Flags().StringVar(&o.schema, "schema", "", "")
}

// call returns the call that flags and environment describe, without what it was
// made from.
func (o *callOptions) resolve(env *environ) (result.Call, error) {
	c := result.Call{
		Agent: env.or(o.agent, "FILEBUS_AGENT"), Conversation: env.or(o.conversation, "FILEBUS_CONVERSATION"), ID: o.call,
		Session: env.or(o.session, sessionVariables()...), Task: env.or(o.task, "FILEBUS_TASK"), Run: env.or(o.run, "FILEBUS_RUN"),
		Tags: o.tags, Preview: o.preview, Structured: o.structured || o.schema != "",
	}
	if o.preview < 0 {
		return c, usageError("--preview %d: a preview has at least one character", o.preview)
	}
	err := checkFormat(o.format)
	if err != nil {
		return c, err
	}
	if c.Session != "" {
		if c.Session, err = sessions.IDOf(c.Session); err != nil {
			return c, err
		}
	}
	switch o.schema {
	case "":
	case "-":
		return c, usageError("a schema is a file; standard input is for the output")
	default:
		c.Schema, err = env.readSchema(o.schema)
	}
	return c, err
}

// The forms in which a reference is printed.
const (
	formatJSON = "json"
	formatLine = "line"
)

func checkFormat(format string) error {
	if format != formatJSON && format != formatLine {
		return usageError("unknown format %q: a reference is printed as json or as a line", format)
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
func (o *callOptions) printReference(env *environ, stored *result.Stored) error {
	if err := env.printReference(o.format, stored.Ref, stored.Reference()); err != nil {
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

// printReference prints a reference as JSON, or as one line: ref, agent, words and
// the beginning of the preview.
func (e *environ) printReference(format string, ref record.Ref, r record.Reference) error {
	if format != formatLine || e.global.json {
		return e.printJSON(r)
	}
	line := ref.Short()
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
	end := n - len("…")
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	if space := strings.LastIndexByte(text[:end+1], ' '); space > end/2 {
		end = space
	}
	return text[:end] + "…"
}
