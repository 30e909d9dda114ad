package main

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"filebus/cmd/filebus/cli"
	"filebus/query"
	"filebus/store/record"
)

type searchCommand struct {
	cli.FilterFlags
	answerFlags
	cli.Page
	NotSessions []string      `flag:"not-session"`
	Regex       string        `flag:"regex" not:"interactive"`
	All         bool          `flag:"all" not:"interactive"`
	History     bool          `flag:"history"`
	Literal     bool          `flag:"literal"`
	Everywhere  bool          `flag:"everywhere"`
	ExitCode    bool          `flag:"exit-code" not:"interactive"`
	Interactive bool          `flag:"interactive,i"`
	Refresh     bool          `flag:"refresh"`
	Timeout     time.Duration `flag:"timeout" was:"max-wait"`

	cli.Given
	flagWords, operators []string // flags, and what of the text was read as such
}

func (o *searchCommand) Prepare(cmd *cobra.Command) {
	o.Given.Prepare(cmd)
	o.FilterFlags.Prepare(cmd)
	cmd.Flags().Lookup("recent").NoOptDefVal = usualRecent
	cmd.SetFlagErrorFunc(searchFlagError)
}

func (o *searchCommand) Check(*cli.Environ, []string) error {
	o.flagWords = o.Words("offset")
	if o.Candidates > 0 {
		o.Limit, o.Sections = o.Candidates, true
	}
	if o.Limit < 0 || o.Limit == 0 && len(o.Facets) == 0 || o.Offset < 0 {
		return cli.UsageError("--limit %d --offset %d: there is no such page", o.Limit, o.Offset)
	}
	return nil
}

func (o *searchCommand) request(env *cli.Environ, text string) (request query.SearchRequest, err error) {
	request.Offset, request.History = o.Offset, o.History
	request.Limit = min(o.Limit, math.MaxInt32) + 1 // one more tells whether there are others
	request.Narrow = !o.Everywhere && len(o.Facets) == 0 && o.MaxTokens == 0 && !slices.Contains(env.Args, "--")
	if err := o.ask(&request); err != nil {
		return request, err
	}
	if request.Filter, err = o.Read(env); err != nil {
		return request, err
	}
	request.NotSessions = o.NotSessions
	if request.All = o.All; o.Has("regex") {
		if request.Pattern, err = query.NewExpression(o.Regex); err != nil {
			return request, err
		}
	}
	if o.Literal {
		request.Literal(text)
	} else {
		o.operators = request.Parse(text)
	}
	return request, nil
}

func (o *searchCommand) Do(ctx context.Context, w *cli.Work, args []string) error {
	env, text := w.Environ, searchText(args)
	request, err := o.request(env, text)
	switch {
	case err != nil:
		return err
	case o.Interactive:
		return o.find(ctx, env, text)
	}
	show, clear := env.Progress("indexing")
	wait := max(o.Timeout, 1)
	set, err := openStores(ctx, env, o.Everywhere, query.Options{MaxWait: wait, Progress: show})
	if err != nil {
		return err
	}
	if set.own != nil {
		set.own.RefreshBy(ctx, o.Refresh, 0, request.Filter.Trees...)
	}
	answer, err := set.search(ctx, request, wait)
	clear()
	if err == nil && o.Everywhere {
		err = set.report(env, answer.Stores)
	}
	if err != nil {
		return err
	}
	for i, h := range answer.Hidden { // as it was asked for, not in all words that mean the same
		if given := o.Values[h.Condition]; given != nil && len(*given) > 0 {
			answer.Hidden[i].Values = *given
		}
	}
	o.noteScan(env, &request, &answer, text)
	p := hitPage{
		env: env, answer: answer, opts: &o.answerFlags, fields: request.Facets, limit: o.Limit,
		offset: request.Offset, marks: request.Marks, query: request.Query,
	}
	if len(answer.Hits) > o.Limit {
		p.answer.Hits, p.more = answer.Hits[:o.Limit], max(int(answer.Total)-request.Offset-o.Limit, 1)
	}
	if !o.Duplicates && o.room() == 0 {
		p.answer.Hits, p.folded = query.FoldPassages(p.answer.Hits)
	}
	if !o.NoGit {
		set.countCommits(ctx, env, p.answer.Hits)
	}
	if !env.Global.JSON {
		set.unnameOwn(p.answer.Hits)
	}
	p.noteState(ctx, set.own, &request.Filter)
	err = p.print(ctx, set, text)
	noteStale(env, p.stale)
	o.noteRead(env, &request, text, answer.Literal)
	o.noteMissed(env, &answer, text, set.own)
	if set.own != nil && answer.Total == 0 {
		set.own.RemarkStrangers(ctx)
	}
	if err == nil && o.ExitCode && answer.Total == 0 {
		err = cli.SilentError(record.Failed)
	}
	return err
}

