package cli

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filebus/materialize/layout"
	"filebus/materialize/likeness"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// AsUsage makes an error of arguments or flags, which came before cmd had
// started, a usage error: it says how the command is called, and the hint is a
// command or a flag that is spelled alike, or the help.
func AsUsage(cmd *cobra.Command, err error) error {
	text := err.Error()
	var invalid *pflag.InvalidValueError
	help := cmd.CommandPath() + " --help"
	switch {
	case strings.HasPrefix(text, "unknown flag: --"):
		if near := NearFlag(cmd, strings.TrimPrefix(text, "unknown flag: --")); near != "" {
			help = "run it again with --" + near
		}
	case strings.HasPrefix(text, "unknown shorthand flag") && strings.ContainsAny(text, "0123456789"):
		help = "run it again with -- before a value that begins with -, as in " + cmd.CommandPath() + " -- …"
	case strings.Contains(text, "arg(s)"):
		text = fmt.Sprintf("the number of arguments is %d: %s", cmd.Flags().NArg(), UsageLine(cmd))
		if missing := strings.Fields(strings.TrimPrefix(UsageLine(cmd), cmd.CommandPath())); cmd.Flags().NArg() == 0 && len(missing) > 0 {
			text = strings.TrimSuffix(missing[0], "...") + " is missing: " + UsageLine(cmd)
		}
	case strings.HasPrefix(text, "unknown command"):
		text, help = unknownCommand(cmd, text, help)
	case strings.HasPrefix(text, "required flag(s)"):
		text = "a required flag is missing: " + UsageLine(cmd)
	case strings.HasPrefix(text, "if any flags in the group"):
		if m := flagGroup().FindStringSubmatch(text); m != nil {
			text = "--" + strings.Join(strings.Fields(m[1]), " and --") + " exclude each other"
		}
	case errors.As(err, &invalid):
		text = fmt.Sprintf("--%s takes %s, not %q", invalid.GetFlag().Name, map[string]string{
			"int": "a whole number", "bool": "true or false", "duration": "a length of time, 90s, 10m or 1h30m",
			"stringSlice": "values with commas between, and quotes only around one",
		}[invalid.GetFlag().Value.Type()], invalid.GetValue())
	}
	return Coded(record.Usage, help, errors.New(text))
}

var flagGroup = layout.Pattern(`\[([^\]]*)\] were all set`)

// UsageLine returns how a command is called, without the word for its flags.
func UsageLine(cmd *cobra.Command) string {
	return strings.ReplaceAll(cmd.UseLine(), " [flags]", "")
}

// unknownCommand says of a word that is no command which ones are spelled alike.
func unknownCommand(cmd *cobra.Command, text, help string) (say, hint string) {
	say, _, _ = strings.Cut(text, "\n")
	if !cmd.HasAvailableSubCommands() {
		return fmt.Sprintf("%s takes no arguments, and %d were given", cmd.CommandPath(), cmd.Flags().NArg()), help
	}
	_, word, _ := strings.Cut(say, `"`)
	word, _, _ = strings.Cut(word, `"`)
	return say, cmp.Or(otherWord(cmd, word), strings.Join(nearCommands(cmd, word), "\n       "), help)
}

var (
	// OtherWords are words that are no commands, and what to run in their place: words with
	// commas between them, a bar, command lines.
	//go:embed words.txt
	OtherWords string
)

// otherWord returns what to run in place of a word that is no command, or "".
func otherWord(below *cobra.Command, word string) string {
	_, word, _ = strings.Cut(below.CommandPath()+" "+word, " ")
	for line := range strings.Lines(OtherWords) {
		if words, meant, _ := strings.Cut(line, " | "); slices.Contains(strings.Split(words, ", "), word) {
			return strings.TrimSpace(meant)
		}
	}
	return ""
}

// nearCommands returns the commands below one that are spelled most like a word, of
// which a third of the letters may be wrong. None of them destroys anything.
func nearCommands(cmd *cobra.Command, word string) []string {
	var names []string
	for _, sub := range cmd.Commands() {
		if !strings.Contains(" rm gc purge remove ", " "+sub.Name()+" ") && sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return markdown.Each(likeness.Nearest(word, names), func(name string) string { return cmd.CommandPath() + " " + name })
}

// NearFlag returns the flag of a command that begins as name does, that name begins
// with, or that is one slip of the pen away: --files for --file. It returns none if
// there are several, and never one that gives up a protection.
func NearFlag(cmd *cobra.Command, name string) string {
	var near []string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		isBold := flag.Name == "force" || flag.Name == "drop" || strings.HasPrefix(flag.Name, "allow-")
		isNear := strings.HasPrefix(flag.Name, name) || strings.HasPrefix(name, flag.Name) ||
			likeness.IsSlip(flag.Name, name)
		if len(name) > 2 && isNear && !isBold {
			near = append(near, flag.Name)
		}
	})
	if len(near) != 1 {
		return ""
	}
	return near[0]
}

// NewNames returns the names of flags for those that they had before, which are read for one release more.
func (e *Environ) NewNames(fields []FlagField) func(*pflag.FlagSet, string) pflag.NormalizedName {
	names := map[string]string{"wait": "lock-wait"} // of all commands
	for _, f := range fields {
		for _, old := range strings.Fields(f.tag.Get("was")) {
			names[old] = f.name
		}
	}
	return func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		said := fmt.Sprintf("--%s is now --%s", name, names[name])
		switch {
		case names[name] == "":
			return pflag.NormalizedName(name)
		case !slices.Contains(e.Global.oldNames, said):
			e.Global.oldNames = append(e.Global.oldNames, said)
		}
		return pflag.NormalizedName(names[name])
	}
}

// noteOldNames says which flags of the command line have another name now.
func (e *Environ) noteOldNames() {
	if len(e.Global.oldNames) > 0 {
		e.Note("%s; the next release does not know the old name", strings.Join(e.Global.oldNames, ", "))
	}
}
