// Package materialize is the write side of filebus and the only caller of the
// store's writes. It recognises files by their place, describes and stores them
// (capture), keeps the files of a workspace and the store in step (sync), and
// lays records out again as the exact files they came from (materialize).
//
// A Workspace is the folder that holds a store; its files are the store's
// mirror. Every write goes to the store first and to the file after it, so a
// crash leaves work to be done again, never a reference to something missing.
// Files are written below an os.Root, under the mirror lock, by temporary name
// and rename; only files whose content is known are ever replaced. Agents take no
// lock: what one writes while its file is replaced is merged afterwards, or kept
// as a conflict version or a note. Off Linux nobody can tell whether a file is
// still open for writing, so there a line may be missed that is written to a file
// opened before it was replaced.
package materialize
