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

	mu     sync.Mutex
	conn   *nats.Conn
	listed bool
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
		return a, record.Usage.Errorf("the address %q: %w", address, err)
	}
	for key := range a.options {
		if !slices.Contains(natsOptions, key) {
			return a, record.Usage.Errorf("the address %q has an option %q; known are %s", address, key, strings.Join(natsOptions, ", "))
		}
	}
	if hosts == "" || len(a.prefix) > 40 || strings.Trim(a.prefix, letters+"-_") != "" {
		return a, record.Usage.Errorf("the address %q is not %s://HOST:PORT/PREFIX, with letters, digits, - and _ in PREFIX", address, scheme)
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
	n := &natsRemote{address: a, news: make(chan struct{}, 1)}
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
		nats.ReconnectHandler(func(*nats.Conn) { n.tell() }), nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { n.end(err) }),
		nats.ErrorHandler(func(conn *nats.Conn, _ *nats.Subscription, err error) {
			isNews := strings.Contains(err.Error(), `Subscription to "`+n.address.prefix+".") // which Wait does without
			if errors.Is(err, nats.ErrPermissionViolation) && !isNews {
				n.refusal.Store(&err)
				n.end(err)
				go conn.Close() // with the next one the server says it again
			}
		}),
	}
	for _, o := range []struct {
		name string
		make func(file string) nats.Option
	}{
		{"creds", func(file string) nats.Option { return nats.UserCredentials(file) }},
		{"ca", func(file string) nats.Option { return nats.RootCAs(file) }},
		{"cert", func(file string) nats.Option { return nats.ClientCert(file, n.address.file("key")) }},
	} {
		if file := n.address.file(o.name); file != "" {
			if _, err := os.Stat(file); err != nil {
				return nil, record.NotFound.Errorf("%s=FILE in the address of %s: %w", o.name, n.address.shown, err)
			}
			options = append(options, o.make(file))
		}
	}
	if inbox := n.address.options.Get("inbox"); inbox != "" {
		options = append(options, nats.CustomInboxPrefix(inbox))
	}
	conn, err := nats.Connect(n.address.servers, options...)
	if err != nil {
		return nil, n.unconnected(err)
	}
	n.refusal.Store(nil)
	n.conn, n.listed = conn, false
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
		return n.away("cannot be reached: %w", err)
	}
	return record.Untrusted.Errorf("connecting to %s: %w", n.address.shown, err).Try(hint)
}

// away says that something may go well later.
func (n *natsRemote) away(format string, args ...any) error {
	return record.Busy.Errorf("the remote %s %w", n.address.shown, fmt.Errorf(format, args...)).Because(ErrAway).Try("it again later; nothing is lost meanwhile")
}

// end ends what waits for an answer that will not come.
func (n *natsRemote) end(why error) {
	n.asking.Range(func(_, end any) bool {
		end.(context.CancelCauseFunc)(why)
		return true
	})
}

func (n *natsRemote) tell() {
	select {
	case n.news <- struct{}{}:
	default:
	}
}

// The subjects and streams.
func (n *natsRemote) stream(isState bool) string {
	if isState {
		return "filebus_" + n.address.prefix + "_state"
	}
	return "filebus_" + n.address.prefix
}

func (n *natsRemote) subject(name Name) string {
	if name.kind == KindState {
		return n.address.prefix + ".state." + string(name.teller)
	}
	return n.address.prefix + ".blob." + strings.ReplaceAll(name.String(), "/", ".")
}

