package main

import (
	"context"
	"errors"
	"os"
)

// runStartup measures the start of the program and its size.
func runStartup(ctx context.Context, b *bench) ([]row, error) {
	samples, err := inTurns(ctx, 8*b.runs,
		side{name: "filebus version", run: b.process(command{dir: b.temp, args: []string{b.program, "version"}})},
		side{name: "true", tool: "true", run: b.process(command{dir: b.temp, args: []string{"true"}})},
	)
	info, statErr := os.Stat(b.program)
	if statErr != nil {
		return nil, errors.Join(err, statErr)
	}
	return []row{
		measured("start-up (filebus version)", "ms", samples[0]).over(samples[1]).atMost(18, "≤ 18 ms"),
		measured("an empty process (true)", "ms", samples[1]).of("true"),
		measured("size of the program", "MB", sample{float64(info.Size()) / (1 << 20)}).atMost(32, "≤ 32 MB"),
	}, err
}
