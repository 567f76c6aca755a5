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
		if c.on.Client != nil {
			continue
		}
		named, err := namedByRules(c.on.Peer.Protocol)
		if err != nil {
			return nil, err
		}
		c.variations, c.quick, c.first, c.played = nil, nil, true, func(check conformance.Check) conformance.Check {
			script, is := check.(conformance.ScriptCheck)
			if !is {
				return check
			}
			bare := *script.Script
			bare.Steps = unmarked(bare.Steps, named)
			return conformance.Scripts(&bare)[0]
		}
		servers = append(servers, c)
	}
	return servers, nil
}

// unmarked returns copies of steps, whose S: lines have no mark of these clauses. What is only recorded stays.
func unmarked(steps []scenarios.Step, clauses map[string]bool) (bare []scenarios.Step) {
	for _, step := range steps {
		switch s := step.(type) {
		case *scenarios.Expect:
			other := *s
			other.Marks = slices.DeleteFunc(slices.Clone(s.Marks), func(m scenarios.Mark) bool {
				return clauses[m.Clause] && !m.Record
			})
			step = &other
		case *scenarios.Block:
			other := *s
			other.Steps = unmarked(s.Steps, clauses)
			step = &other
		}
		bare = append(bare, step)
	}
	return bare
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

// namedByRules returns the clauses that a rule of the law, or a breach of a protocol, is about.
func namedByRules(p *conformance.Protocol) (map[string]bool, error) {
	scripts, err := p.Scripts()
	named := map[string]bool{}
	for _, rule := range p.Law.Rules {
		for id := range strings.FieldsSeq(rule.Clauses) {
			if _, whole := p.ClauseByID(id); !whole { // those of a profile are written with their prefix
				id = p.Prefix + id
			}
			named[id] = true
		}
	}
	for _, id := range p.GrammarClauses {
		named[id] = true
	}
	breaches := slices.Clone(kinds)
	for _, rule := range grammar {
		breaches = append(breaches, "grammar:"+rule, "grammar:"+emqpsession.RulePrefix+rule)
	}
	for _, script := range scripts {
		for step := range script.All() {
			if send, is := step.(*scenarios.Send); is {
				breaches = append(breaches, session.ForeignReply+send.Verb())
			}
		}
	}
	for _, breach := range breaches {
		named[p.ClauseOf(breach)] = true
	}
	delete(named, "")
	return named, err
}
