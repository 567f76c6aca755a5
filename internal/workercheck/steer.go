package workercheck

import (
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/monitor"
)

// orderPatience is how long a worker may take to its next BEAT, with the slack of a busy machine.
const orderPatience = 66 * time.Second

// order answers every BEAT of a worker with a state, from now on or only once, and waits until the worker was told. It
// ends the play if the worker sends no BEAT.
func (b *bed) order(p *proc, state string, always bool) *monitor.Event {
	b.idlesElsewhere()
	b.steer(tell(state, always))
	return b.told(p, state)
}

// tell returns a hook that answers every BEAT with a state, or only the first one.
func tell(state string, always bool) func(*fakes.Event) {
	var told atomic.Bool
	return func(e *fakes.Event) {
		if e.Point == fakes.Notified && (always || !told.Swap(true)) {
			e.State, e.Skip = state, false
		}
	}
}

// told waits until a worker was told a state, and ends the play if it sends no BEAT.
func (b *bed) told(p *proc, state string) *monitor.Event {
	isTold := p.of(func(e *monitor.Event) bool {
		return e.Kind == monitor.Reply && e.To == fwp.BEAT && stateIn(e.Reply) == state
	})
	if !b.awaitOrEnd(p, orderPatience, isTold) {
		b.giveUp(true, "the worker was not told to %s: it sent no BEAT within %v", state, orderPatience)
	}
	return b.find(isTold)
}

// nth returns a hook that acts at one point of the nth command of a verb, counted over all connections from 1.
func nth(n int64, p fakes.Point, verb string, act func(*fakes.Event)) func(*fakes.Event) {
	var count atomic.Int64
	return func(e *fakes.Event) {
		if e.Point == p && e.Command.Verb == verb && count.Add(1) == n {
			act(e)
		}
	}
}

// refuseFirst returns a hook that answers the first n commands of a verb with an error, and does not carry them out.
func refuseFirst(n int64, verb, text string) func(*fakes.Event) {
	var count atomic.Int64
	return func(e *fakes.Event) {
		if e.Point == fakes.Checked && e.Command.Verb == verb && e.Err == nil && count.Add(1) <= n {
			e.Skip, e.Err = true, refusal(text)
		}
	}
}

// refusal is the reason of an error reply.
type refusal string

func (r refusal) Error() string { return string(r) }

// segmented returns a hook that writes every reply in segments of one byte.
func segmented(e *fakes.Event) {
	if e.Point == fakes.Writing {
		e.Chunk, e.Pause = 1, time.Millisecond
	}
}

// greeting returns a hook that replaces the text of HI.
func greeting(text string) func(*fakes.Event) {
	return func(e *fakes.Event) {
		if e.Point == fakes.Greeting {
			e.Reply = fwp.Reply{Kind: fwp.SimpleString, Text: []byte(text)}
		}
	}
}

// hangUp ends the connection after the event's step, without a reply.
func hangUp(e *fakes.Event) {
	e.Reply, e.Close = fwp.Reply{}, true
}

// unread returns a hook that ends the connection of the nth command of a verb, which is neither carried out nor
// answered.
func unread(n int64, verb string) func(*fakes.Event) {
	var conn atomic.Int64
	skip := nth(n, fakes.Checked, verb, func(e *fakes.Event) {
		e.Skip = true
		conn.Store(e.Conn.ID)
	})
	return func(e *fakes.Event) {
		skip(e)
		if e.Point == fakes.Ran && e.Conn.ID == conn.Load() {
			hangUp(e)
		}
	}
}
