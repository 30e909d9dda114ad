package cli

import (
	"slices"
	"strings"

	"filebus/materialize"
	"filebus/materialize/secrets"
	"filebus/store/record"
)

// checkSecrets refuses a --secrets that a command cannot do.
func (e *Environ) checkSecrets(command string) error {
	mode, err := secrets.ParseMode(e.Global.Secrets)
	switch {
	case err != nil:
		return UsageError("--%w", err)
	case mode == secrets.Redact && slices.Contains([]string{"capture", "sync", "refresh"}, command):
		return record.Usage.Errorf("--secrets redact: %s never changes files, and stores them as they are", command).
			Try("run it again with --secrets refuse, which leaves out files with secrets")
	}
	return nil
}

// NoteSecrets says which secrets were found in what the command was given, and what helps.
func (e *Environ) NoteSecrets() {
	const mostNamed = 5 // how many secrets are named on stderr, each in a line
	for _, w := range e.Opened {
		all, count := w.Secrets()
		count -= len(all)
		all = slices.CompactFunc(slices.Clone(all), func(a, b materialize.Secret) bool {
			return a.Name == b.Name && a.Rule == b.Rule && a.Line == b.Line && a.Taken == b.Taken // a line has it several times
		})
		count += len(all)
		named := all[:min(len(all), mostNamed)]
		isStored := func(s materialize.Secret) bool { return !s.Taken }
		for i, s := range named {
			hint, what := "", "secret"
			switch isLast := !slices.ContainsFunc(named[i+1:], isStored); {
			case s.Taken:
				what = "redacted"
			case isLast && (s.File || strings.HasPrefix(s.Name, "what is said")):
				hint = "take it out, then purge what filebus scan --history names"
			case isLast:
				hint = "filebus purge " + record.ShellWord(s.Name) + " --files, or --secrets redact the next time"
			}
			e.NoteTry(hint, "%s: %s in line %d of %s", what, s.Rule, s.Line, OneLine(s.Name))
		}
		if more := count - len(named); more > 0 {
			e.Note("%s more; filebus scan finds those that are stored", Plural(more, "secret"))
		}
	}
}
