package web

import (
	"context"
	"fmt"
	"net/http"
)

// A reviewPage is the entries of knowledge that somebody is to decide about, each beside what it is compared with.
type reviewPage struct {
	Total, More int
	Items       []struct {
		ID, Why, Text, Other, Against string
		Try                           []string // commands that decide
	}
}

func (*reviewPage) title() string { return "Review" }

// loadReview asks again once the log has gone on: entries are compared with each other, which takes a while.
func loadReview(_ context.Context, s *Site, r *http.Request) (any, error) {
	ctx, cancel := context.WithTimeout(r.Context(), lookTime)
	defer cancel()
	v, err := s.review.of(ctx, s, "")
	return v, err
}

func (s *Site) loadReview(ctx context.Context, _ string) (*reviewPage, error) {
	v := &reviewPage{}
	return v, s.Ask(ctx, v, "knowledge", "review", fmt.Sprint("--limit=", mostShown))
}

// decide carries a decision out, and shows what is left.
func (s *Site) decide(w http.ResponseWriter, r *http.Request) {
	id, other := r.PostFormValue("id"), r.PostFormValue("other")
	command := map[string][]string{
		"accept": {"accept", "--", id}, "reject": {"reject", "--because=" + r.PostFormValue("because"), "--", id},
		"supersede": {"supersede", "--", other, id}, "both": {"link", "--", id, "relates-to", other},
	}[r.PostFormValue("do")]
	s.change(w, r, "/review", append([]string{"knowledge"}, command...)...)
}
