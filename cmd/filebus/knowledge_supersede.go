package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"filebus/materialize/knowledge"
	"filebus/materialize/layout"
	"filebus/store/record"
)

func newKnowledgeSupersedeCommand(env *environ) *cobra.Command {
	var flags entryFlags[layout.Knowledge]
	cmd := newCommand("supersede OLD [NEW]", cobra.RangeArgs(1, 2), func(ctx context.Context, args []string) error {
		var d knowledge.Draft
		flags.read((*layout.Knowledge)(&d))
		return runKnowledgeSupersede(ctx, env, d, args)
	})
	cmd.ValidArgsFunction = completeNames(env)
	flags = addEntryFlags(cmd, layout.KnowledgeFields().Inputs())
	return cmd
}

func runKnowledgeSupersede(ctx context.Context, env *environ, d knowledge.Draft, args []string) error {
	if (len(args) == 2) == (d.Content != "") {
		return coded(record.Usage, "filebus knowledge supersede "+quote(args[0])+" --content TEXT",
			errors.New("what takes its place is named as NEW or given as --content"))
	}
	if err := readContent(env, &d, nil); err != nil {
		return err
	}
	s, old, err := env.findKnowledge(ctx, args[0])
	if err != nil {
		return err
	}
	b := s.base()
	if len(args) == 1 {
		d.Source = env.or(d.Source, "FILEBUS_TASK")
		made, err := b.SupersedeWith(ctx, old, d)
		if err != nil {
			return err
		}
		return printKnowledgeChange(env, s, made, old.ID, nil)
	}
	by, err := s.knowledgeName(ctx, args[1])
	if err != nil {
		return err
	}
	if _, err := b.Supersede(ctx, old, by); err != nil {
		return err
	}
	made, err := b.Get(ctx, by)
	if err != nil {
		return err
	}
	return printKnowledgeChange(env, s, made, old.ID, nil)
}

// noteSuperseded says of an entry that was shown what to read in its place.
func noteSuperseded(ctx context.Context, w *workspace, text string) error {
	name, err := w.knowledgeName(ctx, text)
	if err != nil {
		return nil // a version that is current no more, say
	}
	superseded, err := w.read.Superseded(ctx)
	if by, found := superseded[name]; found && err == nil {
		w.note("it is superseded: filebus knowledge show %s", quote(linkEnd(by)))
	}
	return err
}