// noteState says of the hits whose body is damaged, and what nothing has that was asked
// for; own may be nil. It finds the trees that have changed on disk.
func (p *hitPage) noteState(ctx context.Context, own *cli.Work, f *record.Filter) {
	for _, h := range p.answer.Hits {
		if h.Damaged {
			p.env.Note("the body of %s is damaged; run filebus verify --repair%s", h.Name, p.env.StoreFlag(h.Store))
		}
		if own != nil && h.Store == "" {
			own.NoteIfAltered(ctx, h.Name)
		}
	}
	if own != nil {
		p.stale = staleTrees(ctx, own, p.answer.Hits)
		own.NoteUnknown(ctx, f)
	}
}

// searchArguments returns the arguments of a command line, with those of a search
// that leave a word out (-refresh) written as words: a space before the minus keeps
// them from being read as flags. What stands for flags of the search stays one, and
// so does all behind "--". A length of time behind --recent is its value, though
// that flag can do without. Other commands keep their arguments.
func searchArguments(root *cobra.Command, args []string) []string {
	cmd, _, err := root.Find(args)
	if err != nil || cmd.Name() != "search" || cmd.Parent() != root {
		return args
	}
	cmd.InitDefaultHelpFlag()
	args = slices.Clone(args)
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		switch {
		case args[i] == "--recent" && i+1 < len(args) && isHalfLife(args[i+1]):
			args[i] += "=" + args[i+1]
			args = slices.Delete(args, i+1, i+2)
		case strings.HasPrefix(args[i], "--"):
			if flag := cmd.Flag(args[i][2:]); flag != nil && flag.NoOptDefVal == "" {
				i++ // its value
			}
		case isWithout(cmd, args[i]):
			args[i] = " " + args[i]
		}
	}
	return args
}

// isHalfLife reports whether an argument can be the value of --recent.
func isHalfLife(arg string) bool {
	_, err := parseHalfLife(arg)
	return err == nil
}

// searchText returns what the words of a search say together.
func searchText(args []string) string {
	words := slices.Clone(args)
	for i, word := range words {
		if strings.HasPrefix(word, " -") {
			words[i] = word[1:] // see searchArguments
		}
	}
	return strings.Join(words, " ")
}

// isWithout reports whether an argument begins with a minus and is no flag: not all
// of its letters are flags.
func isWithout(cmd *cobra.Command, arg string) bool {
	letters, found := strings.CutPrefix(arg, "-")
	return found && strings.ContainsFunc(letters, func(letter rune) bool {
		return letter > 'z' || cmd.Flags().ShorthandLookup(string(letter)) == nil
	})
}

// searchFlagError says of a flag that a search does not have how to search for it.
func searchFlagError(cmd *cobra.Command, err error) error {
	name, unknown := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !unknown || cli.NearFlag(cmd, name) != "" {
		return err
	}
	return cli.Coded(record.Usage, searchLine(nil, searchText(append(cmd.Flags().Args(), "--"+name)))+", to search for that text", err)
}

// lineWith returns the search with another flag as it can be typed. A long one is not said again.
func (o *searchCommand) lineWith(flag, text string) string {
	line := searchLine(append(slices.Clip(o.flagWords), flag), text)
	if cli.ClipText(line) != line {
		return "the same command with " + flag
	}
	return line
}

// searchLine returns a search as it can be typed.
func searchLine(flags []string, text string) string {
	words := append([]string{"filebus", "search"}, flags...)
	if strings.HasPrefix(text, "-") {
		words = append(words, "--")
	}
	return strings.Join(append(words, record.ShellWord(text)), " ")
}
