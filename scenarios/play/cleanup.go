package play

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/reports"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// cleanup removes the jobs that the script has left on the server, on a connection of
// its own, and returns those that it could not remove.
func (pl *play) cleanup(ctx context.Context) []string {
	if !pl.ledger.Removable() || pl.notServing != "" {
		return pl.ledger.Leftover()
	}
	limit := pl.Timeout
	if ctx.Err() != nil { // the user waits for the end
		limit = min(limit, time.Second)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	pl.rec.cleanup()
	th := &thread{play: pl, scope: pl.scope.Child()}
	th.scope.RenewClient(pl.grammar())
	if c := th.cleanupConn(ctx, "cleanup"); c != nil {
		pl.ledger.Cleanup(func(line string) (session.Message, bool) { return th.command(ctx, c, line) })
		c.leave(ctx)
	}
	return pl.ledger.Leftover()
}

// cleanupConn returns a consumer's connection with a name, or nil. It tries again and again, because
// the server may be at its limit of connections for a moment.
func (th *thread) cleanupConn(ctx context.Context, name string) *conn {
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		c, err := th.play.dial(ctx, name, scenarios.Consumer, nil)
		if err == nil {
			if err = th.greet(ctx, c); err == nil {
				return c
			}
			c.leave(ctx)
		}
		if !machine.Sleep(ctx, pause) {
			return nil
		}
	}
}

// command sends a line that is not in the script, returns its answer, and updates the
// ledger.
func (th *thread) command(ctx context.Context, c *conn, line string) (session.Message, bool) {
	c.recordSent(line)
	command, err := th.grammar().Encode(line)
	if err != nil || c.Ending() != scenarios.Open || c.Write(ctx, [][]byte{command}, 0) != nil {
		return session.Message{}, false
	}
	_, sent := c.LastWrite()
	a, ok := c.Take(ctx, sent.Add(th.Timeout))
	if !ok || !a.IsComplete() {
		return session.Message{}, false
	}
	th.ledger.Answered(command, a.Message)
	return a.Message, true
}

// Remainder is a play that is over, and whose queues can be asked once more: a server may deliver a job again that has
// ended.
type Remainder struct {
	play   *play
	queues []string // of the play alone
}

// remainder returns what can be asked when the play is over, nil for nothing.
func (pl *play) remainder() *Remainder {
	if _, ok := pl.dialect().(scenarios.Sweeper); !ok || pl.Observer == nil || pl.notServing != "" || pl.err != nil {
		return nil
	}
	isForeign := func(queue string) bool { return !strings.HasPrefix(queue, pl.scope.Prefix()+"-") }
	queues := slices.DeleteFunc(pl.ledger.Queues(), isForeign)
	if len(queues) == 0 {
		return nil
	}
	return &Remainder{pl, queues}
}

// Conversation returns the conversation of the play, with what a [Sweep] has added.
func (r *Remainder) Conversation() []reports.Line { return r.play.rec.lines }

const (
	sweepGroup = 32 // plays whose queues one command names
	sweepLimit = 50 // jobs that a sweep takes
)

// Sweep asks the queues of plays on one server once more. What comes is the last of its play: the observer of that gets
// the connection, and its conversation the lines. Each command names the queues of many plays and, as the last one, a
// queue with a job of its own, so that no command waits where nothing is left. Sweep blocks until nothing comes.
func Sweep(ctx context.Context, all []*Remainder) {
	ctx, cancel := context.WithTimeout(ctx, all[0].play.Timeout)
	defer cancel()
	for range sweepLimit {
		if s := newSweep(all[0].play); !s.takeOne(ctx, all) {
			return
		}
	}
}

// sweep is one connection of a Sweep.
type sweep struct {
	*thread
	tape tape
	conn *conn
}

