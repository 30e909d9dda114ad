package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"filebus/query"
	"filebus/store"
)

// An attempt is steps of which the first that fails is the last: those behind it do
// nothing and return what can be passed on to the next. Whoever began it looks at the
// error in the end.
type attempt struct {
	*bench
	ctx context.Context
	err error
}

// check notes an error, if it is the first, and reports whether all is well.
func (a *attempt) check(err error) bool {
	if a.err == nil {
		a.err = err
	}
	return a.err == nil
}

// step does something unless a step before it has failed.
func (a *attempt) step(do func() error) bool { return a.err == nil && a.check(do()) }

// needs notes that an option is missing which a suite cannot do without.
func (a *attempt) needs(option, what string) {
	if option == "" {
		a.check(missing(what))
	}
}

// folder makes a new folder in the temporary one.
func (a *attempt) folder(name string) (dir string) {
	a.step(func() (err error) { dir, err = os.MkdirTemp(a.temp, name+"-"); return err })
	return dir
}

// run runs a process.
func (a *attempt) run(c command) (done outcome) {
	a.step(func() (err error) { done, err = a.execute(a.ctx, c); return err })
	return done
}

// runForPeak runs a process whose memory is measured.
func (a *attempt) runForPeak(c command) outcome {
	c.peak = true
	return a.run(c)
}

// write writes a file.
func (a *attempt) write(path string, body []byte) {
	a.step(func() error { return writeFile(path, body) })
}

// A workspace is a folder with a store of its own.
type workspace struct{ dir, program string }

// workspace makes an empty folder for a program; the first write makes the store.
func (a *attempt) workspace(program string) *workspace {
	return &workspace{a.folder("workspace"), program}
}

func (w *workspace) storeDir() string { return filepath.Join(w.dir, ".filebus") }
func (w *workspace) indexDir() string { return filepath.Join(w.storeDir(), "index") }

// command returns a command line of filebus for the workspace.
func (w *workspace) command(args ...string) command {
	return command{dir: w.dir, args: append([]string{w.program, "--store", w.storeDir()}, args...)}
}

// search returns the command line that searches for words.
func (w *workspace) search(words []string) command {
	return w.command(append([]string{"search"}, words...)...)
}

// filled returns a workspace with the files of a folder, captured and indexed.
func (a *attempt) filled(program, dir string) *workspace {
	w := a.workspace(program)
	a.run(w.command("capture", "--tree", "made", dir))
	a.run(w.command("reindex"))
	return w
}

// stock returns a workspace with the made texts. Each program has one, whose records
// must not be changed.
func (a *attempt) stock(program string) *workspace {
	if w := a.stocks[program]; w != nil {
		return w
	}
	w := a.filled(program, a.texts().dir)
	if a.err == nil {
		a.stocks[program] = w
	}
	return w
}

// open opens the store of a workspace, to be used by this process.
func (a *attempt) open(w *workspace) (s *store.Store, reader *query.Reader) {
	a.step(func() (err error) { s, err = store.Open(w.storeDir(), store.Options{}); return err })
	if a.err == nil {
		reader = query.New(s, query.Options{})
	}
	return s, reader
}

// sizes returns what the store of a workspace and its index take on disk.
func (a *attempt) sizes(w *workspace) (store, index int64) {
	all := a.sizeOf(w.storeDir())
	index = a.sizeOf(w.indexDir())
	return all - index, index
}

// sizeOf returns the bytes that a file, or those below a folder, take on disk.
func (a *attempt) sizeOf(path string) int64 {
	var kilobytes int64
	done := a.run(command{args: []string{"du", "-sk", path}})
	a.step(func() error { _, err := fmt.Sscan(string(done.stdout), &kilobytes); return err })
	return kilobytes << 10
}

// whole measures the milliseconds that a whole process takes.
func whole(next func() command) measurement {
	return func(a *attempt) figures { return one(milliseconds(a.run(next()).Elapsed)) }
}

// tool returns a side that measures a public tool.
func tool(name, dir string, args ...string) side {
	return side{name: name, tool: args[0], run: whole(always(command{dir: dir, args: args}))}
}
