// Package knowledge has the rules of what outlives a task: the entries of a
// knowledge graph, the links between them, and the rows of the context map.
//
// A Base adds and changes entries in the file that holds them, in the form that
// the file has: Markdown, JSON or lessons. Ids are allocated within the change, so
// that no two processes get the same, and none is given twice. What connects
// entries is read by package query; WriteGraph writes a part of that graph for
// other programs, and as a picture.
//
// It also touches rows of the context map, and finds those that concern some files.
// A Harvest takes from the handoff of a task what both of them should keep.
//
// The package keeps no state of its own: all it knows stands in the files.
package knowledge
