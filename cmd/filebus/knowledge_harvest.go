package main

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"filebus/materialize/knowledge"
	"filebus/materialize/layout"
	"filebus/store/record"
)

type harvestOptions struct {
	add  string
	tags []string
}

func newKnowledgeHarvestCommand(env *environ) *cobra.Command {
	var opts harvestOptions
	cmd := &cobra.Command{
		Use:  "harvest TASK",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runKnowledgeHarvest(cmd.Context(), env, opts, args[0])
		},
		ValidArgsFunction: completeNames(env),
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.add, "add", "", "")
	flags.StringSliceVar(&opts.tags, "tag", nil, "")
	return cmd
}

type harvestJSON struct {
	Task      string         `json:"task"`
	Proposals []proposalJSON `json:"proposals"`
	Added     []string       `json:"added,omitempty"`
}

type proposalJSON struct {
	Number    int        `json:"number"`
	Type      string     `json:"type"` // pattern, gotcha or component
	Text      string     `json:"text"`
	Tags      []string   `json:"tags,omitempty"`
	Component string     `json:"component,omitempty"`
	Known     string     `json:"known,omitempty"` // what has it already
	Like      []likeJSON `json:"like,omitempty"`
}

func runKnowledgeHarvest(ctx context.Context, env *environ, opts harvestOptions, task string) error {
	s, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	if !strings.ContainsAny(task, "/:") {
		task = layout.TaskID(task)
	}
	v, err := env.resolve(ctx, s, nameOfKind(task, record.KindHandoff))
	if err != nil {
		return err
	}
	b, m := env.base(s), knowledge.NewMap(s.Workspace, s.read)
	h, err := b.Harvest(ctx, m, v, opts.tags)
	if err != nil {
		return err
	}
	numbers, err := harvestNumbers(h, opts.add)
	if err != nil {
		return err
	}
	added, err := b.Take(ctx, m, h, numbers)
	if err != nil {
		return err
	}
	return printHarvest(env, s, h, opts.add != "", added)
}

// harvestNumbers returns the numbers of the proposals that --add names.
func harvestNumbers(h *knowledge.Harvest, which string) ([]int, error) {
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
				return nil, usageError("--add %q: say all, new, or numbers such as 1,3", which)
			}
			if !slices.Contains(numbers, n) {
				numbers = append(numbers, n)
			}
		}
	}
	return numbers, nil
}

func printHarvest(env *environ, s *session, h *knowledge.Harvest, adding bool, added []string) error {
	value := harvestJSON{Task: h.Task, Proposals: []proposalJSON{}, Added: added}
	var text strings.Builder
	for _, p := range h.Proposals {
		j := proposalView(p)
		value.Proposals = append(value.Proposals, j)
		text.WriteString(proposalText(p, j))
	}
	if adding {
		text.Reset()
		for _, id := range added {
			text.WriteString("added " + oneLine(id) + "\n")
		}
	}
	open := len(h.Open())
	switch {
	case len(h.Proposals) == 0:
		env.note("the handoff of %s names no patterns, gotchas or files", h.Task)
	case open == 0:
		env.note("%s is already harvested: all %s are known", h.Task, plural(len(h.Proposals), "proposal"))
	case !adding:
		env.note("%s; add them with --add all, --add new or --add 1,3", plural(open, "new proposal"))
	case len(added) == 0:
		env.note("nothing was added")
	}
	if env.global.json {
		return env.printRead(s, "knowledge harvest", h.Task, value)
	}
	env.printf("%s", text.String())
	env.logRead(s, "knowledge harvest", h.Task, record.EstimateTokens(int64(text.Len())))
	return nil
}

func proposalView(p knowledge.Proposal) proposalJSON {
	j := proposalJSON{Number: p.Number, Type: p.Draft.Type, Text: p.Draft.Content, Tags: p.Draft.Tags, Known: p.Known, Like: likesJSON(p.Like)}
	if p.IsRow() {
		j.Type, j.Text, j.Component = "component", p.Touch.Notes, p.Touch.Name
	}
	return j
}

// proposalText returns the lines of a proposal.
func proposalText(p knowledge.Proposal, j proposalJSON) string {
	line := strconv.Itoa(j.Number) + "  " + j.Type
	switch {
	case j.Component != "" && j.Text == "":
		line += "  " + j.Component + "  (its row gets the task)"
	case j.Component != "":
		line += "  " + j.Component + "  " + j.Text
	default:
		line += "  [" + strings.Join(j.Tags, ", ") + "]  " + layout.Clip(oneLine(j.Text), maxProposal)
	}
	if j.Known != "" {
		line = strconv.Itoa(j.Number) + "  known as " + j.Known + "  " + layout.Clip(oneLine(j.Text), issueSummary)
	}
	line = strings.TrimRight(oneLine(line), " ") + "\n"
	for _, l := range p.Like[:min(shownDuplicates, len(p.Like))] {
		line += "   like " + oneLine(l.Entry.Name.ID) + ", " + likeText(l) + "\n"
	}
	return line
}

// maxProposal is how many characters of a proposal are shown.
const maxProposal = 240
