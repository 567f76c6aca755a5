package situations

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/base/number"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
)

// waitUntil waits for a condition that only an event can bring about, and reports whether it came about within the
// patience, which is longer by what the lag of this machine meanwhile may explain.
func (t *trial) waitUntil(patience time.Duration, condition func() bool) bool {
	begun := time.Now()
	return t.wait(patience, condition, func() time.Duration {
		return patience + machine.Grace(t.lag(begun), patience) - time.Since(begun)
	})
}

// wait is waitUntil with a function that returns how much longer to wait when the patience is over.
func (t *trial) wait(patience time.Duration, condition func() bool, remaining func() time.Duration) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		changed, events := t.nextChange()
		if condition() {
			return true
		}
		select {
		case <-changed:
			throttle(events)
		case <-timer.C:
			rest := remaining()
			if rest <= 0 || condition() {
				return condition()
			}
			timer.Reset(rest)
		case <-t.ctx.Done():
			return false
		}
	}
}

// throttle keeps a program that sends much from keeping this one busy with looking at it.
func throttle(events int) {
	const low, high = 100, 1000
	switch {
	case events > high:
		time.Sleep(20 * time.Millisecond)
	case events > low:
		time.Sleep(2 * time.Millisecond)
	}
}

// waitUntilEnd is waitUntil, but no longer than a process lives. It reports whether the condition came about.
func (t *trial) waitUntilEnd(p *program, patience time.Duration, condition func() bool) bool {
	t.waitUntil(patience, func() bool { return condition() || t.hasExited(p) })
	return condition()
}

// await waits until an event matches, no longer than a process lives, and reports whether one has come.
func (t *trial) await(p *program, patience time.Duration, m match) bool {
	return t.awaitCount(p, patience, m, 1)
}

// awaitCount waits until n events match, no longer than a process lives, and reports whether so many have come.
func (t *trial) awaitCount(p *program, patience time.Duration, m match, n int) bool {
	return t.waitUntilEnd(p, patience, func() bool { return t.count(m) >= n })
}

// watch lets time pass, until a process is over and the end of its connections has been seen.
func (t *trial) watch(p *program, d time.Duration) {
	if !t.wait(d, func() bool { return t.hasExited(p) }, func() time.Duration { return 0 }) {
		return
	}
	opened, closed := p.events(eventsOfKind(clientrules.ConnOpen)), p.events(eventsOfKind(clientrules.ConnClose))
	t.waitUntil(timeToAct, func() bool { return t.count(opened) == t.count(closed) })
}

// timeToAct is how long a worker may take to act on what it was told.
const timeToAct = 3 * time.Second

// timeToRead is how long a worker may take to read what it was told; a FETCH waits much longer.
const timeToRead = 200 * time.Millisecond

// timeToObey is longer than the rules let a FETCH pass that crosses an order, and shorter than the rest of the wait of
// one that was there before.
const timeToObey = time.Second

// quickPatience is how long something may take that needs no waiting.
const quickPatience = 20 * time.Second

// mustFetch waits for the first FETCH of a process, and ends the play otherwise.
func (t *trial) mustFetch(p *program) {
	if !t.await(p, quickPatience, p.lines(fwp.FETCH)) {
		t.giveUp(true, "the worker sent no FETCH within %v", quickPatience)
	}
}

// mustTake waits until one of some jobs was delivered, and a moment longer for the others: what follows is about a
// worker that has all of them in hand, if it runs so many at a time. It ends the play if none was delivered.
func (t *trial) mustTake(jids ...string) {
	hasDelivered := func(n int) func() bool { return func() bool { return len(t.filterDelivered(jids)) >= n } }
	if !t.waitUntil(quickPatience, hasDelivered(1)) {
		t.giveUp(true, "the program fetched no job within %v", quickPatience)
	}
	t.waitUntil(timeToAct, hasDelivered(len(jids)))
}

// beatPatience is how long a worker may take to its next BEAT, with the slack of a busy machine.
const beatPatience = 66 * time.Second

// mustBeat waits until a process has sent n BEATs, and ends the play otherwise.
func (t *trial) mustBeat(p *program, n int) {
	t.requireIdling()
	beats := p.lines(fwp.BEAT)
	for i := 1; i <= n; i++ {
		if !t.awaitCount(p, beatPatience, beats, i) {
			t.giveUp(true, "the worker sent %d of %d BEATs, and no more within %v", t.count(beats), n, beatPatience)
		}
	}
}

