// Package wire speaks eMQP over ZMTP for the connections of a load: clients send REQUESTs, and workers
// send READY and get them.
//
// eMQP has few messages that answer another. So a command ends with a PING of ZMTP, and the PONG is its reply: the
// broker's socket has read what was sent before. A READY is answered by the REQUEST that follows, and a HEARTBEAT of
// the broker says that there was none until then.
package wire

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/wire"
	"github.com/fwpsuite/fwp/protocols/emqp"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
)

// Wire is eMQP for a load. It is safe for concurrent use.
type Wire struct {
	// Requests has clients ask for a REPLY to each of their REQUESTs and wait for it, and workers send them.
	Requests bool
}

const (
	beat         = 2 * time.Second // between two HEARTBEATs of a worker that has nothing else to send
	messageLimit = 16 << 20        // bytes; the document states none
	maxFrames    = 64              // of a message: eMQP has at most 7
	maxJobs      = 1000            // messages
	weight       = 10              // of each queue of a worker
)

// Speaker implements [wire.Protocol].
func (p Wire) Speaker(worker string) wire.Speaker {
	return &speaker{requests: p.Requests, worker: worker != "", identity: "fwpbench-" + rand.Text(), op: noOp}
}

// Where a connection stands.
const (
	phaseStart    = iota // greeting and READY are to be sent
	phaseGreeting        // the greeting of the broker is awaited
	phaseReady           // its READY is awaited
	phaseOpen
)

// noOp is in flight.
const noOp = measure.Op("")

// speaker is one connection's.
type speaker struct {
	requests    bool
	worker      bool
	identity    string
	phase       int
	op          measure.Op
	ids         uint64 // of our messages
	pings       uint64
	queues      *wire.Queues // of a worker that takes jobs; nil: none
	hasInformed bool
	credit      int      // READYs that no REQUEST has used up
	jobs        [][]byte // messages that arrived while another command than READY was in flight

	parts   [][]byte // memory for the frames of a message
	text    []byte   // memory for a frame
	answer  []byte   // memory for PONGs
	command zmtp.Command
}

// Open appends greeting and READY, and, after those of the broker, the PING that ends them.
func (s *speaker) Open(out []byte) ([]byte, error) {
	s.op = measure.Hello
	if s.phase == phaseOpen {
		if s.queues != nil {
			out = s.inform(out)
		}
		return s.ping(out), nil
	}
	s.phase = phaseGreeting
	properties := zmtp.Metadata{
		{Name: zmtp.SocketType, Value: []byte(zmtp.DEALER)}, {Name: zmtp.Identity, Value: []byte(s.identity)},
	}
	return zmtp.Ready(properties).Append(zmtp.NewGreeting().Append(out)), nil
}

// appendWord appends a frame of at most 255 octets. It is zmtp.AppendFrame for constants.
func appendWord(out []byte, flags byte, text string) []byte {
	return append(zmtp.AppendHeader(out, flags, uint64(len(text))), text...)
}

// begin appends the frames that all messages have; more of them follow unless it is the last.
func (s *speaker) begin(out []byte, command string, last bool) []byte {
	out = appendWord(out, zmtp.More, "")
	out = appendWord(out, zmtp.More, emqp.Version)
	out = appendWord(out, zmtp.More, command)
	s.ids++
	s.text = strconv.AppendUint(append(append(s.text[:0], s.identity...), '-'), s.ids, 10)
	if last {
		return zmtp.AppendFrame(out, 0, s.text)
	}
	return zmtp.AppendFrame(out, zmtp.More, s.text)
}

// ping appends a PING without a time to live, whose context is its number. (37/ZMTP: Connection Heartbeating)
func (s *speaker) ping(out []byte) []byte {
	const octets = 1 + uint64(len(zmtp.PING)) + 2 + 8
	s.pings++
	out = zmtp.AppendHeader(out, zmtp.CommandFrame, octets)
	out = append(append(out, byte(len(zmtp.PING))), zmtp.PING...)
	return binary.BigEndian.AppendUint64(append(out, 0, 0), s.pings)
}

// Push appends a REQUEST. (eMQP / Client)
func (s *speaker) Push(out []byte, job *plan.Push) []byte {
	s.op = measure.Push
	out = s.begin(out, emqp.REQUEST, false)
	s.text = job.Jobs.AppendQueue(s.text[:0], job.Number)
	out = zmtp.AppendFrame(out, zmtp.More, s.text)
	headers := ""
	if s.requests {
		headers = emqp.ReplyRequested
	}
	out = appendWord(out, zmtp.More, headers)
	s.text = job.AppendBody(s.text[:0])
	out = zmtp.AppendFrame(out, 0, s.text)
	if s.requests {
		return out
	}
	return s.ping(out)
}

// Subscribe implements [wire.Subscriber]: a broker has to know the workers of a queue before it gets a REQUEST for
// it, which it may refuse otherwise.
func (s *speaker) Subscribe(to *wire.Queues) { s.queues = to }

// Fetch appends READY, unless an earlier one is not used up yet. (eMQP / Worker)
func (s *speaker) Fetch(out []byte, _ *wire.Queues) []byte {
	s.op = measure.Fetch
	switch {
	case len(s.jobs) > 0:
		return s.ping(out)
	case s.credit == 0:
		s.credit++
		return s.begin(out, emqp.READY, true)
	}
	return out
}

