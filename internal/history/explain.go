package history

import (
	"slices"
	"time"
)

// proof is a small set of calls of a job that cannot be explained.
type proof struct {
	search search
	// rules are those that explain the calls if only one of them is not applied, the most
	// specific first; there may be none.
	rules []rule

	deliveries, acks, fails, flushes []int32 // of the proof
}

// explain adds a finding about a job whose calls no order explains.
func (j *judge) explain() {
	p := proof{search: j.search}
	p.search.calls = slices.Clone(j.search.calls)
	p.shorten()
	p.dropNeedless(Fetch)
	for _, r := range p.order() {
		if p.explainsWithout(r) {
			p.rules = append(p.rules, r)
		}
	}
	p.dropNeedless(Flush, Ack)
	if len(p.rules) == 0 || p.rules[0] != ruleRetries {
		p.dropNeedless(Fail)
	}
	p.sort()
	j.addProven(&p)
}

// shorten keeps the calls up to the first delivery that cannot be explained.
func (p *proof) shorten() {
	var ends []time.Duration
	for i := range p.search.calls {
		if c := &p.search.calls[i]; c.op == Fetch {
			ends = append(ends, c.end)
		}
	}
	slices.Sort(ends)
	all := p.search.calls
	n, _ := slices.BinarySearchFunc(ends, 0, func(end time.Duration, _ int) int {
		p.search.calls = callsKnownAt(all, end)
		if p.search.run() == impossible {
			return 0
		}
		return -1
	})
	p.search.calls = all
	if n < len(ends) {
		p.search.calls = callsKnownAt(all, ends[n])
	}
}

// callsKnownAt returns the calls as they were known at a time. Those without a reply by then may
// have had their effect or not.
func callsKnownAt(calls []call, at time.Duration) []call {
	var out []call
	for _, c := range calls {
		switch {
		case c.begin > at:
		case c.op == Push || c.end <= at:
			out = append(out, c)
		case c.op != Fetch:
			c.isSure, c.end = false, forever
			out = append(out, c)
		}
	}
	return out
}

// maxProofCalls is how many calls are left out one by one to test whether the proof needs them.
const maxProofCalls = 200

// dropNeedless removes the calls of the given kinds that the proof does not need. A FAIL is not
// removed, since it may explain a delivery, but it need not have had its effect.
func (p *proof) dropNeedless(kinds ...Op) {
	for i := len(p.search.calls) - 1; i >= 0 && len(p.search.calls) <= maxProofCalls; i-- {
		calls := p.search.calls
		if !slices.Contains(kinds, calls[i].op) || !calls[i].isSure {
			continue
		}
		if rest := slices.Clone(calls); calls[i].op == Fail {
			rest[i].isSure = false
			p.search.calls = rest
		} else {
			p.search.calls = slices.Delete(rest, i, i+1)
		}
		if p.search.run() != impossible || len(p.rules) > 0 && !p.explainsWithout(p.rules[0]) {
			p.search.calls = calls
		}
	}
}

// explainsWithout reports whether the calls can be explained if a rule is not applied.
func (p *proof) explainsWithout(r rule) bool {
	s := p.search
	s.machine.lax = r
	return s.run() == possible
}

// order returns the order in which rules are tried: calls with a reply come before calls
// without one.
func (p *proof) order() []rule {
	rules := []rule{ruleSchedule, rulePush}
	for _, r := range []rule{ruleFlush, ruleAck, ruleRetries} {
		if p.hasAnswer(r.ends()) {
			rules = append(rules, r)
		}
	}
	rules = append(rules, ruleBackoff, ruleHeld)
	for _, r := range []rule{ruleFlush, ruleAck} {
		if !slices.Contains(rules, r) {
			rules = append(rules, r)
		}
	}
	return rules
}

// ends returns the command that ends a job by the rule.
func (r rule) ends() Op {
	switch r {
	case ruleFlush:
		return Flush
	case ruleAck:
		return Ack
	default:
		return Fail
	}
}

// hasAnswer reports whether such a call was answered with OK.
func (p *proof) hasAnswer(op Op) bool {
	return slices.ContainsFunc(p.search.calls, func(c call) bool { return c.op == op && c.isSure })
}

// sort sorts the remaining calls by their kind.
func (p *proof) sort() {
	for i := range p.search.calls {
		switch c := &p.search.calls[i]; {
		case c.op == Fetch:
			p.deliveries = append(p.deliveries, c.event)
		case c.op == Ack && (c.isSure || p.needs(ruleAck)):
			p.acks = append(p.acks, c.event)
		case c.op == Flush && (c.isSure || p.needs(ruleFlush)):
			p.flushes = append(p.flushes, c.event)
		case c.op == Fail && (c.isSure || p.needs(ruleBackoff)):
			p.fails = append(p.fails, c.event)
		}
	}
}

func (p *proof) needs(r rule) bool { return slices.Contains(p.rules, r) }
