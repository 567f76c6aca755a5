package reports

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
)

// ExplorationSchema is the value of the key "schema" of the JSON of every Exploration. Its number grows when a key is
// removed, renamed or changes its meaning.
const ExplorationSchema = "fwpexplore/1"

// Exploration is what came of walking a server through states that nobody listed. Durations are nanoseconds in JSON, in
// keys that end in _ns. It is plain data without locks.
type Exploration struct {
	// Schema is ExplorationSchema; WriteExplorationJSON sets it, whatever is here.
	Schema  string `json:"schema"`
	Version string `json:"version,omitempty"`
	Target  Target `json:"target"`
	// Started is when it began, by the clock of the machine that runs the suite.
	Started time.Time     `json:"started,omitzero"`
	Took    time.Duration `json:"took_ns"`
	// Seed is what the commands were drawn from: a string of decimal digits in JSON.
	Seed uint64 `json:"seed,string"`
	// Commands is how many were sent, those that made findings small not included.
	Commands int `json:"commands"`
	// States, Transitions and Outcomes count what was seen: "identified worker", "identified > quiet",
	// "FETCH identified worker: null".
	States      map[string]int `json:"states"`
	Transitions map[string]int `json:"transitions"`
	Outcomes    map[string]int `json:"outcomes"`
	Findings    []Explored     `json:"findings"`
	// Left names jobs that are still on the target.
	Left        []string `json:"left,omitempty"`
	Interrupted bool     `json:"interrupted,omitempty"`
	Internal    string   `json:"internal,omitempty"`
	Unreachable string   `json:"unreachable,omitempty"`
}

// Explored is one finding of an exploration.
type Explored struct {
	Finding
	// After is the number of commands after which it was seen.
	After int `json:"after_commands"`
	// Script shows it again, in the suite's language. Unscripted is why there is none.
	Script     string `json:"script,omitempty"`
	Unscripted string `json:"unscripted,omitempty"`
	// Control is Fail or Crash if the embedded server, which is right, fails the script too, and Pass if it does not;
	// anything else means that this was not tried.
	Control Verdict `json:"control,omitzero"`
	// Path is the file that holds the script, Run the one that holds the exploration up to the finding.
	Path string `json:"path,omitempty"`
	Run  string `json:"run,omitempty"`
	// Shown is how often the script showed it, of Tried times.
	Shown int `json:"shown,omitempty"`
	Tried int `json:"tried,omitempty"`
}

// ExitCode returns the exit code for e; see the constants and Outcome.
func (e *Exploration) ExitCode(o ExitOptions) int {
	code, _ := e.Outcome(o)
	return code
}

// Outcome returns the exit code and says in one line of words what it stands for. It is the one place that decides
// both. An exploration that got no reply worth the name has decided nothing.
func (e *Exploration) Outcome(o ExitOptions) (code int, words string) {
	counts := map[Verdict]int{}
	for _, f := range e.Findings {
		counts[f.Verdict]++
	}
	bad := counts[Crash] + counts[Fail]
	if o.Strict {
		bad += counts[Warn]
	}
	said := fmt.Sprintf("%s, %s, %s of a verb in a state", text.Count(e.Commands, "command"), text.Count(len(e.States), "state"), text.Count(len(e.Outcomes), "outcome"))
	found := text.Count(len(e.Findings), "finding") + " in " + said
	switch {
	case e.Interrupted:
		return ExitInterrupted, "interrupted: " + found
	case e.Internal != "":
		return ExitInternal, "the suite itself failed: " + text.OneLine(e.Internal)
	case e.Unreachable != "":
		return ExitUnreachable, "no FWP server could be explored: " + text.OneLine(e.Unreachable)
	case bad > 0:
		return ExitFindings, found
	case e.States["identified"]+e.States["identified worker"] == 0:
		return ExitInconclusive, "nothing was decided: no connection was identified"
	case len(e.Findings) > 0:
		return ExitWell, found + ", none of them against what is required"
	}
	return ExitWell, "nothing found in " + said
}

// WriteExplorationJSON writes e as one indented JSON object and a final newline.
func WriteExplorationJSON(w io.Writer, e *Exploration) error {
	whole := *e
	whole.Schema, whole.Started, whole.Findings = ExplorationSchema, e.Started.UTC().Round(0), list(e.Findings)
	return writeJSON(w, &whole)
}

// WriteExplorationText writes e for people: each finding with the script that shows it, what was covered, and a last
// line that says in words what came out. It writes once, and returns the error of that.
func WriteExplorationText(w io.Writer, e *Exploration, o TextOptions) error {
	t := &textWriter{TextOptions: o}
	t.head(e.Target, e.Version)
	t.troubles(e.Interrupted, e.Internal, e.Unreachable, "")
	if len(e.Findings) > 0 {
		t.section("FINDINGS", "what no reading of the specification allows")
	}
	for i := range e.Findings {
		t.line("")
		t.explored(&e.Findings[i])
	}
	t.coverage(e)
	t.behind(e.Left, "that this run put on the target and could not remove, or of which nobody knows")
	code, words := e.Outcome(o.Exit)
	t.line("")
	t.line("seed %d, took %s, exit code %d", e.Seed, short(e.Took), code)
	t.prose("", text.Printable(words))
	return writeOut(w, t.out.Bytes())
}

// explored writes one finding and the script that shows it.
func (t *textWriter) explored(f *Explored) {
	t.finding(&f.Finding)
	t.field("after", text.Count(f.After, "command"))
	t.field("whole", text.Printable(f.Run))
	if f.Script == "" {
		t.field("script", "none: "+text.Printable(f.Unscripted))
		return
	}
	t.field("shown", fmt.Sprintf("%d of %s", f.Shown, text.Count(f.Tried, "time")))
	t.field("script", text.Printable(f.Path))
	if f.Control.Breach() {
		t.field("control", "the embedded server fails the script too: take this for a fault of fwpcheck, and please report it")
	}
	t.line("")
	for line := range strings.Lines(f.Script) {
		t.line("    %s", text.Printable(strings.TrimRight(line, "\n")))
	}
}

// coverage writes what was seen: with Verbose all of it.
func (t *textWriter) coverage(e *Exploration) {
	if e.Commands == 0 {
		return
	}
	t.section("COVERAGE", "how often each was seen")
	lists := []map[string]int{e.States, e.Transitions}
	if t.Verbose {
		lists = append(lists, e.Outcomes)
	}
	for _, list := range lists {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			t.line("  %8s  %s", text.Grouped(list[name]), text.Printable(name))
		}
	}
	if !t.Verbose {
		t.line("  %8s  different outcomes of a verb in a state; -v lists them", text.Grouped(len(e.Outcomes)))
	}
}
