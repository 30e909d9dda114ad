package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
)

type putOptions struct {
	kind, name                                     string
	agent, conversation, call, session, task, run_ string
	status, expect                                 string
	tags, from                                     []string
}

func newPutCommand(env *environ) *cobra.Command {
	var opts putOptions
	cmd := &cobra.Command{
		Use:   "put [FILE|-]...",
		Short: "Store texts and print their references",
		Long: "Store one or several files, or standard input, and write the mirrored files.\n\n" +
			"Without --name a text is stored as a result, and its reference is printed: one line of JSON\n" +
			"with the keys agent, result_file, word_count and preview. With --name note/docs/idea.md,\n" +
			"state/session_state and so on it becomes the next version of that name; an entry of a queue or\n" +
			"a graph (issue/…, knowledge/…) is put into its file. The same content again changes nothing.",
		Example: "  agent | filebus put --agent researcher --conversation c42\n" +
			"  filebus put --name note/docs/idea.md idea.md\n" +
			"  filebus put --kind note docs/*.md",
		RunE: func(cmd *cobra.Command, args []string) error { return runPut(cmd.Context(), env, opts, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.kind, "kind", "", "the `kind` of several files: their paths become the ids (default result)")
	flags.StringVar(&opts.name, "name", "", "the `name` of one text, as in note/docs/idea.md")
	flags.StringVar(&opts.agent, "agent", "", "who wrote it (FILEBUS_AGENT)")
	flags.StringVar(&opts.conversation, "conversation", "", "the `id` of the conversation of a result (FILEBUS_CONVERSATION; made if missing)")
	flags.StringVar(&opts.call, "call", "", "the `id` of the call of a result (made if missing)")
	flags.StringVar(&opts.session, "session", "", "the `id` of the session (FILEBUS_SESSION)")
	flags.StringVar(&opts.task, "task", "", "the `id` of the task (FILEBUS_TASK)")
	flags.StringVar(&opts.run_, "run", "", "the `id` of the run (FILEBUS_RUN)")
	flags.StringVar(&opts.status, "status", "", "the status, a word")
	flags.StringVar(&opts.expect, "expect", "", "store only if `ref` is the current version of the name, or \"absent\"")
	flags.StringSliceVar(&opts.tags, "tag", nil, "attach a `tag` (may be repeated)")
	flags.StringSliceVar(&opts.from, "from", nil, "the `ref` or name it was made from (may be repeated)")
	cmd.MarkFlagsMutuallyExclusive("kind", "name")
	return cmd
}

func runPut(ctx context.Context, env *environ, opts putOptions, args []string) error {
	if len(args) == 0 {
		args = []string{"-"}
	}
	if len(args) > 1 && (opts.name != "" || opts.call != "") {
		return usageError("%s name one text, and %d were given", "--name and --call", len(args))
	}
	base, err := opts.request(env)
	if err != nil {
		return err
	}
	w, err := env.create(ctx)
	if err != nil {
		return err
	}
	if base.From, err = resolveAll(ctx, env, w, opts.from); err != nil {
		return err
	}
	if base.Expect, err = expectation(ctx, env, w, opts.expect); err != nil {
		return err
	}
	for _, arg := range args {
		if err := putOne(ctx, env, w, base, opts, arg); err != nil {
			return err
		}
	}
	return nil
}

// request returns what all texts of a put have in common.
func (o putOptions) request(env *environ) (materialize.PutRequest, error) {
	kind, id := record.KindResult, ""
	if o.kind != "" {
		var err error
		if kind, err = record.ParseKind(o.kind); err != nil {
			return materialize.PutRequest{}, coded(exitUsage, "", err)
		}
	}
	if o.name != "" {
		name, err := record.ParseName(o.name)
		if err != nil {
			return materialize.PutRequest{}, coded(exitUsage, "", err)
		}
		if name.Tree != "" {
			return materialize.PutRequest{}, usageError("%s is in a captured tree; put stores in the project's own", name)
		}
		kind, id = name.Kind, name.ID
	}
	facts := layout.Facts{
		Agent: layout.Slug(env.or(o.agent, "FILEBUS_AGENT")), Session: env.or(o.session, "FILEBUS_SESSION", "CLAUDE_SESSION_ID", "CODEX_SESSION_ID"), Status: o.status, Tags: o.tags,
		Task: env.or(o.task, "FILEBUS_TASK"), Run: env.or(o.run_, "FILEBUS_RUN"),
	}
	if kind == record.KindResult {
		facts.Conversation = env.or(o.conversation, "FILEBUS_CONVERSATION")
		if strings.ContainsAny(facts.Conversation+o.call, `/\`) {
			return materialize.PutRequest{}, usageError("%q and %q: the ids of a conversation and a call are one word each, without a slash", facts.Conversation, o.call)
		}
		if id == "" && (facts.Conversation != "" || o.call != "") {
			if o.call != "" && facts.Conversation == "" {
				return materialize.PutRequest{}, usageError("--call needs --conversation")
			}
			id = facts.Conversation + "/" + o.call
		}
		facts.Conversation = "" // the path says it
	}
	return materialize.PutRequest{Kind: kind, ID: id, Facts: facts, Source: record.SourcePut}, nil
}

func putOne(ctx context.Context, env *environ, w *session, r materialize.PutRequest, opts putOptions, arg string) error {
	r.Text = env.in
	if arg != "-" {
		f, err := os.Open(env.abs(arg))
		if err != nil {
			return fmt.Errorf("reading %s: %w", arg, errors.Unwrap(err))
		}
		defer func() { _ = f.Close() }() // only read
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return usageError("%s is a folder; filebus capture takes folders", arg)
		}
		r.Text = f
	}
	if opts.kind != "" && r.Kind != record.KindResult {
		if arg == "-" {
			return usageError("standard input needs a --name, as in %s/ID", r.Kind)
		}
		r.ID = idOf(w, env, r.Kind, arg)
	}
	result, err := w.Put(ctx, r)
	if err != nil {
		return err
	}
	if result.Name.Kind == record.KindResult {
		return env.printJSON(result.Reference())
	}
	return printStored(env, result)
}

// idOf returns the id of a file that is put under a kind: its path below the
// workspace for a note, else its base name without the extension.
func idOf(w *session, env *environ, kind record.Kind, file string) string {
	if kind == record.KindNote {
		if rel, err := filepath.Rel(w.Root, env.abs(file)); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
		return filepath.Base(file)
	}
	base := filepath.Base(file)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// storedView is what a command prints of a version it made.
type storedView struct {
	Ref       string `json:"ref"`
	Name      string `json:"name"`
	File      string `json:"file,omitempty"`
	Unchanged bool   `json:"unchanged"`
}

func printStored(env *environ, r *materialize.PutResult) error {
	if env.global.json {
		return env.printJSON(storedView{r.Ref.String(), r.Name.String(), r.File, r.Unchanged})
	}
	env.printf("%s  %s\n", r.Ref.Short(), r.Name)
	return nil
}

func resolveAll(ctx context.Context, env *environ, w *session, texts []string) ([]record.Ref, error) {
	var refs []record.Ref
	for _, text := range texts {
		v, err := env.resolve(ctx, w, text)
		if err != nil {
			return nil, err
		}
		refs = append(refs, v.Ref)
	}
	return refs, nil
}

func expectation(ctx context.Context, env *environ, w *session, text string) (store.Expect, error) {
	switch text {
	case "":
		return store.Expect{}, nil
	case "absent":
		return store.Absent(), nil
	}
	refs, err := resolveAll(ctx, env, w, []string{text})
	if err != nil {
		return store.Expect{}, err
	}
	return store.Current(refs[0]), nil
}
