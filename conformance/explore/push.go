package explore

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/session"
)

// pushes reports whether the server sends messages that answer no command.
func (p *playing) pushes() bool { return p.pusher != nil }

// notice has the law judge a message that answers no command.
func (p *playing) notice(c *conn, a session.Received) {
	answer := p.law.Came(c.number, a.Message, a.At)
	p.served, p.ends = true, p.ends || answer.Ends
	p.seen = append(p.seen, seen{step: p.step, conn: c.number, round: p.round, Answer: answer})
	p.cover.note(answer)
	p.answered(c, answer)
	p.broken(c, answer.Violation, p.step)
}

// aMoment is how long the player awaits what must not come, after each step behind which nothing has to.
const aMoment = 5 * time.Millisecond

// pushed awaits what the server has to send by itself after a step. Where that is nothing it awaits for a moment what
// the server must not send, so that it shows at the step that brought it about, and so that steps on different
// connections reach the server in their order.
func (p *playing) pushed(ctx context.Context, s *Step) {
	if !p.pushes() || p.fuzzing {
		return
	}
	awaited := false
	for due := p.pusher.Due(time.Now()); due != nil && !p.dead && ctx.Err() == nil; due = p.pusher.Due(time.Now()) {
		awaited = true
		if p.comes(ctx, due.Conns, p.timeout) {
			continue
		}
		if still := p.pusher.Due(time.Now()); still != nil && still.Missing.JID == due.Missing.JID {
			p.missed(ctx, due)
		}
	}
	if s.Sends() != nil && !awaited && !s.Ahead {
		p.comes(ctx, []int{s.Conn()}, aMoment)
	}
}

// comes waits until something has come on one of the connections, at most for a limit, takes in what has come on all
// connections, and reports whether anything has on these.
func (p *playing) comes(ctx context.Context, numbers []int, limit time.Duration) bool {
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	var came atomic.Bool
	var all sync.WaitGroup
	until := time.Now().Add(limit)
	for _, n := range slices.Compact(slices.Sorted(slices.Values(numbers))) { // each once: Peek is for one caller
		c := p.conns[n]
		if c == nil {
			continue
		}
		all.Go(func() { // the only one that uses the connection meanwhile
			if _, is := c.Peek(waiting, until); is {
				came.Store(true)
				stop()
			}
		})
	}
	all.Wait()
	p.poll(ctx)
	return came.Load()
}

// missed keeps the finding that a message did not come. Where the connections were ended to find out whether the
// server serves, it is not known whether it would have come.
func (p *playing) missed(ctx context.Context, due *law.Due) {
	defer p.pusher.Missed(due)
	if ctx.Err() != nil {
		return
	}
	c := p.conns[due.Conns[0]]
	if !p.alive(ctx) {
		if c == nil {
			c = &conn{number: due.Conns[0]}
		}
		p.crashed(ctx, c, false)
		return
	}
	if c == nil || p.conns[c.number] != c || ctx.Err() != nil {
		return
	}
	v := due.Missing
	p.record(c, event{parts: []string{"<nothing>"}, violation: &v})
	p.broken(c, &v, p.step)
}

// drainAfterLast takes in what still comes behind the last step of a conversation, which may be what it is to show.
// A server that dies of it may take that long to die; zero: that is not what it is to show.
func (p *playing) drainAfterLast(ctx context.Context, dying time.Duration) {
	const most = 100
	crash, limit := dying > 0, max(dying, firstReplyWait)
	for range most {
		if p.dead || !p.comes(ctx, slices.Sorted(maps.Keys(p.conns)), limit) {
			break
		}
	}
	if crash && !p.dead {
		p.probe(ctx, &conn{number: noConn, clause: p.unheard()})
	}
}
