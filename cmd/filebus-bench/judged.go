package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"filebus/store/record"
)

// A questionSet is the questions of a file.
type questionSet struct {
	name  string
	items []knownItem
}

// planQuestions asks the questions of some files, each within the tree that answers it and in all trees.
func planQuestions(a *attempt) []comparison {
	a.needs(a.corpus, "a folder of texts (-corpus)")
	a.needs(a.questions, "a file of questions (-questions)")
	var sets []questionSet
	var items []knownItem
	for _, file := range strings.Split(a.questions, ",") {
		s := questionSet{strings.TrimSuffix(filepath.Base(file), ".tsv"), a.readQuestions(file)}
		sets, items = append(sets, s), append(items, s.items...)
	}
	if a.against != "" {
		return []comparison{a.judged(sets, items)}
	}
	limits := map[string]string{"own-tree/all@1": "≥ 0.80", "own-tree/paraphrase@3": "≥ 0.60"}
	return a.known(items, styles(), limits, ownTree, allTrees)
}

// judged asks questions of the program that is measured and of others, its variants.
func (a *attempt) judged(sets []questionSet, items []knownItem) comparison {
	programs := append([]string{a.program}, strings.Split(a.against, ",")...)
	worths := map[string][][]float64{} // of a scope, by program and question
	for i, program := range programs {
		a.step(func() (err error) { programs[i], err = findProgram(program); return err })
		ask := a.asker(programs[i], items)
		for _, scope := range []string{ownTree, allTrees} {
			var of []float64
			for _, item := range items {
				of = append(of, worth(ask(a, scope, item), item))
			}
			worths[scope] = append(worths[scope], of)
		}
	}
	var v verdicts
	for _, scope := range []string{ownTree, allTrees} {
		if a.err == nil {
			v.add(a.seed, scope, sets, programs, worths[scope])
		}
	}
	return comparison{sides: []side{{name: "judged", run: func(*attempt) figures { return v.figures }}}, lines: v.lines}
}

// worth returns 1 if a file of an item is found first, 1/2 for the second place, down to 1/10 and 0.
func worth(found []string, item knownItem) float64 {
	at := slices.IndexFunc(found, func(file string) bool { return slices.Contains(item.files, file) })
	if at < 0 || at >= 10 {
		return 0
	}
	return 1 / float64(at+1)
}

// asker captures the folders of items with a program, and returns what searches there.
func (a *attempt) asker(program string, items []knownItem) func(a *attempt, scope string, item knownItem) []string {
	w, folders := a.workspace(program), map[record.Tree]string{}
	corpus, err := filepath.Abs(a.corpus)
	a.check(err)
	for _, item := range items {
		if tree := treeOf(item.folder); folders[tree] == "" {
			folders[tree] = item.folder
			a.run(w.command("capture", "--tree", string(tree), filepath.Join(corpus, item.folder)))
		}
	}
	a.run(w.command("reindex"))
	return func(a *attempt, scope string, item knownItem) (files []string) {
		args := []string{"search", "--json", "--limit", "10"}
		if scope == ownTree {
			args = append(args, "--tree", string(treeOf(item.folder)))
		}
		var answer struct {
			Hits []struct {
				Tree record.Tree
				Path string
			}
		}
		done := a.run(w.command(append(args, "--", item.query)...))
		a.step(func() error { return json.Unmarshal(done.stdout, &answer) })
		for _, hit := range answer.Hits {
			files = append(files, path.Join(folders[hit.Tree], hit.Path))
		}
		return files
	}
}

// verdicts are figures with the lines that show them.
type verdicts struct {
	figures figures
	lines   []line
}

func (v *verdicts) put(name, limit string, s sample) {
	v.figures = v.figures.with(figures{name: s}, "")
	v.lines = append(v.lines, line{figure: name, limit: limit})
}

// add says what programs, of which the first is the one that is measured, are worth for the questions of sets: by
// style, question by question, and for each set with the variant that is the best for the others.
func (v *verdicts) add(seed uint64, scope string, sets []questionSet, programs []string, worths [][]float64) {
	var kinds, from []string
	for _, s := range sets {
		for _, item := range s.items {
			kinds, from = append(kinds, item.kind), append(from, s.name)
		}
	}
	for i, program := range programs {
		for _, style := range append(styles(), "all") {
			of := picked(worths[i], func(n int) bool { return style == "all" || kinds[n] == style })
			name := fmt.Sprintf("%s %s/%s", program, scope, style)
			v.put(name+" MRR@10", "", interval(seed, of))
			for n := range of {
				of[n] = math.Floor(of[n])
			}
			v.put(name+"@1", "", interval(seed, of))
		}
	}
	differences := make([][]float64, len(programs))
	for i, program := range programs[1:] {
		better, worse := 0, 0
		for n, w := range worths[i+1] {
			d := w - worths[0][n]
			if differences[i+1] = append(differences[i+1], d); d > 0 {
				better++
			} else if d < 0 {
				worse++
			}
		}
		name := program + " " + scope
		v.put(name+" better", "", sample{float64(better)})
		v.put(name+" worse", "", sample{float64(worse)})
		v.put(name+" sign test", "", sample{signTest(better, worse)})
	}
	v.crossValidate(seed, scope, sets, from, programs, differences)
}

// crossValidate chooses the variant that is the best for all sets but one, and looks at what it changes for that
// one. A variant that is chosen each time, and better each time, is accepted.
func (v *verdicts) crossValidate(
	seed uint64, scope string, sets []questionSet, from, programs []string, differences [][]float64,
) {
	won := map[string]float64{}
	for _, s := range sets {
		best, gain := 0, 0.0
		for i := range programs[1:] {
			rest := picked(differences[i+1], func(n int) bool { return from[n] != s.name }).mean()
			if rest > gain {
				best, gain = i+1, rest
			}
		}
		if best == 0 {
			continue
		}
		left := picked(differences[best], func(n int) bool { return from[n] == s.name })
		v.put(fmt.Sprintf("%s %s without %s, on it", programs[best], scope, s.name), "≥ 0.0001", interval(seed, left))
		if left.mean() > 0 {
			won[programs[best]] += 1 / float64(len(sets))
		}
	}
	for _, program := range programs[1:] {
		v.put(program+" "+scope+" accepted", "≥ 1", sample{won[program]})
	}
}

// picked returns the values of which the places are picked.
func picked(values []float64, isPicked func(n int) bool) (all sample) {
	for n, value := range values {
		if isPicked(n) {
			all = append(all, value)
		}
	}
	return all
}

// interval returns the mean of values between the ends of its 95 % interval by bootstrap; nothing of none.
func interval(seed uint64, values sample) sample {
	const drawn, outside = 2000, 50
	if len(values) == 0 {
		return nil
	}
	random, means := rand.New(rand.NewPCG(seed, 3)), make(sample, drawn)
	for i := range means {
		again := make(sample, len(values))
		for n := range again {
			again[n] = pick(random, values)
		}
		means[i] = again.mean()
	}
	slices.Sort(means)
	return sample{means[outside], values.mean(), means[drawn-1-outside]}
}

// signTest returns how likely it is that of so many differences as few as the fewer have one sign, or fewer, by chance.
func signTest(better, worse int) float64 {
	sum, n := 0.0, better+worse
	factorial := func(n int) float64 { log, _ := math.Lgamma(float64(n + 1)); return log }
	for k := range min(better, worse) + 1 {
		sum += math.Exp(factorial(n) - factorial(k) - factorial(n-k) - float64(n)*math.Ln2)
	}
	return min(1, 2*sum)
}
