package clientrules

// The names of what the rules for servers find; behind the first the rule of the grammar follows, and behind the second
// the verb. They are those of package scenarios.
const (
	BrokenGrammar = "grammar:"
	ForeignReply  = "foreign-reply:" // and the verb; nothing for the greeting
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
	case l.Syntax.Limit() && (l.Extra || !l.Syntax.Foreign(l.To)), l.Syntax.Rule == 0:
		return notApplicable() // limits of ours
	}
	j := broken(nil, "%s", l.Syntax.Error())
	if j.name = BrokenGrammar + l.Syntax.Rule.String(); l.Syntax.Limit() {
		j.name = ForeignReply + l.To
	}
	return j
}

func checkUnasked(l *look) judgement {
	return keptIf(!l.Extra, "a reply that no command asked for")
}
