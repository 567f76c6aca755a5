package fwpsuite

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fwp"
)

// waitedAtLeast is what a FETCH takes that found no job at first.
const waitedAtLeast = 200 * time.Millisecond

// GoalOf returns the goal of a clause that binds servers. A pass of the clause counts only if one of the checks that
// gave it has reached the goal.
func GoalOf(clause string) conformance.Goal {
	id := strings.TrimPrefix(strings.TrimPrefix(clause, "FWP-"), "FKT-")
	if g, special := specialGoals()[id]; special {
		return g
	}
	family, _, _ := strings.Cut(id, "-")
	switch family {
	case "HI":
		return goal("a server greeted", anyOf(func(x exchange) bool { return x.Sent == "" && x.Kind() == '+' }))
	case "AUTH", "HELLO":
		return goal("a HELLO was answered, or ended its connection", decided(fwp.HELLO))
	case "LINK", "FRAME", "RESP", "STATE":
		return goal("a command behind HELLO was answered", anyOf(func(x exchange) bool {
			return x.Verb() != "" && x.Verb() != fwp.HELLO && x.Kind() != 0
		}))
	case "WU", "RETRY":
		return goal("a PUSH was answered", decided(fwp.PUSH))
	}
	return goal(family+" was answered, or ended its connection", decided(family))
}

// exchange is a line of a client with its reply.
type exchange = conformance.Exchange

// anyOf returns what reports whether one exchange of a conversation is such.
func anyOf(is func(exchange) bool) func([]exchange) bool { return conformance.AnyOf(is) }

// goal returns a goal with the words that complete "it was never seen that".
func goal(words string, happened func([]exchange) bool) conformance.Goal {
	return conformance.Goal{Words: words, Happened: happened}
}

// goalOfCheck returns what must have happened in a check for its pass of a clause to mean something: the goal of the
// clause, unless the check is about another situation. It is not strict where it is left to chance, or read from JSON
// that a conversation has in part and as it was written: then it is enough that one check has reached it.
func goalOfCheck(check, clause string) (goal conformance.Goal, strict bool) {
	switch check + " " + clause {
	case "ack/is-final FWP-STATE-05", "workers/one-connection-ends FWP-STATE-05",
		"end/leaves-the-jobs-of-others FWP-STATE-05":
		return GoalOf("FWP-FETCH-03"), true // the other workers get nothing
	case "resp/declined-with-errors FWP-RESP-02", "states/hello-after-refusal FWP-STATE-12",
		"states/no-effect-before-hello FWP-PUSH-03": // before HELLO a server may close instead
		return GoalOf(clause), false
	}
	switch strings.TrimPrefix(clause, "FWP-") {
	case "STATE-05", // which of several workers gets a job is up to the server
		"STATE-07", "STATE-09", "FAIL-06", "FAIL-07", "BEAT-03", "BEAT-04": // of a jid, or a state
		return GoalOf(clause), false
	}
	return GoalOf(clause), true
}

// specialGoals has the goals of clauses that a server can slip past by avoiding a situation, by id without its prefix.
func specialGoals() map[string]conformance.Goal {
	delivered := goal("a FETCH delivered a job", anyOf(delivers))
	inVain := goal("a FETCH found no job", anyOf(func(x exchange) bool { return x.Verb() == fwp.FETCH && x.Got == "$-1" }))
	waited := goal("a job was delivered to a FETCH that had waited for it", anyOf(func(x exchange) bool {
		return delivers(x) && x.Took() > waitedAtLeast
	}))
	failed := goal("a job failed", accepted(fwp.FAIL))
	back := goal("a job was delivered again", againDelivered)
	refused := goal("a command was refused", anyOf(func(x exchange) bool { return x.Sent != "" && x.Kind() == '-' }))
	bulk := goal("a bulk string was received", anyOf(func(x exchange) bool { return x.Kind() == '$' && x.Got != "$-1" }))
	state := goal("a BEAT brought a state", anyOf(func(x exchange) bool {
		return x.Verb() == fwp.BEAT && strings.Contains(plain(x.Got), `"state"`)
	}))
	goals := map[string]conformance.Goal{
		"STATE-05": goal("jobs were delivered to several connections", severalServed), "RESP-02": refused, "RESP-03": bulk,
		"RESP-04": inVain, "RESP-07": refused, "STATE-12": refused, "STATE-06": failed, "STATE-07": back,
		"STATE-09": back, "BEAT-03": state, "BEAT-04": state, "FETCH-03": inVain, "FETCH-05": inVain, "FETCH-06": waited,
		"FETCH-14": waited, "ACK-02": goal("a job was acknowledged, and then a FETCH was answered", fetchedAfter(fwp.ACK)),
		"RETRY-05": failed, "RETRY-03": failed, "FAIL-06": back, "FAIL-07": back,
		"PUSH-03": goal("a PUSH was refused",
			anyOf(func(x exchange) bool { return x.Verb() == fwp.PUSH && x.Kind() == '-' })),
	}
	for id := range strings.FieldsSeq("RESP-06 STATE-04 STATE-08 STATE-11 FETCH-01 FETCH-04 FETCH-08 PUSH-01 PUSH-04 " +
		"FRAME-09 WU-03 WU-04 WU-05 WU-06 WU-07 WU-10 WU-11 WU-12 WU-13") {
		goals[id] = delivered
	}
	return goals
}

