package remote_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filebus/materialize"
	"filebus/materialize/remote"
	"filebus/store"
	"filebus/store/bundle"
	"filebus/store/record"
)

// A met is three machines over a remote in memory: a has told the notes one, two and three, each in a segment
// of its own, and b the note of-b; c has heard nothing yet.
type met struct {
	*memory
	a, b, c *machine
}

func newMet(t *testing.T) met {
	m := met{memory: newMemory()}
	m.a, m.b, m.c = newMachine(t, "a", m.Open(), 0), newMachine(t, "b", m.Open(), time.Minute), newMachine(t, "c", m.Open(), 2*time.Minute)
	trusts(m.a, m.b, m.c)
	for _, id := range []string{"one", "two", "three"} {
		m.a.put(id, "the text of "+id)
		m.a.push()
	}
	m.b.put("of-b", "the text of b")
	m.b.push()
	return m
}

// segment returns the path of the n-th segment that a machine has told of its own log.
func (m met) segment(of *machine, n int) string {
	var all []string
	for _, p := range m.Paths() {
		if strings.HasPrefix(p, string(of.id())+"/log/"+string(of.id())+"/") {
			all = append(all, p)
		}
	}
	return all[n]
}

// alter gives a blob another text.
func (m met) alter(path string, change func([]byte) []byte) { m.Plant(path, change(m.Blob(path))) }

// reasons returns why something was not taken in.
func reasons(out *remote.Pulled) string {
	var all []string
	for _, r := range append(slices.Clone(out.Refused), out.Waiting...) {
		all = append(all, r.Reason)
	}
	return strings.Join(all, "\n")
}

