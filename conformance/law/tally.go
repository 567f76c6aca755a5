package law

import "maps"

// Tally is what a law has judged: how many messages, and how often each of its rules.
type Tally struct {
	Judged int             // messages
	Open   map[string]int  // messages that were not, by the reason
	Rules  map[string]Rate // without those that no message was about
	Verbs  map[string]Answered
}

// Answered is how often commands of a verb were refused, and served.
type Answered struct{ Refused, Served int }

// Rate is how often a rule was decided. Only an occasion on which a wrong message would have shown counts as kept.
type Rate struct {
	Kept, Broken int
	Clauses      map[string]int // those that were broken, by the clause
	Open         map[string]int // occasions that were not decided, by the reason
}

// Decided is what a message decides.
type Decided struct {
	Kept []string // rules that another message would have broken, among them that which this one breaks
	Open []string // rules that it would decide
	Why  string   // but for this reason
}

// Add adds another tally.
func (t *Tally) Add(o Tally) {
	t.Judged += o.Judged
	t.Open = sum(t.Open, o.Open)
	for name, rate := range o.Rules {
		t.rule(name, rate)
	}
	for verb, n := range o.Verbs {
		t.verb(verb, n)
	}
}

func (t *Tally) verb(name string, n Answered) {
	if t.Verbs == nil {
		t.Verbs = map[string]Answered{}
	}
	old := t.Verbs[name]
	t.Verbs[name] = Answered{old.Refused + n.Refused, old.Served + n.Served}
}

func (t *Tally) rule(name string, o Rate) {
	if t.Rules == nil {
		t.Rules = map[string]Rate{}
	}
	r := t.Rules[name]
	t.Rules[name] = Rate{
		Kept: r.Kept + o.Kept, Broken: r.Broken + o.Broken, Clauses: sum(r.Clauses, o.Clauses), Open: sum(r.Open, o.Open),
	}
}

// sum returns the sum of two counts, which it may change.
func sum(a, b map[string]int) map[string]int {
	if a == nil {
		return maps.Clone(b)
	}
	for why, n := range b {
		a[why] += n
	}
	return a
}

// unjudged counts a message that is not judged.
func (t *Tally) unjudged(why string) { t.Open = sum(t.Open, map[string]int{why: 1}) }

// came counts a message, but for what it breaks.
func (t *Tally) came(a Answer) {
	switch {
	case !a.Reply || a.Verb == "":
	case a.Refused:
		t.verb(a.Verb, Answered{Refused: 1})
	default:
		t.verb(a.Verb, Answered{Served: 1})
	}
	broken := ""
	if a.Violation != nil {
		broken = a.Violation.Rule
	}
	for _, rule := range a.Rules.Kept {
		if rule != broken {
			t.rule(rule, Rate{Kept: 1})
		}
	}
	for _, rule := range a.Rules.Open {
		t.rule(rule, Rate{Open: map[string]int{a.Rules.Why: 1}})
	}
	if a.Rules.Why != "" && len(a.Rules.Kept) == 0 && broken == "" {
		t.unjudged(a.Rules.Why)
		return
	}
	t.Judged++
}
