package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"filebus/cmd/filebus/mcp"
)

// newFace returns a face with a tool that says what it was called with.
func newFace(log io.Writer) *mcp.Face {
	said := func(_ context.Context, in mcp.Input) mcp.Answer {
		text, _ := json.Marshal(in) // texts and numbers
		return mcp.Answer{Text: string(text)}
	}
	return &mcp.Face{
		Locate: func([]string) {}, Name: "face", Version: "1", Log: log,
		Near: func(word string, known []string) string { return "; near " + known[0] },
		Tools: []mcp.Tool{
			{Name: "say", Tokens: 500, Call: said, Arguments: []mcp.Argument{
				{Name: "what", Type: "string", Needed: true}, {Name: "text", Type: "string"}, {Name: "number", Type: "integer"},
				{Name: "tags", Type: "array"},
				{Name: "how", Type: "string", Values: []string{"loud", "low"}},
			}},
			{Name: "long", Tokens: 500, Call: func(_ context.Context, in mcp.Input) mcp.Answer {
				lines := strings.Repeat(strings.Repeat("é", 40)+"\n", 100)
				return mcp.Answer{Text: lines, Notes: []string{"noted"}}
			}},
			{Name: "wait", Tokens: 500, Call: func(ctx context.Context, _ mcp.Input) mcp.Answer {
				<-ctx.Done()
				return mcp.Answer{}
			}},
			{Name: "panic", Tokens: 500, Call: func(context.Context, mcp.Input) mcp.Answer { panic("of a tool") }},
		},
		Resources: []mcp.Text{
			{Name: "one", URI: "x://one", Read: func(context.Context, string) ([]byte, error) { return nil, nil }},
			{Name: "many", URI: "x://many/{+name}", Read: func(_ context.Context, name string) ([]byte, error) {
				switch name {
				case "panic":
					panic("of a resource")
				case "bytes":
					return []byte("\xff\x00"), nil
				case "none":
					return nil, errors.New("there is none")
				}
				return []byte(name), nil
			}},
		},
		Prompts: []mcp.Text{{Name: "begin", About: "how", Read: func(context.Context, string) ([]byte, error) {
			return []byte("begin so"), nil
		}}},
	}
}

// A wire is the other end of a server that speaks in lines.
type wire struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *bufio.Reader
	done chan error
}

func newWire(t *testing.T, log io.Writer) *wire {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	w := &wire{t, toServer, bufio.NewReaderSize(fromServer, 1<<20), make(chan error, 1)}
	go func() {
		w.done <- newFace(log).Serve(t.Context(), in, out)
		_ = out.Close()
	}()
	t.Cleanup(func() { _ = toServer.Close() })
	return w
}

// ask writes a line and returns the next one that comes back.
func (w *wire) ask(line string) string {
	w.t.Helper()
	go func() { _, _ = io.WriteString(w.in, line+"\n") }() // the server may answer before it has read all
	answered := make(chan string, 1)
	go func() {
		answer, err := w.out.ReadString('\n')
		if err != nil {
			answer = "the end: " + err.Error()
		}
		answered <- strings.TrimSpace(answer)
	}()
	select {
	case answer := <-answered:
		return answer
	case <-time.After(time.Minute):
		w.t.Fatalf("%.100q has no answer", line)
	}
	return ""
}

const hello = `{"jsonrpc":"2.0","id":"h","method":"initialize","params":{"protocolVersion":"2025-06-18",` +
	`"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`

func call(id int, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments)
}

