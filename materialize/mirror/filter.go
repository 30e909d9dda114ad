package mirror

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"filebus/store/folder"
)

// Rules say what of a folder is taken in, beside what is left out by itself.
type Rules struct {
	All       bool     // also what holds secrets, and what can be made again
	Gitignore bool     // not what git ignores
	Exclude   []string // patterns, as .gitignore has them
}

// The rules by which something is left out.
const (
	RuleSecret    = "secret"         // the name says so: see leftout.txt
	RuleDestroyed = "destroyed"      // its text was destroyed before, and stays out
	RuleRemade    = "remade"         // what lies in the folder can be made again
	RuleVersions  = "versions"       // the folder is version control's
	RuleConflict  = "conflict"       // a file syncer has made it of two versions of another
	RuleMachine   = "machine"        // an editor or the system keeps it
	RuleExclude   = "exclude"        // a pattern of Rules
	RuleIgnore    = ".filebusignore" // a pattern of such a file
	RuleGit       = ".gitignore"     // git ignores it
	RuleBroken    = "broken"         // such a file cannot be understood: neither taken in nor hidden
)

// A LeftOut is a file that a rule left out, or a folder with all that lies in it: then its
// path ends with a slash.
type LeftOut struct {
	Path string `json:"path"`
	Rule string `json:"rule"`
}

// A Filter says what below a folder is left out on purpose.
type Filter struct {
	Variables []string               // the environment, for git
	Named     []string               // folders that are taken in whatever their name, if it is no secret; nil: the root
	Known     func(path string) bool // files that no name makes a secret
	Noted     func(path string) bool // files that are nothing but notes, of a root; nil: it is none

	root     string
	above    string // the root's path in lower case, without links, with a slash at the end and none in front
	dir      string // what ownRule was asked about last lies in it, with a slash at the end
	below    string // above, and dir in lower case
	rules    Rules
	exclude  patterns
	own      []ownRule
	ignores  map[[2]string]*ignoreFile // by their folders and names
	ignored  map[string]bool           // paths that git ignores
	asked    []string                  // repositories that it was asked about
	hasAsked bool                      // of the root's
	would    map[string]bool           // paths that git's files were asked about
}

// An ownRule is a section of leftout.txt.
type ownRule struct {
	name      string
	ofFolders bool
	patterns
}

var (
	//go:embed leftout.txt
	ownRules string
)

// An ignoreFile has the patterns for what lies below its folder, which is "" or ends with
// a slash. The nearest one counts, then the one above it.
type ignoreFile struct {
	above *ignoreFile
	dir   string
	patterns
	err error
}

// NewFilter returns the filter of rules for what lies below a folder.
func NewFilter(root string, rules Rules) *Filter {
	f := &Filter{root: root, rules: rules, ignores: map[[2]string]*ignoreFile{}}
	f.ignored, f.would = map[string]bool{}, map[string]bool{}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		real = root
	}
	if real, err = filepath.Abs(real); err == nil {
		f.above = strings.TrimPrefix(strings.ToLower(strings.TrimSuffix(filepath.ToSlash(real), "/"))+"/", "/")
	}
	f.below = f.above
	f.exclude, _ = parsePatterns(strings.Join(rules.Exclude, "\n"))
	for _, section := range strings.Split(ownRules, "\n= ")[1:] {
		heading, lines, _ := strings.Cut(section, "\n")
		rule := ownRule{ofFolders: strings.HasSuffix(heading, " folders")}
		rule.name, _, _ = strings.Cut(heading, " ")
		rule.patterns, _ = parsePatterns(lines)
		f.own = append(f.own, rule)
	}
	return f
}

