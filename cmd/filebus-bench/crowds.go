package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// putAtOnce lets several processes share so many puts, all at once, and looks for
// losses. The first number of processes is what the others are compared with. While
// more than one work, single puts are timed: the longest of them is the longest wait.
func (a *attempt) putAtOnce(puts int, crowds ...int) []comparison {
	texts := a.corpusOf(newGenerator(a.seed).next, upTo(puts+1))
	all := comparison{turns: a.runs}
	for i, n := range crowds {
		c := &crowd{n, texts, fmt.Sprintf("records lost by %d processes (filebus verify)", n),
			fmt.Sprintf("longest single put beside %d processes", n)}
		s := side{name: fmt.Sprintf("%d puts by %d processes at once", puts, n), unit: "puts/s", run: c.measure}
		if i > 0 {
			s.over, s.limit = all.sides[0].name, "≥ 0.5 × one process"
		}
		all.sides = append(all.sides, s)
		all.lines = append(all.lines, line{figure: c.lost, limit: "all ≤ 0 lost"},
			line{figure: c.longest, unit: "ms"})
	}
	return []comparison{all}
}

// A crowd is processes that share texts to put. The first text is put when the store
// is made, and by the single puts meanwhile.
type crowd struct {
	processes     int
	texts         *corpus
	lost, longest string // its figures, besides the rate
}

// measure lets the crowd put into a new store.
func (c *crowd) measure(a *attempt) figures {
	w := a.workspace(a.program)
	put := func(conversation string, from, to int) error {
		args := []string{"put", "--conversation", conversation}
		for _, file := range c.texts.files[from:to] {
			args = append(args, filepath.Join(c.texts.dir, file))
		}
		_, err := a.execute(a.ctx, w.command(args...))
		return err
	}
	each := (len(c.texts.files) - 1) / c.processes
	var waits sample
	var elapsed time.Duration
	a.step(func() error { return put("first", 0, 1) })
	a.step(func() (err error) {
		elapsed, err = atOnce(c.processes, func(i int) error {
			return put(fmt.Sprintf("c%02d", i), 1+i*each, 1+(i+1)*each)
		}, func() error {
			begin := time.Now()
			err := put("probe", 0, 1)
			waits = append(waits, milliseconds(time.Since(begin)))
			return err
		})
		return err
	})
	stored := 1 + c.processes*each + len(waits)
	found := figures{
		"": {float64(c.processes*each) / elapsed.Seconds()}, c.lost: {float64(stored - a.records(w))},
	}
	if len(waits) > 0 {
		found[c.longest] = sample{slices.Max(waits)}
	}
	return found
}

// records verifies a store and returns how many records it has.
func (a *attempt) records(w *workspace) int {
	var report struct{ Records int }
	done := a.run(w.command("--json", "verify"))
	a.step(func() error { return json.Unmarshal(done.stdout, &report) })
	return report.Records
}

// atOnce does some work n times at once, and, beside more than one, something else
// again and again until all is done. It returns how long the work took.
func atOnce(n int, work func(i int) error, beside func() error) (time.Duration, error) {
	var done atomic.Bool
	var all, single sync.WaitGroup
	errs := make([]error, n+1)
	single.Go(func() {
		for n > 1 && !done.Load() && errs[n] == nil {
			errs[n] = beside()
		}
	})
	begin := time.Now()
	for i := range n {
		all.Go(func() { errs[i] = work(i) })
	}
	all.Wait()
	elapsed := time.Since(begin)
	done.Store(true)
	single.Wait()
	return elapsed, errors.Join(errs...)
}
