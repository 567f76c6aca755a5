package client

import (
	"time"

	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/wire"
)

// isBeatDue reports whether a heartbeat is due, and sets when the connection is woken for the next one.
func (d *workerConn) isBeatDue(now time.Duration) bool {
	if d.duties&dutyBeat == 0 || d.shard.times.Beat == 0 {
		return false
	}
	w := d.worker
	if w.nextBeat == 0 {
		w.nextBeat = now + w.shard.times.Beat
		if d.duties&dutyObserve != 0 {
			w.nextBeat = now // the first one is due at once
		}
	}
	d.nextAsk = w.nextBeat
	return w.nextBeat <= now
}

// sendBeat appends a heartbeat. Due times that were missed are left out.
func (d *workerConn) sendBeat(now time.Duration, out []byte) []byte {
	w := d.worker
	d.begin(now, measure.Beat, w.nextBeat)
	d.current = dutyBeat
	for w.nextBeat < now+w.shard.times.BeatApart {
		w.nextBeat += w.shard.times.Beat
	}
	return d.speaker.Beat(out, w.state)
}

// handleBeatReply handles the reply to a heartbeat: OK, or the state to enter.
func (d *workerConn) handleBeatReply(now time.Duration, e *wire.Event) outcome {
	switch {
	case e.Kind == wire.Order:
		d.worker.enterState(now, e.State)
	case e.Kind == wire.OK && d.worker.state == wire.Working:
		d.worker.latestBeat = d.command.sent
	}
	return outcome{measure.Beat, e.Err}
}

// An observer is a worker without jobs that sends info during the load, while the server's counters change. It beats as
// every worker does, and once at the beginning.

// sendInfo appends an info, unless it is too early for that.
func (d *workerConn) sendInfo(now time.Duration, out []byte) []byte {
	ready := max(d.freeSince+time.Duration(d.shard.work.ObserveEvery), d.pausedUntil)
	if ready > now {
		if d.nextAsk == 0 || ready < d.nextAsk {
			d.nextAsk = ready
		}
		return out
	}
	d.begin(now, measure.Info, max(ready, d.shard.fetchStart))
	d.current = dutyObserve
	return d.speaker.Info(out)
}

// handleInfoReply handles the reply to an observer's info. The first one after a TakeInfo is kept: more are not read.
func (d *workerConn) handleInfoReply(now time.Duration, e *wire.Event) outcome {
	if e.Err != nil {
		d.slowDown(now)
	}
	if c := d.shard; len(c.info) == 0 {
		c.info = append(c.info, e.Body...)
	}
	return outcome{measure.Info, e.Err}
}

// InfoParser returns what reads the replies of TakeInfo, nil if nothing does.
func (c *Shard) InfoParser() wire.InfoParser { return c.infoParser }

// TakeInfo returns the first reply to an info since the last call, empty if there was none. It is valid until the next
// call.
func (c *Shard) TakeInfo() []byte {
	c.info, c.lastInfo = c.lastInfo[:0], c.info
	return c.lastInfo
}
