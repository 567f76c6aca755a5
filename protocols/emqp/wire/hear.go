package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/wire"
	"github.com/fwpsuite/fwp/protocols/emqp"
	emqpsession "github.com/fwpsuite/fwp/protocols/emqp/session"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
)

// Hear reads a greeting, a command of ZMTP or a message.
func (s *speaker) Hear(in []byte, e *wire.Event) (int, error) {
	e.Kind = wire.Notice
	if s.phase == phaseGreeting {
		return s.readGreeting(in)
	}
	n, err := s.read(in)
	switch {
	case err != nil:
		return 0, err
	case n == 0 && len(in) > messageLimit:
		return 0, wire.ErrTooLong
	case n == 0:
		return 0, wire.ErrShort
	}
	if len(s.answer) > 0 {
		e.Answer = s.answer
	}
	if s.command.Name != "" {
		err = s.handleCommand(e)
	} else {
		err = s.handleMessage(e)
	}
	if err != nil {
		return 0, err
	}
	if e.Kind != wire.Notice {
		s.op = noOp
	}
	return n, nil
}

func (s *speaker) readGreeting(in []byte) (int, error) {
	_, isComplete, err := zmtp.ParseGreeting(in)
	switch {
	case err != nil:
		return 0, s.syntaxError(err)
	case !isComplete:
		return 0, wire.ErrShort
	}
	s.phase = phaseReady
	return zmtp.GreetingSize, nil
}

// read reads the command or the message with which in begins, and answers the PINGs in it. It returns its size, 0 if in
// is only its beginning.
func (s *speaker) read(in []byte) (n int, err error) {
	s.parts, s.answer, s.command = s.parts[:0], s.answer[:0], zmtp.Command{}
	for {
		flags, body, size, err := zmtp.ParseFrame(in[n:])
		if err != nil {
			return 0, s.syntaxError(err)
		}
		switch {
		case size == 0 && zmtp.FrameSize(in[n:]) > messageLimit:
			return 0, wire.ErrTooLong
		case size == 0:
			return 0, nil
		case len(s.parts) == maxFrames:
			return 0, s.breach(emqpsession.RulePrefix+string(emqp.RuleFrames), fmt.Sprintf(
				"the broker sent a message of more than %d frames", maxFrames))
		}
		n += size
		if flags&zmtp.CommandFrame == 0 {
			if s.parts = append(s.parts, body); flags&zmtp.More == 0 {
				return n, nil
			}
			continue
		}
		c, err := zmtp.ParseCommand(body)
		if err != nil {
			return 0, s.syntaxError(err)
		}
		if c.Name == zmtp.PING {
			_, context, err := zmtp.ParsePing(c.Data)
			if err != nil {
				return 0, s.syntaxError(err)
			}
			s.answer = zmtp.Pong(context).Append(s.answer)
		}
		if len(s.parts) == 0 { // one between two frames of a message can only be a PING
			s.command = c
			return n, nil
		}
	}
}

// handleCommand handles a command of ZMTP.
func (s *speaker) handleCommand(e *wire.Event) error {
	switch c := s.command; {
	case c.Name == zmtp.ERROR:
		reason, err := zmtp.ParseError(c.Data)
		if err != nil {
			return s.syntaxError(err)
		}
		e.Kind, e.Err = wire.Refusal, &wire.RefusedError{Text: reason}
	case c.Name == zmtp.READY && s.phase == phaseReady:
		if _, err := zmtp.ParseMetadata(c.Data); err != nil {
			return s.syntaxError(err)
		}
		s.phase, e.Kind = phaseOpen, wire.Greeting
	case s.phase == phaseReady || c.Name == zmtp.READY:
		return s.breach(string(zmtp.RuleHandshake), "the broker sent "+c.Name+" instead of READY first, and once")
	case c.Name == zmtp.PONG:
		return s.handlePong(e)
	}
	return nil
}

// handlePong handles the PONG that ends a command.
func (s *speaker) handlePong(e *wire.Event) error {
	data := s.command.Data
	switch {
	case len(data) != 8 || binary.BigEndian.Uint64(data) != s.pings || s.op == noOp:
		return s.breach(string(zmtp.RulePing), "the PONG has the context of no PING that is to be answered: "+
			wire.Quote(data))
	case s.op == measure.Fetch:
		e.Kind, e.Body = wire.Job, s.jobs[0]
		s.jobs = s.jobs[1:]
	default:
		e.Kind = wire.OK
	}
	return nil
}

// handleMessage handles a message of the broker.
func (s *speaker) handleMessage(e *wire.Event) error {
	if s.phase != phaseOpen {
		return s.breach(string(zmtp.RuleHandshake), "the broker sent a message before its READY")
	}
	if s.worker && s.isPlainRequest() {
		return s.handleRequest(e, s.parts[6])
	}
	m, err := emqp.Parse(s.parts)
	if wrong, ok := errors.AsType[*emqp.Error](err); ok {
		return s.breach(emqpsession.RulePrefix+string(wrong.Rule), "the broker sent what is no eMQP: "+err.Error())
	}
	switch {
	case m.Command == emqp.REQUEST && s.worker:
		return s.handleRequest(e, m.Fields[2])
	case m.Command == emqp.HEARTBEAT && s.op == measure.Fetch && len(s.jobs) == 0:
		e.Kind = wire.Empty
	case m.Command == emqp.REPLY && s.op == measure.Push && s.requests:
		e.Kind = wire.OK
	case m.Command == emqp.ACK, m.Command == emqp.HEARTBEAT, m.Command == emqp.REPLY, m.Command == emqp.KBAI,
		m.Command == emqp.DISCONNECT:
	default:
		return s.breach(emqpsession.RuleDirection, "the broker sent a "+m.Command+", which is not for this peer")
	}
	return nil
}

// isPlainRequest reports whether the message is a REQUEST with the headers of those that this load sends. It is what
// emqp.Parse would say, without memory for it.
func (s *speaker) isPlainRequest() bool {
	p := s.parts
	return len(p) == 7 &&
		len(p[0]) == 0 && string(p[1]) == emqp.Version && string(p[2]) == emqp.REQUEST && len(p[3]) > 0 &&
		(len(p[5]) == 0 || string(p[5]) == emqp.ReplyRequested)
}

// handleRequest handles a REQUEST: the reply to READY, or a message that came before it was asked for, which waits for
// the next READY.
func (s *speaker) handleRequest(e *wire.Event, body []byte) error {
	s.credit = max(0, s.credit-1)
	if s.op == measure.Fetch && len(s.jobs) == 0 {
		e.Kind, e.Body = wire.Job, body
		return nil
	}
	if len(s.jobs) == maxJobs {
		return &wire.BreachError{
			Verb: emqp.READY, Breach: wire.UnaskedBytes,
			Description: "the broker sent a worker more than 1,000 REQUESTs for which there was no READY",
		}
	}
	s.jobs = append(s.jobs, bytes.Clone(body))
	return nil
}
