package remote

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"filebus/store/record"
)

// A Hold is a claim of one store among several: a lease.
type Hold struct {
	Of     string         `json:"of"` // a name
	Holder record.StoreID `json:"holder"`
	Label  Label          `json:"label"`
	Until  time.Time      `json:"until"`
}

// A Decider is a transport that decides who holds a thing when several stores claim it at once.
type Decider interface {
	// Hold claims a thing, and returns who holds it then: the one that is given, or another one whose
	// lease is not over at the time now.
	Hold(ctx context.Context, wanted Hold, now time.Time) (Hold, error)
}

// Decides reports whether the transport of an address is a Decider.
func Decides(address string) bool { return isNATS(address) }

var _ Decider = (*natsRemote)(nil)

// Hold keeps one message a thing, and replaces the one that it has read. It has lost where another store was
// faster. A lease of the past gives the thing up.
func (n *natsRemote) Hold(ctx context.Context, wanted Hold, now time.Time) (Hold, error) {
	subject := fmt.Sprintf("%s.claim.%x", n.address.prefix, sha256.Sum256([]byte(wanted.Of)))
	text, err := json.Marshal(wanted)
	for range natsTries {
		if err != nil {
			return Hold{}, err
		}
		var there Hold
		m, getErr := n.last(ctx, subject)
		switch {
		case isAbsent(getErr):
			m = &natsMessage{}
		case getErr != nil:
			return Hold{}, n.explained(getErr)
		case json.Unmarshal(m.Data, &there) == nil && there.Holder != wanted.Holder && there.Until.After(now),
			wanted.Until.Before(now) && there.Holder != wanted.Holder: // there is nothing to give up
			return there, nil
		}
		claim := &nats.Msg{Subject: subject, Data: text, Header: nats.Header{}}
		claim.Header.Set("Nats-Expected-Last-Subject-Sequence", strconv.FormatUint(m.Sequence, 10))
		if err = n.ask(ctx, claim, nil); err == nil {
			return wanted, nil
		} else if isFault(err, natsLostRace, natsLostRace2) {
			err = nil // who was faster is read
		}
	}
	return Hold{}, record.Busy.Errorf("too many claim %s at once", wanted.Of)
}
