package explore

import (
	"context"
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/history"
)

// produce pushes jobs until there are enough.
func (m *crowd) produce(ctx context.Context, number int) {
	l := m.newLane(number)
	defer l.leave()
	for n, in := 0, l.enter(ctx, 0); in && m.affords() && ctx.Err() == nil; n++ {
		m.ease(ctx)
		leaves := l.IntN(producersLeave) == 0
		e, text, queue := l.job(number, n, !leaves)
		if leaves {
			l.abandon(ctx, e, text)
			m.tally.sent()
			in = l.enter(ctx, 0)
			continue
		}
		r, _, ok := l.call(ctx, e, text)
		if !ok {
			in = l.again(ctx, 0)
		} else if r.Kind != fwp.ErrorReply {
			m.tally.pushed(e.JID, queue)
		}
	}
}

// ease has producers that are too fast wait a little, so that there is not as much to
// be drained in the end as there was time for.
func (m *crowd) ease(ctx context.Context) {
	const backlog, pause = 500, 10 * time.Millisecond
	if m.tally.held() > backlog {
		sleep(ctx, pause)
	}
}

// Of how many jobs one goes to the queue where workers are reckless, and one to a queue
// that the server has never heard of.
const (
	oneReckless = 24
	oneNew      = 8
)

// job makes up the nth job of a producer. Only one that is known to be accepted may have
// a queue of its own: somebody will ask there.
func (l *lane) job(number, n int, known bool) (e history.Event, text string, queue int) {
	jid := fmt.Sprintf("%s-jid%dx%d", l.prefix, number, n)
	queue = l.IntN(l.Queues)
	// Beyond 2^53 a number is not what it was if it has been a float.
	args := fmt.Sprintf(`[%d,"é %d"]`, int64(1)<<53+int64(n), l.IntN(1000))
	e = history.Event{Op: history.Push, JID: jid, Body: content("t", []byte(args))}
	switch {
	case l.Reckless && l.IntN(oneReckless) == 0: // one that fails is gone, and one that is held comes back as soon as it may
		queue = l.Queues
		retry, reserve := int64(0), int64(60)
		e.JID, e.Retry, e.ReserveFor = l.brief(number, n), &retry, &reserve
	case known && l.IntN(oneNew) == 0:
		queue = int(l.news.Add(1)) + len(l.tally.waiting)
	case l.IntN(3) > 0:
		retry := int64(1 + l.IntN(5))
		e.Retry = &retry
	}
	e.Queue = l.queueName(queue)
	text = fmt.Sprintf(`PUSH {"jid":%q,"jobtype":"t","args":%s,"queue":%q`, e.JID, args, e.Queue)
	if e.Retry != nil {
		text += fmt.Sprintf(`,"retry":%d`, *e.Retry)
	}
	if e.ReserveFor != nil {
		text += fmt.Sprintf(`,"reserve_for":%d`, *e.ReserveFor)
	}
	return e, text + "}", queue
}
