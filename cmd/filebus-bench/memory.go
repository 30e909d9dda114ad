package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// measureCommand is the hidden first argument that makes this program run the
// command behind it and report its time and memory.
//
// The peak of a process that the system reports holds what its parent had in
// memory when it was started: until the new program is loaded, it shares the
// parent's. A parent that has loaded texts would be taken for its child, so a
// small one stands between.
const measureCommand = "measure-command"

// A usage is what measureCommand reports, as JSON.
type usage struct {
	Elapsed time.Duration `json:"elapsed"`
	Peak    int64         `json:"peak"` // bytes
}

// executeSmall is execute with a peak that can be trusted. The command's output
// is thrown away unless it has somewhere to go.
func (b *bench) executeSmall(ctx context.Context, c command) (outcome, error) {
	self, err := os.Executable()
	if err != nil {
		return outcome{}, err
	}
	report, err := os.CreateTemp(b.temp, "usage-")
	if err != nil {
		return outcome{}, err
	}
	if c.stdout == nil {
		c.stdout = io.Discard
	}
	c.args = append([]string{self, measureCommand, report.Name()}, c.args...)
	_, err = b.execute(ctx, c)
	var u usage
	if err == nil {
		err = json.NewDecoder(report).Decode(&u)
	}
	return outcome{elapsed: u.Elapsed, peak: u.Peak}, errors.Join(err, report.Close())
}

// measureMain runs a command with the standard streams of this process and
// writes its usage to a file.
func measureMain(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("%s needs a file and a command", measureCommand)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd := exec.CommandContext(ctx, args[1], args[2:]...)
	endGently(cmd)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		return err
	}
	line, err := json.Marshal(usage{time.Since(begin), peakMemory(cmd.ProcessState)})
	if err != nil {
		return err
	}
	return os.WriteFile(args[0], line, 0o666)
}
