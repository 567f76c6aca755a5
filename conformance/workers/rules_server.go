package workers

import (
	"github.com/fwpsuite/fwp/fwp"
)

// The names of what the rules for servers find, and the beginnings of names: the rule of the grammar follows, or the
// verb. They are those of package scenarios.
const (
	BrokenGrammar = "grammar:"
	ForeignReply  = "foreign-reply:"
	Unasked       = "unasked"
)

// ServerRules returns the rules for the server of a stream: whether it speaks RESP, and replies to what it is asked.
// All else about a server is for fwpcheck run.
func ServerRules() []Rule {
	return []Rule{
		{BrokenGrammar, "a server sent a reply", 0, on(Reply, Broken), checkGrammar},
		{Unasked, "a server sent a reply", 0, on(Reply), checkUnasked},
		{ForeignReply, "a server replied to a command", 0, on(Reply), checkForeign},
	}
}

func checkGrammar(l *look) judgement {
	switch {
	case l.Kind == Reply:
		return kept()
	case l.Syntax.Rule == fwp.RuleTooLong || l.Syntax.Rule == fwp.RuleDepth || l.Syntax.Rule == 0:
		return notApplicable() // limits of ours
	}
	return broken(nil, "%s", l.Syntax.Error()).named(BrokenGrammar + l.Syntax.Rule.String())
}

func checkUnasked(l *look) judgement {
	return keptIf(!l.Extra || l.conn != nil && l.conn.unmatched, "a reply that no command asked for")
}

func (j judgement) named(breach string) judgement {
	j.name = breach
	return j
}

// checkForeign judges whether a reply is one that its command can have. An error always is.
func checkForeign(l *look) judgement {
	if l.Greet {
		if _, err := fwp.ParseHi(l.Reply); err != nil && !l.IsError() {
			return broken(nil, "the greeting is not a HI: %v", err)
		}
		return kept()
	}
	if l.asked == nil || !fwp.Identified.Allows(l.asked.verb) {
		return notApplicable()
	}
	if l.IsError() || isAnswer(l.asked.verb, l.Reply) {
		return kept()
	}
	return broken(moments(&l.asked.shown), "not a reply to %s", l.asked.verb).named(ForeignReply + l.asked.verb)
}

func isAnswer(verb string, r fwp.Reply) bool {
	switch verb {
	case fwp.FETCH:
		return r.Kind == fwp.NullBulk || r.Kind == fwp.BulkString
	case fwp.INFO:
		return r.Kind == fwp.BulkString
	case fwp.BEAT:
		return isOK(r) || fwp.Identified.Next(fwp.BEAT, r) != fwp.Identified
	}
	return isOK(r)
}