// What others, disks and programs do to a remote costs nothing but what they do it to: the rest is taken in, the
// message names it, and what a machine has comes again.
func TestBadRemote(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		do    func(*testing.T, met)
		says  string // in what is refused, or waited for; "": nothing
		has   string // the notes of a that c has
		heals bool   // when a has pushed again and c pulled
	}{
		{"a segment in the middle is missing", func(_ *testing.T, m met) { m.Plant(m.segment(m.a, 1), nil) }, "are not there yet", "one", true},
		{"the last one is missing", func(_ *testing.T, m met) { m.Plant(m.segment(m.a, 2), nil) }, "", "one two", true},
		{"a cut segment", func(_ *testing.T, m met) {
			m.alter(m.segment(m.a, 1), func(text []byte) []byte { return text[:len(text)/2] })
		}, "malformed", "one", true},
		{"an empty segment", func(_ *testing.T, m met) { m.Plant(m.segment(m.a, 1), []byte{}) }, "malformed", "one", true},
		{"a flipped bit in the last", func(_ *testing.T, m met) {
			m.alter(m.segment(m.a, 2), func(text []byte) []byte { text[len(text)-9] ^= 4; return text })
		}, "forged", "one two", true},
		{"a flipped bit in the first", func(_ *testing.T, m met) {
			m.alter(m.segment(m.a, 0), func(text []byte) []byte { text[len(text)-9] ^= 4; return text })
		}, "forged", "", true},
		{"a cut state", func(_ *testing.T, m met) {
			m.alter(string(m.a.id())+"/state", func(text []byte) []byte { return text[:10] })
		}, "malformed", "one two three", true},
		{"a conflicted copy", func(_ *testing.T, m met) {
			m.Plant(m.segment(m.a, 0)+" (conflicted copy)", []byte("x"))
			m.Plant(string(m.a.id())+"/state.sync-conflict-1", []byte("x"))
		}, "", "one two three", true},
		{"a segment under another name", func(_ *testing.T, m met) {
			m.Plant(m.segment(m.a, 1), m.Blob(m.segment(m.a, 0)))
		}, "forged", "one", true},
		{"two segments exchanged", func(_ *testing.T, m met) {
			one, two := m.segment(m.a, 0), m.segment(m.a, 1)
			text := m.Blob(one)
			m.Plant(one, m.Blob(two))
			m.Plant(two, text)
		}, "forged", "", true},
		{"a segment below another store", func(_ *testing.T, m met) {
			m.Plant(strings.Replace(m.segment(m.a, 0), string(m.a.id()), string(m.b.id()), 1), m.Blob(m.segment(m.a, 0)))
		}, "", "one two three", true},
		{"a segment of a newer version", func(_ *testing.T, m met) {
			m.alter(m.segment(m.a, 1), func(text []byte) []byte {
				return bytes.Replace(text, []byte("filebus signed 1"), []byte("filebus signed 9"), 1)
			})
		}, "a newer filebus has made", "one", true},
		{"garbage far behind the end", func(_ *testing.T, m met) {
			m.Plant(remote.SegmentName(m.a.id(), remote.Span{Origin: m.a.id(), First: 1, Last: 1 << 40}).String(), []byte("x"))
		}, "", "one two three", true},
		{"an unknown key", func(t *testing.T, m met) {
			if err := m.c.trusted().Remove(m.a.id()); err != nil {
				t.Fatal(err)
			}
		}, "is not trusted; its key is", "", false},
		{"another key", func(t *testing.T, m met) {
			if err := os.RemoveAll(m.a.keys.Dir); err != nil {
				t.Fatal(err)
			}
			m.a.put("four", "the text of four")
			m.a.push()
		}, "and now signs with", "one two three", false},
		{"signed garbage", func(t *testing.T, m met) {
			err := remote.Publish(context.Background(), m.a.through, m.a.key(), remoteName(t, m.segment(m.a, 1)), []byte("filebus bundle 1\ngarbage"))
			if err != nil {
				t.Fatal(err)
			}
		}, "malformed", "one", true},
		{"signed and packed garbage", func(t *testing.T, m met) {
			err := remote.Publish(context.Background(), m.a.through, m.a.key(), remoteName(t, m.segment(m.a, 1)), []byte("filebus bundle 3\n\x01garbage"))
			if err != nil {
				t.Fatal(err)
			}
		}, "malformed", "one", true},
		{"a packed bundle that is packed", func(t *testing.T, m met) {
			text := []byte("filebus bundle 3\n\x00filebus bundle 3\n\x00filebus bundle 1\n")
			if err := remote.Publish(context.Background(), m.a.through, m.a.key(), remoteName(t, m.segment(m.a, 1)), text); err != nil {
				t.Fatal(err)
			}
		}, "this filebus knows", "one", true},
		{"a signed bundle of another version", func(t *testing.T, m met) {
			if err := remote.Publish(context.Background(), m.a.through, m.a.key(), remoteName(t, m.segment(m.a, 1)), []byte("filebus bundle 7\n")); err != nil {
				t.Fatal(err)
			}
		}, "this filebus knows", "one", true},
		{"a signed bundle of another origin", func(t *testing.T, m met) {
			var text bytes.Buffer
			if _, err := bundle.Write(context.Background(), m.b.Store, &text, bundle.Request{}); err != nil {
				t.Fatal(err)
			}
			if err := remote.Publish(context.Background(), m.a.through, m.a.key(), remoteName(t, m.segment(m.a, 1)), text.Bytes()); err != nil {
				t.Fatal(err)
			}
		}, "it is of the log of", "one", true},
		{"history rewritten", func(t *testing.T, m met) {
			other := newMachine(t, "other", m.Open(), 0) // a log that begins otherwise
			other.put("else", "another text")
			var text bytes.Buffer
			if _, err := bundle.Write(context.Background(), other.Store, &text, bundle.Request{}); err != nil {
				t.Fatal(err)
			}
			forged := bytes.ReplaceAll(text.Bytes(), []byte(other.id()), []byte(m.a.id()))
			if err := remote.Publish(context.Background(), m.a.through, m.a.key(), remoteName(t, m.segment(m.a, 0)), forged); err != nil {
				t.Fatal(err)
			}
		}, "malformed", "", true},
		{"a clock years ahead", func(t *testing.T, m met) {
			m.a.clock.now = m.a.clock.now.Add(10 * 365 * 24 * time.Hour)
			m.a.put("four", "the text of four")
			m.a.push()
			m.a.clock.now = m.a.clock.now.Add(-20 * 365 * 24 * time.Hour)
			m.a.put("five", "the text of five")
			m.a.push()
		}, "", "one two three four five", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newMet(t)
			test.do(t, m)
			wantA := func(when, want string) {
				t.Helper()
				var has []string
				for _, id := range []string{"one", "two", "three", "four", "five"} {
					if m.c.head(id) == "the text of "+id {
						has = append(has, id)
					}
				}
				if got := strings.Join(has, " "); got != want {
					t.Errorf("%s c has the notes %q of a, want %q", when, got, want)
				}
				if got := m.c.head("of-b"); got != "the text of b" {
					t.Errorf("%s the note of b is %q", when, got)
				}
			}
			out := m.c.pull()
			if got := reasons(out); !strings.Contains(got, test.says) || test.says == "" && got != "" {
				t.Errorf("it says %q, want %q", got, test.says)
			}
			wantA("at first", test.has)
			if !test.heals {
				return
			}
			for range 2 { // c says how far it is, a mends what is next
				m.c.push()
				m.a.push()
				m.c.pull()
			}
			wantA("healed,", strings.Join(append(strings.Fields("one two three"), strings.Fields(test.has)[min(3, len(strings.Fields(test.has))):]...), " "))
		})
	}
}

