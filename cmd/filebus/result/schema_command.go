package result

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/rule"
	"filebus/store/record"
)

type schemaInject struct {
	Output string `flag:"output,o" not:"write"`
	Write  bool   `flag:"write"`
}

func (o *schemaInject) Do(ctx context.Context, w *cli.Work, args []string) error {
	file := args[0]
	if o.Write && file == "-" {
		return cli.UsageError("--write needs a file: standard input cannot be written back")
	}
	schema, err := readSchema(w.Environ, file)
	if err != nil {
		return err
	}
	text, changed := schema.Inject()
	switch {
	case o.Write && changed:
		err = WriteText(ctx, w.Abs(file), text, true)
	case o.Write:
	case o.Output != "":
		if _, err := os.Lstat(w.Abs(o.Output)); err == nil {
			return cli.Coded(record.Conflict, "run it again with another --output", fmt.Errorf("%s is there already", o.Output))
		}
		err = WriteText(ctx, w.Abs(o.Output), text, false)
	default:
		_, err = w.Out.Write(text)
	}
	if err == nil && !changed {
		w.Note(`%s has a "summary" already`, file)
	}
	return err
}

// WriteText makes a file, or replaces one that exists, at once. A link leads to the
// file that is meant.
func WriteText(ctx context.Context, file string, text []byte, replace bool) (err error) {
	if replace {
		if file, err = filepath.EvalSymlinks(file); err != nil {
			return err
		}
	}
	return WriteFile(ctx, file, text, replace)
}

// CheckJSON is what a command prints with --json.
type CheckJSON struct {
	Valid    bool           `json:"valid"`
	Problems []rule.Finding `json:"problems"`
}

func checkSchema(ctx context.Context, w *cli.Work, args []string) error {
	file, output := args[0], args[1]
	if file == "-" && output == "-" {
		return cli.UsageError("standard input is either the schema or the output")
	}
	schema, err := readSchema(w.Environ, file)
	if err != nil {
		return err
	}
	w.EmptyInput = true
	in, err := w.ReadInput(ctx, output, MaxStructured)
	if err != nil {
		return err
	}
	problems := []rule.Finding{*noJSON("the output has more than %d bytes", MaxStructured)}
	if in.Whole {
		problems = schema.Check(in.Text)
	}
	text := w.FindingsText(problems, 0)
	if len(problems) == 0 {
		text = "valid\n"
	}
	err = w.Print(CheckJSON{len(problems) == 0, problems}, "%s", text)
	if err == nil && len(problems) > 0 {
		return cli.SilentError(record.Wanting)
	}
	return err
}

// readSchema reads a schema from a file, or from standard input.
func readSchema(e *cli.Environ, file string) (*Schema, error) {
	const schemaRead = 1<<20 + 1 // how much of a schema is read, in bytes: one more than it may have
	in, err := e.ReadFile(file, schemaRead)
	if err != nil {
		return nil, err
	}
	if file == "-" {
		file = "from standard input"
	}
	return ParseSchema(file, in.Text)
}