// CleanPattern returns a pattern for what lies below a folder as gitignore has it, and
// refuses what is not one pattern, or can match nothing there.
func CleanPattern(text, dir string) (string, error) {
	text = regexp.MustCompile(`^(!?)\./`).ReplaceAllString(text, "$1/")
	if list, _ := parsePatterns(text); len(list) != 1 || strings.Contains(text, "\n") {
		return "", fmt.Errorf("%q is no pattern of gitignore", text)
	}
	glob := strings.TrimPrefix(text, "!") + "/"
	if strings.Contains("/"+glob, "/../") || strings.HasPrefix(glob, filepath.ToSlash(dir)+"/") {
		return "", fmt.Errorf("%q is no path below the folder, such as docs/drafts", text)
	}
	return text, nil
}

// holds reports whether a path lies in a folder that is named, or is one.
func (f *Filter) holds(p string) bool {
	return f != nil && (f.Named == nil ||
		slices.ContainsFunc(f.Named, func(top string) bool { return strings.HasPrefix(p+"/", top+"/") }))
}

// enter reads what a folder says about what lies in it. What cannot be understood of that,
// or of the folders above, is an error: nothing is taken in there then.
func (f *Filter) enter(ctx context.Context, dir string, entries []fs.DirEntry) error {
	if f == nil {
		return nil
	}
	if dir != "" {
		dir += "/"
	}
	for _, name := range []string{RuleIgnore, RuleGit} {
		is := func(e fs.DirEntry) bool { return e.Name() == name }
		if dir != "" && !slices.ContainsFunc(entries, is) { // spares a look
			f.ignores[[2]string{dir, name}] = f.aboveOf(dir, name)
		}
	}
	if i := f.ignore(dir, RuleIgnore); i != nil && i.err != nil {
		return i.err
	}
	if f.rules.Gitignore {
		return f.askGit(ctx, dir)
	}
	return nil
}

// aboveOf returns the ignore file that counts where the one of a folder says nothing. Above the root is what git has
// for itself.
func (f *Filter) aboveOf(dir, name string) *ignoreFile {
	if dir == "" {
		if top, common := GitRepository(f.root); name == RuleGit && top == f.root {
			text, _ := readIgnore(filepath.Join(common, "info", "exclude")) // what cannot be read says nothing
			own, _ := parsePatterns(text)
			return &ignoreFile{patterns: own}
		}
		return nil
	}
	parent, _ := path.Split(strings.TrimSuffix(dir, "/"))
	return f.ignore(parent, name)
}

// ignore returns the nearest ignore file of a name, nil: there is none.
func (f *Filter) ignore(dir, name string) *ignoreFile {
	if known, found := f.ignores[[2]string{dir, name}]; found {
		return known
	}
	i := &ignoreFile{dir: dir, above: f.aboveOf(dir, name)}
	text, err := readIgnore(filepath.Join(f.root, filepath.FromSlash(dir+name)))
	switch unknown := []string(nil); {
	case errors.Is(err, fs.ErrNotExist):
		i = i.above
	case err != nil:
		i.err = fmt.Errorf("%s %s", dir+name, Cause(err))
	default:
		if i.patterns, unknown = parsePatterns(text); unknown != nil {
			i.err = fmt.Errorf("%s has a line that is no pattern: %q", dir+name, unknown[0])
		} else if i.above != nil {
			i.err = i.above.err
		}
	}
	f.ignores[[2]string{dir, name}] = i
	return i
}

// ignoreLimit is the longest ignore file, in bytes.
const ignoreLimit = 1 << 20

func readIgnore(file string) (string, error) {
	info, err := os.Lstat(file)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("is %s", folder.TypeName(info.Mode()))
	} else if err == nil && info.Size() > ignoreLimit {
		err = fmt.Errorf("is longer than %d KiB", ignoreLimit>>10)
	}
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrPermission):
		err = errors.New("cannot be read: permission denied")
	case !utf8.Valid(text), bytes.ContainsRune(text, 0):
		err = errors.New("is no text in UTF-8")
	}
	return string(text), err
}

// decides returns the pattern that decides about a path: that of the nearest file which
// has one.
func (i *ignoreFile) decides(p string, isFolder bool) *pattern {
	for ; i != nil; i = i.above {
		if by := i.match("", p[len(i.dir):], isFolder); by != nil {
			return by
		}
	}
	return nil
}

