package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"filebus/materialize/remote"
	"filebus/store/record"
)

// The stores that the suite plays.
const (
	storeA = record.StoreID("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
	storeB = record.StoreID("bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb")
)

// patience is how long anything may take.
const patience = 30 * time.Second

// testTransport tests one. Each call of place makes a remote in which nothing is, and returns how
// it is opened, once for each machine.
func testTransport(t *testing.T, place func(t *testing.T) (open func() remote.Transport)) {
	for _, test := range []struct {
		label string
		run   func(t *testing.T, open func() remote.Transport)
	}{
		{"blobs", testBlobs}, {"list", testList}, {"zero name", testZeroName}, {"wrong size", testWrongSize},
		{"large body", testLargeBody}, {"many stores", testManyStores}, {"whole", testWhole}, {"failing reader", testFailingReader},
		{"wait", testWait}, {"wait ends", testWaitEnds}, {"cancelled", testCancelled},
	} {
		t.Run(test.label, func(t *testing.T) {
			open := place(t)
			test.run(t, func() remote.Transport {
				r := open()
				t.Cleanup(func() {
					if err := r.Close(); err != nil {
						t.Errorf("Close: %v", err)
					}
				})
				return r
			})
		})
	}
}

func put(t *testing.T, r remote.Transport, name remote.Name, text string) {
	t.Helper()
	if err := r.Put(t.Context(), name, int64(len(text)), strings.NewReader(text)); err != nil {
		t.Fatalf("Put of %s: %v", name, err)
	}
}

func get(ctx context.Context, r remote.Transport, name remote.Name) (string, error) {
	blob, err := r.Get(ctx, name)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(blob)
	return string(text), errors.Join(err, blob.Close())
}

// wants checks what is under a name. "" is absence.
func wants(t *testing.T, r remote.Transport, name remote.Name, want string) {
	t.Helper()
	got, err := get(t.Context(), r, name)
	if want == "" && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Get of %s, which is absent = %.40q, %v", name, got, err)
	} else if want != "" && (err != nil || got != want) {
		t.Errorf("Get of %s = %d bytes %.40q, %v; want %d bytes %.40q", name, len(got), got, err, len(want), want)
	}
}

func list(t *testing.T, r remote.Transport) *remote.Listing {
	t.Helper()
	l, err := r.List(t.Context())
	if err != nil {
		t.Fatalf("List: %v", err)
	}
	return l
}

func span(first, last uint64) remote.Span {
	return remote.Span{Origin: storeA, First: first, Last: last}
}

func testBlobs(t *testing.T, open func() remote.Transport) {
	here, there := open(), open()
	for _, name := range []remote.Name{
		remote.StateName(storeA), remote.SegmentName(storeA, span(1, 7)), remote.SegmentName(storeB, span(1, 7)),
		remote.BodyName(storeA, record.DigestOf([]byte("x"))),
	} {
		wants(t, there, name, "")
		put(t, here, name, "one of "+name.String())
		wants(t, there, name, "one of "+name.String())
		put(t, here, name, "two\x00\r\n")
		wants(t, there, name, "two\x00\r\n")
		for range 2 {
			if err := here.Remove(t.Context(), name); err != nil {
				t.Errorf("Remove of %s: %v", name, err)
			}
			wants(t, there, name, "")
		}
	}
	put(t, here, remote.StateName(storeA), "of A")
	put(t, there, remote.StateName(storeB), "of B")
	wants(t, there, remote.StateName(storeA), "of A")
}

func testList(t *testing.T, open func() remote.Transport) {
	here, there := open(), open()
	if l := list(t, here); len(l.Blobs) != 0 || len(l.Strays) != 0 {
		t.Errorf("List of nothing = %+v", l)
	}
	other := remote.Span{Origin: storeB, First: 1, Last: 1}
	spans := []remote.Span{span(1, 2), span(1, 10), span(3, 9), span(10, 1<<63), span(1<<63, 1<<64-1), other}
	for _, i := range rand.New(rand.NewPCG(1, 6)).Perm(len(spans)) {
		put(t, here, remote.SegmentName(storeA, spans[i]), "x")
	}
	put(t, here, remote.StateName(storeB), "x")
	put(t, here, remote.BodyName(storeA, record.DigestOf(nil)), "x")
	l := list(t, there)
	var want []remote.Name
	for _, s := range spans {
		want = append(want, remote.SegmentName(storeA, s))
	}
	if want = append(want, remote.StateName(storeB)); !slices.Equal(l.Blobs, want) || len(l.Strays) != 0 {
		t.Errorf("List = %+v, want %v and no strays", l, want)
	}
	if err := here.Remove(t.Context(), remote.SegmentName(storeA, span(3, 9))); err != nil {
		t.Fatal(err)
	}
	if got := len(Spans(list(t, open()))); got != len(spans)-1 {
		t.Errorf("%d segments are listed after one of %d was removed", got, len(spans))
	}
}

func testZeroName(t *testing.T, open func() remote.Transport) {
	r := open()
	_, err := r.Get(t.Context(), remote.Name{})
	for _, err := range []error{err, r.Put(t.Context(), remote.Name{}, 0, strings.NewReader("")), r.Remove(t.Context(), remote.Name{})} {
		if !errors.Is(err, record.Usage) {
			t.Errorf("the zero name: %v, want a usage error", err)
		}
	}
}

