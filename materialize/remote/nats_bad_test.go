package remote_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"filebus/materialize/remote"
	"filebus/store/record"
)

// configured starts a server with a configuration.
func configured(t *testing.T, text string) *server.Server {
	t.Helper()
	file := filepath.Join(t.TempDir(), "server.conf")
	write(t, file, text)
	given, err := server.ProcessConfigFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return newServer(t, func(o *server.Options) {
		given.Host, given.Port, given.JetStream, given.StoreDir, given.SyncAlways, given.NoSigs, given.NoLog = o.Host, o.Port, true, o.StoreDir, true, true, true
		*o = *given
	})
}

// as returns the address of a server for one of its users.
func as(s *server.Server, user, rest string) string {
	return "nats://" + user + ":secret@" + s.Addr().String() + rest
}

// client connects as others do.
func client(t *testing.T, at string) *nats.Conn {
	t.Helper()
	c, err := nats.Connect(at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// api asks JetStream for something, which must go well.
func api(t *testing.T, c *nats.Conn, subject string, request any) {
	t.Helper()
	var text []byte
	if request != nil {
		var err error
		if text, err = json.Marshal(request); err != nil {
			t.Fatal(err)
		}
	}
	got, err := c.Request("$JS.API."+subject, text, 10*time.Second)
	if err != nil || bytes.Contains(got.Data, []byte(`"error"`)) {
		t.Fatalf("%s: %v %s", subject, err, got.Data)
	}
}

// says checks the words of an error, those of the next step, and that no password is among them.
func says(t *testing.T, err error, is error, text, hint string) {
	t.Helper()
	found := ""
	for e := (*record.Error)(nil); errors.As(err, &e); err = e.Err {
		if found += e.Hint; text != "" && strings.Contains(e.Error(), text) && (is == nil || errors.Is(e, is)) {
			text = ""
		}
		if strings.Contains(e.Error()+e.Hint, "secret") {
			t.Errorf("%v has the password", e)
		}
	}
	if text != "" || !strings.Contains(found, hint) {
		t.Errorf("the error is %v with the hint %q; it lacks %q (%v), or the hint %q", err, found, text, is, hint)
	}
}

// within fails if something takes too long, in moments in which this process had its turn: on a busy
// machine there are fewer of them in a second.
func within(t *testing.T, limit time.Duration, do func()) {
	t.Helper()
	const moment = 10 * time.Millisecond
	done, took := make(chan struct{}), make(chan time.Duration)
	go func() {
		tick, n := time.NewTicker(moment), time.Duration(0)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				n++
			case <-done:
				took <- n * moment
				return
			}
		}
	}()
	do()
	close(done)
	if took := <-took; took > limit {
		t.Errorf("it took %v, more than %v", took, limit)
	}
}

func segmentOfA(n uint64) remote.Name {
	return remote.SegmentName(storeA, remote.Span{Origin: storeA, First: n, Last: n})
}

func tryPut(ctx context.Context, r remote.Transport, name remote.Name, text string) error {
	return r.Put(ctx, name, int64(len(text)), strings.NewReader(text))
}

