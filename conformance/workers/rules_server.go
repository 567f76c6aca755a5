package workers

import (
	"github.com/fwpsuite/fwp/fwp"
)

// The names of what the rules for servers find; behind the first the rule of the grammar follows. They are those of
// package scenarios.
const (
	BrokenGrammar = "grammar:"
	Unasked       = "unasked"
)

// ServerRules returns the rules for the server of a stream: whether it speaks RESP, and sends what was asked for. All
// else about a server is for the law of the protocol (conformance/law).
func ServerRules() []Rule {
	return []Rule{
		{BrokenGrammar, "a server sent a reply", 0, on(Reply, Broken), checkGrammar},
		{Unasked, "a server sent a reply", 0, on(Reply), checkUnasked},
	}
}

func checkGrammar(l *look) judgement {
	switch {
	case l.Kind == Reply:
		return kept()
	case l.Syntax.Rule == fwp.RuleTooLong || l.Syntax.Rule == fwp.RuleDepth || l.Syntax.Rule == 0:
		return notApplicable() // limits of ours
	}
	j := broken(nil, "%s", l.Syntax.Error())
	j.name = BrokenGrammar + l.Syntax.Rule.String()
	return j
}

func checkUnasked(l *look) judgement {
	return keptIf(!l.Extra || l.conn != nil && l.conn.unmatched, "a reply that no command asked for")
}
