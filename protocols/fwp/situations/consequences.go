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

// ofLine are the clauses that cannot hold where the lines of a verb cannot be read.
var ofLine = map[string]string{
	fwp.HELLO: "HELLO-01 HELLO-02 HELLO-09 HELLO-12 AUTH-01 AUTH-03 STATE-02 FETCH-11 RESP-09",
	fwp.END:   "END-03 END-04 STATE-15",
	fwp.FETCH: "WRK-11 FETCH-09 FETCH-11 RESP-08 RESP-09",
	fwp.ACK:   "FETCH-09 FETCH-10 FETCH-11 ACK-05 ACK-06 END-04 STATE-21 WRK-03 WRK-07 RESP-09",
	fwp.FAIL:  "FETCH-09 FETCH-10 FETCH-11 FAIL-04 FAIL-05 END-04 STATE-21 WRK-03 WRK-04 WRK-15 RESP-09",
	fwp.BEAT:  "BEAT-06 BEAT-10 BEAT-13 BEAT-16 STATE-17 STATE-19 STATE-20 STATE-22 RESP-09",
	fwp.PUSH:  "WU-19 WU-03 RESP-08 RESP-09 FRAME-07",
}

// unreadable are the breaches for which a server does not carry a line out.
var unreadable = []string{clientrules.LineForm, clientrules.LineSyntax, clientrules.LineUTF8}

// ofBreach are the clauses that cannot hold beside a breach of another kind, or that it breaks, too.
var ofBreach = map[string]string{
	clientrules.BeforeGreeting:   "FRAME-07 AUTH-01 AUTH-03",
	clientrules.HelloNotFirst:    "STATE-02 HELLO-09 RESP-09 FETCH-11",
	clientrules.WidShared:        "BEAT-07 HELLO-12 FETCH-09 END-04",
	clientrules.QuietWithoutBeat: "BEAT-06",
	clientrules.LineUTF8:         "WRK-15 WRK-03 FETCH-09", // the jid may be another then
	clientrules.LineUnfinished:   ofCutLine,
	clientrules.LineStalled:      ofCutLine,
}

// ofCutLine are the clauses that cannot hold where the server waits for the rest of a line.
const ofCutLine = "FETCH-09 FETCH-11 ACK-05 BEAT-06 WU-19 RESP-08 RESP-09"

// ofReplies are the clauses of a client that does not understand replies.
const ofReplies = "FRAME-07 STATE-15 WRK-03 FETCH-09 RESP-09"

// ofLeftover are the clauses that an empty line breaks, too: the client takes the reply to it for that to the next one.
const ofLeftover = "FRAME-04 FRAME-07 RESP-08 RESP-09 FETCH-09 FETCH-11 WU-19 STATE-15"

// consequences leaves those findings of a play open that follow from another one, so that each cause is reported once:
// a worker whose ACKs cannot be read has not forgotten to report its jobs.
func (t *trial) consequences(all []conformance.Decision, results []clientrules.Result) []conformance.Decision {
	follow, masked := followers{}, t.masked()
	for _, r := range results {
		if t.isUnjudged(r) {
			continue
		}
		for _, breach := range r.Examples {
			t.followBreach(follow, breach, causeOfEmptyLines(results))
		}
	}
	for _, d := range all {
		if d.Outcome == play.Mismatched && follow[d.Clause] == "" {
			t.followDecision(follow, d.Clause)
		}
	}
	for i, d := range all {
		if cause := follow[d.Clause]; cause != "" && d.Outcome == play.Mismatched && follow[cause] == "" {
			all[i] = beside(d.Clause, "this finding may be a consequence of the one about "+cause)
		}
		if verb := masked[d.Clause]; verb != "" && d.Outcome == play.Matched {
			all[i] = beside(d.Clause, "it was seen together with wrong lines of "+verb)
		}
	}
	return all
}

// beside leaves a clause open because another one is broken.
func beside(clause, why string) conformance.Decision {
	d := undecided(clause, why)
	d.Reason, d.Beside = reports.ReasonSetUp, true
	return d
}

// masked returns the verbs of lines that are wrong, by the clauses that have not held where such lines are all that
// shows it: they were read, and carried out, as what they were meant to be.
func (t *trial) masked() followers {
	verbs, seen := followers{}, map[string]bool{}
	for _, e := range t.all(func(e *clientrules.Event) bool { return len(e.Wrong) > 0 }) {
		if verb := e.Verb(); !seen[verb] {
			verbs.add(verb, ofLine[verb])
			seen[verb] = true
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

// followers have the cause, a clause or a verb, by the clause of what may follow from it.
type followers map[string]string

func (f followers) add(cause, ids string) {
	for id := range strings.FieldsSeq(ids) {
		if clause := "FWP-" + id; clause != cause && f[clause] == "" {
			f[clause] = cause
		}
	}
}

// followBreach adds what may follow from what a rule has found.
func (t *trial) followBreach(follow followers, breach clientrules.Breach, leftoverOf string) {
	cause := fwpsuite.ClauseOf(breach.Name)
	if slices.Contains(unreadable, breach.Name) && t.wasRefused(breach) {
		follow.add(cause, ofLine[verbShown(breach)])
	}
	if breach.Name == clientrules.LineSyntax && textShown(breach) == "" {
		follow.add(leftoverOf, ofLeftover)
	}
	follow.add(cause, ofBreach[breach.Name])
}

// followDecision adds what may follow from a clause that the situation has found broken.
func (t *trial) followDecision(follow followers, clause string) {
	switch id := strings.TrimPrefix(clause, "FWP-"); {
	case id == "RESP-08":
		follow.add(clause, ofReplies)
	case id == "STATE-24" && slices.Contains([]string{afterLoss, lossBesideFetch, firstBeatAndLoss}, t.situation.id):
		// it was quiet before
		follow.add(clause, "STATE-17 BEAT-13")
	}
}

// wasRefused reports whether the line that shows a breach was not carried out: the server forgives small mistakes.
func (t *trial) wasRefused(breach clientrules.Breach) bool {
	if len(breach.Shown) == 0 {
		return false
	}
	line := breach.Shown[len(breach.Shown)-1]
	reply := t.first(after(line.At, func(e *clientrules.Event) bool {
		return e.Kind == clientrules.Reply && e.Conn == line.Conn
	}))
	return reply == nil || reply.IsError()
}

// verbShown returns the verb of the line that shows a breach, in upper case.
func verbShown(b clientrules.Breach) string {
	return strings.ToUpper(clientrules.Verb([]byte(strings.TrimSpace(textShown(b)))))
}

// textShown returns the line that shows a breach, as it is printed.
func textShown(b clientrules.Breach) string {
	if len(b.Shown) == 0 {
		return ""
	}
	return strings.TrimPrefix(b.Shown[len(b.Shown)-1].Text, "C: ")
}
