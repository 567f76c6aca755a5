package client

import (
	"time"

	"github.com/fwpsuite/fwp/load/measure"
)

// sendReport appends the ack or fail of the oldest job that is done. That was due when its work
// ended. The ledger knows that a failed job may return before the server does.
func (d *duty) sendReport(now time.Duration, out []byte) []byte {
	w := d.worker
	d.place, _ = w.done.pop()
	d.doing = reporting
	p := &w.places[d.place]
	p.stage = reported
	if !p.fails {
		d.begin(now, measure.Ack, p.ends)
		return d.speaker.Done(out, p.jid)
	}
	if p.returns {
		w.mayReturn(p)
	}
	d.begin(now, measure.Fail, p.ends)
	return d.speaker.Fail(out, p.jid)
}

// reported takes the reply to ack or fail.
func (d *duty) reported(now time.Duration, refused error) outcome {
	w := d.worker
	p := &w.places[d.place]
	got := outcome{d.asked.op, refused}
	d.noteReport(p, replied(refused))
	switch {
	case refused != nil:
		if p.ours && !p.repeated {
			w.shard.ledger.Denied(p.k)
			w.denied = append(w.denied, denial{p.k, d, p.asked + w.shard.jobs.ReserveFor()})
		}
		if p.repeated { // the first report may have arrived: both replies are right
			got.err = nil
			if !p.fails {
				w.shard.status.Repeated++
			}
		}
	case !p.ours:
	case p.fails:
		if !p.returns {
			w.shard.shared.forget(p.k)
		}
		w.shard.ledger.Failed(p.k, p.returns)
	default:
		if w.shard.fails {
			w.shard.shared.forget(p.k)
		}
		w.shard.ledger.Acked(p.k)
		w.shard.recorder.Job(measure.ToAcked, p.intended, max(now, p.intended))
		w.shard.shared.reached(p.k, measure.ToAcked)
	}
	w.vacate(now, d.place)
	return got
}
