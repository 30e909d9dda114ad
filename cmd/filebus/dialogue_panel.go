package main

import (
	"cmp"
	"context"

	"filebus/cmd/filebus/dialogue"
	"filebus/materialize/layout"
)

type dialoguePanel struct {
	roundArg
	Add    texts  `flag:"add"`
	Retire texts  `flag:"retire"`
	Focus  string `flag:"focus"`
}

type dialoguePanelJSON struct {
	Dialogue dialogue.Key `json:"dialogue"`
	layout.Panel
}

func (o *dialoguePanel) run(ctx context.Context, w *workspace, args []string) error {
	w, f, d, err := w.openDialogue(ctx, args[0])
	if err != nil {
		return err
	}
	change := dialogue.PanelChange{Add: o.Add, Retire: o.Retire, Focus: o.Focus}
	panel, err := f.Panel(ctx, d.Key, o.round, change)
	if err != nil || w.global.json {
		return cmp.Or(err, w.presentWhole(d.Key.String(), dialoguePanelJSON{d.Key, panel}, ""))
	}
	if panel.Focus != "" {
		w.printf("focus: %s\n", oneLine(panel.Focus))
	}
	var rows [][]string
	for _, e := range panel.Experts {
		rows = append(rows, []string{e.Name, cmp.Or(e.Source, "-"), cmp.Or(e.Tier, "-"), cmp.Or(e.Role, "-"), e.Focus})
	}
	w.printTable(rows)
	if len(rows) > 0 && d.Key.IsOwn() {
		w.remark("filebus dialogue prompt %s %d --all asks them", d.Key, o.round)
	}
	return nil
}
