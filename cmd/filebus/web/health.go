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
	Growth   *chart
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

// The bounds of the page. Growth is counted anew with each entry of the log, while somebody looks.
const (
	verifyTime  = 2 * time.Minute
	maxCounted  = "--limit=5000" // records
	maxDays     = 60
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
	for _, texts := range []*[]string{&said.Faults, &said.Remarks} {
		left := max(len(*texts)-maxFindings, 0)
		said.More += left
		*texts = (*texts)[:len(*texts)-left]
	}
}

// growth counts the last records by the day on which they were stored, the last day first.
func (s *Site) growth(ctx context.Context) *chart {
	var said struct {
		Records []struct {
			Time   time.Time
			Tokens int
		}
		More int
	}
	c := &chart{Title: "Stored on each day (UTC)", Legend: []string{"tokens"}, Columns: []string{"day", "records", "tokens, about"}}
	_ = s.Ask(ctx, &said, "list", maxCounted) // doctor says why
	if said.More > 0 {
		c.Title += ": the last " + count(len(said.Records)) + " records"
	}
	for left := said.Records; len(left) > 0; {
		day, n, tokens := left[0].Time.UTC().Format(time.DateOnly), 0, 0
		for ; n < len(left) && left[n].Time.UTC().Format(time.DateOnly) == day; n++ {
			tokens += left[n].Tokens
		}
		c.bar(day, "", []string{count(n), count(tokens)}, tokens)
		left = left[n:]
	}
	c.Rows, c.More = cut(c.Rows, maxDays)
	c.measure()
	return c
}
