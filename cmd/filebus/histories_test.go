package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"filebus/cmd/filebus/cli"
)

// An act is one command on a name, by one of many at once.
type act struct {
	name, verb  string // verb: get, put, rm, claim or release
	text        string
	expect, who string
}

// A reply is what the command answered.
type reply struct {
	code      int
	ref       string // of what was read or stored
	unchanged bool
}

// atOnce says what one command after the other would do: the state of a note is
// the ref of its current version, that of an issue who has claimed it; "" is none.
func atOnce(state, input, output any) (bool, any) {
	now, a, r := state.(string), input.(act), output.(reply)
	switch a.verb {
	case "get":
		return r.ref == now && (r.code == cli.ExitNotFound) == (now == ""), now
	case "rm":
		if r.code == cli.ExitConflict { // it has met another that was at work
			return true, now
		}
		return (r.code == cli.ExitDone) == (now != ""), ""
	case "put":
		met := a.expect == "" || a.expect == now || a.expect == "absent" && now == ""
		if r.code == cli.ExitConflict {
			return !met, now
		}
		return met && r.unchanged == (r.ref == now), r.ref
	case "claim":
		if r.code == cli.ExitConflict {
			return now != "" && now != a.who, now
		}
		return now == "" || now == a.who, a.who
	default: // release, of what may be nobody's
		if r.code == cli.ExitConflict {
			return now != "" && now != a.who, now
		}
		return now == "" || now == a.who, ""
	}
}

// A client runs commands inside the test, with a handle of the store for each, as
// processes have.
type client struct {
	*rand.Rand
	dir, who string
	seen     map[string]string // the ref of each note that it has met last
}

func (c *client) run(t testing.TB, a act) reply {
	var args []string
	switch a.verb {
	case "put":
		args = []string{"put", "--name", a.name, "-"}
		if a.expect != "" {
			args = append(args, "--expect", a.expect)
		}
	case "claim", "release":
		args = []string{"issue", a.verb, a.name, "--agent", a.who}
	default:
		args = []string{a.verb, a.name}
	}
	var out, errText bytes.Buffer
	env := docEnviron(c.dir, &out)
	env.In, env.Err, env.Now, env.Variables = strings.NewReader(a.text), &errText, time.Now, os.Environ()
	env.Getenv = func(name string) string {
		return map[string]string{"FILEBUS_STORE": filepath.Join(c.dir, ".filebus"), "FILEBUS_STATE": "off"}[name]
	}
	code := run(t.Context(), env, append([]string{"--json", "--lock-wait", "50s"}, args...))
	if code != cli.ExitDone && code != cli.ExitNotFound && code != cli.ExitConflict {
		t.Errorf("filebus %s: exit code %d\n%s%s", strings.Join(args, " "), code, out.String(), errText.String())
	}
	var answer struct {
		Ref       string
		Unchanged bool
	}
	_ = json.Unmarshal(out.Bytes(), &answer) // what failed has no answer
	return reply{code, answer.Ref[:min(len(answer.Ref), 12)], answer.Unchanged}
}

// next picks what to do, mostly with what it has seen before.
func (c *client) next(notes, issues []string) act {
	if c.IntN(3) == 0 {
		verbs := []string{"claim", "release"}
		return act{name: issues[c.IntN(len(issues))], verb: verbs[c.IntN(len(verbs))], who: c.who}
	}
	a := act{name: notes[c.IntN(len(notes))], who: c.who, text: fmt.Sprintf("Text %d", c.IntN(4))}
	switch c.IntN(8) {
	case 0:
		a.verb = "rm"
	case 1, 2:
		a.verb = "get"
	case 3:
		a.verb, a.expect = "put", "absent"
	case 4, 5, 6:
		a.verb, a.expect = "put", c.seen[a.name]
	default:
		a.verb = "put"
	}
	return a
}

// TestHistories lets many change few names at once, notes every call with the time
// it began and ended, and looks for an order in which one after the other would have
// answered the same. FILEBUS_HISTORIES says how many such histories, as in
//
//	FILEBUS_HISTORIES=200 go test ./cmd/filebus -run '^TestHistories$' -timeout 2h -v
func TestHistories(t *testing.T) {
	t.Parallel()
	for n := range effort(t, "FILEBUS_HISTORIES", 1) {
		if t.Run(fmt.Sprint("history ", n), history); t.Failed() {
			return
		}
	}
}

func history(t *testing.T) {
	dir := t.TempDir()
	mustRun(t, dir, "init")
	notes, issues := []string{"note/one", "note/two"}, []string{}
	for i := range 2 {
		id := anIssue.FindString(mustRun(t, dir, "issue", "add", fmt.Sprint("Issue ", i), "--type", "bug"))
		mustRun(t, dir, "issue", "accept", id)
		issues = append(issues, id)
	}
	const clients, acts = 8, 25
	var mu sync.Mutex
	var all []porcupine.Operation
	began := time.Now()
	var wg sync.WaitGroup
	for id := range clients {
		c := &client{rand.New(chance(t)), dir, fmt.Sprint("agent-", id), map[string]string{}}
		wg.Go(func() {
			for range acts {
				a := c.next(notes, issues)
				call := time.Since(began)
				r := c.run(t, a)
				end := time.Since(began)
				if r.ref != "" {
					c.seen[a.name] = r.ref
				}
				mu.Lock()
				all = append(all, porcupine.Operation{ClientId: id, Input: a, Call: int64(call), Output: r, Return: int64(end)})
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	model := porcupine.Model{Init: func() any { return "" }, Step: atOnce}
	for name, part := range byName(all) {
		if result := porcupine.CheckOperationsTimeout(model, part, bound); result != porcupine.Ok {
			slices.SortFunc(part, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
			for _, o := range part {
				t.Logf("%8d-%8d %+v", o.Call/1000, o.Return/1000, [...]any{o.Input, o.Output})
			}
			t.Errorf("no order of these %d calls of %s explains what they answered: %v", len(part), name, result)
		}
	}
	wantSound(t, dir)
}

// byName takes a history apart: names do not depend on each other.
func byName(all []porcupine.Operation) map[string][]porcupine.Operation {
	parts := map[string][]porcupine.Operation{}
	for _, o := range all {
		name := o.Input.(act).name
		parts[name] = append(parts[name], o)
	}
	return parts
}

// TestHistoryModel holds that the model refuses what must not happen.
func TestHistoryModel(t *testing.T) {
	for _, test := range []struct {
		state string
		act   act
		reply reply
		want  bool
	}{
		{"a", act{verb: "get"}, reply{ref: "a"}, true},
		{"a", act{verb: "get"}, reply{ref: "b"}, false},
		{"a", act{verb: "get"}, reply{code: cli.ExitNotFound}, false},
		{"a", act{verb: "put", expect: "a"}, reply{ref: "b"}, true},
		{"a", act{verb: "put", expect: "b"}, reply{ref: "c"}, false},
		{"a", act{verb: "put", expect: "a"}, reply{code: cli.ExitConflict}, false},
		{"a", act{verb: "put", expect: "absent"}, reply{ref: "b"}, false},
		{"a", act{verb: "put"}, reply{ref: "a"}, false},
		{"x", act{verb: "claim", who: "y"}, reply{}, false},
		{"x", act{verb: "release", who: "y"}, reply{}, false},
		{"", act{verb: "rm"}, reply{}, false},
	} {
		if got, _ := atOnce(test.state, test.act, test.reply); got != test.want {
			t.Errorf("in state %q, %+v with %+v: %t, want %t", test.state, test.act, test.reply, got, test.want)
		}
	}
}
