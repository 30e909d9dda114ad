package main

import "syscall"

const (
	sysRenameat2     = 316
	sysCopyFileRange = 326
)

// skipCall makes a thread that is about to make a call make none.
func skipCall(tid int) error {
	return changeRegisters(tid, func(r *syscall.PtraceRegs) { r.Orig_rax = ^uint64(0) })
}

// setResult makes a call that has ended have failed.
func setResult(tid int, errno syscall.Errno) error {
	return changeRegisters(tid, func(r *syscall.PtraceRegs) { r.Rax = -uint64(errno) })
}

// setSize changes how many bytes a call is to write.
func setSize(tid int, n uint64) error {
	return changeRegisters(tid, func(r *syscall.PtraceRegs) { r.Rdx = n })
}

func changeRegisters(tid int, change func(r *syscall.PtraceRegs)) error {
	var r syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(tid, &r); err != nil {
		return err
	}
	change(&r)
	return syscall.PtraceSetRegs(tid, &r)
}
