package main

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"filebus/cmd/filebus/cli"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// roleNames are the arguments of guide.
const roleNames = "session|orchestrator|subagent|judge"

type guideCommand struct{ cmd *cobra.Command }

func (o *guideCommand) Prepare(cmd *cobra.Command) {
	o.cmd, cmd.ValidArgs = cmd, strings.Split(roleNames, "|")
}

func (o *guideCommand) Do(_ context.Context, w *cli.Work, args []string) error {
	args = append(args, o.cmd.ValidArgs[0])
	i := slices.Index(o.cmd.ValidArgs, args[0])
	if i < 0 {
		return cli.UsageError("%q is none of %s", args[0], strings.Join(o.cmd.ValidArgs, ", "))
	}
	text := guideText(o.cmd.Root(), roles()[i])
	return w.Print(guideJSON{args[0], text, record.EstimateTokens(int64(len(text)))}, "%s", text)
}

// A role is somebody who works with filebus.
type role struct {
	name  string
	rules []string
	steps []step
}

// A step is a command that a role uses: its path, and the arguments that show how.
// What it is for is what the manual says, unless purpose says it better.
type step struct{ path, args, purpose string }

// roles returns the roles, in the order of the guides.
func roles() (all []role) {
	for text := range strings.SplitSeq(strings.TrimSpace(guides), "\n\n") {
		lines := strings.Split(text, "\n")
		r := role{name: lines[0]}
		for _, line := range lines[1:] {
			parts := append(markdown.Each(strings.Split(line, "|"), strings.TrimSpace), "", "")
			if strings.Contains(line, "|") {
				r.steps = append(r.steps, step{parts[0], parts[1], parts[2]})
			} else {
				r.rules = append(r.rules, line)
			}
		}
		all = append(all, r)
	}
	return all
}

var (
	// guides are the roles, each with its name, its rules and, with bars between their
	// parts, its steps. The first is whoever works without one of the others. The
	// orchestrator hands work out and reads what comes back, a
	// subagent does it, and a judge compares what others have written and runs their
	// dialogues.
	//go:embed guides.txt
	guides string
)

type guideJSON struct {
	Role   string `json:"role"`
	Text   string `json:"text"`
	Tokens int    `json:"tokens"`
}

// guideText writes the guide of a role: its rules, and its commands with what the
// manual says of them. A command that is not there is left out.
func guideText(root *cobra.Command, r role) string { return r.text(root, "%s\n  %s\n") }

// text writes the guide with each step in a form.
func (r role) text(root *cobra.Command, form string) string {
	var out strings.Builder
	m := readManual()
	fmt.Fprintf(&out, "%s\n\n", strings.Join(r.rules, "\n"))
	for _, s := range r.steps {
		cmd, rest, err := root.Find(strings.Fields(s.path))
		if err != nil || len(rest) > 0 {
			continue
		}
		fmt.Fprintf(&out, form, strings.TrimSpace(cmd.CommandPath()+" "+s.args), cmp.Or(s.purpose, m.short(cmd)))
	}
	fmt.Fprintf(&out, "\n%s COMMAND --help says more; --json prints one JSON value. Errors name the next command.\n", root.Name())
	return out.String()
}
