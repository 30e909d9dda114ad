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
	Growth struct {
		Days []grownDay
		More int
	}
	Verified *verified
	Refused  error // in place of it
	Stale    bool  // the page was refreshed: verify is not run for that
	More     int   // conflicts that are not shown
}

// A verified is what verify says.
type verified struct {
	Records, Dropped, Bodies int
	Bytes                    int
	Faults, Remarks          []string
	Index                    string
	More                     int // faults and remarks that are not shown
}

// IsSound reports whether nothing is wrong.
func (v *verified) IsSound() bool { return len(v.Faults) == 0 && v.Index == "ok" }

// A grownDay is how much was stored on it.
type grownDay struct {
	Day           string
	Entries, Puts int
	Bytes         int
}

// The bounds of the page. Growth is counted anew with each entry of the log while somebody looks.
const (
	verifyTime  = 2 * time.Minute
	grownDays   = "60d"
	maxCounted  = "--limit=20000"
	maxFindings = 100
)

func loadHealth(ctx context.Context, s *Site, r *http.Request) (any, error) {
	v := &healthPage{}
	if err := s.Ask(ctx, v, "doctor"); err != nil { // of a store that cannot be read it says why
		return nil, err
	}
	if s.Ask(ctx, v, "conflicts") == nil {
		v.More = max(len(v.Conflicts)-maxFindings, 0)
		v.Conflicts = v.Conflicts[:len(v.Conflicts)-v.More]
	}
	_ = s.Ask(ctx, &v.Growth, "log", "--by-day", "--since="+grownDays, maxCounted) // likewise
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
	for _, texts := range []*[]string{&said.Faults, &said.Remarks} {
		left := max(len(*texts)-maxFindings, 0)
		said.More += left
		*texts = (*texts)[:len(*texts)-left]
	}
}

// A dayBar is a day of the chart.
type dayBar struct {
	grownDay
	X, Y, Width, Height int
	Labelled            bool // there is room for its date
}

// The size of the chart, without what is written around it.
const (
	growthWidth  = 600
	growthHeight = 100
)

// Bars returns the days as bars of their bytes. A day without entries has none.
func (v *healthPage) Bars() (bars []dayBar) {
	most := 1
	for _, d := range v.Growth.Days {
		most = max(most, d.Bytes)
	}
	n := max(len(v.Growth.Days), 7)
	for i, d := range v.Growth.Days {
		h := int(float64(d.Bytes) / float64(most) * growthHeight)
		b := dayBar{grownDay: d, X: i * growthWidth / n, Width: max(growthWidth/n-2, 1), Height: max(h, 1)}
		b.Y, b.Labelled = growthHeight+20-b.Height, i%(n/7) == 0
		bars = append(bars, b)
	}
	return bars
}
