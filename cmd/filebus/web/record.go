package web

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// A recordPage is a text with where it comes from.
type recordPage struct {
	Name, Ref, Path, Title, Agent, Session, Task, Run, Conversation, Status string
	Tree                                                                    string
	Tokens, Size, Words                                                     int
	Time                                                                    time.Time
	Written                                                                 *time.Time
	Tags                                                                    []string
	Attributes                                                              map[string]any
	Current                                                                 bool
	FullRef                                                                 string `json:"full_ref"`
	Body, Source                                                            string
	Links, From                                                             any
	Versions                                                                []version
	Outline                                                                 []heading
	Entries                                                                 []struct {
		Name, Ref, Title string
		Line             int
	}

	Text   string
	Binary bool
	Left   int  // tokens that are not shown
	Shown  bool // as its source
	Diff   string
	Cited  []hit
}

// A version is a state of a record.
type version struct {
	Position    int
	Time        time.Time
	Change, Ref string
	Tokens      int
	Agent       string
}

// A heading is a section of a text.
type heading struct {
	Title  string
	Level  int
	Lines  []int
	Tokens int
}

func loadRecord(ctx context.Context, s *Site, r *http.Request) (any, error) {
	return s.record(ctx, r.FormValue("name"), r)
}

// shownTokens is how much of a text a page has.
const shownTokens = 100_000

func (s *Site) record(ctx context.Context, name string, r *http.Request) (*recordPage, error) {
	v := &recordPage{Shown: r.FormValue("source") != ""}
	if err := s.Ask(ctx, v, "show", "--max-tokens=0", "--", name); err != nil {
		return nil, err
	}
	var body struct {
		Text   *string
		Base64 []byte
		Left   int
	}
	if err := s.Ask(ctx, &body, "get", fmt.Sprint("--max-tokens=", shownTokens), "--", name); err != nil {
		return nil, err
	}
	if v.Left = body.Left; body.Text == nil {
		v.Binary = true
	} else {
		v.Text = *body.Text
	}
	return v, nil
}
