package main

import (
	"encoding/json"
	"math"
	"time"

	"filebus/query"
	"filebus/store/record"
)

// A searchJSON is an answer in JSON.
type searchJSON struct {
	Total          uint64    `json:"total"`
	Unindexed      uint64    `json:"unindexed,omitempty"`
	ScanIncomplete bool      `json:"scan_incomplete,omitempty"`
	Hits           []hitJSON `json:"hits"`
}

// A hitJSON is a hit in JSON. Lines are [from, to], marks [start, end] in bytes
// of the snippet; what is not there is left out.
type hitJSON struct {
	Name      record.Name `json:"name"`
	Ref       string      `json:"ref"`
	Tree      record.Tree `json:"tree,omitempty"`
	Kind      record.Kind `json:"kind"`
	Path      string      `json:"path,omitempty"`
	Title     string      `json:"title,omitempty"`
	Section   string      `json:"section,omitempty"`
	Lines     *[2]int     `json:"lines,omitempty"`
	FileLines *[2]int     `json:"file_lines,omitempty"`
	Snippet   string      `json:"snippet,omitempty"`
	Marks     [][2]int    `json:"marks,omitempty"`
	Tokens    int         `json:"tokens"`
	Agent     string      `json:"agent,omitempty"`
	Time      time.Time   `json:"time"`
	Score     float64     `json:"score"`
	Scanned   bool        `json:"scanned,omitempty"`
	Older     bool        `json:"older,omitempty"`
	Damaged   bool        `json:"damaged,omitempty"`
}

func printHitsJSON(env *environ, answer *query.SearchAnswer) (size int, err error) {
	value := searchJSON{Total: answer.Total, Unindexed: answer.Unindexed, ScanIncomplete: answer.ScanIncomplete, Hits: []hitJSON{}}
	for i := range answer.Hits {
		value.Hits = append(value.Hits, toHitJSON(&answer.Hits[i]))
	}
	text, err := json.Marshal(value)
	if err != nil {
		return 0, err
	}
	return len(text), env.printJSON(value)
}

func toHitJSON(h *query.Hit) hitJSON {
	j := hitJSON{
		Name: h.Name, Ref: h.Ref.Short(), Tree: h.Name.Tree, Kind: h.Name.Kind, Path: validText(h.Path), Title: h.Title,
		Section: h.Section, Lines: pair(h.Lines), Snippet: h.Snippet.Text, Tokens: h.Tokens, Agent: h.Agent,
		Time: h.Time.Truncate(time.Second), Score: math.Round(h.Score*1000) / 1000, Scanned: h.Scanned, Older: h.Older,
		Damaged: h.Damaged,
	}
	if h.FileLines != h.Lines {
		j.FileLines = pair(h.FileLines)
	}
	for _, m := range h.Snippet.Marks {
		j.Marks = append(j.Marks, [2]int{m.Start, m.End})
	}
	return j
}

// pair returns a span as [from, to], or nil for none.
func pair(s query.Span) *[2]int {
	if s.From == 0 {
		return nil
	}
	return &[2]int{s.From, s.To}
}
