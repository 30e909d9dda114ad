package dialogue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/cmd/filebus/cli"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/mirror"
	"filebus/store/record"
)

func TestNew(t *testing.T) {
	t.Parallel()
	h := newParlour(t, layout.Claude())
	made, err := h.New(t.Context(), NewRequest{
		Title: "Retry\n policy", Question: " Who retries?\n", Judge: "Donut", Agents: []string{"Muffin", "scone"},
		Roles: map[string]string{"SCONE": "Site  reliability"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := layout.Pool{
		Title: "Retry policy", Created: h.now, Question: "Who retries?", Judge: "donut",
		Experts: []layout.Expert{{Name: "muffin", Label: "Muffin"}, {Name: "scone", Label: "Scone", Role: "Site reliability"}},
	}
	if diff := cmp.Diff(want, h.read(t, made.Key).Pool); diff != "" {
		t.Errorf("the pool that is stored (-want +got):\n%s", diff)
	}
	folder := filepath.Join(h.work.Root, ".claude", "dialogues", "retry-policy")
	if made.Key.ID != "retry-policy" || made.Folder != folder || made.Round != filepath.Join(folder, "round-0") {
		t.Errorf("New = %+v, want it in %s", made, folder)
	}
	if info, err := os.Stat(made.Round); err != nil || !info.IsDir() {
		t.Errorf("the folder of round 0: %v", err)
	}
	pool, problem := layout.ParsePool([]byte(textOf(t, filepath.Join(folder, poolFile))))
	if diff := cmp.Diff(want, pool); diff != "" || problem != nil {
		t.Errorf("the pool on disk: %v (-want +got):\n%s", problem, diff)
	}
}

func TestNewRefused(t *testing.T) {
	t.Parallel()
	h := newParlour(t, layout.Claude())
	one := []string{"muffin"}
	for why, r := range map[string]NewRequest{
		"the title is empty":               {Title: " \n", Agents: one},
		"UTF-8":                            {Title: "a\xff", Agents: one},
		"the title has 501 bytes":          {Title: strings.Repeat("x", 501), Agents: one},
		"the question has 16385 bytes":     {Title: "x", Question: strings.Repeat("x", 16<<10+1), Agents: one},
		"at least one agent":               {Title: "x"},
		"muffin is among the agents twice": {Title: "x", Agents: []string{"muffin", "scone", "Muffin"}},
		`"a/b" is no name`:                 {Title: "x", Agents: []string{"a/b"}},
		"scone has a role":                 {Title: "x", Agents: one, Roles: map[string]string{"scone": "r"}},
		"muffin has two roles":             {Title: "x", Agents: one, Roles: map[string]string{"muffin": "r", "MUFFIN": "s"}},
		"muffin cannot judge":              {Title: "x", Agents: one, Judge: "Muffin"},
		`".." is no name`:                  {Title: "x", Agents: one, Judge: ".."},
		`"☃" is no slug`:                   {Title: "☃", Agents: one},
		`"docs" is no slug`:                {Title: "Docs", Agents: one},
		`"../x" is no slug`:                {Title: "x", Slug: "../x", Agents: one},
	} {
		if _, err := h.New(t.Context(), r); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("New(%.60v) = %v, want %q", r, err, why)
		}
	}
	if made, _, err := h.List(t.Context(), cli.Page{}); err != nil || len(made) != 0 {
		t.Errorf("%d dialogues were made all the same, %v", len(made), err)
	}
}

// TestNewNumbers makes dialogues with a title that is taken: by another dialogue, or
// by a folder that nobody knows.
func TestNewNumbers(t *testing.T) {
	t.Parallel()
	for _, profile := range []layout.Profile{layout.Claude(), profileOf("blue")} {
		h, same := newParlour(t, profile), "same"
		if profile.Name == "blue" {
			same = "2026-03-02T0930Z-same"
		}
		var got []string
		for range 3 {
			got = append(got, h.make(t, "Same", "muffin").Key.ID)
		}
		if want := []string{same, same + "-1", same + "-2"}; !slices.Equal(got, want) {
			t.Errorf("%s: slugs = %v, want %v", profile.Name, got, want)
		}
		for n := 3; n < 99; n++ {
			if err := os.Mkdir(filepath.Join(h.work.Root, profile.Dialogues, fmt.Sprintf("%s-%d", same, n)), 0o777); err != nil {
				t.Fatal(err)
			}
		}
		if got := h.make(t, "Same", "muffin").Key.ID; got != same+"-99" {
			t.Errorf("%s: slug = %s, want %s-99", profile.Name, got, same)
		}
		_, err := h.New(t.Context(), NewRequest{Title: "Same", Agents: []string{"muffin"}})
		if !refuses(err, "run it again with --slug NAME") || !strings.HasPrefix(err.Error(), same+" is taken") {
			t.Errorf("%s: the hundred and first = %v", profile.Name, err)
		}
	}
}

func TestNewAtOnce(t *testing.T) {
	t.Parallel()
	h := newParlour(t, layout.Claude())
	const n = 20
	slugs := make([]string, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			made, err := h.New(t.Context(), NewRequest{Title: "Same", Agents: []string{"muffin"}})
			if err != nil {
				t.Error(err)
				return
			}
			slugs[i] = made.Key.ID
		})
	}
	wg.Wait()
	slices.Sort(slugs)
	if got := slices.Compact(slices.Clone(slugs)); len(got) != n {
		t.Errorf("%d dialogues have %d slugs: %v", n, len(got), slugs)
	}
}

