package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A load is so many processes, each putting so many texts.
type load struct{ processes, each int }

func (l load) puts() int { return l.processes * l.each }

// runProcesses compares the throughput of one process that puts a thousand texts
// with that of up to fifty that share them, all at once, and looks for losses.
func runProcesses(ctx context.Context, b *bench) ([]row, error) {
	return b.putAtOnce(ctx, 1000, 1, 2, 5, 10, 20, 50)
}

// putAtOnce is runProcesses with any number of puts, and numbers of processes that
// share them. The first of these is what the others are compared with. While more
// than one work, single puts are timed: the longest of them is the longest wait.
func (b *bench) putAtOnce(ctx context.Context, puts int, crowds ...int) ([]row, error) {
	p := &putRun{b: b}
	if err := p.makeTexts(puts); err != nil {
		return nil, err
	}
	var sides []side
	lost, longest := make([]sample, len(crowds)), make([]sample, len(crowds))
	for i, n := range crowds {
		l := load{n, puts / n}
		sides = append(sides, side{name: fmt.Sprintf("%d processes", n), prepare: p.newStore, run: func(ctx context.Context) (float64, error) {
			rate, wait, missing, err := p.once(ctx, l)
			lost[i], longest[i] = append(lost[i], missing), append(longest[i], wait)
			return rate, err
		}})
	}
	samples, err := inTurns(ctx, b.runs, sides...)
	var rows, waits, losses []row
	for i, n := range crowds {
		rate := measured(fmt.Sprintf("%d puts by %d processes at once", puts, n), "puts/s", samples[i])
		if i > 0 {
			rate = rate.over(samples[0]).ratioAtLeast(0.5, "≥ 0.5 × one process")
			waits = append(waits, measured(fmt.Sprintf("longest single put beside %d processes", n), "ms", longest[i]).on("longest put beside others", "put", n))
		}
		rows = append(rows, rate.on("puts at once", "put", n))
		losses = append(losses, measured(fmt.Sprintf("records lost by %d processes (filebus verify)", n), "", lost[i]).noneAbove(0, "none lost"))
	}
	return slices.Concat(rows, losses, waits), err
}

// A putRun is the texts of the suite and the store they go to.
type putRun struct {
	b     *bench
	files []string
	w     *workspace
	extra atomic.Int64 // puts besides the files
}

// once lets the processes of a load put all at once into a new store, and returns
// puts a second, the longest single put meanwhile in milliseconds, and how many
// records the store has too few.
func (p *putRun) once(ctx context.Context, l load) (rate, longest, missing float64, err error) {
	if l.processes == 1 {
		rate, err = p.throughput(ctx, l)
	} else {
		rate, longest, err = p.crowd(ctx, l)
	}
	if err == nil {
		missing, err = p.missing(ctx, l)
	}
	return rate, longest, missing, err
}

func (p *putRun) makeTexts(puts int) error {
	dir, err := p.b.folder("puts")
	if err != nil {
		return err
	}
	next, err := p.b.bodies()
	if err != nil {
		return err
	}
	for i := range puts + 1 {
		file := filepath.Join(dir, fmt.Sprintf("%04d.md", i))
		body, err := next()
		if err == nil {
			err = writeFile(file, body)
		}
		if err != nil {
			return err
		}
		p.files = append(p.files, file)
	}
	p.files = p.files[1:] // the first is put when the store is made, and by the probe
	return nil
}

func (p *putRun) first() string { return filepath.Join(filepath.Dir(p.files[0]), "0000.md") }

// newStore makes a workspace with a store of one record.
func (p *putRun) newStore(ctx context.Context) (err error) {
	if p.w, err = p.b.newWorkspace("processes"); err != nil {
		return err
	}
	p.extra.Store(1)
	_, err = p.b.execute(ctx, p.b.filebusIn(p.w, "put", "--conversation", "first", p.first()))
	return err
}

// throughput lets the processes of a load put the files, which are shared out
// among them, and returns puts a second.
func (p *putRun) throughput(ctx context.Context, l load) (float64, error) {
	errs := make(chan error, l.processes)
	begin := time.Now()
	for i := range l.processes {
		go func() {
			args := append([]string{"put", "--conversation", fmt.Sprintf("c%02d", i)}, p.files[i*l.each:(i+1)*l.each]...)
			_, err := p.b.execute(ctx, p.b.filebusIn(p.w, args...))
			errs <- err
		}()
	}
	var failed error
	for range l.processes {
		if err := <-errs; err != nil {
			failed = err
		}
	}
	return float64(l.puts()) / time.Since(begin).Seconds(), failed
}

// crowd lets all processes put at once and times single puts meanwhile.
func (p *putRun) crowd(ctx context.Context, l load) (rate, longest float64, err error) {
	var done atomic.Bool
	var probe sync.WaitGroup
	var probeErr error
	probe.Go(func() {
		for !done.Load() && probeErr == nil {
			var outcome outcome
			outcome, probeErr = p.b.execute(ctx, p.b.filebusIn(p.w, "put", "--conversation", "probe", p.first()))
			p.extra.Add(1)
			longest = max(longest, milliseconds(outcome.elapsed))
		}
	})
	rate, err = p.throughput(ctx, l)
	done.Store(true)
	probe.Wait()
	if err == nil {
		err = probeErr
	}
	return rate, longest, err
}

// missing verifies the store and returns how many records it has too few.
func (p *putRun) missing(ctx context.Context, l load) (float64, error) {
	done, err := p.b.execute(ctx, p.b.filebusIn(p.w, "--json", "verify"))
	if err != nil {
		return 0, err
	}
	var report struct{ Records int }
	if err := json.Unmarshal(done.stdout, &report); err != nil {
		return 0, fmt.Errorf("reading what verify prints: %w", err)
	}
	return float64(l.puts()+int(p.extra.Load())) - float64(report.Records), nil
}
