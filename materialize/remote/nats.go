package remote

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"filebus/store/record"
)

// A natsRemote keeps blobs as messages of JetStream: one subject a blob, which holds one message.
// Segments and bodies are written once, in one stream; states and claims, of which the last one counts,
// are in another. JetStream is never the only copy: what it loses is told again.
type natsRemote struct {
	address natsAddress
	news    chan struct{} // has a value when something may have changed

	asking sync.Map // *nats.Msg → context.CancelCauseFunc, with why no answer will come

	refusal atomic.Pointer[error] // why the server has ended the last connection

	mu          sync.Mutex
	conn        *nats.Conn
	isListening bool                    // to news, since a listing
	isSure      bool                    // the streams are those that were seen
	seen        *Seen                   // its listing is not changed by who got it
	fresh       map[record.StoreID]bool // who has put something since
}

// A natsAddress is nats://HOST[:PORT][,HOST…]/PREFIX?OPTIONS, or the same with tls:.
type natsAddress struct {
	servers string
	shown   string // without passwords
	prefix  string // of the subjects: a project's own
	options url.Values
	base    string // where relative paths of files begin
}

// natsOptions are those of an address: files with credentials and certificates, the prefix of answers,
// the monitoring page of a server, and how many replicas new streams get.
var natsOptions = []string{"creds", "ca", "cert", "key", "inbox", "monitor", "replicas"}

func isNATS(address string) bool {
	return strings.HasPrefix(address, "nats://") || strings.HasPrefix(address, "tls://")
}

const usualPrefix = "filebus"

func parseNATS(address, base string) (a natsAddress, err error) {
	scheme, rest, _ := strings.Cut(address, "://")
	rest, query, _ := strings.Cut(rest, "?")
	hosts, prefix, _ := strings.Cut(rest, "/")
	a = natsAddress{prefix: cmp.Or(prefix, usualPrefix), base: base}
	if a.options, err = url.ParseQuery(query); err != nil {
		return a, record.Usage.Errorf("the address %q: %w", Shown(scheme+"://"+rest), err)
	}
	for key := range a.options {
		if !slices.Contains(natsOptions, key) {
			return a, record.Usage.Errorf("the address %q has an option %q; known are %s", Shown(scheme+"://"+rest), key, strings.Join(natsOptions, ", "))
		}
	}
	if hosts == "" || len(a.prefix) > 40 || strings.Trim(a.prefix, letters+"-_") != "" {
		return a, record.Usage.Errorf("the address %q is not %s://HOST:PORT/PREFIX, with letters, digits, - and _ in PREFIX", Shown(address), scheme)
	}
	for host := range strings.SplitSeq(hosts, ",") {
		a.servers += "," + scheme + "://" + host
		a.shown += "," + scheme + "://" + host[strings.LastIndexByte(host, '@')+1:]
	}
	a.servers, a.shown = a.servers[1:], a.shown[1:]
	return a, nil
}