// TestNATSUnreachable connects where no good server is.
func TestNATSUnreachable(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	ca, certificate := authority(t)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "ca.pem"), ca)
	write(t, filepath.Join(dir, "bad.creds"), "this is none")
	plain := newServer(t, nil).Addr().String()
	safe := newServer(t, func(o *server.Options) {
		o.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	}).Addr().String()
	closed := configured(t, `authorization { user: member, password: secret }`).Addr().String()
	for _, test := range []struct {
		address    string
		is         error
		text, hint string
	}{
		{"nats://127.0.0.1:1", remote.ErrAway, "cannot be reached: nats: no servers", "later; nothing is lost"},
		{"nats://" + silent.Addr().String(), remote.ErrAway, "cannot be reached: ", "later; nothing is lost"},
		{"nats://no-such-host.invalid", remote.ErrAway, "cannot be reached: ", "later"},
		{"tls://" + plain, record.Untrusted, "secure connection not available", "nats:// in the address"},
		{"tls://" + safe, record.Untrusted, "certificate", "?ca=FILE"},
		{"nats://" + safe, record.Untrusted, "certificate", "?ca=FILE"},
		{"tls://" + safe + "/x?ca=ca.pem", nil, "", ""},
		{"tls://" + safe + "/x?ca=" + url.QueryEscape(filepath.Join(dir, "ca.pem")), nil, "", ""},
		{"tls://" + safe + "/x?ca=missing.pem", record.NotFound, "missing.pem", ""},
		{"tls://" + safe + "/x?ca=bad.creds", record.Untrusted, "bad.creds", ""},
		{"nats://" + plain + "/x?creds=missing.creds", record.NotFound, "creds=FILE in the address", ""},
		{"nats://" + closed + "/x?creds=bad.creds", record.Untrusted, "connecting to", ""},
		{"nats://" + closed, record.Untrusted, "Authorization Violation", "?creds=FILE"},
		{"nats://member:wrong@" + closed, record.Untrusted, "Authorization Violation", "?creds=FILE"},
		{"nats://" + plain + "/x?replicas=3", record.Failed, "replicas > 1 not supported", "?replicas=1"},
		{"nats://" + plain + "/x?replicas=many", record.Usage, "no number of replicas", ""},
	} {
		t.Run(test.address[:min(5, len(test.address))], func(t *testing.T) {
			t.Parallel()
			within(t, 9*time.Second, func() {
				r, err := remote.Open(t.Context(), test.address, remote.Options{Base: dir, Create: true})
				if test.text == "" && err == nil {
					_, err = r.List(t.Context())
				}
				if r != nil {
					err = errors.Join(err, r.Close())
				}
				if test.text != "" {
					says(t, err, test.is, test.text, test.hint)
				} else if err != nil {
					t.Errorf("%s: %v", test.address, err)
				}
			})
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			within(t, time.Second, func() { _, _ = remote.Open(ctx, test.address, remote.Options{Base: dir, Create: true}) })
		})
	}
}

// authority makes an authority, and a certificate of it for 127.0.0.1.
func authority(t *testing.T) (ca string, certificate tls.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	of := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	signed, err := x509.CreateCertificate(rand.Reader, of, of, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})), tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: key}
}

