package main

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"math"
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
	}
	if m := readManual(); m.sections[cmd.CommandPath()] != nil {
		w.Printf("%s", m.help(cmd, helpColumns(w.Environ), math.MaxInt, o.All))
		return nil
	}
	return cmd.Help() // cobra brings it along
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
		most := briefLines
		if !cmd.HasParent() {
			most = math.MaxInt
		}
		env.Printf("%s", m.help(cmd, helpColumns(env), most, false))
	}
}

// helpColumns returns how wide help is.
func helpColumns(e *cli.Environ) int {
	const most = 100 // also where nobody knows the width of a terminal
	return min(most, cmp.Or(e.Columns, most))
}

// briefLines is how much --help prints of a command.
const briefLines = 25

// help writes what a command does, examples, how it is called, its commands and flags, and what else there is to say. In
// briefLines there is one example, the names of flags where the flags have no room, and of the rest what has. That of the
// program has only the commands that one needs first, and the names of the others, unless all are asked for.
func (m *manual) help(cmd *cobra.Command, columns, most int, all bool) string {
	s, subs, usage, groups := m.sections[cmd.CommandPath()], m.below(cmd), cmd.UseLine(), m.groups
	path, others := strings.Replace(cmd.CommandPath(), "filebus", "filebus help", 1), ""
	if !cmd.HasParent() && !all {
		groups = m.purposes
		first, names := m.parted(subs)
		subs, others = first, "\n"+wrapped("Others: ", strings.Join(names, ", "), columns)
	}
	if len(subs) > 0 {
		usage = cmd.CommandPath() + " [command]"
	}
	body := "\nUsage:\n  " + usage + "\n" + m.listed(subs, groups) + others
	flags := m.flagTable("\nFlags:\n", cmd, cmd.CommandPath(), columns)
	more := fmt.Sprintf("\n%q says more, and what flags all commands have.\n", path)
	head, examples := wrapped("", s.short+".", columns), m.examples(cmd)
	if most > briefLines {
		flags += m.flagTable("\nGlobal Flags:\n", cmd.Root(), globalFlags, columns)
		more = fmt.Sprintf("\nUse \"%s [command] --help\" for more, and \"filebus help --all\" for all commands.\n", cmd.CommandPath())
		if len(subs) == 0 {
			more = fmt.Sprintf("\nUse \"%s --markdown\" for JSON, exit codes and more.\n", path)
		}
	} else if examples = examples[:1]; strings.Count(head+body+flags+more, "\n") > most-3 && flags != "" {
		names := markdown.Each(m.flags(cmd.CommandPath()), func(row flagRow) string { return strings.TrimSpace(row.called(cmd)) })
		flags = "\n" + wrapped("Flags: ", strings.Join(names, ", "), columns)
	}
	if cmd.HasParent() {
		head += "\nExample:\n  " + strings.Join(examples, "\n  ") + "\n"
	}
	for _, block := range s.long {
		text := "\n" + wrappedBlock(block, columns)
		if strings.Count(head+text+body+flags+more, "\n") > most {
			break
		}
		head += text
	}
	return head + body + flags + more
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

var (
	// samples are command lines for the sample workspace, of the commands whose section has none, in an order in which each runs.
	//
	//go:embed samples.txt
	samples string
)

// examples returns command lines that show a command, or one of those below it.
func (m *manual) examples(cmd *cobra.Command) []string {
	calls := func(line string) bool { return strings.Contains(line+" ", cmd.CommandPath()+" ") }
	all := slices.DeleteFunc(slices.Clone(m.sections[cmd.CommandPath()].examples), func(line string) bool { return !calls(line) })
	lines := strings.Split(samples, "\n")
	if i := slices.IndexFunc(lines, calls); i >= 0 && len(all) == 0 {
		return lines[i : i+1]
	}
	return append(all, "")[:max(len(all), 1)] // a test looks for each
}

// flagTable writes flags with what they mean below a title; nothing if there are none.
func (m *manual) flagTable(title string, cmd *cobra.Command, heading string, columns int) string {
	names, longest := []string{}, 0
	rows := m.flags(heading)
	for _, row := range rows {
		names, longest = append(names, row.called(cmd)), max(longest, len(row.called(cmd)))
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

// called returns how a flag of a command is given, with its letter if it has one.
func (row flagRow) called(cmd *cobra.Command) string {
	if flag := cmd.Flag(row.name); flag != nil && flag.Shorthand != "" {
		return "  -" + flag.Shorthand + ", --" + row.name + row.value
	}
	return "      --" + row.name + row.value
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
