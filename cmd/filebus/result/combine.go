package result

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/query"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// A CombineRequest says which texts to join, and whose result that is. The call's
// From is added to the refs of the inputs.
type CombineRequest struct {
	Call
	// Inputs are files, refs, names and patterns of files or names, in order. A
	// pattern stands for the files that it matches, in the order of their bytes,
	// or for names if there is no such file.
	Inputs    []string
	Dir       string // that relative paths begin at, absolute
	Separator string // between two texts; nothing else is added to them
	Expected  int    // how many texts there must be; 0: any number
	Output    string // a file to write the text to, absolute; "": only the result's own
	Force     bool   // replace another text in Output
}

// A Combined is the result of a combine.
type Combined struct {
	*Stored
	Output  string   // the file that was asked for; "": only the result's own
	Texts   int      // that were combined
	Unread  []error  // why inputs were left out, which each names
	Differs []string // files that do not hold what is stored, and were read from disk
}

// Reference returns what a parent agent gets in place of the text.
func (c *Combined) Reference() record.Reference {
	r := c.Stored.Reference()
	r.ResultFile = cmp.Or(c.Output, r.ResultFile)
	return r
}

// countError says that another number of texts could be read than was expected, or
// none at all. That a count is wrong is a failure of the whole, whatever kept single
// inputs from being read.
func countError(read, expected int, unread []error) error {
	whys, args := "", []any{}
	for i, err := range unread {
		whys += []string{": %w", "; %w"}[min(i, 1)]
		args = append(args, err)
	}
	err := fmt.Errorf("nothing to combine"+whys, args...)
	if expected > 0 {
		why := strings.TrimPrefix(err.Error(), "nothing to combine")
		return record.Failed.Errorf("%d of the %d expected texts could be read; nothing was combined%s", read, expected,
			why)
	}
	return err
}

// Combine joins texts, stores the whole as a result that was made from them, and
// writes its files. It streams: texts may have any size. Inputs that cannot be
// read are left out and listed. Without an id of the call, the same texts joined
// again are the result that is there: in the conversation or, if that would be
// made, in any.
//
// If the number of texts is not the expected one, or none can be read, it returns
// an error, as if the output may not be written. An input
// that changes or fails while it is read is an error too. Nothing is stored then.
func Combine(ctx context.Context, w *materialize.Workspace, read *query.Reader, r CombineRequest) (*Combined, error) {
	c := combiner{gatherer: gatherer{w, read, r.Dir}, CombineRequest: r}
	const combineAgent = "combine_files" // the agent of a combined text, unless another one is named
	c.Agent = cmp.Or(c.Agent, combineAgent)
	in, err := c.gather(ctx, r.Inputs)
	if err != nil {
		return nil, err
	}
	if n := len(in.list); n == 0 || r.Expected > 0 && n != r.Expected {
		return nil, countError(n, r.Expected, in.unread)
	}
	c.in = in
	if c.Conversation == "" && c.Name == "" {
		c.Conversation = in.conversation()
	}
	done := &Combined{Output: r.Output, Texts: len(in.list), Unread: in.unread}
	c.From = nil
	for _, one := range in.list { // one that was given twice is there twice: so is its text
		if one.version.Record != nil {
			c.From = append(c.From, one.version.Ref)
		}
		if one.differs {
			done.Differs = append(done.Differs, one.given)
		}
	}
	c.From = append(c.From, r.From...)
	if done.Stored, err = c.run(ctx); err != nil {
		return nil, err
	}
	return done, nil
}

// conversation returns the conversation that all stored inputs share, if it can
// be that of the result.
func (in *inputs) conversation() string {
	shared := ""
	for i := range in.list {
		r := in.list[i].version.Record
		switch {
		case r == nil:
		case r.Conversation == "", shared != "" && r.Conversation != shared:
			return ""
		default:
			shared = r.Conversation
		}
	}
	return usableConversation(shared)
}

// A combiner carries out one request.
type combiner struct {
	gatherer
	CombineRequest
	in *inputs
}

