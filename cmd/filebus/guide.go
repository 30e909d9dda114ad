package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"filebus/store/record"
)

// roleNames are the arguments of guide.
const roleNames = "orchestrator|subagent|judge"

type guideCommand struct{ cmd *cobra.Command }

func (o *guideCommand) prepare(cmd *cobra.Command) {
	o.cmd, cmd.ValidArgs = cmd, strings.Split(roleNames, "|")
}

func (o *guideCommand) run(_ context.Context, w *workspace, args []string) error {
	i := slices.Index(o.cmd.ValidArgs, args[0])
	if i < 0 {
		return usageError("%q is none of %s", args[0], strings.Join(o.cmd.ValidArgs, ", "))
	}
	text := guideText(o.cmd.Root(), roles()[i])
	return w.print(guideJSON{args[0], text, record.EstimateTokens(int64(len(text)))}, "%s", text)
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
			parts := append(strings.Split(line, "|"), "", "")
			for i, part := range parts {
				parts[i] = strings.TrimSpace(part)
			}
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

// guides are the roles, each with its name, its rules and, with bars between their
// parts, its steps. The orchestrator hands work out and reads what comes back, a
// subagent does it, and a judge compares what others have written and runs their
// dialogues.
const guides = `
orchestrator
Carry references and handoffs, never an agent's output. Wait in one call, never poll.
Read a section, never a whole file.
run start | --focus TEXT --loops N
context | TEXT --file PATH
task start | ID --title TEXT
task prompt | ID
exec | --task ID --agent NAME -- CMD
wait | ID ID ...
task show | ID
task list | --running | See who is late
knowledge harvest | ID --add new | Keep what a handoff teaches
issue next | --claim --agent NAME
issue done | ID
put | FILE --agent NAME | Store a text, print its reference
combine | REF REF --expected-count 2
get | REF --section HEADING
session start | TYPE
session summary | ID | Read what agents say in short
snapshot take |
run loop |
status |
budget | --run ID | See what was read, and what that spared

subagent
Your text goes into files; answer your caller with a reference and two sentences.
End every task with done, fail or block: the caller waits for the marker that they write.
task note | ID TEXT
task done | ID --summary TEXT --files PATH,PATH
task block | ID --summary TEXT --blocker TEXT
task fail | ID --summary TEXT --next TEXT
put | FILE --task ID --agent NAME | Store a report, print its reference
search | WORDS
get | REF --section HEADING
task show | ID | Read the handoff of another task
session check | ID ARTIFACT | Make sure that what you are told to read is there and whole
session put | ID ARTIFACT FILE --summary TEXT --agent NAME
dialogue put | SLUG ROUND AGENT FILE
knowledge list | TAG TAG
knowledge add | --type gotcha --content TEXT --tag TAG
issue add | SUMMARY --type bug --file PATH | Report what is not your task

judge
Judge what is stored, not what you are told of it. Name the reference of what you judge.
An agent whose text is missing is absent: never write it for them.
A dialogue goes round by round, from 0, until score says converged: prompt, wait, check, judge, score.
dialogue new | TITLE --agents A,B --judge judge
dialogue prompt | SLUG ROUND --all | Launch a round; give each agent its file
dialogue wait | SLUG ROUND
dialogue check | SLUG ROUND
dialogue judge | SLUG ROUND AGENT --wisdom N --consistency N --truth N --relationships N
dialogue score | SLUG
dialogue assemble | SLUG
dialogue lint | SLUG | Check the document
conversation show | ID
list | --kind result --task ID
show | REF
get | REF --section HEADING
search | WORDS --kind result
task show | ID
issue add | SUMMARY --type bug --criteria TEXT
issue reject | ID
put | verdict.md --agent judge --from REF | Store your verdict, print its reference
`

type guideJSON struct {
	Role   string `json:"role"`
	Text   string `json:"text"`
	Tokens int    `json:"tokens"`
}

// guideText writes the guide of a role: its rules, and its commands with what the
// manual says of them. A command that is not there is left out.
func guideText(root *cobra.Command, r role) string {
	var out strings.Builder
	m := readManual()
	fmt.Fprintf(&out, "%s\n\n", strings.Join(r.rules, "\n"))
	for _, s := range r.steps {
		cmd, rest, err := root.Find(strings.Fields(s.path))
		if err != nil || len(rest) > 0 {
			continue
		}
		purpose := s.purpose
		if purpose == "" {
			purpose = m.short(cmd)
		}
		fmt.Fprintf(&out, "%s\n  %s\n", strings.TrimSpace(cmd.CommandPath()+" "+s.args), purpose)
	}
	fmt.Fprintf(&out, "\n%s COMMAND --help says more; --json prints one JSON value. Errors name the next command.\n", root.Name())
	return out.String()
}
