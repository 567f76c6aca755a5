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
	lost     = "lost"     // it was found, and is not any more
	gained   = "gained"   // it was not found
	changed  = "changed"  // in its clauses, its checks or its exit code
	unsteady = "unsteady" // chance decides what differs
	missing  = "missing"  // only the first file has it
	added    = "new"      // only the second one has it
)

// what is a thing that was played, once or more often.
type what struct{ kind, name string }

// difference is what has become of it.
type difference struct {
	what

	word   string
	detail string
}

// compare returns what changed between two files, in their order.
func compare(before, after []line) (all []difference) {
	old, now := plays(before), plays(after)
	names := slices.Concat(slices.Collect(maps.Keys(old)), slices.Collect(maps.Keys(now)))
	slices.SortFunc(names, func(a, b what) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name)) })
	for _, w := range slices.Compact(names) {
		if word := became(old[w], now[w]); word != "" {
			all = append(all, difference{w, word, details(old[w], now[w])})
		}
	}
	return all
}

// renamed gives the checks of lines the names that they have today, so that a new name is no difference.
func renamed(all []line) []line {
	names := map[string]string{}
	for _, of := range registry.All() {
		maps.Copy(names, of.Retired)
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
func plays(all []line) map[what][]outcome {
	of := map[what][]outcome{}
	for _, l := range all {
		w := what{l.kind, l.name}
		of[w] = append(of[w], l.outcome)
	}
	return of
}

// became returns what has become of a thing, "" if it is as it was.
func became(old, now []outcome) string {
	differ := func(a, b outcome) bool { return diff(a, b) != "" }
	is := func(word string) func(outcome) bool { return func(o outcome) bool { return o.found == word } }
	not := func(word string) func(outcome) bool { return func(o outcome) bool { return o.found != word } }
	varies := func(all []outcome) bool {
		return slices.ContainsFunc(all, func(o outcome) bool { return differ(o, all[0]) })
	}
	switch {
	case len(old) == 0:
		return added
	case len(now) == 0:
		return missing
	case !slices.ContainsFunc(old, not(found)) && !slices.ContainsFunc(now, is(found)):
		return lost
	case !slices.ContainsFunc(old, is(found)) && !slices.ContainsFunc(now, not(found)):
		return gained
	case !varies(slices.Concat(old, now)):
		return ""
	case slices.ContainsFunc(now, func(o outcome) bool { return !slices.ContainsFunc(old, o.endsLike) }):
		return changed
	case varies(old) || slices.ContainsFunc(now, func(o outcome) bool { return !differ(o, old[0]) }):
		return unsteady
	}
	return changed
}

// endsLike reports whether an outcome has the result and the exit code of another one.
func (o outcome) endsLike(other outcome) bool { return o.found == other.found && o.exit == other.exit }

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
	if a.found != b.found {
		all = append(all, a.found+" -> "+b.found)
	}
	for _, list := range []struct {
		name string
		a, b []string
	}{{"clauses", a.clauses, b.clauses}, {"checks", a.checks, b.checks}, {"open", a.open, b.open}} {
		if signed := append(without("-", list.a, list.b), without("+", list.b, list.a)...); len(signed) > 0 {
			all = append(all, list.name+" "+strings.Join(signed, " "))
		}
	}
	if a.exit != b.exit {
		all = append(all, fmt.Sprintf("exit %d -> %d", a.exit, b.exit))
	}
	return strings.Join(all, ", ")
}

// without returns the words of a list that another one does not have, with a sign.
func without(sign string, list, other []string) (signed []string) {
	for _, word := range list {
		if !slices.Contains(other, word) {
			signed = append(signed, sign+word)
		}
	}
	return signed
}

// tell returns differences as text, and how many there are of each kind, and whether nothing changed but by
// chance.
func tell(all []difference) (text string, same bool) {
	counts, same := map[string]int{}, true
	var w strings.Builder
	for _, d := range all {
		fmt.Fprintln(&w, strings.TrimRight(strings.Join([]string{d.word, d.kind, d.name, d.detail}, separator), separator))
		counts[d.word]++
		same = same && d.word == unsteady
	}
	for _, word := range []string{lost, gained, changed, unsteady, missing, added} {
		if counts[word] > 0 {
			fmt.Fprintf(&w, "# %s: %d\n", word, counts[word])
		}
	}
	return w.String(), same
}

// sum says how many things of each kind were found.
func sum(all []line) string {
	var w strings.Builder
	counts := map[[3]string]int{}
	for _, l := range all {
		protocol, _, _ := strings.Cut(l.name, "/")
		counts[[3]string{l.kind, protocol, l.found}]++
	}
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b [3]string) int { return slices.Compare(a[:], b[:]) })
	for _, k := range keys {
		fmt.Fprintf(&w, "%-16s %-12s %-10s %6d\n", k[0], k[1], k[2], counts[k])
	}
	return w.String()
}
