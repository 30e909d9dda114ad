package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"

	"filebus/materialize"
	"filebus/materialize/remote"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// A cluster is three servers of JetStream, which keep their ports.
type cluster struct {
	t       testing.TB
	options []*server.Options
	servers []*server.Server // nil: it does not run
}

func newCluster(t testing.TB) *cluster {
	t.Helper()
	c := &cluster{t: t, servers: make([]*server.Server, 3)}
	ports, routes := freePorts(t, 6), ""
	for i := range 3 {
		routes += fmt.Sprintf(",nats://127.0.0.1:%d", ports[3+i])
	}
	dir := t.TempDir()
	for i := range 3 {
		c.options = append(c.options, &server.Options{
			ServerName: fmt.Sprint("s", i), Host: "127.0.0.1", Port: ports[i], JetStream: true, StoreDir: filepath.Join(dir, fmt.Sprint(i)),
			NoSigs: true, NoLog: true, Cluster: server.ClusterOpts{Name: "team", Host: "127.0.0.1", Port: ports[3+i]}, Routes: server.RoutesFromStr(routes[1:]),
		})
	}
	t.Cleanup(func() { c.each((*cluster).stop) })
	c.each((*cluster).start)
	return c
}

// freePorts returns ports that nobody uses by now.
func freePorts(t testing.TB, n int) (ports []int) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }() // when all are known
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

func (c *cluster) each(do func(c *cluster, i int)) {
	for i := range c.options {
		do(c, i)
	}
}

func (c *cluster) start(i int) {
	if c.servers[i] != nil {
		return
	}
	options := *c.options[i]
	s, err := server.NewServer(&options)
	if err != nil {
		c.t.Fatal(err)
	}
	s.Start()
	c.servers[i] = s
}

func (c *cluster) stop(i int) {
	if s := c.servers[i]; s != nil {
		s.Shutdown()
		s.WaitForShutdown()
		c.servers[i] = nil
	}
}

// wipe removes what a server has kept.
func (c *cluster) wipe(i int) {
	c.stop(i)
	if err := os.RemoveAll(c.options[i].StoreDir); err != nil {
		c.t.Error(err)
	}
	c.start(i)
}

func (c *cluster) address() string {
	hosts := ""
	for _, o := range c.options {
		hosts += fmt.Sprintf(",%s:%d", o.Host, o.Port)
	}
	return "nats://" + hosts[1:] + "/team?replicas=3"
}

