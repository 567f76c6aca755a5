package results

import (
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
)

// LoadPart is one of several generators that put a load on a target together: the part of the result that is its own.
type LoadPart struct {
	// Name is the file that its report was read from; empty if there is none.
	Name string `json:"name,omitempty"`
	// Problem is why the parts are not the whole load because of this one: "its report is missing" for example. Empty if
	// it is as planned.
	Problem string `json:"wrong,omitempty" from:"target"`
	// IsLeftOut is set if the sum does not have its figures and its jobs.
	IsLeftOut bool `json:"left_out,omitempty"`
	// Run and Segment are those of its report, Machine is what it ran on, and Engine what moved its bytes.
	Run     string  `json:"run"`
	Segment string  `json:"segment,omitempty"`
	Machine Machine `json:"machine"`
	Engine  string  `json:"engine,omitempty"`
	// Connections, Rate, Jobs, Health and Validity are those of its report.
	Connections Connections `json:"connections"`
	Rate        LoadRate    `json:"rate"`
	Jobs        LoadJobs    `json:"jobs"`
	Health      Health      `json:"health"`
	Validity    Validity    `json:"validity"`
	// Lateness is the highest p99 of the lateness of all its commands.
	Lateness time.Duration `json:"lateness_p99_ns"`
	// Exit is the exit code that its report alone would have, and Words what that stands for.
	Exit  int    `json:"exit_code"`
	Words string `json:"outcome" from:"target"`
	// OwnExit is the exit code that it has apart from its thresholds, which are judged on the sum, and OwnWords what that
	// stands for.
	OwnExit  int    `json:"own_exit_code"`
	OwnWords string `json:"own_outcome,omitempty" from:"target"`
}

// Fill sets all of p but Name, Problem and IsLeftOut from the report of the part.
func (p *LoadPart) Fill(l *Load) {
	p.Run, p.Segment, p.Machine, p.Engine = l.Run, l.Plan.Segment, l.Machine, l.Engine
	p.Connections, p.Rate, p.Jobs, p.Health, p.Validity = l.Connections, l.Rate, l.Jobs, l.Health, l.Validity
	if worst := l.worstLateness("p99"); worst.OK {
		p.Lateness = time.Duration(worst.Value)
	}
	p.Exit, p.Words = l.Outcome(reports.ExitOptions{}).Values()
	single := *l
	single.Thresholds = nil
	p.OwnExit, p.OwnWords = single.Outcome(reports.ExitOptions{}).Values()
}

// partClaims claims that the sum is no better than its parts: what a part has found alone counts.
func (l *Load) partClaims() (claims []reports.Claim) {
	for i := range l.Parts {
		p := &l.Parts[i]
		claims = append(claims, reports.NewClaim(p.OwnExit, countsInSum(p.OwnExit) && !p.IsLeftOut,
			p.Title()+": "+p.OwnWords))
	}
	return claims
}

// Title names the part: "part a.json", or "segment 3/4" if no file has its report.
func (p *LoadPart) Title() string {
	if p.Name == "" {
		return "segment " + p.Segment
	}
	return "part " + p.Name
}

// parts appends a row for each generator.
func (p *page) parts(l *Load, o reports.PageOptions) {
	t := reports.Table{Columns: []reports.Column{
		{Width: opWidth}, {Title: "segment"}, {Title: "connections", AlignRight: true},
		{Title: "achieved", AlignRight: true, Width: 9},
		{Title: "lateness p99", AlignRight: true}, {Title: "CPU", AlignRight: true, Width: 6}, {Title: "result"},
	}}
	t.Rows = reports.RowsOf(l.Parts, func(part *LoadPart) reports.Row { return part.row(o) })
	p.TableSection("PARTS", "the generators and their segments of the load", t)
}

// row returns the row of a part; below it is what there is to know about it.
func (p *LoadPart) row(o reports.PageOptions) reports.Row {
	if p.Run == "" {
		row := reports.Cells(p.Name, p.Segment, "", "", "", "").With(reports.StyledText(reports.Bad, "no report"))
		row.Detail = append(row.Detail, reports.StyledText(reports.Bad, sentence(p.Problem)))
		return row
	}
	result := reports.StyledText(reports.Good, "valid")
	switch {
	case p.IsLeftOut:
		result = reports.StyledText(reports.Bad, "left out")
	case p.Problem != "" || !p.Validity.IsValid:
		result = reports.StyledText(reports.Bad, "INVALID")
	case p.Exit != reports.ExitWell:
		result = reports.StyledText(reports.Caution, fmt.Sprintf("exit code %d", p.Exit))
	}
	row := reports.Cells(p.Name, p.Segment, text.GroupDigits(p.Connections.Opened), reports.Rate(p.Rate.Achieved),
		reports.Time(p.Lateness), reports.Percent(p.Health.CPUShare)).With(result)
	switch {
	case p.Problem != "":
		row.Detail = append(row.Detail, reports.StyledText(reports.Bad, sentence(p.Problem)))
	case p.Validity.IsValid && p.Exit != reports.ExitWell:
		row.Detail = append(row.Detail, reports.StyledText(reports.Caution, sentence(p.Words)))
	}
	if o.Verbose {
		row.Detail = append(row.Detail, reports.StyledText(reports.Faint,
			reports.JoinWith(", ", "run "+p.Run, p.Machine.words())))
	}
	return row
}
