package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"filebus/store/record"
)

// largeMemory is the limit of each command's memory, in megabytes.
const largeMemory = 100

// runLarge puts a large body of random bytes, gets it again and compares the two.
// It runs once: what counts is the peak of memory.
func runLarge(ctx context.Context, b *bench) ([]row, error) {
	w, err := b.newWorkspace("large")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(w.dir, "random.bin")
	want, err := writeRandom(file, b.largeSize, b.seed)
	if err != nil {
		return nil, err
	}
	put, err := b.executeSmall(ctx, b.filebusIn(w, "put", "--conversation", "large", "--call", "body", file))
	if err != nil {
		return nil, err
	}
	digester := record.NewDigester()
	get := b.filebusIn(w, "get", "--no-sync", "result/large/body")
	get.stdout = digester
	got, err := b.executeSmall(ctx, get)
	if err != nil {
		return nil, err
	}
	if digester.Digest() != want {
		return nil, fmt.Errorf("get returned other bytes than were put: %s in place of %s", digester.Digest(), want)
	}
	limit := fmt.Sprintf("< %d MB", largeMemory)
	rows := []row{
		measured("peak memory of put, "+bytesText(b.largeSize), "MB", memoryOf(put)).atMost(largeMemory, limit),
		measured("peak memory of get, bytes equal", "MB", memoryOf(got)).atMost(largeMemory, limit),
		measured("time of put", "ms", sample{milliseconds(put.elapsed)}),
		measured("time of get", "ms", sample{milliseconds(got.elapsed)}),
	}
	last, err := b.largeExec(ctx, w, file, limit)
	return append(rows, last), err
}

// largeExec stores the output of a command that prints the file.
func (b *bench) largeExec(ctx context.Context, w *workspace, file, limit string) (row, error) {
	what := "peak memory of exec"
	if !b.hasCommand(ctx, "exec") {
		return row{What: what + ": no such command yet", Limit: limit, Verdict: skipped}, nil
	}
	if !hasTool("cat") {
		return row{What: what + ": cat is missing", Limit: limit, Verdict: skipped}, nil
	}
	done, err := b.executeSmall(ctx, b.filebusIn(w, "exec", "--", "cat", file))
	return measured(what, "MB", memoryOf(done)).atMost(largeMemory, limit), err
}

// memoryOf returns the peak of a process in megabytes; nothing where the system
// does not tell.
func memoryOf(done outcome) sample {
	if done.peak == 0 {
		return nil
	}
	return sample{float64(done.peak) / 1e6}
}

func bytesText(n int64) string {
	if n >= 1<<20 {
		return figure(float64(n)/(1<<20)) + " MB"
	}
	return fmt.Sprintf("%d bytes", n)
}

// writeRandom writes a file of bytes that do not compress, and returns their
// digest.
func writeRandom(path string, size int64, seed uint64) (digest record.Digest, err error) {
	f, err := os.Create(path)
	if err != nil {
		return digest, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	digester := record.NewDigester()
	out := bufio.NewWriterSize(f, 1<<20)
	if _, err := io.CopyN(io.MultiWriter(out, digester), rand.NewChaCha8(key), size); err != nil {
		return digest, err
	}
	return digester.Digest(), out.Flush()
}
