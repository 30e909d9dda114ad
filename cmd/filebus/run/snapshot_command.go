package run

import (
	"context"
	"fmt"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/materialize/layout"
	"filebus/query"
	"filebus/store/record"
)

type snapshotTake struct {
	Run  string `flag:"run"`
	Loop int    `flag:"loop" least:"0"`
}

func (o *snapshotTake) Do(ctx context.Context, w *cli.Work, _ []string) error {
	taken, err := Of(w).Take(ctx, o.Run, o.Loop)
	if err != nil {
		return err
	}
	for _, note := range taken.Notes {
		w.Remark("%s", cli.OneLine(note))
	}
	return w.Print(taken, "%s  %s completed, %s\n", taken.Name(), summaryOf(taken), taken.Tasks)
}

type snapshotList struct {
	Run string `flag:"run"`
	cli.Page
}

// SnapshotListJSON is what a command prints with --json.
type SnapshotListJSON struct {
	Snapshots []*Snapshot `json:"snapshots"`
	More      int         `json:"more,omitempty"`
}

func (o *snapshotList) Do(ctx context.Context, w *cli.Work, _ []string) error {
	b := Of(w)
	all, err := b.Snapshots(ctx, o.Run)
	if err != nil {
		return err
	}
	var list SnapshotListJSON
	list.Snapshots, list.More = cli.CutPage(o.Page, all)
	var rows [][]string
	for _, snap := range list.Snapshots {
		if err := b.ReadManifest(ctx, snap); err != nil {
			return err
		}
		snap.Changed, snap.Notes = nil, nil
		row := []string{snap.Name(), w.Minute(snap.Time), summaryOf(snap)}
		var files []string
		for _, f := range snap.Files {
			files = append(files, f.Path)
		}
		rows = append(rows, append(row, strings.Join(files, " ")))
	}
	return w.PresentTable(rows, cli.Presentation{
		JSON: func(int) any { return list },
		None: "no snapshots", Left: list.More, Rest: o.Next(len(rows)),
	})
}

// summaryOf says in a few words what a snapshot holds.
func summaryOf(s *Snapshot) string {
	if m := s.Manifest; m != nil {
		text := cli.Plural(m.FilesChanged, "file") + " changed"
		if m.Method == "git" {
			text += fmt.Sprintf(" +%d -%d", m.LinesAdded, m.LinesRemoved)
		}
		return text + ", " + cli.Plural(len(m.Issues), "issue")
	}
	if len(s.Files) > 0 && s.Files[0].Path == layout.SnapshotDiff {
		return s.Files[0].Summary
	}
	return ""
}

// snapshotTokens is how much of a snapshot's file, or of a difference, is printed
// unless more is asked for.
const snapshotTokens = 2000

type snapshotShow struct {
	cli.Given
	MaxTokens int `flag:"max-tokens" least:"0"`
}

func (o *snapshotShow) Do(ctx context.Context, w *cli.Work, args []string) error {
	if len(args) == 1 {
		if !o.Has("max-tokens") {
			o.MaxTokens = cli.StateTokens
		}
		return printSnapshot(ctx, w, args[0], o.MaxTokens)
	}
	v, err := Of(w).FileOf(ctx, args[0], args[1])
	if err != nil {
		return err
	}
	return w.PrintBody(ctx, v.Record.Name.String(), v, query.BodyRequest{MaxTokens: o.MaxTokens})
}

func printSnapshot(ctx context.Context, w *cli.Work, text string, maxTokens int) error {
	snap, err := Of(w).Find(ctx, text)
	if err != nil {
		return err
	}
	lines := []string{snap.Name() + "  " + w.Minute(snap.Time) + "  " + summaryOf(snap)}
	for _, f := range snap.Files {
		line := "  " + f.Version.Ref.Short() + "  " + f.Path + "  " + cli.ByteSize(f.Version.Record.Size)
		if f.Path == layout.SnapshotIssues || f.Path == layout.SnapshotState {
			line += "  " + cli.CutText(f.Summary)
		}
		lines = append(lines, line)
	}
	lines = append(lines, cli.Led("  ", snap.Changed)...)
	if more := snap.FilesChanged - len(snap.Changed); more > 0 && len(snap.Changed) > 0 {
		diff := " " + record.ShellWord(snap.Name()) + " " + layout.SnapshotDiff
		lines = append(lines, "  "+w.Rest(more, "filebus snapshot show"+diff+" --max-tokens 0"))
	}
	lines = append(lines, cli.Led("note  ", snap.Notes)...)
	return w.PresentShort(lines, cli.Presentation{MaxTokens: maxTokens, Exact: true, JSON: func(int) any { return snap }})
}

func restoreState(ctx context.Context, w *cli.Work, args []string) error {
	r, err := Of(w).RestoreState(ctx, args[0])
	if err != nil {
		return err
	}
	switch {
	case r.Unchanged:
		w.Remark("%s is as it was at the end of %s", r.File, r.From)
	case r.Before == record.ShortRef{}:
		w.Remark("%s is there again, as it was at the end of %s", r.File, r.From)
	default:
		w.Remark("%s is as it was at the end of %s again; filebus get %s prints what was there before", r.File, r.From,
			r.Before)
	}
	return w.Print(r, "%s  %s\n", r.Ref, r.File)
}