// inform appends the INFORM of a worker. (eMQP / Worker)
func (s *speaker) inform(out []byte) []byte {
	from := s.queues
	s.hasInformed = true
	if from.Line == nil {
		all := make([]emqp.Queue, len(from.Names))
		for i, name := range from.Names {
			all[i] = emqp.Queue{Weight: weight, Name: name}
		}
		from.Line = []byte(emqp.FormatQueues(all...))
	}
	out = s.begin(out, emqp.INFORM, false)
	out = zmtp.AppendFrame(out, zmtp.More, from.Line)
	return appendWord(out, 0, emqp.TypeWorker)
}

// Ack appends a REPLY if the client waits for it. Otherwise eMQP has no message for that, and a PING is sent alone.
func (s *speaker) Ack(out, _ []byte) []byte {
	s.op = measure.Ack
	if s.requests {
		out = appendWord(s.begin(out, emqp.REPLY, false), 0, "done")
	}
	return s.ping(out)
}

// Fail appends what Done does: no message of eMQP says that a job has failed.
func (s *speaker) Fail(out, jid []byte) []byte {
	out = s.Ack(out, jid)
	s.op = measure.Fail
	return out
}

// Beat appends a HEARTBEAT, once the worker has sent an INFORM. (Heartbeating)
func (s *speaker) Beat(out []byte, _ wire.State) []byte {
	s.op = measure.Beat
	if s.hasInformed {
		out = s.begin(out, emqp.HEARTBEAT, false)
		s.text = strconv.AppendInt(s.text[:0], time.Now().Unix(), 10)
		out = zmtp.AppendFrame(out, 0, s.text)
	}
	return s.ping(out)
}

// Info appends a PING alone.
func (s *speaker) Info(out []byte) []byte {
	s.op = measure.Info
	return s.ping(out)
}

// Bye appends the KBAI of a worker. (DISCONNECT and KBAI)
func (s *speaker) Bye(out []byte) []byte {
	s.op = measure.End
	if s.hasInformed {
		out = s.begin(out, emqp.KBAI, true)
	}
	return s.ping(out)
}

// Verb returns the message or, where eMQP has none, the command of ZMTP.
func (s *speaker) Verb(op measure.Op) string {
	if (op == measure.Ack || op == measure.Fail) && s.requests {
		return emqp.REPLY
	}
	return verbs[op]
}

var verbs = map[measure.Op]string{
	measure.Hello: zmtp.READY, measure.Push: emqp.REQUEST, measure.Fetch: emqp.READY, measure.FetchFound: emqp.READY,
	measure.FetchWaited: emqp.READY, measure.FetchEmpty: emqp.READY, measure.Ack: zmtp.PING, measure.Fail: zmtp.PING,
	measure.Beat: emqp.HEARTBEAT, measure.Info: zmtp.PING, measure.End: emqp.KBAI,
}

// Times are those of eMQP: it is the broker that waits, for as long as there is no message.
func (*speaker) Times() wire.Times {
	return wire.Times{Beat: beat, BeatApart: beat / 2, SendsNotices: true}
}

// syntaxError returns the breach of a message that cannot be read, or ErrTooLong.
func (s *speaker) syntaxError(err error) error {
	rule := ""
	if syntax, ok := errors.AsType[*zmtp.SyntaxError](err); ok {
		if syntax.Rule.Limit() {
			return wire.ErrTooLong
		}
		rule = string(syntax.Rule)
	}
	return s.breach(rule, "the broker sent what is no ZMTP: "+err.Error())
}

func (s *speaker) breach(rule, detail string) error {
	verb := ""
	if s.op != noOp {
		verb = s.Verb(s.op)
	}
	return &wire.BreachError{Verb: verb, Breach: wire.BrokenGrammar + rule, Description: detail}
}

const introduceTimeout = 10 * time.Second

// Introduce exchanges greeting, READY, PING and PONG with the broker. It reports nothing about itself.
func (p Wire) Introduce(ctx context.Context, dial wire.Dial) (in wire.Introduction, err error) {
	nc, err := dial(ctx)
	if err != nil {
		return in, err
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(introduceTimeout))
	defer context.AfterFunc(ctx, func() { nc.SetDeadline(time.Unix(1, 0)) })()
	s := p.Speaker("")
	var input []byte
	buffer := make([]byte, 4<<10)
	e := wire.Event{Kind: wire.Greeting}
	for e.Kind != wire.OK {
		if e.Kind == wire.Greeting {
			e.Answer, _ = s.Open(e.Answer) // it has no error
		}
		if _, err := nc.Write(e.Answer); err != nil {
			return in, fmt.Errorf("send greeting and PING: %w", err)
		}
		e = wire.Event{}
		n, err := s.Hear(input, &e)
		for errors.Is(err, wire.ErrShort) {
			var m int
			if m, err = nc.Read(buffer); m == 0 {
				return in, readError(ctx, err)
			}
			input = append(input, buffer[:m]...)
			e = wire.Event{}
			n, err = s.Hear(input, &e)
		}
		if err != nil {
			return in, err
		}
		if e.Kind == wire.Refusal {
			return in, e.Err
		}
		input = input[n:]
	}
	return in, nil
}

// readError returns what a failed read means.
func readError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("the broker did not answer greeting, READY and PING (ZMTP 3.1) within %v", introduceTimeout)
	}
	return fmt.Errorf("the broker ended the connection instead of answering greeting, READY and PING: %w", err)
}
