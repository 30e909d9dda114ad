package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"filebus/cmd/filebus/hook"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/secrets"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// A config is a workspace's configuration, .filebus/config.toml. It is described
// in docs/config.md. Nothing in it is needed.
type config struct {
	Profile string         `toml:"profile" json:"-"`                 // claude, seed, orchestrator or blue
	Root    string         `toml:"root" json:"-"`                    // a folder of the workspace in place of a profile
	Notes   []string       `toml:"notes" json:"notes"`               // folders that are synced as notes
	Kinds   layout.Folders `toml:"kinds" json:"kinds,omitempty"`     // what the texts of folders are
	Preview int            `toml:"preview" json:"preview"`           // the longest preview, in characters
	PDFDir  string         `toml:"pdf_dir" json:"pdf_dir,omitempty"` // where pdf writes; empty: the working directory
	Private bool           `toml:"private" json:"-"`                 // not searched from elsewhere
	Secrets string         `toml:"secrets" json:"secrets,omitempty"` // what is done about secrets in texts

	Agents []string `toml:"agents" json:"agents,omitempty"` // further folders of agents: packages/web/.claude

	Hooks     hook.Settings   `toml:"hooks" json:"hooks,omitzero"`
	Retention retentionConfig `toml:"retention" json:"retention"`
	Trees     struct {
		Auto bool `toml:"auto" json:"auto"` // reading commands refresh captured trees
	} `toml:"trees" json:"-"`
}

// A retentionConfig says what is given up when a session ends.
type retentionConfig struct {
	Sessions   int    `toml:"sessions" json:"sessions"`                 // the newest of each type that stay; 0: all
	SessionAge string `toml:"session_age" json:"session_age,omitempty"` // only older ones go: 30d
}

const (
	configFile = "config.toml"
	maxConfig  = 1 << 20 // in bytes
)

// errConfig says that a configuration cannot be used.
const errConfig record.Reason = "configuration wrong"

// readConfig reads the configuration of a store; a missing file is an empty one.
func readConfig(dir string) (c config, err error) {
	own := folder.At(dir)
	text, err := own.ReadUpTo(configFile, maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		err = c.parse(string(text))
	}
	file, known := own.Path(configFile), (*record.Error)(nil)
	switch {
	case err == nil:
		return c, nil
	case errors.Is(err, fs.ErrPermission): // as the whole store, perhaps
		return c, fmt.Errorf("reading %s: %w", file, err)
	case errors.As(err, &known): // it says what helps
		return c, known.Code.Errorf("reading %s: %w", file, err).Because(errConfig).Try(known.Hint, known.Names...)
	}
	return c, record.Failed.Errorf("reading %s: %w", file, err).Because(errConfig).
		Try("edit {1}, or mv {1} {2}", file, own.Path(own.Free(configFile+".damaged")))
}

func (c *config) parse(text string) error {
	meta, err := toml.Decode(text, c)
	switch unknown := meta.Undecoded(); {
	case err != nil:
		return err
	case len(unknown) > 0:
		return fmt.Errorf("unknown setting %q; see filebus config --help", unknown[0])
	case c.Preview < 0 || c.Preview > 10000:
		return fmt.Errorf("preview is %d; it is a number of characters from 1 to 10000", c.Preview)
	}
	if _, err := secrets.ParseMode(c.Secrets); err != nil {
		return err
	}
	if _, err := c.profile(); err != nil {
		return err
	}
	for _, folders := range [][]string{c.Notes, c.Agents} {
		for i, folder := range folders {
			if !mayHoldFiles(folder) {
				return fmt.Errorf("%q is not a folder below the workspace, outside of .git and .filebus; name one such as docs", folder)
			}
			folders[i] = filepath.ToSlash(filepath.Clean(folder))
		}
	}
	return cmp.Or(c.Kinds.Check(), c.Retention.check(), c.Hooks.Check())
}

// check reports what is wrong with a retention.
func (r retentionConfig) check() error {
	if r.Sessions < 0 {
		return fmt.Errorf("retention.sessions is %d; it is how many sessions of each type stay", r.Sessions)
	}
	_, err := r.before(time.Time{})
	return err
}

// before returns the time before which a session must have changed last to go, zero
// for any.
func (r retentionConfig) before(now time.Time) (time.Time, error) {
	if r.SessionAge == "" {
		return time.Time{}, nil
	}
	at, err := parseTime(r.SessionAge, now)
	if err != nil {
		return at, fmt.Errorf("retention.session_age is %q; it is an age such as 36h or 30d", r.SessionAge)
	}
	return at, nil
}

// String says what stays.
func (r retentionConfig) String() string {
	text := "all sessions"
	if r.Sessions > 0 {
		text = fmt.Sprintf("the newest %d sessions of each type", r.Sessions)
	}
	if r.SessionAge == "" {
		return text
	}
	if r.Sessions == 0 {
		return "sessions of the last " + r.SessionAge
	}
	return text + ", and those of the last " + r.SessionAge
}

