package result

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// adopt makes this process the parent of whatever is left without one below it, so that
// no descendant of a command gets out of sight by a group or a session of its own, or
// by the end of its parent.
func adopt() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) } // without it most are found still

// A process is what the system says of one.
type process struct {
	pid, parent, group int
	zombie             bool
	began              int // in ticks since the machine's start
}

// readProcess returns a process, and whether it is there.
func readProcess(pid int) (p process, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p, false
	}
	// The program's name stands in brackets and can hold anything.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 {
		return p, false
	}
	number := func(field int) int {
		n, _ := strconv.Atoi(fields[field]) // the system's own
		return n
	}
	return process{pid, number(1), number(2), fields[0] == "Z", number(19)}, true
}

// processes returns all processes that can be seen.
func processes() (all []process) {
	folder, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = folder.Close() }() // only read
	names, _ := folder.Readdirnames(-1)   // those that it has
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := readProcess(pid); ok {
				all = append(all, p)
			}
		}
	}
	return all
}

// startTime returns when a process began, in a unit of the system's.
func startTime(p *os.Process) int {
	of, _ := readProcess(p.Pid)
	return of.began
}

// left sends a signal to the processes outside its group that the command has started,
// they or theirs, and returns how many there are, those of the group included. What
// was a child of ours before it began is none of them. Adopted ones that have ended
// are laid to rest.
func (c *Command) left(leader *os.Process, signal syscall.Signal) (count int) {
	all, below := processes(), map[int]bool{leader.Pid: true}
	for more := true; more; {
		more = false
		for _, p := range all {
			adopted := c.Alone && p.parent == os.Getpid() && p.began >= c.began
			if below[p.pid] || !adopted && !below[p.parent] {
				continue
			}
			below[p.pid], more = true, true
			if p.zombie {
				_, _ = syscall.Wait4(p.pid, nil, syscall.WNOHANG, nil) // of another's child it says no
				continue
			}
			if count++; p.group != leader.Pid && signal != 0 {
				_ = syscall.Kill(p.pid, signal) // it may have ended
			}
		}
	}
	return count
}
