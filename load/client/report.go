package client

import (
	"time"

	"github.com/fwpsuite/fwp/load/measure"
)

// sendReport appends the ack or fail of the oldest job that is done. That was due when its work
// ended. The ledger knows that a failed job may return before the server does.
func (d *workerConn) sendReport(now time.Duration, out []byte) []byte {
	w := d.worker
	d.place, _ = w.reports.pop()
	d.current = dutyReport
	p := &w.places[d.place]
	p.stage = stageReported
	if !p.willFail {
		d.begin(now, measure.Ack, p.ends)
		return d.speaker.Ack(out, p.jid)
	}
	if p.willReturn {
		w.bookReturnable(p)
	}
	d.begin(now, measure.Fail, p.ends)
	return d.speaker.Fail(out, p.jid)
}

// handleReportReply takes the reply to ack or fail.
func (d *workerConn) handleReportReply(now time.Duration, err error) outcome {
	w := d.worker
	p := &w.places[d.place]
	result := outcome{d.command.op, err}
	d.noteReport(p, outcomeOf(err))
	switch {
	case err != nil:
		if p.hasNumber && !p.isRepeated {
			w.shard.ledger.BookDenial(p.k)
			w.denials = append(w.denials, denial{p.k, d, p.fetchSent + w.shard.jobs.ReserveFor()})
		}
		if p.isRepeated { // the first report may have arrived: both replies are right
			result.err = nil
			if !p.willFail {
				w.shard.status.RepeatedAcks++
			}
		}
	case !p.hasNumber:
	case p.willFail:
		if !p.willReturn {
			w.shard.shared.forget(p.k)
		}
		w.shard.ledger.BookFail(p.k, p.willReturn)
	default:
		if w.shard.someJobsFail {
			w.shard.shared.forget(p.k)
		}
		w.shard.ledger.BookAck(p.k)
		w.shard.recorder.Job(measure.ToAcked, p.intended, max(now, p.intended))
		w.shard.shared.noteReached(p.k, measure.ToAcked)
	}
	w.vacate(now, d.place)
	return result
}
