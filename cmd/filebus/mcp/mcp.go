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
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"filebus/materialize/markdown"
)

// A Face is what a server offers.
type Face struct {
	Name, Version      string
	Instructions       string // what it is for, and when to use it
	Tools              []Tool
	Resources, Prompts []Text
	Near               func(word string, known []string) string // says which ones a word may be a slip of the pen for
	Locate             func(dirs []string)                      // is told in which folders the client works
	Log                io.Writer                                // where trouble is written to
}

// A Tool is what a client may call.
type Tool struct {
	Name, About string
	Arguments   []Argument
	Tokens      int  // that an answer has at most, unless the call says otherwise
	Reads       bool // it changes nothing
	Call        func(ctx context.Context, in Input) Answer
}

// An Argument is one that a tool takes, as its schema has it. Whatever its type, a call
// gets it as texts.
type Argument struct {
	Name   string    `json:"-"`
	Type   string    `json:"type"`            // string, integer, boolean or array
	Items  *Argument `json:"items,omitempty"` // of an array: texts
	About  string    `json:"description,omitempty"`
	Values []string  `json:"enum,omitempty"` // that it may have; none: any
	Needed bool      `json:"-"`
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

// A Text is a resource, which a client may read by its URI, or a prompt, which has none.
type Text struct {
	Name, About string
	URI         string                                                 // that ends with {+name}, if it stands for many
	Read        func(ctx context.Context, name string) ([]byte, error) // without a name, if it is one
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
			turns <- struct{}{}
			defer func() { <-turns }()
			return f.answer(ctx, &t, r.Params.Arguments), nil
		})
	}
	for _, r := range f.Resources {
		r.add(s)
	}
	for _, p := range f.Prompts {
		s.AddPrompt(&mcp.Prompt{Name: p.Name, Description: p.About}, p.prompt)
	}
	s.AddReceivingMiddleware(f.guard(log))
	return s
}

// guard answers what the SDK leaves to its users: a tool that there is not, of which a
// model should hear what there is, a panic, and where the client works.
func (f *Face) guard(log *slog.Logger) mcp.Middleware {
	var once sync.Once
	names := markdown.Each(f.Tools, func(t Tool) string { return t.Name })
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (result mcp.Result, err error) {
			defer func() {
				if p := recover(); p != nil {
					log.Error("a request has panicked", "method", method, "panic", p, "stack", string(debug.Stack()))
					result, err = nil, fault(jsonrpc.CodeInternalError, "%s has failed because of a fault in filebus: %v", method, p)
				}
			}()
			session, is := r.GetSession().(*mcp.ServerSession)
			if is && slices.Contains([]string{"tools/call", "resources/read", "prompts/get"}, method) {
				once.Do(func() { f.Locate(rootsOf(ctx, session)) })
			}
			if call, is := r.(*mcp.CallToolRequest); is && !slices.Contains(names, call.Params.Name) {
				return failed(f.unknown("tool", call.Params.Name, f.Name, names)), nil
			}
			result, err = next(ctx, method, r)
			if e, is := errors.AsType[*jsonrpc.Error](err); is && len(e.Data) > 0 && !json.Valid(e.Data) {
				err = fault(e.Code, "%s", e.Message) // the SDK writes what it names by hand: it would end with that
			}
			return result, err
		}
	}
}

// declared returns a tool as clients are told of it.
func (t *Tool) declared() *mcp.Tool {
	no := false
	properties, needed := map[string]Argument{}, []string{}
	for _, a := range t.all() {
		if a.Type == "array" {
			a.Items = &Argument{Type: "string"}
		}
		if properties[a.Name] = a; a.Needed {
			needed = append(needed, a.Name)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false, "required": needed}
	notes := &mcp.ToolAnnotations{ReadOnlyHint: t.Reads, IdempotentHint: t.Reads, DestructiveHint: &no, OpenWorldHint: &no}
	return &mcp.Tool{Name: t.Name, Description: t.About, InputSchema: schema, Annotations: notes}
}

// answer calls a tool. Whatever is wrong is an answer that a model can read.
func (f *Face) answer(ctx context.Context, t *Tool, arguments []byte) *mcp.CallToolResult {
	in, err := f.input(t, arguments)
	if err != nil {
		return failed(err)
	}
	answer := t.Call(ctx, in)
	return result(answer.within(in.Tokens), answer.Failed)
}

func result(text string, isError bool) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, IsError: isError}
}

func failed(err error) *mcp.CallToolResult { return result(err.Error(), true) }

// add makes a server know a resource.
func (r *Text) add(s *mcp.Server) {
	prefix, _, isTemplate := strings.Cut(r.URI, "{")
	read := func(ctx context.Context, request *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		uri := request.Params.URI
		name, err := url.PathUnescape(strings.TrimPrefix(uri, prefix))
		if err != nil || isTemplate && name == "" {
			return nil, mcp.ResourceNotFoundError(uri)
		}
		text, err := r.Read(ctx, name)
		if err != nil {
			return nil, fault(jsonrpc.CodeInvalidParams, "%v", err)
		}
		contents := &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: string(text)}
		if !utf8.Valid(text) || len(text) == 0 { // the SDK leaves an empty text out
			contents = &mcp.ResourceContents{URI: uri, MIMEType: "application/octet-stream", Blob: append([]byte{}, text...)}
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{contents}}, nil
	}
	if isTemplate {
		s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: r.URI, Name: r.Name, Description: r.About}, read)
		return
	}
	s.AddResource(&mcp.Resource{URI: r.URI, Name: r.Name, Description: r.About, MIMEType: "text/plain"}, read)
}

func (r *Text) prompt(ctx context.Context, _ *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	text, err := r.Read(ctx, "")
	if err != nil {
		return nil, fault(jsonrpc.CodeInvalidParams, "%v", err)
	}
	message := &mcp.PromptMessage{Role: "user", Content: &mcp.TextContent{Text: string(text)}}
	return &mcp.GetPromptResult{Description: r.About, Messages: []*mcp.PromptMessage{message}}, nil
}

func fault(code int64, format string, args ...any) *jsonrpc.Error {
	return &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
