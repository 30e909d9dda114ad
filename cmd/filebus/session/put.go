package session

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/likeness"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// maxSummary is how many words a summary has at most: fewer than 200, as the ADR on
// file-based context sharing has it.
const maxSummary = 199

// linkSummary is the type of the link from an artifact to what says it in short.
const linkSummary = "summary"

// A PutRequest is an artifact to be stored.
type PutRequest struct {
	Artifact string // plan, plan.md or plan.json
	Agent    string
	Summary  string // of at most maxSummary words; "": the preview stands in
	Text     io.Reader
	Expect   store.Expect
}

var artifactWord = layout.Pattern(`^[\pL\pN][\pL\pM\pN._-]{0,99}$`)

// checkArtifact refuses names that are not safe in a path, and those of the files
// that have commands of their own.
func checkArtifact(name string) error {
	const what = "artifact"
	_, isSummary := layout.IsSummary(name)
	switch {
	case name == "":
		return noWord(what, name, "the name is empty: is the variable that holds it set?")
	case strings.Contains(name, "//"):
		return Unset(name)
	case name == layout.SessionMetaFile, name == layout.SessionLogFile:
		return noWord(what, name, "it is written by session start, session end and session log")
	case isSummary:
		return noWord(what, name, "a summary is given with the artifact that it is of")
	case !artifactWord().MatchString(name) || strings.HasSuffix(name, ".") ||
		device().MatchString(strings.ToLower(stem(name))):
		return noWord(what, name, "it is a name of at most 100 letters, digits, dots, - and _, without folders"+noDevice)
	}
	return nil
}

func stem(name string) string {
	name, _, _ = strings.Cut(name, ".")
	return name
}

// Put stores an artifact as the newest version of its name, with its file, and its
// summary beside it. A text that is empty, or a summary that is too long, is refused
// before anything is stored.
func (r *Sessions) Put(ctx context.Context, key Key, request PutRequest) (*materialize.PutResult, error) {
	if err := key.checkOwn(); err != nil {
		return nil, err
	}
	if isOwnFile(request.Artifact) {
		return nil, checkArtifact(request.Artifact)
	}
	summary := strings.Join(strings.Fields(request.Summary), " ")
	if n := markdown.Words([]byte(summary)); n > maxSummary {
		return nil, TooLong(n)
	}
	text := bufio.NewReader(request.Text)
	if _, err := text.Peek(1); errors.Is(err, io.EOF) {
		err := record.Wanting.Errorf("the text of %s is empty, so nothing was stored", request.Artifact)
		return nil, err.Try("run it again with a text")
	} else if err != nil {
		return nil, fmt.Errorf("reading the text of %s: %w", request.Artifact, err)
	}
	name, err := r.artifactName(ctx, key, request.Artifact)
	if err != nil {
		return nil, err
	}
	put := materialize.PutRequest{
		Kind: name.Kind, ID: name.ID, Text: text, Source: record.SourcePut, Expect: request.Expect,
		Facts: layout.Facts{Agent: layout.Slug(request.Agent)},
	}
	if summary == "" {
		return r.w.Put(ctx, put)
	}
	// The file of a summary must not speak of a text that is refused.
	if err := r.w.Store.View(ctx, func(tx *store.Tx) error { return tx.Meets(name, request.Expect) }); err != nil {
		return nil, err
	}
	ref, err := r.putSummary(ctx, name, request.Artifact, put.Facts.Agent, summary)
	if err != nil {
		return nil, err
	}
	put.Facts.Summary, put.Preview = summary, len(summary)
	put.Links = []record.Link{{Type: linkSummary, Target: ref.String()}}
	return r.w.Put(ctx, put)
}

// putSummary stores the summary of an artifact, in a file beside it. It counts for no
// version of the artifact until one links to it.
func (r *Sessions) putSummary(ctx context.Context, of record.Name, artifact, agent, summary string) (record.Ref, error) {
	p, err := r.w.Settings.Profile.Path(of.Kind, of.ID)
	if err != nil {
		return record.Ref{}, err
	}
	name, err := record.NewName("", record.KindArtifact, r.w.Settings.Profile.Recognize(layout.SummaryPath(p)).ID)
	if err != nil {
		return record.Ref{}, err
	}
	put, err := r.w.Put(ctx, materialize.PutRequest{
		Kind: name.Kind, ID: name.ID, Text: strings.NewReader(summary + "\n"), Source: record.SourcePut,
		Facts: layout.Facts{Agent: agent, Title: "Summary of " + artifact},
	})
	if err != nil {
		return record.Ref{}, fmt.Errorf("storing the summary of %s: %w", of, err)
	}
	return put.Ref, nil
}

// artifactName returns the name of the artifact that is meant, and says where that may be another.
func (r *Sessions) artifactName(ctx context.Context, key Key, artifact string) (record.Name, error) {
	s, known, err := r.known(ctx, key)
	var t target
	if err == nil {
		t, err = r.targetNamed(s, known, artifact)
	}
	if err == nil && known[t.artifact].of == nil {
		t.also = append(t.also, slips(markdown.Each(s.meta.Asked, func(asked string) string { return nameOf(key, asked) }), t.artifact)...)
	}
	if err == nil && t.artifact != nameOf(key, artifact) {
		r.Say("%s is called %s in %s", artifact, t.artifact, key)
	}
	if err == nil && len(t.also) > 0 {
		r.Say("%s has %s beside %s", key, strings.Join(t.also, ", "), t.artifact)
	}
	return t.name, err
}

