// Package web shows a store to people with a browser: pages over what the commands say.
//
// It owns requests, templates, pictures and the stream of events, and knows no store:
// what a page shows it asks as a command line, whose JSON it reads. What is kept between
// two requests can be asked for again. What agents have written is data: it is escaped, or rendered by
// [rendered], and no page has a script or a style in its text.
package web

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Site is what is shown, and how it is asked.
type Site struct {
	Version, Workspace string
	Flags              []string // that commands need to reach this store
	// Ask runs a command, that only reads, and decodes its JSON. Its error is a *Refusal
	// where the command has one to tell.
	Ask func(ctx context.Context, into any, args ...string) error
	// Print runs one whose output can be long, and passes that on as it is made.
	Print func(ctx context.Context, out io.Writer, args ...string) error
	// Change runs a command that writes; nil: the pages only read.
	Change func(ctx context.Context, args ...string) error
	// Follow calls back with each new entry of the log, as JSON, until the context ends.
	Follow func(ctx context.Context, entry func(line []byte)) error
	Now    func() time.Time

	// Look takes in what has changed on disk; nil: nothing is.
	Look func(ctx context.Context)

	looks  sync.Mutex // that is held by who looks at the disk
	looked time.Time
	rows   kept[[]*row] // of the page of issues
	now    kept[*nowSaid]
	budget kept[*budgetPage]
	health kept[*healthPage]
	files  kept[*healthPage] // with what the disk has
	review kept[*reviewPage]
}

// A Refusal is what a command says in place of an answer.
type Refusal struct{ Code, Message, Hint string }

func (r *Refusal) Error() string { return r.Message }

// A view is a page: what it is called, and how it is filled. One that is filled with nil stays in the
// browser as it is.
type view struct {
	pattern string // as of http.ServeMux
	Title   string // in the navigation; "" where it has no place there
	Page    string // the template
	load    func(ctx context.Context, s *Site, r *http.Request) (any, error)
}

// Path returns where the view is.
func (v view) Path() string { return strings.TrimSuffix(v.pattern, "{$}") }

// views returns the pages, those of the navigation in its order.
func views() []view {
	return []view{
		{"/{$}", "Now", "now", loadNow},
		{"/search", "Search", "search", loadSearch},
		{"/record", "", "record", loadRecord},
		{"/issues", "Issues", "issues", loadIssues},
		{"/dialogues", "Dialogues", "dialogues", load[dialoguesPage]("dialogue", "list")},
		{"/dialogue", "", "dialogue", loadDialogue},
		{"/knowledge", "Knowledge", "knowledge", loadKnowledge},
		{"/review", "", "review", loadReview},
		{"/sessions", "Sessions", "sessions", load[sessionsPage]("session", "list")},
		{"/session", "", "session", loadSession},
		{"/budget", "Budget", "budget", loadBudget},
		{"/health", "Health", "health", loadHealth},
	}
}

// load returns what fills a page with the beginning of a list.
func load[T any](line ...string) func(context.Context, *Site, *http.Request) (any, error) {
	return func(ctx context.Context, s *Site, _ *http.Request) (any, error) {
		v := new(T)
		return v, s.Ask(ctx, v, append(slices.Clone(line), fmt.Sprint("--limit=", mostShown))...)
	}
}

// A page is what a template gets.
type page struct {
	*Site
	View, Title string
	URL         *url.URL
	Views       []view
	Data        any
	Failure     *Refusal
}

var (
	//go:embed pages static
	files embed.FS
)

// The bounds of time: how long a page may take, and for how long what is shown holds.
const (
	longest = 10 * time.Second
	freshly = 20 * time.Second
	patient = 40 * time.Millisecond // for what a look at the disk finds; what comes later is told as any change
	rest    = time.Second           // between two looks
	seldom  = 30 * time.Second      // for which sums over the whole store hold, whatever comes in
)

// handler returns all pages, without the guard.
func (s *Site) handler(events http.Handler) http.Handler {
	s.rows.load, s.rows.time = s.loadRows, freshly
	s.now.load, s.now.time = s.loadNow, freshly
	s.budget.load, s.budget.hold = s.loadBudget, seldom
	s.health.load, s.health.time, s.health.hold = s.loadHealth, seldom, seldom
	s.files.load, s.files.time, s.files.hold = s.loadHealth, seldom, seldom
	s.review.load, s.review.time = s.loadReview, seldom
	pages := template.Must(template.New("").Funcs(s.functions()).ParseFS(files, "pages/*.html"))
	mux, work, texts := http.NewServeMux(), make(turns, mostAtOnce), make(turns, 1)
	for _, v := range views() {
		turn := work
		if v.Title == "" { // what is in no navigation shows a text, which may be long
			turn = texts
		}
		mux.HandleFunc("GET "+v.pattern, turn.each(func(w http.ResponseWriter, r *http.Request) { s.show(w, r, v, pages) }))
	}
	mux.HandleFunc("GET /static/{file}", serveStatic)
	mux.Handle("GET /events", events)
	mux.HandleFunc("GET /raw", s.raw)
	mux.HandleFunc("POST /resolve", s.resolve)
	mux.HandleFunc("POST /decide", s.decide)
	mux.HandleFunc("GET /knowledge.json", work.each(s.serveGraph))
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		missing := func(context.Context, *Site, *http.Request) (any, error) {
			return nil, &Refusal{"not_found", "there is no such page", ""}
		}
		s.show(w, r, view{Page: "error", load: missing}, pages)
	})
	return mux
}

// Turns are what requests take that need memory for a moment: of all open pages, few are made at once.
type turns chan struct{}

const mostAtOnce = 2

func (t turns) each(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case t <- struct{}{}:
			defer func() { <-t }()
			next(w, r)
		case <-r.Context().Done(): // nobody waits for it any more
		}
	}
}

// look takes in what has changed on disk, unless somebody does so, and waits a while for that.
func (s *Site) look(ctx context.Context) {
	if s.Look == nil || !s.looks.TryLock() {
		return
	}
	if time.Since(s.looked) < rest {
		s.looks.Unlock()
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patient)
	defer cancel()
	go func() { // it goes on when the page is there
		defer cancel()
		defer s.looks.Unlock()
		s.Look(context.WithoutCancel(ctx))
		s.looked = time.Now()
	}()
	<-ctx.Done()
}

// show answers with a page, or with one that says what is wrong.
func (s *Site) show(w http.ResponseWriter, r *http.Request, v view, pages *template.Template) {
	ctx, cancel := context.WithTimeout(r.Context(), longest)
	defer cancel()
	p, answer := page{Site: s, View: v.Page, Title: v.Title, URL: r.URL, Views: views()}, http.StatusOK
	s.look(ctx)
	data, err := v.load(ctx, s, r)
	if data == nil && err == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if err != nil {
		p.View, answer = "error", status(err)
		if p.Failure = new(Refusal); !errors.As(err, &p.Failure) {
			p.Failure = &Refusal{Message: err.Error()}
		}
	}
	if named, isNamed := data.(interface{ title() string }); isNamed && err == nil {
		p.Title = named.title()
	}
	p.Data = data
	var out bytes.Buffer
	if err := pages.ExecuteTemplate(&out, p.View, p); err != nil {
		http.Error(w, "this page has failed because of a fault in filebus: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(answer)
	_, _ = out.WriteTo(w) // the browser may be gone
}

func serveStatic(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "max-age=3600")
	http.ServeFileFS(w, r, files, "static/"+r.PathValue("file"))
}
