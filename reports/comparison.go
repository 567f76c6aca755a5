package reports

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// ComparisonSchema is the Schema of every Comparison.
const ComparisonSchema = "fwpcompare/1"

// Comparison is the result of playing the same generated commands on two servers, A and B. Durations are nanoseconds in
// JSON, in keys that end in _ns. It is plain data without locks.
type Comparison struct {
	Head
	// A and B are the servers: what works with A, does it work with B?
	A Target `json:"a"`
	B Target `json:"b"`
	// Commands is how many were sent to A, those that shrank differences not included.
	Commands int `json:"commands"`
	// Outcomes counts how A answered, as in an Exploration.
	Outcomes    map[string]int `json:"outcomes"`
	Differences []Difference   `json:"differences"`
	// ConnLimits is how many connections A and B serve at a time, 0 where no limit was met; empty if none was. Both are
	// allowed, and the commands kept below. (AMB-14)
	ConnLimits []int `json:"connections_limits,omitempty"`
	// Unread says to which commands most replies could not be read, and why; empty if there are none.
	Unread string `json:"unread,omitempty" from:"target"`
	// LeftoverJobs names jobs that are still on A or B.
	LeftoverJobs []string `json:"left,omitempty" from:"target"`
}

// BrokenSide says which of two servers departs from the specification where they differ.
type BrokenSide string

// The marks.
const (
	BothAllowed BrokenSide = "both allowed"
	ADeparts    BrokenSide = "A departs"
	BDeparts    BrokenSide = "B departs"
	BothDepart  BrokenSide = "both depart"
)

// Difference is one kind of difference between two servers, with the shortest conversation that shows it.
type Difference struct {
	BrokenSide BrokenSide `json:"mark"`
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
	// Reproduced is how often the conversation showed it, of Attempts times.
	Reproduced int `json:"reproduced"`
	Attempts   int `json:"tried"`
}

// DifferenceSide is what one server does.
type DifferenceSide struct {
	Reply string `json:"reply" from:"target"`
	// Clause is what the reply breaks, at which Level and with which Verdict; empty if a reading of the specification
	// allows it. Expected is what the specification allows instead.
	Clause   string  `json:"breaks,omitempty"`
	Level    Level   `json:"level,omitempty"`
	Verdict  Verdict `json:"verdict,omitzero"`
	Expected string  `json:"expected,omitempty" from:"target"`
}

// Exchange is a step of a conversation and the replies of both servers.
type Exchange struct {
	Step string `json:"step" from:"target"`
	A    string `json:"a,omitempty" from:"target"`
	B    string `json:"b,omitempty" from:"target"`
}

// SetBrokenSide sets the mark from the sides.
func (d *Difference) SetBrokenSide() {
	d.BrokenSide = map[[2]bool]BrokenSide{
		{false, false}: BothAllowed, {false, true}: BDeparts, {true, false}: ADeparts, {true, true}: BothDepart,
	}[[2]bool{d.A.Clause != "", d.B.Clause != ""}]
}

// IsNewBreach reports whether B breaks something that A does not break: a requirement, or a recommendation if those
// count.
func (d *Difference) IsNewBreach(o ExitOptions) bool {
	return o.isFailure(d.B.Verdict) && d.A.Clause != d.B.Clause
}

// Sort puts what B newly breaks first, then other departures, then what is seen most often.
func (c *Comparison) Sort() {
	rank := func(d *Difference) int {
		return slices.Index([]BrokenSide{BDeparts, BothDepart, ADeparts, BothAllowed}, d.BrokenSide)
	}
	slices.SortStableFunc(c.Differences, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(b.Count, a.Count))
	})
}

// Outcome returns the exit code and what it stands for in one line of words.
func (c *Comparison) Outcome(o ExitOptions) Outcome {
	count := 0
	for i := range c.Differences {
		if c.Differences[i].IsNewBreach(o) {
			count++
		}
	}
	kinds := text.Count(len(c.Differences), "kind") + " of differences in " + text.Count(c.Commands, "command")
	return Decide(append(c.Claims(kinds, "the servers could not be compared"),
		NewClaim(ExitFindings, count > 0, fmt.Sprintf("B breaks clauses that A does not: %d of %s", count, kinds)),
		NewClaim(ExitInconclusive, len(c.Outcomes) == 0, "nothing was compared: no command was answered"),
		NewClaim(ExitInconclusive, c.Unread != "", c.Unread),
		NewClaim(ExitWell, len(c.Differences) > 0, kinds+", and B breaks nothing that A does not"),
		NewClaim(ExitWell, true, "no difference in "+text.Count(c.Commands, "command")),
	))
}