// name is the other way round; ok is false for what is no blob.
func (n *natsRemote) name(subject string) (name Name, ok bool) {
	path := strings.ReplaceAll(strings.TrimPrefix(subject, n.address.prefix+".blob."), ".", "/")
	if teller, isState := strings.CutPrefix(subject, n.address.prefix+".state."); isState {
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
			return n.away("gives no answer: %w", cmp.Or(said, err))
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
		return n.away("has no leader by now: %w", head.Error)
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
	Config natsConfig `json:"config"`
	State  struct {
		Subjects map[string]uint64 `json:"subjects"`
	} `json:"state"`
	Total  int `json:"total"`
	Offset int `json:"offset"`
	Limit  int `json:"limit"`
}

type natsConfig struct {
	Name          string   `json:"name"`
	Subjects      []string `json:"subjects"`
	Retention     string   `json:"retention"`
	Storage       string   `json:"storage"`
	Replicas      int      `json:"num_replicas"`
	MaxPerSubject int      `json:"max_msgs_per_subject"`
	Discard       string   `json:"discard"`
	DiscardNew    bool     `json:"discard_new_per_subject"`
	PersistMode   string   `json:"persist_mode,omitempty"`
	NoAck         bool     `json:"no_ack,omitempty"`
	DenyDelete    bool     `json:"deny_delete,omitempty"`
}

// make makes the streams that are not there. Those that are stay as they are.
func (n *natsRemote) make(ctx context.Context) error {
	replicas, err := strconv.Atoi(cmp.Or(n.address.options.Get("replicas"), "1"))
	if err != nil || replicas < 1 || replicas > 5 {
		return record.Usage.Errorf("%q is no number of replicas: it is 1, 3 or 5", n.address.options.Get("replicas"))
	}
	usual := natsConfig{Retention: "limits", Storage: "file", Replicas: replicas, MaxPerSubject: 1}
	for _, isState := range []bool{false, true} {
		c := usual
		c.Name, c.Subjects, c.Discard, c.DiscardNew = n.stream(isState), []string{n.address.prefix + ".blob.>"}, "new", true
		if isState {
			c.Subjects, c.Discard, c.DiscardNew = []string{n.address.prefix + ".state.>", n.address.prefix + ".claim.>"}, "old", false
		}
		var there natsStream
		err := n.call(ctx, "STREAM.INFO."+c.Name, struct{}{}, &there)
		if isFault(err, natsNoStream) {
			if err = n.call(ctx, "STREAM.CREATE."+c.Name, c, &there); isFault(err, natsIsMade) { // by another machine, at once
				err = n.call(ctx, "STREAM.INFO."+c.Name, struct{}{}, &there)
			}
		}
		if err = cmp.Or(err, n.check(there.Config, isState)); err != nil {
			return n.explained(err)
		}
	}
	return nil
}

// check refuses a stream that somebody has made otherwise: one that keeps older messages has what is
// destroyed, and one that is a queue forgets.
func (n *natsRemote) check(c natsConfig, isState bool) error {
	if c.Retention == "limits" && c.MaxPerSubject == 1 && !c.NoAck && !c.DenyDelete && (isState || c.Discard == "new" && c.DiscardNew) {
		return nil
	}
	return record.Conflict.Errorf("the stream %s at %s was made for something else: it does not keep one message a subject, which can be deleted",
		c.Name, n.address.shown).Try("another PREFIX in the address; or remove the stream, if nobody needs it, and add the remote again")
}

// explained says what helps.
func (n *natsRemote) explained(err error) error {
	fault, hint := (*natsFault)(nil), ""
	if !errors.As(err, &fault) || errors.Is(err, ErrAway) {
		return err
	}
	switch fault.Code {
	case natsNoStream:
		return record.NotFound.Errorf("%s has no streams %s", n.address.shown, n.stream(false)).Because(ErrAway).
			Try("filebus remote add NAME ADDRESS --create, by somebody who may make streams; first filebus remote rm NAME, if it is known")
	case natsNotStored, 10002, 10023, 10028, 10047:
		hint = "it again when the server's owner has given the stream or the account more room; nothing is lost meanwhile"
	case 10005, 10027, 10113, 10122:
		hint = "the server's owner, who raises the limits of the account, or makes the streams"
	case 10074:
		hint = "ADDRESS?replicas=1: the server is alone"
	case 10065:
		hint = "another PREFIX in the address: some stream has its subjects"
	case 10039, 10076:
		hint = "the server's owner, who runs JetStream (-js) for this account"
	}
	return record.Failed.Errorf("the server of %s refuses: %w", n.address.shown, fault).Try(hint)
}

func (n *natsRemote) List(ctx context.Context) (*Listing, error) {
	if err := n.listen(ctx); err != nil {
		return nil, err
	}
	l := &Listing{}
	for _, isState := range []bool{false, true} {
		filter := n.address.prefix + ".blob.*.log.>"
		if isState {
			filter = n.address.prefix + ".state.*"
		}
		for offset, more := 0, true; more; {
			var s natsStream
			request := map[string]any{"subjects_filter": filter, "offset": offset}
			if err := n.call(ctx, "STREAM.INFO."+n.stream(isState), request, &s); err != nil {
				return nil, n.explained(err)
			}
			if err := n.check(s.Config, isState); err != nil {
				return nil, err
			}
			for subject := range s.State.Subjects {
				n.take(l, subject)
			}
			offset += len(s.State.Subjects)
			more = s.Total > offset && len(s.State.Subjects) > 0
		}
	}
	return l.sort(), nil
}

func (n *natsRemote) take(l *Listing, subject string) {
	if name, ok := n.name(subject); ok {
		l.Blobs = append(l.Blobs, name)
	} else if _, isPart := n.name(subject[:max(strings.LastIndexByte(subject, '.'), 0)]); !isPart {
		l.Strays = append(l.Strays, Stray{subject, "is no blob"})
	}
}

// listen subscribes to news, before a listing: nothing is missed then.
func (n *natsRemote) listen(ctx context.Context) error {
	conn, err := n.connection(ctx)
	n.mu.Lock()
	defer n.mu.Unlock()
	if err != nil || n.listed {
		return err
	}
	for _, subject := range []string{".blob.*.log.>", ".state.*"} {
		if _, err := conn.Subscribe(n.address.prefix+subject, func(*nats.Msg) { n.tell() }); err != nil {
			return n.away("cannot be listened to: %w", err)
		}
	}
	if n.listed = true; conn.FlushTimeout(natsConnect) != nil {
		return n.away("does not answer")
	}
	return nil
}

// A natsMessage is one that is stored.
type natsMessage struct {
	Sequence uint64 `json:"seq"`
	Header   []byte `json:"hdrs"`
	Data     []byte `json:"data"`
}

const partsHeader = "Filebus-Parts"

// parts returns in how many messages a blob is that is too long for one; 0: in this one.
func (m *natsMessage) parts() int {
	for line := range bytes.Lines(m.Header) {
		if value, found := strings.CutPrefix(string(line), partsHeader+": "); found {
			parts, _ := strconv.Atoi(strings.TrimSpace(value)) // 0 shows as a blob that is malformed
			return parts
		}
	}
	return 0
}

func (n *natsRemote) last(ctx context.Context, isState bool, subject string) (*natsMessage, error) {
	var got struct {
		Message natsMessage `json:"message"`
	}
	err := n.call(ctx, "STREAM.MSG.GET."+n.stream(isState), map[string]any{"last_by_subj": subject}, &got)
	if isFault(err, natsNoMessage) {
		return nil, &fs.PathError{Op: "get", Path: subject, Err: fs.ErrNotExist}
	}
	return &got.Message, err
}

func (n *natsRemote) Get(ctx context.Context, name Name) (io.ReadCloser, error) {
	if err := name.Check(); err != nil {
		return nil, err
	}
	m, err := n.last(ctx, name.kind == KindState, n.subject(name))
	if err != nil {
		return nil, n.explained(err)
	}
	if m.parts() == 0 {
		return io.NopCloser(bytes.NewReader(m.Data)), nil
	}
	return &natsParts{ctx: ctx, of: n, isState: name.kind == KindState, subject: n.subject(name), parts: m.parts()}, nil
}

// A natsParts reads a blob of several messages.
type natsParts struct {
	ctx     context.Context
	of      *natsRemote
	isState bool
	subject string
	at      int
	parts   int
	rest    []byte
}

func (p *natsParts) Read(to []byte) (int, error) {
	for len(p.rest) == 0 {
		if p.at == p.parts {
			return 0, io.EOF
		}
		m, err := p.of.last(p.ctx, p.isState, p.subject+"."+strconv.Itoa(p.at))
		if err != nil {
			return 0, p.of.explained(err)
		}
		p.at, p.rest = p.at+1, m.Data
	}
	n := copy(to, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

func (p *natsParts) Close() error { return nil }

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
	most, isState, subject := min(conn.MaxPayload(), mostPart), name.kind == KindState, n.subject(name)
	most -= min(512, most/2) // for the headers
	if size <= most {
		text, err := readExactly(from, size)
		if err != nil {
			return err
		}
		return n.put(ctx, isState, subject, text, 0)
	}
	parts := 0
	for left := size; left > 0; parts++ {
		text, err := readExactly(io.LimitReader(from, min(left, most)), min(left, most))
		if err == nil {
			err = n.put(ctx, isState, subject+"."+strconv.Itoa(parts), text, 0)
		}
		if err != nil {
			return err
		}
		left -= int64(len(text))
	}
	if _, err := readExactly(from, 0); err != nil {
		return err
	}
	return n.put(ctx, isState, subject, nil, parts)
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
func (n *natsRemote) put(ctx context.Context, isState bool, subject string, text []byte, parts int) (err error) {
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
		there, getErr := n.last(ctx, isState, subject)
		switch {
		case getErr == nil && bytes.Equal(there.Data, text) && there.parts() == parts:
			return nil
		case getErr == nil && isStored(err): // it is another one
			if err = n.remove(ctx, isState, there.Sequence); err == nil {
				err = n.removeParts(ctx, isState, subject, parts)
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
func (n *natsRemote) remove(ctx context.Context, isState bool, sequence uint64) error {
	err := n.call(ctx, "STREAM.MSG.DELETE."+n.stream(isState), map[string]any{"seq": sequence}, nil)
	if isFault(err, natsNoMessage, 10043, 10057) { // it is gone since
		return nil
	}
	return err
}

func (n *natsRemote) Remove(ctx context.Context, name Name) error {
	if err := name.Check(); err != nil {
		return err
	}
	isState, subject := name.kind == KindState, n.subject(name)
	m, err := n.last(ctx, isState, subject)
	if err == nil {
		err = n.remove(ctx, isState, m.Sequence)
	}
	if err != nil && !isAbsent(err) {
		return n.explained(err)
	}
	return n.explained(n.removeParts(ctx, isState, subject, 0)) // also those of a put that was cut short
}

// removeParts overwrites the parts of a blob from one on: the last one first, so that what is cut short leaves
// none behind a gap.
func (n *natsRemote) removeParts(ctx context.Context, isState bool, subject string, from int) error {
	var all []uint64
	next := func() (*natsMessage, error) { return n.last(ctx, isState, subject+"."+strconv.Itoa(from+len(all))) }
	part, err := next()
	for ; err == nil; part, err = next() {
		all = append(all, part.Sequence)
	}
	for i := len(all) - 1; i >= 0 && isAbsent(err); i-- {
		err = cmp.Or(n.remove(ctx, isState, all[i]), err)
	}
	if isAbsent(err) {
		return nil
	}
	return err
}

func (n *natsRemote) Wait(ctx context.Context) error {
	n.mu.Lock()
	isListed := n.listed
	n.mu.Unlock()
	if !isListed {
		return ctx.Err()
	}
	select {
	case <-n.news:
		return nil
	case <-time.After(longestWait):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
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
