package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"filebus/materialize/result"
	"filebus/store/record"
)

func newSchemaCommand(env *environ) *cobra.Command {
	cmd := &cobra.Command{Use: "schema"}
	cmd.AddCommand(newSchemaInjectCommand(env), newSchemaCheckCommand(env))
	return cmd
}

type injectOptions struct {
	out   string
	write bool
}

func newSchemaInjectCommand(env *environ) *cobra.Command {
	var opts injectOptions
	cmd := newCommand("inject FILE|-", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		return runSchemaInject(ctx, env, opts, args[0])
	})
	cmd.Flags().StringVarP(&opts.out, "output", "o", "", "")
	cmd.Flags().BoolVar(&opts.write, "write", false, "")
	cmd.MarkFlagsMutuallyExclusive("output", "write")
	return cmd
}

func runSchemaInject(ctx context.Context, env *environ, opts injectOptions, file string) error {
	if opts.write && file == "-" {
		return usageError("--write needs a file: standard input cannot be written back")
	}
	schema, err := env.readSchema(file)
	if err != nil {
		return err
	}
	text, changed := schema.Inject()
	switch {
	case opts.write && changed:
		err = writeText(ctx, env.abs(file), text, true)
	case opts.write:
	case opts.out != "":
		if _, err := os.Lstat(env.abs(opts.out)); err == nil {
			return coded(record.Conflict, "the same with another file", fmt.Errorf("%s exists", opts.out))
		}
		err = writeText(ctx, env.abs(opts.out), text, false)
	default:
		_, err = env.out.Write(text)
	}
	if err == nil && !changed {
		env.note(`%s has a "summary" already`, file)
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

func newSchemaCheckCommand(env *environ) *cobra.Command {
	return newCommand("check SCHEMA OUTPUT|NAME|-", cobra.ExactArgs(2), func(ctx context.Context, args []string) error {
		return runSchemaCheck(ctx, env, args[0], args[1])
	})
}

// A checkJSON is what is wrong with an output, in JSON.
type checkJSON struct {
	Valid    bool             `json:"valid"`
	Problems []result.Problem `json:"problems"`
}

func runSchemaCheck(ctx context.Context, env *environ, file, output string) error {
	if file == "-" && output == "-" {
		return usageError("standard input is either the schema or the output")
	}
	schema, err := env.readSchema(file)
	if err != nil {
		return err
	}
	in, err := readInput(ctx, env, output, result.MaxStructured)
	if err != nil {
		return err
	}
	problems := []result.Problem{{Message: fmt.Sprintf("the output has more than %d bytes", result.MaxStructured)}}
	if in.whole {
		problems = schema.Check(in.text)
	}
	switch {
	case env.global.json:
		err = env.printJSON(checkJSON{len(problems) == 0, problems})
	case len(problems) == 0:
		env.printf("valid\n")
	}
	for i := range problems {
		if !env.global.json {
			env.printf("%s\n", oneLine(problems[i].Error()))
		}
	}
	if err == nil && len(problems) > 0 {
		return silentError(record.Wanting)
	}
	return err
}

// schemaRead is how much of a schema is read, in bytes: one more than it may have.
const schemaRead = 1<<20 + 1

// readSchema reads a schema from a file, or from standard input.
func (e *environ) readSchema(file string) (*result.Schema, error) {
	if file == "-" {
		return parseSchema(e.in, "from standard input")
	}
	f, err := openInput(e, file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	return parseSchema(f, file)
}

func parseSchema(r io.Reader, name string) (*result.Schema, error) {
	in, err := readLimited(r, schemaRead)
	if err != nil {
		return nil, fmt.Errorf("reading the schema %s: %w", name, err)
	}
	return result.ParseSchema(name, in.text)
}
