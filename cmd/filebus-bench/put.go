package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"filebus/store"
	"filebus/store/record"
)

// putSize is the size of a typical result of an agent.
const putSize = 20 << 10

// runPut compares one put with writing the same text to a file durably: as a
// whole process, and the store's part alone.
func runPut(ctx context.Context, b *bench) ([]row, error) {
	w, err := b.newWorkspace("put")
	if err != nil {
		return nil, err
	}
	source := filepath.Join(w.dir, "source.md")
	g := newGenerator(b.seed)
	var body []byte
	fresh := func(context.Context) error { // every put is of another text
		body = g.sized(putSize).body
		return os.WriteFile(source, body, 0o666)
	}
	if err := fresh(ctx); err != nil {
		return nil, err
	}
	if _, err := b.execute(ctx, b.filebusIn(w, "put", "--conversation", "bench", source)); err != nil {
		return nil, err
	}
	s, err := store.Open(w.storeDir(), store.Options{})
	if err != nil {
		return nil, err
	}
	repository, err := b.newRepository(ctx)
	if err != nil {
		return nil, err
	}
	samples, err := inTurns(ctx, 8*b.runs,
		side{name: "filebus put", prepare: fresh, run: b.process(b.filebusIn(w, "put", "--conversation", "bench", source))},
		side{name: "write, fsync, rename", prepare: fresh, run: timed(func(context.Context) error { return replaceFile(w.dir, body) })},
		side{name: "store.Put", prepare: fresh, run: timed(func(ctx context.Context) error { return storePut(ctx, s, body) })},
		side{name: "fsync", run: func(context.Context) (float64, error) { return syncTime(w.dir, body) }},
		b.hashObject(repository, "git hash-object -w", fresh, source),
		b.hashObject(repository, "git hash-object -w, with fsync", fresh, "-c", "core.fsync=loose-object", source),
	)
	whole, file, part, fsync, git, durable := samples[0], samples[1], samples[2], samples[3], samples[4], samples[5]
	return []row{
		measured("whole-process put of 20 KB", "ms", whole).over(file).atMost(25+5*fsync.median(), "≤ 25 ms + 5 fsyncs = "+figure(25+5*fsync.median())+" ms"),
		measured("the store's part of a put", "ms", part).over(file).ratioAtMost(3, "≤ 3 × write+fsync+rename"),
		measured("write, fsync and rename of that file", "ms", file),
		measured("fsync alone", "ms", fsync),
		measured("the same put against git hash-object -w with fsync", "ms", whole).over(durable),
		measured("git hash-object -w, whole process, with fsync", "ms", durable).of("git"),
		measured("git hash-object -w, whole process, by default without", "ms", git).of("git"),
	}, err
}

// hashObject is the side of git that stores one file as an object. The last of
// args is the file, the others are options of git.
func (b *bench) hashObject(repository, name string, fresh func(context.Context) error, args ...string) side {
	line := append([]string{"git", "--git-dir", repository}, args[:len(args)-1]...)
	line = append(line, "hash-object", "-w", args[len(args)-1])
	return side{name: name, tool: "git", prepare: fresh, run: b.process(command{dir: b.temp, args: line})}
}

// newRepository makes an empty git repository without a work tree, if there is a
// git.
func (b *bench) newRepository(ctx context.Context) (string, error) {
	dir, err := b.folder("git")
	if err != nil || !hasTool("git") {
		return dir, err
	}
	_, err = b.execute(ctx, command{dir: dir, args: []string{"git", "init", "-q", "--bare"}})
	return dir, err
}

// storePut puts a text the way package materialize does, without its file.
func storePut(ctx context.Context, s *store.Store, text []byte) error {
	body, err := s.Prepare(ctx, text)
	if err != nil {
		return err
	}
	id := "in-process/" + strconv.FormatInt(time.Now().UnixNano(), 36)
	_, err = s.Put(ctx, store.Draft{
		Record: record.Record{
			Name: record.Name{Kind: record.KindResult, ID: id}, Path: ".claude/agent_tool_results/" + id + ".md",
			MediaType: "text/markdown", Source: record.SourcePut,
		},
		Body: body,
	})
	return err
}

// replaceFile makes a file appear durably: written under a temporary name,
// synced, renamed.
func replaceFile(dir string, body []byte) error {
	f, err := os.CreateTemp(dir, "write-")
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(dir, "written.md"))
}

// syncTime returns what the fsync of a newly written file takes.
func syncTime(dir string, body []byte) (ms float64, err error) {
	f, err := os.CreateTemp(dir, "sync-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	if _, err := f.Write(body); err != nil {
		return 0, err
	}
	begin := time.Now()
	err = f.Sync()
	return milliseconds(time.Since(begin)), err
}
