package main

import (
	"context"
	"errors"

	"filebus/materialize/knowledge"
	"filebus/materialize/layout"
	"filebus/store/record"
)

type knowledgeSupersede struct{ entryFlags[layout.Knowledge] }

func (o *knowledgeSupersede) run(ctx context.Context, w *workspace, args []string) error {
	var d knowledge.Draft
	o.read((*layout.Knowledge)(&d))
	if (len(args) == 2) == (d.Content != "") {
		return coded(record.Usage, "filebus knowledge supersede "+quote(args[0])+" --content TEXT",
			errors.New("name the entry that takes its place as NEW, or give its text with --content"))
	}
	if err := readContent(w.environ, &d, nil); err != nil {
		return err
	}
	w, err := w.openFresh(ctx)
	if err != nil {
		return err
	}
	old, err := w.knowledgeName(ctx, args[0])
	if err != nil {
		return err
	}
	b := w.base()
	if len(args) == 1 {
		d.Source = w.or(d.Source, "FILEBUS_TASK")
		made, err := b.SupersedeWith(ctx, old, d)
		if err != nil {
			return err
		}
		return w.printKnowledgeChange(made, old.ID, nil)
	}
	by, err := w.knowledgeName(ctx, args[1])
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
	return w.printKnowledgeChange(made, old.ID, nil)
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
