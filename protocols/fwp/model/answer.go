package model

import (
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

// Answer is a set of ways in which a command can be answered. (Client Commands,
// Responses)
type Answer uint16

// The ways.
const (
	Okay      Answer = 1 << iota // the simple string OK
	Refused                      // an error
	Delivered                    // a bulk string that holds a job
	NullReply                    // the null bulk string
	Data                         // any bulk string
	Notified                     // {"state": ...}, as a bulk or as a simple string (AMB-02)
	Ended                        // no reply, and the end of the connection
	Foreign                      // not in the command's list of responses

	OkayOrRefused = Okay | Refused
	AnyAnswer     = Okay | Refused | Delivered | NullReply | Data | Notified | Ended | Foreign
)

var patterns = []struct {
	answer Answer
	text   string
}{
	{Okay, "+OK"}, {Refused, "-"}, {NullReply, "$-1"}, {Delivered, "${}"}, {Data, "$"},
	{Notified, `+{"state":string} | ${"state":string}`}, {Ended, "<close>"}, {Foreign, "<any>"},
}

// String returns the set as an S: line of a script expects it: "+OK | -".
func (a Answer) String() string {
	var all []string
	for _, p := range patterns {
		if a&p.answer != 0 {
			all = append(all, p.text)
		}
	}
	return strings.Join(all, " | ")
}

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
		all = append(all, Situation(r.IsGreeted, r.Verb, r.Case))
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
