package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filebus/store/record"
)

// searchArguments returns the arguments of a command line, with those of a search
// that leave a word out (-refresh) written as words: a space before the minus keeps
// them from being read as flags. What stands for flags of the search stays one, and
// so does all behind "--". A length of time behind --recent is its value, though
// that flag can do without. Other commands keep their arguments.
func searchArguments(root *cobra.Command, args []string) []string {
	cmd, _, err := root.Find(args)
	if err != nil || cmd.Name() != "search" || cmd.Parent() != root {
		return args
	}
	cmd.InitDefaultHelpFlag()
	args = slices.Clone(args)
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		switch {
		case args[i] == "--recent" && i+1 < len(args) && isHalfLife(args[i+1]):
			args[i] += "=" + args[i+1]
			args = slices.Delete(args, i+1, i+2)
		case strings.HasPrefix(args[i], "--"):
			if takesValue(cmd, args[i][2:]) {
				i++
			}
		case isWithout(cmd, args[i]):
			args[i] = " " + args[i]
		}
	}
	return args
}

// isHalfLife reports whether an argument can be the value of --recent.
func isHalfLife(arg string) bool {
	_, err := parseHalfLife(arg)
	return err == nil
}

// searchText returns what the words of a search say together.
func searchText(args []string) string {
	words := slices.Clone(args)
	for i, word := range words {
		if strings.HasPrefix(word, " -") {
			words[i] = word[1:] // see searchArguments
		}
	}
	return strings.Join(words, " ")
}

// takesValue reports whether a flag has its value in the next argument.
func takesValue(cmd *cobra.Command, name string) bool {
	flag := cmd.Flag(name)
	return flag != nil && flag.NoOptDefVal == ""
}

// isWithout reports whether an argument begins with a minus and is no flag: not all
// of its letters are flags.
func isWithout(cmd *cobra.Command, arg string) bool {
	letters, found := strings.CutPrefix(arg, "-")
	if !found || letters == "" {
		return false
	}
	for _, letter := range letters {
		if letter > 'z' || cmd.Flags().ShorthandLookup(string(letter)) == nil {
			return true
		}
	}
	return false
}

// searchFlagError says of a flag that a search does not have how to search for it.
func searchFlagError(cmd *cobra.Command, err error) error {
	name, unknown := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !unknown || nearFlag(cmd, name) != "" {
		return err
	}
	return coded(record.Usage, "filebus search -- "+quote("--"+name)+", to search for that text", err)
}

// givenFlags returns the flags of a command line, but those of the page, as they can
// be given again.
func givenFlags(cmd *cobra.Command) []string {
	var given []string
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if flag.Name == "offset" {
			return
		}
		values := []string{flag.Value.String()}
		if list, ok := flag.Value.(interface{ GetSlice() []string }); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			switch {
			case flag.Value.Type() == "bool" && value == "true":
				given = append(given, "--"+flag.Name)
			case flag.NoOptDefVal != "":
				given = append(given, "--"+flag.Name+"="+quote(value))
			default:
				given = append(given, "--"+flag.Name, quote(value))
			}
		}
	})
	return given
}

// searchLine returns a search as it can be typed.
func searchLine(given []string, text string) string {
	words := append([]string{"filebus", "search"}, given...)
	if strings.HasPrefix(text, "-") {
		words = append(words, "--")
	}
	return strings.Join(append(words, quote(text)), " ")
}
