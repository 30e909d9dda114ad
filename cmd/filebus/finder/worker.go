package finder

import "context"

// A worker runs one task at a time beside the screen. A task that is started while
// another runs takes the place of any that waits, and the running one is told to
// end.
type worker struct {
	done   chan any // what a task returned; one is ever in it
	busy   bool
	cancel context.CancelFunc // of the task that runs
	next   func(context.Context) any
}

func newWorker() worker { return worker{done: make(chan any, 1)} }

// start runs task as soon as no other does.
func (w *worker) start(ctx context.Context, task func(context.Context) any) {
	if w.busy {
		w.next = task
		w.cancel()
		return
	}
	w.busy = true
	ctx, w.cancel = context.WithCancel(ctx)
	go func() { w.done <- task(ctx) }()
}

// finished is called with each value from done. It starts the task that waits, and
// reports whether there was one: then the value is of no interest any more.
func (w *worker) finished(ctx context.Context) (overtaken bool) {
	w.cancel()
	w.busy = false
	next := w.next
	if next == nil {
		return false
	}
	w.next = nil
	w.start(ctx, next)
	return true
}
