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

// addEntryFlags gives cmd a flag for each field that a user can give.
func addEntryFlags[T any](cmd *cobra.Command, fields []layout.Field[T]) entryFlags[T] {
	for _, f := range fields {
		switch isList, commas := f.IsList(); {
		case commas:
			cmd.Flags().StringSlice(f.Flag, nil, "")
		case isList:
			cmd.Flags().StringArray(f.Flag, nil, "")
		default:
			cmd.Flags().String(f.Flag, "", "")
		}
	}
	return entryFlags[T]{fields, cmd.Flags()}
}

// read puts what was given into an entry, and returns the flags that were.
func (e entryFlags[T]) read(to *T) (given []string) {
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

// addFactFlags gives cmd a flag for each field that lists are filtered by. It returns
// a function that reads them, into values by fact.
func addFactFlags[T any](cmd *cobra.Command, fields []layout.Field[T]) func(into map[string][]string) error {
	for _, f := range fields {
		cmd.Flags().StringSlice(f.Fact, nil, "")
	}
	return func(into map[string][]string) error {
		for _, f := range fields {
			into[f.Fact], _ = cmd.Flags().GetStringSlice(f.Fact) // it is one
			for _, value := range into[f.Fact] {
				if f.Values != nil && !slices.Contains(f.Values, value) {
					return usageError("--%s %q is none of %s", f.Fact, value, strings.Join(f.Values, ", "))
				}
			}
		}
		return nil
	}
}
