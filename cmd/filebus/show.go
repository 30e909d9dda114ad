package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

type showOptions struct{ maxTokens int }

func newShowCommand(env *environ) *cobra.Command {
	var opts showOptions
	cmd := &cobra.Command{
		Use:  "show [flags] NAME",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runShow(cmd.Context(), env, opts, args[0])
		},
		ValidArgsFunction: completeNames(env),
	}
	cmd.Flags().IntVar(&opts.maxTokens, "max-tokens", 300, "")
	return cmd
}

func runShow(ctx context.Context, env *environ, opts showOptions, text string) error {
	if opts.maxTokens < 0 {
		return usageError("--max-tokens %d is negative", opts.maxTokens)
	}
	s, v, err := env.find(ctx, text)
	if err != nil {
		return err
	}
	detail, err := s.read.Show(ctx, v)
	if err != nil {
		return err
	}
	if env.global.json {
		return env.printRead(s, "show", v.Record.Name.String(), toDetailJSON(&detail))
	}
	shown := boundLines(detailLines(env, &detail), opts.maxTokens)
	env.logRead(s, "show", v.Record.Name.String(), record.EstimateTokens(int64(len(shown))))
	env.printf("%s", shown)
	return nil
}

// boundLines joins lines up to a number of tokens, and says how many are left
// out.
func boundLines(lines []string, maxTokens int) string {
	var out strings.Builder
	for i, line := range lines {
		if maxTokens > 0 && record.EstimateTokens(int64(out.Len()+len(line)))+20 > maxTokens && i < len(lines)-1 {
			fmt.Fprintf(&out, "[%s left out; --max-tokens 0 prints all]\n", plural(len(lines)-i, "more line"))
			break
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}

func detailLines(env *environ, d *query.Detail) []string {
	r := d.Version.Record
	lines := []string{env.bold(oneLine(r.Name.String())) + "  " + d.Version.Ref.Short() + currentWord(d)}
	add := func(label, value string) {
		if value != "" {
			lines = append(lines, fmt.Sprintf("%-13s %s", label, oneLine(value)))
		}
	}
	add("title", d.Description.Title)
	add("path", r.Path)
	add("size", fmt.Sprintf("%d bytes, ~%d tokens, %s", r.Size, d.Tokens, plural(d.Description.Words, "word")))
	add("time", env.minute(r.Time)+"  from "+string(r.Source))
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
		add(l.Type, l.Target)
	}
	for _, from := range r.From {
		add("from", from.Short())
	}
	add("preview", d.Description.Preview)
	return slices.Concat(lines, versionLines(env, d), outlineLines(d), entryLines(d))
}

func currentWord(d *query.Detail) string {
	if d.Current {
		return ""
	}
	return "  (not current)"
}

// versionLines lists what happened to the name, newest first; of a name that has
// one version there is nothing to say.
func versionLines(env *environ, d *query.Detail) []string {
	if len(d.Versions) < 2 {
		return nil
	}
	lines := []string{"versions"}
	for _, v := range slices.Backward(d.Versions) {
		line := fmt.Sprintf("  @%d  %s  %-8s  %s", v.Position, env.minute(v.Time), v.Change, v.Ref.Short())
		if v.Tokens > 0 && v.Change == "put" {
			line += "  " + tokenText(v.Tokens)
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
		lines = append(lines, fmt.Sprintf("%s%s  %s  %s", indent, oneLine(h.Title), spanText(h.Lines), tokenText(h.Tokens)))
	}
	return lines
}

func entryLines(d *query.Detail) []string {
	if len(d.Entries) == 0 {
		return nil
	}
	lines := []string{"entries"}
	for _, e := range d.Entries {
		r := e.Version.Record
		line := fmt.Sprintf("  %s  line %d  %s", r.Name, e.Line, tokenText(e.Tokens))
		if r.Status != "" {
			line += "  " + r.Status
		}
		lines = append(lines, line+"  "+oneLine(e.Description.Title))
	}
	return lines
}

// A detailJSON is what show prints in JSON. The ref is whole.
type detailJSON struct {
	recordJSON
	Current  bool          `json:"current"`
	FullRef  record.Ref    `json:"full_ref"`
	Body     record.Digest `json:"body"`
	Size     int64         `json:"size"`
	Words    int           `json:"words,omitempty"`
	Preview  string        `json:"preview,omitempty"`
	Source   record.Source `json:"source"`
	Links    []string      `json:"links,omitempty"`
	From     []record.Ref  `json:"from,omitempty"`
	Versions []versionJSON `json:"versions"`
	Outline  []headingJSON `json:"outline,omitempty"`
	Entries  []entryJSON   `json:"entries,omitempty"`
}

type versionJSON struct {
	Position uint64    `json:"position"`
	Time     time.Time `json:"time"`
	Change   string    `json:"change"`
	Ref      string    `json:"ref"`
	Tokens   int       `json:"tokens,omitempty"`
	Agent    string    `json:"agent,omitempty"`
}

type headingJSON struct {
	Title  string  `json:"title"`
	Level  int     `json:"level"`
	Lines  *[2]int `json:"lines"`
	Tokens int     `json:"tokens"`
}

type entryJSON struct {
	recordJSON
	Line int `json:"line"`
}

func toDetailJSON(d *query.Detail) detailJSON {
	r := d.Version.Record
	j := detailJSON{
		recordJSON: summaryJSON(d.Summary), Current: d.Current, FullRef: d.Version.Ref, Body: r.Body, Size: r.Size,
		Words: d.Description.Words, Preview: d.Description.Preview, Source: r.Source, From: r.From, Versions: []versionJSON{},
	}
	for _, l := range r.Links {
		j.Links = append(j.Links, l.Type+" "+validText(l.Target))
	}
	for _, v := range d.Versions {
		j.Versions = append(j.Versions, versionJSON{v.Position, v.Time, v.Change, v.Ref.Short(), v.Tokens, v.Agent})
	}
	for _, h := range d.Outline {
		j.Outline = append(j.Outline, headingJSON{h.Title, h.Level, pair(h.Lines), h.Tokens})
	}
	for _, e := range d.Entries {
		j.Entries = append(j.Entries, entryJSON{summaryJSON(e.Summary), e.Line})
	}
	return j
}

func summaryJSON(s query.Summary) recordJSON { return toRecordJSON(s.Version, s.Description, s.Tokens) }

// toRecordJSON returns what every command prints of a record in JSON.
func toRecordJSON(v store.Version, d record.Description, tokens int) recordJSON {
	r := v.Record
	return recordJSON{
		Name: r.Name, Ref: v.Ref.Short(), Path: validText(r.Path), Title: d.Title, Tokens: tokens, Time: r.Time,
		Agent: r.Agent, Conversation: r.Conversation, Session: r.Session, Run: r.Run, Loop: r.Loop, Task: r.Task,
		Status: r.Status, Exit: r.Exit, Tags: r.Tags, Attributes: d.Attributes,
	}
}
