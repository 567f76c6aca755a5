package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/scenarios"
)

// Of how many PUSHes one is not waited for, and of how many things that a worker does
// one is that it goes away.
const (
	producersLeave = 16
	workersLeave   = 24
)

// A worker that goes away comes back as itself and reports what it has in hand, so that
// it is known what became of that: connections with the same wid hold jobs together.

// staysOrReturns has a worker go away and come back now and then.
func (w *consumer) staysOrReturns(ctx context.Context) bool {
	switch {
	case w.Reckless && slices.ContainsFunc(w.hand, w.isBrief) && w.IntN(4) == 0: // which are few
		w.leavesAfterFail(ctx)
		return ctx.Err() == nil && w.enter(ctx, w.number)
	case w.IntN(workersLeave) > 0:
		return true
	}
	ways := []func(context.Context){w.leavesQuietly}
	if len(w.hand) > 0 {
		ways = append(ways, w.leavesAfterAck)
		if w.Reckless {
			ways = append(ways, w.comesAsAnother)
		}
	}
	if w.Reckless {
		ways = append(ways, w.leavesWhileFetching)
	}
	ways[w.IntN(len(ways))](ctx)
	return ctx.Err() == nil && w.enter(ctx, w.number)
}

// leavesQuietly goes between two commands, with what it has in hand.
func (w *consumer) leavesQuietly(context.Context) { w.p.drop(w.c, w.ending()) }

// leavesAfterAck does not read what is answered. It will ask again.
func (w *consumer) leavesAfterAck(ctx context.Context) {
	jid := w.hand[w.IntN(len(w.hand))]
	w.abandon(ctx, history.Event{Op: history.Ack, JID: jid}, reporting(history.Ack, jid))
}

// leavesAfterFail is the same with a job that is gone if it fails.
func (w *consumer) leavesAfterFail(ctx context.Context) {
	jid := w.hand[slices.IndexFunc(w.hand, w.isBrief)]
	w.abandon(ctx, history.Event{Op: history.Fail, JID: jid}, reporting(history.Fail, jid))
}

// leavesWhileFetching goes while its FETCH waits, or with a job that it has not seen.
func (w *consumer) leavesWhileFetching(ctx context.Context) {
	e, text := w.fetching([]int{w.Queues})
	if job := w.abandon(ctx, e, text); job.jid != "" {
		w.hand = append(w.hand, job.jid)
	}
}

// comesAsAnother reports a job with another wid, which may be answered either way.
// (AMB-21)
func (w *consumer) comesAsAnother(ctx context.Context) {
	const others = 1 << 16 // numbers of workers that there are not
	w.p.drop(w.c, w.ending())
	if !w.enter(ctx, others+w.number) {
		return
	}
	jid := w.hand[w.IntN(len(w.hand))]
	w.call(ctx, history.Event{Op: history.Ack, JID: jid}, reporting(history.Ack, jid))
	if w.c != nil {
		w.p.drop(w.c, w.ending())
	}
}

// abandon sends a command and goes away. Only who closes no more than its own half reads
// on: without that the call stays open in the history.
func (l *lane) abandon(ctx context.Context, e history.Event, text string) (job brought) {
	l.count()
	pending := l.log.Call(e)
	l.send(text)
	if l.IntN(2) == 0 { // so that the server has read it
		sleep(ctx, time.Duration(1+l.IntN(20))*time.Millisecond)
	}
	how := l.ending()
	half, can := l.c.nc.(interface{ CloseWrite() error })
	if how != scenarios.HalfShut || !can || half.CloseWrite() != nil {
		l.p.drop(l.c, how)
		return job
	}
	if r, at, ok := l.rest(ctx); ok {
		job = noted(pending, r, at)
	}
	l.p.drop(l.c, scenarios.Closed)
	return job
}

// rest reads the answer on a connection whose own half is closed. There need not be one.
func (l *lane) rest(ctx context.Context) (r fwp.Reply, at time.Time, ok bool) {
	timer := time.NewTimer(l.config.timeout)
	defer timer.Stop()
	select {
	case a := <-l.c.arrivals:
		return a.reply, a.at, a.err == nil
	case <-timer.C:
	case <-ctx.Done():
	}
	return r, at, false
}

func (l *lane) ending() scenarios.Ending {
	return []scenarios.Ending{scenarios.Closed, scenarios.Reset, scenarios.HalfShut}[l.IntN(3)]
}

// brief is the jid of a job with which workers are reckless.
func (l *lane) brief(number, n int) string {
	return fmt.Sprintf("%s-jidx%dx%d", l.prefix, number, n)
}

func (l *lane) isBrief(jid string) bool { return strings.HasPrefix(jid, l.prefix+"-jidx") }
