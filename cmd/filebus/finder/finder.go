// Package finder is the interactive search on a terminal: a line to type in, the
// hits as they change, and the text of the selected one.
//
// What is typed never waits for a search: searches, and the reading of texts, run
// beside the screen, one at a time, and one that is no longer wanted is told to end.
// The package knows how hits are shown and chosen; where they come from is a
// [Source]. It draws on the terminal itself, /dev/tty, so that its caller's output
// may be a pipe. Control characters of texts never reach the terminal.
package finder

import (
	"context"
	"errors"
	"time"

	"github.com/gdamore/tcell/v3"

	"filebus/query"
)

// ErrCancelled says that the user has left without a choice.
var ErrCancelled = errors.New("nothing was chosen")

// ErrNoTerminal says that there is no terminal to draw on.
var ErrNoTerminal = errors.New("no terminal")

// A Source finds hits and reads texts. Its methods are called from several
// goroutines, of each at most one call at a time; they should end soon after their
// context does.
type Source interface {
	// Search returns the first limit hits for what the user has typed.
	Search(ctx context.Context, typed string, limit int) (query.SearchAnswer, error)
	// Text returns the text of a hit: the lines of it that answer what was typed, or
	// the whole record.
	Text(ctx context.Context, typed string, hit query.Hit, whole bool) (Text, error)
	// Refresh takes in what is new, and reports whether there was anything.
	Refresh(ctx context.Context) (changed bool, err error)
}

// A Text is the text of a hit, or a part of it.
type Text struct {
	Body  []byte
	Marks []query.ByteRun // the words that were looked for, in bytes of Body
	Line  int             // the number of the first line, counted from 1
	Note  string          // to say about it, such as how much is missing
}

// Options say how a finder begins and looks. The zero value is an empty line in
// colour.
type Options struct {
	Typed    string // to begin with
	NoColour bool   // marks words by bold text alone
}

// A Choice is what the user has chosen.
type Choice struct {
	Hit query.Hit
	Ref bool // its reference is wanted in place of its path
}

// Run lets the user search until a hit is chosen. The error is ErrCancelled if none
// was, ErrNoTerminal if there is no terminal to draw on, or the context's.
func Run(ctx context.Context, source Source, opts Options) (Choice, error) {
	screen, err := tcell.NewScreen(tcell.OptSanitizeContent(true), tcell.OptEscapeTimeout(escapeTimeout))
	if err == nil {
		err = screen.Init()
	}
	if err != nil {
		return Choice{}, errors.Join(ErrNoTerminal, err)
	}
	return run(ctx, source, screen, opts)
}

const (
	// escapeTimeout is how long after an Escape more may come that makes it another
	// key, over a slow line.
	escapeTimeout = 100 * time.Millisecond
	// debounce is how long the finder waits for the next key before it searches.
	debounce = 15 * time.Millisecond
	// refreshEvery is how often it looks for what is new.
	refreshEvery = 2 * time.Second
)

// A finder is a finder at work.
type finder struct {
	source Source
	screen tcell.Screen
	model  *model
	view   view

	searches, texts, refreshes worker
	wake                       *time.Timer // searches when it fires
}

// run searches on a screen that is ready, and gives it back.
func run(ctx context.Context, source Source, screen tcell.Screen, opts Options) (Choice, error) {
	defer screen.Fini()
	screen.EnablePaste()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f := &finder{
		source: source, screen: screen, view: newView(opts.NoColour),
		model:    &model{prompt: newPrompt(opts.Typed), rows: usualRows, searching: true},
		searches: newWorker(), texts: newWorker(), refreshes: newWorker(), wake: time.NewTimer(0),
	}
	f.refresh(ctx)
	again := time.NewTicker(refreshEvery)
	defer again.Stop()
	for {
		f.view.draw(screen, f.model)
		select {
		case <-ctx.Done():
			return Choice{}, ctx.Err()
		case event := <-screen.EventQ():
			if choice, err, done := f.event(ctx, event); done {
				return choice, err
			}
		case <-f.wake.C:
			f.search(ctx)
		case <-again.C:
			if !f.refreshes.busy {
				f.refresh(ctx)
			}
		case result := <-f.searches.done:
			f.searched(ctx, result.(searchResult))
			if hit := f.model.chosen(); hit != nil {
				return Choice{*hit, f.model.wantsRef}, nil
			}
		case result := <-f.texts.done:
			if !f.texts.finished(ctx) {
				f.model.setText(result.(textResult))
			}
		case result := <-f.refreshes.done:
			f.refreshed(ctx, result.(refreshResult))
		}
	}
}

