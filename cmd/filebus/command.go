package main

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filebus/store/record"
)

// A command is one command of the command line, with those below it. It is cheap: what
// cobra needs of it is made when it is asked for.
type command struct {
	use      string    // its name and its arguments, of which the number follows
	open     opener    // nil: it needs no workspace
	do       runner    // nil: it prints its help
	complete completer // of its arguments, and of those of the commands below
	below    []command
}

// An opener opens the workspace of a command.
type opener func(*environ, context.Context) (*workspace, error)

// A completer lets a shell complete arguments.
type completer func(*environ) cobra.CompletionFunc

// A runner is what a command does. Its fields that have a tag "flag" are the command's
// flags: the tag is the name with, behind a comma, the letter, and the value at the
// beginning is the usual one. Further tags of them are
//
//	least  the smallest number that the flag takes
//	in     what needs at least so many tokens
//	all    the smaller number that stands for all of it
//	of     the values that it takes, with a space between two
//	not    flags that exclude it, with a space between two
//	need   it must be given
//	was    the names that it had before, with a space between two: see newNames
type runner interface {
	run(ctx context.Context, w *workspace, args []string) error
}

// A runFunc is a runner without flags.
type runFunc func(ctx context.Context, w *workspace, args []string) error

func (f runFunc) run(ctx context.Context, w *workspace, args []string) error { return f(ctx, w, args) }

// A preparer is a runner that has more to say of its flags and arguments than tags can.
type preparer interface{ prepare(cmd *cobra.Command) }

// A checker is a runner that refuses some flags and arguments, before anything is opened.
type checker interface {
	check(env *environ, args []string) error
}

// texts are the values of a flag that may be repeated and whose commas mean nothing.
type texts []string

// plain returns a command that needs no workspace, or opens it itself.
func plain(use string, do runner) command { return command{use: use, do: do} }

// existing returns a command of a workspace that has to be there.
func existing(use string, do runner) command {
	return command{use: use, open: (*environ).open, do: do}
}

// fresh returns a command that sees what agents have changed on disk.
func fresh(use string, do runner) command {
	return command{use: use, open: (*environ).openFresh, do: do}
}

// creating returns a command that makes the workspace's store where there is none.
func creating(use string, do runner) command {
	return command{use: use, open: (*environ).create, do: do}
}

// group returns a command that has commands below it.
func group(use string, below ...command) command { return command{use: use, below: below} }

// with returns the command, with commands below it.
func (c command) with(below ...command) command {
	c.below = below
	return c
}

// completed returns the command, with arguments that a shell can complete.
func (c command) completed(by completer) command {
	c.complete = by
	return c
}

func (c command) name() string {
	name, _, _ := strings.Cut(c.use, " ")
	return name
}

// cobra returns the command as package cobra has it.
func (c command) cobra(env *environ) *cobra.Command {
	aliases := map[string][]string{"list": {"ls"}, "get": {"cat"}, "show": {"info"}, "capture": {"import"}}
	cmd := &cobra.Command{Use: c.use, Args: argumentsOf(c.use), Aliases: aliases[c.name()]}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if c.do == nil {
			return cmd.Help()
		}
		env.noteOldNames()
		if err := cmp.Or(checkGiven(cmd.Flags(), "since", "until", "as-of", "at", "search"), checkWords(cmd.Flags())); err != nil {
			return err
		}
		return c.run(cmd.Context(), env, args)
	}
	if c.do != nil {
		cmd.Flags().SetNormalizeFunc(env.newNames(c.flags()))
		addFlags(cmd, c.flags())
		if p, ok := c.do.(preparer); ok {
			p.prepare(cmd)
		}
	}
	for _, field := range []string{"tree", "kind", "tag"} { // cobra never drops a registered function, nor the store behind it
		if strings.HasPrefix(strings.Join(env.args, " "), cobra.ShellCompRequestCmd) && cmd.Flags().Lookup(field) != nil {
			_ = cmd.RegisterFlagCompletionFunc(field, completeFlag(env, field)) // the flag is there
		}
	}
	if c.complete != nil && c.do != nil {
		cmd.ValidArgsFunction = c.complete(env)
	}
	for _, sub := range c.below {
		if sub.complete == nil {
			sub.complete = c.complete
		}
		cmd.AddCommand(sub.cobra(env))
	}
	return cmd
}

func (c command) run(ctx context.Context, env *environ, args []string) (err error) {
	if err := cmp.Or(env.checkSecrets(c.name()), checkValues(c.flags())); err != nil {
		return err
	}
	if checker, ok := c.do.(checker); ok {
		if err := checker.check(env, args); err != nil {
			return err
		}
	}
	w := &workspace{environ: env}
	if c.open != nil {
		if w, err = c.open(env, ctx); err != nil {
			return err
		}
	}
	defer env.noteSecrets()
	return c.do.run(ctx, w, args)
}

