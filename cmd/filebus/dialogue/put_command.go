package dialogue

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store/record"
)

type dialoguePut struct {
	cli.Given
	roundArg
	Stub  string `flag:"stub"`
	Force bool   `flag:"force"`
}

func (o *dialoguePut) Do(ctx context.Context, w *cli.Work, args []string) error {
	isStub := o.Has("stub")
	switch {
	case isStub && len(args) > 3:
		return cli.UsageError("--stub is written in place of a text: %s is not read", args[3])
	case isStub && strings.TrimSpace(o.Stub) == "":
		return cli.UsageError("--stub needs a reason")
	}
	_, dialogues, key, err := findDialogue(ctx, w.Environ, args[0])
	if err != nil {
		return err
	}
	slot, err := dialogues.Slot(ctx, key, o.round, args[2])
	if err != nil {
		return err
	}
	file := append(args[3:], "-")[0]
	origin := TurnOrigin(w.Environ, record.SourcePut)
	c := Contribution{Text: layout.StubText(o.Stub, ""), Force: o.Force, Origin: origin}
	if !isStub && !o.Force {
		err = refuseOther(ctx, w.Environ, dialogues, slot, file)
	}
	if !isStub && err == nil {
		var in cli.InputText
		in, err = w.ReadFile(file, MaxTurn+1) // one more is refused
		c.Text = in.Text
	}
	if err != nil {
		return err
	}
	put, err := dialogues.Put(ctx, slot, c)
	if err != nil {
		return err
	}
	return w.PrintReference(cli.FormatJSON, put.Reference(), put)
}

// TurnOrigin says of a turn from whose hands it comes.
func TurnOrigin(e *cli.Environ, source record.Source) materialize.Origin {
	return materialize.Origin{Source: source, Facts: layout.Facts{
		Session: e.Or("", cli.SessionVariables()...), Task: e.Or("", "FILEBUS_TASK"), Run: e.Or("", "FILEBUS_RUN"),
	}}
}

// refuseOther returns an error if a file is the turn of another agent in the round.
func refuseOther(ctx context.Context, e *cli.Environ, dialogues *Dialogues, slot Slot, file string) error {
	name, isTurn := strings.CutSuffix(filepath.Base(file), ".md")
	if !isTurn {
		return nil
	}
	other, err := dialogues.Slot(ctx, slot.Key, slot.Round, name)
	if err != nil || other.Agent == slot.Agent {
		return nil // it is nobody's
	}
	theirs, err := os.Stat(other.File)
	if err != nil {
		return nil // they have none
	}
	if given, err := os.Stat(e.Abs(file)); err == nil && os.SameFile(theirs, given) {
		return cli.UsageError("%s is the turn of %s, not of %s; --force takes it anyway", file, other.Agent,
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

func (o *dialogueRecover) Do(ctx context.Context, w *cli.Work, args []string) error {
	_, f, key, err := findDialogue(ctx, w.Environ, args[0])
	if err != nil {
		return err
	}
	r := RecoverRequest{Round: o.round, Agent: args[2], Force: o.Force, Search: o.Transcript == ""}
	files := []string{o.Transcript}
	if r.Search {
		files = Transcripts(w.Environ, o.Session)
	}
	for _, file := range files {
		in, err := w.OpenInput(file)
		if err != nil {
			return err
		}
		if r.Transcript, r.Origin = in, "stdin"; file != "-" {
			r.Origin = strings.ToValidUTF8(w.Abs(file), "\ufffd")
		}
		out, err := f.Recover(ctx, key, r)
		_ = in.Close() // only read
		if err == nil {
			return printRecovered(w.Environ, out)
		}
		if !r.Search || !errors.Is(err, ErrNotHere) {
			return err
		}
	}
	none := record.NotFound.Errorf("none of %s of clients has the turn of %s in round %d", cli.Plural(len(files), "transcript"), args[2], o.round)
	return none.Try("filebus dialogue recover {1} {2} {3} --transcript FILE", args...)
}

// Transcripts returns the files in which clients keep what agents did, the newest first: of a session
// and of the agents that were started from it, else those of all, 200 at most.
func Transcripts(e *cli.Environ, session string) []string {
	var files []string
	times := map[string]time.Time{}
	for _, c := range [][3]string{
		{"CLAUDE_CONFIG_DIR", ".claude", "projects/*/*.jsonl"}, {"CLAUDE_CONFIG_DIR", ".claude", "projects/*/*/subagents/*.jsonl"},
		{"CODEX_HOME", ".codex", "sessions/*/*/*/rollout-*.jsonl"},
		{"", ".gemini", "tmp/*/chats/*.jsonl"}, {"", ".gemini", "tmp/*/chats/*/*.jsonl"},
	} {
		found, _ := filepath.Glob(filepath.Join(cmp.Or(e.Getenv(c[0]), filepath.Join(e.Home(), c[1])), filepath.FromSlash(c[2])))
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

func printRecovered(e *cli.Environ, out *Recovered) error {
	if n := out.Broken; n > 0 {
		e.Note("%s of the transcript skipped, as not JSON", cli.Plural(n, "line"))
	}
	if out.Markers == 0 {
		e.Note("the text has no markers")
	}
	return e.Print(out, "%s  %s  (was %s; line %d of %s, %s)\n",
		out.Ref.Short(), out.Name, cli.OneLine(out.Was), out.Line, cli.OneLine(out.Transcript),
		cli.Plural(out.Markers, "marker"))
}
