package history

import (
	"fmt"
	"slices"
	"strings"
)

// addProven adds the finding of a proof.
func (j *judge) addProven(p *proof) {
	x, l := j.index, &j.life
	if len(p.rules) == 0 {
		p.rules = []rule{p.guess()}
	}
	var breaches []Breach
	var reasons []string
	for _, r := range p.rules {
		breach, reason := j.breachOf(p, r)
		breaches, reasons = append(breaches, breach), append(reasons, reason)
	}
	detail := fmt.Sprintf("job %s came with %s %s", l.jid, x.names(p.deliveries), reasons[0])
	if len(reasons) > 1 {
		detail += "; or, in another order of overlapping calls, " + strings.Join(reasons[1:], ", or ")
	}
	events := slices.Concat([]int32{l.pushEvent}, p.deliveries, p.acks, p.flushes, p.fails)
	j.find(breaches[0], l.jid, detail, events...)
	j.addBreaches(breaches[1:]...)
}

// guess returns the rule that is reported if several are broken at the same time.
func (p *proof) guess() rule {
	switch {
	case len(p.fails) > 0:
		return ruleRetries
	case len(p.flushes) > 0:
		return ruleFlush
	case len(p.acks) > 0:
		return ruleAck
	case len(p.deliveries) > 1:
		return ruleHeld
	default:
		return rulePush
	}
}

// breachOf returns the breach of a rule, and how the job broke it.
func (j *judge) breachOf(p *proof, r rule) (breach Breach, reason string) {
	x, l := j.index, &j.life
	switch r {
	case ruleRetries:
		return l.retryBreach(), fmt.Sprintf("although it had no retry left after %s, which was answered with OK: %s",
			x.names(p.fails), l.retryWords())
	case rulePush:
		return BeforePush, fmt.Sprintf("although its first PUSH, %s, was sent later", x.name(l.pushEvent))
	case ruleSchedule:
		return Early, fmt.Sprintf("before its at of %s, with which %s pushed it", clock(l.push.At), x.name(l.pushEvent))
	case ruleFlush:
		return Flushed, fmt.Sprintf("although %s pushed it, and %s has removed all jobs since",
			x.name(l.pushEvent), x.names(p.flushes))
	case ruleAck:
		return Returned, fmt.Sprintf(
			"although its worker acknowledged it with %s, before the last delivery and within its reservation of %s",
			x.names(p.acks), l.reserve)
	case ruleBackoff:
		return RetriedAtOnce, fmt.Sprintf("less than %s after it failed with %s", x.limits.Backoff, x.names(p.fails))
	default:
		return j.duplicationBreach(p), fmt.Sprintf(
			"although in no order of overlapping calls does a FAIL or the end of its reservation (%s) lie between them",
			l.reserve)
	}
}

// duplicationBreach returns the breach of a job that two workers held at the same time. A reservation
// that was cut short after a while is another breach.
func (j *judge) duplicationBreach(p *proof) Breach {
	l := &j.life
	first := j.index.events[p.deliveries[0]]
	last := j.index.events[p.deliveries[len(p.deliveries)-1]]
	if len(p.deliveries) == 2 && last.Call-first.Return >= l.reserve/4 {
		return ReservationCut
	}
	return Duplicated
}

// retryBreach returns the breach of the limit of the job's tries.
func (l *life) retryBreach() Breach {
	switch {
	case l.push.Retry == nil:
		return RetriedByDefault
	case *l.push.Retry == 0:
		return RetriedNever
	case *l.push.Retry == -1:
		return RetriedDiscarded
	default:
		return RetriedTooOften
	}
}

func (l *life) retryWords() string {
	if l.push.Retry == nil {
		return "it has no retry, so the default is 25"
	}
	return fmt.Sprintf("its retry is %d", *l.push.Retry)
}
