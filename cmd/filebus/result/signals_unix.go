//go:build unix

package result

import (
	"maps"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

// A reaction says what a signal that this process gets is for the command.
type reaction struct {
	typed   bool // it may be from the keys of a terminal: whoever is in our group has got it by itself
	spreads bool // whatever has left the command's group gets it too
	ends    bool // it tells whoever gets it to end
	insists bool
}

func reactions() map[os.Signal]reaction {
	return map[os.Signal]reaction{
		syscall.SIGINT:   {typed: true, ends: true},
		syscall.SIGQUIT:  {typed: true, ends: true},
		syscall.SIGTERM:  {spreads: true, ends: true, insists: true},
		syscall.SIGHUP:   {spreads: true, ends: true},
		syscall.SIGTSTP:  {typed: true},
		syscall.SIGCONT:  {typed: true},
		syscall.SIGWINCH: {typed: true},
		syscall.SIGUSR1:  {},
		syscall.SIGUSR2:  {},
		syscall.SIGPIPE:  {},
	}
}

// Signals returns the signals that a process which runs a command catches, for
// Command.Signals. The command hears of all but SIGPIPE: a reader of ours that
// has gone away must not end us, or nobody would store the output.
func Signals() []os.Signal { return slices.Collect(maps.Keys(reactions())) }

// groupAttr makes a process the leader of a group of its own, unless it has to
// stay in ours.
func groupAttr(foreground bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: !foreground}
}

// pass tells the command of a signal that we got. Told to stop, we stop after it.
func (c *Command) pass(p *os.Process, signal os.Signal) {
	number, _ := signal.(syscall.Signal) // it is one of Signals
	of := reactions()[signal]
	if of.spreads {
		c.left(p, number)
	}
	if number != syscall.SIGPIPE && !(of.typed && c.Foreground) {
		c.signal(p, number)
	}
	if number == syscall.SIGTSTP {
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) // of us, always allowed
	}
}

// terminate tells the command that its time is over. It may be stopped, and then
// would not hear of it.
func (c *Command) terminate(p *os.Process) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGCONT} {
		c.left(p, signal)
		c.signal(p, signal)
	}
}

func (c *Command) kill(p *os.Process) {
	c.left(p, syscall.SIGKILL)
	c.signal(p, syscall.SIGKILL)
}

// ends reports whether a signal tells whoever gets it to end, and whether it insists.
func ends(signal os.Signal) (end, insists bool) {
	of := reactions()[signal]
	return of.ends, of.insists
}

// endLeft ends what a command has left behind, which was told to end. Who does not has
// until a time; another such signal cuts that short.
func (c *Command) endLeft(p *os.Process, until time.Time) {
	for c.left(p, 0) > 0 && time.Now().Before(until) {
		select {
		case signal := <-c.Signals:
			if end, _ := ends(signal); end {
				until = time.Time{}
			}
		case <-time.After(leftPause):
		}
	}
	const killGrace = 2 * time.Second // how long killed processes may take to be gone
	for end := time.Now().Add(killGrace); c.left(p, 0) > 0 && time.Now().Before(end); time.Sleep(leftPause) {
		c.kill(p)
	}
}

// leftPause is how often it is looked whether what was left behind has ended.
const leftPause = 5 * time.Millisecond

// childEnds returns a channel that is told when a child of this process has ended, and
// what ends that.
func childEnds() (ended chan os.Signal, stop func()) {
	ended = make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	return ended, func() { signal.Stop(ended) }
}

// signal sends a signal to the group that the command leads, or to it alone if it
// is in ours.
func (c *Command) signal(p *os.Process, signal syscall.Signal) {
	if c.Foreground {
		_ = p.Signal(signal) // it may have ended
		return
	}
	_ = syscall.Kill(-p.Pid, signal) // as before
}

// signalOf returns the signal that ended a process, if one did.
func signalOf(state *os.ProcessState) (int, bool) {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return 0, false
	}
	return int(status.Signal()), true
}