func remoteName(t *testing.T, path string) remote.Name {
	t.Helper()
	name, err := remote.ParseName(path)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// A blob that cannot be read keeps none of the others.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"state", "log"} {
		m := newMet(t)
		m.Before = func(op op, name remote.Name) error {
			if op == opGet && name.Teller() == m.a.id() && strings.Contains(name.String(), "/"+what) {
				return &fs.PathError{Op: "open", Path: name.String(), Err: fs.ErrPermission}
			}
			return nil
		}
		out, err := m.c.replica().Pull(context.Background())
		if err == nil && len(out.Refused)+len(out.Waiting) == 0 {
			t.Errorf("%s: nothing is said", what)
		}
		if got := m.c.head("of-b"); got != "the text of b" {
			t.Errorf("%s: the note of b is %q; %v", what, got, err)
		}
		m.Before = nil
	}
}

// An older segment or state in the place of a newer one takes nothing back.
func TestReplayed(t *testing.T) {
	t.Parallel()
	m := newMet(t)
	m.c.pull()
	state := m.Blob(string(m.a.id()) + "/state")
	first := m.segment(m.a, 0)
	text := m.Blob(first)
	ref := m.a.put("one", "the text of one, again")
	m.a.push()
	m.c.pull()
	m.view(m.a, func(tx *store.Tx) error {
		v, err := tx.Head(note("one"))
		ref = v.Ref
		return err
	})
	m.a.purge(ref)
	m.a.push()
	m.c.pull()
	m.Plant(first, text)
	m.Plant(string(m.a.id())+"/state", state)
	if out := m.c.pull(); reasons(out) != "" {
		t.Errorf("refused: %s", reasons(out))
	}
	if got := m.c.head("one"); got != "" { // the version that counted is destroyed
		t.Errorf("the note is %q", got)
	}
	m.a.push()
	if got := m.c.known(); len(got.Dropped) != 1 {
		t.Errorf("destroyed: %q", got.Dropped)
	}
}

func (m met) view(of *machine, read func(*store.Tx) error) { of.view(read) }

// A large body that has not come keeps what is behind it, and no other log; it comes with the next pull.
func TestBodyMissing(t *testing.T) {
	t.Parallel()
	m := newMet(t)
	large := strings.Repeat("a large text, which travels apart; ", 10) + random(400<<10)
	ref := m.a.put("large", large)
	m.a.put("after", "the text after it")
	m.a.push()
	var body string
	for _, p := range m.Paths() {
		if strings.Contains(p, "/bodies/") {
			body = p
		}
	}
	text := m.Blob(body)
	for _, bad := range [][]byte{nil, text[:len(text)/2], append(bytes.Clone(text[:len(text)-1]), text[len(text)-1]^1)} {
		m.Plant(body, bad)
		if out := m.c.pull(); reasons(out) == "" || m.c.head("large") != "" || m.c.head("of-b") == "" || m.c.head("three") == "" {
			t.Errorf("with a body of %d bytes: %q; the note has %d bytes", len(bad), reasons(out), len(m.c.head("large")))
		}
	}
	m.c.push() // says how far it is
	m.a.push()
	m.c.pull()
	if m.c.head("large") != large || m.c.head("after") == "" {
		t.Errorf("the body does not come again when its store pushes: the note has %d bytes", len(m.c.head("large")))
	}
	m.a.purge(ref)
	m.a.push()
	if m.Blob(body) != nil {
		t.Error("the body is destroyed, and still in the remote")
	}
}

// random returns text that cannot be packed.
func random(n int) string {
	text, state := make([]byte, n), uint64(1)
	for i := range text {
		state = state*6364136223846793005 + 1442695040888963407
		text[i] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-"[state>>58]
	}
	return string(text)
}

