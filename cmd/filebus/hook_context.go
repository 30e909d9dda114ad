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

// context returns the answer that tells a session what the store knows, in 1,000 bytes: 250 tokens.
func (h *hooked) context(ctx context.Context) (hook.Answer, error) {
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
	if err != nil || len(lines) == 0 {
		return nil, err
	}
	h.said.What = h.event.Name
	return h.event.Tell("additionalContext", strings.Join(lines, "\n")), nil
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
	request.Limit = 4
	answer, err := w.read.Search(ctx, request)
	for _, hit := range answer.Hits {
		place := record.ShellWord(hit.Name.String())
		if hit.Lines != (query.Span{}) {
			place += " --lines " + hit.Lines.String()
		}
		lines = append(lines, shortened(fmt.Sprintf("filebus get %s: %s", place, oneLine(hit.Title)), 240))
	}
	return lines, err
}
