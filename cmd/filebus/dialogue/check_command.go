package dialogue

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/rule"
	"filebus/store/record"
)

type dialogueCheck struct {
	All bool `flag:"all"`
}

// DialogueCheckJSON is what a command prints with --json.
type DialogueCheckJSON struct {
	Report
	More int      `json:"more,omitempty"` // findings that were left out
	Mend []string `json:"mend,omitempty"`
}

func (o *dialogueCheck) Do(ctx context.Context, w *cli.Work, args []string) (err error) {
	round := -1
	if len(args) > 1 {
		if round, err = roundArgument(args[1]); err != nil {
			return err
		}
	}
	w, dialogues, d, err := openDialogue(ctx, w.Environ, args[0])
	if err != nil {
		return err
	}
	report, err := Check(d, round)
	if err != nil {
		return err
	}
	view := DialogueCheckJSON{Report: *report}
	if !o.All {
		view.Findings, view.Turns = foldedFindings(view.Findings), nil
	}
	slices.SortStableFunc(view.Findings, func(a, b rule.Finding) int { // what is wanting comes first
		return rule.Compare(rule.Finding{Level: a.Level}, rule.Finding{Level: b.Level})
	})
	if more := len(view.Findings) - cli.FindingsShown; more > 0 && !o.All {
		view.Findings, view.More = view.Findings[:cli.FindingsShown], more
	}
	if d.Key.IsOwn() {
		dialogues.FindAlike(ctx, d, view.Findings)
	}
	mended := map[string]bool{} // files, by one command each
	for i := range view.Findings {
		f := &view.Findings[i]
		f.Kind, f.Text = f.Rule, f.Message
		if line := mend(w, d.Key, *f); line != "" && *f.Wanting && d.Key.IsOwn() && !mended[f.File] {
			f.Remedy, mended[f.File] = line, true
			view.Mend = append(view.Mend, line)
		}
	}
	if err := w.PresentWhole(d.Key.String(), view, view.text(w)); err != nil {
		return err
	}
	if view.Wanting > 0 {
		return cli.SilentError(record.Wanting)
	}
	return nil
}

// foldedFindings returns findings with one for all markers of a file that depart from the
// grammar, and are understood all the same.
func foldedFindings(findings []rule.Finding) []rule.Finding {
	var out []rule.Finding
	lines := map[string][]string{} // by file
	isForm := func(f rule.Finding) bool { return f.Rule == "malformed" && !*f.Wanting }
	for _, f := range findings {
		if isForm(f) {
			lines[f.File] = append(lines[f.File], strconv.Itoa(f.Line))
		}
		if !isForm(f) || len(lines[f.File]) == 1 {
			out = append(out, f)
		}
	}
	for i, f := range out {
		if all := lines[f.File]; isForm(f) && len(all) > 1 {
			out[i].Line, out[i].Message = 0, fmt.Sprintf("malformed: %d markers, in lines ", len(all))
			if len(all) > 10 {
				all = append(all[:10], "…")
			}
			out[i].Message += strings.Join(all, ", ")
		}
	}
	return out
}

// mend returns the command that helps with a turn, or "": none that takes a text away.
func mend(w *cli.Work, key Key, f rule.Finding) string {
	slug, file := record.ShellWord(key.String()), record.ShellWord(f.File)
	if f.Round == nil {
		return map[string]string{"stranger": "filebus dialogue put " + slug + " ROUND AGENT " + file}[f.Rule]
	}
	of := fmt.Sprintf("%s %d %s", slug, *f.Round, record.ShellWord(f.Agent))
	put, recover, show := "filebus dialogue put "+of, "filebus dialogue recover "+of, "filebus show "+file
	if f.Before != (record.ShortRef{}) {
		return "filebus get " + f.Before.String() + " | " + put + map[bool]string{true: " --force"}[f.Rule == "astray"]
	}
	give := recover + ", or " + put + " FILE"
	if len(f.Alike) > 0 {
		give = put + " " + record.ShellWord(near(w, f.Alike[0]))
	}
	return map[string]string{
		"missing": give, "empty": give, "stub": give, "astray": recover, "no_markers": recover,
		"stranger": show, "twice": show,
		"changed": "filebus dialogue judge " + of + " --wisdom N --consistency N --truth N --relationships N",
	}[f.Rule]
}

// text returns what people are shown.
func (view *DialogueCheckJSON) text(w *cli.Work) string {
	var out strings.Builder
	out.WriteString(w.FindingsText(view.Findings, view.More))
	fmt.Fprintf(&out, "%s: %d of %s in %s, %s", view.Dialogue, view.Given, cli.Plural(view.Launched, "turn"),
		cli.Plural(view.Rounds, "round"), cli.Plural(view.Markers, "marker"))
	for i, n := range []int{view.Missing, view.Empty, view.Stubs, view.Malformed, view.Wanting} {
		if n > 0 {
			fmt.Fprintf(&out, ", %d %s", n, []string{"missing", "empty", "stubbed", "malformed", "wanting"}[i])
		}
	}
	out.WriteString("\n")
	return out.String()
}
