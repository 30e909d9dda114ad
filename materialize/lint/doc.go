// Package lint checks the files of a workspace against the rules of file-based
// communication: state that holds outputs, journals and markers that do not
// belong together, ids used twice, files too large to be read, and instructions
// that make an orchestrator read what it should not.
//
// [Check] walks a folder and returns a [Report] of [Finding] values. It reads
// files alone, neither store nor index, and writes nothing; no symbolic link is
// followed and no more is read than its limits say.
//
// Instructions are prose. What they forbid is told from what they ask for by the
// words of a clause, by headings and by the lines that lead in to a list or to
// code, so a prohibition is no finding. It errs on the side of silence.
package lint
