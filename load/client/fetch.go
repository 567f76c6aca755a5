package client

import (
	"time"

	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/wire"
)

// sendFetch asks for a job. That was due as soon as there was room and this connection
// was free.
func (d *workerConn) sendFetch(now time.Duration, out []byte) []byte {
	w := d.worker
	last := len(w.freePlaces) - 1
	d.place, w.freePlaces = w.freePlaces[last], w.freePlaces[:last]
	w.places[d.place].stage = stageAwaited
	d.begin(now, measure.Fetch, max(w.freeSince, w.shard.fetchStart, d.readySince, d.pausedUntil))
	d.current = dutyFetch
	return d.speaker.Fetch(out, &w.queueSet.queues)
}

// emptyPause is how long a worker of a drain that has found its queues empty waits before it asks again: the server may
// answer at once.
const emptyPause = 100 * time.Millisecond

// handleFetchReply handles the reply to fetch: a job or none.
func (d *workerConn) handleFetchReply(now time.Duration, e *wire.Event) outcome {
	w := d.worker
	switch e.Kind {
	case wire.Job:
		p := &w.places[d.place]
		p.duty, p.fetchSent = d, d.command.sent
		if w.shard.isStopping {
			w.shard.status.TakenAtEnd++
		}
		w.read(now, p, e.Body)
		op := w.fetchOp(p)
		w.take(now, d.place)
		return outcome{op: op}
	case wire.Empty:
		d.bookOverdue(now)
		d.noteFetch(history.Empty)
		w.latestEmpty = max(w.latestEmpty, d.command.sent)
		w.noteEmpty()
		d.pausedUntil = now + w.shard.times.Poll
		if w.isDrained {
			d.pausedUntil = now + max(w.shard.times.Poll, emptyPause)
		}
		w.vacate(now, d.place)
		return outcome{op: measure.FetchEmpty}
	}
	d.noteFetch(history.Refused)
	d.slowDown(now)
	w.vacate(now, d.place)
	return outcome{measure.Fetch, e.Err}
}

// fetchOp returns the kind of the fetch that found the job: it waited if the push was sent after it, or the job was not
// due before.
func (w *worker) fetchOp(p *place) measure.Op {
	if p.hasNumber && w.shard.sentAt(p)+w.shard.jobs.Delay(p.k) > p.fetchSent {
		return measure.FetchWaited
	}
	return measure.FetchFound
}

// queueSet are the queues that a worker names when it fetches.
type queueSet struct {
	queues wire.Queues
	names  []bool // by queue: whether it is named
}

func (a *queueSet) contains(queue int) bool {
	return queue >= 0 && queue < len(a.names) && a.names[queue]
}
