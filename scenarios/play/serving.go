package play

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// probe checks that the server serves after a line that provoked an error or a close: on
// a new connection, and on the old one where it must still be open.
func (th *thread) probe(ctx context.Context, c *conn, e *scenarios.Expect, a session.Received) error {
	provoked := a.Ending != scenarios.Open || a.IsComplete() && th.grammar().IsRefusal(a.Message)
	if !provoked || c.isExcused.Load() && c.Status().Phase != session.Ended {
		return nil
	}
	hasServed, serving := th.serving(ctx, c)
	if ctx.Err() != nil {
		return interruptError(ctx, e)
	}
	if !serving {
		return errStop
	}
	if a.Ending != scenarios.Open || c.Status().OwedMessages > 0 || c.Status().Phase != session.Serving || !hasServed {
		return nil
	}
	return th.probeSame(ctx, c, e, a)
}

// probeSame sends the question that a new connection in the same role was just served on
// a connection that a rejected command must have left as it was. A producer's connection
// may be closed at any time. If it was this question that was refused, it decides nothing.
func (th *thread) probeSame(ctx context.Context, c *conn, e *scenarios.Expect, refusal session.Received) error {
	if a, ok := c.Poll(); ok && a.Ending == scenarios.Open && a.Broken == nil {
		if th.isTurnedAway(c, a) {
			return th.stopUnsure(e, e.Pos, e.Marks, e.Expected(), *c.unjudged)
		}
		th.breachOn(c, e.Pos, a, scenarios.Breach{Kind: c.surplus(a), Expected: "no data before the next command"})
		return errStop
	}
	question := th.dialect().Probe(c.role, c.state)
	command, err := th.grammar().Encode(question)
	if err != nil {
		return th.fail(e, "a command to send", err.Error())
	}
	if c.isUnserved = c.isUnserved || bytes.Equal(bytes.TrimSpace(refusal.Command),
		bytes.TrimSpace(command)); c.isUnserved {
		return nil // whether that refusal is right is for the script
	}
	th.rec.question(c.name, question)
	a, err := c.Aside(ctx, command)
	if err != nil {
		return interruptError(ctx, e)
	}
	return th.judgeProbe(ctx, c, e, a, command)
}

// judgeProbe judges the answer to the question that was asked behind a refusal, and records the breach that it shows.
func (th *thread) judgeProbe(
	ctx context.Context, c *conn, e *scenarios.Expect, a session.Received, question []byte,
) error {
	switch {
	case th.noteTrailing(c, e.Pos, a):
	case a.Ending != scenarios.Open && c.role != scenarios.Consumer, th.isServed(a):
		return nil
	case a.IsArriving:
		return th.stopUnsure(e, e.Pos, e.Marks, e.Expected(), doubt{"", false, a.String()})
	case isBeyondLimit(a):
		return th.stopUnsure(e, e.Pos, e.Marks, e.Expected(), doubt{"", false, a.String()})
	case a.Broken != nil, a.Pending != "":
		th.noteBroken(c, e.Pos, a)
	case a.GaveUp:
		th.noteUnanswered(c, e.Pos, a)
	case a.Ending != scenarios.Open:
		th.noteEnd(c, e.Pos, a)
	case !th.hasLostState(ctx, c, question):
		return nil
	default:
		th.breachOn(c, e.Pos, a, scenarios.Breach{Kind: scenarios.StateLost,
			Expected: c.Status().Verb + " answered after the rejected command, as on a new connection"})
	}
	return errStop
}

// hasLostState reports whether a refusal of the question is about the connection: one of the same client is served it,
// and the connection itself is refused it again. A server that knows the client that greeted last alone would serve it
// now.
func (th *thread) hasLostState(ctx context.Context, c *conn, question []byte) bool {
	if c.role != scenarios.Consumer {
		return true
	}
	as := &probeClient{role: c.role, hello: c.hello, scope: th.scope}
	if isServed, err := th.askServing(ctx, th.Timeout, as); err == nil && !isServed {
		return false
	}
	a, err := c.Aside(ctx, question)
	return err != nil || !th.isServed(a)
}

// probeClient is how a connection introduces itself that checks whether the server serves.
type probeClient struct {
	role  scenarios.Role
	hello *scenarios.Object
	scope *scenarios.Scope
}

// askingLike returns one in the role of a connection, which may be nil for any. A consumer is a client of its own: that
// it leaves must mean nothing to those of the script.
func (th *thread) askingLike(like *conn) *probeClient {
	if like != nil && like.role != scenarios.Consumer {
		return &probeClient{role: scenarios.Producer, scope: th.scope}
	}
	scope := th.scope.Child() // Consumer, whose question asks least of a server
	scope.RenewClient(th.grammar())
	return &probeClient{role: scenarios.Consumer, scope: scope}
}

