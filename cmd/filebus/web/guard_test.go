package web_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"filebus/cmd/filebus/web"
)

const token = "Der-Schluessel_q7~ZZ" // not as rand.Text writes one

// A server is a site that is served for a test.
type server struct {
	base   string // its address, without a path
	cookie string
	end    context.CancelFunc
	ended  chan error
}

// serve starts a site whose commands all answer nothing.
func serve(t *testing.T, site *web.Site) *server {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	site.Now = time.Now
	if site.Ask == nil {
		site.Ask = func(context.Context, any, ...string) error { return nil }
	}
	site.Print = func(context.Context, io.Writer, ...string) error { return nil }
	if site.Follow == nil {
		site.Follow = func(ctx context.Context, _ func([]byte)) error { <-ctx.Done(); return ctx.Err() }
	}
	ctx, end := context.WithCancel(t.Context())
	s := &server{base: "http://" + listener.Addr().String(), end: end, ended: make(chan error, 1)}
	port := listener.Addr().(*net.TCPAddr).Port
	s.cookie = fmt.Sprintf("filebus-%d=%s", port, token)
	go func() { s.ended <- site.Serve(ctx, listener, token) }()
	t.Cleanup(end)
	return s
}

// ask sends a request whose further lines are "Name: value", and follows no redirect.
func (s *server) ask(t *testing.T, method, path string, lines ...string) (*http.Response, string) {
	t.Helper()
	response, err := s.open(t.Context(), method, path, lines...)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return response, string(body)
}

func (s *server) open(ctx context.Context, method, path string, lines ...string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.base, nil)
	if err != nil {
		return nil, err
	}
	r.URL.Opaque = path // as it is written, dots and all
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		if r.Header.Add(name, value); name == "Host" {
			r.Host = value
		}
	}
	return (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
}

func TestGuard(t *testing.T) {
	t.Parallel()
	s := serve(t, &web.Site{})
	host := strings.TrimPrefix(s.base, "http://")
	_, port, _ := net.SplitHostPort(host)
	key := "Cookie: " + s.cookie
	tests := []struct {
		method, path string
		lines        []string
		want         int
		says         string
	}{
		{"GET", "/", nil, 401, "filebus serve prints"},
		{"GET", "/search?q=x", nil, 401, "token"},
		{"GET", "/static/app.css", nil, 401, "token"},
		{"GET", "/events", nil, 401, "token"},
		{"GET", "/?token=", nil, 401, "token"},
		{"GET", "/?token=" + token[1:], nil, 401, "token"},
		{"GET", "/?token=" + strings.ToLower(token), nil, 401, "token"},
		{"GET", "/?token=" + token + "%00", nil, 401, "token"},
		{"HEAD", "/?token=" + token, nil, 401, ""},
		{"POST", "/?token=" + token, nil, 401, "token"},
		{"GET", "/", []string{"Cookie: filebus-1=" + token}, 401, "token"},
		{"GET", "/", []string{"Cookie: filebus=" + token}, 401, "token"},
		{"GET", "/", []string{"Authorization: Bearer " + token}, 401, "token"},
		{"GET", "/", []string{key}, 200, "<h1>Now</h1>"},
		{"GET", "/", []string{key, "Host: localhost:" + port}, 200, "<h1>Now</h1>"},
		{"GET", "/", []string{key, "Host: [::1]:" + port}, 200, "<h1>Now</h1>"},
		{"GET", "/", []string{key, "Host: 127.0.0.1"}, 403, "this machine"},
		{"GET", "/", []string{key, "Host: 127.0.0.1:1"}, 403, "this machine"},
		{"GET", "/", []string{key, "Host: 127.0.0.1.example.org:" + port}, 403, "this machine"},
		{"GET", "/", []string{key, "Host: evil.example:" + port}, 403, "this machine"},
		{"GET", "/?token=" + token, []string{"Host: evil.example:" + port}, 403, "this machine"},
		{"GET", "http://evil.example/", []string{key}, 403, "this machine"},
		{"GET", "/", []string{key, "Origin: http://" + host}, 200, "<h1>Now</h1>"},
		{"GET", "/", []string{key, "Origin: https://" + host}, 403, "this machine"},
		{"GET", "/", []string{key, "Origin: null"}, 403, "this machine"},
		{"GET", "/events", []string{key, "Origin: http://evil.example"}, 403, "this machine"},
		{"GET", "/?token=" + token, []string{"Origin: http://evil.example"}, 403, "this machine"},
		{"POST", "/", []string{key, "Sec-Fetch-Site: cross-site"}, 403, "cross-origin"},
		{"POST", "/", []string{key}, 405, ""},
		{"PUT", "/record", []string{key}, 405, ""},
		{"OPTIONS", "/", []string{key}, 405, ""},
		{"HEAD", "/", []string{key}, 200, ""},
		{"GET", "/nowhere", []string{key}, 404, "no such page"},
		{"GET", "/static/app.css", []string{key}, 200, "--ground"},
		{"GET", "/static/", []string{key}, 404, ""},
		{"GET", "/static/none.js", []string{key}, 404, ""},
		{"GET", "/static/..%2fpages%2flayout.html", []string{key}, 400, "invalid"},
		{"GET", "/static/%2e%2e/%2e%2e/etc/passwd", []string{key}, 404, ""},
		{"GET", "/static/../../etc/passwd", []string{key}, 307, ""},
		{"GET", "/static/..%5c..%5cweb.go", []string{key}, 400, "invalid"},
		{"GET", "/static/%00", []string{key}, 404, ""},
		{"GET", "/", []string{key, "X-Long: " + strings.Repeat("x", 80<<10)}, 431, ""},
		{"GET", "/search?q=" + strings.Repeat("%F0%9F%90%9F", 1000), []string{key}, 200, ""},
		{"GET", "/search?q=%ff%00&offset=-7&tag=%zz;", []string{key}, 200, ""},
	}
	for _, test := range tests {
		name := fmt.Sprintf("%s %.60s %.60q", test.method, test.path, test.lines)
		response, body := s.ask(t, test.method, test.path, test.lines...)
		if response.StatusCode != test.want || !strings.Contains(body, test.says) {
			t.Errorf("%s = %d %.200q, want %d with %q", name, response.StatusCode, body, test.want, test.says)
		}
		if strings.Contains(body, token) || strings.Contains(body, "root:") {
			t.Errorf("%s tells %.200q", name, body)
		}
		if response.StatusCode == http.StatusRequestHeaderFieldsTooLarge {
			continue // net/http answers this by itself
		}
		for header, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; ",
			"X-Content-Type-Options":  "nosniff", "Referrer-Policy": "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
			"Access-Control-Allow-Origin": "",
		} {
			if got := response.Header.Get(header); !strings.HasPrefix(got, want) || want == "" && got != "" {
				t.Errorf("%s: %s is %q, want %q", name, header, got, want)
			}
		}
	}
}

