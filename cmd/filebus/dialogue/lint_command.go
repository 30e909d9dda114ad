package dialogue

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/rule"
	"filebus/store/record"
)

type dialogueLint struct {
	All bool `flag:"all"`
}

// LintJSON is what a command prints with --json.
type LintJSON struct {
	Documents []*LintReport `json:"documents"`
}

// maxLintedDocument is how many bytes of a document are read.
const maxLintedDocument = 64 << 20

func (o *dialogueLint) Do(ctx context.Context, w *cli.Work, args []string) error {
	args, err := slugNames(ctx, w.Environ, args, documentNames)
	if err != nil {
		return err
	}
	var reports []*LintReport
	wanting, unread := false, error(nil)
	for _, arg := range args {
		report, err := lintDocument(ctx, w.Environ, arg)
		if err != nil && (len(args) == 1 || ctx.Err() != nil) {
			return err
		}
		if err != nil {
			w.Note("%s", cli.Message(err))
			unread = cli.SilentError(record.Partly)
			continue
		}
		for i, f := range report.Findings {
			report.Findings[i].Check = f.Rule
		}
		reports = append(reports, report)
		wanting = wanting || rule.Count(report.Findings, rule.Must) > 0 || report.Incomplete
	}
	err = w.PresentWhole("", LintJSON{reports}, lintText(w.Environ, reports, o.All))
	if err == nil && unread == nil && wanting {
		unread = cli.SilentError(record.Wanting)
	}
	return cmp.Or(err, unread)
}

// lintDocument reads a document, with the files of its rounds, and checks it.
func lintDocument(ctx context.Context, e *cli.Environ, arg string) (*LintReport, error) {
	e.EmptyInput = true
	in, err := e.ReadInput(ctx, arg, maxLintedDocument)
	if err != nil {
		return nil, err
	}
	if !in.Whole {
		return nil, cli.Coded(record.Usage, "", fmt.Errorf("%s has more than %d bytes", arg, maxLintedDocument))
	}
	shown := arg // the name of what other files lie beside
	if in.Found != nil {
		shown = in.Found.Record.Name.String()
	}
	doc, found, _ := ReadDocument(in.Text, func(name string) ([]byte, error) { // the lint says what is missing
		if arg == "-" {
			return nil, fmt.Errorf("%s: standard input has no files beside it", name)
		}
		part, err := e.ReadInput(ctx, path.Join(path.Dir(shown), name), maxLintedDocument)
		return part.Text, err
	})
	return LintDocument(shown, &doc, found), nil
}

func lintText(e *cli.Environ, reports []*LintReport, all bool) string {
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
		text := cli.OneLine(r.File) + ": " + cmp.Or(strings.Join(said, ", "), "sound") + "\n"
		shown := r.Findings
		if len(shown) > cli.FindingsShown && !all {
			shown = shown[:cli.FindingsShown]
		}
		texts = append(texts, text+e.FindingsText(shown, len(r.Findings)-len(shown)))
	}
	return strings.Join(texts, "\n")
}
