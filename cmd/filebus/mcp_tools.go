package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filebus/cmd/filebus/mcp"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

const mcpInstructions = "filebus keeps what agents have found out and written in this project: reports, handoffs, decisions, issues. " +
	"Search it before you explore; get only the lines you need; put back what others should know. " +
	"A hint that begins with filebus is a command line."

// A mcpTool is a tool: commands that it runs, and what of their flags it takes.
type mcpTool struct {
	name, about string
	tokens      int // of an answer, unless the call says otherwise; 0: the usual number
	reads       bool
	calls       []mcpCall
	abouts      map[string]string // what arguments are for, where the name does not say it
}

// A mcpCall is a command that a tool runs: its path with the arguments, in angle brackets where
// they are needed, and its flags. Where a tool has several, action says which; "-" is the
// standard input, which has the argument text.
type mcpCall struct{ action, line, flags string }

// mcpTools returns the tools. Their texts are read by models in every session.
func mcpTools() []mcpTool {
	return []mcpTool{
		{
			name: "search", reads: true, tokens: 900, about: "Find stored reports, decisions, handoffs, issues by words. Gives names for get.",
			calls:  []mcpCall{{line: "search <query>", flags: "kind tag agent session since sections limit offset"}},
			abouts: map[string]string{"query": "words, \"phrase\", -without", "kind": "result, handoff, knowledge, issue, note, …", "since": "36h, 2d or a date", "sections": "print the sections found"},
		}, {
			name: "get", reads: true, about: "Read a stored text, or a part of it.",
			calls:  []mcpCall{{line: "get <name>", flags: "lines section"}},
			abouts: map[string]string{"name": "name, ref, path or id", "lines": "40-80", "section": "heading"},
		}, {
			name: "put", about: "Store a text; answers its reference, to give in its place.",
			calls:  []mcpCall{{line: "put -", flags: "name agent task session conversation tag from expect"}},
			abouts: map[string]string{"name": "such as note/docs/idea.md; default: a new result", "from": "what it was made from", "expect": "ref that must be current, or absent"},
		}, {
			name: "context", reads: true, about: "What the store knows for a task: patterns, gotchas, decisions, earlier work.",
			calls:  []mcpCall{{line: "context [about]", flags: "file tag task"}},
			abouts: map[string]string{"about": "the task in words", "file": "paths it touches"},
		}, {
			name: "knowledge", about: "Lasting findings, by tag.",
			calls: []mcpCall{
				{"list", "knowledge list", "tag type limit offset"}, {"show", "knowledge show <id>", ""},
				{"related", "knowledge related <id>", ""}, {"add", "knowledge add", "type content title tag file confidence source"},
			},
			abouts: map[string]string{"type": "pattern, gotcha, decision or insight"},
		}, {
			name: "task", about: "Journals and handoffs of tasks. End each with done, fail or block.",
			calls: []mcpCall{
				{"list", "task list", "running"}, {"show", "task show <id>", ""}, {"prompt", "task prompt <id>", ""},
				{"start", "task start <id>", "title agent depends"}, {"note", "task note <id> <text>", ""},
				{"done", "task done <id>", "summary files pattern gotcha next"},
				{"fail", "task fail <id>", "summary files gotcha next"}, {"block", "task block <id>", "summary blocker next"},
			},
		}, {
			name: "issue", about: "The queue of issues. next with claim takes one.",
			calls: []mcpCall{
				{"list", "issue list", "status type priority open"}, {"show", "issue show <id>", ""},
				{"add", "issue add <summary>", "type priority details file criteria agent"},
				{"next", "issue next", "claim agent"}, {"claim", "issue claim <id>", "agent"}, {"release", "issue release <id>", "agent"},
				{"done", "issue done <id>", "agent"}, {"reject", "issue reject <id>", "agent rationale"},
			},
		},
	}
}

// A mcpResource is what a command prints, by a URI.
type mcpResource struct {
	uri, name, about string
	command          []string
}

func mcpResources() []mcpResource {
	return []mcpResource{
		{"filebus://status", "status", "What is going on: run, tasks, issues", []string{"status"}},
		{"filebus://recent", "recent", "What was stored last", []string{"list", "--limit=50"}},
		{"filebus://knowledge", "knowledge", "Lasting findings", []string{"knowledge", "list", "--limit=50"}},
		{"filebus://record/{+ref}", "record", "A stored text, by its reference or name", []string{"get"}},
		{"filebus://file/{+path}", "file", "A stored file, by its path in the workspace", []string{"get"}},
	}
}

