package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/web"
)

type serveCommand struct {
	Port  int  `flag:"port" least:"0"`
	Open  bool `flag:"open"`
	Write bool `flag:"write"`
}

// servedMemory is what the garbage of pages may bring a server to. What a page needs it gets.
const servedMemory = 64 << 20

// usualPort is where pages are unless a port is given.
const usualPort = 7337

func (o *serveCommand) Do(ctx context.Context, w *cli.Work, _ []string) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port)))
	if err != nil {
		return cli.UsageError("port %d cannot be used: %w; --port 0 takes one that is free", o.Port, err)
	}
	defer func() { _ = listener.Close() }() // closed already where it was served
	token := rand.Text()
	address := web.Address(listener, token)
	if err := w.Print(struct {
		URL string `json:"url"`
	}{address}, "%s\n", address); err != nil {
		return err
	}
	if o.Open {
		if err := openBrowser(ctx, address); err != nil {
			w.Note("no browser could be started: %v", err)
		}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(usualPercent / 2)) // a server stays: unlike a command it leaves no garbage to its end
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(servedMemory))
	site := siteOf(w.Environ, o.Write)
	go func() { // an index or sums that are not there are made, for which a page has no time
		_ = site.Ask(ctx, nil, "conversation", "list", "--limit=1")
		_ = site.Ask(ctx, nil, "search", "--limit=1", "--no-git", "--", "filebus") // the pages say what is wrong
	}()
	return site.Serve(ctx, listener, token)
}

// openBrowser shows an address in the browser that the system has.
func openBrowser(ctx context.Context, address string) error {
	command := map[string][]string{
		"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"},
	}[runtime.GOOS]
	if command == nil {
		command = []string{"xdg-open"}
	}
	return exec.CommandContext(context.WithoutCancel(ctx), command[0], append(command[1:], address)...).Start()
}

// siteOf returns the pages of the store that the command line names.
func siteOf(e *cli.Environ, writes bool) *web.Site {
	inside := *e
	inside.Global.NoSync = true // there is one look for a page, not one for each of its commands
	inside.Kept = &sync.Map{}
	inside.Getenv = func(name string) string { return asReader(e, name) }
	s := &web.Site{
		Version: versionView().Version, Workspace: e.Dir, Flags: storeWords(&e.Global), Now: e.Now,
		Ask: func(ctx context.Context, into any, args ...string) error {
			return askStore(ctx, &inside, into, append([]string{"--json"}, args...)...)
		},
		Print: func(ctx context.Context, out io.Writer, args ...string) error {
			return printOf(ctx, &inside, out, args...)
		},
		Follow: func(ctx context.Context, entry func(line []byte)) error { return followLog(ctx, &inside, entry) },
	}
	if !e.Global.NoSync {
		looking := inside
		looking.Global.NoSync = false
		s.Look = func(ctx context.Context) {
			_ = askStore(ctx, &looking, nil, "log", "--limit=1") // the pages say what is wrong
		}
	}
	if writes {
		s.Change = func(ctx context.Context, args ...string) error { return askStore(ctx, e, nil, args...) }
	}
	return s
}

// storeWords returns the flag that names the store, if one does.
func storeWords(g *cli.GlobalOptions) []string {
	if g.Store == "" {
		return nil
	}
	return []string{"--store=" + g.Store}
}

// asReader hides who has started the server: its pages are not read by an agent.
func asReader(e *cli.Environ, name string) string {
	switch {
	case name == "FILEBUS_NO_READS_LOG":
		return "1"
	case strings.HasPrefix(name, "FILEBUS_") && name != "FILEBUS_STORE", strings.HasSuffix(name, "_SESSION_ID"):
		return ""
	}
	return e.Getenv(name)
}

// askStore runs a command line and decodes what it prints.
func askStore(ctx context.Context, e *cli.Environ, into any, args ...string) error {
	call := runCall(ctx, e, nil, "", args)
	if call.Exit != cli.ExitDone && call.Out.Len() == 0 {
		return refusal(call)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(call.Out.Bytes(), into); err != nil {
		return fmt.Errorf("reading what filebus %s says: %w", strings.Join(args, " "), err)
	}
	return nil
}

// refusal returns what a command has said at last.
func refusal(c *cli.ToolCall) error {
	last := cli.Failure{Message: "the command printed nothing"}
	if len(c.Said) > 0 {
		last = c.Said[len(c.Said)-1]
	}
	return &web.Refusal{Code: last.Code, Message: last.Message, Hint: last.Hint}
}

// printOf passes on what a command line prints.
func printOf(ctx context.Context, e *cli.Environ, out io.Writer, args ...string) error {
	if call := pass(ctx, e, out, args...); call.Exit != cli.ExitDone {
		return refusal(call)
	}
	return nil
}

// pass runs a command line that prints as to a pipe.
func pass(ctx context.Context, e *cli.Environ, out io.Writer, args ...string) *cli.ToolCall {
	inside := *e
	inside.In, inside.Out, inside.OutTerminal, inside.Call = strings.NewReader(""), out, false, &cli.ToolCall{}
	inside.Call.Exit = run(ctx, &inside, args)
	return inside.Call
}

// followLog passes new entries of the log on.
func followLog(ctx context.Context, e *cli.Environ, entry func(line []byte)) error {
	if said := pass(ctx, e, &lineWriter{to: entry}, "log", "--follow", "--limit=1", "--json").Said; len(said) > 0 {
		return errors.New(said[len(said)-1].Message)
	}
	return ctx.Err()
}

// A lineWriter passes whole lines on.
type lineWriter struct {
	to   func(line []byte)
	rest []byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		line, rest, found := bytes.Cut(w.rest, []byte("\n"))
		if !found {
			return len(p), nil
		}
		w.to(bytes.Clone(line))
		w.rest = rest
	}
}