// TestHostileLines sends what is no message: each line is answered, and the server goes on.
func TestHostileLines(t *testing.T) {
	t.Parallel()
	w := newWire(t, io.Discard)
	for _, line := range []string{
		"hello", "{", `{"jsonrpc":"2.0","id":1,"method":"pi`, "\xff\xfe", "[]", "[" + hello + "]", "null", "7", `"x"`, "{}",
		`{"jsonrpc":"1.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":{},"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":7}`, `{"jsonrpc":"2.0","method":"ping","id":1} {"more":1}`, "\x00",
		`{"jsonrpc":"2.0","id":1,"method":"ping"`, strings.Repeat("[", 100_000), strings.Repeat("x", 65<<20),
	} {
		answer := w.ask(line)
		if !strings.Contains(answer, `"error":{"code":-32`) || !strings.Contains(answer, `"id":null`) || len(answer) > 1000 {
			t.Errorf("%.60q is answered by %.200s", line, answer)
		}
	}
	for _, line := range []string{hello, "\uFEFF" + `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\r", call(2, "say", `{"what":"a"}`)} {
		if answer := w.ask("\n \r\n" + line); !strings.Contains(answer, `"result"`) {
			t.Errorf("%q is answered by %s", line, answer)
		}
	}
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":3,"method":"nothing/such"}`, `{"jsonrpc":"2.0","id":3,"method":"tools/call"}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":[]}`, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":7}}`,
		`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"x://many/%zz"}}`,
		`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"x://many/none"}}`,
	} {
		if answer := w.ask(line); !strings.Contains(answer, `"error":{`) || !strings.Contains(answer, `"id":3`) {
			t.Errorf("%s is answered by %s", line, answer)
		}
	}
	for c := range rune(0x20) { // what JSON has to quote in ways of its own, and what nobody sees
		for _, odd := range []string{string(c), "\u007f", string(0xe0001 + c), string(0x200b + c), "\ufffd", "\u2028"} {
			text, _ := json.Marshal("x://many/" + odd) // a text has a form
			name, _ := json.Marshal(odd)
			for _, params := range []string{
				`"resources/read","params":{"uri":` + string(text) + `}`, `"resources/read","params":{"uri":` + string(name) + `}`,
				`"resources/subscribe","params":{"uri":` + string(text) + `}`, `"prompts/get","params":{"name":` + string(name) + `}`,
				`"tools/call","params":{"name":` + string(name) + `}`, `"tools/list","params":{"cursor":` + string(name) + `}`,
				`"logging/setLevel","params":{"level":` + string(name) + `}`, string(name),
				`"completion/complete","params":{"ref":{"type":"ref/resource","uri":` + string(text) + `},"argument":{"name":"a","value":"b"}}`,
			} {
				line := `{"jsonrpc":"2.0","id":4,"method":` + params + `}`
				if answer := w.ask(line); !json.Valid([]byte(answer)) || !strings.Contains(answer, `"id":4`) {
					t.Fatalf("%s is answered by %q", line, answer)
				}
			}
		}
	}
	for _, line := range []string{ // that are not answered
		`{"jsonrpc":"2.0","id":99,"result":{}}`, `{"jsonrpc":"2.0","id":1}`, `{"jsonrpc":"2.0","method":"notifications/unknown"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`,
	} {
		if answer := w.ask(line + "\n" + `{"jsonrpc":"2.0","id":5,"method":"ping"}`); !strings.Contains(answer, `"id":5`) {
			t.Errorf("after %s a ping is answered by %s", line, answer)
		}
	}
}

// TestHostileTexts puts every text that is hard to encode into each text of each method: all are
// answered by JSON, over both transports, and the server goes on.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	lines, at := newWire(t, io.Discard), serveHTTP(t, "s")
	lines.ask(hello)
	texts := []string{`\u007f`, `\u0085`, `\u00ad`, `\u2028`, `\ufeff`, `\uffff`, `\udb40\udc01`, `\udbff\udfff`, `\ud83d\udca9`,
		`\ud800`, `\udc00x`, `\udc00\ud800`, `%`, `%zz`, `%00`, `%ff`, `\"\\`, "\xff", "\xed\xa0\x80", "\xc0\xaf", "\u007f", "\U000e0001"}
	for i := range 0x20 {
		texts = append(texts, fmt.Sprintf(`\u%04x`, i))
	}
	for _, form := range []string{
		`"resources/read","params":{"uri":"a@"}`, `"resources/read","params":{"uri":"@"}`, `"resources/read","params":{"uri":"x://one@"}`,
		`"resources/read","params":{"uri":"x://many/@"}`, `"resources/read","params":{"uri":"x://many/none","@":"@"}`,
		`"resources/subscribe","params":{"uri":"@"}`, `"resources/unsubscribe","params":{"uri":"@"}`,
		`"resources/list","params":{"cursor":"@"}`, `"resources/templates/list","params":{"cursor":"@"}`,
		`"tools/list","params":{"cursor":"@"}`, `"prompts/list","params":{"cursor":"@"}`,
		`"tools/call","params":{"name":"@"}`, `"tools/call","params":{"name":"say","arguments":{"what":"@"}}`,
		`"tools/call","params":{"name":"say","arguments":{"@":"a"}}`, `"tools/call","params":{"name":"say","arguments":"@"}`,
		`"tools/call","params":{"name":"say","arguments":{"what":"a","how":"@"}}`,
		`"tools/call","params":{"name":"long","arguments":{"max_tokens":"@"}}`, `"tools/call","params":{"name":"say","_meta":{"progressToken":"@"}}`,
		`"prompts/get","params":{"name":"@"}`, `"prompts/get","params":{"name":"begin","arguments":{"@":"@"}}`,
		`"completion/complete","params":{"ref":{"type":"ref/prompt","name":"@"},"argument":{"name":"@","value":"@"}}`,
		`"completion/complete","params":{"ref":{"type":"ref/resource","uri":"@"},"argument":{"name":"@","value":"@"}}`,
		`"completion/complete","params":{"ref":{"type":"@"},"argument":{"name":"a","value":"a"}}`,
		`"logging/setLevel","params":{"level":"@"}`, `"@"`, `"ping","params":{"_meta":{"@":"@"}}`,
		`"initialize","params":{"protocolVersion":"@","capabilities":{},"clientInfo":{"name":"@","version":"@"}}`,
	} {
		for _, text := range texts {
			line := `{"jsonrpc":"2.0","id":"7` + text + `","method":` + strings.ReplaceAll(form, "@", text) + "}"
			if answer := lines.ask(line); !isAnswer(answer) {
				t.Fatalf("%q is answered by %.200q", line, answer)
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at, strings.NewReader(line))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			response, err := bearer{"Bearer s", ""}.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(response.Body)
			_ = response.Body.Close() // it was read
			if err != nil || response.StatusCode == http.StatusOK && !isAnswer(string(answer)) || len(answer) == 0 {
				t.Errorf("over HTTP %q is answered by %d, %.200q, %v", line, response.StatusCode, answer, err)
			}
		}
	}
}

