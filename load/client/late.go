package client

import (
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/load/ledger"
	"github.com/fwpsuite/fwp/load/plan"
)

// earlyBy is how long before its time a job is early: the clocks of client and server may differ.
const earlyBy = time.Second

// onTime books how late a job came that has a time, what the server's clock is by the times in the job, and that it
// came before its time. First says that it is the first delivery; a later one has a time if the server names it.
func (w *worker) onTime(now time.Duration, p *place, job *plan.Delivery, first bool) {
	c := w.shard
	delay := c.jobs.Delay(job.K)
	if delay == 0 && !c.fails {
		return
	}
	sent := c.sentAt(p)
	stamps := job.Stamps()
	if !stamps.Latest.IsZero() {
		most := stamps.Earliest.Sub(c.began) - sent
		if stamps.Coarse {
			most += time.Second
		}
		c.ledger.Stamped(stamps.Latest.Sub(c.began)-now, most)
	}
	clock := c.ledger.Clock()
	due := sent + delay
	switch {
	case !first && stamps.Retry.IsZero(), first && delay == 0:
		return
	case !first:
		due = stamps.Retry.Sub(c.began) - clock.Ahead()
	}
	c.recorder.JobLate(p.intended, max(0, now-due))
	if !first || now >= due-earlyBy {
		return
	}
	flaw := ledger.Early
	if now+clock.Ahead() >= due-earlyBy {
		flaw = ledger.EarlyHere
	}
	c.ledger.Foreign(flaw, string(job.JID), fmt.Sprintf("delivered %.1f s before its time", (due-now).Seconds()))
}

// endLate records the jobs with a time that no worker has got until now.
func (c *Shard) endLate(now time.Duration) {
	if c.work.Delay.Max == 0 {
		return
	}
	for k := range c.ledger.Missing() {
		if sent, known := c.ledger.SentAt(k); known && sent+c.jobs.Delay(k) < now && c.jobs.Delay(k) > 0 {
			c.recorder.JobNotYet(sent, now-sent-c.jobs.Delay(k))
		}
	}
}