// run stores the text, and then gives it the output's name.
func (c *combiner) run(ctx context.Context) (stored *Stored, err error) {
	var before []*record.Record // that the call may be one of
	if c.ID == "" && c.Name == "" {
		if before, err = c.madeBefore(ctx, c.read, record.SourceCombine); err != nil {
			return nil, err
		}
	}
	var out *output
	if c.Output != "" {
		if out, err = c.newOutput(ctx, c.Output, c.Force, c.in); err != nil {
			return nil, err
		}
		defer out.discard()
	}
	text, release, err := c.w.Store.Hold(ctx, c.text(ctx, c.in, c.Separator))
	defer release()
	if err != nil {
		return nil, err
	}
	digest, err := digestOf(ctx, again(text)())
	if out != nil && err == nil {
		digest, err = out.write(ctx, again(text)())
	}
	if err != nil {
		return nil, err
	}
	if len(before) > 0 {
		c.Name = idOfText(before, digest)
	}
	read, missing := len(c.in.list), len(c.in.unread)
	if missing > 0 {
		c.Status = layout.StatusPartial
	}
	r, err := c.request(record.SourceCombine, again(text)())
	if err != nil {
		return nil, err
	}
	if missing > 0 {
		r.Note = fmt.Sprintf("[partial: %d of %d]", read, read+missing)
	}
	if stored, err = c.put(ctx, c.w, r); err == nil && out != nil {
		err = out.publish(ctx, digest)
	}
	return stored, err
}

// ParseSeparator reads a separator as it is typed: \n, \t, \r and \\ stand for a
// line end, a tab, a carriage return and a backslash. Any other backslash is one.
func ParseSeparator(typed string) string {
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r").Replace(typed)
}

// What filebus itself makes of stored texts, combined texts and documents, is the
// same result when it is made again.

// madeBefore returns the results that were made from the versions of the call, in
// its order, by its agent and in one way: those of its conversation or, if that is
// to be made, of all. Tags that were added later do not count.
func (c Call) madeBefore(ctx context.Context, read *query.Reader, source record.Source) ([]*record.Record, error) {
	var found []*record.Record
	picked := record.Filter{
		Trees: []record.Tree{""}, Agents: []string{c.Facts().Agent}, Conversations: record.Any(c.Conversation),
	}
	err := eachResult(ctx, read, picked, func(s query.Summary, first store.Version) {
		if slices.Equal(s.Version.Record.From, c.From) && first.Record.Source == source {
			found = append(found, s.Version.Record)
		}
	})
	return found, err
}

// idOfText returns the id of the first of some results that has a text, or "".
func idOfText(results []*record.Record, text record.Digest) string {
	for _, r := range results {
		if r.Body == text {
			return r.Name.ID
		}
	}
	return ""
}

// usableConversation returns the conversation of a source if it can be that of a
// result, else "".
func usableConversation(id string) string {
	if _, err := resultName(id, "x"); err != nil {
		return ""
	}
	return id
}

// refused says why a file is not written.
func refused(file, why string) error {
	return record.Failed.Errorf("%s %s", file, why).Try("run it again with another --output")
}

// An output is a file that a result is written to besides its own. The text is
// written under a temporary name beside it, and appears under its own at once
// and whole.
type output struct {
	file  string // absolute
	force bool   // replace another text
	tmp   *os.File
}

// newOutput makes sure that a file can be written before anything is stored. It
// is none of the inputs, no file that is written once, and lies in no folder of
// git or of the store.
func (g gatherer) newOutput(ctx context.Context, file string, force bool, in *inputs) (*output, error) {
	if err := g.mayWrite(file, in); err != nil {
		return nil, err
	}
	if err := g.mayReplace(ctx, file); err != nil {
		return nil, err
	}
	return openOutput(file, force)
}

// openOutput makes the temporary file.
func openOutput(file string, force bool) (*output, error) {
	tmp, err := os.OpenFile(filepath.Join(filepath.Dir(file), folder.TemporaryName(".tmp")),
		os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", file, pathReason(err))
	}
	return &output{file, force, tmp}, nil
}

// WriteFile gives a file, absolute, a text: whole and durable, or not at all. A
// file that holds another text is ErrOutputTaken, unless it may be replaced.
func WriteFile(ctx context.Context, file string, text []byte, force bool) error {
	o, err := openOutput(file, force)
	if err != nil {
		return err
	}
	defer o.discard()
	digest, err := o.write(ctx, bytes.NewReader(text))
	if err != nil {
		return err
	}
	return o.publish(ctx, digest)
}

// mayWrite looks at the file and its folder.
func (g gatherer) mayWrite(file string, in *inputs) error {
	if info, err := os.Stat(filepath.Dir(file)); err != nil || !info.IsDir() {
		return refused(file, "cannot be written: its folder does not exist")
	}
	if err := CheckPlace(g.w, file); err != nil {
		return err
	}
	info, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("writing %s: %w", file, pathReason(err))
	case info.IsDir():
		return refused(file, "is a folder")
	case !info.Mode().IsRegular():
		return refused(file, "is not a regular file")
	}
	if slices.ContainsFunc(in.list, func(one input) bool { return one.isFile(g.w, info) }) {
		return refused(file, "is one of the inputs")
	}
	return nil
}

