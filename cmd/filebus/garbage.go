package main

import (
	"runtime"
	"runtime/debug"
)

// Most commands end before they have used much memory, and each collection of
// garbage would cost them a twentieth of their time. So garbage is collected late
// while the heap is small.
const (
	latePercent  = 400
	usualPercent = 100
	smallHeap    = 4 << 20 // bytes in use after a collection
)

// collectLate sets this up.
func collectLate() {
	if before := debug.SetGCPercent(latePercent); before != usualPercent {
		debug.SetGCPercent(before) // GOGC says otherwise
		return
	}
	watchHeap(new(collected))
}

// A collected is garbage at once, so that its end says that garbage was collected.
type collected struct{ _ [16]byte }

// watchHeap ends collecting late when a collection leaves a heap that is not small.
func watchHeap(s *collected) {
	runtime.SetFinalizer(s, func(*collected) {
		var m runtime.MemStats
		if runtime.ReadMemStats(&m); m.HeapAlloc > smallHeap {
			debug.SetGCPercent(usualPercent)
			return
		}
		watchHeap(new(collected))
	})
}
