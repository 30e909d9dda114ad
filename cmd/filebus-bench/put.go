package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"filebus/store"
	"filebus/store/record"
)

// results makes texts of the size of a typical result.
func results(seed uint64) func() text {
	g := newGenerator(seed)
	const putSize = 20 << 10 // the size of a typical result of an agent
	return func() text { return g.sized(putSize) }
}

// A freshFile is a file for puts, each of which is of another text.
type freshFile struct {
	path string
	body []byte
	next func() text
}

func (w *workspace) freshFile(next func() text) *freshFile {
	return &freshFile{path: filepath.Join(w.dir, "source.md"), next: next}
}

// write writes another text to the file.
func (f *freshFile) write(a *attempt) {
	f.body = f.next().body
	a.write(f.path, f.body)
}

// put returns the command line that puts the file.
func (f *freshFile) put(w *workspace) command {
	return w.command("put", "--agent", "web_researcher", "--conversation", "7f3a9c21", f.path)
}

// planPut compares one put with writing the same text to a file durably: as a
// whole process, and the store's part alone. It also measures what the reference that
// is printed costs a reader.
func planPut(a *attempt) []comparison {
	w := a.workspace(a.program)
	source := w.freshFile(results(a.seed))
	source.write(a)
	a.run(source.put(w))
	s, _ := a.open(w)
	const replace, fsync = "write, fsync and rename of that file", "fsync alone"
	const process, reference = "whole-process put of 20 KB", "a reference beyond its preview"
	sides := []side{
		{name: process, over: replace, run: func(a *attempt) figures {
			done, tokens := a.run(source.put(w)), 0.0
			a.step(func() (err error) { tokens, err = beyondPreview(done.stdout); return err })
			return figures{"": {milliseconds(done.Elapsed)}, reference: {tokens}}
		}, limit: "≤ 25 ms + 5 × fsync alone"},
		{name: "the store's part of a put", over: replace, limit: "≤ 3 × write+fsync+rename",
			run: timed(func(a *attempt) error { return storePut(a, s, source.body) })},
		{name: replace, run: func(a *attempt) figures {
			var synced time.Duration
			took := timed(func(*attempt) (err error) { synced, err = replaceFile(w.dir, source.body); return err })(a)
			return figures{"": took[""], fsync: {milliseconds(synced)}}
		}},
	}
	for i := range sides {
		sides[i].prepare = source.write
	}
	return []comparison{{8 * a.runs, sides, []line{
		{figure: fsync, unit: "ms"},
		{figure: reference, unit: "tokens", limit: "all ≤ 60 tokens"},
	}}}
}

// storePut puts a text the way package materialize does, without its file.
func storePut(a *attempt, s *store.Store, text []byte) error {
	body, err := s.Prepare(a.ctx, text)
	if err != nil {
		return err
	}
	id := "in-process/" + strconv.FormatInt(time.Now().UnixNano(), 36)
	_, err = s.Put(a.ctx, store.Draft{
		Record: record.Record{
			Name: record.Name{Kind: record.KindResult, ID: id}, Path: ".claude/agent_tool_results/" + id + ".md",
			MediaType: "text/markdown", Source: record.SourcePut,
		},
		Body: body,
	})
	return err
}

// replaceFile makes a file appear durably: written under a temporary name, synced,
// renamed. It returns how long the fsync took.
func replaceFile(dir string, body []byte) (fsync time.Duration, err error) {
	f, err := os.CreateTemp(dir, "write-")
	if err != nil {
		return 0, err
	}
	_, err = f.Write(body)
	begin := time.Now()
	err = errors.Join(err, f.Sync())
	fsync = time.Since(begin)
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, err
	}
	return fsync, os.Rename(f.Name(), filepath.Join(dir, "written.md"))
}

// beyondPreview returns what a printed reference costs a reader without the text of
// its preview, in tokens.
func beyondPreview(line []byte) (float64, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil || fields["preview"] == nil {
		return 0, fmt.Errorf("the reference %q has no preview: %w", line, err)
	}
	return float64(record.EstimateTokens(int64(len(line) - len(fields["preview"]) + len(`""`)))), nil
}
