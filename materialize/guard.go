package materialize

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"filebus/materialize/layout"
	"filebus/materialize/plan"
	"filebus/materialize/secrets"
	"filebus/store/record"
)

// A Secret is one that was found in what was to be stored.
type Secret struct {
	secrets.Match
	Name  string `json:"name"`            // whose text has it; of a file its path
	Taken bool   `json:"taken,omitempty"` // out of the text, before it was stored
	File  bool   `json:"-"`               // it stands in a file on disk, too
}

// ErrSecret says that a text has secrets, and is not stored.
const ErrSecret record.Reason = "secrets in the text"

// A guard remembers the secrets that were found in a workspace.
type guard struct {
	mu    sync.Mutex
	found []Secret
	count int
}

// Secrets returns the secrets that were found since the workspace was opened, the first of
// them, and how many there are.
func (w *Workspace) Secrets() ([]Secret, int) {
	w.guard.mu.Lock()
	defer w.guard.mu.Unlock()
	return slices.Clone(w.guard.found), w.guard.count
}

// note remembers findings. An edit that is made again finds the same.
func (g *guard) note(is Secret, found []secrets.Match, count int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	const mostSecrets = 1000 // how many of the secrets that were found are remembered
	for _, f := range found {
		is.Match = f
		isKnown := func(s Secret) bool { return s.Match == f && s.Name == is.Name && s.Taken == is.Taken }
		if slices.ContainsFunc(g.found, isKnown) {
			count--
		} else if len(g.found) < mostSecrets {
			g.found = append(g.found, is)
		}
	}
	g.count += count
}

// secretMode returns what is done about secrets in a text: what the settings say. What
// nobody has looked at before loses them.
func (w *Workspace) secretMode(source record.Source) secrets.Mode {
	usual := secrets.Warn
	if source == "hook" || source == record.SourceTranscript {
		usual = secrets.Redact
	}
	return cmp.Or(w.Settings.Secrets, usual)
}

const redactHint = "run it again with --secrets redact"

// refuse is the error of a text that has secrets.
func refuse(name, hint string, found []secrets.Match) error {
	return record.Wanting.Errorf("%s has a secret: %s in line %d; it was not stored", name, found[0].Rule, found[0].Line).
		Because(ErrSecret).Try(hint)
}

// guarded returns what may be stored of a text. What stands in the old text, too, is left.
func (w *Workspace) guarded(name string, mode secrets.Mode, text, old []byte) ([]byte, error) {
	if mode == secrets.Off {
		return text, nil
	}
	found := slices.DeleteFunc(secrets.Scan(text), func(f secrets.Match) bool {
		return bytes.Contains(old, text[f.Start:f.End])
	})
	if len(found) > 0 && mode == secrets.Refuse {
		return nil, refuse(name, redactHint, found)
	}
	if mode == secrets.Redact {
		text = secrets.Take(text, found)
	}
	w.guard.note(Secret{Name: name, Taken: mode == secrets.Redact}, found, len(found))
	return text, nil
}

// guardFacts is guarded for what is said of a text. Its name is never changed.
func (w *Workspace) guardFacts(name string, mode secrets.Mode, f *layout.Facts) error {
	if inName := secrets.Scan([]byte(name)); len(inName) > 0 && (mode == secrets.Redact || mode == secrets.Refuse) {
		return refuse("the name", "give it another name", inName)
	}
	f.Tags = slices.Clone(f.Tags)
	all := []*string{&f.Title, &f.Summary, &f.Agent, &f.Conversation, &f.Session, &f.Run, &f.Task, &f.Status}
	for i := range f.Tags {
		all = append(all, &f.Tags[i])
	}
	for _, fact := range all {
		text, err := w.guarded("what is said of "+name, mode, []byte(*fact), nil)
		if err != nil {
			return err
		}
		*fact = string(text)
	}
	return nil
}

// guardFile looks for secrets in a file that is to be stored. Its text is never changed.
func (w *Workspace) guardFile(f *plan.File) error {
	mode := w.secretMode(f.Source)
	if mode == secrets.Off {
		return nil
	}
	if f.Body.Size == 0 {
		f.Secrets = secrets.Scan(f.Text)
		f.SecretCount = len(f.Secrets)
	}
	if len(f.Secrets) > 0 && mode == secrets.Refuse {
		return errors.Join(refuse("it", "take the secret out of the file", f.Secrets), f.Body.Discard())
	}
	name := f.Path // which a file of entries is known by
	if f.Location.Kind != record.KindFrame {
		name = record.Name{Tree: f.Tree, Kind: f.Location.Kind, ID: f.Location.ID}.String()
	}
	w.guard.note(Secret{Name: name, File: true}, f.Secrets, f.SecretCount)
	return nil
}

// prepare prepares the text of a request, without secrets if it is to have none.
func (w *Workspace) prepare(ctx context.Context, r *PutRequest) (text plan.Content, err error) {
	name, mode := "the text", cmp.Or(r.Secrets, w.secretMode(r.Source))
	if r.ID != "" {
		name = record.Name{Kind: r.Kind, ID: r.ID}.String()
	}
	if r.Secrets = mode; mode == secrets.Off {
		return prepareStream(ctx, w.Store, r.Text)
	}
	err = w.guardFacts(name, mode, &r.Facts)
	about := secrets.Scan(r.About)
	if err == nil && len(about) > 0 && mode != secrets.Warn {
		err = refuse(name, "run it again with the text that filebus put --secrets redact makes of it", about)
	}
	if err != nil {
		return text, err
	}
	from := secrets.NewReader(r.Text, mode == secrets.Redact)
	if text, err = prepareStream(ctx, w.Store, from); err != nil {
		return text, err
	}
	if from.Count > 0 && mode == secrets.Refuse {
		return text, errors.Join(refuse(name, redactHint, from.Found), text.Body.Discard())
	}
	text.Secrets, text.SecretCount = append(about, from.Found...), len(about)+from.Count
	return text, nil
}
