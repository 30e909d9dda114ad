package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/nats-io/nats-server/v2/server"
)

// planReplicate has stores tell all they have in a remote, and a new one hear all of it: over a folder, and over
// a server of NATS JetStream within this process.
func planReplicate(a *attempt) []comparison {
	t := a.team()
	pushing := fmt.Sprintf("%d stores with %d records each push into ", a.origins, a.each)
	all := comparison{sides: []side{
		{name: pushing + "a folder", unit: "s", run: func(a *attempt) figures { return t.meet(a, "folder", a.folder("remote"), nil) }},
		{name: pushing + "JetStream", unit: "s", run: func(a *attempt) figures {
			s := a.jetStream()
			if s == nil {
				return nil
			}
			defer s.Shutdown()
			return t.meet(a, "JetStream", s.ClientURL()+"/bench", s)
		}},
	}}
	for _, over := range []string{"folder", "JetStream"} {
		for _, m := range meetings {
			all.lines = append(all.lines, line{figure: over + ": " + m.what, unit: m.unit})
		}
	}
	return []comparison{all}
}

// meetings are the figures of a remote, besides the time of all pushes.
var meetings = []struct{ what, unit string }{
	{"a new store pulls all", "s"}, {"peak memory of that", "MB"}, {"the remote on disk", "× the texts"},
	{"bytes to the server", "× the texts"}, {"bytes from the server while a store pulls", "× the texts"}, {"memory of the server, with its caches", "MB"}, {"messages in the streams", ""},
	{"processor time of an idle replicate in 30 s", "ms"}, {"its resident memory", "MB"},
	{"the remote, when stores have heard all", "× the compressed texts"}, {"the largest of these stores", "× one that has put all itself"},
}

// A team is stores that have not met yet.
type team struct {
	stores        []*workspace
	bytes, packed float64 // of the texts, and of each compressed by itself
	alone         float64 // the size of a store that has put all of them itself
}

func (a *attempt) team() *team {
	t, texts, alone := &team{}, newGenerator(a.seed), a.workspace(a.program)
	for i := range a.origins {
		c := a.corpusOf(texts.next, upTo(a.each))
		w := a.workspace(a.program)
		a.run(w.command("capture", "--tree", "made", c.dir))
		a.run(alone.command("capture", "--tree", fmt.Sprint("made-", i), c.dir))
		t.stores, t.bytes, t.packed = append(t.stores, w), t.bytes+float64(c.bytes), t.packed+a.packed(c)
		a.step(func() error { return os.RemoveAll(c.dir) })
	}
	t.alone = a.storeOf(alone)
	a.step(func() error { return os.RemoveAll(alone.dir) })
	return t
}

// packed returns the bytes of the texts, each compressed as a store does it.
func (a *attempt) packed(c *corpus) (size float64) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	a.check(err)
	for _, file := range c.files {
		a.step(func() error {
			text, err := os.ReadFile(filepath.Join(c.dir, file))
			size += float64(len(z.EncodeAll(text, nil)))
			return err
		})
	}
	return size
}

// storeOf returns the bytes of a store, without its index.
func (a *attempt) storeOf(w *workspace) (size float64) {
	a.step(func() error {
		return filepath.WalkDir(filepath.Join(w.dir, ".filebus"), func(path string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() && e.Name() == "index" {
				return cmp.Or(err, filepath.SkipDir)
			}
			info, err := e.Info()
			if err == nil && !e.IsDir() {
				size += float64(info.Size())
			}
			return err
		})
	})
	return size
}

// replicating returns a command that has keys.
func (a *attempt) replicating(w *workspace, args ...string) command {
	c := w.command(args...)
	c.env = []string{"FILEBUS_STATE=" + filepath.Join(a.temp, "state")}
	return c
}

