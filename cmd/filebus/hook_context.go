package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"filebus/cmd/filebus/hook"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// What a session is told, in tokens at most.
const (
	startTokens  = 250
	promptTokens = 300
	bytesAToken  = 4
)

// context returns the answer that tells a session what the store knows.
func (h *hooked) context(ctx context.Context) ([]byte, error) {
	w, err := h.open(ctx)
	if err != nil {
		return nil, err
	}
	about, lines := "prompt", []string(nil)
	if h.event.Name == hook.SessionStart {
		about = "start"
		h.forget()
		lines, err = w.startLines(ctx, h.mode.Mode == hookReference)
	} else {
		lines, err = w.promptLines(ctx, h.event.Prompt)
	}
	if err != nil || len(lines) == 0 {
		return nil, err
	}
	limit := map[string]int{"start": startTokens, "prompt": promptTokens}[about] * bytesAToken
	text := ""
	for _, line := range lines {
		if len(text)+len(line) < limit {
			text += line + "\n"
		}
	}
	h.said.What = about
	return h.event.Context(strings.TrimSpace(text)), nil
}

// startLines say what there is and how to ask for it, what matters most first. They state
// facts: what sounds like an order may be taken for one from outside.
func (w *workspace) startLines(ctx context.Context, isReference bool) ([]string, error) {
	kinds, err := w.read.Values(ctx, store.FieldKind, "")
	if err != nil {
		return nil, err
	}
	var counts []string
	for _, kind := range []record.Kind{
		record.KindResult, record.KindKnowledge, record.KindHandoff, record.KindIssue, record.KindTurn, record.KindArtifact, record.KindNote,
	} {
		for _, value := range kinds {
			if value.Text == string(kind) {
				counts = append(counts, fmt.Sprintf("%d %s", value.Count, kind))
			}
		}
	}
	if len(counts) == 0 {
		return nil, nil
	}
	lines := []string{
		"filebus keeps what agents have found and written in this project, as records by kind: " + strings.Join(counts, ", ") + ".",
		"filebus search WORDS finds passages in all of it; filebus get NAME --lines A-B reads one; filebus show NAME lists sections.",
		"filebus put FILE keeps a text, filebus knowledge add a finding; filebus guide says more.",
	}
	if isReference {
		lines = append(lines, "Reports of sub-agents arrive as references: filebus get REF prints the whole text, as does the result_file.")
	}
	newest, err := w.read.List(ctx, query.ListRequest{Filter: record.Filter{Kinds: []record.Kind{record.KindResult}}, Limit: 3})
	for _, r := range newest.Entries {
		title := markdown.Clip(oneLine(r.Title), 60)
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("Recent: %s %s %s", record.Ref(r.Version.Ref).Short(), r.Agent, title)))
	}
	return lines, err
}

// promptLines are what is found for a prompt. Without anything nothing is said.
func (w *workspace) promptLines(ctx context.Context, prompt string) ([]string, error) {
	const longest = 2000 // what stands behind is seldom what it is about
	var request query.SearchRequest
	request.Literal(markdown.Clip(prompt, longest))
	request.Limit, request.IndexedOnly = 5, true
	answer, err := w.read.Search(ctx, request)
	if errors.Is(err, store.ErrNotFound) || len(answer.Hits) == 0 {
		return nil, nil
	}
	lines := []string{"filebus has, on words of this prompt:"}
	for _, hit := range answer.Hits {
		place := ""
		if hit.Lines != (query.Span{}) {
			place = fmt.Sprintf(" --lines %d-%d", hit.Lines.From, hit.Lines.To)
		}
		title := markdown.Clip(oneLine(hit.Title), 80)
		lines = append(lines, fmt.Sprintf("filebus get %s%s: %s", record.ShellWord(hit.Name.String()), place, title))
	}
	return lines, err
}
