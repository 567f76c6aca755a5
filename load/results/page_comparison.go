package results

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
)

// Page returns c for people: the ratio of each metric with its interval and its verdict, the pairs that do not count,
// and a last line that says in words what the result is.
func (c *LoadComparison) Page(o reports.PageOptions) reports.Page {
	p := page{hasPictures: o.Figures}
	decided := c.Outcome(o.Exit)
	p.Add(reports.Prose{Lines: []reports.Text{decided.Text()}})
	p.Add(reports.Fields{LabelWidth: 10, Fields: []reports.Field{
		reports.NewField("A", c.A.words()), reports.NewField("B", c.B.words()),
		reports.NewField("generator", reports.JoinWith(", ", c.Version, c.Machine.words())),
		reports.NewField("margin", reports.Percent(c.Margin)+c.marginTime()+", set beforehand"),
		reports.NewField("pairs", fmt.Sprintf("%d of %d count", c.ValidPairs(), c.Pairs)),
	}})
	p.AddTroubles(c.Trouble)
	if c.StopReason != "" {
		p.prose(sentence(c.StopReason))
	}
	if c.NoVerdict != "" {
		p.Section("NO VERDICT", "no conclusion from the ratios below")
		p.prose(text.OneLine(c.NoVerdict) + ".")
	}
	p.differences(c)
	p.Add(c.tiles())
	p.ratios(c)
	if len(c.Ratios) > 0 && c.NoVerdict == "" {
		p.Add(reports.Figure{Title: "Ratios of B to A", Drawing: c.forest(),
			Description: "A point is the ratio of a metric, the line its 95 % interval; the margin is shaded. Right of it " +
				"B has more: better for a rate, worse for a time."})
	}
	p.voids(c)
	if o.Verbose {
		p.blocks(c)
	}
	p.Conclude(fmt.Sprintf("seed %d, took %s%s", c.Seed, reports.Duration(c.Took), reports.StartWords(c.StartTime)),
		decided)
	return p.Page
}

// marginTime returns the margin of times, empty if there is none.
func (c *LoadComparison) marginTime() string {
	if c.MarginTime == 0 {
		return ""
	}
	return ", of times at least " + reports.Duration(c.MarginTime)
}

// differences appends what differs between the loads of A and B.
func (p *page) differences(c *LoadComparison) {
	t := reports.Table{Columns: []reports.Column{{Title: "what"}, {Title: "A"}, {Title: "B"}}, Wrap: true}
	t.Rows = reports.RowsOf(c.Differences, func(d *LoadDifference) reports.Row { return reports.Cells(d.Name, d.A, d.B) })
	p.TableSection("WHAT DIFFERS", "the loads, and the machines that they were measured on", t)
}

// words returns what was loaded, and how.
func (c *ComparedLoad) words() string { return join(c.Subject.At(c.Name, ""), c.Plan) }

// ratios appends the table of ratios.
func (p *page) ratios(c *LoadComparison) {
	if len(c.Ratios) == 0 {
		return
	}
	words := "B to A, with 95 % intervals; the primary metrics decide"
	last := "verdict"
	switch {
	case c.NoVerdict != "":
		words = "the medians of B divided by those of A"
	case c.AA:
		words, last = "A compared with itself: the noise of this machine", "noise floor"
	}
	p.Section("RATIOS", words)
	t := reports.Table{Columns: []reports.Column{
		{Title: "metric"}, {Title: "A", AlignRight: true}, {Title: "B", AlignRight: true}, {Title: "ratio", AlignRight: true},
		{Title: "interval"}, {Title: "p", AlignRight: true}, {Title: last},
	}}
	t.Rows = reports.RowsOf(c.Ratios, func(r *LoadRatio) reports.Row {
		name := r.Metric
		if r.IsPrimary {
			name += " (primary)"
		}
		return reports.Cells(name, r.value(r.A), r.value(r.B), reports.Trimmed(r.Ratio, 3), r.interval(), r.pValue()).
			With(r.verdict(c.AA))
	})
	if c.NoVerdict == "" {
		t.Note = reports.PlainText("A and B: medians of the blocks. For metrics that are not primary, p is adjusted for " +
			"their number (Holm); percentiles of the same times count once.")
	}
	p.Add(t)
}

// pValue returns p, empty where there is none.
func (r *LoadRatio) pValue() string {
	switch p := max(r.P, r.Holm); {
	case r.High == 0:
		return ""
	case p < 0.001:
		return "< 0.001"
	default:
		return reports.Trimmed(p, 3)
	}
}

// verdict returns the verdict and what it would need, or the noise floor.
func (r *LoadRatio) verdict(isAA bool) reports.Text {
	if isAA {
		return reports.PlainText(reports.Percent(r.Floor))
	}
	words := r.Verdict
	switch {
	case words == "differs":
		words += ", size unclear"
	case r.IsPrimary && r.MorePairs > 0:
		words += fmt.Sprintf(": about %s", text.Count(r.MorePairs, "more pair"))
	case r.IsPrimary && r.MorePairs < 0:
		words += ": too close to the margin"
	}
	if (r.B-r.A)*(r.Ratio-1) < 0 && r.High > 0 {
		words = reports.JoinWith("; ", words, "the medians point the other way, since the ratio is that of pairs")
	}
	return reports.StyledText(r.style(), words)
}

