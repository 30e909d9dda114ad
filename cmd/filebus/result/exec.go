package result

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"filebus/materialize"
	"filebus/query"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// A Command is a program to be run by Exec, and what it is given. It is not used
// twice.
type Command struct {
	Args   []string  // the program, by path or by a name on PATH, and its arguments
	Dir    string    // where it runs; "": the working directory
	Env    []string  // as of os.Environ; Exec adds the FILEBUS_ variables
	Stdin  io.Reader // an *os.File becomes the program's own; nil: empty
	Stderr io.Writer // likewise; nil: dropped
	Tee    io.Writer // gets the output too while it comes; nil: nobody does
	Else   io.Writer // gets an output that stays out: see store.Bar; nil: nobody does

	// Foreground leaves the program in our process group, so that it can read
	// the terminal. Otherwise it leads a group of its own, which is told of
	// signals as a whole.
	Foreground bool
	Timeout    time.Duration    // after which it is told to end; 0: none
	KillAfter  time.Duration    // after that, until it is killed
	Signals    <-chan os.Signal // are passed on: see Signals; nil: none come
	// Alone says that this process has nothing else to do: it adopts whatever loses
	// its parent below the command, so that none of that gets away.
	Alone bool

	program string // the file to run
	began   int    // see startTime
}

// An ExitCode is one that is not the command's own, as timeout(1) has them. It is the
// detail of an error that a program cannot be run.
type ExitCode int

const (
	exitConflict      ExitCode = 4 // filebus's own for a conflict
	exitTimeout       ExitCode = 124
	exitNotExecutable ExitCode = 126
	exitNotFound      ExitCode = 127
	exitSignal        ExitCode = 128 // and the number of the signal
)

// startError tells whose fault it is that a program could not be started: its
// own, or that of the system.
func startError(program string, err error) error {
	err = cmp.Or(errors.Unwrap(err), err) // without the path
	code, exit := record.Failed, exitNotExecutable
	switch system := syscall.Errno(0); {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		code, exit = record.NotFound, exitNotFound
	case errors.As(err, &system) && system.Temporary():
		return fmt.Errorf("running %s: %w", program, err)
	}
	return code.Errorf("running %s: %w", program, err).With(exit)
}

// Find looks for the program, so that a mistake shows before anything is made.
// The error has an ExitCode. Exec does it too.
func (c *Command) Find() error {
	switch {
	case c.program != "":
		return nil
	case len(c.Args) == 0 || c.Args[0] == "":
		return record.NotFound.Errorf(`running "": there is no program to run`).With(exitNotFound)
	}
	file, err := exec.LookPath(c.Args[0])
	if err != nil {
		return startError(c.Args[0], err)
	}
	if c.Dir != "" {
		if _, err := os.Stat(c.Dir); err != nil { // the system would say the same of a program
			return fmt.Errorf("running %s: %w", file, err)
		}
	}
	c.program = file
	return nil
}

// inputGrace is how long a program that has ended may leave behind somebody who
// reads our input or holds its stderr, where these are no files.
const inputGrace = time.Second

// process returns the process that the command becomes.
func (c *Command) process(output io.Writer, env []string) *exec.Cmd {
	return &exec.Cmd{
		Path: c.program, Args: c.Args, Dir: c.Dir, Env: env,
		Stdin: c.Stdin, Stdout: output, Stderr: c.Stderr,
		SysProcAttr: groupAttr(c.Foreground), WaitDelay: inputGrace,
	}
}

// An Execution is a command that was run, with what became of its output.
type Execution struct {
	*Stored // nil: the output waits in the spool, where Recover finds it, or it stays out
	// Status is how it ended: materialize.StatusDone, StatusFailed, StatusKilled,
	// StatusTimeout, or StatusInterrupted if the disk was full. The record's may be StatusInvalid instead.
	Status string
	// Exit is the command's exit code, 128 and the signal that killed it, or
	// 124 after its time.
	Exit int
	// Background says that a process which the command has left behind could
	// still write when its output was stored. Only what came until then is.
	Background bool
	// Waiting is the file of an output that could not be stored, absolute.
	Waiting string
}

// waits says where an output is that could not be stored.
func (e *Execution) waits(file string, err error) (*Execution, error) {
	e.Waiting = file
	return e, fmt.Errorf("the output could not be stored and waits in %s; the next command stores it: %w", file, err)
}

