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
	Situations map[string]int `json:"situations"`
	Findings   []Explored     `json:"findings"`
	// Limit is how many connections the target serves at a time, if a limit was met. (AMB-14)
	Limit int `json:"connections_limit,omitempty"`
	// Limits is the limit that ended it, if it was not the time or the number of commands: "--findings 1".
	Limits string `json:"ended_by,omitempty"`
	// Outages are the times during which the target was unreachable, although the commands before do not make it so.
	Outages []string `json:"outages,omitempty" from:"target"`
	// Unseen says which disruption was not seen to take effect, so that it decided nothing; empty if all were seen.
	Unseen string `json:"unseen,omitempty" from:"target"`
	// Silent says why new connections were not served, and what to do, if that was so: they got no reply in time, since
	// the target is slow or serves few at a time, or they were refused.
	Silent string `json:"silent,omitempty" from:"target"`
	// Unread says which commands had most of their replies beyond a limit of the suite, and beyond which; empty if none
	// had.
	Unread string `json:"unread,omitempty" from:"target"`
	// Left names jobs that are still on the target.
	Left []string `json:"left,omitempty" from:"target"`
}

// Explored is one finding of an exploration.
type Explored struct {
	Finding
	// After is the number of commands after which it was seen.
	After int `json:"after_commands"`
	// Times is how often it was seen while the run explored, and Places where, and how often there: a command with its
	// answer, or a field with the kinds of its values. It is told once.
	Times  int            `json:"times,omitempty"`
	Places map[string]int `json:"places,omitempty"`
	// Control is Fail or Crash if the embedded server, which is right, fails the script too, and Pass if it does not;
	// anything else means that this was not tried.
	Control Verdict `json:"control,omitzero"`
	// Explained is the clause of another finding, which is reproduced, and may be the reason of this one: that is not
	// reproduced, or rests on the clause.
	Explained string `json:"explained_by,omitempty"`
	// Path is the file that holds the script, Run the one that holds the exploration up to the finding.
	Path string `json:"path,omitempty"`
	Run  string `json:"run,omitempty"`
	// Reproduced is how often the script showed it, of Tried times.
	Reproduced int `json:"reproduced,omitempty"`
	Tried      int `json:"tried,omitempty"`
}

// Confirmed reports whether f was reproduced in more than half of the plays of its script.
func (f *Explored) Confirmed() bool { return 2*f.Reproduced > f.Tried }

// Outcome returns the exit code and what it stands for in one line of words. An exploration in which no connection was
// identified has evaluated nothing.
func (e *Exploration) Outcome(o ExitOptions) Outcome {
	counts, bad := e.counts(), false
	for v := range counts {
		bad = bad || o.counts(v)
	}
	seen := fmt.Sprintf("%s, %s, %s",
		text.Count(e.Commands, "command"), text.Count(len(e.States), "state"), text.Count(len(e.Outcomes), "outcome"))
	found := JoinWith(": ", text.Count(len(e.Findings), "finding"), listed(counts)) + "; " + seen
	identified := 0
	for state, n := range e.States {
		if state != "not identified" && state != "ended" {
			identified += n
		}
	}
	return Decide(append(e.Claims(found, "no server could be explored"),
		Claimed(ExitFindings, bad, found),
		Claimed(ExitInconclusive, identified == 0, e.nothing("no connection was identified")),
		Claimed(ExitInconclusive, !e.served(), e.nothing("no command after HELLO was answered")),
		Claimed(ExitInconclusive, e.Unread != "", e.Unread),
		Claimed(ExitInconclusive, e.Unseen != "", text.OneLine(e.Unseen)),
		Claimed(ExitInconclusive, e.Judged < judgedAtLeast && len(e.Findings) == 0,
			fmt.Sprintf("almost nothing was evaluated: %d replies to %s", e.Judged, text.Count(e.Commands, "command"))),
		Claimed(ExitInconclusive, len(e.Outages) > 0, "the target was temporarily unreachable: "+found),
		Claimed(ExitWell, len(e.Findings) > 0, found+", none of them about a requirement"),
		Claimed(ExitWell, true, "nothing found in "+seen),
	))
}

// judgedAtLeast is how many replies must have been evaluated for an exploration that finds nothing to say so.
const judgedAtLeast = 20

// nothing says why nothing was evaluated, and what to do.
func (e *Exploration) nothing(seen string) string {
	return join("nothing was evaluated: "+seen, e.Silent)
}

// served reports whether the server answered a command of a connection that was identified.
func (e *Exploration) served() bool {
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
	whole := *e
	whole.Head = e.Written(ExplorationSchema, e.Outcome(o))
	for _, counts := range []*map[string]int{&whole.States, &whole.Transitions, &whole.Outcomes, &whole.Situations} {
		if *counts == nil {
			*counts = map[string]int{}
		}
	}
	whole.Findings = List(e.Findings)
	return WriteJSON(w, &whole)
}
