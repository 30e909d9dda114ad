package remote_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"filebus/materialize/remote"
	"filebus/store/bundle"
	"filebus/store/record"
)

// plain returns all that the segments of a remote say.
func (m met) plain(t *testing.T) (all []byte) {
	t.Helper()
	for _, p := range m.Paths() {
		if !strings.Contains(p, "/log/") {
			continue
		}
		content, _, err := remote.Fetch(t.Context(), m.a.through, remoteName(t, p), nil)
		if err == nil {
			content, err = bundle.Unpack(m.a.Store, content)
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, content...)
	}
	return all
}

// Long pieces are packed, and less than half as long; what is destroyed is taken out of them.
func TestPacked(t *testing.T) {
	t.Parallel()
	m := newMet(t)
	var refs []record.Ref
	for i := range 200 {
		refs = append(refs, m.a.put(fmt.Sprint("note", i), fmt.Sprint("the text number ", i)))
	}
	m.a.push()
	m.b.pull()
	m.a.pull()
	wantSame(t, m.a, m.b)
	size := 0
	for _, p := range m.Paths() {
		if bytes.Contains(m.Blob(p), []byte("filebus bundle 3\n")) {
			size += len(m.Blob(p))
		}
	}
	if all := m.plain(t); size == 0 || size > len(all)/2 || !bytes.Contains(all, []byte("the text number 150")) {
		t.Errorf("the packed pieces have %d bytes, and all say %d", size, len(all))
	}
	m.a.purge(refs[150])
	m.a.push()
	m.b.pull()
	m.a.pull()
	if all := m.plain(t); bytes.Contains(all, []byte("the text number 150")) || !bytes.Contains(all, []byte("the text number 151")) {
		t.Error("what was destroyed is still there, or more is gone")
	}
	wantSame(t, m.a, m.b)
}
