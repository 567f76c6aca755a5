package conformance

import (
	"regexp"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// waitedAtLeast is what a FETCH takes that found no job at first.
const waitedAtLeast = 200 * time.Millisecond

// GoalOf returns the goal of a clause that binds servers. A pass of the clause counts only if one of the checks that
// gave it has reached the goal.
func GoalOf(clause string) Goal {
	id := strings.TrimPrefix(clause, "FWP-")
	if g, special := specialGoals()[id]; special {
		return g
	}
	family, _, _ := strings.Cut(id, "-")
	switch family {
	case "HI":
		return Goal{"a server greeted", anyOf(func(x exchange) bool { return x.sent == "" && x.kind() == '+' })}
	case "AUTH", "HELLO":
		return Goal{"a HELLO was answered, or ended its connection", decided(fwp.HELLO)}
	case "LINK", "FRAME", "RESP", "STATE":
		return Goal{"a command behind HELLO was answered", anyOf(func(x exchange) bool {
			return x.verb() != "" && x.verb() != fwp.HELLO && x.kind() != 0
		})}
	case "WU", "RETRY":
		return Goal{"a PUSH was answered", decided(fwp.PUSH)}
	}
	return Goal{family + " was answered, or ended its connection", decided(family)}
}

// goalOfCheck returns what must have happened in a check for its pass of a clause to mean something: the goal of the
// clause, unless the check is about another situation. It is not strict where it is left to chance, or read from JSON
// that a conversation has in part and as it was written: then it is enough that one check has reached it.
func goalOfCheck(check, clause string) (goal Goal, strict bool) {
	switch check + " " + clause {
	case "ack/is-final FWP-STATE-05", "workers/one-connection-ends FWP-STATE-05",
		"end/leaves-the-jobs-of-others FWP-STATE-05":
		return GoalOf("FWP-FETCH-03"), true // the other workers get nothing
	case "resp/one-reply-each FWP-RESP-06":
		return GoalOf("FWP-RESP-05"), true // to commands that deliver nothing
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
func specialGoals() map[string]Goal {
	delivered := Goal{"a FETCH delivered a job", anyOf(delivers)}
	inVain := Goal{"a FETCH found no job", anyOf(func(x exchange) bool { return x.verb() == fwp.FETCH && x.got == "$-1" })}
	waited := Goal{"a job was delivered to a FETCH that had waited for it", anyOf(func(x exchange) bool {
		return delivers(x) && x.took() > waitedAtLeast
	})}
	failed := Goal{"a job failed", accepted(fwp.FAIL)}
	back := Goal{"a job was delivered again", againDelivered}
	refused := Goal{"a command was refused", anyOf(func(x exchange) bool { return x.sent != "" && x.kind() == '-' })}
	bulk := Goal{"a bulk string was received", anyOf(func(x exchange) bool { return x.kind() == '$' && x.got != "$-1" })}
	state := Goal{"a BEAT brought a state", anyOf(func(x exchange) bool {
		return x.verb() == fwp.BEAT && strings.Contains(x.got, `"state"`)
	})}
	goals := map[string]Goal{
		"STATE-05": {"jobs were delivered to several connections", severalServed}, "RESP-02": refused, "RESP-03": bulk,
		"RESP-04": inVain, "RESP-07": refused, "STATE-12": refused, "STATE-06": failed, "STATE-07": back,
		"STATE-09": back, "BEAT-03": state, "BEAT-04": state, "FETCH-03": inVain, "FETCH-05": inVain, "FETCH-06": waited,
		"FETCH-14": waited, "ACK-02": {"a job was acknowledged, and then a FETCH was answered", fetchedAfter(fwp.ACK)},
		"RETRY-05": failed, "RETRY-03": failed, "FAIL-06": back, "FAIL-07": back,
		"PUSH-03": {"a PUSH was refused", anyOf(func(x exchange) bool { return x.verb() == fwp.PUSH && x.kind() == '-' })},
	}
	for id := range strings.FieldsSeq("RESP-06 STATE-04 STATE-08 STATE-11 FETCH-01 FETCH-04 FETCH-08 PUSH-01 PUSH-04 " +
		"FRAME-09 WU-03 WU-04 WU-05 WU-06 WU-07 WU-10 WU-11 WU-12 WU-13") {
		goals[id] = delivered
	}
	return goals
}

// decided is the goal that a command was answered, or ended its connection.
func decided(verb string) func([]exchange) bool {
	return anyOf(func(x exchange) bool { return x.verb() == verb && (x.kind() != 0 || x.ended) })
}

// accepted is the goal that a command was answered with no error.
func accepted(verb string) func([]exchange) bool {
	return anyOf(func(x exchange) bool { return x.verb() == verb && x.kind() != 0 && x.kind() != '-' })
}

func delivers(x exchange) bool { return x.verb() == fwp.FETCH && strings.HasPrefix(x.got, "${") }

// severalServed reports whether jobs were delivered to several connections.
func severalServed(all []exchange) bool {
	served := map[string]bool{}
	for _, x := range all {
		if delivers(x) {
			served[x.conn] = true
		}
	}
	return len(served) > 1
}

// againDelivered reports whether a job was delivered twice.
func againDelivered(all []exchange) bool {
	seen := map[string]bool{}
	for _, x := range all {
		if jid := x.jid(); delivers(x) && jid != "" {
			if seen[jid] {
				return true
			}
			seen[jid] = true
		}
	}
	return false
}

// fetchedAfter is the goal that a FETCH was answered after a command was accepted.
func fetchedAfter(verb string) func([]exchange) bool {
	return func(all []exchange) bool {
		after := accepted(verb)
		for i, x := range all {
			if x.verb() == fwp.FETCH && x.kind() != 0 && after(all[:i]) {
				return true
			}
		}
		return false
	}
}

// jid returns the jid of the job in the reply, empty if none is shown.
func (x exchange) jid() string {
	if found := jidShown.FindStringSubmatch(x.got); found != nil {
		return found[1]
	}
	return ""
}

// jidShown matches the jid of a job: the conversation may have only a part of its JSON.
var jidShown = regexp.MustCompile(`"jid"\s*:\s*"([^"]*)"`)
