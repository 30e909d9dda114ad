// Package pdf renders Markdown as a PDF document for reading and printing: title
// block, table of contents, numbered headings, outline, tables, code, footnotes,
// citations that lead to the list of references, and images.
//
// Render is the whole surface. It parses with goldmark, breaks lines and pages
// itself, and writes with fpdf; the DejaVu faces are embedded as subsets. The same
// source and options give the same bytes.
//
// The package never reads a file and never uses the network: images come from
// Options.Image. What a document has that cannot be shown is said in
// Report.Warnings; only a source that is too large, a font that cannot be used and a
// document without end are errors. Text made to be slow to parse is shown as it
// stands. Scripts that run from right to left are set from left to right.
package pdf
