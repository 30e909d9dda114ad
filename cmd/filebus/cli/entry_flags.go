package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filebus/materialize/layout"
)

// EntryFlags are the flags that give the fields of an entry, as their table says.
type EntryFlags[T any] struct {
	Fields []layout.Field[T]
	set    *pflag.FlagSet
}

// Prepare gives cmd a flag for each field.
func (e *EntryFlags[T]) Prepare(cmd *cobra.Command) {
	e.set = cmd.Flags()
	for _, f := range e.Fields {
		switch isList, commas := f.IsList(); {
		case commas:
			e.set.StringSlice(f.Flag, nil, "")
		case isList:
			e.set.StringArray(f.Flag, nil, "")
		default:
			e.set.String(f.Flag, "", "")
		}
	}
}

// Read puts what was given into an entry, and returns the flags that were.
func (e *EntryFlags[T]) Read(to *T) (given []string) {
	for _, f := range e.Fields {
		flag := e.set.Lookup(f.Flag)
		if !flag.Changed {
			continue
		}
		given = append(given, f.Flag)
		if list, isList := flag.Value.(pflag.SliceValue); isList {
			f.Put(to, list.GetSlice()...)
		} else {
			f.Put(to, flag.Value.String())
		}
	}
	return given
}

// FactFlags are the flags that lists of entries are filtered by.
type FactFlags[T any] struct {
	Fields []layout.Field[T]
	Facts  map[string][]string // the values, by fact
	set    *pflag.FlagSet
}

// Prepare gives cmd a flag for each field.
func (f *FactFlags[T]) Prepare(cmd *cobra.Command) {
	f.set = cmd.Flags()
	for _, field := range f.Fields {
		f.set.StringSlice(field.Fact, nil, "")
	}
}

// Check refuses flags and arguments that make no sense.
func (f *FactFlags[T]) Check(*Environ, []string) error {
	f.Facts = map[string][]string{}
	for _, field := range f.Fields {
		f.Facts[field.Fact], _ = f.set.GetStringSlice(field.Fact) // it is one
		if err := CheckGiven(f.set, "status", field.Fact); err != nil {
			return err
		}
		for _, value := range f.Facts[field.Fact] {
			if known := field.Filters(); known != nil && !slices.Contains(known, value) {
				return UsageError("--%s %q is none of %s", field.Fact, value, strings.Join(known, ", "))
			}
		}
	}
	return nil
}