// decided is the goal that a command was answered, or ended its connection.
func decided(verb string) func([]exchange) bool {
	return anyOf(func(x exchange) bool { return x.Verb() == verb && (x.Kind() != 0 || x.Ended) })
}

// accepted is the goal that a command was answered with no error.
func accepted(verb string) func([]exchange) bool {
	return anyOf(func(x exchange) bool { return x.Verb() == verb && x.Kind() != 0 && x.Kind() != '-' })
}

func delivers(x exchange) bool { return x.Verb() == fwp.FETCH && hashShown.MatchString(x.Got) }

// hashShown matches a bulk string with a JSON hash, as a conversation shows it.
var hashShown = regexp.MustCompile(`^\$( |\\[nrt])*\{`)

// severalServed reports whether jobs were delivered to several connections.
func severalServed(all []exchange) bool {
	served := map[string]bool{}
	for _, x := range all {
		if delivers(x) {
			served[x.Conn] = true
		}
	}
	return len(served) > 1
}

// againDelivered reports whether a job was delivered twice: it is seen by its jid, or, where the jid stands in a part
// of a long job that the conversation leaves out, by more jobs that came than were pushed.
func againDelivered(all []exchange) bool {
	seen := map[string]bool{}
	pushed, came, hidden := 0, 0, false
	for _, x := range all {
		if x.Verb() == fwp.PUSH && x.Kind() == '+' {
			pushed++
		}
		if !delivers(x) {
			continue
		}
		jid := jidOf(x)
		if jid != "" && seen[jid] {
			return true
		}
		seen[jid], hidden = true, hidden || jid == ""
		came++
	}
	return hidden && came > pushed
}

// fetchedAfter is the goal that a FETCH was answered after a command was accepted.
func fetchedAfter(verb string) func([]exchange) bool {
	return func(all []exchange) bool {
		after := accepted(verb)
		for i, x := range all {
			if x.Verb() == fwp.FETCH && x.Kind() != 0 && after(all[:i]) {
				return true
			}
		}
		return false
	}
}

// jidOf returns the jid of the job in the reply, empty if none is shown.
func jidOf(x exchange) string {
	if found := jidShown.FindStringSubmatch(plain(x.Got)); found != nil {
		return found[1]
	}
	return ""
}

// jidShown matches the jid of a job: the conversation may have only a part of its JSON.
var jidShown = regexp.MustCompile(`"jid"\s*:\s*"([^"]*)"`)

// plain returns the JSON of a reply, as a conversation shows it, with blanks for white space between its tokens, and
// without the escapes of characters that need none.
func plain(got string) string {
	return escapeShown.ReplaceAllStringFunc(blankShown.ReplaceAllString(got, " "), func(escape string) string {
		code, _ := strconv.ParseUint(escape[len(escape)-2:], 16, 8) // the pattern has two digits
		return string(rune(code))
	})
}

var (
	blankShown  = regexp.MustCompile(`\\[nrt]`)
	escapeShown = regexp.MustCompile(`\\\\u00[2-7][0-9A-Fa-f]`)
)
