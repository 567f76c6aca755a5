package client

import (
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/load/ledger"
	"github.com/fwpsuite/fwp/load/plan"
)

// earliness is how long before its time a job is early: the clocks of client and server may differ.
const earliness = time.Second

// bookLateness books how late a job came that has a time, what the server's clock is by the times in the job, and that
// it came before its time. First says that it is the first delivery; a later one has a time if the server names it.
func (w *worker) bookLateness(now time.Duration, p *place, job *plan.Delivery, isFirst bool) {
	c := w.shard
	delay := c.jobs.Delay(job.Number)
	if delay == 0 && !c.someJobsFail {
		return
	}
	sent := c.sentAt(p)
	stamps := job.Stamps()
	if !stamps.Latest.IsZero() {
		upper := stamps.Earliest.Sub(c.engineStart) - sent
		if stamps.IsCoarse {
			upper += time.Second
		}
		c.ledger.BookStamp(stamps.Latest.Sub(c.engineStart)-now, upper)
	}
	clock := c.ledger.Clock()
	dueTime := sent + delay
	switch {
	case !isFirst && stamps.Retry.IsZero(), isFirst && delay == 0:
		return
	case !isFirst:
		dueTime = stamps.Retry.Sub(c.engineStart) - clock.Offset()
	}
	c.recorder.RecordLateness(p.intended, max(0, now-dueTime))
	if !isFirst || now >= dueTime-earliness {
		return
	}
	flaw := ledger.EarlyJob
	if now+clock.Offset() >= dueTime-earliness {
		flaw = ledger.EarlyByLocalClock
	}
	c.ledger.BookFlaw(flaw, string(job.JID), fmt.Sprintf("delivered %.1f s before its time", (dueTime-now).Seconds()))
}

// recordUndelivered records the jobs with a time that no worker has got until now.
func (c *Shard) recordUndelivered(now time.Duration) {
	if c.work.Delay.Max == 0 {
		return
	}
	for k := range c.ledger.Missing() {
		if sent, ok := c.ledger.SentAt(k); ok && sent+c.jobs.Delay(k) < now && c.jobs.Delay(k) > 0 {
			c.recorder.RecordUndelivered(sent, now-sent-c.jobs.Delay(k))
		}
	}
}
