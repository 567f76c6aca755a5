// Package wire speaks Workq for the connections of a load: producers add jobs, or run them and wait for their
// results, and workers lease, complete and fail them.
package wire

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/wire"
	"github.com/fwpsuite/fwp/protocols/workq"
	workqsession "github.com/fwpsuite/fwp/protocols/workq/session"
)

// Wire is Workq for a load. It is safe for concurrent use.
type Wire struct {
	// Requests has producers run their jobs, and wait until a worker has completed each, instead of adding them.
	Requests bool
}

// The times in commands. A result stays on the server as long as its job lives: so that is not long.
const (
	leaseWait        = 2 * time.Second
	runWait          = time.Minute
	jobTTL           = time.Hour
	introduceTimeout = 10 * time.Second
	replyLimit       = 16 << 20 // bytes; the document states none
)

// question is what a connection begins and ends with, and what an observer asks: it changes nothing, and has a short
// answer.
const question = workq.InspectQueues + " 0 1\r\n"

// Speaker implements [wire.Protocol]. Workers have no names in Workq.
func (p Wire) Speaker(string) wire.Speaker { return &speaker{requests: p.Requests} }

// Introduce asks whether the server answers inspect. It reports nothing about itself.
func (Wire) Introduce(ctx context.Context, dial wire.Dial) (in wire.Introduction, err error) {
	start := time.Now()
	ctx, cancel := context.WithTimeout(ctx, introduceTimeout)
	defer cancel()
	nc, err := dial(ctx)
	if err != nil {
		return in, err
	}
	conn := session.New(nc, workqsession.Codec{}, session.Config{Timeout: introduceTimeout})
	defer conn.Leave(ctx)
	r, err := conn.Ask(ctx, []byte(question))
	switch {
	case r.GaveUp, errors.Is(err, context.DeadlineExceeded):
		return in, fmt.Errorf("the server did not answer inspect queues within %v",
			time.Since(start).Round(time.Millisecond))
	case err != nil:
		return in, fmt.Errorf("inspect queues: %w", err)
	case !r.IsComplete() || r.Message.Kind != workqsession.OK:
		return in, fmt.Errorf("inspect queues was answered with %s", r)
	}
	return in, nil
}

// speaker is one connection's.
type speaker struct {
	requests bool
	op       measure.Op
	body     []byte // memory for a job, whose size goes before it
	jid      []byte // memory for its jid
}

func (s *speaker) Open(out []byte) ([]byte, error) { return s.ask(out, measure.Hello), nil }
func (s *speaker) Info(out []byte) []byte          { return s.ask(out, measure.Info) }
func (s *speaker) Bye(out []byte) []byte           { return s.ask(out, measure.End) }

// Beat appends nothing: Workq has no heartbeat.
func (*speaker) Beat(out []byte, _ wire.State) []byte { return out }

func (s *speaker) ask(out []byte, op measure.Op) []byte {
	s.op = op
	return append(out, question...)
}

// Push appends add, schedule for a job that is due later, or run.
func (s *speaker) Push(out []byte, job *plan.Push) []byte {
	s.op = measure.Push
	s.body, s.jid = job.AppendBody(s.body[:0]), job.Jobs.AppendJID(s.jid[:0], job.Number)
	delay, verb := job.Jobs.Delay(job.Number), workq.Add
	switch {
	case s.requests:
		verb = workq.Run
	case delay > 0:
		verb = workq.Schedule
	}
	out = append(appendID(append(append(out, verb...), ' '), s.jid), ' ')
	out = append(job.Jobs.AppendQueue(out, job.Number), ' ')
	out = append(milliseconds(out, job.Jobs.ReserveFor()), ' ')
	if s.requests {
		out = append(milliseconds(out, runWait), ' ')
	} else {
		out = append(milliseconds(out, jobTTL), ' ')
	}
	if verb == workq.Schedule { // in whole seconds, and not too early
		dueTime := job.Now.Add(delay + time.Second - 1).Truncate(time.Second)
		out = append(dueTime.UTC().AppendFormat(out, time.RFC3339), ' ')
	}
	out = strconv.AppendInt(out, int64(len(s.body)), 10)
	if retry := job.Jobs.Retry(job.Number); retry > 0 && !s.requests {
		out = strconv.AppendInt(append(out, " -"+workq.MaxFails+"="...), int64(retry)+1, 10)
	}
	return block(out, s.body)
}

