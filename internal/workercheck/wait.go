package workercheck

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/monitor"
)

// stateIn returns the state in the reply to a BEAT; empty if it has none.
func stateIn(r fwp.Reply) string {
	var change struct{ State string }
	if r.Kind != fwp.BulkString && r.Kind != fwp.SimpleString || json.Unmarshal(r.Text, &change) != nil {
		return ""
	}
	return change.State
}

// is decides whether an event has a property.
type is = func(*monitor.Event) bool

// line is that of lines of a verb.
func line(verb string) is {
	return func(e *monitor.Event) bool { return e.Kind == monitor.Line && e.Command.Verb == verb }
}

// since is that of events from a time on that have another one.
func since(at time.Duration, that is) is {
	return func(e *monitor.Event) bool { return e.At >= at && that(e) }
}

// of is that of events of a process that have another one.
func (p *proc) of(that is) is {
	return func(e *monitor.Event) bool { return e.Process == p.number && that(e) }
}

// ofWorker is that of events that have another one, on the connections of the worker that was told something: a process
// may have several workers.
func (b *bed) ofWorker(told *monitor.Event, that is) is {
	wids := b.wids()
	return func(e *monitor.Event) bool { return wids[e.Conn] == wids[told.Conn] && that(e) }
}

// notBeside is that of events that have another one, but for those of workers that were there beside the one that was
// told something, until a time.
func (b *bed) notBeside(told *monitor.Event, until time.Duration, that is) is {
	wids, beside := b.wids(), map[any]bool{}
	for _, e := range b.all(line(fwp.HELLO)) {
		if wid := wids[e.Conn]; e.At < until && wid != wids[told.Conn] {
			beside[wid] = true
		}
	}
	return func(e *monitor.Event) bool { return !beside[wids[e.Conn]] && that(e) }
}

// wids returns the worker ids of all connections.
func (b *bed) wids() map[int]any {
	wids := map[int]any{}
	for _, e := range b.all(line(fwp.HELLO)) {
		wids[e.Conn] = e.Object["wid"]
	}
	return wids
}

// delivered is that of replies to FETCH with a job.
func delivered(e *monitor.Event) bool {
	return e.Kind == monitor.Reply && e.To == fwp.FETCH && e.Reply.Kind == fwp.BulkString
}

// find returns a copy of the first event with a property, nil if there is none.
func (t *tape) find(that is) *monitor.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.IndexFunc(t.events, func(e monitor.Event) bool { return that(&e) }); i >= 0 {
		e := t.events[i]
		return &e
	}
	return nil
}

// count returns how many events have a property.
func (t *tape) count(that is) int { return len(t.all(that)) }

// all returns copies of the events with a property.
func (t *tape) all(that is) []monitor.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	var found []monitor.Event
	for i := range t.events {
		if that(&t.events[i]) {
			found = append(found, t.events[i])
		}
	}
	return found
}

// await waits until an event with a property has come, and reports whether it came within the patience.
func (b *bed) await(patience time.Duration, that is) bool {
	return b.until(patience, func() bool { return b.find(that) != nil })
}

// awaitOrEnd is await that ends when a process is over, too.
func (b *bed) awaitOrEnd(p *proc, patience time.Duration, that is) bool {
	b.until(patience, func() bool { return b.find(that) != nil || b.exited(p) })
	return b.find(that) != nil
}

// exited reports whether the end of a process has been recorded.
func (b *bed) exited(p *proc) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.exits[p.number]
}

// until waits for a condition that only an event can bring about.
func (b *bed) until(patience time.Duration, condition func() bool) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		b.mu.Lock()
		changed := b.changed
		b.mu.Unlock()
		if condition() {
			return true
		}
		select {
		case <-changed:
			b.breathe()
		case <-timer.C:
			return condition()
		case <-b.ctx.Done():
			return false
		}
	}
}

// breathe keeps a program that sends much from keeping this one busy with looking at it.
func (b *bed) breathe() {
	const some, many = 100, 1000
	b.mu.Lock()
	n := len(b.events)
	b.mu.Unlock()
	switch {
	case n > many:
		time.Sleep(20 * time.Millisecond)
	case n > some:
		time.Sleep(2 * time.Millisecond)
	}
}

// watchFor lets time pass in which the program is watched.
func (b *bed) watchFor(d time.Duration) { b.until(d, func() bool { return false }) }

// watchUntilEnd lets time pass, until a process is over and the end of its connections has been seen.
func (b *bed) watchUntilEnd(p *proc, d time.Duration) {
	if !b.until(d, func() bool { return b.exited(p) }) {
		return
	}
	open := func(kind monitor.Kind) int {
		return b.count(p.of(func(e *monitor.Event) bool { return e.Kind == kind }))
	}
	b.until(grace, func() bool { return open(monitor.Opened) == open(monitor.Closed) })
}

// fetchedFrom returns the queues of the first FETCH of a process; none if none comes.
func (b *bed) fetchedFrom(p *proc, patience time.Duration) []string {
	fetch := p.of(line(fwp.FETCH))
	if !b.awaitOrEnd(p, patience, fetch) {
		return nil
	}
	return queuesOf(b.find(fetch))
}
