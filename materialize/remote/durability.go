package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"filebus/store/record"
)

// A Durability says what is known of how an engine keeps what it has acknowledged.
type Durability struct {
	Replicas int    `json:"replicas"`
	Sync     Known  `json:"sync"` // each message is on disk before it is acknowledged
	Why      string `json:"why"`
}

// Known is whether something is so, as far as anybody can tell.
type Known string

// What can be known.
const (
	KnownGood Known = "good"
	KnownBad  Known = "bad"
	Unknown   Known = "unknown"
)

func (d *Durability) String() string {
	replicas := "one replica, which is bad: what its disk loses is lost there"
	if d.Replicas > 1 {
		replicas = fmt.Sprintf("%d replicas, which is good", d.Replicas)
	}
	return fmt.Sprintf("%s; sync before an acknowledgement: %s, %s", replicas, d.Sync, d.Why)
}

// Durability asks the stream, and the server's monitoring page, if the address names it: an ordinary account
// does not see how often the server syncs.
func (n *natsRemote) Durability(ctx context.Context) (*Durability, error) {
	var s struct {
		Config struct {
			Replicas int    `json:"num_replicas"`
			Persist  string `json:"persist_mode"`
		} `json:"config"`
	}
	if err := n.call(ctx, "STREAM.INFO."+n.stream(n.subjects(".blob.")), struct{}{}, &s); err != nil {
		return nil, n.explained(err)
	}
	d := &Durability{s.Config.Replicas, Unknown, "the option monitor=http://HOST:8222 of the address would tell"}
	page := n.address.options.Get("monitor")
	switch {
	case s.Config.Persist == "async":
		d.Sync, d.Why = KnownBad, "the stream persists asynchronously"
	case page != "":
		d.ask(ctx, page)
	}
	return d, nil
}

// ask reads a monitoring page.
func (d *Durability) ask(ctx context.Context, page string) {
	var said struct {
		Config *struct {
			SyncAlways   bool  `json:"sync_always"`
			SyncInterval int64 `json:"sync_interval"` // in nanoseconds
		} `json:"config"`
	}
	err := getJSON(ctx, strings.TrimSuffix(page, "/")+"/jsz?config=true", &said)
	switch {
	case err != nil:
		d.Why = "its monitoring page does not tell: " + err.Error()
	case said.Config == nil:
		d.Why = "its monitoring page does not tell"
	case said.Config.SyncAlways:
		d.Sync, d.Why = KnownGood, "sync_interval is always"
	default:
		d.Sync, d.Why = KnownBad, "sync_interval is not always: set it in the server's configuration"
	}
}

func getJSON(ctx context.Context, address string, to any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	answer, err := (&http.Client{Timeout: natsConnect}).Do(request)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		err = record.Failed.Errorf("it answers %s", answer.Status)
	} else {
		err = json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(to)
	}
	return errors.Join(err, answer.Body.Close())
}