// isAnswer reports whether a line is a message that answers a request.
func isAnswer(line string) bool {
	var message struct{ Result, Error json.RawMessage }
	return json.Unmarshal([]byte(line), &message) == nil && (message.Result == nil) != (message.Error == nil)
}

// TestEnd ends the input, in mid-call and in mid-line.
func TestEnd(t *testing.T) {
	t.Parallel()
	for _, last := range []string{"", `{"jsonrpc":"2.0","id":1,"meth`, call(4, "wait", "{}") + "\n"} {
		w := newWire(t, io.Discard)
		w.ask(hello)
		_, _ = io.WriteString(w.in, last)
		_ = w.in.Close()
		go func() { _, _ = io.Copy(io.Discard, w.out) }()
		select {
		case err := <-w.done:
			if err != nil {
				t.Errorf("after %q: %v", last, err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("after %q the server goes on", last)
		}
	}
}

// TestPanics calls what panics: it is said, and the server goes on.
func TestPanics(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w := newWire(t, &log)
	w.ask(hello)
	for _, line := range []string{
		call(1, "panic", "{}"), `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x://many/panic"}}`,
	} {
		if answer := w.ask(line); !strings.Contains(answer, "because of a fault in filebus") {
			t.Errorf("%s is answered by %s", line, answer)
		}
	}
	if answer := w.ask(call(2, "say", `{"what":"on"}`)); !strings.Contains(answer, "on") {
		t.Errorf("after panics: %s", answer)
	}
	if !strings.Contains(log.String(), "of a tool") || !strings.Contains(log.String(), "mcp_test.go") {
		t.Errorf("the log has no panic with its place: %s", &log)
	}
}

// connect returns a session of the SDK's client.
func connect(t *testing.T, transport sdk.Transport, revision string) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "client", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), transport, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatalf("revision %s: %v", revision, err)
	}
	t.Cleanup(func() { _ = session.Close() }) // the server may be gone
	return session
}

func answerOf(t *testing.T, session *sdk.ClientSession, tool string, arguments any) (text string, isError bool) {
	t.Helper()
	r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s %v: %v", tool, arguments, err)
	}
	if len(r.Content) != 1 || r.StructuredContent != nil {
		t.Errorf("%s %v: %d contents, and %v", tool, arguments, len(r.Content), r.StructuredContent)
	}
	return r.Content[0].(*sdk.TextContent).Text, r.IsError
}

