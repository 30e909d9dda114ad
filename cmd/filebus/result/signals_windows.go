package result

import (
	"os"
	"syscall"
	"time"
)

// Signals returns the signals that a process which runs a command catches, for
// Command.Signals. The console tells the command of Ctrl-C by itself; we only must
// not end.
func Signals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

// groupAttr returns nothing: whoever is in a group of its own does not hear of
// Ctrl-C.
func groupAttr(bool) *syscall.SysProcAttr { return nil }

// pass does nothing: there is no way to tell a process of a signal.
func (c *Command) pass(*os.Process, os.Signal) {}

// terminate ends the command: there is no way to ask.
func (c *Command) terminate(p *os.Process) { _ = p.Kill() } // it may have ended

func (c *Command) kill(p *os.Process) { _ = p.Kill() } // as before

// signalOf returns nothing: processes end with codes only.
func signalOf(*os.ProcessState) (int, bool) { return 0, false }

// ends reports that every signal which may come tells us to end; the command hears of
// none by us.
func ends(os.Signal) (end, insists bool) { return true, false }

// adopt, startTime, left and endLeft do nothing: what a command leaves behind is not
// seen.
func adopt()                                            {}
func startTime(*os.Process) int                         { return 0 }
func (c *Command) left(*os.Process, syscall.Signal) int { return 0 }
func (c *Command) endLeft(*os.Process, time.Time)       {}

func childEnds() (chan os.Signal, func()) { return nil, func() {} }
