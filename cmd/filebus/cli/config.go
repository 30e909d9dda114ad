package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/BurntSushi/toml"

	"filebus/cmd/filebus/hook"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/secrets"
	"filebus/store/folder"
	"filebus/store/record"
)

// A Configuration is a workspace's configuration, .filebus/config.toml. It is described
// in docs/config.md. Nothing in it is needed.
type Configuration struct {
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
	Retention RetentionConfig `toml:"retention" json:"retention"`
	Knowledge struct {
		Review bool `toml:"review" json:"review"` // what comes in is proposed until somebody accepts it
	} `toml:"knowledge" json:"knowledge,omitzero"`
	Trees struct {
		Auto bool `toml:"auto" json:"auto"` // reading commands refresh captured trees
	} `toml:"trees" json:"-"`
}

// A RetentionConfig says what is given up when a session ends.
type RetentionConfig struct {
	Sessions   int    `toml:"sessions" json:"sessions"`                 // the newest of each type that stay; 0: all
	SessionAge string `toml:"session_age" json:"session_age,omitempty"` // only older ones go: 30d
}

const (
	// ConfigFile is the name of a configuration below its store.
	ConfigFile = "config.toml"
	MaxConfig  = 1 << 20 // in bytes
)

// ErrConfig says that a configuration cannot be used.
const ErrConfig record.Reason = "configuration wrong"

// ReadConfig reads the configuration of a store; a missing file is an empty one.
func ReadConfig(dir string) (c Configuration, err error) {
	own := folder.At(dir)
	text, err := own.ReadUpTo(ConfigFile, MaxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		err = c.Parse(string(text))
	}
	return c, configError(own, err)
}

// configError says what helps where a configuration cannot be read.
func configError(own folder.Folder, err error) error {
	file, known := own.Path(ConfigFile), (*record.Error)(nil)
	wrong := record.Failed.Errorf("reading %s: %w", file, err).Because(ErrConfig)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrPermission): // as the whole store, perhaps
		return fmt.Errorf("reading %s: %w", file, err)
	case errors.As(err, &known): // it says what helps
		return known.Code.Errorf("reading %s: %w", file, err).Because(ErrConfig).Try(known.Hint, known.Names...)
	case errors.Is(err, syscall.EIO): // nothing is wrong with its text
		return wrong.Try("look at the disk of {1}, then run it again", file)
	}
	return wrong.Try("edit {1}, or mv {1} {2}", file, own.Path(own.Free(ConfigFile+".damaged")))
}

// Parse reads the text of a configuration, and checks it.
func (c *Configuration) Parse(text string) error {
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
	if _, err := c.ChosenProfile(); err != nil {
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
func (r RetentionConfig) check() error {
	if r.Sessions < 0 {
		return fmt.Errorf("retention.sessions is %d; it is the number of sessions of each type that are kept", r.Sessions)
	}
	_, err := r.Before(time.Time{})
	return err
}

// Before returns the time before which a session must have changed last to go, zero
// for any.
func (r RetentionConfig) Before(now time.Time) (time.Time, error) {
	if r.SessionAge == "" {
		return time.Time{}, nil
	}
	at, err := ParseTime(r.SessionAge, now)
	if err != nil {
		return at, fmt.Errorf("retention.session_age is %q; it is an age such as 36h or 30d", r.SessionAge)
	}
	return at, nil
}

// String says what stays.
func (r RetentionConfig) String() string {
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

// ChosenProfile returns where new files go.
func (c Configuration) ChosenProfile() (layout.Profile, error) {
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

// SettingsAt reads what the workspace at a location is configured to, if its store is
// trusted: every command that opens a store comes by here.
func (e *Environ) SettingsAt(at materialize.Location) (materialize.Settings, error) {
	c, err := e.Config(at)
	if err != nil {
		return materialize.Settings{}, err
	}
	settings, err := c.Settings(e)
	settings.Profile.Own = e.conventions(at)
	return settings, err
}

// Settings returns what a configuration says to the workspace.
func (c Configuration) Settings(e *Environ) (materialize.Settings, error) {
	profile, err := c.ChosenProfile()
	return materialize.Settings{
		Profile: profile, NoteFolders: c.Notes, Kinds: c.Kinds, Home: e.Home(), Preview: c.Preview, Review: c.Knowledge.Review, Variables: e.Variables,
		AutoRefresh:  c.Trees.Auto,
		Secrets:      secrets.Mode(cmp.Or(e.Global.Secrets, c.Secrets)),
		AgentFolders: c.Agents,
	}, err
}
