package web_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"filebus/cmd/filebus/web"
)

// TestLongTexts has six pages of long texts made, which do not end: the first page answers all the same.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	begun, end := make(chan struct{}, 6), make(chan struct{})
	s := serve(t, &web.Site{Ask: func(ctx context.Context, _ any, args ...string) error {
		if args[0] != "show" {
			return nil
		}
		begun <- struct{}{}
		select {
		case <-end:
		case <-ctx.Done():
		}
		return ctx.Err()
	}})
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() { s.ask(t, "GET", "/record?name=note/big.md", "Cookie: "+s.cookie) })
	}
	<-begun
	if response, _ := s.ask(t, "GET", "/", "Cookie: "+s.cookie); response.StatusCode != http.StatusOK {
		t.Errorf("the first page: %s", response.Status)
	}
	if len(begun) > 0 {
		t.Errorf("%d more are made at once", len(begun))
	}
	close(end)
	all.Wait()
}
