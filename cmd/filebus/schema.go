package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"filebus/cmd/filebus/result"
	"filebus/store/record"
)

type schemaInject struct {
	Output string `flag:"output,o" not:"write"`
	Write  bool   `flag:"write"`
}

func (o *schemaInject) run(ctx context.Context, w *workspace, args []string) error {
	file := args[0]
	if o.Write && file == "-" {
		return usageError("--write needs a file: standard input cannot be written back")
	}
	schema, err := w.readSchema(file)
	if err != nil {
		return err
	}
	text, changed := schema.Inject()
	switch {
	case o.Write && changed:
		err = writeText(ctx, w.abs(file), text, true)
	case o.Write:
	case o.Output != "":
		if _, err := os.Lstat(w.abs(o.Output)); err == nil {
			return coded(record.Conflict, "run it again with another --output", fmt.Errorf("%s exists", o.Output))
		}
		err = writeText(ctx, w.abs(o.Output), text, false)
	default:
		_, err = w.out.Write(text)
	}
	if err == nil && !changed {
		w.note(`%s has a "summary" already`, file)
	}
	return err
}

// writeText makes a file, or replaces one that exists, at once. A link leads to the
// file that is meant.
func writeText(ctx context.Context, file string, text []byte, replace bool) (err error) {
	if replace {
		if file, err = filepath.EvalSymlinks(file); err != nil {
			return err
		}
	}
	return result.WriteFile(ctx, file, text, replace)
}

type checkJSON struct {
	Valid    bool             `json:"valid"`
	Problems []result.Problem `json:"problems"`
}

func checkSchema(ctx context.Context, w *workspace, args []string) error {
	file, output := args[0], args[1]
	if file == "-" && output == "-" {
		return usageError("standard input is either the schema or the output")
	}
	schema, err := w.readSchema(file)
	if err != nil {
		return err
	}
	w.emptyInput = true
	in, err := w.readInput(ctx, output, result.MaxStructured)
	if err != nil {
		return err
	}
	problems := []result.Problem{{Message: fmt.Sprintf("the output has more than %d bytes", result.MaxStructured)}}
	if in.whole {
		problems = schema.Check(in.text)
	}
	switch {
	case w.global.json:
		err = w.printJSON(checkJSON{len(problems) == 0, problems})
	case len(problems) == 0:
		w.printf("valid\n")
	}
	for i := range problems {
		if !w.global.json {
			w.printf("%s\n", oneLine(problems[i].Error()))
		}
	}
	if err == nil && len(problems) > 0 {
		return silentError(record.Wanting)
	}
	return err
}

// readSchema reads a schema from a file, or from standard input.
func (e *environ) readSchema(file string) (*result.Schema, error) {
	const schemaRead = 1<<20 + 1 // how much of a schema is read, in bytes: one more than it may have
	in, err := e.readFile(file, schemaRead)
	if err != nil {
		return nil, err
	}
	if file == "-" {
		file = "from standard input"
	}
	return result.ParseSchema(file, in.text)
}
