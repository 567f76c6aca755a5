package results

import (
	"strings"

	"github.com/fwpsuite/fwp/reports"
)

// Hide replaces every text of l that comes from the target, or quotes what does, by what hide returns for it. The jids
// of jobs stay, because they tell jobs apart.
func (l *Load) Hide(hide func(string) string) {
	if len(l.Target.HI) > 0 {
		l.Target.HI = []byte(strings.TrimPrefix(hide("HI "+string(l.Target.HI)), "HI "))
	}
	l.Target.Info = []byte(hide(string(l.Target.Info)))
	reports.HideTexts(hide, &l.Connections.Refused, &l.Connections.LostWhy, &l.Jobs.NotDrained, &l.Gone, &l.Unreachable,
		&l.Internal, &l.NotStarted)
	if l.Disruptions != nil {
		for i := range l.Disruptions.List {
			reports.HideTexts(hide, &l.Disruptions.List[i].Failed)
		}
	}
	for i := range l.Phases {
		reports.HideTexts(hide, &l.Phases[i].Note)
	}
	for i := range l.Ops {
		for j := range l.Ops[i].Errors {
			reports.HideTexts(hide, &l.Ops[i].Errors[j].Example)
		}
	}
	for i := range l.Findings {
		if f := &l.Findings[i]; f.quotes() {
			reports.HideAll(hide, f.JIDs)
			reports.HideAll(hide, f.Notes)
		}
	}
	l.Validity.hide(hide)
	for i := range l.Agents {
		a := &l.Agents[i]
		reports.HideTexts(hide, &a.Connections.Refused, &a.Connections.LostWhy, &a.Jobs.NotDrained, &a.Words, &a.Lost)
		a.Validity.hide(hide)
	}
}

func (v *Validity) hide(hide func(string) string) {
	for i := range v.Reasons {
		reports.HideTexts(hide, &v.Reasons[i].What)
	}
	reports.HideAll(hide, v.Remarks)
}
