package remote

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"filebus/store/folder"
	"filebus/store/record"
)

// A Seen is what a process has seen of a remote, for the next one to go on from. It is a hint: where it is nothing, as
// the zero Seen is, all is listed.
type Seen struct {
	Address        string                   // its digest
	Since          time.Time                // when all was listed
	Listing        *Listing                 // the last one; nil: the next one is of all
	Streams        streams                  // of a server
	Folders        map[string]*listedFolder // of a folder, by their paths; nil: there was none
	Pulled, Pushed look                     // after which nothing was left to do

	text []byte // as it is kept
}

// streams are those that were listed.
type streams struct {
	Last map[string]uint64 // the last sequence of each
	Made time.Time         // when that of the states was made
}

// A look is what decides whether there is something to do.
type look struct {
	listing *Listing  // as it was returned; that of its Seen, if it is kept
	Of      string    // digest of what the store has, and whom it trusts
	Time    time.Time // by the store's clock
}

// isAfter reports whether nothing is new since an older look. After half an hour who is silent may be another one.
func (l look) isAfter(o look) bool {
	return l.listing == o.listing && l.Of == o.Of && l.Time.Sub(o.Time).Abs() < orphaned/2
}

func (r *Replica) look(all *Listing) look {
	return look{all, record.DigestOf(fmt.Append(nil, r.Trust.All(), r.Label, r.heard, r.Filter)).String(), r.Now()}
}

// seenFile is where the last look at a remote is kept, beside its setting.
func seenFile(name string) string { return "." + name + ".seen" }

// LoadSeen reads what was seen of a remote; nothing, if that is not to be read.
func (s *Setting) LoadSeen(dir folder.Folder) *Seen {
	seen, address := &Seen{}, record.DigestOf([]byte(s.Address)).String()
	text, err := dir.Sub(Folder).ReadFile(seenFile(s.Name))
	if err != nil || json.Unmarshal(text, seen) != nil || seen.Address != address {
		return &Seen{Address: address}
	}
	if seen.text = text; seen.Folders != nil {
		seen.Listing = listingOf(seen.Folders)
	}
	seen.Pulled.listing, seen.Pushed.listing = seen.Listing, seen.Listing
	return seen
}

// Save keeps it, unless it is kept already.
func (s *Seen) Save(dir folder.Folder, name string) error {
	now := *s
	for _, l := range []*look{&now.Pulled, &now.Pushed} {
		if l.listing != s.Listing {
			*l = look{}
		}
	}
	if s.Folders != nil {
		now.Listing = nil // which they give again
	}
	text, err := json.Marshal(now)
	if err != nil || bytes.Equal(text, s.text) {
		return err
	}
	return dir.Sub(Folder).Replace(seenFile(name), text, false)
}
