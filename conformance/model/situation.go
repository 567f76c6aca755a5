package model

import (
	"slices"

	"github.com/fwpsuite/fwp/fwp"
)

// Malformed is the case of a command that breaks the syntax. It has no rule: a server refuses
// it by the clause of its verb.
const Malformed Case = "malformed"

// Situation names what a command meets: the state of its connection, its verb and its case,
// as in "identified: BEAT, no client has greeted with that worker id".
func Situation(greeted bool, verb string, c Case) string {
	name := "not identified: " + verb
	if greeted {
		name = "identified: " + verb
	}
	if c != Usual {
		name += ", " + string(c)
	}
	return name
}

// Situations lists all that the specification distinguishes: those of the rules, each verb
// that is sent before HELLO, and each that is malformed.
func Situations() []string {
	var all []string
	for _, r := range rules {
		all = append(all, Situation(r.Greeted, r.Verb, r.Case))
	}
	for verb := range commands {
		all = append(all, Situation(false, verb, Malformed), Situation(true, verb, Malformed))
		if verb != fwp.HELLO && verb != fwp.END {
			all = append(all, Situation(false, verb, Usual))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
