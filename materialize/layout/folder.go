package layout

import (
	"maps"
	"path"
	"slices"
	"strings"

	"filebus/materialize/markdown"
	"filebus/store/record"
)

// Folders are the folders whose texts are records of a kind, each as a whole, wherever
// no layout knows them: they are known by the tail of their paths.
type Folders map[string]record.Kind

// knowledgeFile is the layout of a text that is one entry of knowledge as a whole.
var knowledgeFile = &single{record.KindKnowledge, notes.read}

// String returns a line for each folder, in order.
func (f Folders) String() string {
	line := func(folder string) string { return folder + " = " + string(f[folder]) }
	return strings.Join(markdown.Each(slices.Sorted(maps.Keys(f)), line), "\n")
}

// Check reports what cannot be used.
func (f Folders) Check() error {
	for folder, kind := range f {
		if folder == "" || strings.ContainsAny(folder, "*?[") || folder != strings.Trim(path.Clean("/"+folder), "/") {
			return record.Usage.Errorf("%q of kinds is not the end of a folder's path, such as docs/solutions (no pattern; all below is meant)", folder)
		}
		if kind != record.KindKnowledge {
			return record.Usage.Errorf("the files of a folder can be %s, not %q as those of %s", record.KindKnowledge, kind, folder)
		}
	}
	return nil
}

// Holds reports whether one of the folders holds the file at a path.
func (f Folders) Holds(file string) bool {
	isIn := func(folder string) bool { return strings.Contains("/"+path.Dir(file)+"/", "/"+folder+"/") }
	return slices.ContainsFunc(slices.Collect(maps.Keys(f)), isIn)
}

// Place returns what the file at a path below a folder is, given what layouts take it for.
func (f Folders) Place(at Location, dir, file string) Location {
	id, texts := record.WholeFile+file, []string{".md", ".markdown", ".mdx", ".txt"}
	if at.Kind != record.KindNote || !slices.Contains(texts, strings.ToLower(path.Ext(file))) ||
		record.CheckID(id) != nil || !f.Holds(strings.Trim(dir+"/"+file, "/")) {
		return at
	}
	return Location{Kind: record.KindKnowledge, ID: id, Layout: knowledgeFile, Facts: at.Facts, Entries: record.KindKnowledge}
}