// Exec runs a command and stores its output, whatever it is and however the
// command ends, as the result of the call. Its ids are made before the start if
// they are missing, and another process that has taken a made one meanwhile gets
// it: the result then has a new one. So it has if somebody else has stored another
// text under an id that was given.
//
// The output goes directly into a file of the spool: it takes no memory, and
// survives this process. Once the command runs, the end of ctx stops nothing.
//
// A result that is there already is an error, as is a command that cannot be started:
// that has an ExitCode. Nothing is stored then, and there is no Execution. With an output that cannot be stored there is one.
func Exec(ctx context.Context, w *materialize.Workspace, c Call, command Command) (*Execution, error) {
	if err := command.Find(); err != nil {
		return nil, err
	}
	c.Program = strings.TrimSuffix(filepath.Base(command.Args[0]), ".exe")
	c.Command = command.digest()
	s, err := newSpool(ctx, w, c, command.Args)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, errors.Join(err, s.discard())
	}
	process := command.process(s.output, s.environ(w, command.Env))
	if command.Alone {
		adopt()
	}
	if err := process.Start(); err != nil {
		return nil, errors.Join(startError(command.program, err), s.discard())
	}
	copied := func() {}
	if command.Tee != nil {
		copied = follow(s.own, command.Tee)
	}
	end, err := command.wait(process)
	if err != nil {
		copied()
		return (&Execution{}).waits(s.own.Path(outputFile), errors.Join(err, s.output.Close(), s.release()))
	}
	run := &Execution{Exit: *end.Exit, Background: !s.quiet()}
	if s.isFull() {
		end.Status = worse(end.Status, materialize.StatusInterrupted)
	}
	run.Status = end.Status
	_ = s.writeEnd(end) // without it the result would be called interrupted
	ctx = context.WithoutCancel(ctx)
	run.Stored, err = s.store(ctx, w, s.call.Call, &end)
	copied()
	switch {
	case errors.Is(err, materialize.ErrSecret):
		return nil, errors.Join(err, s.discard())
	case errors.Is(err, store.ErrBarred):
		return run, errors.Join(err, s.copyTo(command.Else), s.discard())
	}
	if err != nil {
		return run.waits(s.own.Path(outputFile), errors.Join(err, s.release()))
	}
	run.Status = worse(run.Record.Status, run.Status) // the output itself may tell of a failure
	_ = s.discard()                                   // it is stored; what could not be removed the next command removes
	return run, nil
}

// digest tells the command from others by its arguments, and its input if that is a file.
func (c *Command) digest() string {
	digest := sha256.New()
	_, _ = io.WriteString(digest, strings.Join(c.Args, "\x00"))
	if file, isFile := c.Stdin.(*os.File); isFile {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			_, _ = io.Copy(digest, io.NewSectionReader(file, 0, info.Size())) // what cannot be read is no input
		}
	}
	return fmt.Sprintf("sha256:%x", digest.Sum(nil))
}

// Reuse returns the result of a call if it is there, the same command has made it, and it
// ended well: then nothing has to be run. Of one that ended badly the call Replaces the
// version. The result of another command is errTaken.
func (c *Call) Reuse(ctx context.Context, w *materialize.Workspace, command Command) (*Stored, error) {
	name, err := resultName(c.Conversation, c.ID)
	if err != nil {
		return nil, err
	}
	head, err := query.View(ctx, w.Store, func(tx *store.Tx) (store.Version, error) { return tx.Head(name) })
	var text []byte
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case !slices.Contains(head.Record.Links, record.Link{Type: record.LinkCommand, Target: command.digest()}):
		return nil, record.Conflict.Errorf("%s is there already (%s), and not the output of this command: nothing was run",
			name, head.Ref.Short()).Try("filebus show {1}, or another --call", head.Ref.Short()).With(exitConflict)
	}
	if text, err = w.TextOf(ctx, head); err != nil {
		return nil, err
	}
	problems, err := c.examine(&materialize.PutRequest{}, bytes.NewReader(text))
	if err != nil || len(problems) > 0 || head.Record.Status != materialize.StatusDone {
		c.Replaces = head.Ref
		return nil, err
	}
	put, err := w.Put(ctx, materialize.PutRequest{ // its facts are there, and its file may not be
		Kind: name.Kind, ID: name.ID, Text: bytes.NewReader(text), Expect: store.Current(head.Ref), Source: record.SourceExec,
	})
	return &Stored{PutResult: put}, err
}

// wait waits until the process ends, which signals and time bring about. Then none of
// its descendants is left, unless it took an interrupt well. What a command leaves
// behind that ends by itself goes on.
func (c *Command) wait(process *exec.Cmd) (ending, error) {
	c.began = startTime(process.Process)
	done := make(chan error, 1)
	go func() { done <- process.Wait() }()
	children, stop := childEnds() // of those that we have adopted, too
	defer stop()
	var timeout, kill <-chan time.Time
	if c.Timeout > 0 {
		timeout = time.After(c.Timeout)
	}
	timedOut, sure, until := false, false, time.Time{} // until: when it was told to end, and what time it has
	for {
		select {
		case err := <-done:
			if process.ProcessState == nil {
				return ending{}, fmt.Errorf("waiting for %s: %w", c.program, err)
			}
			if sure || !until.IsZero() && !process.ProcessState.Success() {
				c.endLeft(process.Process, until)
			}
			return endingOf(process.ProcessState, timedOut), nil
		case signal := <-c.Signals:
			c.pass(process.Process, signal)
			end, insists := ends(signal)
			if end {
				until = time.Now().Add(c.KillAfter)
			}
			if sure = sure || insists; insists && c.KillAfter > 0 {
				kill = time.After(c.KillAfter)
			}
		case <-children:
			c.left(process.Process, 0)
		case <-timeout:
			timedOut, sure = true, true
			c.terminate(process.Process)
			kill, until = time.After(c.KillAfter), time.Now().Add(c.KillAfter)
		case <-kill:
			c.kill(process.Process)
		}
	}
}