func openNATS(ctx context.Context, address string, options Options) (Transport, error) {
	a, err := parseNATS(address, options.Base)
	n := &natsRemote{address: a, news: make(chan struct{}, 1), seen: options.Seen}
	if err == nil && options.Create {
		err = n.make(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

// file returns the path that an option names.
func (a natsAddress) file(option string) string {
	path := a.options.Get(option)
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.base, path)
}

const (
	natsConnect = 5 * time.Second
	natsAnswer  = 10 * time.Second // how long an answer is waited for
	natsTries   = 5
	natsLag     = 25 * time.Millisecond // from news to what they tell, as a rule
)

// connection returns the connection, which is made when it is needed first. It is made again by itself.
func (n *natsRemote) connection(ctx context.Context) (*nats.Conn, error) {
	made := make(chan func() (*nats.Conn, error), 1)
	go func() {
		conn, err := n.connect()
		made <- func() (*nats.Conn, error) { return conn, err }
	}()
	select {
	case get := <-made:
		return get()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (n *natsRemote) connect() (*nats.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.conn != nil && !n.conn.IsClosed() {
		return n.conn, nil
	}
	options := []nats.Option{
		nats.Name("filebus"), nats.Timeout(natsConnect), nats.MaxReconnects(-1), nats.ReconnectWait(natsTries * 100 * time.Millisecond), nats.NoEcho(),
		nats.ReconnectHandler(func(*nats.Conn) { n.forget(); n.tell() }), nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { n.end(err) }),
		nats.ErrorHandler(func(conn *nats.Conn, _ *nats.Subscription, err error) {
			isNews := strings.Contains(err.Error(), `Subscription to "`+n.address.prefix+".") // which Wait does without
			if errors.Is(err, nats.ErrPermissionViolation) && !isNews {
				n.refusal.Store(&err)
				n.mu.Lock()
				if n.conn == conn {
					n.conn = nil // with the next one the server says it again
				}
				n.mu.Unlock()
				n.end(err)
				go conn.Close()
			}
		}),
	}
	creds, ca, cert := n.address.file("creds"), n.address.file("ca"), n.address.file("cert")
	for _, o := range []struct {
		name, file string
		option     nats.Option
	}{
		{"creds", creds, nats.UserCredentials(creds)}, {"ca", ca, nats.RootCAs(ca)}, {"cert", cert, nats.ClientCert(cert, n.address.file("key"))},
	} {
		if o.file == "" {
			continue
		}
		if _, err := os.Stat(o.file); err != nil {
			return nil, record.NotFound.Errorf("%s=FILE in the address of %s: %w", o.name, n.address.shown, err)
		}
		options = append(options, o.option)
	}
	if inbox := n.address.options.Get("inbox"); inbox != "" {
		options = append(options, nats.CustomInboxPrefix(inbox))
	}
	conn, err := nats.Connect(n.address.servers, options...)
	if of := (*url.Error)(nil); errors.As(err, &of) {
		err = of.Err // it would name the address with its password
	}
	if err != nil {
		return nil, n.unconnected(err)
	}
	n.refusal.Store(nil)
	n.conn, n.isListening, n.isSure = conn, false, false
	return conn, nil
}

// unconnected says why there is no connection. What time does not mend is told apart.
func (n *natsRemote) unconnected(err error) error {
	hint, isNet, unverified := "", net.Error(nil), (*tls.CertificateVerificationError)(nil)
	switch {
	case errors.As(err, &unverified):
		hint = "ADDRESS?ca=FILE, if the certificate of its authority is in FILE"
	case errors.Is(err, nats.ErrSecureConnWanted):
		hint = "nats:// in the address, if nobody else reads what passes"
	case errors.Is(err, nats.ErrAuthorization):
		hint = "ADDRESS?creds=FILE, with what the server's owner gives out"
	case errors.Is(err, nats.ErrNoServers), errors.Is(err, nats.ErrTimeout), errors.As(err, &isNet), errors.Is(err, io.EOF):
		return n.away("cannot be reached: %v", err)
	}
	return record.Untrusted.Errorf("connecting to %s: %w", n.address.shown, err).Try(hint)
}

// away says that something may go well later. A cause is not wrapped: io.EOF, as of a server that ends, is no end of a blob.
func (n *natsRemote) away(format string, args ...any) error {
	why := fmt.Sprintf(format, args...)
	return record.Busy.Errorf("the remote %s %s", n.address.shown, why).Because(ErrAway).Try("it again later; nothing is lost meanwhile")
}

// end ends what waits for an answer that will not come. Without a reason it was the user who closed a connection.
func (n *natsRemote) end(why error) {
	n.asking.Range(func(_, end any) bool {
		if why != nil {
			end.(context.CancelCauseFunc)(why)
		}
		return true
	})
}

func (n *natsRemote) tell() {
	select {
	case n.news <- struct{}{}:
	default:
	}
}

func (n *natsRemote) subjects(below string) string { return n.address.prefix + below }

// stream returns the name of that which keeps a subject.
func (n *natsRemote) stream(subject string) string {
	if strings.HasPrefix(subject, n.subjects(".blob.")) {
		return "filebus_" + n.address.prefix
	}
	return "filebus_" + n.address.prefix + "_state"
}

func (n *natsRemote) subject(name Name) string {
	if name.kind == KindState {
		return n.subjects(".state." + string(name.teller))
	}
	return n.subjects(".blob." + strings.ReplaceAll(name.String(), "/", "."))
}

// name is the other way round; ok is false for what is no blob.
func (n *natsRemote) name(subject string) (name Name, ok bool) {
	path := strings.ReplaceAll(strings.TrimPrefix(subject, n.subjects(".blob.")), ".", "/")
	if teller, isState := strings.CutPrefix(subject, n.subjects(".state.")); isState {
		path = teller + "/state"
	}
	name, err := ParseName(path)
	return name, err == nil && n.subject(name) == subject
}

// ask sends a message and reads the answer, which is JSON.
func (n *natsRemote) ask(ctx context.Context, m *nats.Msg, answer any) error {
	conn, err := n.connection(ctx)
	if err != nil {
		return err
	}
	limit, cancel := context.WithTimeout(ctx, natsAnswer)
	defer cancel()
	limit, end := context.WithCancelCause(limit)
	defer end(nil)
	n.asking.Store(m, end)
	defer n.asking.Delete(m)
	got, err := conn.RequestMsgWithContext(limit, m)
	if err != nil {
		said := context.Cause(limit)
		if why := n.refusal.Load(); why != nil && errors.Is(err, nats.ErrConnectionClosed) { // after what was asked before
			said = *why
		}
		switch {
		case errors.Is(said, nats.ErrPermissionViolation):
			return record.Untrusted.Errorf("the server of %s refuses: %w", n.address.shown, said).
				Try("its owner, who gives the rights to " + n.address.prefix + ".>, $JS.API.> and answers; or ADDRESS?inbox=PREFIX, where answers have another one")
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, nats.ErrNoResponders):
			return n.away("has no stream for %s by now, or no leader of it, or no JetStream", m.Subject)
		case errors.Is(err, nats.ErrMaxPayload):
			return record.Failed.Errorf("the server takes messages of at most %d bytes: %w", conn.MaxPayload(), err)
		default:
			return n.away("gives no answer: %v", cmp.Or(said, err))
		}
	}
	var head struct {
		Error *natsFault `json:"error"`
	}
	if err = json.Unmarshal(got.Data, &head); err == nil && head.Error == nil && answer != nil {
		err = json.Unmarshal(got.Data, answer)
	}
	switch {
	case err != nil:
		return malformed("the answer of "+n.address.shown, "%v", err)
	case head.Error == nil:
		return nil
	case slices.Contains(natsPasses, head.Error.Code):
		return n.away("has no leader by now: %v", head.Error)
	}
	return head.Error
}

func (n *natsRemote) call(ctx context.Context, api string, request, answer any) error {
	text, err := json.Marshal(request)
	if err != nil {
		return err
	}
	return n.ask(ctx, &nats.Msg{Subject: "$JS.API." + api, Data: text}, answer)
}

// A natsStream is what JetStream says of a stream.
type natsStream struct {
	nats.StreamInfo
	Total int `json:"total"` // of the subjects, of which an answer has a part
}

// make makes the streams that are not there. Those that are stay as they are.
func (n *natsRemote) make(ctx context.Context) error {
	replicas, err := strconv.Atoi(cmp.Or(n.address.options.Get("replicas"), "1"))
	if err != nil || replicas < 1 || replicas > 5 {
		return record.Usage.Errorf("%q is no number of replicas: it is 1, 3 or 5", n.address.options.Get("replicas"))
	}
	for _, c := range []nats.StreamConfig{
		{Subjects: []string{n.subjects(".blob.>")}, Discard: nats.DiscardNew, DiscardNewPerSubject: true},
		{Subjects: []string{n.subjects(".state.>"), n.subjects(".claim.>")}, Discard: nats.DiscardOld},
	} {
		c.Name, c.Replicas, c.MaxMsgsPerSubject = n.stream(c.Subjects[0]), replicas, 1
		var there natsStream
		err := n.call(ctx, "STREAM.INFO."+c.Name, struct{}{}, &there)
		if isFault(err, natsNoStream) {
			if err = n.call(ctx, "STREAM.CREATE."+c.Name, c, &there); isFault(err, natsIsMade) { // by another machine, at once
				err = n.call(ctx, "STREAM.INFO."+c.Name, struct{}{}, &there)
			}
		}
		if err = cmp.Or(err, n.check(there.Config)); err != nil {
			return n.explained(err)
		}
	}
	return nil
}

// check refuses a stream that somebody has made otherwise: one that keeps older messages has what is
// destroyed, and one that is a queue forgets.
func (n *natsRemote) check(c nats.StreamConfig) error {
	isRight := c.Name != n.stream(n.subjects(".blob.")) || c.Discard == nats.DiscardNew && c.DiscardNewPerSubject
	if isRight && c.Retention == nats.LimitsPolicy && c.MaxMsgsPerSubject == 1 && !c.NoAck && !c.DenyDelete {
		return nil
	}
	return record.Conflict.Errorf("the stream %s at %s was made for something else: it does not keep one message a subject, which can be deleted",
		c.Name, n.address.shown).Try("another PREFIX in the address; or remove the stream, if nobody needs it, and add the remote again")
}

// natsHints says what helps against the faults of a server, by their codes.
func natsHints() map[int]string {
	const room = "it again when the server's owner has given the stream or the account more room; nothing is lost meanwhile"
	const limits = "the server's owner, who raises the limits of the account, or makes the streams"
	const jetStream = "the server's owner, who runs JetStream (-js) for this account"
	return map[int]string{
		natsNotStored: room, 10002: room, 10023: room, 10028: room, 10047: room,
		10005: limits, 10027: limits, 10113: limits, 10122: limits,
		10074: "ADDRESS?replicas=1: the server is alone",
		10065: "another PREFIX in the address: some stream has its subjects",
		10039: jetStream, 10076: jetStream,
	}
}

// explained says what helps.
func (n *natsRemote) explained(err error) error {
	fault := (*natsFault)(nil)
	if !errors.As(err, &fault) || errors.Is(err, ErrAway) {
		return err
	}
	if fault.Code == natsNoStream {
		return record.NotFound.Errorf("%s has no streams %s", n.address.shown, n.stream(n.subjects(".blob."))).Because(ErrAway).
			Try("filebus remote add NAME ADDRESS --create, by somebody who may make streams; first filebus remote rm NAME, if it is known")
	}
	return record.Failed.Errorf("the server of %s refuses: %w", n.address.shown, fault).Try(natsHints()[fault.Code])
}

// A natsMessage is one that is stored.
type natsMessage struct {
	Subject  string `json:"subject"`
	Sequence uint64 `json:"seq"`
	Header   []byte `json:"hdrs"`
	Data     []byte `json:"data"`
}

const partsHeader = "Filebus-Parts"

// parts returns in how many messages a blob is that is too long for one; 0: in this one.
func (m *natsMessage) parts() int {
	header, _ := nats.DecodeHeadersMsg(m.Header)
	parts, _ := strconv.Atoi(header.Get(partsHeader)) // 0, if it is wrong, shows as a blob that is malformed
	return parts
}

func (n *natsRemote) last(ctx context.Context, subject string) (*natsMessage, error) {
	var got struct {
		Message natsMessage `json:"message"`
	}
	err := n.call(ctx, "STREAM.MSG.GET."+n.stream(subject), map[string]any{"last_by_subj": subject}, &got)
	if isFault(err, natsNoMessage) {
		return nil, &fs.PathError{Op: "get", Path: subject, Err: fs.ErrNotExist}
	}
	return &got.Message, err
}

func (n *natsRemote) Get(ctx context.Context, name Name) (io.ReadCloser, error) {
	if err := name.Check(); err != nil {
		return nil, err
	}
	m, err := n.last(ctx, n.subject(name))
	if isAbsent(err) && name.kind == KindSegment {
		n.forget()
	}
	if err != nil {
		return nil, n.explained(err)
	}
	parts := m.parts()
	if parts == 0 {
		return io.NopCloser(bytes.NewReader(m.Data)), nil
	}
	from, to := io.Pipe()
	go func() {
		for at := 0; at < parts && err == nil; at++ {
			if m, err = n.last(ctx, part(n.subject(name), at)); err == nil {
				_, err = to.Write(m.Data)
			}
		}
		_ = to.CloseWithError(n.explained(err)) // without one it is the end
	}()
	return from, nil
}

// part returns the subject of a part of a blob.
func part(subject string, at int) string { return subject + "." + strconv.Itoa(at) }

// mostPart is how long a message of ours is at most, if the server takes as much.
const mostPart = 1 << 20

func (n *natsRemote) Put(ctx context.Context, name Name, size int64, from io.Reader) error {
	if err := name.Check(); err != nil {
		return err
	}
	conn, err := n.connection(ctx)
	if err != nil {
		return err
	}
	most, subject := min(conn.MaxPayload(), mostPart), n.subject(name)
	defer n.note(subject)    // nobody tells who has put it
	most -= min(512, most/2) // for the headers
	if size <= most {
		text, err := readExactly(from, size)
		if err != nil {
			return err
		}
		return n.put(ctx, subject, text, 0)
	}
	parts := 0
	for left := size; left > 0; parts++ {
		text, err := readExactly(io.LimitReader(from, min(left, most)), min(left, most))
		if err == nil {
			err = n.put(ctx, part(subject, parts), text, 0)
		}
		if err != nil {
			return err
		}
		left -= int64(len(text))
	}
	if _, err := readExactly(from, 0); err != nil {
		return err
	}
	return n.put(ctx, subject, nil, parts)
}

// readExactly reads all there is, which must be so much.
func readExactly(from io.Reader, size int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, size+1))
	if err == nil && int64(len(text)) != size {
		err = record.Usage.Errorf("a blob is not of its %d bytes", size)
	}
	return text, err
}