// newSweep returns a sweep that connects as a play did.
func newSweep(like *play) *sweep {
	s := &sweep{}
	player := like.Player
	player.Observer, player.WatchLine = &s.tape, nil
	pl := &play{
		Player: player, script: like.script, scope: like.scope, conns: map[string]*conn{}, count: NewConnCounter(like.Peers),
		rec: &recorder{start: time.Now()}, ledger: like.dialect().NewLedger(), assumptions: map[assumption]int{},
	}
	s.thread = &thread{play: pl, scope: pl.scope.Child()}
	s.scope.RenewClient(pl.grammar())
	return s
}

// takeOne takes a job that is left, and reports whether there was one.
func (s *sweep) takeOne(ctx context.Context, all []*Remainder) bool {
	s.rec.remark("", "the script has ended; its queues are asked once more")
	if s.conn = s.cleanupConn(ctx, "sweep"); s.conn == nil {
		return false
	}
	for group := range slices.Chunk(all, sweepGroup) {
		owner, ok := s.ask(ctx, group)
		if owner != nil {
			s.conn.leave(ctx)
			s.tellOwner(owner)
			return true
		}
		if !ok {
			break
		}
	}
	s.conn.leave(ctx)
	return false
}

// ask asks for one job of a group, and returns the play that it belongs to, nil if none came. ok: the server answers.
func (s *sweep) ask(ctx context.Context, group []*Remainder) (owner *Remainder, ok bool) {
	sweeper, _ := s.dialect().(scenarios.Sweeper)
	do := func(line string) (session.Message, bool) { return s.command(ctx, s.conn, line) }
	jid, queue := s.scope.Fresh("jid"), s.scope.Fresh("queue")
	mark, ok := do(sweeper.Mark(jid, queue))
	if !ok {
		return nil, false
	}
	var queues []string
	for _, r := range group {
		queues = append(queues, r.queues...)
	}
	ownerOf := func(jid string) int {
		return slices.IndexFunc(group, func(r *Remainder) bool { return r.play.ledger.Owns(jid) })
	}
	isOwn := func(id string) bool { return id == jid || ownerOf(id) >= 0 }
	id, ok := sweeper.Sweep(append(queues, queue), isOwn, do)
	if ok && id != "" && id != jid && !s.grammar().IsRefusal(mark) {
		_, ok = sweeper.Sweep([]string{queue}, isOwn, do)
	}
	if i := ownerOf(id); i >= 0 {
		return group[i], ok
	}
	return nil, ok
}

// tellOwner passes the conversation on to the play that it is about.
func (s *sweep) tellOwner(r *Remainder) {
	observer := r.play.Observer.Dialed(s.conn.name)
	for _, event := range s.tape.take() {
		event(observer)
	}
	for _, line := range s.rec.lines {
		line.At += s.rec.start.Sub(r.play.rec.start)
		r.play.rec.lines = append(r.play.rec.lines, line)
	}
}

// tape keeps what is said on a connection. It is an [Observer], and that of its connection.
type tape struct {
	mu     sync.Mutex
	events []func(session.Observer)
}

// Dialed implements [Observer].
func (t *tape) Dialed(string) session.Observer { return t }

// Operated implements [Observer].
func (*tape) Operated(target.Action, string) {}

// BrokenClause implements [Observer].
func (*tape) BrokenClause(string, time.Time) (clause, got string) { return "", "" }

// Sent implements [session.Observer].
func (t *tape) Sent(all []byte, at time.Time) {
	all = bytes.Clone(all)
	t.keep(func(o session.Observer) { o.Sent(all, at) })
}

// Received implements [session.Observer].
func (t *tape) Received(r session.Received) { t.keep(func(o session.Observer) { o.Received(r) }) }

// Ended implements [session.Observer].
func (t *tape) Ended(e session.Ending) { t.keep(func(o session.Observer) { o.Ended(e) }) }

func (t *tape) keep(event func(session.Observer)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events = append(t.events, event)
}

// take returns what was said.
func (t *tape) take() []func(session.Observer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.events
}

var (
	_ Observer         = (*tape)(nil)
	_ session.Observer = (*tape)(nil)
)
