package reports

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
)

// Inputs is what was sent, whatever came of it: how often each class of values of each field, and of what else can
// differ between two commands.
type Inputs struct {
	// Commands is how many commands were counted.
	Commands int `json:"commands"`
	// Dimensions holds the classes of each dimension. A dimension is a field of a command, named by its verb and its name,
	// or what stands in such a field (with " items" or " names" behind it), "command", "way" (how a job reached its
	// worker), a population ("connections") or "moment".
	Dimensions map[string]map[string]*Input `json:"dimensions"`
}

// Input is a class of one dimension.
type Input struct {
	// Sent is how often it was sent; 0: never, although it is one that the suite can generate.
	Sent int `json:"sent"`
	// With counts the classes of other dimensions that came together with it, by dimension. A class that is missing never
	// did.
	With map[string]map[string]int `json:"with,omitempty"`
}

// Class returns a class of a dimension, which is added if it is not there.
func (i *Inputs) Class(dimension, class string) *Input {
	if i.Dimensions == nil {
		i.Dimensions = map[string]map[string]*Input{}
	}
	classes := i.Dimensions[dimension]
	if classes == nil {
		classes = map[string]*Input{}
		i.Dimensions[dimension] = classes
	}
	in := classes[class]
	if in == nil {
		in = new(Input)
		classes[class] = in
	}
	return in
}

// Together counts a class of another dimension that came together with it.
func (in *Input) Together(dimension, class string, times int) {
	if in.With == nil {
		in.With = map[string]map[string]int{}
	}
	if in.With[dimension] == nil {
		in.With[dimension] = map[string]int{}
	}
	in.With[dimension][class] += times
}

// Plus returns the sum of both, which may change i; nil is nothing.
func (i *Inputs) Plus(o *Inputs) *Inputs {
	if o == nil {
		return i
	}
	if i == nil {
		i = new(Inputs)
	}
	i.Commands += o.Commands
	for dimension, classes := range o.Dimensions {
		for class, more := range classes {
			in := i.Class(dimension, class)
			if more == nil { // of a file that no run has written
				continue
			}
			in.Sent += more.Sent
			for other, counts := range more.With {
				for name, n := range counts {
					in.Together(other, name, n)
				}
			}
		}
	}
	return i
}

// Spread is how much of one dimension was sent, or of the pairs of two.
type Spread struct {
	Name     string
	Sent, Of int
	Times    int
	Never    []string
}

// Spreads returns how much of each dimension was sent, and behind these how much of each two whose pairs are counted.
// Of pairs only those count whose first class came with some class of the second dimension, and what was never sent is
// told by the class of the second one.
func (i *Inputs) Spreads() []Spread {
	var singles, pairs []Spread
	for _, name := range slices.Sorted(maps.Keys(i.Dimensions)) {
		s := Spread{Name: name}
		others := map[string]bool{}
		for _, class := range classesOf(i.Dimensions[name]) {
			in := i.Dimensions[name][class]
			s.Of, s.Times = s.Of+1, s.Times+in.Sent
			if in.Sent == 0 {
				s.Never = append(s.Never, class)
				continue
			}
			s.Sent++
			for other := range in.With {
				others[other] = true
			}
		}
		singles = append(singles, s)
		for _, other := range slices.Sorted(maps.Keys(others)) {
			pairs = append(pairs, i.pairs(name, other))
		}
	}
	return append(singles, pairs...)
}

// pairs returns how many pairs of the classes of two dimensions were sent.
func (i *Inputs) pairs(name, other string) Spread {
	s := Spread{Name: name + " by " + other}
	for _, second := range classesOf(i.Dimensions[other]) {
		var never []string
		for _, first := range classesOf(i.Dimensions[name]) {
			in := i.Dimensions[name][first]
			if len(in.With[other]) == 0 || i.Dimensions[other][second].Sent == 0 {
				continue
			}
			if s.Of++; in.With[other][second] == 0 {
				never = append(never, first)
				continue
			}
			s.Sent, s.Times = s.Sent+1, s.Times+in.With[other][second]
		}
		if len(never) > 0 {
			s.Never = append(s.Never, fmt.Sprintf("%s: %d (%s)", second, len(never), sample(never, 5)))
		}
	}
	return s
}

