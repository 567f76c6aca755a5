package reports

import "strings"

// Hide replaces every text of r that comes from the target, or quotes what does, by what hide returns for it.
func (r *Report) Hide(hide func(string) string) {
	each(hide, &r.Target.HI, &r.Unreachable, &r.Internal)
	for i := range r.Checks {
		c := &r.Checks[i]
		each(hide, &c.Why)
		hideLines(hide, c.Conversation)
		for j := range c.Clauses {
			each(hide, &c.Clauses[j].Why)
		}
		for j := range c.Findings {
			c.Findings[j].hide(hide)
		}
	}
	for i := range r.Clauses {
		each(hide, &r.Clauses[i].Why)
	}
}

// Hide replaces every text of e that comes from the target, or quotes what does, by what hide returns for it.
func (e *Exploration) Hide(hide func(string) string) {
	each(hide, &e.Target.HI, &e.Unreachable, &e.Internal, &e.Silent)
	hideAll(hide, e.Outages)
	for i := range e.Findings {
		e.Findings[i].hide(hide)
		each(hide, &e.Findings[i].Unscripted)
	}
}

// Hide replaces every text of c that comes from a target, or quotes what does, by what hide returns for it.
func (c *Comparison) Hide(hide func(string) string) {
	each(hide, &c.A.HI, &c.B.HI, &c.Unreachable, &c.Internal)
	for i := range c.Differences {
		d := &c.Differences[i]
		each(hide, &d.A.Reply, &d.A.Expected, &d.B.Reply, &d.B.Expected)
		for j := range d.Conversation {
			each(hide, &d.Conversation[j].Step, &d.Conversation[j].A, &d.Conversation[j].B)
		}
	}
}

// Hide replaces every text of l that comes from the target, or quotes what does, by what hide returns for it. The jids
// of jobs stay, because they tell jobs apart.
func (l *Load) Hide(hide func(string) string) {
	if len(l.Target.HI) > 0 {
		l.Target.HI = []byte(strings.TrimPrefix(hide("HI "+string(l.Target.HI)), "HI "))
	}
	l.Target.Info = []byte(hide(string(l.Target.Info)))
	each(hide, &l.Connections.Refused, &l.Connections.LostWhy, &l.Jobs.NotDrained, &l.Gone, &l.Unreachable, &l.Internal,
		&l.NotStarted)
	if l.Disruptions != nil {
		for i := range l.Disruptions.List {
			each(hide, &l.Disruptions.List[i].Failed)
		}
	}
	for i := range l.Phases {
		each(hide, &l.Phases[i].Note)
	}
	for i := range l.Ops {
		for j := range l.Ops[i].Errors {
			each(hide, &l.Ops[i].Errors[j].Example)
		}
	}
	for i := range l.Findings {
		if f := &l.Findings[i]; f.quotes() {
			hideAll(hide, f.JIDs)
			hideAll(hide, f.Notes)
		}
	}
	l.Validity.hide(hide)
	for i := range l.Agents {
		a := &l.Agents[i]
		each(hide, &a.Connections.Refused, &a.Connections.LostWhy, &a.Jobs.NotDrained, &a.Words, &a.Lost)
		a.Validity.hide(hide)
	}
}

func (v *Validity) hide(hide func(string) string) {
	for i := range v.Reasons {
		each(hide, &v.Reasons[i].What)
	}
	hideAll(hide, v.Remarks)
}

func (e *Evidence) hide(hide func(string) string) {
	each(hide, &e.Source, &e.Expected, &e.Actual, &e.Close, &e.Seen, &e.Script)
	hideAll(hide, e.Differences)
	hideLines(hide, e.Conversation)
}

func hideLines(hide func(string) string, lines []Line) {
	for i := range lines {
		each(hide, &lines[i].Text)
	}
}

func hideAll(hide func(string) string, texts []string) {
	for i := range texts {
		each(hide, &texts[i])
	}
}

func each(hide func(string) string, texts ...*string) {
	for _, text := range texts {
		*text = hide(*text)
	}
}
