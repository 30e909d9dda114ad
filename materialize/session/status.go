package session

import (
	"slices"
	"strings"
	"time"

	"filebus/materialize/layout"
)

// The statuses of sessions. Their text is stored.
const (
	StatusInProgress  = layout.StatusInProgress
	StatusCompleted   = "completed"
	StatusInterrupted = "interrupted"
	StatusFailed      = layout.StatusFailed
)

// recent is how long after the last sign of life a session that nobody has ended
// counts as being in progress.
const recent = time.Hour

// hasEnded reports whether somebody has said how the session ended.
func (s *Session) hasEnded() bool { return isEnd(s.meta.Status) }

func isEnd(status string) bool {
	return status == StatusCompleted || status == StatusInterrupted || status == StatusFailed
}

// status says how a session stands at a time: as End has said; else in progress, if
// an agent has begun within the last hour and not ended; else as its artifacts say.
// One that was started by a command and has changed within the last hour is in
// progress until it is completed.
func (s *Session) status(now time.Time) string {
	if s.hasEnded() {
		return s.meta.Status
	}
	if slices.ContainsFunc(s.AtWork, func(a OpenAgent) bool { return isRecent(a.Since, now) }) {
		return StatusInProgress
	}
	status := s.outcome()
	if status != StatusCompleted && s.meta.ID != "" && isRecent(s.Changed, now) {
		return StatusInProgress
	}
	return status
}

func isRecent(at, now time.Time) bool { return !at.IsZero() && now.Sub(at) < recent }

// outcome says how a session has ended by its artifacts: a review or report makes it
// completed, progress, plan or context alone interrupted, nothing of these failed.
func (s *Session) outcome() string {
	status := StatusFailed
	for _, a := range s.Artifacts {
		name := strings.ToLower(a.Name)
		if result().MatchString(name) {
			return StatusCompleted
		}
		if work().MatchString(name) {
			status = StatusInterrupted
		}
	}
	return status
}

var (
	result = layout.Pattern(`(^|[_.-])(review|report)($|[_.-])`)
	work   = layout.Pattern(`(^|[_.-])(progress|plan|context)($|[_.-])`)
)
