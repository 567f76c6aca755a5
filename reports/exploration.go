package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// ExplorationSchema is the Schema of every Exploration.
const ExplorationSchema = "fwpexplore/2"

// Exploration is the result of exploring a server with generated commands. Durations are nanoseconds in JSON, in
// keys that end in _ns. It is plain data without locks.
type Exploration struct {
	Head
	Target Target `json:"target"`
	// Commands is how many were sent, those that shrank findings not included, and Judged how many replies of those that
	// a single client at a time has received were compared with the model.
	Commands int `json:"commands"`
	Judged   int `json:"judged"`
	// States, Transitions and Outcomes count what was seen: "identified worker", "identified > quiet",
	// "fetch identified worker: null".
	States      map[string]int `json:"states"`
	Transitions map[string]int `json:"transitions"`
	Outcomes    map[string]int `json:"outcomes"`
	// Situations counts how often a command met each situation that the specification distinguishes: "identified: push,
	// the jid was used before". Zero: never.
	Situations map[string]int       `json:"situations"`
	Findings   []ExplorationFinding `json:"findings"`
	// ConnLimit is how many connections the target serves at a time, if a limit was met. (AMB-14)
	ConnLimit int `json:"connections_limit,omitempty"`
	// EndedBy is the limit that ended it, if it was not the time or the number of commands: "--findings 1".
	EndedBy string `json:"ended_by,omitempty"`
	// Outages are the times during which the target was unreachable, although the commands before do not make it so.
	Outages []string `json:"outages,omitempty" from:"target"`
	// MissReason says which disruption was not seen to take effect, so that it decided nothing; empty if all were seen.
	MissReason string `json:"unseen,omitempty" from:"target"`
	// SilenceReason says why new connections were not served, and what to do, if that was so: they got no reply in time,
	// since the target is slow or serves few at a time, or they were refused.
	SilenceReason string `json:"silent,omitempty" from:"target"`
	// Unread says which commands had most of their replies beyond a limit of the suite, and beyond which; empty if none
	// had.
	Unread string `json:"unread,omitempty" from:"target"`
	// LeftoverJobs names jobs that are still on the target.
	LeftoverJobs []string `json:"left,omitempty" from:"target"`
}

// ExplorationFinding is one finding of an exploration.
type ExplorationFinding struct {
	Finding
	// AfterCommands is the number of commands after which it was seen.
	AfterCommands int `json:"after_commands"`
	// Times is how often it was seen while the run explored, and Places where, and how often there: a command with its
	// answer, or a field with the kinds of its values. It is told once.
	Times  int            `json:"times,omitempty"`
	Places map[string]int `json:"places,omitempty"`
	// Control is Fail or Crash if the embedded server, which is right, fails the script too, and Pass if it does not;
	// anything else means that this was not tried.
	Control Verdict `json:"control,omitzero"`
	// ExplainedBy is the clause of another finding, which is reproduced, and may be the reason of this one: that is not
	// reproduced, or rests on the clause.
	ExplainedBy string `json:"explained_by,omitempty"`
	// ScriptPath is the file that holds the script, RunPath the one that holds the exploration up to the finding.
	ScriptPath string `json:"path,omitempty"`
	RunPath    string `json:"run,omitempty"`
	// Reproduced is how often the script showed it, of Attempts times.
	Reproduced int `json:"reproduced,omitempty"`
	Attempts   int `json:"tried,omitempty"`
}

// Confirmed reports whether f was reproduced in more than half of the plays of its script.
func (f *ExplorationFinding) Confirmed() bool { return 2*f.Reproduced > f.Attempts }

// Outcome returns the exit code and what it stands for in one line of words. An exploration in which no connection was
// identified has evaluated nothing.
func (e *Exploration) Outcome(o ExitOptions) Outcome {
	counts, hasFailure := e.counts(), false
	for v := range counts {
		hasFailure = hasFailure || o.isFailure(v)
	}
	summary := fmt.Sprintf("%s, %s, %s",
		text.Count(e.Commands, "command"), text.Count(len(e.States), "state"), text.Count(len(e.Outcomes), "outcome"))
	findings := JoinWith(": ", text.Count(len(e.Findings), "finding"), verdictList(counts)) + "; " + summary
	identified := 0
	for state, n := range e.States {
		if state != "not identified" && state != "ended" {
			identified += n
		}
	}
	return Decide(append(e.Claims(findings, "no server could be explored"),
		NewClaim(ExitFindings, hasFailure, findings),
		NewClaim(ExitInconclusive, identified == 0, e.emptyWords("no connection was identified")),
		NewClaim(ExitInconclusive, !e.isServed(), e.emptyWords("no command after HELLO was answered")),
		NewClaim(ExitInconclusive, e.Unread != "", e.Unread),
		NewClaim(ExitInconclusive, e.MissReason != "", text.OneLine(e.MissReason)),
		NewClaim(ExitInconclusive, e.Judged < minJudged && len(e.Findings) == 0,
			fmt.Sprintf("almost nothing was evaluated: %d replies to %s", e.Judged, text.Count(e.Commands, "command"))),
		NewClaim(ExitInconclusive, len(e.Outages) > 0, "the target was temporarily unreachable: "+findings),
		NewClaim(ExitWell, len(e.Findings) > 0, findings+", none of them about a requirement"),
		NewClaim(ExitWell, true, "nothing found in "+summary),
	))
}

// minJudged is how many replies must have been evaluated for an exploration that finds nothing to say so.
const minJudged = 20

// emptyWords says why nothing was evaluated, and what to do.
func (e *Exploration) emptyWords(summary string) string {
	return join("nothing was evaluated: "+summary, e.SilenceReason)
}

// isServed reports whether the server answered a command of a connection that was identified.
func (e *Exploration) isServed() bool {
	for outcome := range e.Outcomes {
		if !strings.Contains(outcome, " not identified: ") {
			return true
		}
	}
	return false
}

// counts returns how many findings there are of each verdict.
func (e *Exploration) counts() map[Verdict]int {
	counts := map[Verdict]int{}
	for i := range e.Findings {
		counts[e.Findings[i].Verdict]++
	}
	return counts
}

// WriteJSON writes e as one indented JSON object and a final newline; o is what its exit code depends on.
func (e *Exploration) WriteJSON(w io.Writer, o ExitOptions) error {
	output := *e
	output.Head = e.WithOutcome(ExplorationSchema, e.Outcome(o))
	for _, counts := range []*map[string]int{&output.States, &output.Transitions, &output.Outcomes, &output.Situations} {
		if *counts == nil {
			*counts = map[string]int{}
		}
	}
	output.Findings = EmptyIfNil(e.Findings)
	return WriteJSON(w, &output)
}