// put keeps a message under a subject, and reads it back. Whether one was kept that nobody has answered for
// is looked up, and done again if it was not.
func (n *natsRemote) put(ctx context.Context, subject string, text []byte, parts int) (err error) {
	m := &nats.Msg{Subject: subject, Data: text}
	if parts > 0 {
		m.Header = nats.Header{partsHeader: {strconv.Itoa(parts)}}
	}
	begin := time.Now()
	for try := 0; try < natsTries && time.Since(begin) < natsAnswer; try++ {
		if err != nil {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Duration(try) * 200 * time.Millisecond):
			}
		}
		err = n.ask(ctx, m, nil)
		if err != nil && !isStored(err) && !errors.Is(err, ErrAway) || ctx.Err() != nil {
			return n.explained(err)
		}
		there, getErr := n.last(ctx, subject)
		switch {
		case getErr == nil && bytes.Equal(there.Data, text) && there.parts() == parts:
			return nil
		case getErr == nil && isStored(err): // it is another one
			if err = n.remove(ctx, subject, there.Sequence); err == nil {
				err = n.removeParts(ctx, subject, parts)
			}
		case isFault(getErr, natsNoStream):
			return n.explained(getErr)
		default:
			err = cmp.Or(err, getErr)
		}
	}
	return n.explained(cmp.Or(err, n.away("has another message than what was put as %s", subject)))
}