// mustReceiveState waits until a worker was told a state, and ends the play if it sends no BEAT.
func (t *trial) mustReceiveState(p *program, state string) *clientrules.Event {
	replies := p.events(stateReply(state))
	if !t.await(p, beatPatience, replies) {
		t.giveUp(true, "the worker could not be told to %s: it sent no BEAT within %v", state, beatPatience)
	}
	return t.first(replies)
}

// ending says what has become of a process.
func (t *trial) ending(p *program) string {
	if t.hasExited(p) {
		return "ended (" + p.ExitStatus() + ")"
	}
	return "stayed"
}

// match decides whether an event has a property.
type match = func(*clientrules.Event) bool

// eventsOfKind matches events of a kind.
func eventsOfKind(kind clientrules.Kind) match {
	return func(e *clientrules.Event) bool { return e.Kind == kind }
}

// line matches lines of some verbs.
func line(verbs ...string) match {
	return func(e *clientrules.Event) bool {
		return e.Kind == clientrules.Line && slices.Contains(verbs, e.Command.Verb)
	}
}

// reply matches replies to a verb, and refusal those that are errors.
func reply(verb string) match {
	return func(e *clientrules.Event) bool { return e.Kind == clientrules.Reply && e.ReplyVerb == verb }
}

// stateReply matches replies to BEAT that have a state.
func stateReply(state string) match {
	return func(e *clientrules.Event) bool { return reply(fwp.BEAT)(e) && stateIn(e.Reply) == state }
}

func refusal(verb string) match {
	return func(e *clientrules.Event) bool { return e.IsError() && e.ReplyVerb == verb }
}

// delivery matches replies to FETCH with a job.
func delivery(e *clientrules.Event) bool { return e.Job != nil }

// serverClose matches the ends of connections that the server has closed.
func serverClose(e *clientrules.Event) bool {
	return e.Kind == clientrules.ConnClose && e.Closer == clientrules.Server
}

// eventsAfter matches the events from a time on that match m.
func eventsAfter(at time.Duration, m match) match {
	return func(e *clientrules.Event) bool { return e.At >= at && m(e) }
}

// events matches the events of a process that match m.
func (p *program) events(m match) match {
	return func(e *clientrules.Event) bool { return e.Process == p.number && m(e) }
}

// lines matches the lines of a process that have one of some verbs.
func (p *program) lines(verbs ...string) match { return p.events(line(verbs...)) }

// pushOf matches the PUSH of a job, and the PUSHB that has it.
func pushOf(jid string) match {
	return func(e *clientrules.Event) bool { return pushedBy(e, jid) != nil }
}

// pushAll is Faktory's command that pushes several jobs together.
const pushAll = "PUSHB"

// pushedBy returns the job of a jid that a line pushes; nil if it pushes none.
func pushedBy(e *clientrules.Event, jid string) map[string]any {
	jobs := []any{e.Object}
	switch e.Verb() {
	case pushAll:
		all, err := number.Decode(e.Command.Args)
		if jobs, _ = all.([]any); err != nil {
			return nil
		}
	case fwp.PUSH:
	default:
		return nil
	}
	for _, item := range jobs {
		if job, ok := item.(map[string]any); ok && job["jid"] == jid {
			return job
		}
	}
	return nil
}

// excludeOthers matches the events that match m, but for those of workers that had greeted beside the one that was told
// something, before a time.
func (t *trial) excludeOthers(order *clientrules.Event, before time.Duration, m match) match {
	isOther := map[string]bool{}
	for _, e := range t.all(line(fwp.HELLO)) {
		isOther[e.Worker] = isOther[e.Worker] || e.At < before && e.Worker != order.Worker
	}
	return func(e *clientrules.Event) bool { return !isOther[e.Worker] && m(e) }
}

// stateIn returns the state in the reply to a BEAT; empty if it has none.
func stateIn(r fwp.Reply) string {
	var change struct{ State string }
	if r.Kind != fwp.BulkString && r.Kind != fwp.SimpleString || json.Unmarshal(r.Text, &change) != nil {
		return ""
	}
	return change.State
}
