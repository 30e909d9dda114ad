package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// A load is so many processes, each putting so many texts.
type load struct{ processes, each int }

func (l load) puts() int { return l.processes * l.each }

// runProcesses compares the throughput of one process that puts a thousand texts
// with that of fifty that share them, all at once, and looks for losses.
func runProcesses(ctx context.Context, b *bench) ([]row, error) {
	return b.putAtOnce(ctx, load{processes: 50, each: 20})
}

// putAtOnce is runProcesses with any load. While the processes work, single puts
// are timed: the longest of them is the longest wait.
func (b *bench) putAtOnce(ctx context.Context, l load) ([]row, error) {
	p := &putRun{b: b, load: l}
	if err := p.makeTexts(); err != nil {
		return nil, err
	}
	var lost, longest sample
	samples, err := inTurns(ctx, b.runs,
		side{name: "one process", prepare: p.newStore, run: func(ctx context.Context) (float64, error) {
			return p.throughput(ctx, load{1, l.puts()})
		}},
		side{name: "many processes", prepare: p.newStore, run: func(ctx context.Context) (float64, error) {
			rate, wait, err := p.crowd(ctx)
			if err != nil {
				return 0, err
			}
			missing, err := p.missing(ctx)
			lost, longest = append(lost, missing), append(longest, wait)
			return rate, err
		}})
	if err != nil {
		return nil, err
	}
	return []row{
		measured(fmt.Sprintf("puts by %d processes × %d at once", l.processes, l.each), "puts/s", samples[1]).over(samples[0]).ratioAtLeast(0.5, "≥ 0.5 × one process"),
		measured(fmt.Sprintf("puts by one process × %d", l.puts()), "puts/s", samples[0]),
		measured("records lost (filebus verify)", "", lost).noneAbove(0, "none lost"),
		measured("longest single put meanwhile", "ms", longest),
	}, nil
}

// A putRun is the texts of the suite and the store they go to.
type putRun struct {
	b     *bench
	load  load
	files []string
	w     *workspace
	extra atomic.Int64 // puts besides the files
}

func (p *putRun) makeTexts() error {
	dir, err := p.b.folder("puts")
	if err != nil {
		return err
	}
	g := newGenerator(p.b.seed)
	for i := range p.load.puts() + 1 {
		file := filepath.Join(dir, fmt.Sprintf("%04d.md", i))
		if err := writeFile(file, g.next().body); err != nil {
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
func (p *putRun) crowd(ctx context.Context) (rate, longest float64, err error) {
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
	rate, err = p.throughput(ctx, p.load)
	done.Store(true)
	probe.Wait()
	if err == nil {
		err = probeErr
	}
	return rate, longest, err
}

// missing verifies the store and returns how many records it has too few.
func (p *putRun) missing(ctx context.Context) (float64, error) {
	done, err := p.b.execute(ctx, p.b.filebusIn(p.w, "--json", "verify"))
	if err != nil {
		return 0, err
	}
	var report struct{ Records int }
	if err := json.Unmarshal(done.stdout, &report); err != nil {
		return 0, fmt.Errorf("reading what verify prints: %w", err)
	}
	return float64(len(p.files)+int(p.extra.Load())) - float64(report.Records), nil
}
