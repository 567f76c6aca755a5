package client

import (
	"time"

	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/load/wire"
)

// duty is a connection of a worker, with one or more of the worker's duties.
type duty struct {
	conn
	worker *worker
	duties duties
	doing  duties // what the command in flight is about
	place  int32  // of the fetch or the report in flight
}

// open implements role. A worker that stops needs only the connections on which it can
// report what it holds.
func (d *duty) open(time.Duration) bool {
	w := d.worker
	if w.stops() && (w.holdsNothing() || d.duties&reporting == 0) {
		d.retire()
		return false
	}
	return true
}

// next implements role: heartbeats first, because they must not wait for a worker that is always busy; then reports,
// then one more job.
func (d *duty) next(now time.Duration, out []byte) []byte {
	w := d.worker
	switch {
	case d.beatDue(now):
		return d.sendBeat(now, out)
	case d.duties&reporting != 0 && w.done.len() > 0:
		return d.sendReport(now, out)
	case d.duties&fetching != 0 && w.mayFetch():
		if d.pause <= now {
			return d.sendFetch(now, out)
		}
		if d.due == 0 || d.pause < d.due {
			d.due = d.pause
		}
	case w.stops() && w.holdsNothing():
		return d.leave(now, out)
	case d.duties&observing != 0 && d.shard.observing:
		return d.sendInfo(now, out)
	}
	return out
}

func (d *duty) answered(now time.Duration, e *wire.Event) outcome {
	switch d.doing {
	case beating:
		return d.beaten(now, e)
	case reporting:
		return d.reported(now, e.Err)
	case observing:
		return d.observed(now, e)
	}
	return d.fetched(now, e)
}

// lost implements role. A fetch without a reply may have taken a job, a report without
// a reply may not have arrived, and what was fetched on this connection may be handed
// out again now that it is gone, unless the run holds the server to its reservations. A report is not sent twice, as
// the protocol asks for, unless the client itself did not await its reply: such a job would be left behind if the
// server has not read the report. One that was not sent yet waits for the next connection.
func (d *duty) lost(now time.Duration, asked bool) {
	w := d.worker
	for i := range w.places {
		if p := &w.places[i]; p.by == d && p.jobHeld() && !w.shard.keeps {
			w.mayReturn(p)
		}
	}
	w.endDenials(func(j denial) bool { return j.by == d && !w.shard.keeps })
	switch {
	case !asked:
	case d.doing == fetching:
		d.noteFetch(history.Open)
		w.shard.ledger.FetchLost()
		w.vacate(now, d.place)
	case d.doing == reporting:
		d.noteReport(&w.places[d.place], history.Open)
		w.shard.ledger.ReportLost()
		w.mayReturn(&w.places[d.place])
		if d.quit.decided {
			w.places[d.place].repeated = true
			w.finish(d.place)
			break
		}
		w.vacate(now, d.place)
	}
	d.reopen(now)
}

// endFetch closes the connection although its fetch waits, because no job is left that could come. There is no goodbye:
// a client has one command under way at a time.
func (d *duty) endFetch(now time.Duration) {
	d.noteFetch(history.Open)
	d.shard.unready()
	d.shard.status.InFlight--
	d.retire()
	d.worker.vacate(now, d.place)
}

func (d *duty) left(time.Duration) { d.retire() }