// meet lets all stores push and a new one pull, and then waits with nothing to do.
func (t *team) meet(a *attempt, over, address string, s *server.Server) figures {
	found, kept := figures{}, memoryInUse()
	note := func(what string, value float64) { found[over+": "+what] = sample{value} }
	begin := time.Now()
	for i, w := range t.stores {
		a.run(a.replicating(w, "remote", "add", over, address, "--create", "--label", fmt.Sprint("store ", i)))
		a.run(a.replicating(w, "push", over))
	}
	found[""] = sample{time.Since(begin).Seconds()}
	disk, pushed := address, a.counted(s)
	if s != nil {
		disk = s.StoreDir()
		note("memory of the server, with its caches", (memoryInUse()-kept)/1e6)
		note("messages in the streams", pushed.messages)
	}
	note("the remote on disk", float64(a.sizeOf(disk))/t.bytes)
	w := a.workspace(a.program)
	a.run(a.replicating(w, "remote", "add", over, address, "--label", "new"))
	a.run(a.replicating(w, "remote", "trust", "--all"))
	pulled := a.runForPeak(a.replicating(w, "pull", over))
	note("a new store pulls all", pulled.Elapsed.Seconds())
	found[over+": peak memory of that"] = pulled.megabytes()
	if s != nil {
		note("bytes to the server", pushed.in/t.bytes)
		note("bytes from the server while a store pulls", (a.counted(s).out-pushed.out)/t.bytes)
	}
	a.run(w.command("search", "nothing")) // which indexes what has come
	a.run(a.replicating(w, "push", over)) // and the own log has an entry for each record
	a.idle(a.replicating(w, "replicate", over), note)
	most := 0.0
	for _, w := range t.stores[:min(a.hear, len(t.stores))] {
		for _, args := range [][]string{{"remote", "trust", "--all"}, {"pull", over}, {"push", over}} {
			a.run(a.replicating(w, args...))
		}
		most = max(most, a.storeOf(w)/t.alone)
	}
	note("the remote, when stores have heard all", float64(a.sizeOf(disk))/t.packed)
	note("the largest of these stores", most)
	return found
}

// jetStream starts a server.
func (a *attempt) jetStream() (s *server.Server) {
	dir := a.folder("jetstream")
	a.step(func() (err error) {
		s, err = server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: dir, SyncAlways: true, NoSigs: true, NoLog: true})
		if err != nil {
			return err
		}
		if s.Start(); !s.ReadyForConnections(10 * time.Second) {
			return fmt.Errorf("the server of JetStream does not start")
		}
		return nil
	})
	return s
}

// A traffic is how many messages a server keeps, and the bytes that it was sent, and has sent.
type traffic struct{ messages, in, out float64 }

func (a *attempt) counted(s *server.Server) (t traffic) {
	a.step(func() error {
		if s == nil {
			return nil
		}
		js, err := s.Jsz(nil)
		v, varzErr := s.Varz(nil)
		if err = cmp.Or(err, varzErr); err == nil {
			t = traffic{float64(js.Messages), float64(v.InBytes), float64(v.OutBytes)}
		}
		return err
	})
	return t
}

func memoryInUse() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// idle runs a process for half a minute in which nothing happens. Only Linux tells what it takes meanwhile.
func (a *attempt) idle(c command, note func(what string, value float64)) {
	if runtime.GOOS != "linux" {
		return
	}
	a.step(func() error {
		cmd := newProcess(a.ctx, c.args)
		cmd.Dir, cmd.Env = c.dir, append(a.environment(), c.env...)
		if err := cmd.Start(); err != nil {
			return err
		}
		defer func() {
			_ = cmd.Cancel() // it may have ended
			_ = cmd.Wait()   // by a signal
		}()
		time.Sleep(10 * time.Second)
		before, _, beforeErr := usage(cmd.Process.Pid)
		time.Sleep(30 * time.Second)
		after, resident, err := usage(cmd.Process.Pid)
		note("processor time of an idle replicate in 30 s", after-before)
		note("its resident memory", resident)
		return cmp.Or(beforeErr, err)
	})
}

// usage returns the milliseconds of the processor that a process has had, and its resident megabytes.
func usage(pid int) (processor, resident float64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, err
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 22 {
		return 0, 0, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields))
	}
	number := func(i int) float64 {
		n, _ := strconv.ParseFloat(fields[i], 64) // the system writes numbers
		return n
	}
	return (number(11) + number(12)) * 10, number(21) * float64(os.Getpagesize()) / 1e6, nil // a tick is 10 ms
}