// endingOf returns how a process has ended.
func endingOf(state *os.ProcessState, timedOut bool) ending {
	exit := state.ExitCode()
	signal, killed := signalOf(state)
	end := ending{Status: materialize.StatusDone, Exit: &exit}
	switch {
	case timedOut:
		end.Status, exit = materialize.StatusTimeout, int(exitTimeout)
	case killed:
		end.Status, exit = materialize.StatusKilled, int(exitSignal)+signal
	case exit != 0:
		end.Status = materialize.StatusFailed
	}
	return end
}

// Pass runs a command whose output is not stored but goes to out, and returns its exit
// code as an Execution has it. The errors are those of Exec.
func Pass(command Command, out io.Writer) (exit int, err error) {
	if err := command.Find(); err != nil {
		return 0, err
	}
	process := command.process(out, command.Env)
	if err := process.Start(); err != nil {
		return 0, startError(command.program, err)
	}
	end, err := command.wait(process)
	if err != nil {
		return 0, err
	}
	return *end.Exit, nil
}

// follow copies a file to a writer while it grows. The function that it returns
// copies the rest, and returns when that is done.
func follow(own folder.Folder, to io.Writer) (finish func()) {
	f, err := own.Open(outputFile)
	if err != nil {
		return func() {}
	}
	finished, ended := make(chan struct{}), make(chan struct{})
	const followPause = 20 * time.Millisecond // how long the copy of an output lies behind, at most
	go func() {
		defer close(ended)
		defer func() { _ = f.Close() }() // only read
		tick := time.NewTicker(followPause)
		defer tick.Stop()
		for last := false; !last; {
			select {
			case <-tick.C:
			case <-finished:
				last = true
			}
			if copyNew(to, f) != nil {
				return // nobody looks any more; the output is stored all the same
			}
		}
	}()
	return func() { close(finished); <-ended }
}

// copyNew copies what a file has behind its offset now, however fast it grows.
func copyNew(to io.Writer, f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil || info.Size() <= at {
		return err
	}
	_, err = io.Copy(to, io.LimitReader(f, info.Size()-at))
	return err
}

// takenError says that there is a result with the ids that a call was given.
func takenError(name record.Name, ref record.Ref) error {
	return record.Conflict.Errorf("%s is there already (%s), and results are written once: nothing was run",
		name, ref.Short()).Try("filebus get {1}, or another --call", ref.Short()).Because(errTaken)
}

// maxID is the longest id of a conversation, in bytes: it becomes the name of a folder.
const maxID = 200

// resultName returns the name of a result whose ids may come from anywhere.
func resultName(conversation, call string) (record.Name, error) {
	id, err := Call{Conversation: conversation, ID: call}.id()
	if err != nil {
		return record.Name{}, err
	}
	name, err := record.NewName("", record.KindResult, id)
	if err != nil {
		return name, errCall("%w", err)
	}
	if materialize.IsProtected(conversation) {
		return name, errCall("the conversation %q is %w", conversation, materialize.ErrProtected)
	}
	return name, nil
}

// CheckFree returns the error with which Exec refuses the ids of a call, such as those
// of a result that is there. Whoever prepares for a command asks it first.
func (c Call) CheckFree(ctx context.Context, w *materialize.Workspace) error {
	if c.Conversation == "" || c.ID == "" {
		_, err := c.id()
		return err
	}
	return mayStore(ctx, w, c, false)
}

// mayStore finds out before a command runs whether its result can have its ids.
func mayStore(ctx context.Context, w *materialize.Workspace, c Call, newConversation bool) error {
	name, err := resultName(c.Conversation, c.ID)
	if err != nil {
		return err
	}
	if err := w.MayPut(ctx, name.ID); err != nil {
		return err
	}
	file, err := w.PathOf(name)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s cannot be written: %w", name, err)
	}
	return w.Store.View(ctx, func(tx *store.Tx) error {
		head, err := tx.Head(name)
		switch {
		case err == nil && head.Ref == c.Replaces:
			return nil
		case err == nil:
			return takenError(name, head.Ref)
		case !errors.Is(err, store.ErrNotFound):
			return err
		case !newConversation:
			return nil
		}
		for at, err := range tx.Lookup(store.FieldConversation, c.Conversation) {
			if err != nil {
				return err
			}
			return takenError(name, at.Ref)
		}
		return nil
	})
}
