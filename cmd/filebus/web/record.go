package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A recordPage is a text with where it comes from.
type recordPage struct {
	Name, Ref, Tree, Path, Title, Agent, Session, Task, Run, Conversation, Status string
	Tokens, Size, Words                                                           int
	Time                                                                          time.Time
	Written                                                                       *time.Time
	Tags                                                                          []string
	Attributes                                                                    map[string]string
	Current                                                                       bool
	FullRef                                                                       string `json:"full_ref"`
	Source                                                                        string
	Links, From                                                                   []string // a link is its type and its target
	Versions                                                                      []version
	Outline                                                                       []heading
	Entries                                                                       []struct{ Name, Ref, Title string }

	Text    string
	Binary  bool
	Picture bool
	Left    int      // tokens that are not shown
	Shown   bool     // as its source
	Against string   // the version that it is compared with
	Diff    []string // from that, in lines
	Same    bool     // as that
	More    int      // older versions that are not shown

	MoreSections int

	Cited, Alike []hit
	Conflicts    []conflict
	Writes       bool
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

// A conflict is the two texts of one name.
type conflict struct {
	Name  string
	Store *string // nil: the name was retired
	File  string
	Diff  []string
	Left  int // lines of it that are not shown
}

// The bounds of a page: tokens of a text, its versions and sections, and lines of a difference.
const (
	shownTokens   = 100_000
	shownVersions = 50
	shownSections = 300
	shownLines    = 2_000
)

func loadRecord(ctx context.Context, s *Site, r *http.Request) (any, error) {
	v, err := s.record(ctx, r.FormValue("name"), r)
	if err != nil {
		return nil, err
	}
	v.Writes = s.Change != nil
	err = cmp.Or(s.relate(ctx, v), s.compare(ctx, v, r.FormValue("against")), s.conflicts(ctx, v))
	if more := len(v.Versions) - shownVersions; more > 0 {
		v.Versions, v.More = v.Versions[more:], more
	}
	slices.Reverse(v.Versions) // newest first
	return v, err
}

func (s *Site) record(ctx context.Context, name string, r *http.Request) (*recordPage, error) {
	v := &recordPage{}
	if err := s.Ask(ctx, v, "show", "--max-tokens=0", "--", name); err != nil {
		return v, s.version(ctx, name, r, v, err)
	}
	text, err := s.text(ctx, v.FullRef)
	if err != nil {
		return nil, err
	}
	if v.MoreSections = max(len(v.Outline)-shownSections, 0); v.MoreSections > 0 {
		v.Outline = v.Outline[:shownSections]
	}
	v.Left, v.Picture = text.Left, pictureType(text.Base64) != ""
	if v.Binary = text.Text == nil; !v.Binary {
		v.Text = *text.Text
	}
	source := r.FormValue("source")
	v.Shown = source == "1" || source == "" && !slices.Contains([]string{"", ".md", ".markdown"}, strings.ToLower(path.Ext(v.Path)))
	return v, nil
}

// version fills v with the version that stands behind the "@" of a name which nothing has: a
// position of the log, as history and log show it, or a reference.
func (s *Site) version(ctx context.Context, name string, r *http.Request, v *recordPage, err error) error {
	at := strings.LastIndexByte(name, '@')
	refused := new(Refusal)
	if at <= 0 || !errors.As(err, &refused) || refused.Code != "not_found" {
		return err
	}
	var of recordPage
	if s.Ask(ctx, &of, "show", "--max-tokens=0", "--", name[:at]) != nil {
		return err
	}
	position, _ := strconv.Atoi(name[at+1:])
	for _, version := range of.Versions {
		if version.Position == position || len(name)-at > 8 && strings.HasPrefix(version.Ref, name[at+1:]) {
			found, err := s.record(ctx, version.Ref, r)
			if err == nil {
				*v = *found
			}
			return err
		}
	}
	return err
}

// A body is the beginning of a text, or of bytes that are none.
type body struct {
	Text   *string
	Base64 []byte
	Left   int
}

func (s *Site) text(ctx context.Context, name string) (b body, err error) {
	return b, s.Ask(ctx, &b, "get", fmt.Sprint("--max-tokens=", shownTokens), "--", name)
}

// relate finds what names the record, and what is nearly the same.
func (s *Site) relate(ctx context.Context, v *recordPage) error {
	_, id, _ := strings.Cut(strings.TrimPrefix(v.Name, v.Tree+":"), "/")
	seen := map[string]bool{v.Name: true}
	for _, text := range []string{id, fmt.Sprintf("%.12s", v.FullRef)} {
		found, err := s.find(ctx, `"`+strings.ReplaceAll(text, `"`, " ")+`"`)
		if err != nil {
			return err
		}
		for _, h := range found {
			if !seen[h.Name] {
				v.Cited = append(v.Cited, h)
			}
			seen[h.Name] = true
		}
	}
	found, err := s.find(ctx, cmp.Or(v.Title, id))
	for _, h := range found {
		for _, like := range h.Like {
			switch v.Name {
			case h.Name:
				v.Alike = append(v.Alike, hit{Name: like})
			case like:
				v.Alike = append(v.Alike, h)
			}
		}
	}
	return err
}

func (s *Site) find(ctx context.Context, text string) ([]hit, error) {
	var found struct{ Hits []hit }
	return found.Hits, s.Ask(ctx, &found, "search", "--limit=20", "--no-git", "--", text)
}

// compare finds the difference from another version, which is named by its reference.
func (s *Site) compare(ctx context.Context, v *recordPage, against string) error {
	if v.Against = against; against == "" {
		return nil
	}
	for _, of := range v.Versions {
		if strings.HasPrefix(of.Ref, against) {
			v.Against = of.Ref
		}
	}
	was, err := s.text(ctx, against)
	if err != nil || was.Text == nil || v.Binary {
		return err
	}
	var left int
	v.Diff, left = difference(*was.Text, v.Text)
	v.Same = len(v.Diff) == 0
	if left > 0 {
		v.Diff = append(v.Diff, fmt.Sprintf("… %d lines more", left))
	}
	return nil
}

// conflicts finds the texts of a record that wait for a decision.
func (s *Site) conflicts(ctx context.Context, v *recordPage) error {
	if !slices.ContainsFunc(v.Versions, func(v version) bool { return v.Change == "conflict" }) {
		return nil
	}
	var open struct{ Conflicts []conflict }
	refused := new(Refusal)
	if err := s.Ask(ctx, &open, "conflicts", "show", "--", v.Name); err != nil {
		if errors.As(err, &refused) && refused.Code == "not_found" {
			return nil // all are resolved
		}
		return err
	}
	v.Conflicts = open.Conflicts
	for i, c := range v.Conflicts {
		if c.Store != nil {
			v.Conflicts[i].Diff, v.Conflicts[i].Left = difference(*c.Store, c.File)
		}
	}
	return nil
}

// resolve decides a conflict, and shows the record that is left.
func (s *Site) resolve(w http.ResponseWriter, r *http.Request) {
	name, take := r.PostFormValue("name"), r.PostFormValue("take")
	if s.Change == nil {
		http.Error(w, "these pages only read: start filebus serve --write", http.StatusForbidden)
		return
	}
	if err := s.Change(r.Context(), "conflicts", "resolve", "--take="+take, "--", name); err != nil {
		http.Error(w, err.Error(), status(err))
		return
	}
	http.Redirect(w, r, "/record?"+url.Values{"name": {name}}.Encode(), http.StatusSeeOther)
}
