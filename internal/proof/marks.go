package main

import (
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/session"
	emqpsession "github.com/fwpsuite/fwp/protocols/emqp/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// withoutMarks returns catalogues of servers whose scripts do not say of an S: line that it decides a clause, if the
// law, or the table of breaches, can find that clause broken without the line. A bug is played until it is found.
func withoutMarks(all []catalogue) (servers []catalogue, err error) {
	for _, c := range all {
		if c.fixture.Client != nil {
			continue
		}
		clauses, err := ruleClauses(c.fixture.Entry.Suite)
		if err != nil {
			return nil, err
		}
		c.variations, c.quickChecks, c.isFirst, c.convert = nil, nil, true, func(check conformance.Check) conformance.Check {
			script, ok := check.(conformance.ScriptCheck)
			if !ok {
				return check
			}
			result := *script.Script
			result.Steps = unmarked(result.Steps, clauses)
			return conformance.Scripts(&result)[0]
		}
		servers = append(servers, c)
	}
	return servers, nil
}

// unmarked returns copies of steps, whose S: lines have no mark of these clauses. What is only recorded stays.
func unmarked(steps []scenarios.Step, clauses map[string]bool) (result []scenarios.Step) {
	for _, step := range steps {
		switch s := step.(type) {
		case *scenarios.Expect:
			other := *s
			other.Marks = slices.DeleteFunc(slices.Clone(s.Marks), func(m scenarios.ClauseMark) bool {
				return clauses[m.Clause] && !m.Record
			})
			step = &other
		case *scenarios.Block:
			other := *s
			other.Steps = unmarked(s.Steps, clauses)
			step = &other
		}
		result = append(result, step)
	}
	return result
}

// The names of breaches, as the tables of the protocols have them: of any line, and of the bytes of Workq and eMQP.
// Those of FWP are conformance.Protocol.GrammarClauses.
var (
	kinds   = []string{"unasked", "extra-reply", "consumer-closed", "state-lost", "no-reply", "no-greeting"}
	grammar = []string{
		"sign", "line-end", "ok", "error", "count", "record", "key", "block",
		"empty", "version", "command", "id", "frames", "timestamp", "headers", "none", "direction", "acknowledged", "unique",
	}
)

// ruleClauses returns the clauses that a rule of the law, or a breach of a protocol, is about.
func ruleClauses(p *conformance.Suite) (map[string]bool, error) {
	scripts, err := p.Scripts()
	ids := map[string]bool{}
	for _, rule := range p.Law.Rules {
		for id := range strings.FieldsSeq(rule.Clauses) {
			if _, ok := p.ClauseByID(id); !ok { // those of an extension are written with their prefix
				id = p.Prefix + id
			}
			ids[id] = true
		}
	}
	for _, id := range p.GrammarClauses {
		ids[id] = true
	}
	breaches := slices.Clone(kinds)
	for _, rule := range grammar {
		breaches = append(breaches, "grammar:"+rule, "grammar:"+emqpsession.RulePrefix+rule)
	}
	for _, script := range scripts {
		for step := range script.All() {
			if send, ok := step.(*scenarios.Send); ok {
				breaches = append(breaches, session.ImpossibleReply+send.Verb())
			}
		}
	}
	for _, breach := range breaches {
		ids[p.ClauseOf(breach)] = true
	}
	delete(ids, "")
	return ids, err
}
