package materialize_test

import (
	"bytes"
	"errors"
	"testing"

	"filebus/materialize"
	"filebus/store/bundle"
)

// TestApplyDamaged applies a bundle again of which a digit has changed: nobody else's log is to blame.
func TestApplyDamaged(t *testing.T) {
	t.Parallel()
	there, here := newWorkspace(t), newWorkspace(t)
	put(t, there, "note/a.md", "text")
	var out bytes.Buffer
	if _, err := bundle.Write(t.Context(), there.Store, &out, bundle.Request{}); err != nil {
		t.Fatal(err)
	}
	if _, err := here.Apply(t.Context(), bytes.NewReader(out.Bytes())); err != nil {
		t.Fatal(err)
	}
	damaged := out.Bytes()
	damaged[bytes.Index(damaged, []byte("Z put"))-1] ^= 1
	_, err := here.Apply(t.Context(), bytes.NewReader(damaged))
	if !errors.Is(err, bundle.ErrMalformed) || errors.Is(err, materialize.ErrOtherLog) {
		t.Errorf("a damaged bundle: %v", err)
	}
}