// event takes what the terminal reports.
func (f *finder) event(ctx context.Context, event tcell.Event) (choice Choice, err error, done bool) {
	switch event := event.(type) {
	case *tcell.EventResize:
		f.screen.Sync()
	case *tcell.EventError:
		return Choice{}, errors.Join(ErrNoTerminal, event), true
	case *tcell.EventPaste:
		f.model.pasting = event.Start()
	case *tcell.EventKey:
		for range max(event.Repeat(), 1) {
			f.model.choosing = false
			switch f.model.key(event) {
			case doSearch:
				f.wake.Reset(debounce)
			case doMore:
				f.search(ctx)
				f.showText(ctx)
			case doText:
				f.showText(ctx)
			case doRedraw:
				f.screen.Sync()
			case doChoose, doChooseRef:
				f.model.choosing = true
				if hit := f.model.chosen(); hit != nil {
					return Choice{*hit, f.model.wantsRef}, nil, true
				}
			case doLeave:
				return Choice{}, ErrCancelled, true
			}
		}
	}
	return Choice{}, nil, false
}

// A searchResult is what a search has found.
type searchResult struct {
	typed  string
	answer query.SearchAnswer
	err    error
}

func (f *finder) search(ctx context.Context) {
	typed, limit := f.model.prompt.String(), f.model.wanted()
	f.model.searching = true
	f.searches.start(ctx, func(ctx context.Context) any {
		answer, err := f.source.Search(ctx, typed, limit)
		return searchResult{typed, answer, err}
	})
}

func (f *finder) searched(ctx context.Context, result searchResult) {
	if f.searches.finished(ctx) {
		return // another one is wanted
	}
	f.model.searching = false
	f.model.failure = result.err
	if result.err != nil {
		f.model.choosing = false
	} else {
		f.model.setHits(result.typed, result.answer)
	}
	f.showText(ctx)
}

// A textResult is a text that was read.
type textResult struct {
	key  textKey
	text Text
	err  error
}

// showText reads the text of the selected hit, unless it is shown already.
func (f *finder) showText(ctx context.Context) {
	key, hit := f.model.textWanted()
	if hit == nil || key == f.model.asked {
		return
	}
	f.model.asked = key
	copied := *hit
	f.texts.start(ctx, func(ctx context.Context) any {
		text, err := f.source.Text(ctx, key.typed, copied, key.whole)
		return textResult{key, text, err}
	})
}

// A refreshResult says whether anything was new.
type refreshResult struct {
	changed bool
	err     error
}

func (f *finder) refresh(ctx context.Context) {
	f.refreshes.start(ctx, func(ctx context.Context) any {
		changed, err := f.source.Refresh(ctx)
		return refreshResult{changed, err}
	})
}

func (f *finder) refreshed(ctx context.Context, result refreshResult) {
	f.refreshes.finished(ctx)
	f.model.fresh = true
	f.model.stale = result.err
	if result.changed {
		f.search(ctx)
	}
}

// A worker runs one task at a time beside the screen. A task that is started while
// another runs takes the place of any that waits, and the running one is told to
// end.
type worker struct {
	done   chan any // what a task returned; one is ever in it
	busy   bool
	cancel context.CancelFunc // of the task that runs
	next   func(context.Context) any
}

func newWorker() worker { return worker{done: make(chan any, 1)} }

// start runs task as soon as no other does.
func (w *worker) start(ctx context.Context, task func(context.Context) any) {
	if w.busy {
		w.next = task
		w.cancel()
		return
	}
	w.busy = true
	ctx, w.cancel = context.WithCancel(ctx)
	go func() { w.done <- task(ctx) }()
}

// finished is called with each value from done. It starts the task that waits, and
// reports whether there was one: then the value is of no interest any more.
func (w *worker) finished(ctx context.Context) (overtaken bool) {
	w.cancel()
	w.busy = false
	next := w.next
	if next == nil {
		return false
	}
	w.next = nil
	w.start(ctx, next)
	return true
}
