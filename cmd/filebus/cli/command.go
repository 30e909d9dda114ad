package cli

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

// A Command is one command of the command line, with those below it. It is cheap: what
// cobra needs of it is made when it is asked for.
type Command struct {
	Use      string    // its name and its arguments, of which the number follows
	Open     Opener    // nil: it needs no workspace
	Do       Runner    // nil: it prints its help
	complete Completer // of its arguments, and of those of the commands below
	below    []Command
}

// An Opener opens the workspace of a command.
type Opener func(*Environ, context.Context) (*Work, error)

// A Completer lets a shell complete arguments.
type Completer func(*Environ) cobra.CompletionFunc

// A Runner is what a command does. Its fields that have a tag "flag" are the command's
// flags: the tag is the name with, behind a comma, the letter, and the value at the
// beginning is the usual one. Further tags of them are
//
//	least  the smallest number that the flag takes
//	in     what needs at least so many tokens
//	all    the smaller number that stands for all of it
//	of     the values that it takes, with a space between two
//	not    flags that exclude it, with a space between two
//	need   it must be given
//	was    the names that it had before, with a space between two: see NewNames
type Runner interface {
	Do(ctx context.Context, w *Work, args []string) error
}

// A RunFunc is a runner without flags.
type RunFunc func(ctx context.Context, w *Work, args []string) error

// Do calls the function.
func (f RunFunc) Do(ctx context.Context, w *Work, args []string) error { return f(ctx, w, args) }

// A preparer is a runner that has more to say of its flags and arguments than tags can.
type preparer interface{ Prepare(cmd *cobra.Command) }

// A checker is a runner that refuses some flags and arguments, before anything is opened.
type checker interface {
	Check(env *Environ, args []string) error
}

// Texts are the values of a flag that may be repeated and whose commas mean nothing.
type Texts []string

// Plain returns a command that needs no workspace, or opens it itself.
func Plain(use string, do Runner) Command { return Command{Use: use, Do: do} }

// Existing returns a command of a workspace that has to be there.
func Existing(use string, do Runner) Command {
	return Command{Use: use, Open: (*Environ).Open, Do: do}
}

// Fresh returns a command that sees what agents have changed on disk.
func Fresh(use string, do Runner) Command {
	return Command{Use: use, Open: (*Environ).OpenFresh, Do: do}
}

// Creating returns a command that makes the workspace's store where there is none.
func Creating(use string, do Runner) Command {
	return Command{Use: use, Open: (*Environ).Create, Do: do}
}

// Group returns a command that has commands below it.
func Group(use string, below ...Command) Command { return Command{Use: use, below: below} }

// With returns the command, with commands below it.
func (c Command) With(below ...Command) Command {
	c.below = below
	return c
}

// Completed returns the command, with arguments that a shell can complete.
func (c Command) Completed(by Completer) Command {
	c.complete = by
	return c
}

// Name returns the first word of the command's usage.
func (c Command) Name() string {
	name, _, _ := strings.Cut(c.Use, " ")
	return name
}

// Cobra returns the command as package cobra has it.
func (c Command) Cobra(env *Environ) *cobra.Command {
	aliases := map[string][]string{"list": {"ls"}, "get": {"cat"}, "show": {"info"}, "capture": {"import"}, "show [NAME]": {"list"}}
	cmd := &cobra.Command{Use: c.Use, Args: argumentsOf(c.Use), Aliases: slices.Compact(append(aliases[c.Name()], aliases[c.Use]...))}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if c.Do == nil {
			return cmd.Help()
		}
		env.noteOldNames()
		if err := cmp.Or(CheckGiven(cmd.Flags(), "since", "until", "as-of", "at", "search"), checkWords(cmd.Flags())); err != nil {
			return err
		}
		return c.run(cmd.Context(), env, args)
	}
	if c.Do != nil {
		cmd.Flags().SetNormalizeFunc(env.NewNames(c.flags()))
		addFlags(cmd, c.flags())
		if p, ok := c.Do.(preparer); ok {
			p.Prepare(cmd)
		}
	}
	for _, field := range []string{"tree", "kind", "tag"} { // cobra never drops a registered function, nor the store behind it
		if strings.HasPrefix(strings.Join(env.Args, " "), cobra.ShellCompRequestCmd) && cmd.Flags().Lookup(field) != nil {
			_ = cmd.RegisterFlagCompletionFunc(field, completeFlag(env, field)) // the flag is there
		}
	}
	if c.complete != nil && c.Do != nil {
		cmd.ValidArgsFunction = c.complete(env)
	}
	for _, sub := range c.below {
		if sub.complete == nil {
			sub.complete = c.complete
		}
		cmd.AddCommand(sub.Cobra(env))
	}
	return cmd
}

func (c Command) run(ctx context.Context, env *Environ, args []string) (err error) {
	if err := cmp.Or(env.checkSecrets(c.Name()), checkValues(c.flags())); err != nil {
		return err
	}
	if checker, ok := c.Do.(checker); ok {
		if err := checker.Check(env, args); err != nil {
			return err
		}
	}
	w := &Work{Environ: env}
	if c.Open != nil {
		if w, err = c.Open(env, ctx); err != nil {
			return err
		}
	}
	defer env.NoteSecrets()
	return c.Do.Do(ctx, w, args)
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

func (c Command) flags() []FlagField { return flagFields(reflect.Indirect(reflect.ValueOf(c.Do))) }

// A FlagField is a field of a runner that is a flag.
type FlagField struct {
	name, letter string
	tag          reflect.StructTag
	value        reflect.Value
}

func flagFields(v reflect.Value) (all []FlagField) {
	if v.Kind() != reflect.Struct {
		return nil
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.Anonymous && field.Type.Kind() == reflect.Struct {
			all = append(all, flagFields(v.Field(i))...)
		} else if tag := field.Tag.Get("flag"); tag != "" {
			name, letter, _ := strings.Cut(tag, ",")
			all = append(all, FlagField{name, letter, field.Tag, v.Field(i)})
		}
	}
	return all
}

func addFlags(cmd *cobra.Command, fields []FlagField) {
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
	case *Texts:
		flags.StringArrayVarP((*[]string)(p), name, letter, *p, "")
	}
}

// checkValues refuses numbers that are too small, and words that a flag does not take.
func checkValues(fields []FlagField) error {
	for _, f := range fields {
		if of, value := f.tag.Get("of"), f.value.String(); of != "" && value+f.tag.Get("need") != "" &&
			!slices.Contains(strings.Fields(of), value) {
			return UsageError("--%s %q is none of %s", f.name, value, strings.ReplaceAll(of, " ", ", "))
		}
		least, err := strconv.Atoi(f.tag.Get("least"))
		if err != nil || f.value.Int() >= int64(least) || f.tag.Get("all") == fmt.Sprint(f.value) {
			continue
		}
		if in := f.tag.Get("in"); in != "" {
			return UsageError("--%s %v: %s needs at least %d tokens", f.name, f.value.Interface(), in, least)
		}
		return UsageError("--%s %v is negative", f.name, f.value.Interface())
	}
	return nil
}

// Given tells which of its flags a command line has.
type Given struct{ set *pflag.FlagSet }

// Prepare remembers the flags of the command line.
func (g *Given) Prepare(cmd *cobra.Command) { g.set = cmd.Flags() }

// Has reports whether the command line has a flag.
func (g *Given) Has(flag string) bool { return g.set != nil && g.set.Changed(flag) }

// Words returns the flags that a command line has, but one, as they can be given again.
func (g *Given) Words(but string) (words []string) {
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