// TestNATSRights uses servers that let users do less than all, or give them little room.
func TestNATSRights(t *testing.T) {
	t.Parallel()
	s := configured(t, `accounts {
		team { jetstream: enabled, users: [
			{user: maker, password: secret}
			{user: member, password: secret, permissions: {publish: {deny: ["$JS.API.STREAM.CREATE.>"]}}}
			{user: reader, password: secret, permissions: {publish: {deny: ["x.blob.>", "x.state.>"]}}}
			{user: deaf, password: secret, permissions: {subscribe: {deny: ["_INBOX.>"]}}}
			{user: apart, password: secret, permissions: {subscribe: {deny: ["_INBOX.>", "x.>"]}}}
		]}
		small { jetstream: {max_streams: 1}, users: [{user: small, password: secret}] }
		tiny { jetstream: {max_store: 20000}, users: [{user: tiny, password: secret}] }
		bounded { jetstream: {max_bytes_required: true}, users: [{user: bounded, password: secret}] }
		none { users: [{user: none, password: secret}] }
	}`)
	make := func(user, rest string) error {
		r, err := remote.Open(t.Context(), as(s, user, rest), remote.Options{Create: true})
		if r != nil {
			err = errors.Join(err, r.Close())
		}
		return err
	}
	within(t, 5*time.Second, func() {
		says(t, make("member", "/x"), record.Untrusted, `Publish to "$JS.API.STREAM.CREATE.filebus_x"`, "its owner, who gives the rights")
	})
	if err := make("maker", "/x"); err != nil {
		t.Fatal(err)
	}
	if err := make("member", "/x"); err != nil { // they are there
		t.Errorf("a user who may not make streams, where they are: %v", err)
	}
	put(t, openRemote(t, as(s, "member", "/x"), false), segmentOfA(1), "of a")
	within(t, 5*time.Second, func() {
		reader := openRemote(t, as(s, "reader", "/x"), false)
		says(t, tryPut(t.Context(), reader, segmentOfA(2), "x"), record.Untrusted, `Publish to "x.blob.`, "its owner, who gives the rights")
		if l := list(t, reader); len(Spans(l)) != 1 {
			t.Errorf("who may not write does not read: %+v", l)
		}
	})
	within(t, 5*time.Second, func() {
		deaf := openRemote(t, as(s, "deaf", "/x"), false)
		for range 2 {
			_, err := deaf.List(t.Context())
			says(t, err, record.Untrusted, `Subscription to "_INBOX.`, "?inbox=PREFIX")
		}
		list(t, openRemote(t, as(s, "apart", "/x?inbox=_OWN"), false)) // it has no news either, and does without
	})
	says(t, make("small", "/x"), record.Failed, "maximum number of streams reached", "raises the limits of the account")
	says(t, make("bounded", "/x"), record.Failed, "max bytes", "raises the limits of the account")
	within(t, 5*time.Second, func() { says(t, make("none", "/x"), record.Failed, "not enabled for account", "JetStream (-js)") })
	_, err := openRemote(t, as(s, "maker", "/elsewhere"), false).List(t.Context())
	says(t, err, remote.ErrAway, "has no streams filebus_elsewhere", "filebus remote add NAME ADDRESS")

	if err := make("tiny", "/x"); err != nil {
		t.Fatal(err)
	}
	tiny, held := openRemote(t, as(s, "tiny", "/x"), false), 0
	for n := range uint64(10) {
		if err = tryPut(t.Context(), tiny, segmentOfA(n+1), strings.Repeat("x", 5000)); err != nil {
			break
		}
		held++
	}
	says(t, err, record.Failed, "resource", "more room; nothing is lost")
	if got := len(Spans(list(t, tiny))); got != held || held == 0 {
		t.Errorf("%d of %d segments are there that were put before the account was full", got, held)
	}
}

