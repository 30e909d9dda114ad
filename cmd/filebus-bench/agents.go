package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// wakePause is how long a wait is given to fall asleep before its marker appears.
const wakePause = 150 * time.Millisecond

// runAgents measures what an orchestrator meets all day: running an agent's
// command through exec, waiting for a marker, asking for the context of a task.
func runAgents(ctx context.Context, b *bench) ([]row, error) {
	w, err := b.newWorkspace("agents")
	if err != nil {
		return nil, err
	}
	source := filepath.Join(w.dir, "source.md")
	if err := os.WriteFile(source, newGenerator(b.seed).sized(putSize).body, 0o666); err != nil {
		return nil, err
	}
	for _, args := range [][]string{{"put", "--conversation", "bench", source}, {"task", "start", "001"}, {"context", "words"}} {
		if _, err := b.execute(ctx, b.filebusIn(w, args...)); err != nil {
			return nil, err
		}
	}
	samples, err := inTurns(ctx, 4*b.runs,
		side{name: "filebus exec", run: b.process(b.filebusIn(w, "exec", "--conversation", "bench", "--", "cat", source))},
		side{name: "the command alone", tool: "cat", run: b.process(command{dir: w.dir, args: []string{"cat", source}})},
		side{name: "filebus context", run: b.process(b.filebusIn(w, "context", "a text about words"))},
		side{name: "filebus wait", run: func(ctx context.Context) (float64, error) { return b.wakeTime(ctx, w) }},
	)
	return []row{
		measured("exec of a command that prints 20 KB", "ms", samples[0]).over(samples[1]),
		measured("that command alone", "ms", samples[1]).of("cat"),
		measured("context for a task", "ms", samples[2]),
		measured("from a marker's appearance to the end of wait", "ms", samples[3]).atMost(50, "≤ 50 ms"),
	}, err
}

// wakeTime lets a wait fall asleep, writes the marker as an agent does, and
// returns how long the process then takes to end.
func (b *bench) wakeTime(ctx context.Context, w *workspace) (float64, error) {
	marker := filepath.Join(w.dir, ".claude", "agent_complete", "task-001.done")
	if _, err := b.execute(ctx, b.filebusIn(w, "task", "start", "001", "--restart")); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() {
		_, err := b.execute(ctx, b.filebusIn(w, "wait", "001", "--limit", "1m"))
		ended <- err
	}()
	time.Sleep(wakePause)
	if err := os.WriteFile(marker, []byte("done"), 0o666); err != nil {
		return 0, fmt.Errorf("writing the marker: %w", err)
	}
	begin := time.Now()
	err := <-ended
	return milliseconds(time.Since(begin)), err
}
