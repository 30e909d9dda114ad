package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/query"
)

// ShowRecord prints what there is to know of a record, without its text.
func (w *Work) ShowRecord(ctx context.Context, text string, maxTokens int) error {
	v, err := w.VersionNear(ctx, text)
	if err != nil {
		return err
	}
	w.NoteIfAltered(ctx, v.Record.Name)
	detail, err := w.Reader.Show(ctx, v)
	if err != nil {
		return err
	}
	return w.PresentLines(w.detailLines(&detail), Presentation{
		MaxTokens: maxTokens, What: detail.Name.String(), JSON: func(int) any { return detail },
	})
}

// JoinedLine says in a line what another file says of a task.
func JoinedLine(j query.Joined) string {
	if j.Name == "" {
		return fmt.Sprintf("%s  %d open, %d done", OneLine(j.Path), j.Open, j.Done)
	}
	return OneLine(j.Path) + "  " + said(j.Status, cmp.Or(j.Says, j.Title))
}

func said(status, text string) string {
	const most = 200 // characters of what came of it
	return strings.TrimSpace(OneLine(status) + "  " + markdown.Clip(OneLine(text), most))
}

func (e *Environ) detailLines(d *query.Detail) []string {
	r := d.Version.Record
	lines := []string{e.Bold(OneLine(r.Name.String())) + "  " + d.Ref.String()}
	if !d.Current {
		lines[0] += "  (not current)"
	}
	add := func(label, value string) {
		if value != "" {
			lines = append(lines, fmt.Sprintf("%-13s %s", label, OneLine(value)))
		}
	}
	add("title", d.Description.Title)
	add("path", r.Path)
	profile := layout.Claude()
	if len(e.Opened) > 0 {
		profile = e.Opened[0].Settings.Profile
	}
	add("layout", profile.Recognize(r.Path).Declared)
	add("size", fmt.Sprintf("%d bytes, ~%d tokens, %s", r.Size, d.Tokens, Plural(d.Description.Words, "word")))
	if !r.Written.IsZero() {
		add("written", e.writtenText(r.Written, e.Minute))
	}
	add("time", e.Minute(r.Time)+"  from "+string(r.Source))
	for _, f := range [][2]string{
		{"agent", r.Agent}, {"conversation", r.Conversation}, {"session", r.Session}, {"run", r.Run}, {"loop", r.Loop},
		{"task", r.Task}, {"status", r.Status}, {"tags", strings.Join(r.Tags, " ")},
	} {
		add(f[0], f[1])
	}
	if r.Exit != nil {
		add("exit", strconv.Itoa(*r.Exit))
	}
	for _, key := range slices.Sorted(maps.Keys(d.Description.Attributes)) {
		add(key, d.Description.Attributes[key])
	}
	for _, l := range r.Links {
		line := l.Target
		if i := slices.IndexFunc(d.Targets, func(t query.Target) bool { return t.Name == l.Target }); i >= 0 {
			line += "  " + said(d.Targets[i].Status, d.Targets[i].Title)
		}
		add(l.Type, line)
	}
	for _, from := range r.From {
		add("from", from.Short())
	}
	for _, j := range d.Joined {
		add("joined", JoinedLine(j))
	}
	add("preview", d.Description.Preview)
	return slices.Concat(lines, e.versionLines(d), outlineLines(d), entryLines(d))
}

// versionLines lists what happened to the name, newest first; of a name that has
// one version there is nothing to say.
func (e *Environ) versionLines(d *query.Detail) []string {
	if len(d.Versions) < 2 {
		return nil
	}
	lines := []string{"versions"}
	for _, v := range slices.Backward(d.Versions) {
		line := fmt.Sprintf("  @%d  %s  %-8s  %s", v.Position, e.Minute(v.Time), v.Change, v.Ref)
		if v.Tokens > 0 && v.Change == "put" {
			line += "  " + TokenText(v.Tokens)
		}
		if v.Agent != "" {
			line += "  " + v.Agent
		}
		lines = append(lines, line)
	}
	return lines
}

func outlineLines(d *query.Detail) []string {
	if len(d.Outline) == 0 {
		return nil
	}
	lines := []string{"outline"}
	for _, h := range d.Outline {
		indent := strings.Repeat("  ", h.Level)
		lines = append(lines, fmt.Sprintf("%s%s  %s  %s", indent, OneLine(h.Title), h.Lines.String(),
			TokenText(h.Tokens)))
	}
	if d.More > 0 {
		lines = append(lines, fmt.Sprintf("  … and %d more headings; filebus get %s --section HEADING", d.More, d.Ref))
	}
	return lines
}

func entryLines(d *query.Detail) []string {
	if len(d.Entries) == 0 {
		return nil
	}
	lines := []string{"entries"}
	for _, e := range d.Entries {
		line := fmt.Sprintf("  %s  line %d  %s", e.Name, e.Line, TokenText(e.Tokens))
		if e.Status != "" {
			line += "  " + e.Status
		}
		lines = append(lines, line+"  "+OneLine(e.Title))
	}
	return lines
}