// style returns the style of a verdict.
func (r *LoadRatio) style() reports.Style {
	if style, ok := verdictStyles[r.Verdict]; ok {
		return style
	}
	return reports.Good
}

var verdictStyles = map[string]reports.Style{
	"regression": reports.Bad, "inconclusive": reports.Unclear, "": reports.Plain, "differs": reports.Caution,
}

// voids appends the blocks that do not count.
func (p *page) voids(c *LoadComparison) {
	t := reports.Table{Columns: []reports.Column{{Title: "block"}, {Title: "why the pair does not count"}}, Wrap: true}
	for _, b := range c.Blocks {
		if b.VoidReason != "" && b.Pair > 0 {
			t.Rows = append(t.Rows, reports.Cells(b.name(), text.OneLine(b.VoidReason)))
		}
	}
	p.TableSection("VOID PAIRS", "", t)
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
func (p *page) blocks(c *LoadComparison) {
	p.Section("BLOCKS", "in the order of measurement")
	t := reports.Table{Columns: []reports.Column{{Title: "block"}, {Title: "run"}, {Title: "took", AlignRight: true}}}
	for _, r := range c.Ratios {
		t.Columns = append(t.Columns, reports.Column{Title: r.Metric, AlignRight: true})
	}
	for _, b := range c.Blocks {
		cells := []string{b.name(), b.Run, reports.Duration(b.Took)}
		for i := range c.Ratios {
			r, value := &c.Ratios[i], ""
			if f := reports.Find(b.Figures, func(f *LoadFigure) bool { return f.Metric == r.Metric }); f != nil {
				value = r.value(f.Value)
			}
			cells = append(cells, value)
		}
		t.Rows = append(t.Rows, reports.Cells(cells...))
	}
	p.Add(t)
}

// forest returns the ratios as a picture.
func (c *LoadComparison) forest() *reports.Forest {
	f := &reports.Forest{Margin: c.Margin}
	for _, r := range c.selectRatios(func(r *LoadRatio) bool { return r.High != 0 }) {
		row := reports.ForestRow{Name: r.Metric, Ratio: r.Ratio, Low: r.Low, High: r.High, Strong: r.IsPrimary}
		if !c.AA {
			row.Style = r.style()
		}
		f.Rows = append(f.Rows, row)
	}
	return f
}

// Suite returns c as cases: one for each metric with a verdict, and one for the comparison itself.
func (c *LoadComparison) Suite(o reports.ExitOptions) reports.Suite {
	s := reports.NewSuite("fwpbench compare", &c.Head, c.Outcome(o))
	s.Target = "A " + c.A.Subject.At(c.A.Name, "") + ", B " + c.B.Subject.At(c.B.Name, "")
	s.Subject = c.A.Subject.ShortName(c.A.Name, "") + " and " + c.B.Subject.ShortName(c.B.Name, "")
	s.AddRun("the comparison", s.Code == reports.ExitInconclusive)
	for i := range c.Ratios {
		r := &c.Ratios[i]
		if c.AA || r.Verdict == "" {
			continue
		}
		testCase := reports.Case{Class: "ratios", Name: r.Metric, Kind: r.Verdict, Message: "B to A " + r.words()}
		switch {
		case r.Verdict == "regression":
			testCase.State = reports.CaseFailed
		case r.IsPrimary && (r.Verdict == "inconclusive" || r.Verdict == "differs"):
			testCase.State = reports.CaseErrored
		}
		s.Add(testCase)
	}
	return s
}

// WriteBenchfmt writes the blocks of the pairs that count in the format of Go's benchmarks, a line for each metric of a
// block: benchstat -col side reads it. It writes once, and returns the error of that.
func (c *LoadComparison) WriteBenchfmt(w io.Writer) error {
	var out bytes.Buffer
	out.WriteString("Unit arrivals/s better=higher\n")
	m := &c.Machine
	for _, line := range [][2]string{
		{"goos", m.OS}, {"goarch", m.Arch}, {"cpu", m.CPU}, {"a", c.A.Name}, {"b", c.B.Name},
	} {
		if line[1] != "" {
			fmt.Fprintf(&out, "%s: %s\n", line[0], text.OneLine(line[1]))
		}
	}
	isVoid := c.voidPairs()
	for _, b := range c.Blocks {
		if b.VoidReason != "" || c.NoVerdict == "" && (isVoid[b.Pair] || b.Pair == 0) {
			continue
		}
		fmt.Fprintf(&out, "side: %s\n", b.Side)
		for _, f := range b.Figures {
			unit := "ns/op"
			if HigherIsBetter(f.Metric) {
				unit = "arrivals/s"
			}
			fmt.Fprintf(&out, "Benchmark%s 1 %.6g %s\n", benchName(f.Metric), f.Value, unit)
		}
	}
	return reports.WriteOut(w, out.Bytes())
}

// benchName returns the name of a metric as a benchmark has it: "Push/response/p99".
func benchName(metric string) string {
	name, percentile := metric, ""
	if at := strings.LastIndex(metric, ".p"); at > 0 { // the point of p99.9 stays
		name, percentile = metric[:at], "/"+metric[at+1:]
	}
	name = strings.ReplaceAll(name, ".", "/")
	return strings.ToUpper(name[:1]) + name[1:] + percentile
}
