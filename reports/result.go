package reports

import (
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// Result is what a command comes to. Its exit code and every output are computed from it and from nothing else.
type Result interface {
	// Common returns what all results have, to be read and changed.
	Common() *Head
	// Outcome returns the exit code, and what it stands for in one line of words.
	Outcome(o ExitOptions) Outcome
	// Page returns the result for people, and Suite as cases, for CI systems.
	Page(o PageOptions) Page
	Suite(o ExitOptions) Suite
	// WriteJSON writes the result as one indented JSON object and a final newline, as its schema describes it; o is what
	// its exit code depends on. It writes once, and returns the error of that.
	WriteJSON(w io.Writer, o ExitOptions) error
}

// Head is what all results have. Durations are nanoseconds in JSON, in keys that end in _ns, here and in every other
// output. A result is plain data without locks.
type Head struct {
	// Schema names the type of the result. Its number grows when a key is removed, renamed or changes its meaning; a key
	// that is added does not change it. WriteJSON sets it, whatever is here.
	Schema string `json:"schema"`
	// Version names the suite and its version, "fwpcheck 0.1.0" for example.
	Version string `json:"version,omitempty"`
	// Exit is the exit code, and Words what it stands for; WriteJSON sets them, whatever is here.
	Exit  int    `json:"exit_code"`
	Words string `json:"outcome"`
	// StartTime is when it began, by the clock of the machine that runs the suite, and Took how long it was until there
	// was a result.
	StartTime time.Time     `json:"started,omitzero"`
	Took      time.Duration `json:"took_ns,omitzero" join:"max"`
	// Seed is what all was drawn from. JSON holds it as a string, because many readers of JSON are not exact above 2^53.
	Seed uint64 `json:"seed,string,omitzero"`
	Trouble
}

// Common returns h: that of a result, whatever its type.
func (h *Head) Common() *Head { return h }

// WithOutcome returns h as it is written: with its schema, and what the result comes to.
func (h *Head) WithOutcome(schema string, o Outcome) Head {
	head := *h
	head.Schema, head.Exit, head.Words, head.StartTime = schema, o.Code, o.Words, h.StartTime.UTC().Round(0)
	return head
}

// Trouble is what kept a run from being complete, whatever the run was about: empty texts are no trouble. It is a part
// of every result.
type Trouble struct {
	// Interrupted is set if the user ended the run: there are results until then.
	Interrupted bool `json:"interrupted,omitempty" join:"or"`
	// Internal is an internal error of the suite; empty if there was none.
	Internal string `json:"internal,omitempty" from:"target"`
	// Unreachable is why there was no target: it did not answer, does not speak the protocol, or refused the client.
	// Empty if there was one.
	Unreachable string `json:"unreachable,omitempty" from:"target"`
	// Usage is what was wrong with the command line, a script, a workload or the selection; empty if nothing was.
	Usage string `json:"usage,omitempty"`
}

// isPrinted reports whether several lines of a program's output say why the target could not be reached.
func (t Trouble) isPrinted() bool { return strings.Count(t.Unreachable, "\n  ") > 1 }

// Claims returns the outcomes of a run that is not complete. sum is what was found until then, and undone what
// could not be done without a target.
func (t Trouble) Claims(sum, undone string) []Claim {
	unreached := text.OneLine(t.Unreachable)
	if t.isPrinted() {
		unreached = strings.TrimSuffix(text.FirstLine(t.Unreachable), ":") + ": see above"
	}
	return []Claim{
		NewClaim(ExitInterrupted, t.Interrupted, "interrupted: "+sum),
		NewClaim(ExitInternal, t.Internal != "", OwnFailure+text.OneLine(t.Internal)),
		NewClaim(ExitUnreachable, t.Unreachable != "", undone+": "+unreached),
		NewClaim(ExitUsage, t.Usage != "", "usage error: "+text.OneLine(t.Usage)),
	}
}

// The exit codes of fwpcheck and fwpbench. Where several apply, the first of 130, 5, 4, 2, 6, 1, 3, 0 counts.
const (
	ExitWell         = 0   // all well
	ExitFindings     = 1   // fail or crash, with Strict warn too; a stale expectation. fwpbench: a missed threshold
	ExitUsage        = 2   // usage, a bad script or workload, a selection that matches nothing
	ExitInconclusive = 3   // something is inconclusive or not run, or nothing was evaluated. fwpbench: an INVALID run
	ExitUnreachable  = 4   // the target cannot be reached, or does not speak the protocol. fwpbench: or it was lost
	ExitInternal     = 5   // this machine or the suite failed: a full disk, no file descriptors, an internal error
	ExitLoss         = 6   // fwpbench: a job lost, delivered twice or wrongly, or a reply that breaks the protocol
	ExitInterrupted  = 130 // interrupted by the user; the report is written all the same
)

// OwnFailure begins the outcome of what this machine, or the suite, has kept from being complete.
const OwnFailure = "failed on this machine: "

// exit is a row of the table of exit codes.
type exit struct {
	code  int
	style Style // of the outcome in words
	// check and bench are when fwpcheck and fwpbench end with it; empty if they never do. docs/verdicts.md has the same.
	check, bench string
}

const failures = "failed on this machine: a full disk, too few file descriptors, an internal error"

// exits is the table of exit codes. Where several apply, the first one counts.
var exits = [...]exit{
	{ExitInterrupted, Caution, "interrupted; the report is written all the same",
		"interrupted; the report is written all the same"},
	{ExitInternal, Bad, failures, failures},
	{ExitUnreachable, Bad,
		"the target is not reachable, does not speak the protocol, or does not take the password",
		"the same, or it was lost during the run"},
	{ExitUsage, Bad, "usage, a bad script, a selection that matches nothing", "usage, a bad workload or threshold; " +
		"`compare`: fewer than six pairs"},
	{ExitLoss, Bad, "", "a job was lost, delivered twice, changed or from a wrong queue, or a reply broke the protocol"},
	{ExitFindings, Bad, "findings: fail or crash, with `--strict` warn too; a stale line in the file of `--expect`",
		"a threshold was missed; `compare`: a regression; `capacity`: no rate passed"},
	{ExitInconclusive, Caution,
		"something selected is inconclusive or not run, nothing was evaluated, or a `--bug` did not show",
		"the run is INVALID, or its queues could not be drained; `compare`, `capacity`: inconclusive"},
	{ExitWell, Good, "all well", "all well"},
}

// precedence returns the place of a code in the table, the end of it for a code that is not there.
func precedence(code int) int {
	if at := slices.IndexFunc(exits[:], func(e exit) bool { return e.code == code }); at >= 0 {
		return at
	}
	return len(exits)
}

// WorstExit returns the exit code that counts where several apply, ExitWell if there are none.
func WorstExit(codes ...int) int {
	return slices.MinFunc(append([]int{ExitWell}, codes...), func(a, b int) int { return precedence(a) - precedence(b) })
}

// Outcome is what a result comes to: the exit code, and what it stands for in one line of words.
type Outcome struct {
	Code  int
	Words string
}

// Values returns the exit code and the words.
func (o Outcome) Values() (code int, words string) { return o.Code, o.Words }

// Text returns the outcome in words, in the style of its exit code.
func (o Outcome) Text() Text {
	return StyledText(exits[min(precedence(o.Code), len(exits)-1)].style, o.Words)
}

// Claim is an outcome that a result has if it applies.
type Claim struct {
	applies bool
	Outcome
}

// NewClaim returns the claim that a result comes to code, in words, if it applies.
func NewClaim(code int, applies bool, words string) Claim {
	return Claim{applies, Outcome{code, words}}
}

// Decide returns the outcome of the claims that apply: the one whose exit code counts, and the first of several with
// the same code.
func Decide(claims []Claim) Outcome {
	worst := Outcome{}
	first := len(exits) + 1
	for _, c := range claims {
		if at := precedence(c.Code); c.applies && at < first {
			worst, first = c.Outcome, at
		}
	}
	return worst
}