// slips returns the names that somebody may have meant who wrote another.
func slips(names []string, other string) []string {
	want, _ := spelled(other)
	return slices.DeleteFunc(names, func(name string) bool {
		words, _ := spelled(name)
		return words == want || !likeness.IsMeant(words, want) || !likeness.IsSlip(words, want)
	})
}

// targetNamed returns the artifact that a name means, and others with it in another form: the one of that name, else
// the only one that has it in other cases, with other signs between words or behind a number, else one to be made.
func (r *Sessions) targetNamed(s *Session, known map[string]target, artifact string) (t target, err error) {
	want := nameOf(s.Key, artifact)
	words, extension := spelled(want)
	t, found := known[want]
	var near, also []string
	for _, have := range slices.Sorted(maps.Keys(known)) {
		w, e := spelled(have)
		if w != words || have == want {
			continue
		}
		also = append(also, have)
		if e == extension && !found && !numbered().MatchString(want) {
			near = append(near, have)
		}
	}
	if bare := slices.DeleteFunc(slices.Clone(near), numbered().MatchString); len(bare) == 1 {
		near = bare // some disks do not tell cases apart
	}
	if len(near) == 1 {
		t, also = known[near[0]], slices.DeleteFunc(also, func(name string) bool { return name == near[0] })
	} else if !found {
		if err = checkArtifact(artifact); err == nil || isOwnFile(artifact) {
			t = target{artifact: want, name: s.Key.file(artifact), of: s}
			t.file, err = r.w.PathOf(t.name)
		}
	}
	t.also = also
	return t, err
}

var numbered = layout.Pattern(`^(?:[0-9]+[-_. T]+)+(\pL)`)

// spelled returns the words of a name, however they are written and without the number or
// date before them, and what its file is called behind the dot.
func spelled(name string) (words, extension string) {
	dir, base := path.Split(name)
	if hasExtension(base) {
		extension = path.Ext(base)
	}
	base = numbered().ReplaceAllString(strings.TrimSuffix(base, extension), "$1")
	return dir + layout.Slug(base), cmp.Or(extension, ".md")
}

// nameOf returns what an artifact is called that a user has named with its extension
// or without.
func nameOf(key Key, artifact string) string {
	folder, file := path.Split(artifact)
	return folder + path.Base(layout.ArtifactID(key.Type, key.ID, file))
}

// Path returns the file, absolute, that an artifact has or would have, and makes the
// folder that it lies in; without an artifact it returns the folder.
func (r *Sessions) Path(ctx context.Context, key Key, artifact ...string) (string, error) {
	if err := key.checkOwn(); err != nil {
		return "", err
	}
	name := key.file(layout.SessionMetaFile)
	if len(artifact) > 0 {
		var err error
		if name, err = r.artifactName(ctx, key, artifact[0]); err != nil {
			return "", err
		}
	}
	folder, err := r.w.MakeFolder(ctx, name)
	if err != nil || len(artifact) == 0 {
		return folder, err
	}
	return r.w.PathOf(name)
}

// A Summary says in short what is in an artifact.
type Summary struct {
	Artifact string `json:"artifact"`
	Agent    string `json:"agent,omitempty"`
	Text     string `json:"summary"` // one line of at most maxSummary words
	Words    int    `json:"words"`   // of all of it, also where the text is cut
	Cut      bool   `json:"-"`       // it has more words than a summary may have
	Given    bool   `json:"given"`   // by who wrote the artifact; else it is its preview
}

// Summaries returns what the artifacts of a session say in short. One that is too
// long, as an agent's hand may have written it, is cut.
func (r *Sessions) Summaries(ctx context.Context, s *Session) (all []Summary, err error) {
	for _, a := range s.Artifacts {
		short := Summary{Artifact: a.Name, Agent: a.Agent}
		if short.Text, short.Given, err = r.summaryOf(ctx, s, a); err != nil {
			return nil, err
		}
		if !short.Given {
			short.Text = a.Preview
		}
		words := strings.Fields(short.Text)
		short.Words = len(words)
		if short.Cut = len(words) > maxSummary; short.Cut {
			words = append(words[:maxSummary:maxSummary], "…")
		}
		short.Text = cmp.Or(strings.Join(words, " "), markdown.Clip(a.Title, maxShown))
		all = append(all, short)
	}
	return all, nil
}

// summaryOf returns the summary of an artifact's newest version: one that a hand has
// written since, or else the one that it was stored with.
func (r *Sessions) summaryOf(ctx context.Context, s *Session, a Artifact) (text string, found bool, err error) {
	v, byHand := s.summaries[a.Name]
	if !byHand || v.Record.Source == record.SourcePut || v.Position < a.Version.Position {
		err = r.w.Store.View(ctx, func(tx *store.Tx) error {
			for _, l := range a.Version.Record.Links {
				if ref, err := record.ParseRef(l.Target); err == nil && l.Type == linkSummary {
					v, err = tx.Get(ref)
					return err
				}
			}
			return store.ErrNotFound
		})
	}
	if err == nil {
		var body []byte
		body, err = r.w.TextOf(ctx, v)
		text = string(body)
	}
	if query.IsAbsent(err) {
		return "", false, nil
	}
	return text, true, err
}
