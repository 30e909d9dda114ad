package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/mcp"
)

type mcpCommand struct {
	HTTP string `flag:"http"`
}

func (o *mcpCommand) Do(ctx context.Context, w *cli.Work, _ []string) error {
	named := append([]string{w.Getenv("CLAUDE_PROJECT_DIR")}, strings.Split(w.Getenv("WORKSPACE_FOLDER_PATHS"), ",")...)
	face, start := mcpFace(w.Environ), []string{w.Dir}
	face.Locate = func(dirs []string) {
		_, _ = w.LocateFrom(slices.Concat(named, dirs, start)...) // each request says what is wrong with it
	}
	face.Locate(nil)
	if o.HTTP != "" {
		return serveHTTP(ctx, w.Environ, face, o.HTTP)
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	go endWithParent(ctx, end)
	return face.Serve(ctx, w.In, w.Out)
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

func serveHTTP(ctx context.Context, e *cli.Environ, face *mcp.Face, address string) error {
	listener, err := mcp.Listen(address)
	if err != nil {
		return cli.UsageError("listening at %s: %w", address, err)
	}
	token := e.Getenv("FILEBUS_MCP_TOKEN")
	e.Note("serving http://%s", listener.Addr())
	if token == "" {
		token = rand.Text()
		e.Note("Authorization: Bearer %s", token)
	}
	return face.ServeHTTP(ctx, listener, token)
}

// mcpFace returns what clients of the Model Context Protocol are offered: the commands that agents use.
func mcpFace(e *cli.Environ) *mcp.Face {
	face := &mcp.Face{
		Name: "filebus", Version: versionView().Version, Instructions: mcpInstructions, Near: cli.Near[string], Log: e.Err,
		Resources: []mcp.Text{
			mcpText(e, "status", "What is going on: run, tasks, issues", "filebus://status", "status"),
			mcpText(e, "recent", "What was stored last", "filebus://recent", "list", "--limit=50"),
			mcpText(e, "knowledge", "Lasting findings", "filebus://knowledge", "knowledge", "list", "--limit=50"),
			mcpText(e, "record", "A stored text, by its reference or name", "filebus://record/{+ref}", "get", maxResource),
			mcpText(e, "file", "A stored file, by its path in the workspace", "filebus://file/{+path}", "get", maxResource),
		},
	}
	for _, t := range mcpTools() {
		face.Tools = append(face.Tools, t.served(e))
	}
	for _, r := range roles() {
		face.Prompts = append(face.Prompts, mcpText(e, r.name, r.rules[0], "", "guide", r.name))
	}
	return face
}

// maxResource bounds a resource: clients take it whole.
const maxResource = "--max-tokens=250000"

// mcpText returns what a command prints as a resource or a prompt.
func mcpText(e *cli.Environ, name, about, uri string, command ...string) mcp.Text {
	return mcp.Text{Name: name, About: about, URI: uri, Read: func(ctx context.Context, of string) ([]byte, error) {
		words := slices.Clone(command)
		if of != "" {
			words = append(words, "--", of)
		}
		call := runCall(ctx, e, nil, "", words)
		switch {
		case call.Exit != cli.ExitDone:
			return nil, errors.New(strings.Join(call.Words(), "\n"))
		case call.Left > 0:
			return nil, fmt.Errorf("it has %d tokens more than a resource; the tool get reads it by its lines", call.Left)
		case call.Out.Len() == 0 && command[0] != "get":
			return []byte(strings.Join(call.Words(), "\n")), nil
		}
		return call.Out.Bytes(), nil
	}}
}

// runCall runs a command line as the command line does, in the process of the server. Nothing
// of the store stays open between two calls.
func runCall(ctx context.Context, e *cli.Environ, flags []string, in string, args []string) *cli.ToolCall {
	call := &cli.ToolCall{Flags: flags}
	inside := &cli.Environ{
		In: strings.NewReader(in), Out: &call.Out, Err: e.Err, Dir: e.Dir, Now: e.Now,
		SyncBudget: e.SyncBudget, GitBudget: e.GitBudget, Variables: e.Variables, Global: e.Global, Call: call, Kept: e.Kept,
		Getenv: func(name string) string {
			if slices.Contains(cli.SessionVariables(), name) && !strings.HasPrefix(name, "FILEBUS_") {
				return "" // the client may have another session than when it started the server
			}
			return e.Getenv(name)
		},
	}
	call.Exit = run(ctx, inside, args)
	return call
}
