package materialize_test

import (
	"testing"
	"time"

	"filebus/materialize/release"
	"filebus/store"
	"filebus/store/record"
)

func TestReleaseRetention(t *testing.T) {
	for label, test := range map[string]struct {
		pick func(middle time.Time) release.Retention
		want []string
	}{
		"a conversation": {func(time.Time) release.Retention { return release.Retention{Conversations: []string{"b"}} },
			[]string{"drop result/b/1", "drop result/b/2", "drop result/b/3"}},
		"two conversations, newest stay": {func(time.Time) release.Retention {
			return release.Retention{Conversations: []string{"a", "b", "none"}, Keep: 2}
		}, []string{
			"drop result/a/0", "drop result/a/1", "drop result/b/1",
			"keep result/a/2: one of the newest 2", "keep result/a/3: one of the newest 2",
			"keep result/b/2: one of the newest 2", "keep result/b/3: one of the newest 2",
		}},
		"old ones": {func(middle time.Time) release.Retention { return release.Retention{Before: middle} },
			[]string{"drop result/a/0", "drop result/a/1", "drop result/b/1"}},
		"old ones, newest stay": {func(middle time.Time) release.Retention {
			return release.Retention{Before: middle,
				Keep: 3}
		},
			[]string{"drop result/a/0", "keep result/a/1: one of the newest 3", "keep result/b/1: one of the newest 3"}},
		"hidden ones": {func(time.Time) release.Retention { return release.Retention{Removed: true} },
			[]string{"drop result/a/0"}},
		"hidden ones, kept none": {func(time.Time) release.Retention {
			return release.Retention{Removed: true,
				Keep: 9}
		}, []string{"drop result/a/0"}},
		"none": {func(time.Time) release.Retention { return release.Retention{Conversations: []string{"x"}} },
			[]string{}},
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			putFrom(t, w, "note/n.md", "n", nil)
			var middle time.Time
			for i, of := range []string{"result/a/0", "result/a/1", "result/b/1", "result/a/2", "result/b/2", "result/b/3", "result/a/3"} {
				putFrom(t, w, of, of, nil)
				if i == 2 {
					view(t, w, func(tx *store.Tx) { middle = tx.Now() })
				}
			}
			remove(t, w, "result/a/0")
			pick := test.pick(middle)
			pick.Kind = record.KindResult
			wantSaid(t, label, releaseBy(t, w, pick), test.want...)
			wantFile(t, w, "n.md", "n")
		})
	}
}

func TestReleaseRefuses(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	for _, pick := range []release.Retention{
		{Kind: record.KindIssue}, {Kind: record.KindKnowledge}, {Kind: record.KindFrame}, {Kind: record.KindResult, Keep: -1},
	} {
		if _, err := w.Release(t.Context(), release.Request{Retention: &pick}); err == nil {
			t.Errorf("Release(%+v) is accepted", pick)
		}
	}
}