// remove overwrites a message.
func (n *natsRemote) remove(ctx context.Context, subject string, sequence uint64) error {
	err := n.call(ctx, "STREAM.MSG.DELETE."+n.stream(subject), map[string]any{"seq": sequence}, nil)
	if isFault(err, natsNoMessage, 10043, 10057) { // it is gone since
		return nil
	}
	return err
}

func (n *natsRemote) Remove(ctx context.Context, name Name) error {
	if err := name.Check(); err != nil {
		return err
	}
	subject := n.subject(name)
	defer n.note(subject)
	m, err := n.last(ctx, subject)
	if err == nil {
		err = n.remove(ctx, subject, m.Sequence)
	}
	if err != nil && !isAbsent(err) {
		return n.explained(err)
	}
	return n.explained(n.removeParts(ctx, subject, 0)) // also those of a put that was cut short
}

// removeParts overwrites the parts of a blob from one on: the last one first, so that what is cut short leaves
// none behind a gap.
func (n *natsRemote) removeParts(ctx context.Context, subject string, from int) error {
	var all []uint64
	m, err := n.last(ctx, part(subject, from))
	for ; err == nil; m, err = n.last(ctx, part(subject, from+len(all))) {
		all = append(all, m.Sequence)
	}
	for i := len(all) - 1; i >= 0 && isAbsent(err); i-- {
		err = cmp.Or(n.remove(ctx, subject, all[i]), err)
	}
	if isAbsent(err) {
		return nil
	}
	return err
}

// Wait looks at the streams when there are news, and again: a message is told before it is stored.
func (n *natsRemote) Wait(ctx context.Context) error {
	n.mu.Lock()
	waits := n.isListening
	n.mu.Unlock()
	end, again, pause := time.After(longestWait), (<-chan time.Time)(nil), natsLag
	for waits && ctx.Err() == nil {
		select {
		case <-n.news:
			pause = natsLag
		case <-again:
			pause *= 2
		case <-end:
			return ctx.Err()
		case <-ctx.Done():
			return ctx.Err()
		}
		waits = !n.hasNew(ctx)
		again = time.After(pause)
	}
	return ctx.Err()
}

// Close does not wait for a connection that is being made.
func (n *natsRemote) Close() error {
	go func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.conn != nil {
			n.conn.Close()
		}
	}()
	return nil
}
