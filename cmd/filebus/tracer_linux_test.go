//go:build amd64 || arm64

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// A tracer runs commands as processes of their own and stands at each of their
// calls of the system that change files: there it lets the process die, or answers
// in the system's place. Programs that a command runs are not traced.

// Numbers that package syscall does not have; they are the same on all machines.
const (
	ptraceGetSyscallInfo = 0x420e
	ptraceExitKill       = 0x100000
	syscallStop          = syscall.SIGTRAP | 0x80
	waitOwnThread        = 0x20000000 // __WNOTHREAD: what other threads have started is theirs
)

// A fileCall is one call that changes files, or asks for the turn at a store or index.
type fileCall struct {
	name string
	file string // of a lock
	fd   int    // of a call with a file, else -1
	size int    // how many bytes are to be written, else 0
}

// A verdict says what happens at a call.
type verdict struct {
	kill  bool
	errno syscall.Errno // answered in place of the call, unless 0
	short bool          // half of the bytes are written
}

type traced struct {
	finished
	calls   int  // that change files
	reached bool // some verdict was carried out
}

// A tracee is a thread of the process that is traced.
type tracee struct {
	seen   bool
	answer syscall.Errno // at the end of the call it is in
}

type tracer struct {
	pid     int
	root    string // below it lie the files that count
	locks   bool   // calls for locks count, and no others
	judge   func(n int, c fileCall) verdict
	threads map[int]*tracee
	traced  traced
}

// trace runs a command line; judge is asked at the n-th call, counted from 1.
func trace(t testing.TB, dir, input string, args []string, judge func(n int, c fileCall) verdict) traced {
	t.Helper()
	return (&tracer{judge: judge}).start(t, dir, input, args)
}

func (tr *tracer) start(t testing.TB, dir, input string, args []string) traced {
	t.Helper()
	cmd := filebusCommand(t, dir, args...)
	// Preemption interrupts calls by signals, which would only take time here.
	env := append(cmd.Env, "GODEBUG=asyncpreemptoff=1")
	outside := t.TempDir()
	files := [3]*os.File{}
	for i, name := range []string{"in", "out", "err"} {
		f, err := os.OpenFile(filepath.Join(outside, name), os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files[i] = f
	}
	if _, err := files[0].WriteString(input); err != nil {
		t.Fatal(err)
	}
	if _, err := files[0].Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	tr.root, tr.threads = root+"/", map[int]*tracee{}
	fds := []uintptr{files[0].Fd(), files[1].Fd(), files[2].Fd()}
	err = tr.run(t, cmd.Path, cmd.Args, &syscall.ProcAttr{Dir: dir, Env: env, Files: fds, Sys: &syscall.SysProcAttr{Ptrace: true}})
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) {
		t.Skipf("processes cannot be traced here: %v", err)
	}
	if err != nil {
		t.Fatalf("tracing filebus %s: %v", strings.Join(args, " "), err)
	}
	for i, to := range map[int]*string{1: &tr.traced.out, 2: &tr.traced.err} {
		text, err := os.ReadFile(files[i].Name())
		if err != nil {
			t.Fatal(err)
		}
		*to = string(text)
	}
	tr.traced.wantPlain(t, args)
	return tr.traced
}

// traces are what threads of their own carry out, one each: the system lets only the thread
// that has started a process go along with it, and one that has started another test's
// processes would lay these to rest.
var traces = startTracing(4)

func startTracing(threads int) chan<- func() {
	jobs := make(chan func())
	for range threads * min(strings.Count(filepath.Base(os.Args[0]), ".test"), 1) { // no program that is traced
		locked := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(locked)
			for job := range jobs {
				job()
			}
		}()
		<-locked
	}
	return jobs
}

// run starts the process and goes along with it.
func (tr *tracer) run(t testing.TB, path string, argv []string, attr *syscall.ProcAttr) error {
	result := make(chan error)
	traces <- func() { result <- tr.trace(t, path, argv, attr) }
	return <-result
}

func (tr *tracer) trace(t testing.TB, path string, argv []string, attr *syscall.ProcAttr) error {
	pid, err := syscall.ForkExec(path, argv, attr)
	if err != nil {
		return fmt.Errorf("starting: %w", err)
	}
	tr.pid = pid
	var hung atomic.Bool
	killer := time.AfterFunc(bound, func() {
		hung.Store(true)
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by now
	})
	defer killer.Stop()
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
		return fmt.Errorf("waiting for the start: %w", err)
	}
	options := syscall.PTRACE_O_TRACESYSGOOD | syscall.PTRACE_O_TRACECLONE | ptraceExitKill
	if err := errors.Join(syscall.PtraceSetOptions(pid, options), syscall.PtraceSyscall(pid, 0)); err != nil {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it stands still for ever otherwise
		return err
	}
	err = tr.follow()
	if hung.Load() {
		t.Errorf("%s: no end within %v", strings.Join(argv, " "), bound)
	}
	return err
}

