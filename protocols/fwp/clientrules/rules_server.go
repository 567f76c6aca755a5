package clientrules

// The names of what the rules for servers find; behind the first the rule of the grammar follows, and behind the second
// the verb. They are those of package scenarios.
const (
	BrokenGrammar   = "grammar:"
	ImpossibleReply = "foreign-reply:" // and the verb; nothing for the greeting
	Unasked         = "unasked"
)

// ServerRules returns the rules for the server of a stream: whether it speaks RESP, and sends what was asked for. All
// else about a server is for the law of the protocol (conformance/law).
func ServerRules() []Rule {
	return []Rule{
		{BrokenGrammar, "a server sent a reply", 0, occasionsOf(Reply, BrokenReply), checkGrammar},
		{Unasked, "a server sent a reply", 0, occasionsOf(Reply), checkUnasked},
	}
}

func checkGrammar(l *observation) judgement {
	switch {
	case l.Kind == Reply:
		return pass()
	case l.Syntax.Limit() && (l.IsExtra || !l.Syntax.Foreign(l.ReplyVerb)), l.Syntax.Rule == 0:
		return skip() // limits of ours
	}
	j := fail(nil, "%s", l.Syntax.Error())
	if j.name = BrokenGrammar + l.Syntax.Rule.String(); l.Syntax.Limit() {
		j.name = ImpossibleReply + l.ReplyVerb
	}
	return j
}

func checkUnasked(l *observation) judgement {
	return passIf(!l.IsExtra, "a reply that no command asked for")
}
