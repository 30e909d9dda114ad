package remote_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"filebus/materialize/remote"
	"filebus/store/record"
)

// newServer starts a server of JetStream in this process.
func newServer(t testing.TB, change func(*server.Options)) *server.Server {
	t.Helper()
	options := &server.Options{
		Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), SyncAlways: true, NoSigs: true, NoLog: true,
	}
	if change != nil {
		change(options)
	}
	s, err := server.NewServer(options)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not start")
	}
	return s
}

func openRemote(t testing.TB, address string, create bool) remote.Transport {
	t.Helper()
	r, err := remote.Open(t.Context(), address, remote.Options{Create: create})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func TestNATS(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	places := 0
	testTransport(t, func(t *testing.T) func() remote.Transport {
		places++
		address := fmt.Sprintf("%s/place%d", s.ClientURL(), places)
		return func() remote.Transport { return openRemote(t, address, true) }
	})
}

// Five stores claim thirty issues at once: each is held by one. What is given up can be claimed by others,
// and so can what was held until a time that is over.
func TestHold(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	openRemote(t, s.ClientURL()+"/claims", true)
	var mu sync.Mutex
	holders, work := map[string][]record.StoreID{}, sync.WaitGroup{}
	for i := range 5 {
		store := record.StoreID(strings.Repeat(string(rune('a'+i)), 32))
		r := openRemote(t, s.ClientURL()+"/claims", false).(remote.Decider)
		work.Go(func() {
			for n := range 30 {
				of := fmt.Sprintf("issue/ISSUE-%03d", n)
				held, err := r.Hold(t.Context(), remote.Hold{Of: of, Holder: store, Label: "x", Until: now.Add(time.Hour)}, now)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				if held.Holder == store {
					holders[of] = append(holders[of], store)
				}
				mu.Unlock()
			}
		})
	}
	work.Wait()
	for of, by := range holders {
		if len(by) != 1 {
			t.Errorf("%s is held by %v", of, by)
		}
	}
	if len(holders) != 30 {
		t.Errorf("%d are held, want 30", len(holders))
	}
	r := openRemote(t, s.ClientURL()+"/claims", false).(remote.Decider)
	of, other := "issue/ISSUE-000", record.StoreID(strings.Repeat("f", 32))
	wanted := remote.Hold{Of: of, Holder: other, Label: "y", Until: now.Add(3 * time.Hour)}
	if held, err := r.Hold(t.Context(), wanted, now); err != nil || held.Holder == other {
		t.Errorf("what is held: %v, %v", held, err)
	}
	if held, err := r.Hold(t.Context(), wanted, now.Add(2*time.Hour)); err != nil || held.Holder != other {
		t.Errorf("a lease that is over: %v, %v", held, err)
	}
	wanted.Until = now.Add(-time.Second)
	if _, err := r.Hold(t.Context(), wanted, now); err != nil {
		t.Error(err)
	}
	if held, err := r.Hold(t.Context(), remote.Hold{Of: of, Holder: holders[of][0], Label: "x", Until: now.Add(time.Hour)}, now); err != nil || held.Holder != holders[of][0] {
		t.Errorf("what was given up: %v, %v", held, err)
	}
}
