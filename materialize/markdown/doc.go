// Package markdown knows the syntax of the files that agents write, and no file in
// particular: lines with their headings, code fences and comments; tables; the fields
// of an entry as rows, bullets or labels; lists; front matter and YAML; where the values
// of JSON stand; the sections of a text, and its title and preview. Each is read in one
// way, and what is written is written in one.
//
// It never does I/O, never loses a byte of what it was given, and never fails: what it
// does not understand is text, or is reported as a SyntaxError with its line. All
// readers take any bytes, in time linear in their number.
//
// One scanner knows the blocks of CommonMark: sections, titles, previews, what a text leaves
// open and lines are read by it. Lines is what most formats begin with: they are flat, without lists
// and quotations, and with no fence that nothing closes. Rules say which lines of an entry are its
// fields, and read, set and append them; Outline and FindSection find sections; ParseYAML,
// FrontMatter and ParseObject read data. Which file holds what is the matter of package layout.
package markdown
