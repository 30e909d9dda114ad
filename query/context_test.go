package query_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize/layout"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// lessons are entries whose context, what led to the lesson, and lesson use
// different words, as people write them.
func lessons() []struct{ context, lesson string } {
	return []struct{ context, lesson string }{
		{"Invoices of a large customer differed by one cent from the ledger after a quarter closed.", "Round once, at the end, on whole cents."},
		{"The nightly export to the warehouse stopped halfway when a column was renamed upstream.", "Name the columns of every SELECT that leaves the house."},
		{"Two replicas let a burst of requests through because their clocks were forty milliseconds apart.", "Take the time where the decision is made."},
		{"A feature flag was read once at start and nobody could switch the import off that night.", "Read flags where they act."},
		{"Uploads above two gigabytes came back truncated on the legacy storage nodes.", "Compare length and digest before saying done."},
		{"The mailer sent a welcome letter thrice when the queue redelivered after a crash.", "Give each message an id and remember it."},
		{"Search results changed order between two pages of the same query.", "Break ties by a field that never changes."},
		{"Deleting a tenant left orphaned thumbnails in the object store for months.", "Write down what refers to what before deleting."},
		{"The mobile client retried every failed login at once after an outage of the gateway.", "Add jitter and a budget to retries."},
		{"A migration locked the orders table for eleven minutes on a Monday morning.", "Backfill by key ranges, a transaction each."},
		{"Currency symbols broke in the PDF of Norwegian receipts.", "Embed a font that has the glyphs."},
		{"Developers waited nine minutes for unit checks because of sleeps in the scheduler package.", "Pass a clock in."},
	}
}

func contextOf(b *bench, request query.ContextRequest) query.ContextAnswer {
	b.Helper()
	answer, err := b.ContextFor(b.Context(), request)
	if err != nil {
		b.Fatalf("ContextFor(%+v): %v", request, err)
	}
	return answer
}

func itemNames(answer query.ContextAnswer) []string {
	names := []string{}
	for _, i := range answer.Items {
		names = append(names, i.Version.Record.Name.String())
	}
	return names
}

// TestContextFindsTheLesson asks with the story behind each lesson.
func TestContextFindsTheLesson(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i, l := range lessons() {
		b.put(fmt.Sprintf("knowledge/lesson-%02d", i), fmt.Sprintf("### Lesson %d\n\n**Context:** %s\n**Lesson:** %s\n", i, l.context, l.lesson),
			attributes(record.AttributeType, "lesson"))
	}
	for i, l := range lessons() {
		answer := contextOf(b, query.ContextRequest{Text: l.context})
		if want := fmt.Sprintf("knowledge/lesson-%02d", i); len(answer.Items) == 0 || itemNames(answer)[0] != want {
			t.Errorf("context of %q = %v, want %s first", l.context, itemNames(answer), want)
		}
	}
}

// TestContextSections puts one of each kind in and wants them in their sections.
func TestContextSections(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("knowledge/pattern-001", "Sign tokens with one key per tenant.\n", attributes(record.AttributeType, "pattern", record.AttributeConfidence, "high"))
	b.put("knowledge/gotcha-001", "Refreshing tokens needs src/auth/refresh.go too.\n", attributes(record.AttributeType, "gotcha"))
	b.put("knowledge/pattern-002", "Sign tokens with a shared key.\n", attributes(record.AttributeType, "pattern"),
		with(func(r *record.Record) {
			r.Links = []record.Link{{Type: layout.LinkSupersededBy, Target: "knowledge/pattern-001"}}
		}))
	b.put("component/src/auth", "| src/auth/ | task-001 | signing of tokens |\n", func(d *store.Draft) {
		d.Description.Title, d.Description.Preview, d.Record.Task = "src/auth/", "signing of tokens", "task-001"
	})
	b.put("handoff/task-001", "# Task: Sign tokens\n\nTokens are signed now.\n", with(func(r *record.Record) { r.Status = layout.StatusComplete }))
	b.put("handoff/task-002", "# Task: Verify tokens\n\nTokens are being verified.\n", with(func(r *record.Record) { r.Status = layout.StatusInProgress }))
	b.put("handoff/task-004", "# Task: Rename the billing tables\n\nNothing about the other thing.\n", with(func(r *record.Record) { r.Status = layout.StatusComplete }))
	b.put("result/c/1", "A study of tokens and their keys.\n")
	b.put("handoff/task-003", "# Task: Rotate keys\n\n## Metadata\n- Status: in_progress\n- Depends: task-004, 009\n", with(func(r *record.Record) { r.Status = layout.StatusInProgress }))
	answer := contextOf(b, query.ContextRequest{
		Text: "Rotate the keys that sign tokens", Files: []string{"src/auth/refresh.go"}, Task: "003",
		Changed: func(_ context.Context, files []string) (map[string]time.Time, error) {
			return map[string]time.Time{"src/auth/refresh.go": b.clock.Now(), "src/auth": b.clock.Now().Add(-time.Hour)}, nil
		},
	})
	want := "## Depends on\n" +
		"- handoff/task-004 (complete): Rename the billing tables: Nothing about the other thing.\n\n" +
		"## Patterns\n" +
		"- knowledge/pattern-001 (high): Sign tokens with one key per tenant.\n\n" +
		"## Components\n" +
		"- component/src/auth (last task-001): signing of tokens\n\n" +
		"## Prior tasks\n" +
		"- handoff/task-001 (complete): Sign tokens: Tokens are signed now.\n\n" +
		"## Gotchas\n" +
		"- knowledge/gotcha-001 (since then changed: src/auth/refresh.go): Refreshing tokens needs src/auth/refresh.go too.\n\n" +
		"## Results\n" +
		"- result/c/1 (≈9 tokens): A study of tokens and their keys.\n"
	got := string(answer.Append(nil))
	got = strings.ReplaceAll(got, "Task: ", "")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the context (-want +got):\n%s", diff)
	}
	reasons := map[string]string{}
	for _, o := range answer.LeftOut {
		reasons[o.Name.String()] = o.Reason
	}
	wantReasons := map[string]string{
		"knowledge/pattern-002": "superseded by knowledge/pattern-001", "handoff/task-009": "named as a dependency, but has no journal",
	}
	if diff := cmp.Diff(wantReasons, reasons); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
}