// mayHoldFiles reports whether a folder lies below the workspace, and outside of
// what belongs to git and to the store itself.
func mayHoldFiles(folder string) bool {
	clean := filepath.ToSlash(filepath.Clean(folder))
	return filepath.IsLocal(folder) && clean != "." && !strings.HasPrefix(clean+"/", "~/") && !slices.ContainsFunc(strings.Split(clean, "/"), materialize.IsProtected)
}

func (c config) profile() (layout.Profile, error) {
	switch {
	case c.Root != "" && c.Profile != "":
		return layout.Profile{}, errors.New("configuration: profile and root exclude each other")
	case c.Root != "":
		if !mayHoldFiles(c.Root) {
			return layout.Profile{}, fmt.Errorf("configuration: the root %q is not a folder below the workspace, outside of .git and .filebus", c.Root)
		}
		return layout.ProfileBelow(filepath.ToSlash(filepath.Clean(c.Root))), nil
	case c.Profile != "":
		return layout.ParseProfile(c.Profile)
	}
	return layout.Claude(), nil
}

// settings reads what the workspace at a location is configured to, if its store is
// trusted: every command that opens a store comes by here.
func (e *environ) settings(at materialize.Location) (materialize.Settings, error) {
	c, err := e.config(at)
	if err != nil {
		return materialize.Settings{}, err
	}
	settings, err := c.settings(e)
	settings.Profile.Own = e.conventions(at)
	return settings, err
}

// settings returns what a configuration says to the workspace.
func (c config) settings(e *environ) (materialize.Settings, error) {
	profile, err := c.profile()
	return materialize.Settings{
		Profile: profile, NoteFolders: c.Notes, Kinds: c.Kinds, Home: e.home(), Preview: c.Preview, Variables: e.variables,
		AutoRefresh:  c.Trees.Auto,
		Secrets:      secrets.Mode(cmp.Or(e.global.secrets, c.Secrets)),
		AgentFolders: c.Agents,
	}, err
}

// configView is what config prints. Of the configuration itself the names of profile and
// root are not shown: the profile that they give is.
type configView struct {
	Store     string         `json:"store"`
	Exists    bool           `json:"exists"`
	Workspace string         `json:"workspace"`
	Root      string         `json:"root"`
	Config    string         `json:"config"`
	Profile   layout.Profile `json:"profile"` // where new files go
	config
}

// here returns where the store is, or would be, with its configuration.
func (e *environ) here() (at materialize.Location, c config, exists bool, err error) {
	if at, err = e.locate(); err == nil || errors.Is(err, store.ErrNoStore) {
		exists = err == nil
		c, err = e.config(at)
	}
	return at, c, exists, err
}

func runConfig(_ context.Context, w *workspace, _ []string) error {
	at, c, exists, err := w.here()
	if err != nil {
		return err
	}
	v, err := c.view(at, exists)
	if err != nil {
		return err
	}
	if w.global.json {
		return w.printJSON(v)
	}
	w.printConfig(v)
	return nil
}

// view returns what there is to say of the configuration of a workspace.
func (c config) view(at materialize.Location, exists bool) (configView, error) {
	profile, err := c.profile()
	c.Preview = cmp.Or(c.Preview, materialize.DefaultPreview)
	return configView{at.Store, exists, at.Main, at.Root, filepath.Join(at.Store, configFile), profile, c}, err
}

func (w *workspace) printConfig(v configView) {
	missing, worktree, retention := "", "", ""
	if !v.Exists {
		missing = " (not made yet)"
	}
	if v.Root != v.Workspace {
		worktree = v.Root
	}
	if v.Retention != (retentionConfig{}) {
		retention = v.Retention.String()
	}
	p := v.Profile
	for _, row := range [][2]string{
		{"store", v.Store + missing}, {"workspace", v.Workspace}, {"worktree", worktree}, {"config", v.Config},
		{"profile", p.Name}, {"results", p.Results}, {"markers", p.Markers}, {"dialogues", p.Dialogues},
		{"sessions", p.Sessions}, {"others", p.Root}, {"notes", strings.Join(v.Notes, " ")},
		{"knowledge", strings.Join(slices.Sorted(maps.Keys(v.Kinds)), " ")},
		{"preview", fmt.Sprint(v.Preview, " characters")}, {"pdf_dir", v.PDFDir}, {"retention", retention}, {"secrets", v.Secrets},
		{"agents", strings.Join(v.Agents, " ")}, {"hooks", v.Hooks.Mode},
	} {
		if row[1] != "" || row[0] == "notes" {
			w.printf("%-10s %s\n", row[0], oneLine(row[1]))
		}
	}
}
