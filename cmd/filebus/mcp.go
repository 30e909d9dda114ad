package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"filebus/cmd/filebus/mcp"
	"filebus/materialize/markdown"
	"filebus/store"
	"filebus/store/record"
)

type mcpCommand struct {
	HTTP bool `flag:"http"`
}

// usualMCPAddress is where clients are served over HTTP unless an address is given.
const usualMCPAddress = "127.0.0.1:7420"

func (o *mcpCommand) check(_ *environ, args []string) error {
	if len(args) > 0 && !o.HTTP {
		return usageError("an address needs --http: filebus mcp --http %s", record.ShellWord(args[0]))
	}
	return nil
}

func (o *mcpCommand) run(ctx context.Context, w *workspace, args []string) error {
	face := w.mcpFace()
	if o.HTTP {
		return w.serveHTTP(ctx, face, append(args, usualMCPAddress)[0])
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go endWithParent(ctx, cancel)
	err := face.Serve(ctx, w.in, w.out)
	if context.Cause(ctx) == errParentGone {
		return nil
	}
	return err
}

var errParentGone = fmt.Errorf("the client's process is gone")

// endWithParent ends a server when the process that has started it has ended: another may
// hold the other end of its input open.
func endWithParent(ctx context.Context, end context.CancelCauseFunc) {
	parent := os.Getppid()
	for tick := time.Tick(2 * time.Second); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick:
			if os.Getppid() != parent {
				end(errParentGone)
				return
			}
		}
	}
}

func (e *environ) serveHTTP(ctx context.Context, face *mcp.Face, address string) error {
	listener, err := mcp.Listen(ctx, address)
	if err != nil {
		return usageError("listening at %s: %w", address, err)
	}
	token := e.getenv("FILEBUS_MCP_TOKEN")
	e.note("serving http://%s", listener.Addr())
	if token == "" {
		token = rand.Text()
		e.note("Authorization: Bearer %s", token)
	}
	return face.ServeHTTP(ctx, listener, token)
}

// mcpFace returns what clients of the Model Context Protocol are offered: the commands that agents use.
func (e *environ) mcpFace() *mcp.Face {
	face := &mcp.Face{Name: "filebus", Version: versionView().Version, Instructions: mcpInstructions, Log: e.err}
	for _, t := range mcpTools() {
		face.Tools = append(face.Tools, t.serve(e))
	}
	for _, r := range mcpResources() {
		face.Resources = append(face.Resources, mcp.Resource{
			URI: r.uri, Name: r.name, About: r.about,
			Read: func(ctx context.Context, name string) ([]byte, error) { return e.readResource(ctx, r.command, name) },
		})
	}
	for _, r := range roles() {
		face.Prompts = append(face.Prompts, mcp.Prompt{
			Name: r.name, About: r.rules[0],
			Text: func(ctx context.Context) (string, error) {
				text, _, err := e.callText(ctx, "guide", r.name)
				return string(text), err
			},
		})
	}
	return face
}

// A toolCall is a command line that a tool runs, and what it has said besides its result.
type toolCall struct {
	has   map[string]bool // the flags that are arguments of the tool
	said  []failure       // notices, and at last the failure
	exit  int
	out   bytes.Buffer
	shell string // the command line as a shell takes it
}

// runCall runs a command line as the command line does, in the process of the server. Nothing
// of the store stays open between two calls.
func (e *environ) runCall(ctx context.Context, call *toolCall, in string, args ...string) {
	inside := &environ{
		in: strings.NewReader(in), out: &call.out, err: e.err, dir: e.dir, getenv: withoutSession(e.getenv), now: e.now,
		syncBudget: e.syncBudget, gitBudget: e.gitBudget, variables: e.variables, call: call,
	}
	end := slices.Index(append(slices.Clip(args), "--"), "--")
	args = slices.Insert(slices.Clone(args), end, e.global.words()...)
	call.shell = clipText("filebus " + strings.Join(markdown.Each(args, record.ShellWord), " "))
	call.exit = run(ctx, inside, args)
}

// withoutSession hides the session that the client had when it started the server: it may have
// another by now.
func withoutSession(getenv func(string) string) func(string) string {
	return func(name string) string {
		if slices.Contains(sessionVariables(), name) && !strings.HasPrefix(name, "FILEBUS_") {
			return ""
		}
		return getenv(name)
	}
}

// words returns the global flags as they can be given again.
func (g *globalOptions) words() (words []string) {
	for _, text := range []struct{ flag, value string }{{"--store=", g.store}, {"--secrets=", g.secrets}} {
		if text.value != "" {
			words = append(words, text.flag+text.value)
		}
	}
	if g.noSync {
		words = append(words, "--no-sync")
	}
	if g.unsafeFS {
		words = append(words, "--allow-unsafe-fs")
	}
	if g.wait != store.DefaultWait {
		words = append(words, "--wait="+g.wait.String())
	}
	return words
}

// callText runs a command line and returns what it prints.
func (e *environ) callText(ctx context.Context, args ...string) ([]byte, *toolCall, error) {
	call := &toolCall{}
	e.runCall(ctx, call, "", args...)
	if call.exit != exitDone {
		return nil, call, fmt.Errorf("%s", strings.Join(call.words(), "\n"))
	}
	return call.out.Bytes(), call, nil
}

// maxResource is how long a resource may be: clients take it whole.
const maxResource = 1 << 20

func (e *environ) readResource(ctx context.Context, command []string, name string) ([]byte, error) {
	if name != "" {
		command = append(slices.Clip(command), "--", name)
	}
	text, _, err := e.callText(ctx, command...)
	if err == nil && len(text) > maxResource {
		err = fmt.Errorf("it has %s; the tool get reads it by its lines", byteSize(int64(len(text))))
	}
	return text, err
}

// tell keeps what is said for the answer.
func (c *toolCall) tell(f failure) { c.said = append(c.said, f) }

// words returns what was said, in lines.
func (c *toolCall) words() []string {
	lines := markdown.Each(c.said, func(f failure) string {
		message, hint := cutRest(c.asArguments(f.Message)), c.asArguments(f.Hint)
		if strings.Contains(hint, "--") && !strings.Contains(hint, "filebus ") {
			hint += ", in a shell: " + c.shell
		}
		if f.Code != "" {
			message = fmt.Sprintf("%s (%s)", message, f.Code)
		}
		if hint != "" {
			message += "\n  try: " + hint
		}
		return message
	})
	if c.exit != exitDone && len(lines) == 0 {
		lines = []string{fmt.Sprintf("it has ended with exit code %d", c.exit)}
	}
	return lines
}

// asArguments calls the flags of a text by the names that they have as arguments, but not in a
// command line.
func (c *toolCall) asArguments(text string) string {
	if strings.Contains(text, "filebus ") {
		return text
	}
	for flag := range c.has {
		text = strings.ReplaceAll(text+" ", "--"+flag+" ", argumentName(flag)+" ")
	}
	return strings.TrimSpace(text)
}

// cutRest marks a line that says how much was left out.
func cutRest(text string) string {
	if rest, found := strings.CutPrefix(text, "… and "); found {
		text = "[truncated: " + rest + "]"
	}
	return text
}

// again returns how a tool is called with another flag, if the tool has it.
func (c *toolCall) again(flag string) (string, bool) {
	name, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), " ")
	switch {
	case !c.has[name]:
		return "", false
	case name == "max-tokens":
		return "call again with a greater max_tokens", true
	}
	return fmt.Sprintf("call again with %s %s", argumentName(name), value), true
}