// Of two copies of a store both go on, one of them under another id, and neither loses anything.
func TestCopied(t *testing.T) {
	t.Parallel()
	m := newMet(t)
	twin := m.a.copyTo("twin")
	twin.put("twin", "the text of the twin")
	m.a.put("four", "the text of four")
	m.a.push()
	twin.push()
	if twin.id() == m.a.id() {
		t.Fatal("both have one id")
	}
	trusts(m.a, m.b, m.c, twin)
	exchange(t, m.a, m.b, m.c, twin)
	wantSame(t, m.a, m.b, m.c, twin)
	for _, id := range []string{"one", "four", "twin", "of-b"} {
		if m.c.head(id) == "" {
			t.Errorf("%s is lost", id)
		}
	}
}

// A store that was put back from an older copy goes on under another id, and gets back what it had told.
func TestGoneBack(t *testing.T) {
	t.Parallel()
	m := newMet(t)
	old := filepath.Join(t.TempDir(), "old")
	if err := os.CopyFS(old, os.DirFS(m.a.Store.Dir())); err != nil {
		t.Fatal(err)
	}
	was := m.a.id()
	m.a.put("four", "the text of four")
	m.a.push()
	err := errors.Join(os.RemoveAll(m.a.Store.Dir()), os.CopyFS(m.a.Store.Dir(), os.DirFS(old)))
	if err != nil {
		t.Fatal(err)
	}
	m.a.openIn(m.a.Main)
	m.a.put("five", "the text of five")
	m.a.push()
	if m.a.id() == was {
		t.Fatal("it goes on under its id")
	}
	trusts(m.a, m.b, m.c)
	trust := m.a.trusted() // its own earlier id: what it had told there
	key, err := m.a.keys.Of(was)
	if err = errors.Join(err, trust.Set(remote.Trustee{Teller: was, Key: key.Public(), Label: "before"})); err != nil {
		t.Fatal(err)
	}
	exchange(t, m.a, m.b, m.c)
	wantSame(t, m.a, m.b, m.c)
	for _, of := range []*machine{m.a, m.b, m.c} {
		for _, id := range []string{"one", "three", "four", "five"} {
			if of.head(id) != "the text of "+id {
				t.Errorf("%s: %s is %q", of.label, id, of.head(id))
			}
		}
	}
}

// A machine that stops in mid-push leaves what others can use, and goes on there, whichever call was the last.
func TestStoppedPush(t *testing.T) {
	t.Parallel()
	for n := 0; ; n++ {
		m := newMet(t)
		m.a.put("large", random(400<<10))
		m.a.put("four", "the text of four")
		calls, after := 0, n%2 == 1
		stop := func(op, remote.Name) error {
			if calls++; calls > n/2 {
				return errCut
			}
			return nil
		}
		if m.Before = stop; after {
			m.Before, m.After = nil, stop
		}
		_, err := m.a.replica().Push(context.Background())
		m.Before, m.After = nil, nil
		if out := m.c.pull(); reasons(out) != "" {
			t.Errorf("call %d: %s", n, reasons(out))
		}
		if err == nil {
			return
		}
		m.a.push()
		m.c.pull()
		if m.c.head("four") == "" || m.c.head("large") == "" || m.c.head("of-b") == "" {
			t.Errorf("call %d: something has not come", n)
		}
	}
}

// What was destroyed while a machine was away, which had changed it meanwhile, is destroyed there when it
// returns, and does not come back with it.
func TestPurgedWhileAway(t *testing.T) {
	t.Parallel()
	m := newMet(t)
	ref := m.a.put("secret", "the swordfish")
	m.a.push()
	m.b.pull()
	m.c.pull()
	m.c.put("secret", "not that any more")
	m.a.purge(ref)
	m.a.push()
	m.b.pull()
	m.b.push()
	if status, err := m.a.replica().Status(context.Background()); err != nil || destroys(status, m.b) {
		t.Errorf("b has bytes left, and the status says that it destroys: %v", err)
	}
	m.b.forget()
	m.b.push()
	if status, err := m.a.replica().Status(context.Background()); err != nil || !destroys(status, m.b) || destroys(status, m.c) {
		t.Errorf("the status says that b destroys: %v, c: %v; %v", destroys(status, m.b), destroys(status, m.c), err)
	}
	exchange(t, m.c, m.a, m.b)
	m.c.forget()
	exchange(t, m.c, m.a, m.b)
	wantSame(t, m.a, m.b, m.c)
	for _, of := range []*machine{m.a, m.b, m.c} {
		of.view(func(tx *store.Tx) error {
			if v, err := tx.Get(ref); !errors.Is(err, store.ErrDropped) {
				t.Errorf("%s still has %+v", of.label, v.Record)
			}
			return nil
		})
		if got := of.head("secret"); got != "not that any more" {
			t.Errorf("%s: the note is %q", of.label, got)
		}
	}
	for _, p := range m.Paths() {
		if bytes.Contains(m.Blob(p), []byte("swordfish")) {
			t.Errorf("the text is still in %s", p)
		}
	}
	if status, err := m.a.replica().Status(context.Background()); err != nil || !destroys(status, m.c) {
		t.Errorf("the status does not say that c has destroyed it: %v", err)
	}
}

