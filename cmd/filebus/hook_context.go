package main

import (
	"context"
	"fmt"
	"strings"

	"filebus/cmd/filebus/hook"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// maxTold is how much a session is told, in bytes: 250 tokens.
const maxTold = 1000

// context returns the answer that tells a session what the store knows.
func (h *hooked) context(ctx context.Context) ([]byte, error) {
	w, err := h.open(ctx)
	if err != nil {
		return nil, err
	}
	var lines []string
	if h.event.Name == hook.UserPromptSubmit {
		lines, err = w.promptLines(ctx, h.event.Prompt)
	} else {
		h.forget()
		lines, err = w.startLines(ctx, h.mode.Refers())
	}
	text := ""
	for _, line := range lines {
		if len(text)+len(line) < maxTold {
			text += line + "\n"
		}
	}
	if err != nil || text == "" {
		return nil, err
	}
	h.said.What = h.name
	return h.event.Context(strings.TrimSpace(text)), nil
}

// startLines say what there is and how to ask for it, what matters most first. They state facts: what sounds
// like an order may be taken for one from outside.
func (w *workspace) startLines(ctx context.Context, refers bool) ([]string, error) {
	kinds, err := w.read.Values(ctx, store.FieldKind, "")
	if err != nil || len(kinds) == 0 {
		return nil, err
	}
	counts := markdown.Each(kinds, func(v store.Value) string { return fmt.Sprint(v.Count, " ", v.Text) })
	lines := []string{
		"filebus keeps what agents have found and written in this project, as records by kind: " + strings.Join(counts, ", ") + ".",
		"filebus search WORDS finds passages in all of it; filebus get NAME --lines A-B reads one; filebus show NAME lists sections.",
		"filebus put FILE keeps a text, filebus knowledge add a finding; filebus guide says more.",
	}
	if refers {
		lines = append(lines, "Reports of sub-agents arrive as references: filebus get REF prints the whole text, as does the result_file.")
	}
	return lines, nil
}

// promptLines are what is found for a prompt. Without anything nothing is said.
func (w *workspace) promptLines(ctx context.Context, prompt string) (lines []string, err error) {
	const longest = 2000 // what stands behind is seldom what it is about
	request := query.SearchRequest{IndexedOnly: true}
	request.Literal(markdown.Clip(prompt, longest))
	request.Limit = 5
	answer, err := w.read.Search(ctx, request)
	for _, hit := range answer.Hits {
		place := record.ShellWord(hit.Name.String())
		if hit.Lines != (query.Span{}) {
			place += " --lines " + hit.Lines.String()
		}
		lines = append(lines, fmt.Sprintf("filebus get %s: %s", place, markdown.Clip(oneLine(hit.Title), 80)))
	}
	return lines, err
}
