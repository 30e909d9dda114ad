package layout

import (
	"encoding/json"
	"strings"

	"filebus/materialize/markdown"

	"filebus/store/record"
)

// artifacts is the layout of the files of a session: context, plan, progress,
// reports and whatever else its agents left. Their text has no form of its own.
var artifacts = &single{record.KindArtifact, func(path string, text []byte) (Facts, []*SyntaxError) {
	return FrontFacts(text), jsonProblems(path, text)
}}

// jsonProblems returns what is wrong with a file that is called .json.
func jsonProblems(path string, text []byte) []*SyntaxError {
	if !strings.HasSuffix(path, ".json") {
		return nil
	}
	var value json.RawMessage
	if problem := markdown.DecodeJSON(text, &value); problem != nil {
		return []*SyntaxError{problem}
	}
	return nil
}

// summaryEnd ends the names of files that say in short what is in another.
const summaryEnd = ".summary.md"

// ArtifactID returns the id of a file of a session: that of plan and plan.md is
// {type}/{session}/plan.
func ArtifactID(workflow, session, file string) string {
	return join(workflow, session, artifactID(artifactFile(file)))
}

// ArtifactName returns what the file of a session at a path is called among the
// others: plan for plan.md, and for pr_reviews/pr_42_plan.md too; sub/plan for one
// in a folder of its own.
func ArtifactName(path, workflow, session string) string {
	folder := "/" + workflow + "/" + session + "/"
	if at := strings.LastIndex("/"+path, folder); at >= 0 {
		path = path[at+len(folder)-1:]
		name := path[strings.LastIndexByte(path, '/')+1:]
		return strings.TrimSuffix(path, name) + artifactID(name)
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	if in, artifact, found := cutReview(name); found && workflow == reviews && in == session {
		name = artifact
	}
	return artifactID(name)
}

// SummaryPath returns the path of the file that says in short what is in the
// artifact at a path: plan.summary.md for plan.md.
func SummaryPath(path string) string { return strings.TrimSuffix(path, ".md") + summaryEnd }

// IsSummary reports whether a file of a session says in short what is in another,
// and which, by their names.
func IsSummary(name string) (of string, is bool) { return strings.CutSuffix(name, summaryEnd) }

// IsReviewSession reports whether a session is the review of a pull request, of
// type pr_reviews with an id such as pr_42, whose files lie flat.
func IsReviewSession(workflow, session string) bool { return workflow == reviews && isReview(session) }
