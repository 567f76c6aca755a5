package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/registry"
)

// What can become of a line from one file to another, in the order of its weight.
const (
	wordLost     = "lost"     // it was found, and is not any more
	wordGained   = "gained"   // it was not found
	wordChanged  = "changed"  // in its clauses, its checks or its exit code
	wordUnsteady = "unsteady" // chance decides what differs
	wordMissing  = "missing"  // only the first file has it
	wordAdded    = "new"      // only the second one has it
)

// playName is a thing that was played, once or more often.
type playName struct{ kind, name string }

// difference is what has become of it.
type difference struct {
	playName

	word   string
	detail string
}

// compare returns what changed between two files, in their order.
func compare(before, after []line) (all []difference) {
	old, now := plays(before), plays(after)
	names := slices.Concat(slices.Collect(maps.Keys(old)), slices.Collect(maps.Keys(now)))
	slices.SortFunc(names, func(a, b playName) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind),
			cmp.Compare(a.name, b.name))
	})
	for _, w := range slices.Compact(names) {
		if word := changeWord(old[w], now[w]); word != "" {
			all = append(all, difference{w, word, details(old[w], now[w])})
		}
	}
	return all
}

// rename gives the checks of lines the names that they have today, so that a new name is no difference.
func rename(all []line) []line {
	names := map[string]string{}
	for _, entry := range registry.All() {
		maps.Copy(names, entry.Retired)
	}
	for i := range all {
		for j, check := range all[i].checks {
			all[i].checks[j] = cmp.Or(names[check], check)
		}
		slices.Sort(all[i].checks)
		all[i].checks = slices.Compact(all[i].checks)
	}
	return all
}

// plays returns what the plays of each thing have come to, in their order.
func plays(all []line) map[playName][]outcome {
	byName := map[playName][]outcome{}
	for _, l := range all {
		w := playName{l.kind, l.name}
		byName[w] = append(byName[w], l.outcome)
	}
	return byName
}

// changeWord returns what has become of a thing, "" if it is as it was.
func changeWord(old, now []outcome) string {
	differ := func(a, b outcome) bool { return diff(a, b) != "" }
	isResult := func(word string) func(outcome) bool { return func(o outcome) bool { return o.result == word } }
	isOther := func(word string) func(outcome) bool { return func(o outcome) bool { return o.result != word } }
	varies := func(all []outcome) bool {
		return slices.ContainsFunc(all, func(o outcome) bool { return differ(o, all[0]) })
	}
	switch {
	case len(old) == 0:
		return wordAdded
	case len(now) == 0:
		return wordMissing
	case !slices.ContainsFunc(old, isOther(resultFound)) && !slices.ContainsFunc(now, isResult(resultFound)):
		return wordLost
	case !slices.ContainsFunc(old, isResult(resultFound)) && !slices.ContainsFunc(now, isOther(resultFound)):
		return wordGained
	case !varies(slices.Concat(old, now)):
		return ""
	case slices.ContainsFunc(now, func(o outcome) bool { return !slices.ContainsFunc(old, o.hasSameEnd) }):
		return wordChanged
	case varies(old) || slices.ContainsFunc(now, func(o outcome) bool { return !differ(o, old[0]) }):
		return wordUnsteady
	}
	return wordChanged
}

// hasSameEnd reports whether an outcome has the result and the exit code of another one.
func (o outcome) hasSameEnd(other outcome) bool {
	return o.result == other.result && o.exit == other.exit
}

// details says how plays differ: from the first one of the first file each other one that differs from it.
func details(old, now []outcome) string {
	if len(old) == 0 || len(now) == 0 {
		return ""
	}
	var all []string
	for _, o := range slices.Concat(old[1:], now) {
		if d := diff(old[0], o); d != "" && !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	return strings.Join(all, "; or ")
}

// diff says how an outcome differs from another one, "" if it does not.
func diff(a, b outcome) string {
	var all []string
	if a.result != b.result {
		all = append(all, a.result+" -> "+b.result)
	}
	for _, list := range []struct {
		name string
		a, b []string
	}{{"clauses", a.clauses, b.clauses}, {"checks", a.checks, b.checks}, {"open", a.openClauses, b.openClauses}} {
		if words := append(signedDiff("-", list.a, list.b), signedDiff("+", list.b, list.a)...); len(words) > 0 {
			all = append(all, list.name+" "+strings.Join(words, " "))
		}
	}
	if a.exit != b.exit {
		all = append(all, fmt.Sprintf("exit %d -> %d", a.exit, b.exit))
	}
	return strings.Join(all, ", ")
}

// signedDiff returns the words of a list that another one does not have, with a sign.
func signedDiff(sign string, list, other []string) (words []string) {
	for _, word := range list {
		if !slices.Contains(other, word) {
			words = append(words, sign+word)
		}
	}
	return words
}

// tell returns differences as text, and how many there are of each kind, and whether nothing changed but by
// chance.
func tell(all []difference) (text string, isSame bool) {
	counts, isSame := map[string]int{}, true
	var w strings.Builder
	for _, d := range all {
		fmt.Fprintln(&w, strings.TrimRight(strings.Join([]string{d.word, d.kind, d.name, d.detail}, separator), separator))
		counts[d.word]++
		isSame = isSame && d.word == wordUnsteady
	}
	for _, word := range []string{wordLost, wordGained, wordChanged, wordUnsteady, wordMissing, wordAdded} {
		if counts[word] > 0 {
			fmt.Fprintf(&w, "# %s: %d\n", word, counts[word])
		}
	}
	return w.String(), isSame
}

// sum says how many things of each kind were found.
func sum(all []line) string {
	var w strings.Builder
	counts := map[[3]string]int{}
	for _, l := range all {
		protocol, _, _ := strings.Cut(l.name, "/")
		counts[[3]string{l.kind, protocol, l.result}]++
	}
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b [3]string) int { return slices.Compare(a[:], b[:]) })
	for _, k := range keys {
		fmt.Fprintf(&w, "%-16s %-12s %-10s %6d\n", k[0], k[1], k[2], counts[k])
	}
	return w.String()
}
