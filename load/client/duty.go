package client

import (
	"time"

	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/load/wire"
)

// workerConn is a connection of a worker, with one or more of the worker's duties.
type workerConn struct {
	conn
	worker  *worker
	duties  duties
	current duties // what the command in flight is about
	place   int32  // of the fetch or the report in flight
}

// needsConn implements role. A worker that stops needs only the connections on which it can
// report what it holds.
func (d *workerConn) needsConn(time.Duration) bool {
	w := d.worker
	if w.stops() && (w.holdsNothing() || d.duties&dutyReport == 0) {
		d.retire()
		return false
	}
	return true
}

// next implements role: heartbeats first, because they must not wait for a worker that is always busy; then reports,
// then one more job.
func (d *workerConn) next(now time.Duration, out []byte) []byte {
	w := d.worker
	switch {
	case d.isBeatDue(now):
		return d.sendBeat(now, out)
	case d.duties&dutyReport != 0 && w.reports.len() > 0:
		return d.sendReport(now, out)
	case d.duties&dutyFetch != 0 && w.mayFetch():
		if d.pausedUntil <= now {
			return d.sendFetch(now, out)
		}
		if d.nextAsk == 0 || d.pausedUntil < d.nextAsk {
			d.nextAsk = d.pausedUntil
		}
	case w.stops() && w.holdsNothing():
		return d.leave(now, out)
	case d.duties&dutyObserve != 0 && d.shard.isObserving:
		return d.sendInfo(now, out)
	}
	return out
}

func (d *workerConn) handleReply(now time.Duration, e *wire.Event) outcome {
	switch d.current {
	case dutyBeat:
		return d.handleBeatReply(now, e)
	case dutyReport:
		return d.handleReportReply(now, e.Err)
	case dutyObserve:
		return d.handleInfoReply(now, e)
	}
	return d.handleFetchReply(now, e)
}

// handleLoss implements role. A fetch without a reply may have taken a job, a report without
// a reply may not have arrived, and what was fetched on this connection may be handed
// out again now that it is gone, unless the run holds the server to its reservations. A report is not sent twice, as
// the protocol asks for, unless the client itself did not await its reply: such a job would be left behind if the
// server has not read the report. One that was not sent yet waits for the next connection.
func (d *workerConn) handleLoss(now time.Duration, hasCommand bool) {
	w := d.worker
	for i := range w.places {
		if p := &w.places[i]; p.duty == d && p.holdsJob() && !w.shard.keepsJobs {
			w.bookReturnable(p)
		}
	}
	w.endDenials(func(j denial) bool { return j.duty == d && !w.shard.keepsJobs })
	switch {
	case !hasCommand:
	case d.current == dutyFetch:
		d.noteFetch(history.NoReply)
		w.shard.ledger.BookFetchLoss()
		w.vacate(now, d.place)
	case d.current == dutyReport:
		d.noteReport(&w.places[d.place], history.NoReply)
		w.shard.ledger.BookReportLoss()
		w.bookReturnable(&w.places[d.place])
		if d.quit.isDecided {
			w.places[d.place].isRepeated = true
			w.finish(d.place)
			break
		}
		w.vacate(now, d.place)
	}
	d.reopen(now)
}

// endFetch closes the connection although its fetch waits, because no job is left that could come. There is no goodbye:
// a client has one command under way at a time.
func (d *workerConn) endFetch(now time.Duration) {
	d.noteFetch(history.NoReply)
	d.shard.noteUnready()
	d.shard.status.InFlight--
	d.retire()
	d.worker.vacate(now, d.place)
}

func (d *workerConn) handleLeave(time.Duration) { d.retire() }
