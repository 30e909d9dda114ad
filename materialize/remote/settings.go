package remote

import (
	"cmp"
	"errors"
	"strings"

	"filebus/store/folder"
	"filebus/store/record"
)

// Folder is where a store keeps its remotes, below its own folder: a file each, and whom it trusts.
const Folder = "remotes"

// ErrNoRemote says that a store has no remote of a name.
const ErrNoRemote record.Reason = "no such remote"

// filtered are the fields of a filter that a remote can have.
var filtered = []string{"kind", "tree", "tag"}

// A Setting is what a store keeps of one of its remotes.
type Setting struct {
	Name    string
	Address string
	Label   Label // what the store calls itself there
	Filter  record.Filter
}

// CheckName refuses what is no name of a remote: a word of at most 40 letters, digits, dots, hyphens and
// underscores, which begins with a letter or digit.
func CheckName(name string) error {
	isOther := func(r rune) bool { return r > 0x7f || strings.IndexByte(letters+"-._", byte(r)) < 0 }
	if name == "" || len(name) > 40 || name == trustFile || strings.ContainsFunc(name, isOther) || strings.IndexByte(letters, name[0]) < 0 {
		return record.Usage.Errorf("%.80q is no name of a remote: letters, digits, dots, hyphens and underscores, at most 40, and not %q", name, trustFile)
	}
	return nil
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

func (s *Setting) encode() []byte {
	text := appendFields([]byte("filebus remote of a store "+version), "address", s.Address, "label", string(s.Label))
	for _, key := range filtered {
		for _, value := range s.Filter.Values(key) {
			text = appendFields(text, key, cmp.Or(value, ".")) // the own tree, as filters read it
		}
	}
	return text
}

// LoadSetting reads what a store, whose folder is given, keeps of a remote.
func LoadSetting(dir folder.Folder, name string) (s Setting, err error) {
	if err = CheckName(name); err != nil {
		return s, err
	}
	content, err := dir.Sub(Folder).ReadUpTo(name, 1<<16)
	if isAbsent(err) {
		return s, record.NotFound.Errorf("there is no remote %s", name).Because(ErrNoRemote, name).Try("filebus remote list")
	}
	if err != nil {
		return s, err
	}
	r := readFields("the remote "+dir.Sub(Folder).Path(name), "filebus remote of a store ", string(content))
	s = Setting{Name: name, Address: field(r, "address", text), Label: field(r, "label", ParseLabel)}
	for _, key := range filtered {
		for r.has(key) {
			field(r, key, func(value string) (string, error) { return value, s.Filter.Add(key, value) })
		}
	}
	return s, r.end()
}

// Save keeps the setting.
func (s *Setting) Save(dir folder.Folder) error {
	if err := CheckName(s.Name); err != nil {
		return err
	}
	if err := dir.Make(Folder); err != nil {
		return err
	}
	return dir.Sub(Folder).Replace(s.Name, s.encode(), true)
}

// Forget removes the setting. What is in the remote stays there.
func (s *Setting) Forget(dir folder.Folder) error {
	return errors.Join(dir.Sub(Folder).Remove(s.Name), dir.Sub(Folder).RemoveAll(seenFile(s.Name)))
}

// Names returns the names of a store's remotes, in order.
func Names(dir folder.Folder) ([]string, error) {
	entries, err := dir.ReadDir(Folder)
	if isAbsent(err) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && CheckName(e.Name()) == nil {
			names = append(names, e.Name())
		}
	}
	return names, err
}
