package main

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"strings"

	"filebus/cmd/filebus/dialogue"
	"filebus/cmd/filebus/rule"
	"filebus/store/record"
)

type dialogueLint struct {
	All bool `flag:"all"`
}

type lintJSON struct {
	Documents []*dialogue.LintReport `json:"documents"`
}

// maxLintedDocument is how many bytes of a document are read.
const maxLintedDocument = 64 << 20

func (o *dialogueLint) run(ctx context.Context, w *workspace, args []string) error {
	args, err := w.slugNames(ctx, args, documentNames)
	if err != nil {
		return err
	}
	var reports []*dialogue.LintReport
	wanting, unread := false, error(nil)
	for _, arg := range args {
		report, err := w.lintDocument(ctx, arg)
		if err != nil && (len(args) == 1 || ctx.Err() != nil) {
			return err
		}
		if err != nil {
			w.note("%s", message(err))
			unread = silentError(record.Partly)
			continue
		}
		for i, f := range report.Findings {
			report.Findings[i].Check = f.Rule
		}
		reports = append(reports, report)
		wanting = wanting || rule.Count(report.Findings, rule.Must) > 0 || report.Incomplete
	}
	err = w.presentWhole("", lintJSON{reports}, w.lintText(reports, o.All))
	if err == nil && unread == nil && wanting {
		unread = silentError(record.Wanting)
	}
	return cmp.Or(err, unread)
}

// lintDocument reads a document, with the files of its rounds, and checks it.
func (e *environ) lintDocument(ctx context.Context, arg string) (*dialogue.LintReport, error) {
	e.emptyInput = true
	in, err := e.readInput(ctx, arg, maxLintedDocument)
	if err != nil {
		return nil, err
	}
	if !in.whole {
		return nil, coded(record.Usage, "", fmt.Errorf("%s has more than %d bytes", arg, maxLintedDocument))
	}
	shown := arg // the name of what other files lie beside
	if in.found != nil {
		shown = in.found.Record.Name.String()
	}
	doc, found, _ := dialogue.ReadDocument(in.text, func(name string) ([]byte, error) { // the lint says what is missing
		if arg == "-" {
			return nil, fmt.Errorf("%s: standard input has no files beside it", name)
		}
		part, err := e.readInput(ctx, path.Join(path.Dir(shown), name), maxLintedDocument)
		return part.text, err
	})
	return dialogue.LintDocument(shown, &doc, found), nil
}

func (e *environ) lintText(reports []*dialogue.LintReport, all bool) string {
	var texts []string
	for _, r := range reports {
		var said []string
		if r.Incomplete {
			said = append(said, "incomplete: no turn of an agent was found")
		}
		for _, level := range rule.Levels() {
			if n := rule.Count(r.Findings, level); n > 0 {
				said = append(said, fmt.Sprintf("%d %s", n, level))
			}
		}
		text := oneLine(r.File) + ": " + cmp.Or(strings.Join(said, ", "), "sound") + "\n"
		shown := r.Findings
		if len(shown) > findingsShown && !all {
			shown = shown[:findingsShown]
		}
		texts = append(texts, text+e.findingsText(shown, len(r.Findings)-len(shown)))
	}
	return strings.Join(texts, "\n")
}