// serving checks on a new connection. A server that fails at the first try may be at its
// limit of connections, so it tries for a while. served reports
// whether a question in the role of like is served there. A service that the server never
// provided does not count as lost.
func (th *thread) serving(ctx context.Context, like *conn) (served, serving bool) {
	got, err := th.awaitServing(ctx, th.Timeout, like)
	if err == nil && !got.downSince.IsZero() {
		th.Peers.addOutage(Outage{got.downSince, time.Now()})
	}
	if err == nil || ctx.Err() != nil {
		return got.hasServed, true
	}
	if th.isUnprovided(err) && !th.hasEnded() {
		th.rec.remark("", err.Error()+"; this server has not served any connection yet")
		return false, true
	}
	th.rec.remark("", "the server does not serve a new connection: "+err.Error())
	th.noteOld(ctx)
	th.mu.Lock()
	defer th.mu.Unlock()
	unserved, ok := errors.AsType[*unservedError](err)
	th.notServing, th.openConns, th.isRefusing = err.Error(), got.openConns, ok && unserved.endsConn
	return false, false
}

// isUnprovided reports whether a probe failed at a service that the server has never
// provided.
func (th *thread) isUnprovided(err error) bool {
	unserved, ok := errors.AsType[*unservedError](err)
	return ok && th.Peers.services.noteFailure(unserved.service)
}

// probeResult is what awaitServing learned of a server.
type probeResult struct {
	hasServed bool      // a question was served
	openConns int       // connections that were open before the last try
	downSince time.Time // when it first let no connection in although none was open; zero if it always did
}

// awaitServing checks on new connections until one is answered. It begins no more once the time is over, or the process
// of the server has ended. A slow server gets the time to answer, and one that has never provided a service is not
// asked for it twice.
func (th *thread) awaitServing(ctx context.Context, limit time.Duration, like *conn) (got probeResult, err error) {
	const longest = 500 * time.Millisecond
	begin := time.Now()
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, longest) {
		start := time.Now()
		got.openConns = th.Peers.OpenConns()
		got.hasServed, err = th.askServing(ctx, th.Timeout, th.askingLike(like))
		switch {
		case err == nil || time.Since(begin) > limit+th.Meter.Excuse(begin) || th.isUnprovided(err), th.hasEnded():
			return got, err
		case got.downSince.IsZero() && got.openConns == 0:
			got.downSince = start
		}
		if !machine.Sleep(ctx, pause) {
			return got, err
		}
	}
}

// hasEnded reports whether it is in vain to ask again.
func (th *thread) hasEnded() bool { return th.HasEnded != nil && th.HasEnded() }

// Serves checks on a new connection whether the target serves, as a play does after an error. It waits for each
// reply no longer than the timeout. The error is the reason why it does not, or that of a ctx which is done.
func (p *Player) Serves(ctx context.Context, d scenarios.Dialect) error {
	th := p.probeThread(d)
	_, err := th.askServing(ctx, th.Timeout, th.askingLike(nil))
	return err
}

// DeadReason returns why the target serves no more, although it is asked until the timeout is over; empty if it serves,
// or never did.
func (p *Player) DeadReason(ctx context.Context, d scenarios.Dialect) string {
	th := p.probeThread(d)
	_, err := th.awaitServing(ctx, th.Timeout, nil)
	if err == nil || ctx.Err() != nil || th.isUnprovided(err) && !th.hasEnded() {
		return ""
	}
	return err.Error()
}

// probeThread returns a thread that plays nothing, and can only ask.
func (p *Player) probeThread(d scenarios.Dialect) *thread {
	th := &thread{play: &play{Player: *p, script: &scenarios.Script{Dialect: d}}, scope: scenarios.NewScope("fwp-serving")}
	th.Timeout, th.Meter = cmp.Or(p.Timeout, DefaultTimeout), cmp.Or(th.Meter, new(machine.Meter))
	return th
}

// isServed reports whether a question was answered with something else than a refusal.
func (th *thread) isServed(a session.Received) bool {
	return a.IsComplete() && !th.grammar().IsRefusal(a.Message)
}

