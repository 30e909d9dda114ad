package web

import (
	"context"
	"net/http"
	"time"

	"filebus/cmd/filebus/rule"
)

// A healthPage is what doctor says, and verify if it was asked for.
type healthPage struct {
	Checks    []rule.Finding
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

// verifyTime is how long verify may take for a page.
const verifyTime = 2 * time.Minute

func loadHealth(ctx context.Context, s *Site, r *http.Request) (any, error) {
	v, verify := &healthPage{}, r.FormValue("verify") != ""
	if verify && r.Header.Get("HX-Request") != "" {
		return nil, nil // it is not verified again for each change: the page stays as it is
	}
	if err := s.Ask(ctx, v, "doctor"); err != nil { // of a store that cannot be read it says why
		return nil, err
	}
	_ = s.Ask(ctx, v, "conflicts") // doctor says why there are none to tell, as of what follows
	v.Conflicts, v.More = cut(v.Conflicts, mostShown)
	v.Growth = s.growth(ctx)
	if verify { // which looks at every stored byte, and may take longer than pages do otherwise
		ctx, cancel := context.WithTimeout(r.Context(), verifyTime)
		defer cancel()
		said := &verified{}
		v.Verified = said
		v.Refused = s.Ask(ctx, said, "verify")
		said.Findings, said.More = cut(said.Findings, mostShown)
	}
	return v, nil
}

// A growth is how much was stored on which days, in UTC, the last one first.
type growth struct {
	Of, More int // records that are counted, the last ones, and the others
	Axis     axis
	Days     []grownDay
	Refused  error
}

type grownDay struct {
	Day             string
	Records, Tokens int
}

// growth counts the last records: it is done anew with each change, while somebody looks.
func (s *Site) growth(ctx context.Context) (g growth) {
	var said struct {
		Records []doing
		More    int
	}
	g.Refused = s.Ask(ctx, &said, "list", "--limit=2000")
	most := 0
	for _, r := range said.Records {
		day, last := r.Time.UTC().Format(time.DateOnly), len(g.Days)-1
		if last < 0 || g.Days[last].Day != day {
			last++
			g.Days = append(g.Days, grownDay{Day: day})
		}
		g.Days[last].Records++
		g.Days[last].Tokens += r.Tokens
		most = max(most, g.Days[last].Tokens)
	}
	g.Of, g.More, g.Axis = len(said.Records), said.More, newAxis(0, most)
	return g
}
