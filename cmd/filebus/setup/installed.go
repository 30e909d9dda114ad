package setup

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// An Installed is what a client has of filebus in one scope.
type Installed struct {
	Client, Title, Scope string
	Project              bool
	Parts                []string
	Untrusted            string // what the user must still do before hooks run, as far as the client's files tell
}

// Installed returns what there is of filebus in the settings of all clients, by client and scope.
func (o Options) Installed() (all []Installed) {
	o.Leave = true
	for _, c := range clients() {
		for _, o.Project = range []bool{false, true} {
			in := Installed{Client: c.Name, Title: c.Title, Project: o.Project, Scope: map[bool]string{false: "user", true: "project"}[o.Project]}
			if o.Home == "" && !o.Project {
				continue
			}
			for _, t := range o.places(c) {
				if !slices.Contains(c.Parts, t.part) || slices.Contains(in.Parts, t.part) || !t.isIn() {
					continue
				}
				if in.Parts = append(in.Parts, t.part); t.part == "hooks" && c.Trust != nil && (o.Project || !c.Trust.Projects) &&
					!o.isTrusted(c, t.path) {
					in.Untrusted = c.Trust.How
				}
			}
			if len(in.Parts) > 0 {
				all = append(all, in)
			}
		}
	}
	return all
}

// isTrusted reports whether the user's files of a client say that the hooks in a file are trusted.
func (o Options) isTrusted(c client, hooks string) bool {
	own, _ := readFile(hooks, "") // it was read before
	index := strconv.Itoa(strings.Count(string(own.is), "[[hooks.SessionStart]]") - 1)
	names := strings.NewReplacer("{root}", o.Root, "{file}", hooks, "{index}", index)
	base := filepath.Join(o.Home, filepath.FromSlash(c.Folder))
	base = cmp.Or(o.Getenv(c.Variable), base)
	for _, name := range c.Trust.User {
		f, err := readFile(filepath.Join(base, name), "")
		var value any
		if filepath.Ext(name) == ".toml" {
			err = cmp.Or(err, toml.Unmarshal(f.is, &value))
		} else if err == nil {
			err = json.Unmarshal(f.is, &value)
		}
		for _, name := range c.Trust.Names {
			inner, _ := value.(map[string]any) // else it is not there
			value = inner[names.Replace(name)]
		}
		if err == nil && value != nil {
			return fmt.Sprint(value) != "false"
		}
	}
	return false
}
