package client

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/load/ledger"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/plan"
)

// read fills a place with the job that a fetch found, and books it.
func (w *worker) read(now time.Duration, p *place, body []byte) {
	*p = place{stage: p.stage, duty: p.duty, fetchSent: p.fetchSent, jid: p.jid[:0], k: -1}
	job, err := w.shard.jobs.Read(body)
	if p.duty.history != nil {
		p.name = p.duty.noteDelivery(body, job, err)
	}
	if err != nil {
		w.bookAltered(now, p, job, err)
		return
	}
	p.jid = append(p.jid, job.JID...)
	if !w.queueSet.contains(job.Queue) {
		w.shard.ledger.BookFlaw(ledger.WrongQueue, string(job.JID),
			"came to worker "+w.id+", which did not ask for its queue")
	}
	w.accept(now, p, job)
}

// accept books a job of this run.
func (w *worker) accept(now time.Duration, p *place, job plan.Delivery) {
	c := w.shard
	p.hasNumber, p.k, p.intended = true, job.Number, c.intendedTime(job)
	kind := c.ledger.BookDelivery(job.Number, job.Queue)
	if kind == ledger.FirstDelivery || kind == ledger.Redelivery {
		w.bookLateness(now, p, &job, kind == ledger.FirstDelivery)
	}
	if kind == ledger.FirstDelivery {
		c.dispatcher.removeWaiting(now)
		c.recorder.Job(measure.ToFetched, p.intended, max(now, p.intended)) // clocks of two machines
		c.shared.noteReached(job.Number, measure.ToFetched)
		if c.queuesDiffer {
			c.recorder.Queue(job.Queue, p.intended, max(now, p.intended))
		}
	}
	if !c.someJobsFail {
		return
	}
	attempt := c.shared.attempts(job.Number)
	if p.willFail = c.jobs.Fails(job.Number, attempt); p.willFail {
		p.willReturn = attempt < c.jobs.Retry(job.Number)
		c.shared.fail(job.Number)
	}
}

// intendedTime returns when the push of a job was due. Its time counts from the first arrival, because the process that
// has pushed it may be another one; a job that was pushed beforehand was due before the load.
func (c *Shard) intendedTime(job plan.Delivery) time.Duration {
	if job.Number < c.work.Prefill {
		return 0
	}
	return c.loadStart + job.Intended
}

// sentAt returns when the push of the job of a place was sent; if that is not known, because another process has sent
// it or it was long ago, when it was due.
func (c *Shard) sentAt(p *place) time.Duration {
	if at, ok := c.ledger.SentAt(p.k); ok {
		return at
	}
	return p.intended
}

// bookAltered books a job that is not as it was pushed. A job of this run is accepted, so that its queue is left empty.
// A job of another client is reported as failed, so that the server keeps it.
func (w *worker) bookAltered(now time.Duration, p *place, job plan.Delivery, err error) {
	addFinding := w.shard.ledger.BookFlaw
	wrongErr, isWrong := errors.AsType[*plan.WrongError](err)
	foreignErr, isForeign := errors.AsType[*plan.ForeignError](err)
	switch {
	case isWrong:
		flaw := ledger.AlteredJob
		if wrongErr.Part == "queue" {
			flaw = ledger.WrongQueue
		}
		addFinding(flaw, text.Shorten(wrongErr.JID), wrongErr.Part+": "+wrongErr.Description)
		p.jid = appendEscaped(p.jid, wrongErr.JID)
		if wrongErr.Part == "args" { // the time among them is not to be believed
			job.Intended = -w.shard.loadStart
		}
		if wrongErr.Part != "jid" {
			w.accept(now, p, job)
		}
	case isForeign:
		addFinding(ledger.UnknownJob, text.Shorten(foreignErr.JID), "not of this run")
		p.jid = appendEscaped(p.jid, foreignErr.JID)
		p.willFail = true
	default:
		addFinding(ledger.AlteredJob, "", err.Error())
	}
}

// appendEscaped appends s as JSON has it between the quotes.
func appendEscaped(dst []byte, s string) []byte {
	quoted, _ := json.Marshal(s) // a string can always be written
	return append(dst, quoted[1:len(quoted)-1]...)
}