func destroys(s *remote.Status, m *machine) bool {
	return slices.ContainsFunc(s.Peers, func(p remote.Peer) bool { return p.Store == m.id() && p.Destroys })
}

// TestPurgedMeanwhile purges a large text before each call that a push makes of its remote.
func TestPurgedMeanwhile(t *testing.T) {
	for k := 1; ; k++ {
		m := newMet(t)
		ref, calls := m.a.put("large", strings.Repeat("the swordfish ", 100_000)), 0
		m.a.through = &flaky{Transport: m.Open(), before: func() error {
			if calls++; calls == k {
				m.a.purge(ref)
			}
			return nil
		}}
		m.a.push()
		if calls < k {
			return
		}
		exchange(t, m.a, m.b, m.c)
		wantSame(t, m.a, m.b, m.c)
	}
}

// What was destroyed before anybody heard it leaves no text, and all agree.
func TestPurgedBefore(t *testing.T) {
	t.Parallel()
	m := newMet(t)
	m.a.purge(m.a.put("secret", "the swordfish"))
	ref := m.a.put("one", "the text of one, the swordfish") // over something that all have
	m.a.purge(ref)
	exchange(t, m.a, m.b, m.c)
	wantSame(t, m.a, m.b, m.c)
	if got := m.c.head("one"); got != m.a.head("one") || got != "" {
		t.Errorf("the note is %q here, %q there", got, m.a.head("one"))
	}
	for _, p := range m.Paths() {
		if bytes.Contains(m.Blob(p), []byte("swordfish")) {
			t.Errorf("the text is in %s", p)
		}
	}
}

// What is private never leaves, nor an older version of it, nor its name; nor what looks like a secret, or passes no
// filter. The others verify what they have all the same.
func TestKeptHere(t *testing.T) {
	t.Parallel()
	m := newMet(t)
	if err := m.a.filter.Add("tag", "shared"); err != nil {
		t.Fatal(err)
	}
	m.a.put("diary", "an old swordfish", "shared")
	m.a.put("diary", "a new swordfish", "private", "shared")
	m.a.put("gone", "the older swordfish", "shared")
	m.a.put("gone", "the newer swordfish", "private", "shared")
	issue := record.Name{Kind: record.KindIssue, ID: "ISSUE-20260302-007"}
	other := record.Name{Kind: record.KindIssue, ID: "ISSUE-20260302-008"}
	f := &five{t: t}
	if err := errors.Join(m.a.Remove(context.Background(), note("gone")), f.putIssue(m.a, issue.ID), f.putIssue(m.a, other.ID)); err != nil {
		t.Fatal(err)
	}
	for _, tag := range []string{"shared", "private"} {
		if _, err := m.a.Tag(context.Background(), issue, []string{tag}, nil); err != nil {
			t.Fatal(err)
		}
	}
	m.a.put("filtered", "a plain swordfish")
	m.a.put("token", "ghp_"+"A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8 swordfish\n", "shared")
	m.a.put("open", "the text of open", "shared")
	out := m.a.push()
	if len(out.Held) != 1 || out.Held[0].Name != note("token") {
		t.Errorf("held: %+v", out.Held)
	}
	m.c.pull()
	if m.c.head("open") == "" {
		t.Error("what is open has not come")
	}
	for _, p := range m.Paths() {
		for _, word := range []string{"swordfish", "diary", "note/gone", "filtered", "ghp_", issue.ID} {
			if bytes.Contains(m.Blob(p), []byte(word)) {
				t.Errorf("%q is in %s", word, p)
			}
		}
	}
	if m.a.head("diary") == "" || m.a.head("token") == "" {
		t.Error("something is lost here")
	}
}

