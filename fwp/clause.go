package fwp

// ReplyClause is the id of the clause of the suite's catalogue that says what the
// reply to a command looks like: "FWP-FETCH-01" for FETCH. The empty verb stands for
// the greeting; the clause of an unknown verb is "".
func ReplyClause(verb string) string {
	switch verb {
	case "":
		return "FWP-HI-02"
	case HELLO:
		return "FWP-HELLO-03"
	case PUSH, FETCH, ACK, FAIL, BEAT, INFO, FLUSH, END:
		return "FWP-" + verb + "-01"
	}
	return ""
}

// Clause is the id of the clause of the suite's catalogue that a peer breaks which
// breaks the rule. For the limits that are ours it is that of the grammar as a whole.
func (r Rule) Clause() string {
	switch r {
	case RuleLength, RuleBulkEnd, RuleCharacters, RuleTruncated:
		return "FWP-RESP-03"
	case RuleNull:
		return "FWP-RESP-04"
	case RuleTextBreak:
		return "FWP-RESP-07"
	}
	return "FWP-RESP-01"
}
