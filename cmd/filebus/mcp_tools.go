package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/mcp"
	"filebus/materialize/markdown"
)

const mcpInstructions = "filebus keeps what agents have found out and written in this project: reports, handoffs, decisions, issues. " +
	"Search it before you explore; get only the lines you need; put back what others should know. " +
	"A hint such as filebus issue list --open is a command line, here the tool issue with action list and open; " +
	"commands without a tool need a shell."

// A mcpTool is a tool with the commands that it runs.
type mcpTool struct {
	mcp.Tool
	calls  []string          // the commands behind the tool's name: see mcpCall
	abouts map[string]string // what arguments are for, where the name does not say it
}

// mcpTools returns the tools. Their texts are read by models in every session.
func mcpTools() []mcpTool {
	return []mcpTool{
		{
			mcp.Tool{Name: "search", Reads: true, Tokens: 900, About: "Find stored reports, decisions, handoffs, issues by words. Gives names for get."},
			[]string{"<query> --kind --tag --agent --session --since --sections --limit --offset"},
			map[string]string{
				"query": "words, \"phrase\", -without", "kind": "result, handoff, knowledge, issue, note, …",
				"since": "36h, 2d or a date", "sections": "print the sections found",
			},
		}, {
			mcp.Tool{Name: "get", Reads: true, About: "Read a stored text, or lines of a long one."},
			[]string{"<name> --lines --section"},
			map[string]string{"name": "name, ref, path or id", "lines": "40-80", "section": "heading"},
		}, {
			mcp.Tool{Name: "put", About: "Store a text; answers its reference, to give in its place."},
			[]string{"- --name --agent --task --session --conversation --tag --from --expect"},
			map[string]string{
				"name": "such as note/docs/idea.md; default: a new result", "from": "what it was made from",
				"expect": "ref that must be current, or absent",
			},
		}, {
			mcp.Tool{Name: "context", Reads: true, About: "What the store knows for a task: patterns, gotchas, decisions, earlier work."},
			[]string{"[about] --file --tag --task"},
			map[string]string{"about": "the task in words", "file": "paths it touches"},
		}, {
			mcp.Tool{Name: "knowledge", About: "Lasting findings, by tag."},
			[]string{
				"list --tag --type --limit --offset", "show <id>", "related <id>",
				"add --type --content --title --tag --file --confidence --source",
			},
			map[string]string{"type": "pattern, gotcha, decision or insight"},
		}, {
			mcp.Tool{Name: "task", About: "Journals and handoffs of tasks. End each with done, fail or block."},
			[]string{
				"list [folder] --running --open", "next [folder]", "show <id>", "prompt <id>", "start <id> --title --agent --depends", "note <id> <text>",
				"done <id> --summary --files --pattern --gotcha --next", "fail <id> --summary --files --gotcha --next",
				"block <id> --summary --blocker --next",
			},
			nil,
		}, {
			mcp.Tool{Name: "issue", About: "The queue of issues. next with claim takes one."},
			[]string{
				"list --status --type --priority --open", "show <id>",
				"add <summary> --type --priority --details --file --criteria --agent", "next --claim --agent",
				"claim <id> --agent", "release <id> --agent", "done <id> --agent", "reject <id> --agent --rationale",
			},
			map[string]string{"type": "bug, security, performance, …", "priority": "critical, high, medium or low"},
		},
	}
}

// A mcpCall is a command that a tool runs. Its arguments are written as <one that is needed>,
// [one], --flag and, for the standard input, "-".
type mcpCall struct {
	path, words []string
	command     *cobra.Command // that knows the flags
}

func newMCPCall(e *cli.Environ, line string) mcpCall {
	words := strings.Fields(line)
	end := slices.IndexFunc(append(words, "-"), func(word string) bool { return strings.ContainsAny(word[:1], "<[-") })
	command, _, _ := newRootCommand(&cli.Environ{Getenv: e.Getenv},
		words[:1]).Find(words[:end]) // TestMCPTools finds them all
	return mcpCall{words[:end], words[end:], command}
}

// arguments returns the arguments of a call, one for each of its words.
func (c *mcpCall) arguments() []mcp.Argument {
	types := map[string]string{"bool": "boolean", "int": "integer", "stringSlice": "array", "stringArray": "array"}
	return markdown.Each(c.words, func(word string) mcp.Argument {
		a := mcp.Argument{Name: cli.ArgumentName(word), Type: "string", Needed: word == "-" || word[0] == '<'}
		if flag := c.flag(word); flag != nil {
			a.Type = cmp.Or(types[flag.Value.Type()], a.Type)
		}
		return a
	})
}