// revisions are the protocol's current one and those before.
var revisions = []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// TestArguments gives arguments in the forms that models find.
func TestArguments(t *testing.T) {
	t.Parallel()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	go func() { _ = newFace(io.Discard).Serve(t.Context(), in, out) }()
	session := connect(t, &sdk.IOTransport{Reader: fromServer, Writer: toServer}, "2025-11-25")
	said := func(values string, tokens int) string {
		return fmt.Sprintf(`{"Values":{%s},"Tokens":%d}`, values, tokens)
	}
	for _, test := range []struct{ arguments, want string }{
		{`{"what":"a"}`, said(`"what":["a"]`, 500)},
		{`{"what":7,"number":"7","max_tokens":"3000"}`, said(`"number":["7"],"what":["7"]`, 3000)},
		{`{"what":["b"],"number":20.0,"max_tokens":1}`, said(`"number":["20"],"what":["b"]`, 100)},
		{`{"what":"c","tags":"t","how":"low","max_tokens":999999999999}`, said(`"how":["low"],"tags":["t"],"what":["c"]`, 20000)},
		{`{"what":true,"tags":["t, u",null,3],"text":null}`, said(`"tags":["t, u","3"],"what":["true"]`, 500)},
		{`{"what":"--what","text":"\r\n\u0000\ud83d\ude00"}`, said(`"text":["\r\n\u0000😀"],"what":["--what"]`, 500)},
		{`{}`, "say needs the argument what"},
		{`null`, "say needs the argument what"},
		{`[]`, "the arguments of say are no JSON object; it takes what, text, number, tags, how, max_tokens"},
		{`"what"`, "the arguments of say are no JSON object; it takes what, text, number, tags, how, max_tokens"},
		{`{"wat":"a"}`, `unknown argument "wat" of say: it takes what, text, number, tags, how, max_tokens; near what`},
		{`{"what":"a","how":"soft"}`, `unknown how "soft" of say: it takes loud, low; near loud`},
		{`{"what":["a","b"]}`, "argument what of say: one was expected, and a list was given"},
		{`{"what":{"a":1}}`, "argument what of say: a text, a number or a list of texts was expected"},
		{`{"what":"a\u0000b"}`, "argument what of say: it has a zero byte"},
		{`{"what":"a","max_tokens":"many"}`, `max_tokens takes a whole number, not "many"`},
	} {
		got, isError := answerOf(t, session, "say", json.RawMessage(test.arguments))
		if diff := gocmp.Diff(test.want, got); diff != "" || isError == strings.HasPrefix(test.want, "{") {
			t.Errorf("%s: failed %v (-want +got):\n%s", test.arguments, isError, diff)
		}
	}
	if got, isError := answerOf(t, session, "sey", nil); !isError || got != `unknown tool "sey" of face: it takes say, long, wait, panic; near say` {
		t.Errorf("an unknown tool is answered by %s, %v", got, isError)
	}
}

// TestBounds asks for answers that are cut, and for what a cut answer says.
func TestBounds(t *testing.T) {
	t.Parallel()
	w := newWire(t, io.Discard)
	w.ask(hello)
	ask := func(arguments string) (text string) {
		var answer struct{ Result sdk.CallToolResult }
		if err := json.Unmarshal([]byte(w.ask(call(1, "long", arguments))), &answer); err != nil {
			t.Fatal(err)
		}
		return answer.Result.Content[0].(*sdk.TextContent).Text
	}
	for _, tokens := range []int{100, 333, 500, 2000} {
		got := ask(fmt.Sprintf(`{"max_tokens":%d}`, tokens))
		if len(got) > 4*tokens || !strings.HasSuffix(got, "\nnoted") {
			t.Errorf("%d tokens have %d bytes, and end with %q", tokens, len(got), got[max(0, len(got)-50):])
		}
		if !strings.Contains(got, "\n[truncated: about ") || !strings.Contains(got, "call again with max_tokens 2027]") {
			t.Errorf("%d tokens: not truncated: %s", tokens, got)
		}
	}
	if got, want := ask(`{"max_tokens":2027}`), strings.Repeat(strings.Repeat("é", 40)+"\n", 100)+"noted"; got != want {
		t.Errorf("as the truncated answer says: %d bytes, want %d", len(got), len(want))
	}
}

// TestResources reads resources of each form.
func TestResources(t *testing.T) {
	t.Parallel()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	go func() { _ = newFace(io.Discard).Serve(t.Context(), in, out) }()
	session := connect(t, &sdk.IOTransport{Reader: fromServer, Writer: toServer}, "2025-06-18")
	for uri, want := range map[string]sdk.ResourceContents{
		"x://one":             {Blob: []byte{}},
		"x://many/a/b%20c.md": {Text: "a/b c.md"},
		"x://many/bytes":      {Blob: []byte("\xff\x00")},
	} {
		got, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil {
			t.Errorf("%s: %v", uri, err)
			continue
		}
		if c := got.Contents[0]; c.Text != want.Text || !bytes.Equal(c.Blob, want.Blob) || (c.Blob == nil) != (want.Blob == nil) {
			t.Errorf("%s has the text %q and the bytes %q", uri, c.Text, c.Blob)
		}
	}
	if got, err := session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "begin"}); err != nil || len(got.Messages) != 1 {
		t.Errorf("the prompt is %v, %v", got, err)
	}
}

