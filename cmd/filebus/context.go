package main

import (
	"bytes"
	"context"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	runs "filebus/materialize/run"
	"filebus/query"
	"filebus/store/record"
)

type contextOptions struct {
	files, tags      []string
	task, complexity string
	maxTokens        int
	explain          bool
}

func newContextCommand(env *environ) *cobra.Command {
	var opts contextOptions
	cmd := newCommand("context [TEXT|-]...", cobra.ArbitraryArgs, func(ctx context.Context, args []string) error {
		return runContext(ctx, env, opts, strings.Join(args, " "))
	})
	flags := cmd.Flags()
	flags.StringSliceVar(&opts.files, "file", nil, "")
	flags.StringSliceVar(&opts.tags, "tag", nil, "")
	flags.StringVar(&opts.task, "task", "", "")
	flags.StringVar(&opts.complexity, "complexity", "", "")
	flags.IntVar(&opts.maxTokens, "max-tokens", query.DefaultContextTokens, "")
	flags.BoolVar(&opts.explain, "explain", false, "")
	return cmd
}

func runContext(ctx context.Context, env *environ, opts contextOptions, text string) error {
	complexity, err := query.ParseComplexity(opts.complexity)
	if err != nil {
		return coded(record.Usage, "", err)
	}
	if err := readText(env.in, "text", &text, maxContextText); err != nil {
		return err
	}
	task := env.or(opts.task, "FILEBUS_TASK")
	if strings.TrimSpace(text) == "" && len(opts.files)+len(opts.tags) == 0 && task == "" {
		return usageError("say what the task is about: a text, --file, --tag or --task")
	}
	if opts.maxTokens < 1 {
		return usageError("--max-tokens %d: a context has 1 at least", opts.maxTokens)
	}
	w, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	var size func(*query.ContextAnswer) int
	if env.global.json {
		size = contextJSONTokens
	}
	answer, err := w.read.ContextFor(ctx, query.ContextRequest{
		Size: size,
		Text: text, Files: workspaceFiles(env, w, opts.files), Tags: opts.tags, Task: task, Complexity: complexity,
		MaxTokens: opts.maxTokens,
		Changed: func(ctx context.Context, files []string) (map[string]time.Time, error) {
			return runs.LastChanged(ctx, w.Root, files, env.variables)
		},
	})
	if err != nil {
		return err
	}
	if answer.Unindexed > 0 {
		env.note("%d log entries are not in the index yet and were not looked at", answer.Unindexed)
	}
	w.logRead("context", text, answer.Tokens)
	return printContext(env, answer, opts.explain)
}

// maxContextText is how much of a task's text is read, in bytes.
const maxContextText = 64 << 10

// workspaceFiles returns paths as the workspace has them.
func workspaceFiles(env *environ, w *workspace, files []string) []string {
	var paths []string
	for _, file := range files {
		if rel, err := filepath.Rel(w.Root, env.abs(file)); err == nil && filepath.IsLocal(rel) {
			file = rel
		}
		paths = append(paths, filepath.ToSlash(file))
	}
	return paths
}

// A contextView is an item of a context in JSON.
type contextView struct {
	Section query.ContextSection `json:"section"`
	Name    record.Name          `json:"name"`
	Ref     record.Ref           `json:"ref"`
	Text    string               `json:"text"`
	Tokens  int                  `json:"tokens"` // of the whole record, about
	Score   float64              `json:"score"`
	Why     []string             `json:"why,omitempty"`
	Changed []string             `json:"changed,omitempty"`
}

// A contextListing is a context in JSON.
type contextListing struct {
	Tokens  int              `json:"tokens"`
	Items   []contextView    `json:"items"`
	LeftOut []query.Omission `json:"left_out,omitempty"`
}

func newContextListing(a *query.ContextAnswer) contextListing {
	listing := contextListing{Tokens: a.Tokens}
	for _, i := range a.Items {
		listing.Items = append(listing.Items, contextView{
			i.Section, i.Version.Record.Name, i.Version.Ref, i.Text, i.Tokens, i.Score, i.Why, i.Changed,
		})
	}
	return listing
}

// contextJSONTokens returns how many tokens an answer has in JSON, about, without
// what was left out.
func contextJSONTokens(a *query.ContextAnswer) int {
	listing := newContextListing(a)
	listing.Tokens = math.MaxInt16 // as long as any
	var out bytes.Buffer
	if err := writeJSON(&out, listing); err != nil {
		return math.MaxInt
	}
	return record.EstimateTokens(int64(out.Len()))
}

func printContext(env *environ, a query.ContextAnswer, explain bool) error {
	if len(a.Items) == 0 && a.NoRoom > 0 {
		env.note("%d that have to do with it have no room; give more --max-tokens", a.NoRoom)
	}
	if env.global.json {
		listing := newContextListing(&a)
		if explain {
			listing.LeftOut = a.LeftOut
		}
		return env.printJSON(listing)
	}
	if len(a.Items) > 0 || a.NoRoom == 0 {
		env.printf("%s", a.Append(nil))
	}
	if !explain {
		return nil
	}
	for _, i := range a.Items {
		env.note("%s: %.2f, %s", i.Version.Record.Name, i.Score, strings.Join(i.Why, ", "))
	}
	for _, o := range a.LeftOut {
		env.note("left out %s: %s", o.Name, o.Reason)
	}
	return nil
}