// TestContextOneScale wants what has little to do with a task behind what has much, or left out, whatever its section.
func TestContextOneScale(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 12 { // words that many have are worth little
		b.put(fmt.Sprintf("handoff/task-%03d", i), fmt.Sprintf("# Review part %d\n\nThe agent died.\n", i),
			with(func(r *record.Record) { r.Status = layout.StatusComplete }))
	}
	b.put("handoff/task-100", "# Requests\n\nRequests are logged.\n", with(func(r *record.Record) { r.Status = layout.StatusComplete }))
	b.put("note/auth.md", "# JWT validation\n\nJWT validation of requests goes by the issuer's key.\n")
	answer := contextOf(b, query.ContextRequest{Text: "JWT validation of agent requests"})
	if diff := cmp.Diff([]string{"note/auth.md", "handoff/task-100"}, itemNames(answer)); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
}

// TestContextFits asks for contexts of many sizes: none may be larger, and each
// must be the same when it is asked for again.
func TestContextFits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 40 {
		kind := []string{"pattern", "gotcha"}[i%2]
		text := fmt.Sprintf("Entry %d about caches: %s\n", i, strings.Repeat(fmt.Sprintf("word%d ", i), 60))
		b.put(fmt.Sprintf("knowledge/%s-%03d", kind, i), text, attributes(record.AttributeType, kind))
		b.put(fmt.Sprintf("result/c/%d", i), text)
	}
	last := 0
	for _, limit := range []int{20, 60, 100, 200, 400, 800, 4000} {
		request := query.ContextRequest{Text: "caches", Complexity: "complex", MaxTokens: limit}
		answer := contextOf(b, request)
		text := string(answer.Append(nil))
		if tokens := record.EstimateTokens(int64(len(text))); tokens > limit || tokens != answer.Tokens {
			t.Errorf("a context of at most %d tokens has %d and says %d", limit, tokens, answer.Tokens)
		}
		if len(answer.Items) < last {
			t.Errorf("%d tokens hold %d items, fewer than less room does", limit, len(answer.Items))
		}
		last = len(answer.Items)
		again := contextOf(b, request)
		if diff := cmp.Diff(text, string(again.Append(nil))); diff != "" {
			t.Errorf("asked again (-first +second):\n%s", diff)
		}
	}
	if last != 10+5+8 {
		t.Errorf("with room for all there are %d items, want 23", last)
	}
}

func TestContextTwins(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	text := "Retry with full jitter and a budget of one retry for ten first attempts of each client.\n"
	b.put("knowledge/pattern-001", text, attributes(record.AttributeType, "pattern", record.AttributeConfidence, "high"))
	b.put("lib:knowledge/pattern-001", text, attributes(record.AttributeType, "pattern"))
	b.put("knowledge/pattern-003", text+"More.\n", attributes(record.AttributeType, "pattern"))
	answer := contextOf(b, query.ContextRequest{Text: "retry with jitter"})
	if len(answer.Items) != 1 || answer.Items[0].Version.Record.Name.String() != "knowledge/pattern-001" {
		t.Errorf("of three that say the same there are %v", itemNames(answer))
	}
}

func TestContextOfTags(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("knowledge/pattern-001", "Unrelated words.\n", attributes(record.AttributeType, "pattern"), tagged("auth", "jwt"))
	b.put("knowledge/pattern-002", "Other words.\n", attributes(record.AttributeType, "pattern"), tagged("auth"))
	answer := contextOf(b, query.ContextRequest{Tags: []string{"JWT", "auth"}})
	if diff := cmp.Diff([]string{"knowledge/pattern-001", "knowledge/pattern-002"}, itemNames(answer)); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
	empty := contextOf(b, query.ContextRequest{Text: "zebra"})
	if got, want := string(empty.Append(nil)), "Nothing that is stored has to do with this task.\n"; got != want {
		t.Errorf("a context of nothing = %q, want %q", got, want)
	}
}

func TestParseComplexity(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "normal", "easy": "easy", "hard": ""} {
		if got, err := query.ParseComplexity(text); string(got) != want || (err == nil) == (want == "") {
			t.Errorf("ParseComplexity(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
}