// TestToken goes the way of a browser: the token of the first address becomes a cookie, and the
// address without it is one of this server.
func TestToken(t *testing.T) {
	t.Parallel()
	s := serve(t, &web.Site{})
	for path, want := range map[string]string{
		"/?token=" + token:                               "/",
		"/search?token=" + token + "&q=a+b":              "/search?q=a+b",
		s.base + "//evil.example/x?token=" + token:       "/evil.example/x",
		"/%2f%2fevil.example?token=" + token:             "/evil.example",
		"/..//evil.example?token=" + token:               "/evil.example",
		"/%5cevil.example?token=" + token:                "/%5Cevil.example",
		"/record?name=x&token=" + token + "&token=other": "/record?name=x",
	} {
		response, _ := s.ask(t, "GET", path)
		if got := response.Header.Get("Location"); response.StatusCode != http.StatusSeeOther || got != want {
			t.Errorf("%s = %d to %q, want 303 to %q", path, response.StatusCode, got, want)
		}
		if got, want := response.Header.Get("Set-Cookie"), s.cookie+"; Path=/; HttpOnly; SameSite=Strict"; got != want {
			t.Errorf("%s sets %q, want %q", path, got, want)
		}
	}
}

// TestEnds serves, looks, and ends: nothing of it may stay.
func TestEnds(t *testing.T) {
	before := runtime.NumGoroutine()
	s := serve(t, &web.Site{})
	s.ask(t, "GET", "/", "Cookie: "+s.cookie)
	stream, err := s.open(t.Context(), "GET", "/events", "Cookie: "+s.cookie)
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stream.Body).ReadString('\n'); err != nil || line != "retry: 1000\n" {
		t.Errorf("the stream begins with %q, %v", line, err)
	}
	s.end()
	select {
	case err := <-s.ended:
		if err != nil {
			t.Errorf("Serve = %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("a stream keeps the server")
	}
	_, _ = io.Copy(io.Discard, stream.Body) // whole or cut: it ends
	if err := stream.Body.Close(); err != nil {
		t.Error(err)
	}
	wait(t, "all goroutines to end", func() bool { return runtime.NumGoroutine() <= before })
	if _, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://")); err == nil {
		t.Error("the port is still served")
	}
}

// wait waits until something is true.
func wait(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 6000 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("waited in vain for %s", what)
}