// askServing asks once, on a new connection. It reports whether its question is served; false without an error means
// that the server serves and cannot be asked. A server serves if it answers anything:
// whether the answer is right is for the checks. What it does not answer, or that it lets no
// connection in, is an [unservedError].
func (th *thread) askServing(ctx context.Context, timeout time.Duration, as *probeClient) (served bool, err error) {
	inner := th.prober(timeout, as.scope)
	c, err := inner.play.dial(ctx, "", as.role, as.hello)
	if err != nil {
		return false, err
	}
	defer c.leave(ctx)
	if goOn, err := inner.introduceProbe(ctx, c); err != nil || !goOn {
		return false, err
	}
	question := th.dialect().Probe(c.role, c.state)
	if th.Peers.services.hasFailed(service(th.grammar().VerbOf(question))) {
		return false, nil
	}
	a, err := inner.inquire(ctx, c, question)
	if err != nil {
		return false, err
	}
	return th.isServed(a), nil
}

// prober returns a thread that asks on connections of its own.
func (th *thread) prober(timeout time.Duration, scope *scenarios.Scope) *thread {
	return &thread{scope: scope, play: &play{
		Player: Player{Target: th.Target, Password: th.Password, Timeout: timeout, Meter: th.Meter, Peers: th.Peers},
		script: th.script, conns: map[string]*conn{}, rec: &recorder{start: time.Now()}, scope: scope,
		count: NewConnCounter(th.Peers),
	}}
}

// introduceProbe introduces a connection that checks whether the server serves. It
// returns false where it does and there is nothing more to ask.
func (th *thread) introduceProbe(ctx context.Context, c *conn) (goOn bool, err error) {
	var a session.Received
	if greeted := c.Status().OwedMessages == 0; !greeted {
		if th.Peers.services.hasFailed(greetingService) {
			return false, nil
		}
		_, opened := c.LastWrite()
		if _, ok := c.Peek(ctx, opened.Add(th.Timeout/2)); !ok {
			return false, th.askUngreeted(ctx, c)
		}
		a, _ = c.Take(ctx, time.Time{})
	}
	hello, ok := th.dialect().Hello(c.role, c.state)
	switch {
	case a.Ending != scenarios.Open:
		return false, &unservedError{service: greetingService, words: th.greetingError("", a).Error(), endsConn: true}
	case a.IsComplete() && th.grammar().IsRefusal(a.Message): // it serves, and is at its limit of connections
		return false, nil
	case ok && hello.Locked && th.Password == "", th.Peers.services.hasFailed(welcomeService), !ok:
		return false, nil
	case hello.Words == "":
		return true, nil
	}
	err = th.introduce(ctx, c, hello)
	_, unable := errors.AsType[*unableError](err)
	if unable || errors.Is(err, errUnwelcome) {
		return false, nil
	} else if err != nil {
		return false, &unservedError{service: welcomeService, words: err.Error()}
	}
	return true, nil
}

// port names the port of workers, where they have one of their own; empty for any other.
func (th *thread) port(r scenarios.Role) string {
	_, opens := th.dialect().(scenarios.Opener) // connections of other protocols are alike
	if _, ok := th.Target.(BackendTarget); ok && opens && r == scenarios.Consumer {
		return "the port for workers: "
	}
	return ""
}

// askUngreeted checks whether a server that has not greeted answers at all. Where clients introduce themselves with
// nothing, there is nothing to ask.
func (th *thread) askUngreeted(ctx context.Context, c *conn) error {
	hello, _ := th.dialect().Hello(scenarios.Producer, c.state)
	if hello.Words == "" {
		return &unservedError{service: greetingService, words: th.port(c.role) + "no greeting on a new connection"}
	}
	line, err := th.renderer().Hello(c.state, hello, c.hello)
	if err != nil {
		return err
	}
	_, err = th.inquire(ctx, c, line)
	if unserved, ok := errors.AsType[*unservedError](err); ok {
		unserved.service = greetingService
		unserved.words = fmt.Sprintf("no %s on a new connection, and no answer to %s", th.grammar().Greeting,
			th.grammar().VerbOf(line))
	} else if err == nil {
		th.Peers.services.note(welcomeService)
	}
	return err
}

// inquire sends a question and returns the answer.
func (th *thread) inquire(ctx context.Context, c *conn, line string) (session.Received, error) {
	verb := th.grammar().VerbOf(line)
	name := service(verb)
	command, err := th.grammar().Encode(line)
	if err != nil {
		return session.Received{}, err
	}
	a, err := c.Ask(ctx, command)
	if err != nil || a.Ending != scenarios.Open || a.GaveUp && a.Pending == "" {
		return a, &unservedError{service: name, words: th.port(c.role) + verb + " on a new connection gets no reply"}
	}
	th.Peers.services.note(name)
	return a, nil
}
