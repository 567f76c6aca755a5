package client

import (
	"time"

	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/wire"
)

// sendFetch asks for a job. That was due as soon as there was room and this connection
// was free.
func (d *duty) sendFetch(now time.Duration, out []byte) []byte {
	w := d.worker
	last := len(w.free) - 1
	d.place, w.free = w.free[last], w.free[:last]
	w.places[d.place].stage = awaited
	d.begin(now, measure.Fetch, max(w.room, w.shard.fetchingSince, d.since, d.pause))
	d.doing = fetching
	return d.speaker.Take(out, &w.asks.queues)
}

// emptyPause is how long a worker of a drain that has found its queues empty waits before it asks again: the server may
// answer at once.
const emptyPause = 100 * time.Millisecond

// fetched handles the reply to fetch: a job or none.
func (d *duty) fetched(now time.Duration, e *wire.Event) outcome {
	w := d.worker
	switch e.Kind {
	case wire.Job:
		p := &w.places[d.place]
		p.by, p.asked = d, d.asked.sent
		if w.shard.stopping {
			w.shard.status.TakenAtEnd++
		}
		w.read(now, p, e.Body)
		op := w.opOf(p)
		w.take(now, d.place)
		return outcome{op: op}
	case wire.Empty:
		d.overdue(now)
		d.noteFetch(history.Empty)
		w.emptied = max(w.emptied, d.asked.sent)
		w.empty()
		d.pause = now + w.shard.times.Poll
		if w.drained {
			d.pause = now + max(w.shard.times.Poll, emptyPause)
		}
		w.vacate(now, d.place)
		return outcome{op: measure.FetchEmpty}
	}
	d.noteFetch(history.Refused)
	d.slow(now)
	w.vacate(now, d.place)
	return outcome{measure.Fetch, e.Err}
}

// opOf returns the kind of the fetch that found the job: it waited if the push was sent after it, or the job was not
// due before.
func (w *worker) opOf(p *place) measure.Op {
	if p.ours && w.shard.sentAt(p)+w.shard.jobs.Delay(p.k) > p.asked {
		return measure.FetchWaited
	}
	return measure.FetchFound
}

// asks are the queues that a worker names when it fetches.
type asks struct {
	queues wire.Queues
	names  []bool // by queue: whether it is named
}

func (a *asks) hold(queue int) bool { return queue >= 0 && queue < len(a.names) && a.names[queue] }
