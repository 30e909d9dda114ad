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
		Days []struct {
			Day                  string
			Entries, Puts, Bytes int
		}
		More int
	}
	Chart    chart // of the growth
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
	v.Chart = chart{Title: "By day (UTC)", Legend: []string{"bytes of texts"}, Columns: []string{"day", "entries", "texts", "bytes"}}
	for _, d := range v.Growth.Days {
		v.Chart.bar(d.Day, "", []string{count(d.Entries), count(d.Puts), count(d.Bytes)}, d.Bytes)
	}
	v.Chart.measure()
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
