package cli

import (
	"slices"
	"strings"
	"time"

	"filebus/materialize/markdown"
	"filebus/materialize/mirror"
	"filebus/store/record"
)

// WaitFlags are the flags of every wait.
type WaitFlags struct {
	Given
	Timeout time.Duration `flag:"timeout" least:"0" was:"limit for"`
}

// UsualWait is short enough for the ten minutes that most agents give a command.
func UsualWait() WaitFlags { return WaitFlags{Timeout: 570 * time.Second} }

// Waiter returns the wait that the flags ask for.
func (o *WaitFlags) Waiter(w *Work) mirror.Waiter {
	return mirror.Waiter{Limit: o.Timeout, Say: func(line string) { w.Note("%s", OneLine(line)) }}
}

// Resume returns the command that goes on with a wait.
func (o *WaitFlags) Resume(command string, args ...string) string {
	return strings.Join(slices.Concat([]string{command}, markdown.Each(args, record.ShellWord), o.Words("json")), " ")
}

// DurationText writes a duration without the parts that are zero.
func DurationText(d time.Duration) string { return shortDuration(d.String()) }

func shortDuration(text string) string {
	return strings.Replace(strings.Replace(text, "m0s", "m", 1), "h0m", "h", 1)
}
