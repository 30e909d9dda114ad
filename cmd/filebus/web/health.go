package web

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"filebus/cmd/filebus/rule"
)

// A healthPage is what doctor says, and verify if it was asked for.
type healthPage struct {
	Checks    []rule.Finding
	Looked    bool // at the files, too: that takes longer the more there are
	AsOf      time.Time
	Conflicts []struct{ Name, Store, File string }
	More      int // conflicts that are not shown
	Growth    growth
	Verified  *verified
	Refused   error // in place of it
}

// A verified is what verify says: of the findings, More are not shown.
type verified struct {
	Position, Records, Dropped, Bodies, Bytes, More int
	Faults                                          []string
	Findings                                        []rule.Finding
	Index                                           string
}

// Looking at all files, or at every stored byte, may take longer than pages do otherwise.
const (
	lookTime     = 2 * time.Minute
	withFiles    = "--no-sync=false"
	withoutFiles = "--no-sync"
)

func loadHealth(ctx context.Context, s *Site, r *http.Request) (any, error) {
	v, verify := &healthPage{}, r.FormValue("verify") != ""
	if verify && r.Header.Get("HX-Request") != "" {
		return nil, nil // it is not verified again for each change: the page stays as it is
	}
	kept, what := &s.health, withoutFiles
	isAsked := verify || r.FormValue("files") != ""
	if s.Look != nil && (isAsked || s.files.isFresh(s, withFiles)) {
		kept, what = &s.files, withFiles
	}
	if isAsked {
		longer, cancel := context.WithTimeout(r.Context(), lookTime)
		defer cancel()
		ctx = longer
	}
	said, err := kept.of(ctx, s, what)
	if err != nil { // of a store that cannot be read it says why
		return nil, err
	}
	*v = *said
	if verify {
		said := &verified{}
		v.Verified = said
		v.Refused = s.Ask(ctx, said, "verify")
		said.Findings, said.More = cut(said.Findings, mostShown)
	}
	return v, nil
}

// loadHealth asks for all but verify.
func (s *Site) loadHealth(ctx context.Context, what string) (*healthPage, error) {
	v := &healthPage{AsOf: s.Now(), Looked: what == withFiles || s.Look == nil}
	if err := s.Ask(ctx, v, "doctor", what); err != nil {
		return nil, err
	}
	_ = s.Ask(ctx, v, "conflicts") // doctor says why there are none to tell, as of what follows
	v.Conflicts, v.More = cut(v.Conflicts, mostShown)
	v.Growth = s.growth(ctx)
	return v, nil
}

// A growth is how much was stored on which days, in UTC, the last one first.
type growth struct {
	Of      int  // versions that are counted
	Since   bool // the last ones: there are others
	Axis    axis
	Days    []grownDay
	Refused error
}

type grownDay struct {
	Day             string
	Records, Tokens int
}

// growth counts the last records: it is done anew with each change, while somebody looks.
func (s *Site) growth(ctx context.Context) (g growth) {
	log, err := s.logged(ctx, 2000)
	g.Refused = err
	g.Since = len(log) == 2000
	log = only(log, func(e logged) bool { return e.Op == "put" && !strings.HasPrefix(e.Name, "frame/") })
	slices.Reverse(log)
	most := 0
	for _, r := range log {
		day, last := r.Time.UTC().Format(time.DateOnly), len(g.Days)-1
		if last < 0 || g.Days[last].Day != day {
			last++
			g.Days = append(g.Days, grownDay{Day: day})
		}
		g.Days[last].Records++
		g.Days[last].Tokens += r.Tokens
		most = max(most, g.Days[last].Tokens)
	}
	g.Of, g.Axis = len(log), newAxis(0, most)
	return g
}
