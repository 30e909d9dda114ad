package dialogue

import (
	"cmp"
	"context"

	"filebus/cmd/filebus/cli"
	"filebus/materialize/layout"
)

type dialoguePanel struct {
	roundArg
	Add    cli.Texts `flag:"add"`
	Retire cli.Texts `flag:"retire"`
	Focus  string    `flag:"focus"`
}

type dialoguePanelJSON struct {
	Dialogue Key `json:"dialogue"`
	layout.Panel
}

func (o *dialoguePanel) Do(ctx context.Context, w *cli.Work, args []string) error {
	w, f, d, err := openDialogue(ctx, w.Environ, args[0])
	if err != nil {
		return err
	}
	change := PanelChange{Add: o.Add, Retire: o.Retire, Focus: o.Focus}
	panel, err := f.Panel(ctx, d.Key, o.round, change)
	if err != nil || w.Global.JSON {
		return cmp.Or(err, w.PresentWhole(d.Key.String(), dialoguePanelJSON{d.Key, panel}, ""))
	}
	if panel.Focus != "" {
		w.Printf("focus: %s\n", cli.OneLine(panel.Focus))
	}
	var rows [][]string
	for _, e := range panel.Experts {
		rows = append(rows, []string{e.Name, cmp.Or(e.Source, "-"), cmp.Or(e.Tier, "-"), cmp.Or(e.Role, "-"), e.Focus})
	}
	w.PrintTable(rows)
	if len(rows) > 0 && d.Key.IsOwn() {
		w.Remark("filebus dialogue prompt %s %d --all asks them", d.Key, o.round)
	}
	return nil
}