// A bearer sends a token with each request.
type bearer struct{ token, origin string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if b.token != "" {
		r.Header.Set("Authorization", b.token)
	}
	if b.origin != "" {
		r.Header.Set("Origin", b.origin)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// serveHTTP returns where a face is served.
func serveHTTP(t *testing.T, token string) string {
	t.Helper()
	listener, err := mcp.Listen("localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- newFace(io.Discard).ServeHTTP(ctx, listener, token) }()
	t.Cleanup(func() {
		if cancel(); <-done != nil {
			t.Error("an end is an error")
		}
	})
	return "http://" + listener.Addr().String()
}

// TestRevisions speaks each revision of the protocol, over both transports.
func TestRevisions(t *testing.T) {
	t.Parallel()
	at := serveHTTP(t, "open sesame")
	for _, revision := range revisions {
		in, toServer := io.Pipe()
		fromServer, out := io.Pipe()
		go func() { _ = newFace(io.Discard).Serve(t.Context(), in, out) }()
		for _, transport := range []sdk.Transport{
			&sdk.IOTransport{Reader: fromServer, Writer: toServer},
			&sdk.StreamableClientTransport{Endpoint: at, HTTPClient: &http.Client{Transport: bearer{token: "Bearer open sesame"}}},
		} {
			session := connect(t, transport, revision)
			if got := session.InitializeResult().ProtocolVersion; got != revision {
				t.Errorf("%T speaks %s, want %s", transport, got, revision)
			}
			tools, err := session.ListTools(t.Context(), nil)
			if err != nil || len(tools.Tools) != 4 {
				t.Errorf("%s: tools %v, %v", revision, tools, err)
			}
			if got, isError := answerOf(t, session, "say", map[string]any{"what": "ö"}); isError || !strings.Contains(got, "ö") {
				t.Errorf("%s: %s", revision, got)
			}
		}
	}
}

// TestHTTPRefusals asks over HTTP without what is needed.
func TestHTTPRefusals(t *testing.T) {
	t.Parallel()
	at := serveHTTP(t, "s")
	for _, test := range []struct {
		bearer
		want int
	}{
		{bearer{"Bearer s", ""}, http.StatusOK},
		{bearer{"", ""}, http.StatusUnauthorized},
		{bearer{"Bearer ", ""}, http.StatusUnauthorized},
		{bearer{"Bearer t", ""}, http.StatusUnauthorized},
		{bearer{"Basic s", ""}, http.StatusUnauthorized},
		{bearer{"Bearer s", at}, http.StatusOK},
		{bearer{"Bearer s", "http://example.org"}, http.StatusForbidden},
		{bearer{"Bearer s", "null"}, http.StatusForbidden},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at, strings.NewReader(hello))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		answer, err := test.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		if _ = answer.Body.Close(); answer.StatusCode != test.want {
			t.Errorf("%+v: status %d, want %d", test.bearer, answer.StatusCode, test.want)
		}
	}
}

// TestListen refuses what other machines reach.
func TestListen(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "127.0.0.1", "x", "", "127.0.0.1:-1", "[::ffff:192.0.2.1]:0"} {
		if l, err := mcp.Listen(address); err == nil {
			t.Errorf("Listen(%q) listens at %s", address, l.Addr())
			_ = l.Close()
		}
	}
	for _, address := range []string{"127.0.0.1:0", "localhost:0", "127.9.9.9:0"} {
		l, err := mcp.Listen(address)
		if err != nil {
			t.Logf("Listen(%q): %v", address, err) // a system may have no other loopback address
			continue
		}
		_ = l.Close()
	}
}

// TestLarge sends a message of 10 MB.
func TestLarge(t *testing.T) {
	t.Parallel()
	w := newWire(t, io.Discard)
	w.ask(hello)
	text := strings.Repeat("ä ", 10<<20/3)
	if answer := w.ask(call(1, "say", fmt.Sprintf(`{"what":%q,"max_tokens":20000}`, text))); !strings.Contains(answer, "ask for less of it") {
		t.Errorf("it is answered by %.300s", answer)
	}
}

// FuzzServe serves any bytes: it ends, without a panic, and what it says are lines of JSON.
func FuzzServe(f *testing.F) {
	for _, seed := range []string{hello, call(1, "say", `{"what":"a"}`), "[1]\n{}\r\n\xff", hello + "\n" + call(1, "long", "{}")} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		_ = newFace(io.Discard).Serve(t.Context(), bytes.NewReader(in), &out) // whatever it says
		for line := range strings.Lines(out.String()) {
			if !json.Valid([]byte(line)) {
				t.Errorf("no JSON: %q", line)
			}
		}
	})
}
