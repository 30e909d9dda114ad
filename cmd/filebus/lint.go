package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"filebus/materialize/layout"
	"filebus/materialize/lint"
	"filebus/store/record"
)

type lintOptions struct {
	rules []string
	limit int
}

func newLintCommand(env *environ) *cobra.Command {
	var opts lintOptions
	cmd := &cobra.Command{
		Use:  "lint [DIR]",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runLint(cmd.Context(), env, opts, append(args, "")[0])
		},
	}
	cmd.Flags().StringSliceVar(&opts.rules, "rule", nil, "")
	cmd.Flags().IntVar(&opts.limit, "limit", 50, "")
	return cmd
}

type lintJSON struct {
	Dir      string         `json:"dir"` // absolute
	Files    int            `json:"files"`
	Findings []lint.Finding `json:"findings"`
	More     int            `json:"more,omitempty"` // findings that are not listed
	Unread   []string       `json:"unread,omitempty"`
}

func runLint(ctx context.Context, env *environ, opts lintOptions, dir string) error {
	if opts.limit < 0 {
		return usageError("--limit %d is negative", opts.limit)
	}
	for _, rule := range opts.rules {
		if !lint.IsRule(rule) {
			return usageError("--rule %q is none of %s", rule, ruleNames())
		}
	}
	where, profile, err := env.lintFolder(dir)
	if err != nil {
		return err
	}
	report, err := lint.Check(ctx, where, lint.Options{Profile: profile, Rules: opts.rules})
	if err != nil {
		return err
	}
	total := len(report.Findings)
	if opts.limit > 0 {
		report.Findings = report.Findings[:min(total, opts.limit)]
	}
	if err := printLint(env, where, report, total); err != nil {
		return err
	}
	switch {
	case total > 0:
		return silentError(record.Wanting)
	case report.Cut || len(report.Unread) > 0:
		return silentError(record.Partly)
	}
	return nil
}

func ruleNames() string {
	var names []string
	for _, r := range lint.Rules() {
		names = append(names, r.ID)
	}
	return strings.Join(names, ", ")
}

// lintFolder returns the folder to check, absolute, and the profile of its
// workspace: the working directory's workspace unless a folder is given.
func (e *environ) lintFolder(dir string) (string, layout.Profile, error) {
	if dir != "" {
		dir = e.abs(dir)
	}
	at, err := e.locate()
	if err != nil {
		if dir == "" {
			dir = e.dir
		}
		if dir == "" {
			return "", layout.Profile{}, err
		}
		return dir, layout.Profile{}, nil // no store: the default profile
	}
	if dir == "" {
		dir = at.Root
	}
	if dir != at.Root {
		return dir, layout.Profile{}, nil
	}
	settings, err := e.settings(at)
	return dir, settings.Profile, err
}

func printLint(env *environ, dir string, report *lint.Report, total int) error {
	if env.global.json {
		value := lintJSON{
			Dir: validText(dir), Files: report.Files, Findings: append([]lint.Finding{}, report.Findings...), More: total - len(report.Findings),
		}
		for i := range value.Findings {
			value.Findings[i].File, value.Findings[i].Message = validText(value.Findings[i].File), validText(value.Findings[i].Message)
		}
		for _, name := range report.Unread {
			value.Unread = append(value.Unread, validText(name))
		}
		return env.printJSON(value)
	}
	remedy := ""
	for i, f := range report.Findings {
		env.printf("%s:%d  %s  %s\n", oneLine(env.seenFrom(dir, f.File)), f.Line, f.Rule, oneLine(f.Message))
		// Remedies are said once for all findings that one command mends.
		if remedy = f.Remedy; i+1 == len(report.Findings) || report.Findings[i+1].Remedy != remedy {
			env.printf("  %s\n", oneLine(remedy))
		}
	}
	for _, name := range report.Unread {
		env.note("not read: %s", oneLine(name))
	}
	if report.Cut {
		env.note("more than %d files and folders: the rest was not looked at; check a folder of it", lint.MaxFiles)
	}
	found := fmt.Sprintf("%s in %s", plural(total, "finding"), plural(report.Files, "file"))
	if more := total - len(report.Findings); more > 0 {
		found += fmt.Sprintf("; %d not shown, see --limit and --rule", more)
	}
	env.note("%s", found)
	return nil
}

// seenFrom returns a file of a folder as it is called from the working directory.
func (e *environ) seenFrom(dir, file string) string {
	full := filepath.Join(dir, filepath.FromSlash(file))
	if rel, err := filepath.Rel(e.dir, full); err == nil && e.dir != "" {
		return filepath.ToSlash(rel)
	}
	return full
}
