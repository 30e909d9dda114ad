package main

import (
	"fmt"
	"path/filepath"
	"time"
)

// ofOther ends the names of the figures of the program that -against names.
const ofOther = " (-against)"

// planStartup measures what whole processes of common commands take of time and of
// the processor, and the size of the program; with -against, those of another
// filebus too, in turns with ours. Each program has stores of its own.
func planStartup(a *attempt) []comparison {
	all := comparison{turns: 8 * a.runs, sides: []side{tool("an empty process (true)", a.temp, "true")}}
	ours := a.commonCommands(a.program, "")
	var theirs []side
	if a.against != "" {
		other, err := findProgram(a.against)
		a.check(err)
		theirs = a.commonCommands(other, ofOther)
	}
	for i, s := range ours {
		other := s.name + ofOther
		s.over = other
		all.sides = append(all.sides, s)
		all.lines = append(all.lines, line{figure: s.name + processorTime, unit: "ms", over: other + processorTime})
		if theirs != nil {
			all.sides = append(all.sides, theirs[i])
			all.lines = append(all.lines, line{figure: other + processorTime, unit: "ms"})
		}
	}
	all.sides[1].limit = "≤ 18 ms"
	size := side{name: "size of the program", unit: "MB", limit: "≤ 32 MB"}
	size.run = func(a *attempt) figures { return one(float64(a.sizeOf(a.program)) / (1 << 20)) }
	all.sides = append(all.sides, size)
	return []comparison{all}
}

// processorTime ends the names of figures of what a process takes of the processor.
const processorTime = ": processor time"

// commonCommands measures the time and the processor time of commands of a program
// that agents call often, "version" first.
func (a *attempt) commonCommands(program, suffix string) []side {
	stock, w := a.stock(program), a.workspace(program)
	source := w.freshFile(results(a.seed))
	common := func(name string, next func() command) side {
		name += suffix
		return side{name: name, prepare: source.write, run: func(a *attempt) figures {
			done := a.run(next())
			return figures{"": {milliseconds(done.Elapsed)}, name + processorTime: {milliseconds(done.Processor)}}
		}}
	}
	queries := a.queries(a.texts(), queriesPerTurn)
	return []side{
		common("start-up (filebus version)", always(w.command("version"))),
		common("put of 20 KB", always(source.put(w))),
		common(fmt.Sprintf("search in %d records", len(a.texts().files)), eachTurn(queries, stock.search)),
		common("exec true", always(w.command("exec", "--conversation", "bench", "--", "true"))),
	}
}

// wakePause is how long a wait is given to fall asleep before its marker appears.
const wakePause = 150 * time.Millisecond

// planAgents measures what an orchestrator meets all day: running an agent's
// command through exec, waiting for a marker, asking for the context of a task.
func planAgents(a *attempt) []comparison {
	w := a.workspace(a.program)
	source := w.freshFile(results(a.seed))
	source.write(a)
	a.run(source.put(w))
	a.run(w.command("task", "start", "001"))
	a.run(w.command("context", "words"))
	alone := tool("that command alone", w.dir, "cat", source.path)
	exec := w.command("exec", "--conversation", "bench", "--", "cat", source.path)
	return []comparison{{turns: 4 * a.runs, sides: []side{
		{name: "exec of a command that prints 20 KB", run: whole(always(exec)), over: alone.name},
		alone,
		{name: "context for a task", run: whole(always(w.command("context", "a text about words")))},
		{name: "from a marker's appearance to the end of wait", run: wakeTime(w), limit: "≤ 50 ms"},
	}}}
}

// wakeTime lets a wait fall asleep, writes the marker as an agent does, and
// measures how long the process then takes to end.
func wakeTime(w *workspace) measurement {
	return func(a *attempt) figures {
		a.run(w.command("task", "start", "001", "--restart"))
		ended := make(chan error, 1)
		go func() {
			_, err := a.execute(a.ctx, w.command("wait", "001", "--timeout", "1m"))
			ended <- err
		}()
		time.Sleep(wakePause)
		a.write(filepath.Join(w.dir, ".claude", "agent_complete", "task-001.done"), []byte("done"))
		return timed(func(*attempt) error { return <-ended })(a)
	}
}
