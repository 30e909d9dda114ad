package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filebus/materialize/layout"
)

// entryFlags are the flags that give the fields of an entry, as their table says.
type entryFlags[T any] struct {
	fields []layout.Field[T]
	set    *pflag.FlagSet
}

// prepare gives cmd a flag for each field.
func (e *entryFlags[T]) prepare(cmd *cobra.Command) {
	e.set = cmd.Flags()
	for _, f := range e.fields {
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

// read puts what was given into an entry, and returns the flags that were.
func (e *entryFlags[T]) read(to *T) (given []string) {
	for _, f := range e.fields {
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

// factFlags are the flags that lists of entries are filtered by.
type factFlags[T any] struct {
	fields []layout.Field[T]
	facts  map[string][]string // the values, by fact
	set    *pflag.FlagSet
}

// prepare gives cmd a flag for each field.
func (f *factFlags[T]) prepare(cmd *cobra.Command) {
	f.set = cmd.Flags()
	for _, field := range f.fields {
		f.set.StringSlice(field.Fact, nil, "")
	}
}

func (f *factFlags[T]) check(*environ, []string) error {
	f.facts = map[string][]string{}
	for _, field := range f.fields {
		f.facts[field.Fact], _ = f.set.GetStringSlice(field.Fact) // it is one
		if err := checkGiven(f.set, "status", field.Fact); err != nil {
			return err
		}
		for _, value := range f.facts[field.Fact] {
			if known := field.Filters(); known != nil && !slices.Contains(known, value) {
				return usageError("--%s %q is none of %s", field.Fact, value, strings.Join(known, ", "))
			}
		}
	}
	return nil
}
