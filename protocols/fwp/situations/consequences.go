package situations

import (
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// lineConsequences are the clauses that cannot hold where the lines of a verb cannot be read.
var lineConsequences = map[string]string{
	fwp.HELLO: "HELLO-01 HELLO-02 HELLO-09 HELLO-12 AUTH-01 AUTH-03 STATE-02 FETCH-11 RESP-09",
	fwp.END:   "END-03 END-04 STATE-15",
	fwp.FETCH: "WRK-11 FETCH-09 FETCH-11 RESP-08 RESP-09",
	fwp.ACK:   "FETCH-09 FETCH-10 FETCH-11 ACK-05 ACK-06 END-04 STATE-21 WRK-03 WRK-07 RESP-09",
	fwp.FAIL:  "FETCH-09 FETCH-10 FETCH-11 FAIL-04 FAIL-05 END-04 STATE-21 WRK-03 WRK-04 WRK-15 RESP-09",
	fwp.BEAT:  "BEAT-06 BEAT-10 BEAT-13 BEAT-16 STATE-17 STATE-19 STATE-20 STATE-22 RESP-09",
	fwp.PUSH:  "WU-19 WU-03 RESP-08 RESP-09 FRAME-07",
}

// unreadableBreaches are the breaches for which a server does not carry a line out.
var unreadableBreaches = []string{clientrules.LineForm, clientrules.LineSyntax, clientrules.LineUTF8}

// breachConsequences are the clauses that cannot hold beside a breach of another kind, or that it breaks, too.
var breachConsequences = map[string]string{
	clientrules.BeforeGreeting:   "FRAME-07 AUTH-01 AUTH-03",
	clientrules.HelloNotFirst:    "STATE-02 HELLO-09 RESP-09 FETCH-11",
	clientrules.WidShared:        "BEAT-07 HELLO-12 FETCH-09 END-04",
	clientrules.QuietWithoutBeat: "BEAT-06",
	clientrules.LineUTF8:         "WRK-15 WRK-03 FETCH-09", // the jid may be another then
	clientrules.LineUnfinished:   cutLineConsequences,
	clientrules.LineStalled:      cutLineConsequences,
}

// cutLineConsequences are the clauses that cannot hold where the server waits for the rest of a line.
const cutLineConsequences = "FETCH-09 FETCH-11 ACK-05 BEAT-06 WU-19 RESP-08 RESP-09"

// replyConsequences are the clauses of a client that does not understand replies.
const replyConsequences = "FRAME-07 STATE-15 WRK-03 FETCH-09 RESP-09"

// leftoverConsequences are the clauses that an empty line breaks, too: the client takes the reply to it for that to the
// next one.
const leftoverConsequences = "FRAME-04 FRAME-07 RESP-08 RESP-09 FETCH-09 FETCH-11 WU-19 STATE-15"

// consequences leaves those findings of a play open that follow from another one, so that each cause is reported once:
// a worker whose ACKs cannot be read has not forgotten to report its jobs.
func (t *trial) consequences(all []conformance.Decision, results []clientrules.Result) []conformance.Decision {
	causes, verbs := causeByClause{}, t.verbsOfWrongLines()
	for _, r := range results {
		if t.isUnjudged(r) {
			continue
		}
		for _, breach := range r.Examples {
			t.addBreachConsequences(causes, breach, causeOfEmptyLines(results))
		}
	}
	for _, d := range all {
		if d.Outcome == play.Mismatched && causes[d.Clause] == "" {
			t.addDecisionConsequences(causes, d.Clause)
		}
	}
	for i, d := range all {
		if cause := causes[d.Clause]; cause != "" && d.Outcome == play.Mismatched && causes[cause] == "" {
			all[i] = dependentDecision(d.Clause, "this finding may be a consequence of the one about "+cause)
		}
		if verb := verbs[d.Clause]; verb != "" && d.Outcome == play.Matched {
			all[i] = dependentDecision(d.Clause, "it was seen together with wrong lines of "+verb)
		}
	}
	return all
}

// dependentDecision leaves a clause open because another one is broken.
func dependentDecision(clause, cause string) conformance.Decision {
	d := openDecision(clause, cause)
	d.Reason, d.HasOtherBreach = reports.ReasonSetUp, true
	return d
}

// verbsOfWrongLines returns the verbs of lines that are wrong, by the clauses that have not held where such lines are
// all that shows it: they were read, and carried out, as what they were meant to be.
func (t *trial) verbsOfWrongLines() causeByClause {
	verbs, isAdded := causeByClause{}, map[string]bool{}
	for _, e := range t.all(func(e *clientrules.Event) bool { return len(e.Mistakes) > 0 }) {
		if verb := e.Verb(); !isAdded[verb] {
			verbs.add(verb, lineConsequences[verb])
			isAdded[verb] = true
		}
	}
	return verbs
}

// causeOfEmptyLines returns the clause that an empty line breaks: it is what is left of a line that has two ends, where
// one of these was found, or else a line too many.
func causeOfEmptyLines(results []clientrules.Result) string {
	for _, r := range results {
		if r.Rule.Breach == clientrules.LineEnd && r.Breaches > 0 {
			return fwpsuite.ClauseOf(clientrules.LineEnd)
		}
	}
	return fwpsuite.ClauseOf(clientrules.LineSyntax)
}

// causeByClause have the cause, a clause or a verb, by the clause of what may follow from it.
type causeByClause map[string]string

func (f causeByClause) add(cause, ids string) {
	for id := range strings.FieldsSeq(ids) {
		if clause := "FWP-" + id; clause != cause && f[clause] == "" {
			f[clause] = cause
		}
	}
}

// addBreachConsequences adds what may follow from what a rule has found.
func (t *trial) addBreachConsequences(causes causeByClause, breach clientrules.Breach, leftoverOf string) {
	cause := fwpsuite.ClauseOf(breach.Name)
	if slices.Contains(unreadableBreaches, breach.Name) && t.wasRefused(breach) {
		causes.add(cause, lineConsequences[verbOfEvidence(breach)])
	}
	if breach.Name == clientrules.LineSyntax && textOfEvidence(breach) == "" {
		causes.add(leftoverOf, leftoverConsequences)
	}
	causes.add(cause, breachConsequences[breach.Name])
}

// addDecisionConsequences adds what may follow from a clause that the situation has found broken.
func (t *trial) addDecisionConsequences(causes causeByClause, clause string) {
	switch id := strings.TrimPrefix(clause, "FWP-"); {
	case id == "RESP-08":
		causes.add(clause, replyConsequences)
	case id == "STATE-24" && slices.Contains([]string{quietAfterLoss, quietFirstBeat, quietFirstBeatSimple},
		t.situation.id):
		// it was quiet before
		causes.add(clause, "STATE-17 BEAT-13")
	}
}

// wasRefused reports whether the line that shows a breach was not carried out: the server forgives small mistakes.
func (t *trial) wasRefused(breach clientrules.Breach) bool {
	if len(breach.Evidence) == 0 {
		return false
	}
	line := breach.Evidence[len(breach.Evidence)-1]
	reply := t.first(eventsAfter(line.At, func(e *clientrules.Event) bool {
		return e.Kind == clientrules.Reply && e.Conn == line.Conn
	}))
	return reply == nil || reply.IsError()
}

// verbOfEvidence returns the verb of the line that shows a breach, in upper case.
func verbOfEvidence(b clientrules.Breach) string {
	return strings.ToUpper(clientrules.Verb([]byte(strings.TrimSpace(textOfEvidence(b)))))
}

// textOfEvidence returns the line that shows a breach, as it is printed.
func textOfEvidence(b clientrules.Breach) string {
	if len(b.Evidence) == 0 {
		return ""
	}
	return strings.TrimPrefix(b.Evidence[len(b.Evidence)-1].Text, "C: ")
}
