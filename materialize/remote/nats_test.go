package remote_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"filebus/materialize/remote"
	"filebus/materialize/remote/remotetest"
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
	s := newServer(t, nil)
	places := 0
	remotetest.Run(t, func(t *testing.T) func() remote.Transport {
		places++
		address := fmt.Sprintf("%s/place%d", s.ClientURL(), places)
		return func() remote.Transport { return openRemote(t, address, true) }
	})
}
