package client

import (
	"time"

	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/wire"
)

// beatDue reports whether a heartbeat is due, and sets when the connection is woken for the next one.
func (d *duty) beatDue(now time.Duration) bool {
	if d.duties&beating == 0 || d.shard.times.Beat == 0 {
		return false
	}
	w := d.worker
	if w.beat == 0 {
		w.beat = now + w.shard.times.Beat
		if d.duties&observing != 0 {
			w.beat = now // the first one is due at once
		}
	}
	d.due = w.beat
	return w.beat <= now
}

// sendBeat appends a heartbeat. Due times that were missed are left out.
func (d *duty) sendBeat(now time.Duration, out []byte) []byte {
	w := d.worker
	d.begin(now, measure.Beat, w.beat)
	d.doing = beating
	for w.beat < now+w.shard.times.BeatApart {
		w.beat += w.shard.times.Beat
	}
	return d.speaker.Beat(out, w.state)
}

// beaten handles the reply to a heartbeat: OK, or the state to enter.
func (d *duty) beaten(now time.Duration, e *wire.Event) outcome {
	switch {
	case e.Kind == wire.Ordered:
		d.worker.order(now, e.State)
	case e.Kind == wire.OK && d.worker.state == wire.Working:
		d.worker.known = d.asked.sent
	}
	return outcome{measure.Beat, e.Err}
}

// An observer is a worker without jobs that sends info during the load, while the server's counters change. It beats as
// every worker does, and once at the beginning.

// sendInfo appends an info, unless it is too early for that.
func (d *duty) sendInfo(now time.Duration, out []byte) []byte {
	ready := max(d.free+time.Duration(d.shard.work.ObserveEvery), d.pause)
	if ready > now {
		if d.due == 0 || ready < d.due {
			d.due = ready
		}
		return out
	}
	d.begin(now, measure.Info, max(ready, d.shard.fetchingSince))
	d.doing = observing
	return d.speaker.Info(out)
}

// observed handles the reply to an observer's info. The first one after a TakeInfo is kept: more are not read.
func (d *duty) observed(now time.Duration, e *wire.Event) outcome {
	if e.Err != nil {
		d.slow(now)
	}
	if c := d.shard; len(c.info) == 0 {
		c.info = append(c.info, e.Body...)
	}
	return outcome{measure.Info, e.Err}
}

// Sizer returns what reads the replies of TakeInfo, nil if nothing does.
func (c *Shard) Sizer() wire.Sizer { return c.sizer }

// TakeInfo returns the first reply to an info since the last call, empty if there was none. It is valid until the next
// call.
func (c *Shard) TakeInfo() []byte {
	c.info, c.taken = c.taken[:0], c.info
	return c.taken
}
