package issue

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"filebus/cmd/filebus/noun"
	"filebus/materialize/layout"
	"filebus/materialize/mirror"
	"filebus/query"
	"filebus/store/record"
)

// waitFor waits while another goroutine does something.
func waitFor(t *testing.T, f *fixture, from uint64, do func()) ([]Issue, error) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	found, err := f.Wait(t.Context(), WaitOptions{From: from, Waiter: mirror.Waiter{Limit: time.Minute}, Taking: true})
	<-done
	return found, err
}

func TestWait(t *testing.T) {
	t.Parallel()
	add := func(t *testing.T, f *fixture, _ string) { f.mustAdd(t, layout.Issue{Summary: "new", Type: "bug"}) }
	for _, c := range []struct {
		name string
		do   func(t *testing.T, f *fixture, old string)
		want string
	}{
		{"added", add, "ISSUE-21000302-002"},
		{"reopened", func(t *testing.T, f *fixture, old string) { f.mustDo(t, "reopen", old, noun.Act{}) }, "ISSUE-21000302-001"},
		{"by hand", func(t *testing.T, f *fixture, _ string) {
			f.write(t, f.text(t)+"\n"+entry("ISSUE-21000302-050", "Status=pending", "Type=bug"))
		}, "ISSUE-21000302-050"},
		{"after what is not new", func(t *testing.T, f *fixture, old string) {
			if _, err := f.Edit(t.Context(), old, layout.Issue{Loop: "2"}, []string{"loop"}); err != nil {
				t.Error(err)
			}
			add(t, f, old)
		}, "ISSUE-21000302-002"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newQueue(t)
			f.now = time.Date(2100, 3, 2, 10, 0, 0, 0, time.UTC) // files count as still
			old := f.mustAdd(t, layout.Issue{Summary: "old", Type: "bug"}).ID
			f.mustDo(t, "done", old, noun.Act{})
			from, err := query.Position(t.Context(), f.work.Store)
			if err != nil {
				t.Fatal(err)
			}
			found, err := waitFor(t, f, from, func() { c.do(t, f, old) })
			if err != nil || len(found) != 1 || found[0].ID != c.want {
				t.Errorf("waiting found %+v, %v; want %s", found, err, c.want)
			}
		})
	}
}

func TestWaitEnds(t *testing.T) {
	t.Parallel()
	f := newQueue(t)
	f.mustAdd(t, layout.Issue{Summary: "old", Type: "bug"})
	from, err := query.Position(t.Context(), f.work.Store)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Wait(t.Context(), WaitOptions{From: from, Waiter: mirror.Waiter{Limit: time.Millisecond}})
	if late := (*record.Error)(nil); !errors.As(err, &late) || late.Hint != "filebus issue wait --since @{1}" ||
		late.Names[0] != fmt.Sprint(from) {
		t.Errorf("after its time: %v, want no new from %d", err, from)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = f.Wait(ctx, WaitOptions{From: from, Waiter: mirror.Waiter{Limit: time.Minute}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if found, err := f.Wait(t.Context(), WaitOptions{From: 0, Waiter: mirror.Waiter{Limit: time.Minute}}); err != nil || len(found) != 1 {
		t.Errorf("from the beginning: %+v, %v; want the one that there is", found, err)
	}
}
