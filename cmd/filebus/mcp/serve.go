package mcp

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
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
	replies := &lockedWriter{to: out}
	messages, screened := io.Pipe()
	go func() { screened.CloseWithError(screen(in, screened, replies)) }()
	err := f.server().Run(ctx, &mcp.IOTransport{Reader: messages, Writer: replies, MaxLineLength: -1})
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}

// A lockedWriter takes whole lines of several writers.
type lockedWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

func (w *lockedWriter) Close() error { return nil }

// screen passes the lines on that are messages. The others are answered as the protocol
// asks: left to the SDK, they would end the server.
func screen(in io.Reader, messages, replies io.Writer) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, tooLong, err := readLine(lines)
		if fault := faultOf(line, tooLong); fault != nil {
			reply, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": fault}) // plain values
			_, _ = replies.Write(append(reply, '\n'))                                             // the client may be gone
		} else if len(line) > 0 {
			if _, err := messages.Write(append(line, '\n')); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
}

// readLine reads a line without what surrounds it. Of one that is too long nothing is
// kept.
func readLine(in *bufio.Reader) (line []byte, tooLong bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > maxMessage; tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			line = bytes.TrimPrefix(bytes.TrimSpace(line), []byte("\uFEFF"))
			return line, tooLong, err
		}
	}
}

// faultOf says why a line is no message: nil if it is one, or empty.
func faultOf(line []byte, tooLong bool) *jsonrpc.Error {
	switch {
	case tooLong:
		return fault(jsonrpc.CodeInvalidRequest, "a message has at most %d bytes", maxMessage)
	case len(line) == 0:
		return nil
	case !utf8.Valid(line):
		return fault(jsonrpc.CodeParseError, "the message is not UTF-8")
	case !json.Valid(line):
		return fault(jsonrpc.CodeParseError, "the line is no JSON; each message is a line of its own")
	case line[0] == '[':
		return fault(jsonrpc.CodeInvalidRequest, "messages come one by one, not in lists")
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil {
		return fault(jsonrpc.CodeInvalidRequest, "the line is no message: %v", err)
	}
	return nil
}

func fault(code int64, format string, args ...any) *jsonrpc.Error {
	return &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// invalid returns the error of a request that cannot be answered.
func invalid(err error) error { return fault(jsonrpc.CodeInvalidParams, "%v", err) }

// contents returns a text as a resource has it; what is not UTF-8 goes as bytes.
func contents(uri string, text []byte) *mcp.ResourceContents {
	if utf8.Valid(text) {
		return &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: string(text)}
	}
	return &mcp.ResourceContents{URI: uri, MIMEType: "application/octet-stream", Blob: text}
}

// ServeHTTP answers clients that know the token, until the context ends. The listener is one of
// this machine alone: see Listen.
func (f *Face) ServeHTTP(ctx context.Context, listener net.Listener, token string) error {
	server := f.server()
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxMessage})
	web := &http.Server{
		Handler:           http.NewCrossOriginProtection().Handler(authorized(token, handler)),
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
	}
	defer context.AfterFunc(ctx, func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = web.Shutdown(last) // what is left then ends with the process
	})()
	if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// authorized lets requests through that have the token.
func authorized(token string, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte("Bearer " + token)) // of one length, whatever is sent
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := sha256.Sum256([]byte(r.Header.Get("Authorization")))
		if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "this needs the header Authorization: Bearer TOKEN", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Listen listens at an address of this machine that no other one reaches.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if host == "" || host == "localhost" {
		host = "127.0.0.1"
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, ErrNotLocal
	}
	return new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, port))
}

// ErrNotLocal is the error of an address that others could reach.
var ErrNotLocal = errors.New("not an address of this machine alone, such as 127.0.0.1:7420")
