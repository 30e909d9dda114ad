package remote

import (
	"errors"
	"io"
	"testing"
)

// TestAwayIsNoEnd: a server that ends, which is io.EOF, must not look like the end of what is read from it.
func TestAwayIsNoEnd(t *testing.T) {
	t.Parallel()
	err := (&natsRemote{}).unconnected(io.EOF)
	if !errors.Is(err, ErrAway) || errors.Is(err, io.EOF) {
		t.Errorf("a connection that ended = %v, want that the remote is away, and no end", err)
	}
}
