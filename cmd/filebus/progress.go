package main

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// progressDelay is how long work goes on before it gets a bar.
const progressDelay = time.Second

// progress returns a function that shows how far work is, and one that clears
// what it has shown. A bar appears on a terminal only, and only for work over a
// second.
func (e *environ) progress(what string) (show func(done, total uint64), clear func()) {
	if !e.errTerminal || e.global.json {
		return func(uint64, uint64) {}, func() {}
	}
	start := e.now()
	var bar *progressbar.ProgressBar
	show = func(done, total uint64) {
		if e.now().Sub(start) < progressDelay {
			return
		}
		if bar == nil {
			bar = progressbar.NewOptions64(int64(total), progressbar.OptionSetDescription(what),
				progressbar.OptionSetWriter(e.err), progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(),
				progressbar.OptionThrottle(100*time.Millisecond))
		}
		_ = bar.Set64(int64(done)) // a bar that cannot be drawn is no reason to stop
	}
	return show, func() {
		if bar != nil {
			_ = bar.Clear() // as above
		}
	}
}

// counted fits show to work that counts in ints.
func counted(show func(done, total uint64)) func(done, total int) {
	return func(done, total int) { show(uint64(done), uint64(total)) }
}
