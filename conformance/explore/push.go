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
func (p *playthrough) pushes() bool { return p.pusher != nil }

// notice has the law judge a message that answers no command.
func (p *playthrough) notice(c *conn, a session.Received) {
	answer := p.law.Judge(c.number, a.Message, a.At)
	p.hasServed, p.mayEnd = true, p.mayEnd || answer.Ends
	p.replies = append(p.replies, reply{step: p.step, conn: c.number, round: p.round, Answer: answer})
	p.cover.note(answer)
	p.recordAnswer(c, answer)
	p.addSighting(c, answer.Violation, p.step)
}

// silenceWait is how long the player awaits what must not come, after each step behind which nothing has to.
const silenceWait = 5 * time.Millisecond

// awaitPushes awaits what the server has to send by itself after a step. Where that is nothing it awaits for a moment
// what the server must not send, so that it shows at the step that brought it about, and so that steps on different
// connections reach the server in their order.
func (p *playthrough) awaitPushes(ctx context.Context, s *Step) {
	if !p.pushes() || p.isFuzzing {
		return
	}
	awaited := false
	for message := p.pusher.NextMessage(time.Now()); message != nil && !p.isDead &&
		ctx.Err() == nil; message = p.pusher.NextMessage(time.Now()) {
		awaited = true
		if p.awaitMessage(ctx, message.Conns, p.timeout) {
			continue
		}
		if next := p.pusher.NextMessage(time.Now()); next != nil && next.Missing.JID == message.Missing.JID {
			p.addMissing(ctx, message)
		}
	}
	if s.Sends() != nil && !awaited && !s.Ahead {
		p.awaitMessage(ctx, []int{s.Conn()}, silenceWait)
	}
}

// awaitMessage waits until something has come on one of the connections, at most for a limit, takes in what has come on
// all connections, and reports whether anything has on these.
func (p *playthrough) awaitMessage(ctx context.Context, numbers []int, limit time.Duration) bool {
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	var hasArrived atomic.Bool
	var all sync.WaitGroup
	deadline := time.Now().Add(limit)
	for _, n := range slices.Compact(slices.Sorted(slices.Values(numbers))) { // each once: Peek is for one caller
		c := p.conns[n]
		if c == nil {
			continue
		}
		all.Go(func() { // the only one that uses the connection meanwhile
			if _, ok := c.Peek(waiting, deadline); ok {
				hasArrived.Store(true)
				stop()
			}
		})
	}
	all.Wait()
	p.poll(ctx)
	return hasArrived.Load()
}

// addMissing keeps the finding that a message did not come. Where the connections were ended to find out whether the
// server serves, it is not known whether it would have come.
func (p *playthrough) addMissing(ctx context.Context, message *law.DueMessage) {
	defer p.pusher.Missed(message)
	if ctx.Err() != nil {
		return
	}
	c := p.conns[message.Conns[0]]
	if !p.isAlive(ctx) {
		if c == nil {
			c = &conn{number: message.Conns[0]}
		}
		p.noteCrash(ctx, c, false)
		return
	}
	if c == nil || p.conns[c.number] != c || ctx.Err() != nil {
		return
	}
	v := message.Missing
	p.record(c, event{parts: []string{"<nothing>"}, violation: &v})
	p.addSighting(c, &v, p.step)
}

// drainAfterLast takes in what still comes behind the last step of a conversation, which may be what it is to show.
// A server that dies of it may take that long to die; zero: that is not what it is to show.
func (p *playthrough) drainAfterLast(ctx context.Context, dying time.Duration) {
	const maxMessages = 100
	crash, limit := dying > 0, max(dying, firstReplyWait)
	for range maxMessages {
		if p.isDead || !p.awaitMessage(ctx, slices.Sorted(maps.Keys(p.conns)), limit) {
			break
		}
	}
	if crash && !p.isDead {
		p.probe(ctx, &conn{number: noConn, clause: p.greetingClause()})
	}
}