// A private entry of a file keeps neither the others from leaving nor its name in what is around them.
func TestPrivateEntry(t *testing.T) {
	t.Parallel()
	m := newMet(t)
	f := &five{t: t}
	const secret, open = "ISSUE-20260302-007", "ISSUE-20260302-008"
	err := errors.Join(f.putIssue(m.a, secret), f.putIssue(m.a, open))
	if err == nil {
		_, err = m.a.Tag(context.Background(), record.Name{Kind: record.KindIssue, ID: secret}, []string{materialize.TagPrivate}, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	exchange(t, m.a, m.b, m.c)
	for _, p := range m.Paths() {
		if bytes.Contains(m.Blob(p), []byte(secret)) {
			t.Errorf("%s is in %s", secret, p)
		}
	}
	text, _ := os.ReadFile(filepath.Join(m.c.Root, queueFile)) // none is empty
	if !bytes.Contains(text, []byte(open)) {
		t.Errorf("the queue of c has not the other entry: %s", text)
	}
	if text, _ = os.ReadFile(filepath.Join(m.a.Root, queueFile)); !bytes.Contains(text, []byte(secret)) {
		t.Errorf("the entry is lost: %s", text)
	}
}

// Two logs under one id are told apart, whichever comes first, and the store that was there goes on.
func TestOtherLog(t *testing.T) {
	t.Parallel()
	m := newMet(t)
	m.b.pull()
	other := newMemory()
	twin := *m.a
	twin.through, twin.label = other.Open(), "twin"
	seeded := func(of *machine) {
		of.seed = "the same for both of them, of which each takes what it needs"
		of.openIn(filepath.Join(t.TempDir(), "seeded"))
		trusts(of)
	}
	first := *m.a
	seeded(&first)
	seeded(&twin)
	if first.id() != twin.id() {
		t.Fatalf("the stores have the ids %s and %s", first.id(), twin.id())
	}
	first.put("one", "the text of one")
	first.put("two", "the text of two")
	first.push()
	twin.put("other", "the text of the other")
	twin.push()
	twin.put("more", "more of the other")
	twin.put("most", "most of the other")
	twin.push()
	trusts(&first, m.b, m.c)
	m.c.pull()
	for _, p := range other.Paths() { // as if that machine had written over it
		m.Plant(p, other.Blob(p))
	}
	for _, of := range []*machine{m.b, m.c} {
		if out := of.pull(); of == m.c && !strings.Contains(reasons(out), "two stores have the id") {
			t.Errorf("%s: %q", of.label, reasons(out))
		}
		if of.head("of-b") == "" {
			t.Errorf("%s has lost the note of b", of.label)
		}
	}
	was := first.id()
	if out := first.push(); !out.Renewed || first.id() == was {
		t.Errorf("it goes on under its id")
	}
	trusts(&first, m.b, m.c)
	m.c.pull()
	if m.c.head("two") != "the text of two" {
		t.Errorf("the note two is %q", m.c.head("two"))
	}
	first.put("three", "the text of three, and the first")
	first.push()
	m.c.pull()
	if got := m.c.head("three"); got != "the text of three, and the first" && m.c.head("one") == "" {
		t.Errorf("the note three is %q", got)
	}
}

// Who tells another's log tells nothing that is private here.
func TestRetoldPrivate(t *testing.T) {
	t.Parallel()
	m := newMet(t)
	m.b.pull()
	if _, err := m.b.Tag(context.Background(), note("two"), []string{materialize.TagPrivate}, nil); err != nil {
		t.Fatal(err)
	}
	for _, p := range m.Paths() { // what a has told is lost
		if strings.HasPrefix(p, string(m.a.id())) {
			m.Plant(p, nil)
		}
	}
	m.b.push()
	m.c.pull()
	if m.c.head("one") == "" || m.c.head("three") == "" || m.c.head("two") != "" {
		t.Errorf("told again: one %q, two %q, three %q", m.c.head("one"), m.c.head("two"), m.c.head("three"))
	}
}

// A folder without rights is named, and so is what to look at.
func TestPushWithoutRights(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may do everything")
	}
	dir := filepath.Join(t.TempDir(), "shared")
	m := newMachine(t, "m", openFolder(t, dir), 0)
	m.put("one", "the text of one")
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(dir, 0o700) }() // so that it can be removed
	_, err := m.replica().Push(context.Background())
	if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "does not let") {
		t.Errorf("push: %v", err)
	}
	if _, err = m.replica().Pull(context.Background()); err != nil {
		t.Errorf("pull, which writes nothing: %v", err)
	}
}
