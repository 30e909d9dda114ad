package main

import (
	"syscall"
	"unsafe"
)

const (
	sysRenameat2     = 276
	sysCopyFileRange = 285
)

// skipCall makes a thread that is about to make a call make none.
func skipCall(tid int) error {
	const setRegset, systemCall = 0x4205, 0x404 // PTRACE_SETREGSET, NT_ARM_SYSTEM_CALL
	none := int32(-1)
	vector := syscall.Iovec{Base: (*byte)(unsafe.Pointer(&none)), Len: 4}
	_, _, errno := syscall.Syscall6(syscall.SYS_PTRACE, setRegset, uintptr(tid), systemCall, uintptr(unsafe.Pointer(&vector)), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// setResult makes a call that has ended have failed.
func setResult(tid int, errno syscall.Errno) error {
	return changeRegisters(tid, func(r *syscall.PtraceRegs) { r.Regs[0] = -uint64(errno) })
}

// setSize changes how many bytes a call is to write.
func setSize(tid int, n uint64) error {
	return changeRegisters(tid, func(r *syscall.PtraceRegs) { r.Regs[2] = n })
}

func changeRegisters(tid int, change func(r *syscall.PtraceRegs)) error {
	var r syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(tid, &r); err != nil {
		return err
	}
	change(&r)
	return syscall.PtraceSetRegs(tid, &r)
}
