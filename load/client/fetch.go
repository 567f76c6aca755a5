package client

import (
	"time"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/load/measure"
)

// sendFetch asks for a job. That was due as soon as there was room and this connection
// was free.
func (d *duty) sendFetch(now time.Duration, out []byte) []byte {
	w := d.worker
	last := len(w.free) - 1
	d.place, w.free = w.free[last], w.free[:last]
	w.places[d.place].stage = awaited
	d.begin(now, measure.Fetch, max(w.room, w.crew.fetchingSince, d.free, d.pause))
	d.saying = fetching
	if d.takeOwn(); len(d.own) > 0 {
		return d.appendOwn(out)
	}
	return append(out, w.asks.line...)
}

// fetched takes the reply to FETCH: a job or none.
func (d *duty) fetched(now time.Duration, r reply) outcome {
	w := d.worker
	switch r.Kind {
	case fwp.BulkString:
		p := &w.places[d.place]
		p.by, p.asked = d, d.asked.sent
		if w.crew.stopping {
			w.crew.status.TakenAtStop++
		}
		w.read(now, p, r.Text)
		op := w.opOf(p)
		w.take(now, d.place)
		return outcome{op: op}
	case fwp.NullBulk:
		d.noteFetch(history.Empty)
		d.answeredOwn(-1, true)
		if len(d.own) == 0 {
			w.emptied = max(w.emptied, d.asked.sent)
			w.empty()
		}
		w.vacate(now, d.place)
		return outcome{op: measure.FetchEmpty}
	case fwp.ErrorReply:
		d.noteFetch(history.Refused)
		d.answeredOwn(-1, false)
		d.slow(now)
		w.vacate(now, d.place)
		return outcome{op: measure.Fetch, how: rejected, err: r.Err()}
	}
	return outcome{op: measure.Fetch, how: wrong, err: WrongReply(fwp.FETCH, r)}
}

// opOf says which kind of FETCH has brought the job: it waited if the push went out
// after it, or the job was not due before.
func (w *worker) opOf(p *place) measure.Op {
	if p.ours {
		if at, known := w.crew.ledger.SentAt(p.k); known && at+w.crew.jobs.Delay(p.k) > p.asked {
			return measure.FetchWaited
		}
	}
	return measure.FetchFound
}

// asks is what a worker says when it FETCHes.
type asks struct {
	line   []byte
	queues []string // that it names
	names  []bool   // by queue: whether it is named
}

func (a *asks) hold(queue int) bool { return queue >= 0 && queue < len(a.names) && a.names[queue] }