// make makes the streams, once the servers have found each other, and lists them. What is asked before nobody answers.
func (c *cluster) make(ctx context.Context) (err error) {
	try := func() error {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		r, err := remote.Open(ctx, c.address(), remote.Options{Create: true})
		if err == nil {
			_, err = r.List(ctx)
			_ = r.Close() // never fails
		}
		return err
	}
	for err = try(); err != nil && ctx.Err() == nil; err = try() {
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// A partition is a transport that reaches nothing while it is apart.
type partition struct {
	remote.Transport
	apart atomic.Bool
}

func (p *partition) failure() error {
	if p.apart.Load() {
		return record.Busy.Errorf("the store is apart").Because(remote.ErrAway)
	}
	return nil
}

func (p *partition) List(ctx context.Context) (*remote.Listing, error) {
	if err := p.failure(); err != nil {
		return nil, err
	}
	return p.Transport.List(ctx)
}

func (p *partition) Get(ctx context.Context, name remote.Name) (io.ReadCloser, error) {
	if err := p.failure(); err != nil {
		return nil, err
	}
	return p.Transport.Get(ctx, name)
}

// Put may succeed although the store hears nothing of it.
func (p *partition) Put(ctx context.Context, name remote.Name, size int64, from io.Reader) error {
	return errors.Join(p.Transport.Put(ctx, name, size, from), p.failure())
}

// A natsStore is a workspace with its keys, and a remote that it does not always reach.
type natsStore struct {
	*materialize.Workspace
	through *partition
	keys    remote.Keys
	acked   []record.Ref
}

func newNATSStore(t testing.TB, address string) *natsStore {
	t.Helper()
	dir := t.TempDir()
	at := materialize.Location{Store: filepath.Join(dir, ".filebus"), Main: dir, Root: dir}
	w, err := materialize.Create(t.Context(), at, materialize.Settings{Home: t.TempDir()}, store.Options{Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		report, err := w.Store.Check(context.Background(), nil)
		if err = errors.Join(err, report.Err()); err != nil {
			t.Errorf("the store after the test: %v", err)
		}
	})
	return &natsStore{Workspace: w, through: &partition{Transport: openRemote(t, address, false)}, keys: remote.Keys{Dir: filepath.Join(t.TempDir(), "keys")}}
}

func (s *natsStore) id(t testing.TB) record.StoreID {
	t.Helper()
	ids, err := s.Store.Origins(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return ids[0]
}

func (s *natsStore) trust(t testing.TB) *remote.Trust {
	t.Helper()
	trust, err := remote.LoadTrust(folder.At(s.Store.Dir()).Sub(remote.Folder))
	if err != nil {
		t.Fatal(err)
	}
	return trust
}

// trustEachOther lets each store trust all others.
func trustEachOther(t testing.TB, all ...*natsStore) {
	t.Helper()
	for _, s := range all {
		trust := s.trust(t)
		for _, other := range all {
			key, err := other.keys.Of(other.id(t))
			if err == nil && other != s {
				err = trust.Set(remote.Trustee{Teller: other.id(t), Key: key.Public(), Label: "other"})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

func (s *natsStore) replica(t testing.TB) *remote.Replica {
	return &remote.Replica{Workspace: s.Workspace, Transport: s.through, Keys: s.keys, Trust: s.trust(t), Label: "a store", Now: time.Now}
}

// keep puts a note. That it took long would mean that a remote keeps it waiting.
func (s *natsStore) keep(t testing.TB, id, text string) {
	t.Helper()
	body, err := s.Store.Prepare(context.Background(), []byte(text))
	var done []store.Outcome
	if err == nil {
		r := record.Record{Name: record.Name{Kind: record.KindNote, ID: id}, MediaType: "text/markdown", Source: record.SourcePut}
		done, err = s.Store.Put(context.Background(), store.Draft{Record: r, Body: body})
	}
	if err != nil {
		t.Errorf("put of %s: %v", id, err)
		return
	}
	s.acked = append(s.acked, done[0].Ref)
}

// exchange pulls and pushes.
func (s *natsStore) exchange(ctx context.Context, t testing.TB) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	_, err := s.replica(t).Pull(ctx)
	if err == nil {
		_, err = s.replica(t).Push(ctx)
	}
	return err
}

// act does something at random, some times or until the context is over. What goes wrong with the remote is expected.
func (s *natsStore) act(ctx context.Context, t testing.TB, number, times int, random *rand.Rand) {
	for n := len(s.acked); times > 0 && ctx.Err() == nil; n, times = n+1, times-1 {
		text := fmt.Sprintf("text %d of %d", n, number)
		if random.IntN(40) == 0 {
			text += strings.Repeat(" and more", 40_000) // which travels apart
		}
		id := fmt.Sprintf("own-%d-%d", number, n)
		if random.IntN(3) == 0 {
			id = fmt.Sprint("all-", random.IntN(4))
		}
		s.keep(t, id, text)
		limit := time.Second
		if random.IntN(4) == 0 {
			limit = time.Duration(random.IntN(100)) * time.Millisecond
		}
		at, cancel := context.WithTimeout(ctx, limit)
		var err error
		if random.IntN(2) == 0 {
			_, err = s.replica(t).Pull(at)
		} else {
			_, err = s.replica(t).Push(at)
		}
		if err != nil && at.Err() == nil && !errors.Is(err, remote.ErrAway) && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("store %d: %v", number, err)
		}
		cancel()
	}
}

// A content is what a store has.
type content struct {
	Records   map[record.Ref]bool
	Heads     map[record.Name]record.Ref
	Conflicts map[record.Ref]bool
}

func (s *natsStore) content(t testing.TB) content {
	t.Helper()
	c := content{map[record.Ref]bool{}, map[record.Name]record.Ref{}, map[record.Ref]bool{}}
	err := s.Store.View(context.Background(), func(tx *store.Tx) error {
		for e, err := range tx.Log(1) {
			if _, getErr := tx.Get(e.Ref); err != nil || getErr != nil {
				return errors.Join(err, getErr)
			}
			c.Records[e.Ref] = true
		}
		for n, err := range tx.Names(record.Name{}) {
			if c.Heads[n.Name] = n.Ref; err != nil {
				return err
			}
		}
		return nil
	})
	open, conflictsErr := s.Conflicts(context.Background())
	for _, o := range open {
		c.Conflicts[o.File.Ref] = true
	}
	if err = errors.Join(err, conflictsErr); err != nil {
		t.Fatal(err)
	}
	return c
}

// settle exchanges until no store has anything new, and compares them.
func settle(t testing.TB, all []*natsStore) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Minute)
	defer cancel()
	for range 3 { // to tell, to hear, and to say so
		for i, s := range all {
			err := s.exchange(ctx, t)
			for (errors.Is(err, remote.ErrAway) || errors.Is(err, context.DeadlineExceeded)) && ctx.Err() == nil {
				time.Sleep(200 * time.Millisecond)
				err = s.exchange(ctx, t)
			}
			if err != nil {
				t.Fatalf("store %d: %v", i, err)
			}
		}
	}
	first := all[0].content(t)
	for i, s := range all {
		here := s.content(t)
		if diff := cmp.Diff(first, here); diff != "" {
			t.Errorf("store %d is not as the first (-first +it): %.2000s", i, diff)
		}
		for _, ref := range s.acked {
			if !first.Records[ref] {
				t.Errorf("the first store has not heard of %s, which store %d has acknowledged", ref, i)
			}
		}
	}
}

// TestNATSStores has five stores work over three servers, all of which are disturbed: in a given order, between
// a few things that each store does. FILEBUS_NATS=600 does so for ten minutes, at random and at any moment; that all are the same
// then takes up to four times as long, more than go test allows without -timeout=1h.
func TestNATSStores(t *testing.T) {
	t.Parallel()
	seconds, seed := 0, uint64(1)
	if text := os.Getenv("FILEBUS_NATS"); text != "" {
		if _, err := fmt.Sscan(text, &seconds); err != nil || seconds < 1 {
			t.Fatalf("FILEBUS_NATS=%s is no positive number", text)
		}
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	c := newCluster(t)
	ready, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := c.make(ready); err != nil {
		t.Fatal(err)
	}
	var all []*natsStore
	var own []*rand.Rand
	for i := range 5 {
		all, own = append(all, newNATSStore(t, c.address())), append(own, rand.New(rand.NewPCG(seed, uint64(i+1))))
	}
	trustEachOther(t, all...)
	for _, event := range []string{"part", "stop", "part", "start", "wipe", "wipe all"} {
		var group sync.WaitGroup
		for i, s := range all {
			group.Go(func() { s.act(t.Context(), t, i, 2, own[i]) })
		}
		group.Wait()
		c.disturb(ready, all, event, random)
	}
	if seconds > 0 {
		c.disturbAtRandom(t, time.Duration(seconds)*time.Second, all, random, own)
	}
	for _, s := range all {
		s.through.apart.Store(false)
	}
	c.heal()
	settle(t, all)
	c0 := all[0].content(t)
	t.Logf("%d records, %d heads, %d conflicts", len(c0.Records), len(c0.Heads), len(c0.Conflicts))
}

// disturbAtRandom disturbs stores at work for some time.
func (c *cluster) disturbAtRandom(t *testing.T, how time.Duration, all []*natsStore, random *rand.Rand, own []*rand.Rand) {
	ctx, stop := context.WithTimeout(t.Context(), how)
	defer stop()
	var group sync.WaitGroup
	for i, s := range all {
		group.Go(func() { s.act(ctx, t, i, math.MaxInt, own[i]) })
	}
	events := []string{"stop", "stop", "stop", "start", "start", "start", "wipe", "wipe all", "part", "part"}
	for ctx.Err() == nil {
		c.disturb(ctx, all, events[random.IntN(len(events))], random)
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(random.IntN(600)) * time.Millisecond):
		}
	}
	group.Wait()
}

// disturb does something to servers or stores.
func (c *cluster) disturb(ctx context.Context, all []*natsStore, event string, random *rand.Rand) {
	switch i := random.IntN(3); event {
	case "stop":
		c.stop(i)
	case "start":
		c.each((*cluster).start)
	case "wipe":
		c.wipe(i)
	case "wipe all":
		_ = c.wipeAll(ctx) // heal does so again
	case "part":
		s := all[random.IntN(len(all))]
		s.through.apart.Store(!s.through.apart.Load())
	}
}

// wipeAll takes the streams away, and makes them again.
func (c *cluster) wipeAll(ctx context.Context) error {
	c.each((*cluster).stop)
	c.each((*cluster).wipe)
	return c.make(ctx)
}

// heal starts all servers. If they do not come to terms again after what was done to them, their keeper begins anew.
func (c *cluster) heal() {
	c.t.Helper()
	c.each((*cluster).start)
	soon, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := c.make(soon); err != nil {
		c.t.Logf("the servers begin anew: %v", err)
		later, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := c.wipeAll(later); err != nil {
			c.t.Fatal(err)
		}
	}
}

// TestNATSLost resets and restores what a server keeps, and damages it. A push tells again what is missing.
func TestNATSLost(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	admin, address := client(t, s.ClientURL()), s.ClientURL()
	openRemote(t, address, true)
	all := []*natsStore{newNATSStore(t, address), newNATSStore(t, address)}
	trustEachOther(t, all...)
	all[0].keep(t, "one", "the first text"+strings.Repeat(" and more", 40_000))
	all[1].keep(t, "two", "the second text")
	settle(t, all)
	purge := func(stream, subject string) {
		api(t, admin, "STREAM.PURGE."+stream, map[string]any{"filter": subject})
	}
	for what, lose := range map[string]func(){
		"segments": func() { purge("filebus_filebus", "filebus.blob.*.log.>") },
		"all":      func() { purge("filebus_filebus", ""); purge("filebus_filebus_state", "") },
		"one's":    func() { purge("filebus_filebus", "filebus.blob."+string(all[0].id(t))+".>") },
		"the streams": func() {
			api(t, admin, "STREAM.DELETE.filebus_filebus", nil)
			api(t, admin, "STREAM.DELETE.filebus_filebus_state", nil)
			_, err := all[0].replica(t).Push(t.Context())
			says(t, err, remote.ErrAway, "has no streams filebus_filebus", "filebus remote add NAME ADDRESS")
			openRemote(t, address, true)
		},
	} {
		lose()
		all[0].keep(t, "more "+what, "more")
		late := newNATSStore(t, address)
		trustEachOther(t, append(all, late)...)
		settle(t, append([]*natsStore{late}, all...))
	}

	// What was changed there is not taken in, and keeps nobody else from being heard.
	late, id := newNATSStore(t, address), string(all[0].id(t))
	trustEachOther(t, append(all, late)...)
	for _, name := range list(t, all[0].through).Blobs {
		span := name.Span()
		if name.Teller() != all[0].id(t) || name.Kind() != remote.KindSegment {
			continue
		}
		subject := "filebus.blob." + id + ".log." + string(span.Origin) + "." + span.String()
		purge("filebus_filebus", subject)
		if _, err := admin.Request(subject, []byte("something else"), 10*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	out, err := late.replica(t).Pull(t.Context())
	isNamed := func(r remote.Refused) bool { return errors.Is(r.Error, remote.ErrMalformed) }
	if err != nil || !slices.ContainsFunc(out.Refused, isNamed) {
		t.Errorf("Pull = %+v, %v; want that a segment is malformed", out, err)
	}
	if _, found := late.content(t).Heads[record.Name{Kind: record.KindNote, ID: "two"}]; !found {
		t.Error("the other store was not heard")
	}
}