// argumentsOf returns how many arguments a usage asks for: of "show ID [FILE]" one or
// two, of "wait TASK..." at least one.
func argumentsOf(use string) cobra.PositionalArgs {
	least, most, depth := 0, 0, 0
	for _, word := range strings.Fields(use)[1:] {
		if strings.HasPrefix(word, "-") {
			break // a flag that has to be given
		}
		if word == "[flags]" {
			continue
		}
		if most++; depth == 0 && word[0] != '[' {
			least++
		}
		depth += strings.Count(word, "[") - strings.Count(word, "]")
	}
	switch {
	case strings.Contains(use, "..."):
		return cobra.MinimumNArgs(least)
	case most == 0:
		return cobra.NoArgs
	}
	return cobra.RangeArgs(least, most)
}

func (c command) flags() []flagField { return flagFields(reflect.Indirect(reflect.ValueOf(c.do))) }

// A flagField is a field of a runner that is a flag.
type flagField struct {
	name, letter string
	tag          reflect.StructTag
	value        reflect.Value
}

func flagFields(v reflect.Value) (all []flagField) {
	if v.Kind() != reflect.Struct {
		return nil
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.Anonymous && field.Type.Kind() == reflect.Struct {
			all = append(all, flagFields(v.Field(i))...)
		} else if tag := field.Tag.Get("flag"); tag != "" {
			name, letter, _ := strings.Cut(tag, ",")
			all = append(all, flagField{name, letter, field.Tag, v.Field(i)})
		}
	}
	return all
}

func addFlags(cmd *cobra.Command, fields []flagField) {
	for _, f := range fields {
		addFlag(cmd.Flags(), f.name, f.letter, f.value.Addr().Interface())
	}
	for _, f := range fields {
		for _, other := range strings.Fields(f.tag.Get("not")) {
			cmd.MarkFlagsMutuallyExclusive(f.name, other)
		}
		if f.tag.Get("need") != "" {
			_ = cmd.MarkFlagRequired(f.name) // only an unknown flag is an error
		}
	}
}

func addFlag(flags *pflag.FlagSet, name, letter string, value any) {
	switch p := value.(type) {
	case *string:
		flags.StringVarP(p, name, letter, *p, "")
	case *bool:
		flags.BoolVarP(p, name, letter, *p, "")
	case *int:
		flags.IntVarP(p, name, letter, *p, "")
	case *time.Duration:
		flags.DurationVarP(p, name, letter, *p, "")
	case *[]string:
		flags.StringSliceVarP(p, name, letter, *p, "")
	case *texts:
		flags.StringArrayVarP((*[]string)(p), name, letter, *p, "")
	}
}

// checkValues refuses numbers that are too small, and words that a flag does not take.
func checkValues(fields []flagField) error {
	for _, f := range fields {
		if of, value := f.tag.Get("of"), f.value.String(); of != "" && value+f.tag.Get("need") != "" &&
			!slices.Contains(strings.Fields(of), value) {
			return usageError("--%s %q is none of %s", f.name, value, strings.ReplaceAll(of, " ", ", "))
		}
		least, err := strconv.Atoi(f.tag.Get("least"))
		if err != nil || f.value.Int() >= int64(least) || f.tag.Get("all") == fmt.Sprint(f.value) {
			continue
		}
		if in := f.tag.Get("in"); in != "" {
			return usageError("--%s %v: %s needs at least %d tokens", f.name, f.value.Interface(), in, least)
		}
		return usageError("--%s %v is negative", f.name, f.value.Interface())
	}
	return nil
}

// given tells which of its flags a command line has.
type given struct{ set *pflag.FlagSet }

func (g *given) prepare(cmd *cobra.Command) { g.set = cmd.Flags() }

func (g *given) has(flag string) bool { return g.set != nil && g.set.Changed(flag) }

// words returns the flags that a command line has, but one, as they can be given again.
func (g *given) words(but string) (words []string) {
	g.set.Visit(func(flag *pflag.Flag) {
		values := []string{flag.Value.String()}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			switch kind := flag.Value.Type(); {
			case flag.Name == but:
			case kind == "bool" && value == "true":
				words = append(words, "--"+flag.Name)
			case flag.NoOptDefVal != "":
				words = append(words, "--"+flag.Name+"="+record.ShellWord(value))
			case kind == "duration":
				words = append(words, "--"+flag.Name, shortDuration(value))
			default:
				words = append(words, "--"+flag.Name, record.ShellWord(value))
			}
		}
	})
	return words
}
