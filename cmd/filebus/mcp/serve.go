package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxMessage is how long a client's message may be, in bytes.
const maxMessage = 64 << 20

// Serve answers one client, which writes a message in each line of in, until in ends.
func (f *Face) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	s := &screen{lines: bufio.NewReaderSize(in, 64<<10), replies: out}
	return f.server().Run(ctx, &mcp.IOTransport{Reader: s, Writer: s, MaxLineLength: -1})
}

// rootsOf asks a client in which folders it works. Without an answer in time, and in a revision that has no such
// question, there are none.
func rootsOf(ctx context.Context, session *mcp.ServerSession) (dirs []string) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	//lint:ignore SA1019 clients of today have roots, and no other way to say it
	if p := session.InitializeParams(); p == nil || p.Capabilities == nil || p.Capabilities.RootsV2 == nil {
		return nil
	}
	//lint:ignore SA1019 as above
	answer, _ := session.ListRoots(ctx, nil)
	//lint:ignore SA1019 as above
	for _, root := range cmp.Or(answer, &mcp.ListRootsResult{}).Roots {
		if at, err := url.Parse(root.URI); err == nil && at.Scheme == "file" {
			dirs = append(dirs, filepath.FromSlash(at.Path))
		}
	}
	return dirs
}

// A screen passes the lines on that are messages. The others are answered as the protocol
// asks: left to the SDK, they would end the server.
type screen struct {
	lines   *bufio.Reader
	rest    []byte // of the message that is being read
	mu      sync.Mutex
	replies io.Writer
}

func (s *screen) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		line, err := s.line()
		if reply := faultOf(line); reply != nil && len(line) > 0 {
			text, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": reply}) // plain values
			_, _ = s.Write(append(text, '\n'))                                                   // the client may be gone
		} else if len(line) > 0 {
			s.rest = append(line, '\n')
		} else if err != nil {
			return 0, err
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// Write writes a line.
func (s *screen) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.replies.Write(line)
}

func (s *screen) Close() error { return nil }

// line reads a line without what surrounds it. Of one that is too long the beginning is
// kept, and that is no JSON.
func (s *screen) line() (line []byte, err error) {
	for {
		part, err := s.lines.ReadSlice('\n')
		line = append(line, part[:min(len(part), maxMessage-len(line))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimPrefix(bytes.TrimSpace(line), []byte("\uFEFF")), err
		}
	}
}

// faultOf says why a line is no message: nil if it is one.
func faultOf(line []byte) *jsonrpc.Error {
	switch {
	case !utf8.Valid(line) || !json.Valid(line):
		return fault(jsonrpc.CodeParseError, "the line is no JSON in UTF-8; each message is a line of its own, of %d bytes at most", maxMessage)
	case line[0] == '[':
		return fault(jsonrpc.CodeInvalidRequest, "messages come one by one, not in lists")
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil {
		return fault(jsonrpc.CodeInvalidRequest, "the line is no message: %v", err)
	}
	return nil
}

// ServeHTTP answers clients that know the token, until the context ends. The listener is one of
// this machine alone: see Listen.
func (f *Face) ServeHTTP(ctx context.Context, listener net.Listener, token string) error {
	server := f.server()
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxMessage})
	authorized := func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+token)) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "this needs the header Authorization: Bearer TOKEN", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}
	web := &http.Server{
		Handler:           http.NewCrossOriginProtection().Handler(http.HandlerFunc(authorized)),
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
	}
	defer context.AfterFunc(ctx, func() { _ = web.Close() })() // nothing is kept between two requests
	if err := web.Serve(listener); ctx.Err() == nil {
		return err
	}
	return nil
}

// Listen listens at an address of this machine that no other one reaches.
func Listen(address string) (net.Listener, error) {
	at, err := net.ResolveTCPAddr("tcp", address)
	if err == nil && !at.IP.IsLoopback() {
		err = errors.New("not an address of this machine alone, such as 127.0.0.1:7420")
	}
	if err != nil {
		return nil, err
	}
	return net.ListenTCP("tcp", at)
}
