package web_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"filebus/cmd/filebus/web"
)

// A log is a log that a test writes, and that counts who follows it.
type log struct {
	following, started atomic.Int64
	entries            chan string
	broken             atomic.Bool
}

func newLog() *log { return &log{entries: make(chan string)} }

func (l *log) follow(ctx context.Context, entry func([]byte)) error {
	l.started.Add(1)
	l.following.Add(1)
	defer l.following.Add(-1)
	for {
		if l.broken.Load() {
			return errors.New("the store is gone")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case line := <-l.entries:
			entry([]byte(line))
		}
	}
}

// A stream is what a page hears.
type stream struct {
	lines chan string
	close func()
}

func (s *server) listen(t *testing.T, lines ...string) *stream {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	response, err := s.open(ctx, "GET", "/events", append(lines, "Cookie: "+s.cookie)...)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("the stream is %s, %s", response.Status, response.Header.Get("Content-Type"))
	}
	heard := &stream{lines: make(chan string, 1000), close: cancel}
	t.Cleanup(cancel)
	go func() {
		for scanner := bufio.NewScanner(response.Body); scanner.Scan(); {
			heard.lines <- scanner.Text()
		}
		close(heard.lines)
		_ = response.Body.Close() // its reader is done
	}()
	return heard
}

// hears waits for a line.
func (s *stream) hears(t *testing.T, want string) {
	t.Helper()
	for late := time.After(time.Minute); ; {
		select {
		case line, ok := <-s.lines:
			if line == want {
				return
			}
			if !ok {
				t.Fatalf("the stream ended before %q", want)
			}
		case <-late:
			t.Fatalf("not heard: %q", want)
		}
	}
}

// TestNobodyLooks follows the log once for all pages, and not at all without one.
func TestNobodyLooks(t *testing.T) {
	t.Parallel()
	l := newLog()
	s := serve(t, &web.Site{Follow: l.follow})
	s.ask(t, "GET", "/", "Cookie: "+s.cookie)
	if n := l.started.Load(); n != 0 {
		t.Errorf("the log is followed %d times before a page listens", n)
	}
	for range 3 {
		first, second := s.listen(t), s.listen(t)
		first.hears(t, ": hello")
		second.hears(t, ": hello")
		l.entries <- `{"position":7,"names":["a\nb"]}`
		first.hears(t, `data: {"position":7,"names":["a\nb"]}`)
		second.hears(t, `data: {"position":7,"names":["a\nb"]}`)
		if n := l.following.Load(); n != 1 {
			t.Errorf("two pages follow the log %d times", n)
		}
		first.close()
		l.entries <- `{"position":8}`
		second.hears(t, `data: {"position":8}`)
		second.close()
		wait(t, "the follower to end", func() bool { return l.following.Load() == 0 })
	}
	if n := l.started.Load(); n != 3 {
		t.Errorf("the log was followed %d times, want 3", n)
	}
}

// TestReconnect tells a page that comes back that it has missed something.
func TestReconnect(t *testing.T) {
	t.Parallel()
	l := newLog()
	s := serve(t, &web.Site{Follow: l.follow})
	page := s.listen(t)
	l.entries <- `{}`
	page.hears(t, "id: 1")
	page.close()
	s.listen(t, "Last-Event-ID: 1").hears(t, "event: gap")
	s.listen(t, "Last-Event-ID: -9 viel").hears(t, "event: gap")
}

// TestLostLog tells pages to look anew when the log cannot be followed, and follows it again.
func TestLostLog(t *testing.T) {
	t.Parallel()
	l := newLog()
	l.broken.Store(true)
	s := serve(t, &web.Site{Follow: l.follow})
	page := s.listen(t)
	page.hears(t, "data: {}")
	l.broken.Store(false)
	select {
	case l.entries <- `{"position":1}`:
	case <-time.After(time.Minute):
		t.Fatal("the log is not followed again")
	}
	page.hears(t, `data: {"position":1}`)
}

// TestManyStreams opens far too many streams: those above the bound are refused in words, and when
// they are gone there is room again.
func TestManyStreams(t *testing.T) {
	l := newLog()
	s := serve(t, &web.Site{Follow: l.follow})
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	var open, refused atomic.Int64
	for range 1000 {
		wg.Go(func() {
			response, err := s.open(ctx, "GET", "/events", "Cookie: "+s.cookie)
			if err != nil {
				t.Error(err)
				return
			}
			if response.StatusCode == http.StatusOK {
				open.Add(1)
				context.AfterFunc(ctx, func() { _ = response.Body.Close() }) // only ended here
				return
			}
			said, err := io.ReadAll(response.Body)
			if err := errors.Join(err, response.Body.Close()); err != nil {
				t.Error(err)
			}
			if response.StatusCode != http.StatusServiceUnavailable || string(said) != "too many pages are open\n" {
				t.Errorf("a stream too many is answered with %s: %s", response.Status, said)
			}
			refused.Add(1)
		})
	}
	wg.Wait()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if open.Load() != 100 || refused.Load() != 900 {
		t.Errorf("%d streams are open and %d refused, want 100 and 900", open.Load(), refused.Load())
	}
	if grown := int64(after.HeapInuse) - int64(before.HeapInuse); grown > 20<<20 { // with what the test itself has
		t.Errorf("the heap has grown by %d bytes", grown)
	}
	if n := l.started.Load(); n != 1 {
		t.Errorf("the log is followed %d times", n)
	}
	cancel()
	wait(t, "the streams to end", func() bool { return l.following.Load() == 0 })
	s.listen(t).hears(t, ": hello")
}

// TestSlowPage lets a page read nothing while much happens: the others hear all the same, and it
// hears some when it reads again.
func TestSlowPage(t *testing.T) {
	t.Parallel()
	l := newLog()
	s := serve(t, &web.Site{Follow: l.follow})
	slow, err := s.open(t.Context(), "GET", "/events", "Cookie: "+s.cookie)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = slow.Body.Close() }() // only read from
	quick := s.listen(t)
	quick.hears(t, ": hello")
	line := strings.Repeat("x", 4<<10)
	for i := range 2000 {
		l.entries <- fmt.Sprint(line, i)
		quick.hears(t, fmt.Sprint("data: ", line, i))
	}
	scanner := bufio.NewScanner(slow.Body)
	for scanner.Scan() {
		if strings.HasPrefix(scanner.Text(), "data: x") {
			return
		}
	}
	t.Errorf("the slow page hears nothing: %v", scanner.Err())
}