// TestNATSStreams finds streams that are not as filebus makes them.
func TestNATSStreams(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	other := client(t, s.ClientURL())
	for prefix, change := range map[string]map[string]any{
		"many": {"max_msgs_per_subject": 5}, "queue": {"retention": "workqueue"}, "silent": {"no_ack": true}, "old": {"discard": "old", "discard_new_per_subject": false},
		"kept": {"deny_delete": true},
	} {
		config := map[string]any{"name": "filebus_" + prefix, "subjects": []string{prefix + ".blob.>"}, "retention": "limits", "storage": "memory",
			"num_replicas": 1, "max_msgs_per_subject": 1, "discard": "new", "discard_new_per_subject": true}
		for key, value := range change {
			config[key] = value
		}
		api(t, other, "STREAM.CREATE.filebus_"+prefix, config)
		address := s.ClientURL() + "/" + prefix
		_, err := remote.Open(t.Context(), address, remote.Options{Create: true})
		says(t, err, record.Conflict, "was made for something else", "another PREFIX")
		_, err = openRemote(t, address, false).List(t.Context())
		says(t, err, record.Conflict, "was made for something else", "another PREFIX")
	}
	api(t, other, "STREAM.CREATE.all", map[string]any{"name": "all", "subjects": []string{"taken.>"}, "storage": "memory"})
	_, err := remote.Open(t.Context(), s.ClientURL()+"/taken", remote.Options{Create: true})
	says(t, err, record.Failed, "subjects overlap", "another PREFIX")

	// A stream that is full says so at once, and has what it had.
	api(t, other, "STREAM.CREATE.filebus_full", map[string]any{"name": "filebus_full", "subjects": []string{"full.blob.>"}, "retention": "limits",
		"num_replicas": 1, "max_msgs_per_subject": 1, "discard": "new", "discard_new_per_subject": true, "max_bytes": 8000})
	full := openRemote(t, s.ClientURL()+"/full", true)
	put(t, full, segmentOfA(1), strings.Repeat("a", 5000))
	within(t, time.Second, func() {
		says(t, tryPut(t.Context(), full, segmentOfA(2), strings.Repeat("b", 5000)), record.Failed, "maximum bytes exceeded", "more room; nothing is lost")
		says(t, tryPut(t.Context(), full, segmentOfA(1), strings.Repeat("c", 9000)), nil, "maximum bytes exceeded", "more room")
	})

	// Projects beside each other see nothing of each other, nor of what is no blob.
	one, two := openRemote(t, s.ClientURL()+"/one", true), openRemote(t, s.ClientURL()+"/one_more", true)
	put(t, two, segmentOfA(1), "of the other")
	put(t, two, remote.StateName(storeA), "of the other")
	if l := list(t, one); len(l.Blobs)+len(l.Strays) > 0 {
		t.Errorf("List = %+v, want nothing", l)
	}
	put(t, one, segmentOfA(3), "x")
	id, twenty := string(storeA), "00000000000000000001"
	strays := []string{"one.blob." + id + ".log." + id + ".notes", "one.blob." + id + ".log." + id + "/" + twenty + "-" + twenty, "one.state.nobody"}
	for _, stray := range append([]string{"one.blob.x", "one.claim.x"}, strays...) {
		if _, err := other.Request(stray, []byte("stray"), 10*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	l := list(t, one)
	if len(l.Blobs) != 1 || len(Spans(l)) != 1 {
		t.Errorf("the blobs are %+v", l.Blobs)
	}
	for i, stray := range l.Strays {
		if stray.Path != strays[i] {
			t.Errorf("the stray %q, want %q", stray.Path, strays[i])
		}
	}
	if len(l.Strays) != len(strays) {
		t.Errorf("the strays are %+v, want %q", l.Strays, strays)
	}
}

// TestNATSToldBefore: subscribers hear of a message before the stream has it. Here the first one is heard of
// and refused, and the second one is stored, under another subject, without that anybody hears of it.
func TestNATSToldBefore(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	other, name := client(t, s.ClientURL()), segmentOfA(1)
	api(t, other, "STREAM.CREATE.filebus_told", map[string]any{"name": "filebus_told", "subjects": []string{"told.blob.>", "hidden.>"},
		"storage": "memory", "num_replicas": 1, "max_msgs_per_subject": 1, "discard": "new", "discard_new_per_subject": true,
		"retention": "limits", "subject_transform": map[string]string{"src": "hidden.>", "dest": "told.blob.>"}})
	r := openRemote(t, s.ClientURL()+"/told", true)
	list(t, r)
	subject := strings.ReplaceAll(name.String(), "/", ".")
	var telling sync.WaitGroup
	telling.Go(func() {
		for _, m := range []*nats.Msg{
			{Subject: "told.blob." + subject, Header: nats.Header{"Nats-Expected-Last-Sequence": {"7"}}}, {Subject: "hidden." + subject},
		} {
			if _, err := other.RequestMsg(m, patience); err != nil {
				t.Error(err)
			}
			time.Sleep(200 * time.Millisecond) // so that the reader has looked, as a rule
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for len(Spans(list(t, r))) == 0 {
		if err := r.Wait(ctx); err != nil {
			t.Fatal(err)
		}
	}
	telling.Wait()
}

// TestNATSPayload uses a server that takes short messages.
func TestNATSPayload(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(o *server.Options) { o.MaxPayload = 64 << 10 })
	r := openRemote(t, s.ClientURL(), true)
	for _, name := range []remote.Name{segmentOfA(1), remote.StateName(storeA), remote.BodyName(storeA, record.DigestOf([]byte("x")))} {
		for _, size := range []int{300_000, 64<<10 - 512, 64<<10 - 511, 0, 200_000} {
			text := strings.Repeat(fmt.Sprint(size%7, name), size)[:size]
			put(t, r, name, text)
			blob, err := r.Get(t.Context(), name)
			if err != nil {
				t.Fatalf("Get of %d bytes of %s: %v", size, name, err)
			}
			if got, err := io.ReadAll(blob); err != nil || string(got) != text {
				t.Errorf("%s has %d bytes, %v; want %d", name, len(got), err, size)
			}
		}
		if err := r.Remove(t.Context(), name); err != nil {
			t.Error(err)
		}
		short := strings.NewReader(strings.Repeat("x", 150_000))
		if err := r.Put(t.Context(), name, 200_000, short); err == nil {
			t.Errorf("a blob of %s that is too short was put", name)
		}
		if err := r.Remove(t.Context(), name); err != nil {
			t.Error(err)
		}
	}
	if l := list(t, r); len(l.Blobs)+len(l.Strays) > 0 {
		t.Errorf("List = %+v, want nothing", l)
	}
	for _, stream := range []string{"filebus_filebus", "filebus_filebus_state"} {
		if left := messages(t, s, stream); stream == "filebus_filebus" && left > 0 {
			t.Errorf("%s has %d messages of what was removed", stream, left)
		}
	}
}

// messages returns how many a stream has.
func messages(t *testing.T, s *server.Server, stream string) uint64 {
	t.Helper()
	got, err := client(t, s.ClientURL()).Request("$JS.API.STREAM.INFO."+stream, nil, 10*time.Second)
	var info struct {
		State struct {
			Messages uint64 `json:"messages"`
		} `json:"state"`
	}
	if err == nil {
		err = json.Unmarshal(got.Data, &info)
	}
	if err != nil {
		t.Fatal(err)
	}
	return info.State.Messages
}

// A gate stands between a client and a server.
type gate struct {
	net.Listener
	to   string
	cuts atomic.Int64  // the connection is cut behind so many bytes of the client's more; 0: never
	slow time.Duration // before each piece
}

func newGate(t *testing.T, s *server.Server, slow time.Duration) *gate {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{Listener: l, to: s.Addr().String(), slow: slow}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", g.to)
			if err != nil {
				_ = in.Close()
				continue
			}
			go g.pass(out, in, true)
			go g.pass(in, out, false)
		}
	}()
	return g
}

func (g *gate) pass(to, from net.Conn, counts bool) {
	defer func() { _, _ = to.Close(), from.Close() }()
	piece := make([]byte, 4096)
	for {
		n, err := from.Read(piece)
		if counts && g.cuts.Load() > 0 && g.cuts.Add(int64(-n)) <= 0 {
			g.cuts.Store(0)
			return
		}
		time.Sleep(g.slow)
		if _, writeErr := to.Write(piece[:n]); err != nil || writeErr != nil {
			return
		}
	}
}

// TestNATSCut puts through something that cuts connections, or is slow.
func TestNATSCut(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	list(t, openRemote(t, s.ClientURL(), true))
	t.Run("cut", func(t *testing.T) {
		t.Parallel()
		g := newGate(t, s, 0)
		r := openRemote(t, "nats://"+g.Addr().String(), false)
		list(t, r)
		text := strings.Repeat("x", 300_000)
		within(t, 8*time.Second, func() {
			for i, behind := range []int64{1, 200_000, 300_500} { // before, in the middle, behind the message
				g.cuts.Store(behind)
				put(t, r, segmentOfA(uint64(i+1)), text)
			}
		})
		l, err := r.List(t.Context())
		for n := 0; n < 50 && errors.Is(err, remote.ErrAway); n++ { // the last cut meets it, or the next
			if errors.Is(err, io.EOF) {
				t.Errorf("List = %v, which looks like the end of a blob", err)
			}
			time.Sleep(100 * time.Millisecond)
			l, err = r.List(t.Context())
		}
		if err != nil || len(Spans(l)) < 3 {
			t.Errorf("List = %+v, %v; want 3 segments", l, err)
		}
	})
	t.Run("slow", func(t *testing.T) {
		t.Parallel()
		g := newGate(t, s, 5*time.Millisecond)
		r := openRemote(t, "nats://"+g.Addr().String(), false)
		put(t, r, segmentOfA(10), strings.Repeat("x", 100_000))
		list(t, r)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		within(t, 2*time.Second, func() {
			if err := tryPut(ctx, r, segmentOfA(11), strings.Repeat("x", 900_000)); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a put that takes longer than its context: %v", err)
			}
		})
	})
}

// TestNATSAnswers has a client stand in for JetStream.
func TestNATSAnswers(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(o *server.Options) { o.JetStream = false })
	fake := client(t, s.ClientURL())
	answer := func(prefix, text string) *atomic.Int64 {
		puts := new(atomic.Int64)
		_, err := fake.Subscribe(prefix+".blob.>", func(m *nats.Msg) {
			puts.Add(1)
			if text != "" {
				_ = m.Respond([]byte(text))
			}
		})
		_, getErr := fake.Subscribe("$JS.API.STREAM.MSG.GET.filebus_"+prefix, func(m *nats.Msg) {
			_ = m.Respond([]byte(`{"error":{"code":404,"err_code":10037,"description":"no message found"}}`))
		})
		if err = errors.Join(err, getErr, fake.Flush()); err != nil {
			t.Fatal(err)
		}
		return puts
	}
	fault := func(code int, text string) string {
		return fmt.Sprintf(`{"error":{"code":400,"err_code":%d,"description":%q}}`, code, text)
	}
	for i, test := range []struct {
		name, answer string
		puts         int64
		is           error
		text         string
	}{
		{"one server's lost race", fault(10071, "wrong last sequence: 7"), 1, record.Failed, "wrong last sequence: 7 (10071)"},
		{"a cluster's lost race", fault(10164, "wrong last sequence"), 1, record.Failed, "wrong last sequence (10164)"},
		{"is there, and is not", fault(10077, "maximum messages per subject exceeded"), 5, record.Failed, "per subject exceeded (10077)"},
		{"is full", fault(10077, "maximum bytes exceeded"), 1, record.Failed, "maximum bytes exceeded (10077)"},
		{"no leader", fault(10008, "JetStream system temporarily unavailable"), 5, remote.ErrAway, "has no leader by now"},
		{"unknown fault", fault(12345, "of a newer version"), 1, record.Failed, "of a newer version (12345)"},
		{"acknowledged and not kept", `{"stream":"x","seq":1}`, 5, nil, "there is nothing"},
		{"no JSON", `<html>`, 1, remote.ErrMalformed, "the answer of"},
		{"another shape", `[1]`, 1, remote.ErrMalformed, "the answer of"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			prefix := fmt.Sprint("fake", i)
			puts := answer(prefix, test.answer)
			r := openRemote(t, s.ClientURL()+"/"+prefix, false)
			within(t, 5*time.Second, func() {
				err := tryPut(t.Context(), r, segmentOfA(1), "x")
				if test.is == nil {
					if !errors.Is(err, fs.ErrNotExist) {
						t.Errorf("Put = %v, want that there is nothing", err)
					}
				} else {
					says(t, err, test.is, test.text, "")
				}
			})
			if puts.Load() != test.puts {
				t.Errorf("it was put %d times, want %d", puts.Load(), test.puts)
			}
		})
	}
	t.Run("no JetStream", func(t *testing.T) {
		t.Parallel()
		within(t, 5*time.Second, func() {
			_, err := remote.Open(t.Context(), s.ClientURL(), remote.Options{Create: true})
			says(t, err, remote.ErrAway, "or no JetStream", "later")
		})
	})
	t.Run("silence", func(t *testing.T) {
		if testing.Short() {
			t.Skip("it takes as long as an answer is waited for")
		}
		t.Parallel()
		answer("mute", "")
		r := openRemote(t, s.ClientURL()+"/mute", false)
		within(t, 15*time.Second, func() {
			says(t, tryPut(t.Context(), r, segmentOfA(1), "x"), remote.ErrAway, "gives no answer", "later")
		})
	})
}
