package run

import (
	"context"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/scenarios"
)

// A script ends with the last job that it waits for. What a server does with a job later shows when all its queues
// are asked once more: those of a server for one check when that is over, and all others at the end of the run.

// copyTime is how long after the end of a script a job may come a second time: servers look for what is due every few
// seconds. A quick run does not wait for it.
const copyTime = 5 * time.Second

// remainder is a play whose queues are to be asked.
type remainder struct {
	description conformance.Description
	evidence    *conformance.Evidence
	ended       time.Time
}

// sweepOwn asks the queues of a play once more on a server that ends with it.
func (s *runState) sweepOwn(ctx context.Context, t *task, e *conformance.Evidence) {
	if s.runner.Quick || t.host != nil || t.lends() || e.Remainder == nil || e.DeadReason != "" ||
		!machine.Sleep(ctx, copyTime) {
		return
	}
	conformance.Sweep(ctx, []*conformance.Remainder{e.Remainder})
	e.Follow()
}

// keepRemainder has the queues of a play asked at the end of the run. Nothing is promised of the end of a job that was
// there before the server was stopped.
func (s *runState) keepRemainder(t *task) {
	h, e := t.server, t.evidence
	isStop := func(n scenarios.Need) bool { return n == scenarios.NeedRestart || n == scenarios.NeedKill }
	if e.DeadReason != "" || e.HasRecovered || slices.ContainsFunc(t.description.Needs, isStop) {
		h.remainders = nil
	}
	if (t.host != nil || t.lends()) && e.Remainder != nil && e.DeadReason == "" && !e.HasRecovered {
		h.remainders = append(h.remainders, remainder{t.description, e, time.Now()})
	}
}

// sweepAll asks the queues of all plays once more, on the servers that are there still.
func (s *runState) sweepAll(ctx context.Context) {
	for _, h := range s.hosts {
		for _, other := range append(slices.Clone(h.idleHosts), h) {
			if ctx.Err() == nil && s.stopReason == "" && !other.isDown && other.lostReason == "" && other.crash == nil {
				s.sweep(ctx, other)
			}
		}
	}
}

// sweep asks the queues of the plays on a server.
func (s *runState) sweep(ctx context.Context, h *host) {
	if len(h.remainders) == 0 {
		return
	}
	if last := h.remainders[len(h.remainders)-1].ended; !s.runner.Quick {
		machine.Sleep(ctx, time.Until(last.Add(copyTime)))
	}
	all := make([]*conformance.Remainder, len(h.remainders))
	for i, r := range h.remainders {
		all[i] = r.evidence.Remainder
	}
	conformance.Sweep(ctx, all)
	for _, r := range h.remainders {
		s.law.takeFurther(r.description, r.evidence, r.evidence.Follow())
	}
}

// takeFurther keeps what the law has found when a play was over.
func (l *lawResults) takeFurther(description conformance.Description, e *conformance.Evidence, all []law.Occurrence) {
	for _, v := range all {
		l.tally.Add(law.Tally{Rules: map[string]law.Rate{v.Rule: {Breaches: 1, Clauses: map[string]int{v.Clause: 1}}}})
		key := lawKey{v.Rule, v.Clause}
		switch f := l.findings[key]; {
		case l.isReported(e, v):
		case f == nil:
			l.findings[key] = &lawFinding{Occurrence: v, description: description, first: e, plays: 1, isFurther: true}
		case f.isConfirmedBy(description, v):
			f.plays++
		}
	}
}
