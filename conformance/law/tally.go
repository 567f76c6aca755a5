package law

import "maps"

// Tally is what a law has judged: how many messages, and how often each of its rules.
type Tally struct {
	Messages    int             // messages
	OpenReasons map[string]int  // messages that were not, by the reason
	Rules       map[string]Rate // without those that no message was about
	Verbs       map[string]AnswerCount
}

// AnswerCount is how often commands of a verb were refused, and served.
type AnswerCount struct{ Refusals, Replies int }

// Rate is how often a rule was decided. Only an occasion on which a wrong message would have shown counts as kept.
type Rate struct {
	Passes, Breaches int
	Clauses          map[string]int // those that were broken, by the clause
	OpenReasons      map[string]int // occasions that were not decided, by the reason
}

// Decided is what a message decides.
type Decided struct {
	KeptRules  []string // rules that another message would have broken, among them that which this one breaks
	OpenRules  []string // rules that it would decide
	OpenReason string   // but for this reason
}

// Add adds another tally.
func (t *Tally) Add(o Tally) {
	t.Messages += o.Messages
	t.OpenReasons = sum(t.OpenReasons, o.OpenReasons)
	for name, rate := range o.Rules {
		t.rule(name, rate)
	}
	for verb, n := range o.Verbs {
		t.verb(verb, n)
	}
}

func (t *Tally) verb(name string, n AnswerCount) {
	if t.Verbs == nil {
		t.Verbs = map[string]AnswerCount{}
	}
	old := t.Verbs[name]
	t.Verbs[name] = AnswerCount{old.Refusals + n.Refusals, old.Replies + n.Replies}
}

func (t *Tally) rule(name string, o Rate) {
	if t.Rules == nil {
		t.Rules = map[string]Rate{}
	}
	r := t.Rules[name]
	t.Rules[name] = Rate{
		Passes: r.Passes + o.Passes, Breaches: r.Breaches + o.Breaches, Clauses: sum(r.Clauses, o.Clauses),
		OpenReasons: sum(r.OpenReasons, o.OpenReasons),
	}
}

// sum returns the sum of two counts, which it may change.
func sum(a, b map[string]int) map[string]int {
	if a == nil {
		return maps.Clone(b)
	}
	for reason, n := range b {
		a[reason] += n
	}
	return a
}

// addUnjudged counts a message that is not judged.
func (t *Tally) addUnjudged(reason string) {
	t.OpenReasons = sum(t.OpenReasons, map[string]int{reason: 1})
}

// addAnswer counts a message, but for what it breaks.
func (t *Tally) addAnswer(a Answer) {
	switch {
	case !a.Reply || a.Verb == "":
	case a.IsRefusal:
		t.verb(a.Verb, AnswerCount{Refusals: 1})
	default:
		t.verb(a.Verb, AnswerCount{Replies: 1})
	}
	brokenRule := ""
	if a.Violation != nil {
		brokenRule = a.Violation.Rule
	}
	for _, rule := range a.Rules.KeptRules {
		if rule != brokenRule {
			t.rule(rule, Rate{Passes: 1})
		}
	}
	for _, rule := range a.Rules.OpenRules {
		t.rule(rule, Rate{OpenReasons: map[string]int{a.Rules.OpenReason: 1}})
	}
	if a.Rules.OpenReason != "" && len(a.Rules.KeptRules) == 0 && brokenRule == "" {
		t.addUnjudged(a.Rules.OpenReason)
		return
	}
	t.Messages++
}
