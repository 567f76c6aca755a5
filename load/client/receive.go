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
	*p = place{stage: p.stage, by: p.by, asked: p.asked, jid: p.jid[:0], k: -1}
	job, err := w.shard.jobs.Read(body)
	if p.by.history != nil {
		p.name = p.by.noteDelivery(body, job, err)
	}
	if err != nil {
		w.suspect(now, p, job, err)
		return
	}
	p.jid = append(p.jid, job.JID...)
	if !w.asks.hold(job.Queue) {
		w.shard.ledger.Foreign(ledger.WrongQueue, string(job.JID), "came to worker "+w.id+", which did not ask for its queue")
	}
	w.accept(now, p, job)
}

// accept books a job of this run.
func (w *worker) accept(now time.Duration, p *place, job plan.Delivery) {
	c := w.shard
	p.ours, p.k, p.intended = true, job.K, c.intended(job)
	kind := c.ledger.Delivered(job.K, job.Queue)
	if kind == ledger.First || kind == ledger.Again {
		w.onTime(now, p, &job, kind == ledger.First)
	}
	if kind == ledger.First {
		c.dispatcher.gone(now)
		c.recorder.Job(measure.ToFetched, p.intended, max(now, p.intended)) // clocks of two machines
		c.shared.reached(job.K, measure.ToFetched)
		if c.unlike {
			c.recorder.Queue(job.Queue, p.intended, max(now, p.intended))
		}
	}
	if !c.fails {
		return
	}
	attempt := c.shared.attempts(job.K)
	if p.fails = c.jobs.Fails(job.K, attempt); p.fails {
		p.returns = attempt < c.jobs.Retry(job.K)
		c.shared.fail(job.K)
	}
}

// intended returns when the push of a job was due. Its time counts from the first arrival, because the process that has
// pushed it may be another one; a job that was pushed beforehand was due before the load.
func (c *Shard) intended(job plan.Delivery) time.Duration {
	if job.K < c.work.Prefill {
		return 0
	}
	return c.loadFrom + job.Intended
}

// sentAt returns when the push of the job of a place was sent; if that is not known, because another process has sent
// it or it was long ago, when it was due.
func (c *Shard) sentAt(p *place) time.Duration {
	if at, known := c.ledger.SentAt(p.k); known {
		return at
	}
	return p.intended
}

// suspect books a job that is not as it was pushed. A job of this run is accepted, so that its queue is left empty. A
// job of another client is reported as failed, so that the server keeps it.
func (w *worker) suspect(now time.Duration, p *place, job plan.Delivery, err error) {
	book := w.shard.ledger.Foreign
	wrong, isWrong := errors.AsType[*plan.WrongError](err)
	foreign, isForeign := errors.AsType[*plan.ForeignError](err)
	switch {
	case isWrong:
		flaw := ledger.Altered
		if wrong.Part == "queue" {
			flaw = ledger.WrongQueue
		}
		book(flaw, text.Shorten(wrong.JID), wrong.Part+": "+wrong.What)
		p.jid = appendEscaped(p.jid, wrong.JID)
		if wrong.Part == "args" { // the time among them is not to be believed
			job.Intended = -w.shard.loadFrom
		}
		if wrong.Part != "jid" {
			w.accept(now, p, job)
		}
	case isForeign:
		book(ledger.NotOurs, text.Shorten(foreign.JID), "not of this run")
		p.jid = appendEscaped(p.jid, foreign.JID)
		p.fails = true
	default:
		book(ledger.Altered, "", err.Error())
	}
}

// appendEscaped appends s as JSON has it between the quotes.
func appendEscaped(dst []byte, s string) []byte {
	quoted, _ := json.Marshal(s) // a string can always be written
	return append(dst, quoted[1:len(quoted)-1]...)
}
