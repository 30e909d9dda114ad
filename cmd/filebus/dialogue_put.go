package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filebus/cmd/filebus/dialogue"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store/record"
)

type dialoguePut struct {
	given
	roundArg
	Stub  string `flag:"stub"`
	Force bool   `flag:"force"`
}

func (o *dialoguePut) run(ctx context.Context, w *workspace, args []string) error {
	isStub := o.has("stub")
	switch {
	case isStub && len(args) > 3:
		return usageError("--stub is written in place of a text: %s is not read", args[3])
	case isStub && strings.TrimSpace(o.Stub) == "":
		return usageError("--stub needs a reason")
	}
	_, forum, key, err := w.findDialogue(ctx, args[0])
	if err != nil {
		return err
	}
	slot, err := forum.Slot(ctx, key, o.round, args[2])
	if err != nil {
		return err
	}
	file := append(args[3:], "-")[0]
	origin := w.turnOrigin(record.SourcePut)
	c := dialogue.Contribution{Text: layout.StubText(o.Stub, ""), Force: o.Force, Origin: origin}
	if !isStub && !o.Force {
		err = w.refuseOther(ctx, forum, slot, file)
	}
	if !isStub && err == nil {
		var in inputText
		in, err = w.readFile(file, dialogue.MaxTurn+1) // one more is refused
		c.Text = in.text
	}
	if err != nil {
		return err
	}
	put, err := forum.Put(ctx, slot, c)
	if err != nil {
		return err
	}
	return w.printReference(formatJSON, put.Reference(), put)
}

// turnOrigin says of a turn from whose hands it comes.
func (e *environ) turnOrigin(source record.Source) materialize.Origin {
	return materialize.Origin{Source: source, Facts: layout.Facts{
		Session: e.or("", sessionVariables()...), Task: e.or("", "FILEBUS_TASK"), Run: e.or("", "FILEBUS_RUN"),
	}}
}

// refuseOther returns an error if a file is the turn of another agent in the round.
func (e *environ) refuseOther(ctx context.Context, forum *dialogue.Dialogues, slot dialogue.Slot, file string) error {
	name, isTurn := strings.CutSuffix(filepath.Base(file), ".md")
	if !isTurn {
		return nil
	}
	other, err := forum.Slot(ctx, slot.Key, slot.Round, name)
	if err != nil || other.Agent == slot.Agent {
		return nil // it is nobody's
	}
	theirs, err := os.Stat(other.File)
	if err != nil {
		return nil // they have none
	}
	if given, err := os.Stat(e.abs(file)); err == nil && os.SameFile(theirs, given) {
		return usageError("%s is the turn of %s, not of %s; --force takes it all the same", file, other.Agent,
			slot.Agent)
	}
	return nil
}

type dialogueRecover struct {
	roundArg
	Transcript string `flag:"transcript" not:"session"` // a file, or "-"; "": one of a client is looked for
	Session    string `flag:"session"`
	Force      bool   `flag:"force"`
}

func (o *dialogueRecover) run(ctx context.Context, w *workspace, args []string) error {
	_, f, key, err := w.findDialogue(ctx, args[0])
	if err != nil {
		return err
	}
	r := dialogue.RecoverRequest{Round: o.round, Agent: args[2], Force: o.Force, Search: o.Transcript == ""}
	files := []string{o.Transcript}
	if r.Search {
		files = w.transcripts(o.Session)
	}
	for _, file := range files {
		in, err := w.openInput(file)
		if err != nil {
			return err
		}
		if r.Transcript, r.Origin = in, "stdin"; file != "-" {
			r.Origin = strings.ToValidUTF8(w.abs(file), "\ufffd")
		}
		out, err := f.Recover(ctx, key, r)
		_ = in.Close() // only read
		if err == nil {
			return w.printRecovered(out)
		}
		if !r.Search || !errors.Is(err, dialogue.ErrNotHere) {
			return err
		}
	}
	none := record.NotFound.Errorf("none of %s of clients has the turn of %s in round %d", plural(len(files), "transcript"), args[2], o.round)
	return none.Try("filebus dialogue recover {1} {2} {3} --transcript FILE", args...)
}

// transcripts returns the files in which clients keep what agents did, the newest first: of a session
// and of the agents that were started from it, else those of all, 200 at most.
func (e *environ) transcripts(session string) []string {
	var files []string
	times := map[string]time.Time{}
	for _, c := range [][3]string{
		{"CLAUDE_CONFIG_DIR", ".claude", "projects/*/*.jsonl"}, {"CLAUDE_CONFIG_DIR", ".claude", "projects/*/*/subagents/*.jsonl"},
		{"CODEX_HOME", ".codex", "sessions/*/*/*/rollout-*.jsonl"},
		{"", ".gemini", "tmp/*/chats/*.jsonl"}, {"", ".gemini", "tmp/*/chats/*/*.jsonl"},
	} {
		found, _ := filepath.Glob(filepath.Join(cmp.Or(e.getenv(c[0]), filepath.Join(e.home(), c[1])), filepath.FromSlash(c[2])))
		for _, file := range found {
			names := strings.Split(strings.TrimSuffix(filepath.ToSlash(file), ".jsonl"), "/")
			isOf := session == "" || slices.Contains(names, session) || strings.HasSuffix(file, "-"+session+".jsonl")
			if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && isOf {
				files, times[file] = append(files, file), info.ModTime()
			}
		}
	}
	slices.SortFunc(files, func(a, b string) int { return times[b].Compare(times[a]) })
	return files[:min(len(files), 200)]
}

func (e *environ) printRecovered(out *dialogue.Recovered) error {
	if n := out.Broken; n > 0 {
		e.note("%s of the transcript not JSON, and passed over", plural(n, "line"))
	}
	if out.Markers == 0 {
		e.note("the text has no markers")
	}
	return e.print(out, "%s  %s  (was %s; line %d of %s, %s)\n",
		out.Ref.Short(), out.Name, oneLine(out.Was), out.Line, oneLine(out.Transcript), plural(out.Markers, "marker"))
}
