package dialogue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/mirror"
	"filebus/store"
	"filebus/store/record"
)

// The longest texts of a new dialogue, in bytes. Agents are told the question, and
// what is long is a file for them to read.
const (
	MaxTitle    = 500
	MaxQuestion = 16 << 10
)

// lastNumber is the highest number that tells a slug from others.
const lastNumber = 99

// A NewRequest says what a dialogue is about and who takes part.
type NewRequest struct {
	Title    string
	Slug     string // default: made from the title
	Question string // default: the title
	Judge    string
	Agents   []string          // their names, in any case
	Roles    map[string]string // by the names of agents, in any case
}

// A Made is a dialogue that was made.
type Made struct {
	Key    Key             `json:"dialogue"`
	Folder string          `json:"folder"` // absolute
	Round  string          `json:"round"`  // the folder of round 0, absolute
	Pool   record.Name     `json:"pool"`
	Ref    record.ShortRef `json:"ref"` // of the expert pool
	Agents []string        `json:"agents"`
}

// New makes a dialogue: its expert pool, and the folder of round 0. Where the slug is
// taken, it gets the first free number from 1 to 99; many processes may make the same
// one at once. It returns ErrRequest, ErrTwice, ErrName or ErrSlug for what cannot be,
// ErrSlugTaken, or mirror.ErrLink if somebody has put a symbolic link where the
// dialogue's folder would be.
func (f *Forum) New(ctx context.Context, r NewRequest) (*Made, error) {
	pool, err := f.newPool(r)
	if err != nil {
		return nil, err
	}
	slug := r.Slug
	if slug == "" {
		slug, err = SlugOf(pool.Title)
	}
	if err == nil {
		err = CheckSlug(slug)
	}
	if err != nil {
		return nil, err
	}
	text, err := layout.AppendPool(nil, pool)
	if err != nil {
		return nil, err
	}
	for n := range lastNumber + 1 {
		made := &Made{Key: Key{ID: slug}, Agents: names(pool.Experts)}
		if n > 0 {
			made.Key.ID = fmt.Sprintf("%s-%d", slug, n)
		}
		claimed, err := f.claim(ctx, made, text)
		if err != nil || claimed {
			return made, err
		}
	}
	taken := record.Conflict.Errorf("%s is taken, and so are %s-1 to %s-%d", slug, slug, slug, lastNumber)
	return nil, taken.Because(ErrSlugTaken)
}

// newPool returns the expert pool that a request describes.
func (f *Forum) newPool(r NewRequest) (layout.Pool, error) {
	pool := layout.Pool{
		Title: strings.Join(strings.Fields(r.Title), " "), Question: strings.TrimSpace(r.Question), Created: f.now().UTC().Truncate(time.Second),
	}
	switch {
	case pool.Title == "":
		return pool, refuse(ErrRequest, "the title is empty")
	case !utf8.ValidString(r.Title) || !utf8.ValidString(r.Question):
		return pool, refuse(ErrRequest, "the title and the question are text in UTF-8")
	case len(pool.Title) > MaxTitle:
		const text = "the title has %d bytes, more than %d: what is long belongs into the question"
		return pool, refuse(ErrRequest, text, len(pool.Title), MaxTitle)
	case len(pool.Question) > MaxQuestion:
		const text = "the question has %d bytes, more than %d: put it into a file, and name the file"
		return pool, refuse(ErrRequest, text, len(pool.Question), MaxQuestion)
	case len(r.Agents) == 0:
		return pool, refuse(ErrRequest, "a dialogue has at least one agent")
	}
	var err error
	if pool.Experts, err = newExperts(r); err != nil || r.Judge == "" {
		return pool, err
	}
	if pool.Judge, err = FoldName(r.Judge); err != nil {
		return pool, err
	}
	if isAmong(pool.Experts, pool.Judge) {
		err = refuse(ErrRequest, "%s cannot judge a dialogue and take part in it", pool.Judge)
	}
	return pool, err
}

// newExperts returns the experts that a request names.
func newExperts(r NewRequest) ([]layout.Expert, error) {
	roles := make(map[string]string)
	for text, role := range r.Roles {
		name, err := FoldName(text)
		if err != nil {
			return nil, err
		}
		if _, twice := roles[name]; twice {
			return nil, refuse(ErrRequest, "%s has two roles", name)
		}
		roles[name] = strings.Join(strings.Fields(role), " ")
	}
	var experts []layout.Expert
	for _, text := range r.Agents {
		name, err := FoldName(text)
		if err != nil {
			return nil, err
		}
		if isAmong(experts, name) {
			return nil, refuse(ErrTwice, "%s is among the agents twice", name)
		}
		experts = append(experts, layout.Expert{Name: name, Label: Label(name), Role: roles[name]})
		delete(roles, name)
	}
	for name := range roles {
		return nil, refuse(ErrRequest, "%s has a role and is not among the agents", name)
	}
	return experts, nil
}

// claim makes a dialogue if its slug is free, and reports whether it was.
func (f *Forum) claim(ctx context.Context, made *Made, text []byte) (bool, error) {
	made.Pool = fileName(made.Key, PoolFile)
	file, err := f.w.PathOf(made.Pool)
	if err != nil {
		return false, err
	}
	made.Folder = filepath.Dir(file)
	if taken, err := isTaken(made.Folder); taken || err != nil {
		return false, err
	}
	put, err := f.w.Put(ctx, materialize.PutRequest{
		Kind: made.Pool.Kind, ID: made.Pool.ID, Text: bytes.NewReader(text), Source: record.SourcePut,
		Expect: store.Absent(),
	})
	if conflict := (*store.ConflictError)(nil); errors.As(err, &conflict) {
		return false, nil // another process was faster
	}
	if err != nil {
		if _, wayErr := f.w.MakeFolder(ctx, made.Pool); wayErr != nil { // it names a link on the way
			err = wayErr
		}
		return false, err
	}
	made.Ref = record.ShortRef(put.Ref)
	made.Round, err = f.makeRound(ctx, made.Key, 0)
	return true, err
}

// isTaken reports whether something stands where the folder of a dialogue would be.
func isTaken(folder string) (bool, error) {
	info, err := os.Lstat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("looking at %s: %w", folder, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return false, mirror.LinkInTheWay(folder)
	}
	return true, nil
}
