package web

import (
	"context"
	"net/http"
	"time"
)

// A healthPage is what doctor says, and verify if it was asked for.
type healthPage struct {
	Checks    []struct{ Check, State, Detail, Try string }
	Conflicts []struct {
		Name, Store, File string
		Time              time.Time
	}
	More     int // conflicts that are not shown
	Growth   *growth
	Verified *verified
	Refused  error // in place of it
	Stale    bool  // the page was refreshed: verify is not run for that
}

// A verified is what verify says.
type verified struct {
	Records, Dropped, Bodies, Bytes int
	Faults, Remarks                 []string
	Index                           string
	Findings                        []string // faults and remarks that are shown
	More                            int      // that are not
}

// verifyTime is how long verify may take for a page.
const verifyTime = 2 * time.Minute

func loadHealth(ctx context.Context, s *Site, r *http.Request) (any, error) {
	v := &healthPage{}
	if err := s.Ask(ctx, v, "doctor"); err != nil { // of a store that cannot be read it says why
		return nil, err
	}
	_ = s.Ask(ctx, v, "conflicts") // doctor says why there are none to tell, as of what follows
	v.Conflicts, v.More = cut(v.Conflicts, mostShown)
	v.Growth = s.growth(ctx)
	if r.FormValue("verify") != "" {
		v.verify(s, r)
	}
	return v, nil
}

// verify looks at every stored byte, which may take longer than pages do otherwise.
func (v *healthPage) verify(s *Site, r *http.Request) {
	if v.Stale = r.Header.Get("HX-Request") != ""; v.Stale {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), verifyTime)
	defer cancel()
	said := &verified{}
	if v.Refused = s.Ask(ctx, said, "verify"); v.Refused != nil {
		return
	}
	v.Verified = said
	said.Findings, said.More = cut(append(said.Faults, said.Remarks...), mostShown)
}

// A growth is what was stored on each of the last days.
type growth struct {
	Days          []day
	Records, More int // that are counted, and that are not
	Axis          axis
}

type day struct {
	Day       string
	N, Tokens int
}

// growth counts the last records by the day on which they were stored, the last day first.
func (s *Site) growth(ctx context.Context) *growth {
	var said struct {
		Records []struct {
			Time   time.Time
			Tokens int
		}
		More int
	}
	_ = s.Ask(ctx, &said, "list", "--limit=5000") // it is counted anew with each change, while somebody looks
	g, top := &growth{Records: len(said.Records), More: said.More}, 0
	for _, r := range said.Records {
		on := r.Time.UTC().Format(time.DateOnly)
		if n := len(g.Days); n == 0 || g.Days[n-1].Day != on {
			g.Days = append(g.Days, day{Day: on})
		}
		last := &g.Days[len(g.Days)-1]
		last.N, last.Tokens = last.N+1, last.Tokens+r.Tokens
		top = max(top, last.Tokens)
	}
	g.Days, _ = cut(g.Days, mostShown)
	g.Axis = newAxis(0, top)
	return g
}
