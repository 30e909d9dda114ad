package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"filebus/materialize/dialogue"
	"filebus/store/record"
)

type dialogueWaitOptions struct {
	limit   time.Duration
	agents  []string
	noStubs bool
}

func newDialogueWaitCommand(env *environ) *cobra.Command {
	var opts dialogueWaitOptions
	cmd := &cobra.Command{
		Use:  "wait SLUG ROUND",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runDialogueWait(cmd.Context(), env, opts, args[0], args[1])
		},
	}
	flags := cmd.Flags()
	flags.DurationVar(&opts.limit, "for", defaultWait, "")
	flags.StringSliceVar(&opts.agents, "agents", nil, "")
	flags.BoolVar(&opts.noStubs, "no-stubs", false, "")
	return cmd
}

// A roundJSON is what stands in the places of a round's turns, in JSON.
type roundJSON struct {
	Dialogue string         `json:"dialogue"`
	Round    int            `json:"round"`
	Agents   []standingJSON `json:"agents"`
	Stubs    int            `json:"stubs"`
	Resume   string         `json:"resume,omitempty"` // the command that goes on
}

type standingJSON struct {
	Agent  string   `json:"agent"`
	State  string   `json:"state"` // turn, stub, empty, writing or missing
	Words  int      `json:"words"`
	File   string   `json:"file"`
	Reason string   `json:"reason,omitempty"` // of a stub
	Late   bool     `json:"late,omitempty"`
	Alike  []string `json:"alike,omitempty"` // files that may be meant
}

func runDialogueWait(ctx context.Context, env *environ, opts dialogueWaitOptions, slug, number string) error {
	round, err := roundArgument(number)
	if err != nil {
		return err
	}
	if opts.limit <= 0 {
		return usageError("--for %v: a wait for turns takes some time, and has an end", opts.limit)
	}
	s, forum, key, err := env.findDialogue(ctx, slug)
	if err != nil {
		return err
	}
	begun := env.now()
	all, err := forum.Wait(ctx, key, dialogue.WaitRequest{
		Round: round, Agents: opts.agents, Limit: opts.limit, NoStubs: opts.noStubs,
		Alike: func(seat dialogue.Seat, file string) { env.noteAlike(s, seat, file) },
		Say:   func(line string) { env.note("%s", oneLine(line)) },
	})
	isLate := errors.Is(err, dialogue.ErrLate)
	if err != nil && !isLate {
		return err
	}
	size, printErr := printRound(env, s, opts, key, round, all, isLate)
	env.logWait(s, "dialogue wait", key.ID, record.EstimateTokens(int64(size)), env.now().Sub(begun))
	switch {
	case printErr != nil:
		return printErr
	case isLate:
		return coded(record.Timeout, roundHint(opts, key, round), err)
	}
	return wantStubs(key, round, all)
}

// noteAlike names a file that may be meant as a turn, and the command that takes it.
func (e *environ) noteAlike(s *session, seat dialogue.Seat, file string) {
	shown, err := filepath.Rel(filepath.Dir(filepath.Dir(seat.File)), file)
	if err != nil || !filepath.IsLocal(shown) {
		shown = file
	}
	e.note("%s: missing; there is %s", seat.Agent, oneLine(shown))
	fmt.Fprintf(e.err, "  try: filebus dialogue put %s %d %s %s\n", quote(seat.Key.String()), seat.Round, quote(seat.Agent), quote(s.near(e, file)))
}

// near returns a file's path as seen from the working directory, if it lies in the
// workspace.
func (s *session) near(env *environ, file string) string {
	if below, err := filepath.Rel(s.Root, file); err != nil || !filepath.IsLocal(below) || env.dir == "" {
		return file
	}
	if rel, err := filepath.Rel(env.dir, file); err == nil {
		return rel
	}
	return file
}

// printRound prints what stands in the places of turns, and returns how many bytes
// that took.
func printRound(env *environ, s *session, opts dialogueWaitOptions, key dialogue.Key, round int, all []dialogue.Standing, isLate bool) (int, error) {
	view := roundJSON{Dialogue: key.String(), Round: round, Agents: []standingJSON{}}
	size := 0
	var rows [][]string
	for _, a := range all {
		remark := a.Reason
		if a.Late {
			remark = "late: it came after a stub"
		}
		row := []string{a.Agent, string(a.State), fmt.Sprint(a.Words), s.near(env, a.File)}
		if remark != "" {
			row = append(row, shortened(remark, maxRemark))
		}
		rows = append(rows, row)
		size += len(strings.Join(row, "\t")) + 1
		if a.State == dialogue.StateStub {
			view.Stubs++
		}
		j := standingJSON{a.Agent, string(a.State), a.Words, validText(a.File), validText(a.Reason), a.Late, nil}
		for _, file := range a.Alike {
			j.Alike = append(j.Alike, validText(file))
		}
		view.Agents = append(view.Agents, j)
	}
	if isLate {
		view.Resume = roundHint(opts, key, round)
	}
	if env.global.json {
		return size, env.printJSON(view)
	}
	env.printTable(rows)
	return size, nil
}

// maxRemark is the longest remark behind a turn, in bytes.
const maxRemark = 120

// roundHint is how to go on with a wait whose time was up.
func roundHint(opts dialogueWaitOptions, key dialogue.Key, round int) string {
	line := fmt.Sprintf("filebus dialogue wait %s %d", quote(key.String()), round)
	if len(opts.agents) > 0 {
		line += " --agents " + quote(strings.Join(opts.agents, ","))
	}
	if opts.limit != defaultWait {
		line += " --for " + durationText(opts.limit)
	}
	if opts.noStubs {
		line += " --no-stubs"
	}
	return line
}

// wantStubs returns an error that names the agents with stubs, if there are any.
func wantStubs(key dialogue.Key, round int, all []dialogue.Standing) error {
	var stubs []string
	for _, a := range all {
		if a.State == dialogue.StateStub {
			stubs = append(stubs, a.Agent)
		}
	}
	if len(stubs) == 0 {
		return nil
	}
	place := fmt.Sprintf("%s %d %s", quote(key.String()), round, quote(stubs[0]))
	hint := "filebus dialogue recover " + place + " --transcript FILE, or filebus dialogue put " + place + " FILE"
	err := fmt.Errorf("%d of %d have stubs in round %d of %s: %s", len(stubs), len(all), round, key, strings.Join(stubs, ", "))
	return coded(record.Wanting, hint, err)
}