// argumentName is what a flag is called as an argument.
func argumentName(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

// A boundCall is a call with the command that it runs.
type boundCall struct {
	mcpCall
	path    []string
	places  []string // the names of the arguments, with their brackets
	command *cobra.Command
}

// bind finds the command of a call, of which its flags are known then.
func (c mcpCall) bind(e *environ) boundCall {
	words := strings.Fields(c.line)
	i := slices.IndexFunc(words, func(word string) bool { return strings.ContainsAny(word[:1], "<[-") })
	if i < 0 {
		i = len(words)
	}
	command, _, _ := newRootCommand(&environ{getenv: e.getenv}, words[:1]).Find(words[:i]) // TestTools finds them all
	return boundCall{c, words[:i], words[i:], command}
}

// arguments returns the arguments of a call.
func (c *boundCall) arguments() (all []mcp.Argument) {
	for _, place := range c.places {
		if place == "-" {
			place = "<text>"
		}
		all = append(all, mcp.Argument{Name: strings.Trim(place, "<>[]"), Type: "string", Needed: place[0] == '<'})
	}
	for flag := range strings.FieldsSeq(c.flags) {
		kind := "string"
		switch c.command.Flag(flag).Value.Type() {
		case "bool":
			kind = "boolean"
		case "int":
			kind = "integer"
		case "stringSlice", "stringArray":
			kind = "array"
		}
		all = append(all, mcp.Argument{Name: argumentName(flag), Type: kind})
	}
	return all
}

// serve returns a tool as the server has it.
func (t mcpTool) serve(e *environ) mcp.Tool {
	served := mcp.Tool{Name: t.name, About: t.about, Tokens: t.tokens, Reads: t.reads}
	if t.tokens == 0 {
		served.Tokens = mcp.UsualTokens
	}
	calls := markdown.Each(t.calls, func(c mcpCall) boundCall { return c.bind(e) })
	if len(calls) > 1 {
		actions := markdown.Each(calls, func(c boundCall) string { return c.action })
		served.Arguments = []mcp.Argument{{Name: "action", Type: "string", Values: actions, Needed: true}}
	}
	for _, c := range calls {
		for _, a := range c.arguments() {
			a.About, a.Needed = t.abouts[a.Name], a.Needed && len(calls) == 1
			same := func(b mcp.Argument) bool { return b.Name == a.Name }
			if i := slices.IndexFunc(served.Arguments, same); i < 0 {
				served.Arguments = append(served.Arguments, a)
			} else if served.Arguments[i].Type != a.Type {
				served.Arguments[i].Type = "array" // that takes one text too
			}
		}
	}
	served.Call = func(ctx context.Context, in mcp.Input) mcp.Answer {
		action := strings.Join(in.Values["action"], "")
		delete(in.Values, "action")
		i := slices.IndexFunc(calls, func(c boundCall) bool { return c.action == action })
		return calls[i].answer(ctx, e, t.name, in)
	}
	return served
}

// answer runs the command of a call.
func (c *boundCall) answer(ctx context.Context, e *environ, tool string, in mcp.Input) mcp.Answer {
	args, err := c.commandLine(tool, in)
	if err != nil {
		return mcp.Answer{Text: err.Error(), Failed: true}
	}
	call := &toolCall{has: map[string]bool{"max-tokens": true}}
	for flag := range strings.FieldsSeq(c.flags) {
		call.has[flag] = true
	}
	e.runCall(ctx, call, strings.Join(in.Values["text"], ""), args...)
	answer := mcp.Answer{Text: call.out.String(), Failed: call.exit != exitDone}
	if c.path[0] == "get" && !answer.Failed {
		answer.Text = call.bodyText()
	}
	if answer.Notes = call.words(); answer.Text == "" && len(answer.Notes) == 0 {
		answer.Text = "done" // some commands say no more than that
	}
	return answer
}

// commandLine returns the command line that a call runs.
func (c *boundCall) commandLine(tool string, in mcp.Input) ([]string, error) {
	words, texts := slices.Clone(c.path), []string{"--"}
	left := maps.Clone(in.Values)
	for _, a := range c.arguments() {
		values := left[a.Name]
		delete(left, a.Name)
		switch flag := strings.ReplaceAll(a.Name, "_", "-"); {
		case a.Needed && strings.Join(values, "") == "":
			return nil, fmt.Errorf("%s needs %s", strings.Join(c.path, " "), a.Name)
		case len(values) > 1 && a.Type != "array":
			return nil, fmt.Errorf("%s takes one %s, and %d were given", strings.Join(c.path, " "), a.Name, len(values))
		case slices.Contains(c.places, "<"+a.Name+">"), slices.Contains(c.places, "["+a.Name+"]"):
			texts = append(texts, values...)
		case slices.Contains(strings.Fields(c.flags), flag):
			for _, value := range values {
				words = append(words, "--"+flag+"="+oneValue(c.command.Flag(flag), value))
			}
		default: // it is the standard input
			texts = append(texts, "-")
		}
	}
	for name := range left {
		return nil, fmt.Errorf("%s %s has no use for %q: it takes %s", tool, c.action, name,
			strings.Join(markdown.Each(c.arguments(), func(a mcp.Argument) string { return a.Name }), ", "))
	}
	if c.command.Flag("max-tokens") != nil {
		words = append(words, fmt.Sprint("--max-tokens=", in.Tokens-in.Tokens/20)) // notes need room too
	}
	if c.path[0] == "get" {
		words = append(words, "--json") // it tells where the text ends and what filebus says of it begins
	}
	return append(words, texts...), nil
}

// oneValue returns a text as a flag reads it that would take it apart at its commas.
func oneValue(flag *pflag.Flag, text string) string {
	if flag.Value.Type() != "stringSlice" {
		return text
	}
	var out strings.Builder
	w := csv.NewWriter(&out)
	_ = w.Write([]string{text}) // to a builder
	w.Flush()
	return strings.TrimSuffix(out.String(), "\n")
}

// bodyText returns what get has printed as JSON as it is read: the text, and behind it how to
// go on.
func (c *toolCall) bodyText() string {
	var body struct {
		Name   string
		Left   int
		Text   *string
		Base64 []byte
	}
	if err := json.Unmarshal(c.out.Bytes(), &body); err != nil {
		return c.out.String()
	}
	if body.Text == nil {
		c.tell(failure{
			Message: "these are " + byteSize(int64(len(body.Base64))) + " that are not UTF-8, and not shown as they are",
			Hint:    "filebus get " + record.ShellWord(body.Name) + ", in a pipe",
		})
		return string(body.Base64)
	}
	text := *body.Text
	if at := strings.LastIndex(text, "["); body.Left > 0 && at >= 0 {
		text = text[:at] + "[truncated: " + strings.NewReplacer("go on with --lines", "call again with lines",
			"it begins again with --lines", "a greater max_tokens gives more of it, from lines").Replace(text[at+1:])
	}
	return text
}