// WriteJSON writes c as one indented JSON object and a final newline.
func (c *Comparison) WriteJSON(w io.Writer, o ExitOptions) error {
	output := *c
	output.Head = c.WithOutcome(ComparisonSchema, c.Outcome(o))
	if output.Outcomes == nil {
		output.Outcomes = map[string]int{}
	}
	output.Differences = EmptyIfNil(slices.Clone(c.Differences))
	for i, d := range output.Differences {
		output.Differences[i].Conversation = EmptyIfNil(d.Conversation)
	}
	return WriteJSON(w, &output)
}

// Page returns c for people: each kind of difference with the conversation that shows it, and a last line that says in
// words what the result is.
func (c *Comparison) Page(o PageOptions) Page {
	var p Page
	p.Target("A", c.A, c.Version)
	p.Target("B", c.B, "")
	p.AddTroubles(c.Trouble)
	if len(c.Differences) > 0 {
		p.Section("DIFFERENCES", "different replies to the same commands from A, the first server, and B, the second")
	}
	for i := range c.Differences {
		p.difference(&c.Differences[i])
	}
	if len(c.ConnLimits) == 2 {
		p.Section("LIMITS OF CONNECTIONS", "limits are allowed; after that fewer connections were used, so that replies "+
			"do not differ because of a limit")
		words := func(n int) string {
			return cmp.Or(wordsIf(n, text.Count(n, "connection")+" at a time"), "no limit was reached")
		}
		p.Add(Fields{Fields: []Field{NewField("A", words(c.ConnLimits[0])), NewField("B", words(c.ConnLimits[1]))}})
	}
	p.leftover(c.LeftoverJobs, "of this run that are, or may be, still on A or B", o, c.A, c.B)
	p.Conclude(fmt.Sprintf("seed %d, took %s", c.Seed, Duration(c.Took)), c.Outcome(o.Exit))
	return p
}

// sideStyles holds the style of each mark.
var sideStyles = map[BrokenSide]Style{BothAllowed: Plain, ADeparts: Caution, BDeparts: Bad, BothDepart: Caution}

// difference appends one kind of difference.
func (p *Page) difference(d *Difference) {
	title := JoinWith(", ", JoinWith(": ", string(d.BrokenSide), d.Command), d.Field)
	p.Add(Heading{Level: 2, Text: StyledText(sideStyles[d.BrokenSide], title)})
	replay := cmp.Or(wordsIf(d.Attempts, fmt.Sprintf("reproduced %d of %d", d.Reproduced, d.Attempts)), "not replayed")
	clause := d.Clause
	if d.BrokenSide != BothAllowed { // the sides name what they break, which may be another one
		clause = ""
	}
	p.Add(Fields{Fields: []Field{
		NewField("clause", clause), NewField("A", d.A.line()), NewField("B", d.B.line()),
		NewField("seen", text.Count(d.Count, "time")+"; "+replay),
	}})
	p.Add(Code{d.lines()})
}

// line returns one side of a difference: the reply, and what it breaks.
func (s DifferenceSide) line() string {
	if s.Clause == "" {
		return s.Reply
	}
	return fmt.Sprintf("%s, which breaks %s: expected %s", s.Reply, s.Clause, s.Expected)
}

// lines returns the conversation that shows the difference: a reply in one line for both servers where it is the same.
func (d *Difference) lines() []string {
	var lines []string
	for _, e := range d.Conversation {
		switch lines = append(lines, e.Step); {
		case e.A+e.B == "":
		case e.A == e.B:
			lines = append(lines, "  A, B: "+e.A)
		default:
			lines = append(lines, "  A: "+e.A, "  B: "+e.B)
		}
	}
	return lines
}

// Suite returns c as cases: one for each kind of difference, which fails if B breaks what A does not, and one for the
// comparison itself.
func (c *Comparison) Suite(o ExitOptions) Suite {
	s := NewSuite("fwpcheck compare", &c.Head, c.Outcome(o))
	s.Target, s.Subject = "A "+c.A.String()+", B "+c.B.String(), JoinWith(" and ", c.A.shortName(), c.B.shortName())
	s.AddRun("the comparison", s.Code == ExitInconclusive)
	for i := range c.Differences {
		d := &c.Differences[i]
		item := Case{
			Class: cmp.Or(d.Clause, "differences"), Name: strings.Trim(d.Command+" "+d.Field, " "), Clause: d.Clause,
			Kind: string(d.BrokenSide), Message: clip("A: "+d.A.line()) + "; " + clip("B: "+d.B.line()),
		}
		item.Name = cmp.Or(item.Name, "connection") + " - " + item.Class
		if d.IsNewBreach(o) {
			item.State = CaseFailed
		}
		item.Evidence = []Block{Table{Rows: RowsOf(d.lines(), func(line *string) Row { return Cells(*line) })}}
		s.Add(item)
	}
	return s
}
