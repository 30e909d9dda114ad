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

	"filebus/cmd/filebus/web"
)

type serveCommand struct {
	Port  int  `flag:"port" least:"0"`
	Open  bool `flag:"open"`
	Write bool `flag:"write"`
}

// servedMemory is what the garbage of pages may bring a server to. What a page needs it gets.
const servedMemory = 32 << 20

// usualPort is where pages are unless a port is given.
const usualPort = 7337

func (o *serveCommand) run(ctx context.Context, w *workspace, _ []string) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port)))
	if err != nil {
		return usageError("the port %d cannot be had: %w; --port 0 takes one that is free", o.Port, err)
	}
	defer func() { _ = listener.Close() }() // closed already where it was served
	token := rand.Text()
	address := web.Address(listener, token)
	if err := w.print(struct {
		URL string `json:"url"`
	}{address}, "%s\n", address); err != nil {
		return err
	}
	if o.Open {
		if err := openBrowser(ctx, address); err != nil {
			w.note("no browser could be started: %v", err)
		}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(usualPercent / 2)) // a server stays: unlike a command it leaves no garbage to its end
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(servedMemory))
	return w.site(o.Write).Serve(ctx, listener, token)
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

// site returns the pages of the store that the command line names.
func (e *environ) site(writes bool) *web.Site {
	inside := *e
	inside.global.noSync = true // a page changes nothing
	inside.getenv = func(name string) string { return e.asReader(name) }
	s := &web.Site{
		Version: versionView().Version, Workspace: e.dir, Flags: e.global.storeWords(), Now: e.now,
		Ask: func(ctx context.Context, into any, args ...string) error {
			return inside.ask(ctx, into, append([]string{"--json"}, args...)...)
		},
		Print: func(ctx context.Context, out io.Writer, args ...string) error {
			return inside.printOf(ctx, out, args...)
		},
		Follow: func(ctx context.Context, entry func(line []byte)) error { return inside.followLog(ctx, entry) },
	}
	if writes {
		s.Change = func(ctx context.Context, args ...string) error { return e.ask(ctx, nil, args...) }
	}
	return s
}

// storeWords returns the flag that names the store, if one does.
func (g *globalOptions) storeWords() []string {
	if g.store == "" {
		return nil
	}
	return []string{"--store=" + g.store}
}

// asReader hides who has started the server: its pages are not read by an agent.
func (e *environ) asReader(name string) string {
	switch {
	case name == "FILEBUS_NO_READS_LOG":
		return "1"
	case strings.HasPrefix(name, "FILEBUS_") && name != "FILEBUS_STORE", strings.HasSuffix(name, "_SESSION_ID"):
		return ""
	}
	return e.getenv(name)
}

// ask runs a command line and decodes what it prints.
func (e *environ) ask(ctx context.Context, into any, args ...string) error {
	call := e.runCall(ctx, nil, "", args)
	if call.exit != exitDone && call.out.Len() == 0 {
		return call.refusal()
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(call.out.Bytes(), into); err != nil {
		return fmt.Errorf("reading what filebus %s says: %w", strings.Join(args, " "), err)
	}
	return nil
}

// refusal returns what a command has said at last.
func (c *toolCall) refusal() error {
	last := failure{Message: "the command has said nothing"}
	if len(c.said) > 0 {
		last = c.said[len(c.said)-1]
	}
	return &web.Refusal{Code: last.Code, Message: last.Message, Hint: last.Hint}
}

// printOf passes on what a command line prints.
func (e *environ) printOf(ctx context.Context, out io.Writer, args ...string) error {
	if call := e.pass(ctx, out, args...); call.exit != exitDone {
		return call.refusal()
	}
	return nil
}

// pass runs a command line that prints as to a pipe.
func (e *environ) pass(ctx context.Context, out io.Writer, args ...string) *toolCall {
	inside := *e
	inside.in, inside.out, inside.outTerminal, inside.call = strings.NewReader(""), out, false, &toolCall{}
	inside.call.exit = run(ctx, &inside, args)
	return inside.call
}

// followLog passes new entries of the log on.
func (e *environ) followLog(ctx context.Context, entry func(line []byte)) error {
	if said := e.pass(ctx, &lineWriter{to: entry}, "log", "--follow", "--limit=1", "--json").said; len(said) > 0 {
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
