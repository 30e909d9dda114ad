package transcript_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize/transcript"
)

// TestResumed reads an agent that was asked again after its report, and once for a line only.
func TestResumed(t *testing.T) {
	t.Parallel()
	user := func(text string) string {
		return `{"type":"user","isSidechain":true,"agentId":"a1","sessionId":"s","message":{"role":"user","content":"` + text + `"}}` + "\n"
	}
	says := func(id, text string) string {
		return `{"type":"assistant","isSidechain":true,"agentId":"a1","sessionId":"s","message":{"id":"` + id +
			`","role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":"` + text + `"}]}}` + "\n"
	}
	var r transcript.Run
	text := user("Look at the cache.") + says("m1", "It is blue.") + user("And the clock?") + says("m2", "It drifts.") +
		user("What now: "+transcript.AskedForLine) + says("m3", "x 2w: It drifts.") + user("Thanks.")
	if err := r.Read(t.Context(), strings.NewReader(text), transcript.MaxText); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, report := range r.Reports() {
		got = append(got, report.Text)
	}
	if diff := cmp.Diff([]string{"It is blue.", "It drifts.", "It drifts."}, got); diff != "" {
		t.Errorf("Reports (-want +got):\n%s", diff)
	}
}
