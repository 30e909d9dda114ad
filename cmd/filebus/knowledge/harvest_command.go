package knowledge

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/task"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

type knowledgeHarvest struct {
	Add  string   `flag:"add"`
	Tags []string `flag:"tag"`
}

func (o *knowledgeHarvest) Do(ctx context.Context, w *cli.Work, args []string) error {
	text := args[0]
	if _, id, err := task.FindTask(ctx, w, text); err == nil && !strings.HasPrefix(text, string(record.KindHandoff)+"/") {
		text = NameOfKind(layout.TaskKey(string(id)), record.KindHandoff) // no journal is called so: the newest counts
	}
	v, err := w.VersionOf(ctx, text)
	if err != nil {
		return err
	}
	if newest, err := w.VersionOf(ctx, v.Record.Path); err == nil && v.Record.Name.Tree == "" && newest.Record.Name != v.Record.Name {
		w.Note("%s is an earlier run; the newest is %s", v.Record.Name, newest.Record.Name)
	}
	b := Knowledge(w)
	h, err := b.Harvest(ctx, v, o.Tags)
	if err != nil {
		return err
	}
	numbers, err := harvestNumbers(h, o.Add)
	if err != nil {
		return err
	}
	added, err := b.Take(ctx, h, numbers)
	if err != nil {
		return err
	}
	for _, p := range h.Proposals {
		if slices.Contains(numbers, p.Number) && slices.Contains(p.Draft.Tags, Untagged) && p.Known == "" {
			w.Note("proposal %d got no tag, and is tagged %s: filebus knowledge edit ID --tag TAG", p.Number, Untagged)
		}
	}
	return printHarvest(w, h, o.Add != "", added)
}

// HarvestJSON is what a command prints with --json.
type HarvestJSON struct {
	Harvest
	Added []string `json:"added,omitempty"`
}

// harvestNumbers returns the numbers of the proposals that --add names.
func harvestNumbers(h *Harvest, which string) ([]int, error) {
	var numbers []int
	switch which {
	case "":
	case "all", "new":
		for _, p := range h.Open() {
			if which == "all" || len(p.Like) == 0 {
				numbers = append(numbers, p.Number)
			}
		}
	default:
		for part := range strings.SplitSeq(which, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(part))
			if err != nil {
				return nil, cli.UsageError("--add %q: say all, new, or numbers such as 1,3", which)
			}
			if !slices.Contains(numbers, n) {
				numbers = append(numbers, n)
			}
		}
	}
	return numbers, nil
}

// offers says what --add can name.
func offers(h *Harvest) string {
	all := h.Open()
	numbers := markdown.Each(all, func(p Proposal) string { return strconv.Itoa(p.Number) })
	offer := "--add all or --add " + strings.Join(numbers, ",")
	if slices.ContainsFunc(all, func(p Proposal) bool { return len(p.Like) == 0 }) {
		offer = "--add new, " + offer
	}
	return offer
}

func printHarvest(w *cli.Work, h *Harvest, adding bool, added []string) error {
	open := len(h.Open())
	switch {
	case len(h.Proposals) == 0:
		w.Note("the handoff of %s names no patterns, gotchas or files", h.Task)
	case open == 0:
		w.Note("%s is already harvested: all %s are known", h.Task, cli.Plural(len(h.Proposals), "proposal"))
	case !adding:
		w.Note("%s; add them with %s", cli.Plural(open, "new proposal"), offers(h))
	case len(added) == 0:
		w.Note("nothing was added: each is like an entry that is there, or known; add them with %s", offers(h))
	}
	lines := markdown.Each(added, func(id string) string { return "added " + cli.OneLine(id) + "\n" })
	if !adding {
		lines = append(lines, markdown.Each(h.Proposals, proposalText)...)
	}
	return w.PresentWhole(h.Task, HarvestJSON{*h, added}, strings.Join(lines, ""))
}

// proposalText returns the lines of a proposal.
func proposalText(p Proposal) string {
	line := strconv.Itoa(p.Number) + "  "
	const maxProposal = 240 // how many characters of a proposal are shown
	switch {
	case p.Known != "":
		line += "known as " + p.Known + "  " + markdown.Clip(cli.OneLine(p.Text), cli.MaxSummaryCell)
	case p.IsRow() && p.Text == "":
		line += p.Type + "  " + p.Component + "  (its row gets the task)"
	case p.IsRow():
		line += p.Type + "  " + p.Component + "  " + p.Text
	default:
		line += p.Type + "  [" + strings.Join(p.Tags, ", ") + "]  " + markdown.Clip(cli.OneLine(p.Text), maxProposal)
	}
	line = strings.TrimRight(cli.OneLine(line), " ") + "\n"
	for _, l := range p.Like {
		line += "   like " + cli.OneLine(l.ID) + ", " + cli.LikeText(l) + ": " + cli.OneLine(l.Summary) + "\n"
	}
	return line
}
