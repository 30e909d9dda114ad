// Package mcp gives clients of the Model Context Protocol what a program offers them:
// tools, resources and prompts, over standard input and output or over HTTP.
//
// It owns the protocol, the check of arguments and the bound of answers, and knows
// nothing of stores: what a tool does is the function of its row in a [Face]. It keeps
// nothing between two requests. Of the SDK it uses the calls without types of their own,
// since a result with a schema is sent twice.
package mcp

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Face is what a server offers.
type Face struct {
	Name, Version string
	Instructions  string // what it is for, and when to use it
	Tools         []Tool
	Resources     []Resource
	Prompts       []Prompt
	Log           io.Writer // where trouble is written to
}

// A Tool is what a client may call.
type Tool struct {
	Name, About string
	Arguments   []Argument
	Tokens      int  // that an answer has at most, unless the call says otherwise
	Reads       bool // it changes nothing
	Call        func(ctx context.Context, in Input) Answer
}

// An Argument is one that a tool takes. Whatever its type, a call gets it as texts.
type Argument struct {
	Name   string
	Type   string // string, integer, boolean or array, of strings
	About  string
	Values []string // that it may have; none: any
	Needed bool
}

// An Input is what a tool is called with.
type Input struct {
	Values map[string][]string // of the arguments that were given, as texts
	Tokens int                 // that the answer may have, about
}

// An Answer is what a call has said.
type Answer struct {
	Text   string
	Notes  []string // that are no part of the result
	Failed bool
}

// A Resource is a text that a client may read by its URI.
type Resource struct {
	URI   string // that ends with {+name}, if it stands for many
	Name  string
	About string
	Read  func(ctx context.Context, name string) (text []byte, err error)
}

// A Prompt is a text that a user may start with.
type Prompt struct {
	Name, About string
	Text        func(ctx context.Context) (string, error)
}

// maxCalls is how many calls are worked on at once; others wait for their turn.
const maxCalls = 8

// server returns a server of a face.
func (f *Face) server() *mcp.Server {
	log := slog.New(slog.NewTextHandler(f.Log, &slog.HandlerOptions{Level: slog.LevelError}))
	s := mcp.NewServer(&mcp.Implementation{Name: f.Name, Version: f.Version}, &mcp.ServerOptions{
		Instructions: f.Instructions, Logger: log, Capabilities: &mcp.ServerCapabilities{
			Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{}, Prompts: &mcp.PromptCapabilities{},
		},
	})
	turns := make(chan struct{}, maxCalls)
	for _, t := range f.Tools {
		s.AddTool(t.declared(), func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			select {
			case turns <- struct{}{}:
				defer func() { <-turns }()
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			return t.answer(ctx, log, r.Params.Arguments), nil
		})
	}
	for _, r := range f.Resources {
		r.add(s)
	}
	for _, p := range f.Prompts {
		s.AddPrompt(&mcp.Prompt{Name: p.Name, Description: p.About}, p.get)
	}
	return s
}

// declared returns a tool as clients are told of it.
func (t *Tool) declared() *mcp.Tool {
	no := false
	properties, needed := map[string]any{}, []string{}
	for _, a := range t.all() {
		property := map[string]any{"type": a.Type}
		if a.Type == "array" {
			property["items"] = map[string]any{"type": "string"}
		}
		if a.About != "" {
			property["description"] = a.About
		}
		if len(a.Values) > 0 {
			property["enum"] = a.Values
		}
		if properties[a.Name] = property; a.Needed {
			needed = append(needed, a.Name)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(needed) > 0 {
		schema["required"] = needed
	}
	notes := &mcp.ToolAnnotations{ReadOnlyHint: t.Reads, IdempotentHint: t.Reads, DestructiveHint: &no, OpenWorldHint: &no}
	return &mcp.Tool{Name: t.Name, Description: t.About, InputSchema: schema, Annotations: notes}
}

// answer calls a tool. Whatever goes wrong is an answer that a model can read.
func (t *Tool) answer(ctx context.Context, log *slog.Logger, arguments []byte) *mcp.CallToolResult {
	in, err := t.input(arguments)
	var answer Answer
	if err != nil {
		answer = Answer{Text: err.Error(), Failed: true}
	} else {
		answer = t.called(ctx, log, in)
	}
	text := answer.within(in.Tokens)
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, IsError: answer.Failed}
}

// called is the tool's own call, of which a panic is a failure.
func (t *Tool) called(ctx context.Context, log *slog.Logger, in Input) (answer Answer) {
	defer func() {
		if p := recover(); p != nil {
			log.Error("a call has panicked", "tool", t.Name, "panic", p, "stack", string(debug.Stack()))
			answer = Answer{Text: fmt.Sprintf("%s has failed by a mistake of the program: %v", t.Name, p), Failed: true}
		}
	}()
	return t.Call(ctx, in)
}

// add makes a server know a resource.
func (r *Resource) add(s *mcp.Server) {
	prefix, _, isTemplate := strings.Cut(r.URI, "{")
	read := func(ctx context.Context, request *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		uri := request.Params.URI
		name, err := url.PathUnescape(strings.TrimPrefix(uri, prefix))
		if err != nil || isTemplate && name == "" {
			return nil, mcp.ResourceNotFoundError(uri)
		}
		text, err := r.Read(ctx, name)
		if err != nil {
			return nil, invalid(err)
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{contents(uri, text)}}, nil
	}
	if isTemplate {
		s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: r.URI, Name: r.Name, Description: r.About}, read)
		return
	}
	s.AddResource(&mcp.Resource{URI: r.URI, Name: r.Name, Description: r.About, MIMEType: "text/plain"}, read)
}

func (p *Prompt) get(ctx context.Context, _ *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	text, err := p.Text(ctx)
	if err != nil {
		return nil, invalid(err)
	}
	message := &mcp.PromptMessage{Role: "user", Content: &mcp.TextContent{Text: text}}
	return &mcp.GetPromptResult{Description: p.About, Messages: []*mcp.PromptMessage{message}}, nil
}

// names returns the names of the arguments of a tool, sorted.
func (t *Tool) names() []string {
	all := map[string]bool{}
	for _, a := range t.all() {
		all[a.Name] = true
	}
	return slices.Sorted(maps.Keys(all))
}