// classesOf returns the names of classes in the order of their numbers, and then in that of their letters.
func classesOf(all map[string]*Input) []string {
	return slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(cmp.Compare(numberIn(a), numberIn(b)), strings.Compare(a, b))
	})
}

// numberIn returns the last number in a text, 0 if there is none.
func numberIn(name string) (n int) {
	at := strings.LastIndexAny(name, "0123456789")
	for power := 1; at >= 0 && power < 1e6 && name[at] >= '0' && name[at] <= '9'; at, power = at-1, power*10 {
		n += power * int(name[at]-'0')
	}
	return n
}

// sample returns the first of some names, and how many more there are.
func sample(names []string, most int) string {
	words := strings.Join(names[:min(most, len(names))], ", ")
	return words + some(max(0, len(names)-most), fmt.Sprintf(", and %d more", len(names)-most))
}

// Words returns in a line how much was sent: "700 commands; 31 of 40 classes of 5 dimensions were sent, ...".
func (i *Inputs) Words() string {
	sent, of, dimensions, pairs, ofPairs := 0, 0, 0, 0, 0
	for _, s := range i.Spreads() {
		if strings.Contains(s.Name, " by ") {
			pairs, ofPairs = pairs+s.Sent, ofPairs+s.Of
			continue
		}
		dimensions, sent, of = dimensions+1, sent+s.Sent, of+s.Of
	}
	return fmt.Sprintf("%s; of %s %s of %s classes were sent, and %s of %s pairs",
		text.Count(i.Commands, "command"), text.Count(dimensions, "dimension"),
		text.Grouped(sent), text.Grouped(of), text.Grouped(pairs), text.Grouped(ofPairs))
}

// mostNever is how many classes that were never sent a table names for each dimension.
const mostNever = 20

// inputs appends what was sent: in a line, and with Verbose or pictures as a table, which names so many classes of each
// dimension that were never sent.
func (p *Page) inputs(i *Inputs, most int, o PageOptions) {
	if i == nil {
		return
	}
	if !o.Verbose && !o.Figures {
		p.Add(Prose{LinesOf("inputs: " + i.Words() + "; -v lists what was never sent")})
		return
	}
	p.Section("INPUTS", i.Words())
	bars := &Bars{}
	t := Table{Columns: []Column{{Title: "dimension"}, {Title: "sent", Right: true}, {Title: "times", Right: true},
		{Title: "never sent"}}}
	for _, s := range i.Spreads() {
		bars.Bars = append(bars.Bars, Bar{Name: s.Name, Words: fmt.Sprintf("%d of %d", s.Sent, s.Of),
			Value: int64(100 * s.Sent / max(1, s.Of)), Style: Good})
		t.Rows = append(t.Rows, Cells(s.Name, fmt.Sprintf("%d of %d", s.Sent, s.Of), text.Grouped(s.Times),
			sample(s.Never, most)))
	}
	if o.Figures {
		p.Add(Figure{Title: "Inputs", Of: bars, Description: "How much of each dimension was sent, in percent: classes of " +
			"the values of a field, ways of jobs, populations and moments, and pairs of them."})
	}
	p.Add(t)
}

// Functions is what code of a server was reached, as its own coverage says.
type Functions struct {
	// Of is how many functions there are, and Never has those that nothing reached: their file, line and name.
	Of    int      `json:"of"`
	Never []string `json:"never,omitempty"`
	// Open is why that is not known; empty if it is.
	Open string `json:"open,omitempty"`
}

// functions appends the functions of the server that nothing reached: with Verbose all of them.
func (p *Page) functions(f *Functions, o PageOptions) {
	if f == nil {
		return
	}
	if f.Open != "" {
		p.Add(Prose{LinesOf("functions that were reached are not known: " + f.Open)})
		return
	}
	p.Section("FUNCTIONS", fmt.Sprintf("%d of %d of the server were never reached", len(f.Never), f.Of))
	p.Add(firstOf(f.Never, mostNever, o))
}

