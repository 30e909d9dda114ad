package remote_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"filebus/materialize/remote"
	"filebus/store"
	"filebus/store/bundle"
	"filebus/store/record"
)

// told returns how many bytes of its own log a machine has in the remote.
func (m met) told(of *machine) (size int) {
	for _, p := range m.Paths() {
		if strings.HasPrefix(p, string(of.id())+"/log/"+string(of.id())) {
			size += len(m.Blob(p))
		}
	}
	return size
}

// What a store has taken in is passed over in what it tells of its log. Those that hear it, retell it, or had heard
// all of it from an older program know the same in the end; and what is destroyed is destroyed everywhere.
func TestPass(t *testing.T) {
	t.Parallel()
	m := newMet(t)
	for i := range 300 {
		m.a.put(fmt.Sprint("many/", i), fmt.Sprint("text ", i))
	}
	m.a.push()
	m.c.pull()
	before := m.told(m.c)
	m.c.push()
	if out := m.c.push(); out.Segments > 0 || m.told(m.c) > before {
		t.Errorf("a store that has only taken in tells %d segments", out.Segments)
	}
	m.b.pull()
	ref := m.b.put("one", "what is destroyed")
	m.b.push()
	if size := m.told(m.b); size > 4000 {
		t.Errorf("b tells %d bytes of its log", size)
	}
	m.c.pull()
	m.c.put("of-c", "the text of c")
	m.c.push()
	m.a.pull()
	m.b.pull()
	wantSame(t, m.a, m.b, m.c)

	for _, p := range m.Paths() { // all is lost, and b silent: c tells its log on
		m.Plant(p, nil)
	}
	m.c.clock.now = m.c.clock.now.Add(2 * time.Hour)
	m.a.push()
	m.c.push()
	d := newMachine(t, "d", m.Open(), time.Hour)
	trusts(m.a, m.b, m.c, d)
	if out := d.pull(); reasons(out) != "" {
		t.Errorf("d refuses: %s", reasons(out))
	}
	wantSame(t, m.a, m.b, m.c, d)

	m.a.purge(ref) // which is of b
	for range 3 {
		for _, each := range []*machine{m.a, m.b, m.c, d} {
			each.pull()
			each.forget()
			each.push()
		}
	}
	wantSame(t, m.a, m.b, m.c, d)
	status, err := m.a.replica().Status(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range status.Peers {
		if !p.IsOwn && (p.Gone != "confirmed" || p.Behind > 0 || p.There != p.Here) {
			t.Errorf("%s: destroyed there: %s; %d entries behind; %d of its log are there, %d here", p.Label, p.Gone, p.Behind, p.There, p.Here)
		}
	}
	for _, p := range m.Paths() {
		if bytes.Contains(m.Blob(p), []byte("what is destroyed")) {
			t.Errorf("%s has what was destroyed", p)
		}
	}
}

// Who trusts only one of two that go on from each other's texts has its texts, and no conflict among them.
func TestPassTrusted(t *testing.T) {
	t.Parallel()
	m := newMet(t)
	for i, each := range []*machine{m.b, m.a, m.a, m.b, m.a, m.b} {
		each.pull()
		each.put("n", fmt.Sprint("text ", i))
		each.push()
	}
	d := newMachine(t, "d", m.Open(), time.Hour)
	trusts(m.b, d)
	d.pull()
	if known := d.known(); len(known.Conflicts) > 0 || d.head("n") != "text 5" {
		t.Errorf("the note is %q; conflicts: %q", d.head("n"), known.Conflicts)
	}
}

// A log that an older program has told whole goes on where that ended, and gets smaller where it is written anew.
func TestPassOld(t *testing.T) {
	t.Parallel()
	m := newMet(t)
	m.b.pull()
	old := func() {
		t.Helper()
		var text bytes.Buffer
		written, err := bundle.Write(context.Background(), m.b.Store, &text, bundle.Request{
			After: 1, Picks: func(_ *store.Tx, r *record.Record, _ store.Content) bool { return r.Origin == m.b.id() },
		})
		if err == nil {
			name := remote.SegmentName(m.b.id(), remote.Span{Origin: m.b.id(), First: 2, Last: written.End.Position})
			err = remote.Publish(context.Background(), m.b.through, m.b.key(), name, text.Bytes())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	old()
	id := m.b.id()
	m.c.pull()
	ref := m.b.put("of-b", "another text of b")
	m.b.push()
	m.c.pull()
	m.b.purge(ref)
	m.b.push()
	if m.b.id() != id {
		t.Error("b goes on under another id")
	}
	d := newMachine(t, "d", m.Open(), time.Hour)
	trusts(m.a, m.b, m.c, d)
	for range 2 {
		for _, each := range []*machine{m.a, m.c, d} {
			if out := each.pull(); reasons(out) != "" {
				t.Errorf("%s refuses: %s", each.label, reasons(out))
			}
			each.push()
		}
	}
	wantSame(t, m.a, m.b, m.c, d)
}

// Who tells on another store's log cannot leave out what its owner has said.
func TestPassForged(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		version string
		first   uint64
		knows   bool // d trusts b, whose log it is
		says    string
	}{
		"nobody has signed it": {"2", 1, true, "has not signed that they pass"},
		"of an unknown store":  {"2", 1, false, ""}, // it is the word of c
		"of an older version":  {"1", 1, false, "entries are missing"},
		"behind others":        {"2", 2, false, "entries are missing"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMet(t)
			m.b.purge(m.b.put("of-b-too", "another text of b"))
			var text bytes.Buffer
			written, err := bundle.Write(context.Background(), m.b.Store, &text, bundle.Request{})
			if err != nil {
				t.Fatal(err)
			}
			head, _, _ := strings.Cut(text.String(), "entry ")
			pass := store.Entry{Position: written.End.Position, Time: time.Now(), Op: store.OpPass, Ref: record.Ref(written.End.Chain)}
			forged := strings.Replace(head, "bundle 1", "bundle "+test.version, 1)
			for _, field := range [][2]string{
				{"entry", string(pass.Encode())}, {"pass", fmt.Sprint(test.first, " ", strings.Repeat("00", 64))}, {"end", written.End.String()},
			} {
				forged += fmt.Sprintf("%s %d %s\n", field[0], len(field[1]), field[1])
			}
			segment := remote.SegmentName(m.c.id(), remote.Span{Origin: m.b.id(), First: 1, Last: written.End.Position})
			if err := remote.Publish(context.Background(), m.c.through, m.c.key(), segment, []byte(forged)); err != nil {
				t.Fatal(err)
			}
			d := newMachine(t, "d", m.Open(), time.Hour)
			trusts(m.a, m.c, d)
			if test.knows {
				trusts(m.b, d)
			}
			m.Hide = func(n remote.Name) bool { return n.Teller() == m.b.id() }
			var heard uint64
			out := d.pull()
			d.view(func(tx *store.Tx) (err error) { heard, _, err = tx.Heard(m.b.id()); return err })
			if got := reasons(out); !strings.Contains(got, test.says) || (got == "") != (test.says == "") || (heard == 0) == (test.says == "") {
				t.Errorf("d says %q, and has heard %d entries", got, heard)
			}
		})
	}
}