func (s *speaker) Fetch(out []byte, from *wire.Queues) []byte {
	s.op = measure.Fetch
	if from.Line == nil {
		line := []byte(workq.Lease)
		for _, name := range from.Names {
			line = append(append(line, ' '), name...)
		}
		from.Line = append(milliseconds(append(line, ' '), leaseWait), "\r\n"...)
	}
	return append(out, from.Line...)
}

func (s *speaker) Ack(out, jid []byte) []byte {
	s.op = measure.Ack
	return finish(out, workq.Complete, jid, "done")
}

func (s *speaker) Fail(out, jid []byte) []byte {
	s.op = measure.Fail
	return finish(out, workq.Fail, jid, "failed on purpose")
}

func finish(out []byte, verb string, jid []byte, result string) []byte {
	out = append(appendID(append(append(out, verb...), ' '), jid), ' ')
	return block(strconv.AppendInt(out, int64(len(result)), 10), []byte(result))
}

func block(out, b []byte) []byte {
	return append(append(append(out, "\r\n"...), b...), "\r\n"...)
}

func milliseconds(out []byte, d time.Duration) []byte {
	return strconv.AppendInt(out, d.Milliseconds(), 10)
}

// appendID appends the UUID of version 4 of a jid, which is always the same. (add, id)
func appendID(out, jid []byte) []byte {
	sum := sha256.Sum256(jid)
	b := sum[:16]
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	out = hex.AppendEncode(out, b[:4])
	for i := 4; i < 10; i += 2 {
		out = hex.AppendEncode(append(out, '-'), b[i:i+2])
	}
	return hex.AppendEncode(append(out, '-'), b[10:])
}

// Hear reads a reply by the command that it answers.
func (s *speaker) Hear(in []byte, e *wire.Event) (int, error) {
	const done = "+OK\r\n"
	if len(in) >= len(done) && string(in[:len(done)]) == done && s.isBare() {
		return len(done), nil
	}
	r, n, err := workq.ParseReply(in)
	syntax, ok := errors.AsType[*workq.SyntaxError](err)
	verb := s.Verb(s.op)
	switch {
	case ok:
		return 0, &wire.BreachError{
			Verb: verb, Breach: wire.BrokenGrammar + string(syntax.Rule),
			Description: "the reply to " + verb + " is no Workq reply: " + err.Error(),
		}
	case err != nil && len(in) > replyLimit:
		return 0, fmt.Errorf("%w: %w", wire.ErrTooLong, err)
	case err != nil:
		return 0, wire.ErrShort
	case s.op == measure.Fetch && r.Error == workq.Timeout:
		e.Kind = wire.Empty
	case r.Error != "":
		e.Kind, e.Err = wire.Refusal, &wire.RefusedError{Text: r.Error + " " + r.Text}
	case !s.readAnswer(&r, e):
		return 0, &wire.BreachError{
			Verb: verb, Breach: wire.ImpossibleReply + verb,
			Description: verb + " was answered with " + wire.Quote(in[:n]),
		}
	}
	return n, nil
}

// isBare reports whether the reply to the command in flight is +OK alone.
func (s *speaker) isBare() bool {
	return s.op == measure.Push && !s.requests || s.op == measure.Ack || s.op == measure.Fail
}

// readAnswer reports whether the command in flight has such a reply, which is no error, and writes its meaning to e.
func (s *speaker) readAnswer(r *workq.Reply, e *wire.Event) bool {
	isSingle := r.Counted && len(r.Records) == 1 && r.Records[0].Block != nil
	switch {
	case s.isBare():
		return !r.Counted && (!r.Bare || s.op == measure.Fail)
	case s.op == measure.Push: // the result of a run
		return isSingle && !r.Bare && len(r.Records[0].Head) == 3
	case s.op == measure.Fetch:
		if !isSingle || r.Bare || len(r.Records[0].Head) != 4 {
			return false
		}
		e.Kind, e.Body = wire.Job, r.Records[0].Block
		return true
	}
	return r.Counted
}

// Verb returns the command of a kind.
func (s *speaker) Verb(op measure.Op) string {
	if op == measure.Push && s.requests {
		return workq.Run
	}
	return verbs[op]
}

var verbs = map[measure.Op]string{
	measure.Hello: workq.Inspect, measure.Push: workq.Add, measure.Fetch: workq.Lease, measure.FetchFound: workq.Lease,
	measure.FetchWaited: workq.Lease, measure.FetchEmpty: workq.Lease, measure.Ack: workq.Complete,
	measure.Fail: workq.Fail, measure.Info: workq.Inspect, measure.End: workq.Inspect,
}

// Times are those of a lease: it is the server that waits.
func (*speaker) Times() wire.Times { return wire.Times{Wait: leaseWait} }