// CoverageSchema is the value of the key "schema" of the JSON of every Coverage. Its number grows when a key is
// removed, renamed or changes its meaning.
const CoverageSchema = "fwpcoverage/1"

// Coverage is what several runs have sent together.
type Coverage struct {
	// Schema is CoverageSchema; WriteJSON sets it, whatever is here.
	Schema string `json:"schema"`
	// Exit is the exit code, and Words what it stands for; WriteJSON sets them.
	Exit    int    `json:"exit_code"`
	Words   string `json:"outcome"`
	Version string `json:"version,omitempty"`
	// Runs are the reports that were added up.
	Runs []CoveredRun `json:"runs"`
	// Inputs is what all of them have sent; nil if none has counted that.
	Inputs *Inputs `json:"inputs,omitempty"`
	Trouble
}

// CoveredRun is one of the reports.
type CoveredRun struct {
	Name     string    `json:"name"`
	Version  string    `json:"version,omitempty"`
	Target   Target    `json:"target"`
	Started  time.Time `json:"started,omitzero"`
	Commands int       `json:"commands"`
}

// Add adds the inputs of a report in JSON, of a run or of an exploration. The error says why it has none.
func (c *Coverage) Add(name string, report []byte) error {
	if err := CheckBounds(report); err != nil {
		return err
	}
	var of struct {
		Version string    `json:"version"`
		Target  Target    `json:"target"`
		Started time.Time `json:"started"`
		Inputs  *Inputs   `json:"inputs"`
	}
	if err := json.Unmarshal(report, &of); err != nil {
		return fmt.Errorf("read the report: %w", err)
	}
	if of.Inputs == nil {
		return errors.New("nothing was counted of what was sent")
	}
	c.Runs = append(c.Runs, CoveredRun{name, of.Version, of.Target, of.Started.UTC(), of.Inputs.Commands})
	c.Inputs = c.Inputs.Plus(of.Inputs)
	return nil
}

func (c *Coverage) decide() Outcome {
	words := ""
	if c.Inputs != nil {
		words = c.Inputs.Words()
	}
	return Decide(append(c.Claims(words, ""),
		Claimed(ExitInconclusive, c.Inputs == nil || c.Inputs.Commands == 0, "nothing was sent"),
		Claimed(ExitWell, true, words),
	))
}

// Outcome returns the exit code, and what it stands for in one line of words.
func (c *Coverage) Outcome(ExitOptions) (code int, words string) { return c.decide().Values() }

// WriteJSON writes c as one indented JSON object and a final newline, as coverage.schema.json describes it.
func (c *Coverage) WriteJSON(w io.Writer, o ExitOptions) error {
	whole := *c
	whole.Schema, whole.Runs = CoverageSchema, List(c.Runs)
	whole.Exit, whole.Words = c.Outcome(o)
	return WriteJSON(w, &whole)
}

// Page returns c for people: the runs, and what they have sent together and never.
func (c *Coverage) Page(o PageOptions) Page {
	var p Page
	row := func(r *CoveredRun) Row {
		return Cells(r.Name, r.Target.String(), strings.TrimPrefix(Began(r.Started), ", started "),
			text.Count(r.Commands, "command"))
	}
	p.TableSection("RUNS", "", Table{Rows: RowsOf(c.Runs, row)})
	most := mostNever
	if o.Verbose {
		most = math.MaxInt
	}
	o.Verbose = true
	p.inputs(c.Inputs, most, o)
	p.Conclude(text.Count(len(c.Runs), "report"), c.decide())
	return p
}

// Suite returns c as cases: one, for the whole.
func (c *Coverage) Suite(o ExitOptions) Suite {
	s := Suite{Name: "fwpcheck coverage", Version: c.Version}
	s.Code, s.Words = c.Outcome(o)
	s.AddWhole("the coverage of inputs", s.Code == ExitInconclusive)
	return s
}
