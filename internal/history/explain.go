package history

import (
	"slices"
	"time"
)

// proof is as few calls of a job as cannot be explained.
type proof struct {
	search search
	// rules are those of which each explains the calls if only it is not held to, the one
	// that tells most first. None is that there is no such rule.
	rules []rule

	deliveries, acks, fails, flushes []int32 // what the proof needs
}

// explain makes a finding of a job whose calls no order explains.
func (j *judge) explain() {
	p := proof{search: j.search}
	p.search.calls = slices.Clone(j.search.calls)
	p.shorten()
	p.thin(Fetch)
	for _, r := range p.order() {
		if p.without(r) {
			p.rules = append(p.rules, r)
		}
	}
	p.thin(Flush, Ack)
	if len(p.rules) == 0 || p.rules[0] != limit {
		p.thin(Fail)
	}
	p.sort()
	j.tell(&p)
}

// shorten leaves the calls up to the first delivery that cannot be explained.
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
		p.search.calls = before(all, end)
		if p.search.run() == impossible {
			return 0
		}
		return -1
	})
	p.search.calls = all
	if n < len(ends) {
		p.search.calls = before(all, ends[n])
	}
}

// before is what of the calls was known at the time. What had no reply by then may have
// had its effect or not.
func before(calls []call, at time.Duration) []call {
	var kept []call
	for _, c := range calls {
		switch {
		case c.begin > at:
		case c.op == Push || c.end <= at:
			kept = append(kept, c)
		case c.op != Fetch:
			c.sure, c.end = false, forever
			kept = append(kept, c)
		}
	}
	return kept
}

// most is how many calls are tried one by one for whether the proof needs them.
const most = 200

// thin takes away what the proof does not need of the given kinds. A FAIL is not taken
// away, since it may explain a delivery; but it need not have had its effect.
func (p *proof) thin(kinds ...Op) {
	for i := len(p.search.calls) - 1; i >= 0 && len(p.search.calls) <= most; i-- {
		with := p.search.calls
		if !slices.Contains(kinds, with[i].op) || !with[i].sure {
			continue
		}
		if less := slices.Clone(with); with[i].op == Fail {
			less[i].sure = false
			p.search.calls = less
		} else {
			p.search.calls = slices.Delete(less, i, i+1)
		}
		if p.search.run() != impossible || len(p.rules) > 0 && !p.without(p.rules[0]) {
			p.search.calls = with
		}
	}
}

// without says whether the calls can be explained if a rule is not held to.
func (p *proof) without(r rule) bool {
	s := p.search
	s.machine.lax = r
	return s.run() == possible
}

// order is the order in which rules are tried: what a reply proves comes before what a
// call without one may have done.
func (p *proof) order() []rule {
	rules := []rule{schedule, origin}
	for _, r := range []rule{clearing, purge, limit} {
		if p.answered(r.ends()) {
			rules = append(rules, r)
		}
	}
	rules = append(rules, backoff, holding)
	for _, r := range []rule{clearing, purge} {
		if !slices.Contains(rules, r) {
			rules = append(rules, r)
		}
	}
	return rules
}

// ends is what ends a job by the rule.
func (r rule) ends() Op {
	switch r {
	case clearing:
		return Flush
	case purge:
		return Ack
	default:
		return Fail
	}
}

// answered says whether such a call was answered with OK.
func (p *proof) answered(op Op) bool {
	return slices.ContainsFunc(p.search.calls, func(c call) bool { return c.op == op && c.sure })
}

// sort sorts what is left by what it is.
func (p *proof) sort() {
	for i := range p.search.calls {
		switch c := &p.search.calls[i]; {
		case c.op == Fetch:
			p.deliveries = append(p.deliveries, c.event)
		case c.op == Ack && (c.sure || p.needs(purge)):
			p.acks = append(p.acks, c.event)
		case c.op == Flush && (c.sure || p.needs(clearing)):
			p.flushes = append(p.flushes, c.event)
		case c.op == Fail && (c.sure || p.needs(backoff)):
			p.fails = append(p.fails, c.event)
		}
	}
}

func (p *proof) needs(r rule) bool { return slices.Contains(p.rules, r) }
