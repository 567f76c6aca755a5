package reports

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
)

// ComparisonSchema is the value of the key "schema" of the JSON of every Comparison. Its number grows when a key is
// removed, renamed or changes its meaning.
const ComparisonSchema = "fwpcompare/1"

// Comparison is the result of playing the same generated commands on two servers, A and B. Durations are nanoseconds in
// JSON, in keys that end in _ns. It is plain data without locks.
type Comparison struct {
	// Schema is ComparisonSchema; WriteJSON sets it, whatever is here.
	Schema string `json:"schema"`
	// Exit is the exit code, and Words what it stands for; WriteJSON sets them.
	Exit    int    `json:"exit_code"`
	Words   string `json:"outcome"`
	Version string `json:"version,omitempty"`
	// A and B are the servers: what works with A, does it work with B?
	A Target `json:"a"`
	B Target `json:"b"`
	// Started is when it began, by the clock of the machine that runs the suite.
	Started time.Time     `json:"started,omitzero"`
	Took    time.Duration `json:"took_ns"`
	// Seed is what the commands were drawn from: a string of decimal digits in JSON.
	Seed uint64 `json:"seed,string"`
	// Commands is how many were sent to A, those that shrank differences not included.
	Commands int `json:"commands"`
	// Outcomes counts how A answered, as in an Exploration.
	Outcomes    map[string]int `json:"outcomes"`
	Differences []Difference   `json:"differences"`
	// Limits is how many connections A and B serve at a time, 0 where no limit was met; empty if none was. Both are
	// allowed, and the commands kept below. (AMB-14)
	Limits []int `json:"connections_limits,omitempty"`
	// Left names jobs that are still on A or B.
	Left        []string `json:"left,omitempty"`
	Interrupted bool     `json:"interrupted,omitempty"`
	Internal    string   `json:"internal,omitempty"`
	Unreachable string   `json:"unreachable,omitempty"`
}

// Mark says which of two servers departs from the specification where they differ.
type Mark string

// The marks.
const (
	BothAllowed Mark = "both allowed"
	ADeparts    Mark = "A departs"
	BDeparts    Mark = "B departs"
	BothDepart  Mark = "both depart"
)

// Difference is one kind of difference between two servers, with the shortest conversation that shows it.
type Difference struct {
	Mark Mark `json:"mark"`
	// Command is the verb, and State the state of the connection; both are empty for what no command caused.
	Command string `json:"command,omitempty"`
	State   string `json:"state,omitempty"`
	// Field is the field of the reply that differs, empty if the reply does as a whole.
	Field string `json:"field,omitempty"`
	// Clause rules the command.
	Clause string         `json:"clause,omitempty"`
	A      DifferenceSide `json:"a"`
	B      DifferenceSide `json:"b"`
	// Count is how often it was seen.
	Count int `json:"count"`
	// Conversation shows it. A reply is empty where none came.
	Conversation []Exchange `json:"conversation"`
	// Reproduced is how often the conversation showed it, of Tried times.
	Reproduced int `json:"reproduced"`
	Tried      int `json:"tried"`
}

// DifferenceSide is what one server does.
type DifferenceSide struct {
	Reply string `json:"reply"`
	// Clause is what the reply breaks, at which Level and with which Verdict; empty if a reading of the specification
	// allows it. Expected is what the specification allows instead.
	Clause   string  `json:"breaks,omitempty"`
	Level    Level   `json:"level,omitempty"`
	Verdict  Verdict `json:"verdict,omitzero"`
	Expected string  `json:"expected,omitempty"`
}

// Exchange is a step of a conversation and the replies of both servers.
type Exchange struct {
	Step string `json:"step"`
	A    string `json:"a,omitempty"`
	B    string `json:"b,omitempty"`
}

// Judge sets the mark from the sides.
func (d *Difference) Judge() {
	marks := [2][2]Mark{{BothAllowed, BDeparts}, {ADeparts, BothDepart}}
	at := func(s DifferenceSide) int {
		if s.Clause != "" {
			return 1
		}
		return 0
	}
	d.Mark = marks[at(d.A)][at(d.B)]
}

// Breaks reports whether B breaks something that A does not break: a requirement, or a recommendation if those count.
func (d *Difference) Breaks(o ExitOptions) bool {
	counts := d.B.Verdict == Fail || d.B.Verdict == Crash || o.Strict && d.B.Verdict == Warn
	return counts && d.A.Clause != d.B.Clause
}

// Sort puts what B newly breaks first, then other departures, then what is seen most often.
func (c *Comparison) Sort() {
	rank := func(d *Difference) int {
		return slices.Index([]Mark{BDeparts, BothDepart, ADeparts, BothAllowed}, d.Mark)
	}
	slices.SortStableFunc(c.Differences, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(b.Count, a.Count))
	})
}

// Outcome returns the exit code and what it stands for in one line of words.
func (c *Comparison) Outcome(o ExitOptions) (code int, words string) {
	decided := c.decide(o)
	return decided.code, decided.words
}

func (c *Comparison) decide(o ExitOptions) outcome {
	worse := 0
	for i := range c.Differences {
		if c.Differences[i].Breaks(o) {
			worse++
		}
	}
	kinds := text.Count(len(c.Differences), "kind") + " of differences in " + text.Count(c.Commands, "command")
	return decide(append(c.trouble().claims(kinds, "the servers could not be compared"),
		claimed(ExitFindings, worse > 0, fmt.Sprintf("B breaks what A does not: %d of %s", worse, kinds)),
		claimed(ExitInconclusive, len(c.Outcomes) == 0, "nothing was compared: no command was answered"),
		claimed(ExitWell, len(c.Differences) > 0, kinds+", and B breaks nothing that A does not"),
		claimed(ExitWell, true, "no difference in "+text.Count(c.Commands, "command")),
	))
}

func (c *Comparison) trouble() trouble { return trouble{c.Interrupted, c.Internal, c.Unreachable, ""} }

// WriteJSON writes c as one indented JSON object and a final newline.
func (c *Comparison) WriteJSON(w io.Writer, o ExitOptions) error {
	whole := *c
	whole.Exit, whole.Words = c.Outcome(o)
	if whole.Outcomes == nil {
		whole.Outcomes = map[string]int{}
	}
	whole.Schema, whole.Started, whole.Differences = ComparisonSchema, c.Started.UTC().Round(0),
		list(slices.Clone(c.Differences))
	for i, d := range whole.Differences {
		whole.Differences[i].Conversation = list(d.Conversation)
	}
	return writeJSON(w, &whole)
}
