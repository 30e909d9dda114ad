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
	Growth   growth
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

// A growth is how much was stored on which days, the last one first.
type growth struct {
	Of   int // records, the last ones
	Days []grownDay
	More int // records before these
	Axis axis
}

type grownDay struct {
	Day             string // in UTC
	Records, Tokens int
}

// growth counts the last records: it is done anew with each change, while somebody looks.
func (s *Site) growth(ctx context.Context) (g growth) {
	var said struct {
		Records []struct {
			Time   time.Time
			Tokens int
		}
		More int
	}
	_ = s.Ask(ctx, &said, "list", "--limit=2000")
	most := 0
	for _, r := range said.Records {
		day := r.Time.UTC().Format(time.DateOnly)
		if n := len(g.Days); n == 0 || g.Days[n-1].Day != day {
			g.Days = append(g.Days, grownDay{Day: day})
		}
		d := &g.Days[len(g.Days)-1]
		d.Records, d.Tokens = d.Records+1, d.Tokens+r.Tokens
		most = max(most, d.Tokens)
	}
	g.Of, g.Axis, g.More = len(said.Records), newAxis(0, most), said.More
	return g
}
