package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"filebus/materialize/result"
	"filebus/store/record"
)

func newSchemaCommand(env *environ) *cobra.Command {
	cmd := &cobra.Command{
		Use: "schema",
	}
	cmd.AddCommand(newSchemaInjectCommand(env), newSchemaCheckCommand(env))
	return cmd
}

type injectOptions struct {
	out   string
	write bool
}

func newSchemaInjectCommand(env *environ) *cobra.Command {
	var opts injectOptions
	cmd := &cobra.Command{
		Use:  "inject FILE|-",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runSchemaInject(env, opts, args[0])
		},
	}
	cmd.Flags().StringVarP(&opts.out, "output", "o", "", "")
	cmd.Flags().BoolVar(&opts.write, "write", false, "")
	cmd.MarkFlagsMutuallyExclusive("output", "write")
	return cmd
}

func runSchemaInject(env *environ, opts injectOptions, file string) error {
	if opts.write && file == "-" {
		return usageError("--write needs a file: standard input cannot be written back")
	}
	schema, err := env.readSchemaArg(file)
	if err != nil {
		return err
	}
	text, changed := schema.Inject()
	switch {
	case opts.write && changed:
		err = replaceFile(env.abs(file), text)
	case opts.write:
	case opts.out != "":
		err = createFile(env.abs(opts.out), text)
	default:
		_, err = env.out.Write(text)
	}
	if errors.Is(err, fs.ErrExist) {
		return coded(record.Conflict, "the same with another file", fmt.Errorf("%s exists", opts.out))
	}
	if err == nil && !changed {
		env.note(`%s has a "summary" already`, file)
	}
	return err
}

// createFile writes a file that must not exist.
func createFile(file string, text []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(file) // half of it is of no use
	}
	return err
}

// replaceFile gives a file that exists another text, at once.
func replaceFile(file string, text []byte) error {
	file, err := filepath.EvalSymlinks(file)
	if err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(info.Mode().Perm()), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it is not needed any more
	}
	return err
}

func newSchemaCheckCommand(env *environ) *cobra.Command {
	return &cobra.Command{
		Use:  "check SCHEMA OUTPUT|NAME|-",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runSchemaCheck(cmd.Context(), env, args[0], args[1])
		},
	}
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
	schema, err := env.readSchemaArg(file)
	if err != nil {
		return err
	}
	in, err := readInput(ctx, env, output, result.MaxStructured)
	if err != nil {
		return err
	}
	problems := []result.Problem{}
	if in.whole {
		problems = append(problems, schema.Check(in.text)...)
	} else {
		problems = append(problems, result.Problem{Message: fmt.Sprintf("the output has more than %d bytes", result.MaxStructured)})
	}
	if env.global.json {
		err = env.printJSON(checkJSON{len(problems) == 0, problems})
	} else if len(problems) == 0 {
		env.printf("valid\n")
	} else {
		for _, p := range problems {
			env.printf("%s\n", oneLine(p.Error()))
		}
	}
	if err == nil && len(problems) > 0 {
		return silentError(record.Wanting)
	}
	return err
}

// schemaRead is how much of a schema is read, in bytes: one more than it may have.
const schemaRead = 1<<20 + 1

// readSchema reads a schema from a file.
func (e *environ) readSchema(file string) (*result.Schema, error) {
	if file == "-" {
		return nil, usageError("a schema is a file; standard input is for the output")
	}
	f, err := openInput(e, file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	return parseSchema(f, file)
}

// readSchemaArg reads a schema from a file, or from standard input.
func (e *environ) readSchemaArg(arg string) (*result.Schema, error) {
	if arg == "-" {
		return parseSchema(e.in, "from standard input")
	}
	return e.readSchema(arg)
}

func parseSchema(r io.Reader, name string) (*result.Schema, error) {
	in, err := readLimited(r, schemaRead)
	if err != nil {
		return nil, fmt.Errorf("reading the schema %s: %w", name, err)
	}
	return result.ParseSchema(name, in.text)
}
