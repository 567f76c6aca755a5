package play

import (
	"context"
	"errors"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/standstill"
	"github.com/fwpsuite/fwp/scenarios"
)

// Look adds to what was seen of a target what new connections show: whether one is served, and whether one beside it
// is greeted. No other connection of this process may be open there. It blocks for a few timeouts at most.
func (p *Player) Look(ctx context.Context, d scenarios.Dialect, looks standstill.Looks) standstill.Looks {
	th := p.probeThread(d)
	if th.port(scenarios.Consumer) != "" { // one port may serve and another not
		return looks
	}
	hello, _ := d.Hello(scenarios.Producer, d.Sample(false))
	looks.Greeting, looks.Introduction = d.Grammar().Greeting, d.Grammar().VerbOf(hello.Words)
	if looks.Admissions == 0 {
		looks.Admissions = int(th.Peers.admissions.Load())
	}
	if looks.Fresh = th.lookAtNew(ctx); looks.Fresh != standstill.Live {
		return looks
	}
	const rounds = 2 // a server that is late once looks like one that waits
	for range rounds {
		if looks.Second, looks.Third = th.lookAtSecond(ctx); looks.Third != standstill.Live {
			break
		}
	}
	return looks
}

// lookAtNew looks at a new connection.
func (th *thread) lookAtNew(ctx context.Context) standstill.Look {
	_, err := th.askServing(ctx, th.Timeout, th.askingLike(nil))
	unserved, ok := errors.AsType[*unservedError](err)
	switch {
	case ctx.Err() != nil || err != nil && !ok:
		return standstill.Unseen
	case err == nil:
		return standstill.Live
	case unserved.service == connService || unserved.endsConn:
		return standstill.Gone
	}
	return standstill.Silent
}

// lookAtSecond looks at a connection beside one that was greeted and has sent nothing, and if nothing came there, once
// more when the other one has introduced itself. Where servers do not greet there is nothing to see.
func (th *thread) lookAtSecond(ctx context.Context) (second, third standstill.Look) {
	inner := th.prober(th.Timeout, th.scope)
	var conns [2]*conn
	for i := range conns {
		c, err := inner.play.dial(ctx, "", scenarios.Producer, nil)
		if err != nil {
			return standstill.Unseen, standstill.Unseen
		}
		defer c.leave(ctx)
		conns[i] = c
		if c.Status().OwedMessages == 0 {
			return standstill.Unseen, standstill.Unseen
		}
		if second = lookAtGreeting(ctx, c, th.Timeout/2); second != standstill.Live && i == 0 {
			return standstill.Unseen, standstill.Unseen
		}
	}
	if second != standstill.Silent || inner.greet(ctx, conns[0]) != nil {
		return second, standstill.Unseen
	}
	return second, lookAtGreeting(ctx, conns[1], th.Timeout/2)
}

// lookAtGreeting waits for the greeting of a connection.
func lookAtGreeting(ctx context.Context, c *conn, limit time.Duration) standstill.Look {
	a, ok := c.Peek(ctx, time.Now().Add(limit))
	switch {
	case ctx.Err() != nil:
		return standstill.Unseen
	case !ok:
		return standstill.Silent
	case a.Ending != scenarios.Open:
		return standstill.Gone
	}
	return standstill.Live
}

// noteOld looks at the connections of the thread that were served before the server seemed to serve no more. Two that
// are asked and are silent are enough: each costs time.
func (th *thread) noteOld(ctx context.Context) {
	if th.port(scenarios.Consumer) != "" {
		return
	}
	look, silences := standstill.Unseen, 0
	for _, c := range th.ownConns() {
		if c.isExcused.Load() || c.unjudged != nil {
			continue
		}
		question, err := th.grammar().Encode(th.dialect().Probe(c.role, c.state))
		if err != nil {
			continue
		}
		found := LookAtOld(ctx, c.Conn, question, th.Timeout)
		if look = max(look, found); found == standstill.Silent {
			silences++
		}
		if look == standstill.Live || silences == maxSilences {
			break
		}
	}
	th.mu.Lock()
	defer th.mu.Unlock()
	th.oldLook = max(th.oldLook, look)
}

const maxSilences = 2

// LookAtOld looks at a connection that was open before its server seemed to serve no more: one that owes nothing is
// asked, and of one that owes something it is known that nothing came since then. It blocks for half a timeout at most.
func LookAtOld(ctx context.Context, c *session.Conn, question []byte, timeout time.Duration) standstill.Look {
	a, ok := c.Poll()
	_, sent := c.LastWrite()
	status := c.Status()
	switch {
	case !c.HasAnswered(): // it is a new one
		return standstill.Unseen
	case ok && a.Ending != scenarios.Open || c.Ending() != scenarios.Open:
		return standstill.Gone
	case !ok && status.OwedMessages > 0 && time.Since(sent) >= timeout:
		return standstill.Silent
	case ok || status.OwedMessages > 0 || status.Phase != session.Serving:
		return standstill.Unseen
	}
	return askOld(ctx, c, question, timeout/2)
}

// askOld asks a connection that owes nothing.
func askOld(ctx context.Context, c *session.Conn, question []byte, timeout time.Duration) standstill.Look {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	switch a, err := c.Aside(limited, question); {
	case ctx.Err() != nil:
		return standstill.Unseen
	case err != nil || a.GaveUp && a.Pending == "":
		return standstill.Silent
	case a.Ending != scenarios.Open:
		return standstill.Gone
	}
	return standstill.Live
}
