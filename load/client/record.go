package client

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/wire"
)

// callLog is the shard's part of a history. A call goes in when its reply has come, or
// when it is known that none will, with the instants of the engine.
type callLog struct {
	recorder *history.Recorder
	start    time.Duration // the engine's start, on the clock of the history
	limit    int64         // of calls; 0 is none
	calls    int64
	cutAt    time.Duration // what was sent since then is not recorded; 0 before the limit

	retry, reserve int64 // of every job
}

func newRecord(config *Config) *callLog {
	if config.History == nil {
		return nil
	}
	r := &callLog{recorder: config.History, limit: config.MaxCalls}
	if !config.EngineStart.IsZero() {
		r.start = config.EngineStart.Sub(config.History.Begin())
	}
	r.retry, r.reserve = int64(config.Jobs.Retry(0)), int64(config.Jobs.ReserveFor()/time.Second)
	return r
}

// joinHistory makes the connection a client of the history, if there is one.
func (c *conn) joinHistory() {
	if r := c.shard.callLog; r != nil {
		c.history = r.recorder.Client(int(c.number), c.workerID)
	}
}

// note records the command in flight, which e describes. A reply counts from when it
// was there for certain: the engine may have read its clock just before the bytes came.
// A call that is taken to have begun too early, or to have ended too late, proves less
// than it could; the opposite would prove what is not so.
func (c *conn) note(e history.Event, o history.Outcome) {
	r := c.shard.callLog
	if r.cutAt > 0 && c.command.sent >= r.cutAt {
		return
	}
	e.Outcome, e.Call, e.Return = o, r.start+c.command.sent, -1
	if o != history.NoReply {
		e.Return = max(e.Call, r.start+c.shard.loop.Now())
	}
	c.history.Add(e)
	if r.calls++; r.calls == r.limit {
		r.cutAt = max(c.shard.loop.Now(), 1)
	}
}

// outcomeOf is the outcome of a call that has a reply.
func outcomeOf(err error) history.Outcome {
	if err != nil {
		return history.Refused
	}
	return history.OK
}

// pushedBody stands for the jobtype and the args of each job, which its jid decides.
const pushedBody = "its own jobtype and args"

// notePush records the push of job k.
func (c *conn) notePush(k int64, o history.Outcome) {
	if c.history == nil {
		return
	}
	shard := c.shard
	e := history.Event{
		Op: history.Push, JID: shard.jid(k), Queue: shard.queueOf(k), Body: pushedBody,
		Retry: &shard.callLog.retry, ReserveFor: &shard.callLog.reserve,
	}
	if delay := shard.jobs.Delay(k); delay > 0 {
		e.At = shard.callLog.start + c.command.sent + delay
	}
	c.note(e, o)
}

func (c *Shard) jid(k int64) string {
	var room [64]byte // so that only the text itself is allocated
	return string(c.jobs.AppendJID(room[:0], k))
}

func (c *Shard) queueOf(k int64) string {
	return c.jobs.Queues()[c.jobs.QueueOf(k)]
}

// noteFetch records a fetch that brought nothing.
func (d *workerConn) noteFetch(o history.Outcome) {
	if d.history != nil {
		d.note(history.Event{Op: history.Fetch, Queues: d.worker.queueSet.queues.Names}, o)
	}
}

// noteDelivery records a fetch that found a job, with the error of Jobs.Read, and returns the jid. A job without a jid
// may have been any, so the fetch counts as one without a reply.
func (d *workerConn) noteDelivery(body []byte, job plan.Delivery, err error) string {
	e := history.Event{Op: history.Fetch, Queues: d.worker.queueSet.queues.Names}
	if err == nil {
		e.JID, e.Queue, e.Body = d.shard.jid(job.Number), d.shard.queueOf(job.Number), pushedBody
	} else {
		e.JID, e.Queue, e.Body = alteredJob(body, err)
	}
	if e.JID == "" {
		d.note(e, history.NoReply)
		return ""
	}
	d.note(e, history.OK)
	return e.JID
}

// alteredJob returns what is known of a job that is not as it was pushed.
func alteredJob(unit []byte, err error) (jid, queue, body string) {
	if wrongErr, ok := errors.AsType[*plan.WrongError](err); ok {
		jid = wrongErr.JID
		if wrongErr.Part == "jobtype" || wrongErr.Part == "args" {
			body = wrongErr.Part + ": " + wrongErr.Description
		}
	} else if foreignErr, ok := errors.AsType[*plan.ForeignError](err); ok {
		jid = foreignErr.JID
	}
	var job struct{ Queue string }
	_ = json.Unmarshal(unit, &job) // what cannot be read is not compared
	return jid, job.Queue, body
}

// noteReport records the ack or fail of the job of a place.
func (d *workerConn) noteReport(p *place, o history.Outcome) {
	if d.history == nil {
		return
	}
	op := history.Ack
	if d.command.op == measure.Fail {
		op = history.Fail
	}
	d.note(history.Event{Op: op, JID: p.name}, o)
}

// Complete adds to the run's history what the shard knows only when its connections have
// ended: after Stop, and after Abandon if not all did. It must have been made then, by
// the Recorder that all shards share.
//
//   - Where Config.MaxCalls was reached the history is cut, if it was not before.
//   - A worker that is ordered to be quiet, or to terminate, learns that by its next beat
//     only. Each fetch that may have met it in that state is marked as quiet. (AMB-32)
func (c *Shard) Complete(h *history.History) {
	r := c.callLog
	if r == nil {
		return
	}
	if cut := max(r.start+r.cutAt, 1); r.cutAt > 0 && (h.CutAt == 0 || cut < h.CutAt) {
		h.CutAt = cut
	}
	quietSince := make(map[string]time.Duration)
	for _, w := range c.workers {
		if w.state != wire.Working {
			quietSince[w.id] = r.start + w.latestBeat
		}
	}
	if len(quietSince) == 0 {
		return
	}
	for i := range h.Events {
		e := &h.Events[i]
		since, isQuiet := quietSince[e.Worker]
		if isQuiet && e.Op == history.Fetch && (e.Outcome == history.NoReply || e.Return >= since) {
			e.Quiet = true
		}
	}
}
