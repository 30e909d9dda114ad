package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"filebus/store/record"
)

// planCapture compares taking in a folder of new files with git add, and doing it
// again when nothing has changed.
func planCapture(a *attempt) []comparison {
	texts := a.texts()
	var w *workspace
	var repository string
	newStore := func(a *attempt) { w = a.workspace(a.program) }
	newRepository := func(a *attempt) { repository = a.repository() }
	capture := whole(func() command { return w.command("capture", "--tree", "made", texts.dir) })
	add := whole(func() command {
		return command{dir: texts.dir, args: []string{"git", "--git-dir", repository, "--work-tree", texts.dir, "add", "-A", "."}}
	})
	return []comparison{
		pair(a.runs,
			side{name: fmt.Sprintf("capture of %d new files", len(texts.files)), prepare: newStore, run: capture},
			side{name: "git add of these", tool: "git", prepare: newRepository, run: add},
			"≤ 1.0 × git add"),
		pair(a.runs,
			side{name: "capture again, nothing changed", run: capture},
			side{name: "git add again, nothing changed", tool: "git", run: add}, ""),
	}
}

// repository makes an empty git repository without a work tree, if there is a git.
func (a *attempt) repository() string {
	dir := a.folder("git")
	if hasTool("git") {
		a.run(command{dir: dir, args: []string{"git", "init", "-q", "--bare"}})
	}
	return dir
}

// planMaterialize compares laying files out with copying them.
func planMaterialize(a *attempt) []comparison {
	texts, w, to := a.texts(), a.stock(a.program), ""
	newFolder := func(a *attempt) { to = filepath.Join(a.folder("out"), "laid") }
	lay := func() command { return w.command("materialize", "--tree", "made", "--to", to) }
	copied := func() command { return command{dir: a.temp, args: []string{"cp", "-r", texts.dir, to}} }
	return []comparison{pair(a.runs,
		side{name: fmt.Sprintf("materialize %d files", len(texts.files)), prepare: newFolder, run: whole(lay)},
		side{name: "cp -r of these", tool: "cp", prepare: newFolder, run: whole(copied)},
		"≤ 2 × cp -r")}
}

// planSync compares a sync that finds nothing to do with git status, on one folder
// that both know.
func planSync(a *attempt) []comparison {
	w := a.mirrored(newGenerator(a.seed).next, a.docs)
	if hasTool("git") {
		for _, args := range [][]string{
			{"git", "init", "-q"},
			{"git", "add", "-A"},
			{"git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-q", "-m", "all"},
		} {
			a.run(command{dir: w.dir, args: args})
		}
	}
	return []comparison{pair(4*a.runs,
		side{name: fmt.Sprintf("idle sync of %d mirrored files", a.docs), run: whole(always(w.command("sync")))},
		tool("git status of these", w.dir, "git", "status", "--short"),
		"≤ 3 × git status")}
}

// mirrored returns a workspace whose files are the mirror of its store: so many
// results with the texts that next makes.
func (a *attempt) mirrored(next func() text, files int) *workspace {
	w := a.workspace(a.program)
	for i := range files {
		file := fmt.Sprintf("conversation-%03d/call-%06d.md", i/100, i)
		a.write(filepath.Join(w.dir, ".claude", "agent_tool_results", filepath.FromSlash(file)), next().body)
	}
	for _, step := range []string{"init", "sync", "sync"} {
		a.run(w.command(step))
	}
	return w
}

// planLarge puts a large body of random bytes, gets it again and compares the two,
// and stores the output of a command that prints it. All run once: what counts is
// the peak of memory.
func planLarge(a *attempt) []comparison {
	w := a.workspace(a.program)
	file, got := filepath.Join(w.dir, "random.bin"), record.NewDigester()
	var want record.Digest
	a.step(func() (err error) { want, err = writeRandom(file, a.largeSize, a.seed); return err })
	var all comparison
	peak := func(name string, c command, verify func() error) {
		memory, elapsed := "peak memory of "+name, "time of "+name
		all.sides = append(all.sides, side{name: name, run: func(a *attempt) figures {
			done := a.runForPeak(c)
			a.step(verify)
			return figures{memory: done.megabytes(), elapsed: {milliseconds(done.Elapsed)}}
		}})
		all.lines = append(all.lines,
			line{figure: memory, unit: "MB", limit: "≤ 64 MB"}, line{figure: elapsed, unit: "ms"})
	}
	get := w.command("get", "--no-sync", "result/large/body")
	get.stdout = got
	fine := func() error { return nil }
	put := w.command("put", "--conversation", "large", "--call", "body", file)
	peak(fmt.Sprintf("put, %d bytes", a.largeSize), put, fine)
	peak("get, bytes equal", get, func() error {
		if digest := got.Digest(); digest != want {
			return fmt.Errorf("get returned other bytes than were put: %s in place of %s", digest, want)
		}
		return nil
	})
	peak("exec", w.command("exec", "--", "cat", file), fine)
	return []comparison{all}
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
	_, err = io.CopyN(io.MultiWriter(f, digester), rand.NewChaCha8(key), size)
	return digester.Digest(), err
}
