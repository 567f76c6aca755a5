package reports

import (
	"fmt"

	"github.com/fwpsuite/fwp/internal/text"
)

// Page returns c for people: the ratio of each metric with its interval and its verdict, the pairs that do not count,
// and a last line that says in words what the result is.
func (c *LoadComparison) Page(o PageOptions) Page {
	var p Page
	decided := c.decide()
	result := Styled(exitOf(decided.code).style, decided.words)
	p.add(Prose{[]Text{result}})
	p.add(Fields{LabelWidth: 10, Fields: []Field{
		field("A", join2("; ", c.A.Name, c.A.Plan)), field("B", join2("; ", c.B.Name, c.B.Plan)),
		field("generator", join2(", ", c.Version, c.Machine.words())),
		field("margin", percent(c.Margin)+", declared beforehand"),
		field("pairs", fmt.Sprintf("%d of %d count", c.valid(), c.Pairs)),
	}})
	p.troubles(trouble{c.Interrupted, c.Internal, c.Unreachable, ""})
	if c.NoVerdict != "" {
		p.section("NO VERDICT", "the ratios below decide nothing")
		p.add(Prose{wordsOf([]string{text.OneLine(c.NoVerdict) + "."})})
	}
	p.ratios(c)
	if o.Figures && len(c.Ratios) > 0 && c.NoVerdict == "" {
		p.add(Figure{Title: "Ratios of B to A", Of: c.forest(),
			Description: "A point is the ratio of a metric, the line its interval of 95 %; the margin is shaded. What is to " +
				"the right of it is more, which is better for a rate and worse for a time."})
	}
	p.voids(c)
	if o.Verbose {
		p.blocks(c)
	}
	facts := fmt.Sprintf("seed %d, took %s%s, exit code %d", c.Seed, short(c.Took), began(c.Started), decided.code)
	p.add(Conclusion{facts, result})
	return p
}

// ratios appends the table of ratios.
func (p *Page) ratios(c *LoadComparison) {
	if len(c.Ratios) == 0 {
		return
	}
	words := "B to A, with an interval of 95 %; the primary metrics decide"
	last := "verdict"
	switch {
	case c.NoVerdict != "":
		words = "the medians of B to those of A"
	case c.AA:
		words, last = "of A to itself: the noise of this machine", "noise floor"
	}
	p.section("RATIOS", words)
	t := Table{Columns: []Column{
		{Title: "metric"}, {Title: "A", Right: true}, {Title: "B", Right: true}, {Title: "ratio", Right: true},
		{Title: "interval"}, {Title: "p", Right: true}, {Title: last},
	}}
	for i := range c.Ratios {
		r := &c.Ratios[i]
		name := r.Metric
		if r.Primary {
			name += " (primary)"
		}
		row := Cells(name, r.value(r.A), r.value(r.B), trimmed(r.Ratio, 3), r.interval(), r.chance(), "")
		row.Cells[6] = r.verdict(c.AA)
		t.Rows = append(t.Rows, row)
	}
	if c.NoVerdict == "" {
		t.Note = Words("A and B: medians of the blocks. p of a metric that is not primary is adjusted for their number " +
			"(Holm).")
	}
	p.add(t)
}

// chance returns p, empty where there is none.
func (r *LoadRatio) chance() string {
	switch p := max(r.P, r.Holm); {
	case r.High == 0:
		return ""
	case p < 0.001:
		return "< 0.001"
	default:
		return trimmed(p, 3)
	}
}

// verdict returns the verdict and what it would need, or the noise floor.
func (r *LoadRatio) verdict(aa bool) Text {
	if aa {
		return Words(percent(r.Floor))
	}
	words := r.Verdict
	if r.Primary && r.More > 0 {
		words += fmt.Sprintf(": about %s", text.Count(r.More, "more pair"))
	} else if r.Primary && r.More < 0 {
		words += ": too near to the margin"
	}
	return Styled(r.style(), words)
}

// style returns the style of a verdict.
func (r *LoadRatio) style() Style {
	switch r.Verdict {
	case "regression":
		return Bad
	case "inconclusive":
		return Unclear
	case "":
		return Plain
	}
	return Good
}

// voids appends the blocks that do not count.
func (p *Page) voids(c *LoadComparison) {
	t := Table{Columns: []Column{{Title: "block"}, {Title: "why its pair does not count"}}, Wrap: true}
	for _, b := range c.Blocks {
		if b.Void != "" && b.Pair > 0 {
			t.Rows = append(t.Rows, Cells(b.name(), text.OneLine(b.Void)))
		}
	}
	if len(t.Rows) > 0 {
		p.section("VOID PAIRS", "")
		p.add(t)
	}
}

// name returns which block it is.
func (b *LoadBlock) name() string {
	if b.File != "" {
		return b.Side + " " + b.File
	}
	if b.Pair == 0 {
		return b.Side + " discarded"
	}
	return fmt.Sprintf("%s of pair %d", b.Side, b.Pair)
}

// blocks appends all blocks, in their order.
func (p *Page) blocks(c *LoadComparison) {
	p.section("BLOCKS", "in the order in which they were measured")
	t := Table{Columns: []Column{{Title: "block"}, {Title: "run"}, {Title: "took", Right: true}}}
	for _, r := range c.Ratios {
		t.Columns = append(t.Columns, Column{Title: r.Metric, Right: true})
	}
	for _, b := range c.Blocks {
		cells := []string{b.name(), b.Run, short(b.Took)}
		for i := range c.Ratios {
			r, value := &c.Ratios[i], ""
			if f := find(b.Figures, func(f *LoadFigure) bool { return f.Metric == r.Metric }); f != nil {
				value = r.value(f.Value)
			}
			cells = append(cells, value)
		}
		t.Rows = append(t.Rows, Cells(cells...))
	}
	p.add(t)
}

// forest returns the ratios as a picture.
func (c *LoadComparison) forest() *Forest {
	f := &Forest{Margin: c.Margin}
	for i := range c.Ratios {
		r := &c.Ratios[i]
		if r.High == 0 {
			continue
		}
		style := r.style()
		if c.AA {
			style = Plain
		}
		f.Rows = append(f.Rows, ForestRow{Name: r.Metric, Ratio: r.Ratio, Low: r.Low, High: r.High, Style: style,
			Strong: r.Primary})
	}
	return f
}

// Suite returns c as cases: one for each metric with a verdict, and one for the comparison itself.
func (c *LoadComparison) Suite(ExitOptions) Suite {
	s := Suite{
		Name: "fwpbench compare", Version: c.Version, Started: c.Started, Took: c.Took, Seed: c.Seed,
		Target: "A " + c.A.Name + ", B " + c.B.Name,
	}
	s.Code, s.Words = c.Outcome()
	s.troubles(trouble{c.Interrupted, c.Internal, c.Unreachable, ""})
	s.whole("the comparison", s.Code == ExitInconclusive)
	for i := range c.Ratios {
		r := &c.Ratios[i]
		if c.AA || r.Verdict == "" {
			continue
		}
		one := Case{Class: "ratios", Name: r.Metric, Kind: r.Verdict, Message: "B to A " + r.words()}
		switch {
		case r.Verdict == "regression":
			one.State = CaseFailed
		case r.Verdict == "inconclusive" && r.Primary:
			one.State = CaseErrored
		}
		s.add(one)
	}
	return s
}
