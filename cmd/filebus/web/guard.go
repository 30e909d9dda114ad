package web

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
)

// Serve answers the browser of whoever knows the token, until the context ends. The listener is one
// of this machine alone.
func (s *Site) Serve(ctx context.Context, listener net.Listener, token string) error {
	events := newEvents(ctx, s.Follow)
	pages := s.handler(events)
	port := listener.Addr().(*net.TCPAddr).Port
	g := guard{port: port, token: token, next: http.NewCrossOriginProtection().Handler(pages)}
	server := &http.Server{
		Handler: &g, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
	}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })() // streams would never end by themselves
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Address returns the URL that a browser begins with: it has the token, which becomes a cookie.
func Address(listener net.Listener, token string) string {
	return fmt.Sprintf("http://%s/?token=%s", listener.Addr(), token)
}

// policy lets a page load what this server has, and nothing else. A PDF alone may be framed, by a page of its own: browsers
// show none in a sandbox, and it can do nothing there, as its address has no other bytes and no other type.
const (
	policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; frame-src 'self'; " +
		"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors "
	framed, unframed = policy + "'self'", policy + "'none'"
)

// A guard lets requests through that come from the pages themselves.
type guard struct {
	port  int
	token string
	next  http.Handler
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range map[string]string{
		"Content-Security-Policy": unframed, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", // with none, browsers hide the origin of a form
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
	} {
		w.Header().Set(name, value)
	}
	cookie := fmt.Sprint("filebus-", g.port) // ports share their cookies
	switch given, _ := r.Cookie(cookie); {
	case !g.isOwn(r.Host), r.Header.Get("Origin") != "" && !g.isOwn(strings.TrimPrefix(r.Header.Get("Origin"), "http://")):
		http.Error(w, "this page is for the browser of this machine, by the address that filebus serve prints", http.StatusForbidden)
	case r.Method == http.MethodGet && r.URL.Query().Has("token") && same(r.URL.Query().Get("token"), g.token):
		http.SetCookie(w, &http.Cookie{
			Name: cookie, Value: g.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		})
		query := r.URL.Query()
		query.Del("token")
		to := url.URL{Path: path.Clean("/" + r.URL.Path), RawQuery: query.Encode()} // never of another host
		http.Redirect(w, r, to.String(), http.StatusSeeOther)
	case given == nil || !same(given.Value, g.token):
		http.Error(w, "open the address with the token that filebus serve prints", http.StatusUnauthorized)
	default:
		g.next.ServeHTTP(w, r)
	}
}

// isOwn reports whether a host is this server's: a name that was pointed here from elsewhere is not.
func (g *guard) isOwn(host string) bool {
	for _, name := range []string{"127.0.0.1", "localhost", "[::1]"} {
		if host == fmt.Sprintf("%s:%d", name, g.port) || host == name && g.port == 80 { // browsers leave the usual port out
			return true
		}
	}
	return false
}

// same compares in a time that tells nothing.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
