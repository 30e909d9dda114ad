package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"filebus/cmd/filebus/cli"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

type helpCommand struct {
	All      bool `flag:"all" not:"markdown"`
	Markdown bool `flag:"markdown"`

	cmd *cobra.Command
}

func (o *helpCommand) Prepare(cmd *cobra.Command) {
	o.cmd, cmd.ValidArgsFunction = cmd, completeCommands
}

// completeCommands lets a shell complete the path of a command.
func completeCommands(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	at, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var found []string
	for _, sub := range at.Commands() {
		if sub.IsAvailableCommand() && strings.HasPrefix(sub.Name(), typed) {
			found = append(found, cobra.CompletionWithDesc(sub.Name(), sub.Short))
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

func (o *helpCommand) Do(_ context.Context, w *cli.Work, path []string) error {
	cmd, rest, err := o.cmd.Root().Find(path)
	switch {
	case err == nil && len(rest) > 0 && !cmd.HasAvailableSubCommands():
		return cli.Coded(record.Usage, cmd.CommandPath()+" --help",
			fmt.Errorf("%s has no command %q below it", cmd.CommandPath(), rest[0]))
	case err == nil && len(rest) > 0:
		return cli.AsUsage(cmd, fmt.Errorf("unknown command %q for %q", rest[0], cmd.CommandPath()))
	case err != nil:
		return cli.AsUsage(cmd, err)
	case o.Markdown:
		w.Printf("%s", readManual().markdown(cmd))
		return nil
	case o.All:
		w.Printf("%s", readManual().help(cmd, helpColumns(w.Environ), true))
		return nil
	}
	return cmd.Help()
}

// markdown returns what the page says of a command, as it stands: of the program what
// all commands share. What has commands below it ends with a line for each of these.
func (m *manual) markdown(cmd *cobra.Command) string {
	for m.sections[cmd.CommandPath()] == nil { // completion bash
		cmd = cmd.Parent()
	}
	text := m.sections[cmd.CommandPath()].text
	if !cmd.HasParent() {
		text = m.general
	}
	text = strings.TrimSpace(text) + "\n"
	if subs := m.below(cmd); len(subs) > 0 {
		text += "\n"
		for _, sub := range subs {
			text += fmt.Sprintf("- `%s`: %s\n", cli.UsageLine(sub), m.short(sub))
		}
	}
	return text
}

// below returns the commands directly below one, in the order of the page.
func (m *manual) below(cmd *cobra.Command) []*cobra.Command {
	subs := slices.DeleteFunc(slices.Clone(cmd.Commands()), func(sub *cobra.Command) bool {
		return !sub.IsAvailableCommand() && sub.Name() != "help"
	})
	slices.SortStableFunc(subs, func(a, b *cobra.Command) int {
		return slices.Index(m.paths, a.CommandPath()) - slices.Index(m.paths, b.CommandPath())
	})
	return subs
}

// short returns what a command does; of those that cobra brings along, cobra says it.
func (m *manual) short(cmd *cobra.Command) string {
	s := m.sections[cmd.CommandPath()]
	if s == nil {
		return cmd.Short
	}
	return s.short + strings.TrimSuffix(" (also: "+strings.Join(cmd.Aliases, ", ")+")", " (also: )")
}

// printHelp returns the function that prints the help of a command from the page;
// usual prints that of the commands that cobra brings along.
func printHelp(env *cli.Environ, usual func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		m := readManual()
		env.Page(&cobra.Command{Use: "help"})
		if m.sections[cmd.CommandPath()] == nil {
			m.describe(cmd.Root())
			usual(cmd, args)
			return
		}
		env.Printf("%s", m.help(cmd, helpColumns(env), false))
	}
}

// helpColumns returns how wide help is.
func helpColumns(e *cli.Environ) int {
	const most = 100 // also where nobody knows the width of a terminal
	return min(most, cmp.Or(e.Columns, most))
}

// help writes what --help prints. That of the program has only the commands that one
// needs first, and the names of the others, unless all are asked for.
func (m *manual) help(cmd *cobra.Command, columns int, all bool) string {
	s := m.sections[cmd.CommandPath()]
	var out strings.Builder
	out.WriteString(wrapped("", s.short+".", columns))
	for _, block := range s.long {
		out.WriteString("\n" + wrappedBlock(block, columns))
	}
	out.WriteString("\nUsage:\n")
	if cmd.Runnable() {
		out.WriteString("  " + cmd.UseLine() + "\n")
	}
	subs := m.below(cmd)
	if len(subs) > 0 {
		out.WriteString("  " + cmd.CommandPath() + " [command]\n")
	}
	if examples := s.examplesOf(cmd); len(examples) > 0 {
		out.WriteString("\nExamples:\n  " + strings.Join(examples, "\n  ") + "\n")
	}
	groups, others := m.groups, []string(nil)
	if !cmd.HasParent() && !all {
		groups = m.purposes
		subs, others = m.parted(subs)
	}
	out.WriteString(m.listed(subs, groups))
	if others != nil {
		out.WriteString("\n" + wrapped("Others: ", strings.Join(others, ", "), columns))
	}
	out.WriteString(m.flagTable("\nFlags:\n", cmd, cmd.CommandPath(), columns))
	out.WriteString(m.flagTable("\nGlobal Flags:\n", cmd.Root(), globalFlags, columns))
	more := fmt.Sprintf("Use \"%s --markdown\" for JSON, exit codes and more.",
		strings.Replace(cmd.CommandPath(), "filebus", "filebus help", 1))
	if len(subs) > 0 {
		more = fmt.Sprintf("Use \"%s [command] --help\" for more information about a command.", cmd.CommandPath())
	}
	if others != nil {
		more += "\nUse \"filebus help --all\" for what each command does."
	}
	return out.String() + "\n" + more + "\n"
}

// parted returns the commands that one needs first, in the order of the page, and the
// names of the others.
func (m *manual) parted(subs []*cobra.Command) (first []*cobra.Command, others []string) {
	place := func(sub *cobra.Command) int { return slices.Index(m.first, sub.CommandPath()) }
	slices.SortStableFunc(subs, func(a, b *cobra.Command) int { return place(a) - place(b) })
	count, _ := slices.BinarySearchFunc(subs, 0, func(sub *cobra.Command, _ int) int { return min(place(sub), 0) })
	return subs[count:], markdown.Each(subs[:count], (*cobra.Command).Name)
}

// listed writes a line for each command, below a line for each group of them.
func (m *manual) listed(subs []*cobra.Command, groups map[string]string) string {
	text, group, longest := "", "", 0
	for _, sub := range subs {
		longest = max(longest, len(sub.Name()))
	}
	for _, sub := range subs {
		if own := cmp.Or(groups[sub.CommandPath()], "Available Commands"); own != group {
			group = own
			text += "\n" + group + ":\n"
		}
		text += fmt.Sprintf("  %-*s %s\n", longest, sub.Name(), m.short(sub))
	}
	return text
}

// examplesOf returns the command lines of a section that call its command.
func (s *section) examplesOf(cmd *cobra.Command) []string {
	return slices.DeleteFunc(slices.Clone(s.examples), func(line string) bool {
		return !strings.Contains(line+" ", cmd.CommandPath()+" ")
	})
}

// flagTable writes flags with what they mean below a title; nothing if there are none.
func (m *manual) flagTable(title string, cmd *cobra.Command, heading string, columns int) string {
	names, longest := []string{}, 0
	rows := m.flags(heading)
	for _, row := range rows {
		name := "      --" + row.name + row.value
		if flag := cmd.Flag(row.name); flag != nil && flag.Shorthand != "" {
			name = "  -" + flag.Shorthand + ", " + name[len("      "):]
		}
		names, longest = append(names, name), max(longest, len(name))
	}
	text := ""
	for i, row := range rows {
		text += wrapped(fmt.Sprintf("%-*s   ", longest, names[i]), row.meaning, columns)
	}
	if text != "" {
		text = title + text
	}
	return text
}

// wrappedBlock writes a block of Markdown for a terminal: a paragraph, a list, or
// indented lines, which stay.
func wrappedBlock(block string, columns int) string {
	if strings.HasPrefix(block, "    ") {
		return block + "\n"
	}
	text := ""
	for i, item := range strings.Split("\n"+block, "\n- ") {
		switch {
		case i > 0:
			text += wrapped("- ", plainText(item), columns)
		case item != "":
			text += wrapped("", plainText(item), columns)
		}
	}
	return text
}

// wrapped writes a text in lines of so many columns at most, the first behind a lead
// and the others below its end.
func wrapped(lead, text string, columns int) string {
	text = markdown.SingleSpaced(text)
	out, last := lead, 0
	for _, place := range wrapPlaces(text, columns-len(lead)) {
		out += text[last:place] + "\n" + strings.Repeat(" ", len(lead))
		last = place + 1
	}
	return out + text[last:] + "\n"
}