// follow goes from stop to stop until the process has ended.
func (tr *tracer) follow() error {
	for {
		var status syscall.WaitStatus
		tid, err := syscall.Wait4(-1, &status, syscall.WALL|waitOwnThread, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return fmt.Errorf("waiting: %w", err)
		case status.Stopped():
			tr.stopped(tid, status)
		case tid == tr.pid:
			tr.traced.code = status.ExitStatus() // -1 if a signal ended it
			return nil
		}
	}
}

// stopped lets a thread that has stopped go on. One that was killed meanwhile is
// gone, so errors mean nothing.
func (tr *tracer) stopped(tid int, status syscall.WaitStatus) {
	thread := tr.threads[tid]
	if thread == nil {
		thread = &tracee{}
		tr.threads[tid] = thread
	}
	pass := 0
	switch signal := status.StopSignal(); {
	case signal == syscallStop:
		tr.atCall(tid, thread)
	case signal == syscall.SIGTRAP: // an event, such as a new thread
	case signal == syscall.SIGSTOP && !thread.seen: // how a new thread begins
	default:
		pass = int(signal)
	}
	thread.seen = true
	_ = syscall.PtraceSyscall(tid, pass)
}

// atCall is where a call begins or ends.
func (tr *tracer) atCall(tid int, thread *tracee) {
	var info [88]byte // struct ptrace_syscall_info
	_, _, errno := syscall.Syscall6(syscall.SYS_PTRACE, ptraceGetSyscallInfo, uintptr(tid), unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0)
	if errno != 0 {
		return
	}
	word := func(i int) uint64 { return binary.NativeEndian.Uint64(info[24+8*i:]) } // the number, then the arguments
	const entry = 1
	if info[0] != entry {
		if thread.answer != 0 {
			_ = setResult(tid, thread.answer)
			thread.answer = 0
		}
		return
	}
	c, changes := tr.fileCall(word)
	if !changes {
		return
	}
	tr.traced.calls++
	v := tr.judge(tr.traced.calls, c)
	switch {
	case v.kill:
		_ = syscall.Kill(tr.pid, syscall.SIGKILL)
	case v.errno != 0:
		thread.answer = v.errno
		_ = skipCall(tid)
	case v.short && c.size > 1:
		_ = setSize(tid, uint64(c.size/2))
	default:
		return
	}
	tr.traced.reached = true
}

// fileCall reads a call. Files outside of the root do not count, such as standard
// output, and neither do pipes.
func (tr *tracer) fileCall(word func(i int) uint64) (c fileCall, changes bool) {
	c.fd = -1
	if tr.locks {
		if word(0) != syscall.SYS_FLOCK || int(word(2)) != syscall.LOCK_EX|syscall.LOCK_NB {
			return c, false
		}
		c.file, _ = os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tr.pid, word(1))) // "" is no lock's
		return c, strings.HasPrefix(c.file, tr.root)
	}
	switch word(0) {
	case syscall.SYS_OPENAT:
		c.name = "open"
		return c, word(3)&(syscall.O_CREAT|syscall.O_TRUNC) != 0
	case syscall.SYS_WRITE, syscall.SYS_PWRITE64:
		c.name, c.fd, c.size = "write", int(word(1)), int(word(3))
	case sysCopyFileRange:
		c.name, c.fd = "copy", int(word(3))
	case syscall.SYS_FSYNC, syscall.SYS_FDATASYNC:
		c.name, c.fd = "sync", int(word(1))
	case syscall.SYS_FTRUNCATE, syscall.SYS_FALLOCATE:
		c.name, c.fd = "truncate", int(word(1))
	case syscall.SYS_RENAMEAT, sysRenameat2:
		c.name = "rename"
	case syscall.SYS_LINKAT, syscall.SYS_SYMLINKAT:
		c.name = "link"
	case syscall.SYS_UNLINKAT:
		c.name = "unlink"
	case syscall.SYS_MKDIRAT:
		c.name = "mkdir"
	default:
		return c, false
	}
	if c.fd < 0 {
		return c, true
	}
	file, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tr.pid, c.fd))
	return c, err == nil && strings.HasPrefix(file+"/", tr.root)
}
