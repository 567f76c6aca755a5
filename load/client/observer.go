package client

import (
	"time"

	"github.com/fwpsuite/fwp/load/measure"
)

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

// observed handles the reply to an observer's info.
func (d *duty) observed(now time.Duration, refused error) outcome {
	if refused != nil {
		d.slow(now)
	}
	return outcome{measure.Info, refused}
}