// askGit asks git what it ignores in a folder that is the top of a repository or the root
// in one. It never ignores what it tracks. Without the git program its files are read.
func (f *Filter) askGit(ctx context.Context, dir string) error {
	at := filepath.Join(f.root, filepath.FromSlash(dir))
	if top, _ := GitFolder(at); top == "" || dir != "" && top != at {
		return nil
	}
	git, err := NewGit(at, f.Variables)
	if err != nil {
		return nil
	}
	out, err := git.Run(ctx, nil, nil, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
	for name := range bytes.SplitSeq(out, []byte{0}) {
		f.ignored[dir+strings.TrimSuffix(string(name), "/")] = true
	}
	f.asked = append(f.asked, dir)
	return err
}

// rule returns the rule that leaves out a path of which every folder is taken in, or "".
// What a user has written counts most, also where it takes something in.
func (f *Filter) rule(p string, isFolder bool) string {
	if f == nil {
		return ""
	}
	dir, _ := path.Split(p)
	i := f.ignore(dir, RuleIgnore)
	if i != nil && i.err != nil {
		return RuleBroken
	}
	by, rule := f.exclude.match("", p, isFolder), RuleExclude
	if by == nil {
		by, rule = i.decides(p, isFolder), RuleIgnore
	}
	switch {
	case by != nil && by.takesIn:
		return ""
	case by != nil:
		return rule
	}
	if rule = f.ownRule(p, isFolder); rule == "" && f.isIgnored(p, isFolder) {
		rule = RuleGit
	}
	return rule
}

// isIgnored reports whether git ignores a path, or would.
func (f *Filter) isIgnored(p string, isFolder bool) bool {
	switch {
	case f.Noted != nil:
		return !isFolder && f.holds(p) && f.isIgnoredNote(p)
	case !f.rules.Gitignore:
		return false
	case slices.ContainsFunc(f.asked, func(top string) bool { return strings.HasPrefix(p, top) }):
		return f.ignored[p] || f.ignored["."] // it says "./" if it ignores all
	}
	return f.wouldIgnore(p, isFolder)
}

// wouldIgnore reports whether the files that git reads say so, and none of its folders is ignored.
func (f *Filter) wouldIgnore(p string, isFolder bool) bool {
	is, known := f.would[p]
	if !known {
		by := f.decides(p, isFolder, RuleGit)
		is = by != nil && !by.takesIn
		f.would[p] = is
	}
	return is
}

// decides returns the pattern of files of a name that decides about a path, or nil.
func (f *Filter) decides(p string, isFolder bool, name string) *pattern {
	dir, _ := path.Split(p)
	return f.ignore(dir, name).decides(p, isFolder)
}

// isIgnoredNote reports whether git ignores a file that is nothing but a note, or a folder of it that its owner has not
// taken in, in the nearest folder that is named, but not what is new in that. Git itself is asked, as it knows what it
// tracks, when its files say so.
func (f *Filter) isIgnoredNote(p string) bool {
	says := func(ignores func(p string, isFolder bool) bool) (is bool) {
		isIn, at := false, ""
		for part := range strings.SplitSeq(p, "/") {
			at = path.Join(at, part)
			if slices.Contains(f.Named, at) {
				isIn, is = !f.wouldIgnore(at+"/x.md", false), false
			} else if isIn {
				by := f.decides(at, at != p, RuleIgnore)
				is = (is || ignores(at, at != p)) && (by == nil || !by.takesIn)
			}
		}
		return is
	}
	if !says(f.wouldIgnore) || !f.Noted(p) {
		return false
	}
	if !f.hasAsked {
		f.hasAsked = true
		_ = f.askGit(context.Background(), "") // what it cannot say is not ignored
	}
	return f.asked == nil || says(func(p string, _ bool) bool { return f.ignored[p] })
}

// ownRule returns the rule by which a path is left out unasked, or "". A folder that is
// named is taken in unless it is a secret.
func (f *Filter) ownRule(p string, isFolder bool) string {
	if f.rules.All {
		return ""
	}
	named := func(top string) bool { return isFolder && strings.HasPrefix(top+"/", p+"/") }
	dir, name := path.Split(p)
	if dir != f.dir {
		f.dir, f.below = dir, f.above+strings.ToLower(dir)
	}
	isNamed, lower := slices.ContainsFunc(f.Named, named), strings.ToLower(name)
	for i := range f.own {
		own := &f.own[i]
		if own.ofFolders == isFolder && !(isNamed && own.name != RuleSecret) && own.leavesOut(f.below, name, lower, isFolder) &&
			(isFolder || own.name != RuleSecret || f.Known == nil || !f.Known(p)) {
			return own.name
		}
	}
	if isFolder && !isNamed && f.holds(p) && isRemade(filepath.Join(f.root, filepath.FromSlash(p))) {
		return RuleRemade
	}
	return ""
}

// isInSecret reports whether the root is a folder of secrets, or a part of one.
func (f *Filter) isInSecret() bool {
	secret := func(own ownRule) bool {
		for dir := path.Clean(f.above); dir != "."; dir = path.Dir(dir) {
			if own.ofFolders && own.name == RuleSecret && own.leavesOut("", dir, dir, true) {
				return true
			}
		}
		return false
	}
	return !f.rules.All && slices.ContainsFunc(f.own, secret)
}

// leavesOut reports whether a section leaves out a path below another, which is given in lower case, too, by its name. A
// copy of a secret is one as well, and "cvs" may hold anything.
func (o *ownRule) leavesOut(above, p, lower string, isFolder bool) bool {
	if o.name != RuleVersions {
		p = lower
	}
	by := (*pattern)(nil)
	if dir, name := path.Split(p); o.name == RuleSecret {
		for was := ""; was != name && (strings.ContainsAny(name, "~# (") || strings.Contains(copyEnds, path.Ext(name))); {
			was, name = name, copyMarks.ReplaceAllString(name, "$1$2$3")
		}
		by = o.match(above, dir+name, isFolder)
	}
	if by == nil {
		by = o.match(above, p, isFolder)
	}
	return by != nil && !by.takesIn
}

// copyEnds spares most names being compared with copyMarks.
const copyEnds = ".bak .old .orig .save .swo .swp .backup .local .production"

// copyMarks match what editors, file managers and people add to the names of copies.
var copyMarks = regexp.MustCompile(`^\.?#(.)|(.)(?:#|~|\.(?:bak|old|orig|save|sw[op]|backup|local|production))$|(?: copy(?: \d+)?| ?\(\d+\))(\.\w+)?$`)

// isRemade reports whether what lies in a folder says that it can be made again: it is an
// environment of Python or conda, or tagged as a cache.
func isRemade(dir string) bool {
	is := func(name string, mode fs.FileMode) bool {
		info, err := os.Lstat(filepath.Join(dir, name))
		return err == nil && info.Mode().Type() == mode && info.Size() <= ignoreLimit
	}
	if is("pyvenv.cfg", 0) || is("conda-meta", fs.ModeDir) {
		return true
	}
	if !is("CACHEDIR.TAG", 0) {
		return false
	}
	text, err := os.ReadFile(filepath.Join(dir, "CACHEDIR.TAG"))
	return err == nil && bytes.HasPrefix(text, []byte("Signature: 8a477f597d28d172789f06886806bc55"))
}

// Find returns the rule that leaves out a file, a folder, which ends with a slash, or a
// folder that it lies in, or "".
func (f *Filter) Find(p string) string {
	rule := ""
	for i, c := range p {
		if c == '/' && rule == "" {
			rule = f.rule(p[:i], true)
		}
	}
	if rule == "" && !strings.HasSuffix(p, "/") {
		rule = f.rule(p, false)
	}
	return rule
}