func (c *mcpCall) flag(word string) *pflag.Flag {
	return c.command.Flag(strings.TrimPrefix(word, "--"))
}

// served returns a tool as the server has it. An argument of several calls has the type that
// it has in the first: TestMCPTools holds that the others take no more.
func (t mcpTool) served(e *cli.Environ) mcp.Tool {
	t.Tokens = cmp.Or(t.Tokens, mcp.UsualTokens)
	calls := map[string]mcpCall{}
	var actions []string
	for _, line := range t.calls {
		c := newMCPCall(e, t.Name+" "+line)
		action := c.path[len(c.path)-1]
		calls[action], actions = c, append(actions, action)
		for _, a := range c.arguments() {
			a.About, a.Needed = t.abouts[a.Name], a.Needed && len(t.calls) == 1
			if !slices.ContainsFunc(t.Arguments, func(b mcp.Argument) bool { return b.Name == a.Name }) {
				t.Arguments = append(t.Arguments, a)
			}
		}
	}
	if len(calls) > 1 {
		t.Arguments = slices.Insert(t.Arguments, 0, mcp.Argument{Name: "action", Type: "string", Values: actions, Needed: true})
	}
	t.Call = func(ctx context.Context, in mcp.Input) mcp.Answer {
		c := calls[strings.Join(append(in.Values["action"], actions[0])[:1], "")]
		delete(in.Values, "action")
		return c.answer(ctx, e, in)
	}
	return t.Tool
}

// answer runs the command of a call.
func (c *mcpCall) answer(ctx context.Context, e *cli.Environ, in mcp.Input) mcp.Answer {
	args, err := c.commandLine(in)
	if err != nil {
		return mcp.Answer{Text: err.Error(), Failed: true}
	}
	call := runCall(ctx, e, append(slices.Clip(c.words), "--max-tokens"), strings.Join(in.Values["text"], ""), args)
	answer := mcp.Answer{Text: call.Out.String(), Failed: call.Exit != cli.ExitDone}
	if at := strings.LastIndexByte(answer.Text, '['); call.Left > 0 && at >= 0 { // get's own line
		answer.Text = answer.Text[:at] + "[truncated: " + strings.Replace(answer.Text[at+1:], "go on with --lines", "call again with lines", 1)
	}
	if !utf8.ValidString(answer.Text) {
		call.Said = append(call.Said, cli.Failure{Message: "what is no UTF-8 in it is shown as \uFFFD; in a shell, filebus get prints its bytes"})
	}
	if answer.Notes = call.Words(); answer.Text == "" && len(answer.Notes) == 0 {
		answer.Text = "done" // some commands say no more than that
	}
	return answer
}

// commandLine returns the command line that a call runs.
func (c *mcpCall) commandLine(in mcp.Input) ([]string, error) {
	words, texts := slices.Clone(c.path), []string{"--"}
	left, names := maps.Clone(in.Values), []string{}
	for i, a := range c.arguments() {
		values, word := left[a.Name], c.words[i]
		delete(left, a.Name)
		names = append(names, a.Name)
		flag := c.flag(word)
		switch {
		case a.Needed && strings.Join(values, "") == "":
			return nil, fmt.Errorf("%s needs %s", strings.Join(c.path, " "), a.Name)
		case len(values) > 1 && a.Type != "array":
			return nil, fmt.Errorf("%s takes one %s, and %d were given", strings.Join(c.path, " "), a.Name, len(values))
		case word == "-":
			texts = append(texts, word)
		case flag == nil:
			texts = append(texts, values...)
		default:
			for _, value := range values {
				words = append(words, word+"="+oneValue(flag, value))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		return nil, fmt.Errorf("%s has no use for %q: it takes %s", strings.Join(c.path, " "), name, strings.Join(names, ", "))
	}
	if c.command.Flag("max-tokens") != nil {
		words = append(words, fmt.Sprint("--max-tokens=", in.Tokens-max(40, in.Tokens/20))) // notes need room too
	}
	if c.path[0] == "get" {
		words = append(words, "--full") // long lines too: the bound is that of the answer
	}
	return append(words, texts...), nil
}

// oneValue returns a text as a flag reads it that would take it apart at its commas.
func oneValue(flag *pflag.Flag, text string) string {
	if flag.Value.Type() == "stringSlice" {
		text = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	}
	return text
}
