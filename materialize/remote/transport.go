// Package remote is the place where stores meet: a remote keeps blobs under names. Each store
// writes below its own id alone, so that two machines never collide, and all read everything.
//
// A [Replica] is a store with one of its remotes: Push tells the store's log there, Pull takes in those of
// others, Status says how far each is. What a log does to a store is not decided here: see package materialize. A [Transport] moves blobs by their [Name]; [Open] finds that of an address. [Keys] are a user's own,
// [Trust] is those of others; [Publish] and [Fetch] sign and verify with them. A [State] is what
// a store says of itself. Others have made what a remote gives: nothing of it counts before its
// signature or its digest was verified.
package remote

import (
	"cmp"
	"context"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"filebus/store/record"
)

// A Transport keeps blobs under names. Its methods may be called at once, by several goroutines
// and from several machines. The zero Name is refused.
type Transport interface {
	// List returns what is there by now: the same listing as before, not to be changed, if nothing is new; what
	// was removed may be in it for some minutes. A remote that cannot be reached is an error, ErrAway
	// if it is not there at all, and never an empty list.
	List(ctx context.Context) (*Listing, error)
	// Get opens a blob; absence is fs.ErrNotExist. One that is replaced meanwhile is read as
	// it was, or reading fails. The caller closes the reader.
	Get(ctx context.Context, name Name) (io.ReadCloser, error)
	// Put keeps a blob of exactly that size, in place of an older one of that name. Others see
	// the old one or the new one, whole. After an error either may be there: put it again.
	Put(ctx context.Context, name Name, size int64, from io.Reader) error
	// Remove removes a blob. That it is absent is no error.
	Remove(ctx context.Context, name Name) error
	// Wait returns nil when something may have changed since this Transport's last List, at
	// once if there was none. It may return too early, and does so now and then.
	Wait(ctx context.Context) error
	// Close gives up what the transport holds. Wait ends with its context before.
	Close() error
}

// A Listing is what a remote holds. Bodies are not listed, for there can be many.
type Listing struct {
	Blobs  []Name  // the states and segments, in the order of their texts; segments may overlap
	Strays []Stray // in the order of their paths
}

// tellers returns the stores that have put something there.
func (l *Listing) tellers() (all []record.StoreID) {
	for _, name := range l.Blobs {
		all = append(all, name.teller)
	}
	return slices.Compact(all)
}

// sort puts a listing in order.
func (l *Listing) sort() *Listing {
	slices.SortFunc(l.Blobs, func(a, b Name) int {
		return cmp.Or(cmp.Compare(a.teller, b.teller), cmp.Compare(a.span.Origin, b.span.Origin), a.span.compare(b.span))
	})
	slices.SortFunc(l.Strays, func(a, b Stray) int { return cmp.Compare(a.Path, b.Path) })
	l.Blobs, l.Strays = slices.Compact(l.Blobs), slices.Compact(l.Strays)
	return l
}

// A Stray is something in a remote that is no blob, such as the "conflicted copy" of a program
// that synchronises. It is never read.
type Stray struct {
	Path string `json:"path"` // slash-separated, below the remote; raw bytes
	Why  string `json:"why"`  // such as "is a symbolic link"
}

// ErrAway says that a remote is not there: its disk is not mounted, or not synchronised yet.
const ErrAway record.Reason = "remote away"

// Options are what a transport needs besides its address.
type Options struct {
	Base   string // where relative paths begin
	Create bool   // make the remote if it is not there
	Seen   *Seen  // what an earlier process has seen, if one has; the transport goes on in it
}

// Open opens the remote at an address: a path, a file: URL, or the server of a stream. Unless it is to be
// made it need not be there by now.
func Open(ctx context.Context, address string, options Options) (Transport, error) {
	options.Seen = cmp.Or(options.Seen, &Seen{})
	if isNATS(address) {
		return openNATS(ctx, address, options)
	}
	dir, err := folderOf(address)
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(options.Base, dir)
	}
	f := newFolder(dir, options.Seen)
	if options.Create {
		err = f.create()
	}
	return f, err
}

// Shown returns an address without the users, passwords and tokens that it has.
func Shown(address string) string {
	scheme, rest, found := strings.Cut(address, "://")
	if !found || scheme == "file" {
		return address
	}
	var hosts []string
	for parts := strings.Split(rest, ","); len(parts) > 0; parts = parts[1:] { // a password may have a comma
		if at := strings.LastIndexByte(parts[0], '@'); at >= 0 || !strings.Contains(strings.Join(parts, ","), "@") {
			hosts = append(hosts, parts[0][at+1:])
		}
	}
	return scheme + "://" + strings.Join(hosts, ",")
}

// folderOf returns the folder that an address means. A single letter before a colon is a drive.
func folderOf(address string) (string, error) {
	dir := address
	if scheme, _, found := strings.Cut(address, ":"); found && len(scheme) > 1 && strings.Trim(scheme, letters+"+-") == "" {
		u, err := url.Parse(address)
		switch {
		case scheme != "file":
			return "", record.Usage.Errorf("the address %q begins with %q; known are paths, file:, nats: and tls:", Shown(address), scheme+":")
		case err != nil || u.Host != "" || u.RawQuery != "" || u.Fragment != "" || u.Path == "":
			return "", record.Usage.Errorf("the address %q names no folder of this machine; write file:///path, with %%3F for ? and %%23 for #", address)
		}
		dir = u.Path
	}
	if dir == "" || strings.ContainsRune(dir, 0) {
		return "", record.Usage.Errorf("the address %q names no folder", address)
	}
	return filepath.Clean(filepath.FromSlash(dir)), nil
}
