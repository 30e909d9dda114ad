package main

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"filebus/index"
	"filebus/query"
)

// answerOptions say what a search prints of what it finds.
type answerOptions struct {
	maxTokens  int // 0: no bound, but for sections
	sections   bool
	facets     []string
	explain    bool
	recent     string // half-life; "": age does not matter
	duplicates bool
	noGit      bool
}

// The half-life of a bare --recent, and the tokens of --sections without
// --max-tokens.
const (
	usualRecent        = "30d"
	usualSectionTokens = 4000
)

func (o *answerOptions) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVar(&o.maxTokens, "max-tokens", 0, "")
	flags.BoolVar(&o.sections, "sections", false, "")
	flags.StringSliceVar(&o.facets, "facets", nil, "")
	flags.BoolVar(&o.explain, "explain", false, "")
	flags.StringVar(&o.recent, "recent", "", "")
	flags.Lookup("recent").NoOptDefVal = usualRecent
	flags.BoolVar(&o.duplicates, "duplicates", false, "")
	flags.BoolVar(&o.noGit, "no-git", false, "")
}

// ask adds what is printed to what is searched.
func (o *answerOptions) ask(request *query.SearchRequest) (err error) {
	if o.maxTokens < 0 {
		return usageError("--max-tokens %d is negative", o.maxTokens)
	}
	request.Duplicates, request.Explain = o.duplicates, o.explain
	if request.Facets, err = parseFacets(o.facets); err != nil {
		return err
	}
	if o.recent != "" {
		request.Recent = true
		request.HalfLife, err = parseHalfLife(o.recent)
	}
	return err
}

// room is how many tokens may be printed; 0: any number.
func (o *answerOptions) room() int {
	if o.maxTokens == 0 && o.sections {
		return usualSectionTokens
	}
	return min(o.maxTokens, 1<<40)
}

// bytesPerToken is how tokens are estimated, as record.EstimateTokens does it.
const bytesPerToken = 4

// parseFacets reads names of fields, each once.
func parseFacets(texts []string) ([]index.Facet, error) {
	var facets []index.Facet
	for _, text := range texts {
		facet := index.Facet(strings.TrimSpace(text))
		if !slices.Contains(index.Facets(), facet) {
			return nil, usageError("unknown facet %q: the facets are kind, agent, tag and session", text)
		}
		if !slices.Contains(facets, facet) {
			facets = append(facets, facet)
		}
	}
	return facets, nil
}

// parseHalfLife reads a length of time, in days too.
func parseHalfLife(text string) (time.Duration, error) {
	var length time.Duration
	if days, found := strings.CutSuffix(text, "d"); found {
		if n, err := strconv.ParseFloat(days, 64); err == nil && n < 1e5 {
			length = time.Duration(n * 24 * float64(time.Hour))
		}
	} else if d, err := time.ParseDuration(text); err == nil {
		length = d
	}
	if length <= 0 {
		return 0, usageError("--recent=%s is no length of time: give 7d or 36h", text)
	}
	return length, nil
}