func testWrongSize(t *testing.T, open func() remote.Transport) {
	r, name := open(), remote.StateName(storeA)
	put(t, r, name, "old")
	for _, size := range []int64{0, 3, 5} {
		if err := r.Put(t.Context(), name, size, strings.NewReader("text")); err == nil {
			t.Errorf("Put of 4 bytes as %d: no error", size)
		}
		wants(t, r, name, "old")
	}
}

func testFailingReader(t *testing.T, open func() remote.Transport) {
	r, name, broken := open(), remote.StateName(storeA), errors.New("broken")
	from := io.MultiReader(strings.NewReader("te"), &failing{broken})
	if err := r.Put(t.Context(), name, 4, from); !errors.Is(err, broken) {
		t.Errorf("Put = %v, want that of the reader", err)
	}
	wants(t, r, name, "")
	if l := list(t, r); len(l.Blobs) != 0 || len(l.Strays) != 0 {
		t.Errorf("List = %+v, want nothing", l)
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

func testLargeBody(t *testing.T, open func() remote.Transport) {
	text := make([]byte, 5<<20)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(text) // never fails
	name := remote.BodyName(storeA, record.DigestOf(text))
	if err := open().Put(t.Context(), name, int64(len(text)), iotestReader{bytes.NewReader(text)}); err != nil {
		t.Fatal(err)
	}
	got, err := get(t.Context(), open(), name)
	if err != nil || record.DigestOf([]byte(got)) != record.DigestOf(text) {
		t.Errorf("Get = %d bytes, %v; want the %d that were put", len(got), err, len(text))
	}
}

// An iotestReader returns odd pieces and knows nothing but Read.
type iotestReader struct{ in io.Reader }

func (r iotestReader) Read(p []byte) (int, error) { return r.in.Read(p[:min(len(p), 4093)]) }

// testManyStores has several machines write at once, each for its own store.
func testManyStores(t *testing.T, open func() remote.Transport) {
	const stores, segments = 8, 10
	var group sync.WaitGroup
	for s := range stores {
		r, teller := open(), record.StoreID(strings.Repeat(fmt.Sprint(s), 32))
		group.Go(func() {
			for n := range uint64(segments) {
				name := remote.SegmentName(teller, remote.Span{Origin: teller, First: n + 1, Last: n + 1})
				if err := r.Put(t.Context(), name, 32, strings.NewReader(string(teller))); err != nil {
					t.Error(err)
				}
				if _, err := r.List(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	r := open()
	l := list(t, r)
	if got := len(Spans(l)); got != stores*segments || len(l.Strays) != 0 {
		t.Errorf("%d segments and the strays %v, want %d and none", got, l.Strays, stores*segments)
	}
	for _, name := range l.Blobs {
		wants(t, r, name, string(name.Teller()))
	}
}

// testWhole reads while a blob is replaced: it is the old or the new one.
func testWhole(t *testing.T, open func() remote.Transport) {
	writer, reader, name := open(), open(), remote.StateName(storeA)
	texts := []string{strings.Repeat("a", 100_000), strings.Repeat("b", 300_000)}
	put(t, writer, name, texts[0])
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := range 30 {
			text := texts[n%2]
			if err := writer.Put(t.Context(), name, int64(len(text)), iotestReader{strings.NewReader(text)}); err != nil {
				t.Error(err)
			}
		}
	}()
	for {
		if got, err := get(t.Context(), reader, name); err != nil || got != texts[0] && got != texts[1] {
			t.Errorf("Get = %d bytes, %v; want the old or the new text", len(got), err)
		}
		select {
		case <-done:
			return
		default:
		}
	}
}

func testWait(t *testing.T, open func() remote.Transport) {
	here, there := open(), open()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := there.Wait(ctx); err != nil {
		t.Errorf("Wait before any List: %v", err)
	}
	for n := range uint64(3) {
		name := remote.SegmentName(storeA, span(n+1, n+1))
		var putting sync.WaitGroup // what is listed may still be made durable
		putting.Go(func() {
			time.Sleep(20 * time.Millisecond) // so that the wait has begun, as a rule
			if err := here.Put(ctx, name, 1, strings.NewReader("x")); err != nil {
				t.Error(err)
			}
		})
		for len(Spans(list(t, there))) <= int(n) {
			if err := there.Wait(ctx); err != nil {
				t.Fatalf("Wait for %s: %v", name, err)
			}
		}
		putting.Wait()
	}
	list(t, there)
	put(t, here, remote.StateName(storeA), "between the list and the wait")
	for !slices.Contains(list(t, there).Blobs, remote.StateName(storeA)) {
		if err := there.Wait(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// testWaitEnds waits where nothing changes.
func testWaitEnds(t *testing.T, open func() remote.Transport) {
	r := open()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	early := 0
	for ; ; early++ {
		list(t, r)
		if err := r.Wait(ctx); errors.Is(err, context.DeadlineExceeded) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if early > 3 {
		t.Errorf("Wait returned %d times though nothing changed", early)
	}
}

func testCancelled(t *testing.T, open func() remote.Transport) {
	r, name := open(), remote.StateName(storeA)
	list(t, r)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, listing := r.List(ctx)
	_, getting := r.Get(ctx, name)
	for label, err := range map[string]error{
		"List": listing, "Get": getting, "Put": r.Put(ctx, name, 1, strings.NewReader("x")), "Remove": r.Remove(ctx, name), "Wait": r.Wait(ctx),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a context that is over = %v", label, err)
		}
	}
	wants(t, r, name, "")
}