// CheckPlace reports materialize.ErrProtected for a file, absolute, in a folder of
// git or of the store, also by way of symbolic links. Neither the file nor its
// folder has to be there.
func CheckPlace(w *materialize.Workspace, file string) error {
	dir := folder.WithoutLinks(filepath.Dir(file))
	below, err := filepath.Rel(folder.WithoutLinks(w.Location.Store), dir)
	isGit := func(element string) bool { return strings.EqualFold(element, ".git") }
	if err == nil && filepath.IsLocal(below) || slices.ContainsFunc(strings.Split(filepath.ToSlash(dir), "/"), isGit) {
		return record.Usage.Errorf("%s: %w", file, materialize.ErrProtected)
	}
	return nil
}

// mayReplace refuses the file of a name that is written once: its text is the
// store's.
func (g gatherer) mayReplace(ctx context.Context, file string) error {
	found, err := g.read.ResolveAll(ctx, []string{g.storedPath(file)}, query.ResolveOptions{Root: g.w.Root, Dir: g.dir})
	if err != nil || found[0].Err != nil {
		return err
	}
	r := found[0].Version.Record
	if r.Name.Kind.IsOnce() && r.Name.Tree == "" && g.w.FilePath(r.Path) == file {
		return refused(file, "is the file of "+r.Name.String()+", which is written once")
	}
	return nil
}

// isFile reports whether an input is a file, or has one in the workspace.
func (in input) isFile(w *materialize.Workspace, file fs.FileInfo) bool {
	if in.file != "" {
		return os.SameFile(in.info, file)
	}
	if r := in.version.Record; r.Path != "" && r.Name.Tree == "" {
		info, err := os.Stat(w.FilePath(r.Path))
		return err == nil && os.SameFile(info, file)
	}
	return false
}

// write takes the text and returns its digest. A file that holds another text is
// ErrOutputTaken unless it may be replaced.
func (o *output) write(ctx context.Context, text io.Reader) (record.Digest, error) {
	d := record.NewDigester()
	_, err := io.Copy(io.MultiWriter(o.tmp, d), text)
	if err != nil {
		return d.Digest(), err
	}
	if err = o.tmp.Sync(); err != nil {
		return d.Digest(), fmt.Errorf("writing %s: %w", o.file, pathReason(err))
	}
	_, err = o.isDone(ctx, d.Digest())
	return d.Digest(), err
}

// isDone reports whether the file has a text already. If it has another, which may
// not be replaced, that is ErrOutputTaken.
func (o *output) isDone(ctx context.Context, text record.Digest) (bool, error) {
	f, _, err := openRegular(o.file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading %s: %w", o.file, pathReason(err))
	}
	got, err := digestOf(ctx, f)
	if err = errors.Join(err, f.Close()); err == nil && got != text && !o.force {
		err = o.conflict()
	}
	return got == text, err
}

func (o *output) conflict() error {
	err := record.Conflict.Errorf("%s holds another text", o.file).Because(ErrOutputTaken)
	return err.Try("run it again with another --output, or with --force to replace the file")
}

// publish gives the file its name. A file that has come up there meanwhile is not
// replaced, unless it may be.
func (o *output) publish(ctx context.Context, text record.Digest) error {
	if done, err := o.isDone(ctx, text); done || err != nil {
		return err
	}
	if !o.force {
		err := os.Link(o.tmp.Name(), o.file)
		if err == nil {
			o.settle()
			return nil
		}
		// Somebody was faster, perhaps with the same, or the disk knows no links.
		if done, doneErr := o.isDone(ctx, text); done || doneErr != nil {
			return doneErr
		}
		if errors.Is(err, fs.ErrExist) {
			return o.conflict() // a link that leads nowhere
		}
	} else if info, err := os.Stat(o.file); err == nil {
		_ = o.tmp.Chmod(info.Mode().Perm()) // as far as the file system has such a thing
	}
	if err := errors.Join(o.tmp.Close(), os.Rename(o.tmp.Name(), o.file)); err != nil {
		return fmt.Errorf("writing %s: %w", o.file, pathReason(err))
	}
	o.settle()
	return nil
}

// settle makes the new name durable, where the file system can: an output may lie
// on any, and its text is in the store too.
func (o *output) settle() { _ = store.SyncFolder(filepath.Dir(o.file)) }

// discard removes the temporary file, if it is still there.
func (o *output) discard() {
	_ = o.tmp.Close()           // it is removed, or was closed
	_ = os.Remove(o.tmp.Name()) // or was renamed
}
