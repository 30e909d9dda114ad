package dialogue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/mirror"
	"filebus/materialize/secrets"
	"filebus/store"
	"filebus/store/record"
)

// The longest texts of a new dialogue, in bytes. Agents are told the question, and
// what is long is a file for them to read.
const (
	maxTitle    = 500
	maxQuestion = 16 << 10
)

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

// What helps where a request or a slug makes no dialogue.
const (
	tryNew  = "filebus dialogue new --help"
	trySlug = "run it again with --slug NAME, in lower-case letters, digits and hyphens"
)

// lease is how long a slug is its machine's, where somebody decides between machines.
const lease = 365 * 24 * time.Hour

// New makes a dialogue: its expert pool, and the folder of round 0. Where the slug is
// taken, it gets the first free number from 1 to 99, and what is not as it was asked for
// has the lane of the store behind it; many processes may make the same one at once. It returns mirror.ErrLink if somebody has put a symbolic link where the
// dialogue's folder would be.
func (f *Dialogues) New(ctx context.Context, r NewRequest) (*Made, error) {
	pool, err := f.newPool(r)
	if err != nil {
		return nil, err
	}
	slug := r.Slug
	if slug == "" {
		slug, err = slugOf(secrets.Text(pool.Title))
	}
	if err == nil {
		err = checkSlug(slug)
	}
	if err != nil {
		return nil, err
	}
	text := layout.AppendJSON(nil, pool)
	folder := slug
	if f.w.Settings.Profile.Name == "blue" { // as its other programs name them
		folder = pool.Created.Format("2006-01-02T1504Z-") + slug
	}
	lane, err := f.w.Lane(ctx)
	if err != nil {
		return nil, err
	}
	const lastNumber = 99 // the highest that tells a slug from others
	for n := range lastNumber + 1 {
		made := &Made{Key: Key{ID: folder}, Agents: names(pool.Experts)}
		if n > 0 {
			made.Key.ID = fmt.Sprintf("%s-%d", folder, n)
		}
		if n > 0 || r.Slug == "" { // nobody has asked for it
			made.Key.ID = layout.WithLane(made.Key.ID, lane)
		} else if _, err := f.w.Claim(ctx, record.Name{Kind: record.KindDialogue, ID: made.Key.ID}, lease); errors.Is(err, materialize.ErrElsewhere) {
			continue
		} else if err != nil {
			return nil, err
		}
		claimed, err := f.claim(ctx, made, text)
		if err != nil || claimed {
			return made, err
		}
	}
	taken := record.Conflict.Errorf("%s is taken, and so are %s-1 to %s-%d", folder, folder, folder, lastNumber)
	return nil, taken.Try("run it again with --slug NAME")
}

// newPool returns the expert pool that a request describes.
func (f *Dialogues) newPool(r NewRequest) (layout.Pool, error) {
	pool := layout.Pool{
		Title: strings.Join(strings.Fields(r.Title), " "), Question: strings.TrimSpace(r.Question), Created: f.now().UTC().Truncate(time.Second),
	}
	const long = "the %s has %d bytes, more than %d: %s"
	why := faultOf([]fault{
		{pool.Title == "", "the title is empty"},
		{!utf8.ValidString(r.Title) || !utf8.ValidString(r.Question), "the title and the question are text in UTF-8"},
		{len(pool.Title) > maxTitle,
			fmt.Sprintf(long, "title", len(pool.Title), maxTitle, "put long text into the question")},
		{len(pool.Question) > maxQuestion,
			fmt.Sprintf(long, "question", len(pool.Question), maxQuestion, "put it into a file, and name the file")},
		{len(r.Agents) == 0, "a dialogue has at least one agent"},
	})
	if why != "" {
		return pool, refuse(tryNew, "%s", why)
	}
	var err error
	if pool.Experts, err = newExperts(r); err != nil || r.Judge == "" {
		return pool, err
	}
	if pool.Judge, err = FoldName(r.Judge); err != nil {
		return pool, err
	}
	if isAmong(pool.Experts, pool.Judge) {
		err = refuse(tryNew, "%s cannot judge a dialogue and take part in it", pool.Judge)
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
			return nil, refuse(tryNew, "%s has two roles", name)
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
			return nil, refuse("", "%s is among the agents twice", name)
		}
		experts = append(experts, layout.Expert{Name: name, Label: labelOf(name), Role: roles[name]})
		delete(roles, name)
	}
	for _, name := range slices.Sorted(maps.Keys(roles)) {
		return nil, refuse(tryNew, "%s has a role and is not among the agents", name)
	}
	return experts, nil
}