// TestPlantedLinks has somebody put links where the files of a dialogue would be, in a
// folder that everybody may write to.
func TestPlantedLinks(t *testing.T) {
	t.Parallel()
	request := NewRequest{Title: "Retry", Agents: []string{"muffin"}}
	wantLink := func(what string, err error, path string) {
		t.Helper()
		if e := (*record.Error)(nil); !errors.As(err, &e) || e.Reason != mirror.ErrLink || e.Names[0] != path {
			t.Errorf("%s: %v, want ErrLink for %s", what, err, path)
		}
	}
	wantEmpty := func(what, dir string) {
		t.Helper()
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("%s: the folder behind the link has %v, %v", what, entries, err)
		}
	}
	h, root := outsideParlour(t)
	elsewhere := t.TempDir()
	link(t, elsewhere, root)
	_, err := h.New(t.Context(), request)
	wantLink("the root", err, root)
	wantEmpty("the root", elsewhere)

	h, root = outsideParlour(t)
	if err := os.Mkdir(root, 0o777); err != nil {
		t.Fatal(err)
	}
	link(t, elsewhere, filepath.Join(root, "retry"))
	_, err = h.New(t.Context(), request)
	wantLink("the slug", err, filepath.Join(root, "retry"))
	request.Title = "Other"
	made, err := h.New(t.Context(), request)
	if err != nil || made.Folder != filepath.Join(root, "other") {
		t.Fatalf("New = %+v, %v, want it in %s", made, err, root)
	}
	if _, err := h.launched(t.Context(), made.Key, 0, "muffin"); err != nil {
		t.Fatal(err)
	}
	// A link stays refused where it leads to another folder of the same root.
	link(t, filepath.Join(root, "other", "round-0"), filepath.Join(root, "other", "round-1"))
	_, err = h.launched(t.Context(), made.Key, 1, "muffin")
	wantLink("the round", err, filepath.Join(root, "other", "round-1"))

	h = newParlour(t, layout.Claude())
	link(t, elsewhere, filepath.Join(h.work.Root, ".claude"))
	_, err = h.New(t.Context(), request)
	wantLink("the workspace", err, filepath.Join(h.work.Root, ".claude"))
	wantEmpty("the workspace", elsewhere)
}

// TestSharedRoot has two projects keep their dialogues in one folder outside: each has its own, and their documents.
func TestSharedRoot(t *testing.T) {
	t.Parallel()
	profile := outside(t)
	ours, theirs := newParlour(t, profile), newParlour(t, profile)
	first, second := ours.make(t, "Retry", "muffin"), theirs.make(t, "Retry", "scone")
	if first.Key.ID != "retry" || second.Key.ID != "retry-1" {
		t.Errorf("two of a name are %s and %s", first.Key, second.Key)
	}
	for _, h := range []*parlour{ours, theirs} {
		if all, _, err := h.List(t.Context(), cli.Page{}); err != nil || len(all) != 1 {
			t.Errorf("a project has %d dialogues, %v, want its own", len(all), err)
		}
	}
	// What another project's agent writes is not taken in, also where this one has such a name.
	file := filepath.Join(filepath.FromSlash(profile.Dialogues), "retry-1", "round-0", "scone.md")
	if err := os.WriteFile(file, []byte(goodTurn), 0o666); err != nil {
		t.Fatal(err)
	}
	for h, want := range map[*parlour]int{ours: 0, theirs: 1} {
		report, err := h.work.Sync(t.Context(), h.work.Root, materialize.SyncOptions{CaptureOnly: true, Announced: true})
		if err != nil || len(report.Files) != want || len(report.Skipped) > 0 {
			t.Errorf("taken in: %+v, %v, want %d", report, err, want)
		}
	}
	if _, err := ours.Read(t.Context(), second.Key); !errors.Is(err, ErrNoDialogue) {
		t.Errorf("the dialogue of another project: %v", err)
	}
	if _, err := ours.Find(t.Context(), "retry-1"); !errors.Is(err, mirror.ErrRootTaken) {
		t.Errorf("looking for the dialogue of another project: %v, want whose it is", err)
	}
	done, err := theirs.Assemble(t.Context(), second.Key, AssembleOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if dir := filepath.Join(theirs.work.Root, ".claude", "dialogues", "docs"); filepath.Dir(done.Files[0].File) != dir {
		t.Errorf("the document is %s, want one in %s", done.Files[0].File, dir)
	}
	for n := range 10 { // at once
		request, made := NewRequest{Title: fmt.Sprint("Race ", n), Agents: []string{"muffin"}}, make(chan string, 2)
		for _, h := range []*parlour{ours, theirs} {
			go func() {
				done, err := h.New(context.WithoutCancel(t.Context()), request)
				if err != nil {
					t.Error(err)
					done = &Made{}
				}
				made <- done.Key.ID
			}()
		}
		if a, b := <-made, <-made; a == b {
			t.Errorf("two projects have both made %s", a)
		}
	}
}
