package web

import (
	"cmp"
	"context"
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
	Name, Ref, Tree, Path, Title, Agent, Session, Task, Run, Conversation, Status, Source string
	Tokens, Size, Words                                                                   int
	Time                                                                                  time.Time
	Written                                                                               *time.Time
	Tags                                                                                  []string
	Attributes                                                                            map[string]string
	FullRef                                                                               string   `json:"full_ref"`
	Links, From                                                                           []string // a link is its type and its target
	By                                                                                    string   `json:"superseded_by"`
	Versions                                                                              []version
	Outline                                                                               []heading
	Entries                                                                               []struct{ Name, Ref, Title string }

	Passage               passage // that is marked
	Values                any     // of a text in JSON
	Related               bool    // what names the record was looked for, which takes three searches
	Gone                  bool
	Text, Against, Before string // the version that it is compared with, and the last one before it
	Current, Binary       bool
	Type                  string   // of a picture or a PDF
	Shown                 bool     // as its source
	Left                  int      // tokens that are not shown
	Diff                  []string // from the other version, in lines
	Same                  bool     // as that
	More                  int      `json:"-"` // older versions that are not shown
	MoreSections          int      `json:"more_headings"`
	Cited, Alike          []hit
	Conflicts             []conflict
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
	if v.Related = r.FormValue("related") != ""; v.Related {
		err = s.relate(ctx, v)
	}
	err = cmp.Or(err, s.compare(ctx, v, r.FormValue("against")), s.conflicts(ctx, v))
	if more := len(v.Versions) - shownVersions; more > 0 {
		v.Versions, v.More = v.Versions[more:], more
	}
	for i, of := range v.Versions {
		if of.Ref == v.FullRef && i > 0 {
			v.Before = v.Versions[i-1].Ref
		}
	}
	slices.Reverse(v.Versions) // newest first
	return v, err
}

func (s *Site) record(ctx context.Context, name string, r *http.Request) (*recordPage, error) {
	v := &recordPage{}
	err := s.Ask(ctx, v, "show", "--max-tokens=0", "--", name)
	if err != nil && status(err) == http.StatusNotFound { // an id that holds an @ itself comes first
		if ref := s.version(ctx, name); ref != "" {
			err = s.Ask(ctx, v, "show", "--max-tokens=0", "--", ref)
		}
	}
	if err != nil {
		return nil, err
	}
	text, err := s.text(ctx, v.FullRef)
	if err != nil {
		return nil, err
	}
	if strings.Contains("/"+v.Name, "/knowledge/") || strings.Contains(v.Name, ":knowledge/") {
		_ = s.Ask(ctx, &struct {
			By *string `json:"superseded_by"`
		}{&v.By}, "knowledge", "show", "--", v.Name) // else it is not known
	}
	listed := min(len(v.Outline), shownSections)
	v.MoreSections, v.Outline = v.MoreSections+len(v.Outline)-listed, v.Outline[:listed]
	if n := len(v.Versions); n > 0 {
		v.Gone = slices.Contains([]string{"retire", "drop"}, v.Versions[n-1].Change)
	}
	v.Left, v.Type = text.Left, shownType(text.Base64)
	if v.Binary = text.Text == nil; !v.Binary {
		v.Text = *text.Text
	}
	v.Passage = parsePassage(r.FormValue("lines"))
	isJSON := slices.Contains([]string{".json", ".jsonl"}, strings.ToLower(path.Ext(v.Path)))
	if values, ok := parseTree(v.Text); ok && isJSON {
		v.Values = values
	}
	source := r.FormValue("source")
	isText := slices.Contains([]string{"", ".md", ".markdown"}, strings.ToLower(path.Ext(v.Path)))
	v.Shown = source == "1" || source == "" && v.Values == nil && !isText
	return v, nil
}

// title returns what a tab is called by.
func (v *recordPage) title() string { return cmp.Or(v.Title, v.Name) }

// A passage is the lines of a text that answer a question, counted from 1, with the words in them that were found. Without
// lines it is none.
type passage struct {
	From, To int
	Words    string // separated by new lines
}

// parsePassage reads lines as addresses and get have them, such as "3-7" and "3".
func parsePassage(text string) (p passage) {
	from, to, isRange := strings.Cut(text, "-")
	p.From, _ = strconv.Atoi(from) // 0 if it is none, as To
	if p.To, _ = strconv.Atoi(to); !isRange {
		p.To = p.From
	}
	return p
}

// Has reports whether a line belongs to the passage.
func (p passage) Has(line int) bool { return p.From > 0 && p.From <= line && line <= p.To }

// Lines returns the passage as get reads it; "" where there is none.
func (p passage) Lines() string {
	if p.From < 1 || p.To < p.From {
		return ""
	}
	return fmt.Sprintf("%d-%d", p.From, p.To)
}

// version returns the reference that a position of the log, as show has it, or the beginning of a
// reference means behind the "@" of a name; "" if there is none.
func (s *Site) version(ctx context.Context, name string) string {
	var of recordPage
	at := strings.LastIndexByte(name, '@')
	if at < 0 || s.Ask(ctx, &of, "show", "--max-tokens=0", "--", name[:at]) != nil {
		return ""
	}
	for _, version := range of.Versions {
		is := name[at+1:]
		if is == fmt.Sprint(version.Position) || len(is) >= 8 && strings.HasPrefix(version.Ref, is) {
			return version.Ref
		}
	}
	return ""
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
	v.Diff = difference(*was.Text, v.Text)
	v.Same = len(v.Diff) == 0
	return nil
}

// conflicts finds the texts of a record that wait for a decision.
func (s *Site) conflicts(ctx context.Context, v *recordPage) error {
	if !slices.ContainsFunc(v.Versions, func(v version) bool { return v.Change == "conflict" }) {
		return nil
	}
	err := s.Ask(ctx, v, "conflicts", "show", "--", v.Name)
	if err != nil && status(err) == http.StatusNotFound {
		return nil // all are resolved
	}
	for i, c := range v.Conflicts {
		if c.Store != nil {
			v.Conflicts[i].Diff = difference(*c.Store, c.File)
		}
	}
	return err
}

// resolve decides a conflict, and shows the record that is left.
func (s *Site) resolve(w http.ResponseWriter, r *http.Request) {
	name, take := r.PostFormValue("name"), r.PostFormValue("take")
	s.change(w, r, "/record?"+url.Values{"name": {name}}.Encode(), "conflicts", "resolve", "--take="+take, "--", name)
}

// change runs a command that writes, where pages may, and shows a page.
func (s *Site) change(w http.ResponseWriter, r *http.Request, then string, command ...string) {
	if s.Change == nil {
		http.Error(w, "these pages only read: start filebus serve --write", http.StatusForbidden)
	} else if err := s.Change(r.Context(), command...); err != nil {
		http.Error(w, err.Error(), status(err))
	} else {
		http.Redirect(w, r, then, http.StatusSeeOther)
	}
}
