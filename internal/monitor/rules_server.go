package monitor

import (
	"slices"

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
		{
			Breach: BrokenGrammar, Goal: "a server sent a reply",
			on: slices.Concat(on(Reply), on(Broken)), check: func(l *look) judgement {
				switch {
				case l.Kind == Reply:
					return right()
				case l.Syntax.Rule == fwp.RuleTooLong || l.Syntax.Rule == fwp.RuleDepth || l.Syntax.Rule == 0:
					return aside() // limits of ours
				}
				return named(BrokenGrammar+l.Syntax.Rule.String(), wrong(nil, "%s", l.Syntax.Error()))
			},
		},
		{
			Breach: Unasked, Goal: "a server sent a reply",
			on: on(Reply), check: func(l *look) judgement {
				return rightIf(!l.Extra || l.conn != nil && l.conn.unjudged, "a reply that no command asked for")
			},
		},
		{
			Breach: ForeignReply, Goal: "a server replied to a command",
			on: on(Reply), check: checkForeign,
		},
	}
}

func named(name string, j judgement) judgement {
	j.name = name
	return j
}

// checkForeign: a reply is one that its command can have, an error always is.
func checkForeign(l *look) judgement {
	if l.Greet {
		if _, err := fwp.ParseHi(l.Reply); err != nil && l.Reply.Kind != fwp.ErrorReply {
			return wrong(nil, "the greeting is not a HI: %v", err)
		}
		return right()
	}
	if l.asked == nil || !fwp.Identified.Allows(l.asked.verb) {
		return aside()
	}
	if l.Reply.Kind == fwp.ErrorReply || isAnswer(l.asked.verb, l.Reply) {
		return right()
	}
	return named(ForeignReply+l.asked.verb, wrong([]Moment{l.asked.shown}, "not a reply to %s", l.asked.verb))
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
