package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"filebus/cmd/filebus/mcp"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
)

type mcpCommand struct {
	HTTP string `flag:"http"`
}

func (o *mcpCommand) run(ctx context.Context, w *workspace, _ []string) error {
	face := w.mcpFace()
	if o.HTTP != "" {
		return w.serveHTTP(ctx, face, o.HTTP)
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	go endWithParent(ctx, end)
	return face.Serve(ctx, w.in, w.out)
}

// endWithParent ends a server when the process that has started it has ended: another may
// hold the other end of its input open.
func endWithParent(ctx context.Context, end context.CancelFunc) {
	for parent := os.Getppid(); ctx.Err() == nil; time.Sleep(time.Second) {
		if os.Getppid() != parent {
			end()
		}
	}
}

func (e *environ) serveHTTP(ctx context.Context, face *mcp.Face, address string) error {
	listener, err := mcp.Listen(address)
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
	face := &mcp.Face{
		Name: "filebus", Version: versionView().Version, Instructions: mcpInstructions, Near: near[string], Log: e.err,
		Resources: []mcp.Text{
			e.mcpText("status", "What is going on: run, tasks, issues", "filebus://status", "status"),
			e.mcpText("recent", "What was stored last", "filebus://recent", "list", "--limit=50"),
			e.mcpText("knowledge", "Lasting findings", "filebus://knowledge", "knowledge", "list", "--limit=50"),
			e.mcpText("record", "A stored text, by its reference or name", "filebus://record/{+ref}", "get", maxResource),
			e.mcpText("file", "A stored file, by its path in the workspace", "filebus://file/{+path}", "get", maxResource),
		},
	}
	for _, t := range mcpTools() {
		face.Tools = append(face.Tools, t.served(e))
	}
	for _, r := range roles() {
		face.Prompts = append(face.Prompts, e.mcpText(r.name, r.rules[0], "", "guide", r.name))
	}
	return face
}

// maxResource bounds a resource: clients take it whole.
const maxResource = "--max-tokens=250000"

// mcpText returns what a command prints as a resource or a prompt.
func (e *environ) mcpText(name, about, uri string, command ...string) mcp.Text {
	return mcp.Text{Name: name, About: about, URI: uri, Read: func(ctx context.Context, of string) ([]byte, error) {
		words := slices.Clone(command)
		if of != "" {
			words = append(words, "--", of)
		}
		call := e.runCall(ctx, nil, "", words)
		switch {
		case call.exit != exitDone:
			return nil, errors.New(strings.Join(call.words(), "\n"))
		case call.left > 0:
			return nil, fmt.Errorf("it has %d tokens more than a resource; the tool get reads it by its lines", call.left)
		case call.out.Len() == 0 && command[0] != "get":
			return []byte(strings.Join(call.words(), "\n")), nil
		}
		return call.out.Bytes(), nil
	}}
}

// A toolCall is a command line that a tool runs, and what it has said besides its result.
type toolCall struct {
	flags []string  // that are arguments of the tool
	said  []failure // notices, and at last the failure
	exit  int
	out   bytes.Buffer
	left  int // tokens of a text that had no room
}

// runCall runs a command line as the command line does, in the process of the server. Nothing
// of the store stays open between two calls.
func (e *environ) runCall(ctx context.Context, flags []string, in string, args []string) *toolCall {
	call := &toolCall{flags: flags}
	inside := &environ{
		in: strings.NewReader(in), out: &call.out, err: e.err, dir: e.dir, now: e.now,
		syncBudget: e.syncBudget, gitBudget: e.gitBudget, variables: e.variables, global: e.global, call: call,
		getenv: func(name string) string {
			if slices.Contains(sessionVariables(), name) && !strings.HasPrefix(name, "FILEBUS_") {
				return "" // the client may have another session than when it started the server
			}
			return e.getenv(name)
		},
	}
	call.exit = run(ctx, inside, args)
	return call
}

// words returns what was said, in lines.
func (c *toolCall) words() []string {
	return markdown.Each(c.said, func(f failure) string {
		message, hint := c.asArguments(f.Message), c.asArguments(f.Hint)
		if strings.Contains(hint, "it again with --") {
			hint += ", in a shell"
		}
		if f.Code != "" {
			message += " (" + f.Code + ")"
		}
		if hint != "" && !strings.HasSuffix(hint, " --help") { // the schema says it
			message += "\n  try: " + hint
		}
		return message
	})
}

var flagInText = layout.Pattern(`--[a-z][-a-z]*`)

// asArguments calls the flags of a text by the names that they have as arguments, but not in a
// command line, and marks a line that says how much was left out.
func (c *toolCall) asArguments(text string) string {
	if rest, found := strings.CutPrefix(text, "… and "); found {
		text = "[truncated: " + rest + "]"
	}
	if strings.Contains(text, "filebus ") {
		return text
	}
	return flagInText().ReplaceAllStringFunc(text, func(flag string) string {
		if slices.Contains(c.flags, flag) {
			return argumentName(flag)
		}
		return flag
	})
}