// claim makes a dialogue if its slug is free, and reports whether it was.
func (f *Dialogues) claim(ctx context.Context, made *Made, text []byte) (bool, error) {
	made.Pool = fileName(made.Key, poolFile)
	file, err := f.w.PathOf(made.Pool)
	if err != nil {
		return false, err
	}
	made.Folder = filepath.Dir(file)
	switch info, err := os.Lstat(made.Folder); {
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		return false, mirror.LinkInTheWay(made.Folder)
	case err == nil:
		return false, nil
	case !errors.Is(err, fs.ErrNotExist):
		return false, fmt.Errorf("looking at %s: %w", made.Folder, err)
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
		if errors.Is(err, mirror.ErrRootTaken) { // another project was faster
			err = nil
		}
		return false, err
	}
	made.Ref = record.ShortRef(put.Ref)
	made.Round, err = f.makeRound(ctx, made.Key, 0)
	return true, err
}

// maxSlug is the longest slug that is made from a title, in bytes, without the
// number that tells it from others.
const maxSlug = 80

// A fault is why a text is refused that has it.
type fault struct {
	isThere bool
	why     string
}

// faultOf returns why a text is refused, by the first fault that it has; "" for one without.
func faultOf(all []fault) string {
	at := slices.IndexFunc(all, func(f fault) bool { return f.isThere })
	if at < 0 {
		return ""
	}
	return all[at].why
}

// FoldName returns the name of an agent as its files have it: in lower case, one word
// of letters, digits, "-", "_" and ".". It refuses a text that is none,
// among them those whose file would be another one of the round.
func FoldName(text string) (string, error) {
	const maxName = 80 // bytes
	name := norm.NFC.String(strings.ToLower(strings.TrimSpace(text)))
	isWord := name != "" && utf8.ValidString(name) && len(name) <= maxName && !strings.ContainsFunc(name, isForeign)
	isOwn := name == strings.Trim(strings.TrimLeft(name, "-"), ".") // no option, no hidden file
	if !isWord || !isOwn || strings.HasSuffix(name, ".prompt") || strings.HasSuffix(name, ".md") {
		const why = "it becomes the name of a file: one word of at most %d bytes, of letters, digits, - _ and ., " +
			"that begins with none of - and . and ends with none of . .md and .prompt"
		return "", refuse("", "%q is no name of an agent: "+why, text, maxName)
	}
	return name, nil
}

// isForeign reports whether a character has no place in a name.
func isForeign(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.", r)
}

// Label returns what people call an agent: its name with a capital first letter.
func labelOf(name string) string {
	first, size := utf8.DecodeRuneInString(name)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + name[size:]
}

// slugOf makes a slug from a title: its words in lower-case ASCII, joined by hyphens,
// at most maxSlug bytes of whole words. Letters with accents lose them, letters of
// other alphabets are left out. It fails if nothing remains.
func slugOf(title string) (string, error) {
	slug := ""
	for _, word := range strings.Fields(plainLetters(title)) {
		longer := strings.TrimPrefix(slug+"-"+word, "-")
		if len(longer) > maxSlug {
			if slug == "" {
				slug = longer[:maxSlug] // one word
			}
			break
		}
		slug = longer
	}
	if slug == "" {
		return "", refuse(trySlug, "%q is no slug: %s", title, "it has no letters or digits that a slug can be made of")
	}
	return slug, nil
}

// plainLetters returns text with the letters and digits of ASCII alone and spaces
// for all that separates words. Apostrophes and accents separate nothing.
func plainLetters(text string) string {
	whole := strings.NewReplacer("æ", "ae", "đ", "d", "ð", "d", "ħ", "h", "ı", "i", "ŀ", "l", "ł", "l", "ŉ", "n", "ŋ", "n",
		"ø", "o", "œ", "oe", "ß", "ss", "þ", "th", "'", "", "’", "") // that have no accent to lose
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		case unicode.Is(unicode.Mn, r):
			return -1
		}
		return ' '
	}, whole.Replace(norm.NFD.String(strings.ToLower(text))))
}

// checkSlug returns an error if a text is no slug of the form that slugOf gives:
// lower-case letters, digits and hyphens between them, at most maxSlug bytes.
func checkSlug(slug string) error {
	if !slugForm().MatchString(slug) || len(slug) > maxSlug || slug == "docs" {
		const why = "it is a word of at most %d lower-case letters, digits and hyphens between them, and not docs"
		return refuse(trySlug, "%q is no slug: "+why, slug, maxSlug)
	}
	return nil
}

var slugForm = layout.Pattern(`^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$`)
