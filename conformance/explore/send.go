package explore

import (
	"bytes"
	"context"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// isUnbounded reports whether a step sends bytes that may be any number of commands, and does not
// await their answers.
func (s Step) isUnbounded() bool {
	do := s.Sends()
	return do != nil && do.Raw && s.Ahead
}

// Between the segments of a line: unbounded bytes need not come in as many pieces as they were
// sent in.
const (
	betweenSegments = 20 * time.Millisecond
	betweenBytes    = time.Millisecond
)

// longestWrite bounds how long the server may take to read unbounded bytes.
const longestWrite = 2 * time.Second

// send plays a Send.
func (p *playthrough) send(ctx context.Context, c *conn, s *Step) {
	p.readReplies(ctx, c)
	if p.conns[c.number] != c {
		return
	}
	do := s.Sends()
	segments := p.segments(c, do)
	if p.law.Escapes(segments...) {
		return
	}
	pause := betweenSegments
	if do.Bytewise || s.isUnbounded() {
		pause = betweenBytes
	}
	if c.awaited = s.Text(); len(segments) == 1 {
		c.introduction = c.awaited
	}
	c.isUnbounded = c.isUnbounded || s.isUnbounded()
	p.isSplit = len(segments) > 1 && !do.Raw
	p.transmit(ctx, c, segments, pause, c.isUnbounded)
	// a single line, whatever it is made of
	p.isSplit = p.isSplit || len(segments) > 1 && c.dueReplies > 0 && !c.isUnbounded
	switch {
	case s.Ahead:
	case p.skipsVainWait && p.waitsInVain(c):
		s.Ahead = true // in the trace of the exploration, too: only that goes on
	default:
		p.readReplies(ctx, c)
	}
	p.isSplit = false
}

// segments are the bytes of a step. Of a line that the dialect cannot write they are those of the text: a law judges
// what is sent, whatever it is.
func (p *playthrough) segments(c *conn, do *scenarios.Send) [][]byte {
	texts := make([]string, len(do.Segments))
	for i, t := range do.Segments {
		texts[i] = p.expand(t, c.number)
	}
	if p.grammar().Framed() && !do.Raw {
		texts = []string{strings.Join(texts, "")}
	}
	segments, err := p.grammar().Segments(do, texts)
	if err != nil {
		segments = [][]byte{[]byte(texts[0])}
		if do.Bytewise {
			segments = bytes.SplitAfter(segments[0], nil)
		}
	}
	return segments
}

// line returns the bytes of a line. Of one that the dialect cannot write they are those of the text: a law judges what
// is sent, whatever it is.
func (c *config) line(text string) []byte {
	b, err := c.grammar().Encode(text)
	if err != nil {
		return []byte(text)
	}
	return b
}

// transmit writes what counts as one command, and records it.
func (p *playthrough) transmit(ctx context.Context, c *conn, segments [][]byte, pause time.Duration, unbounded bool) {
	all := segments[0]
	if len(segments) > 1 {
		all = bytes.Join(segments, nil)
	}
	c.sentStep, c.pieces = p.step, max(0, c.pieces-1)
	if len(segments) > 1 {
		c.pieces = 2
	}
	if unbounded {
		limited, cancel := context.WithTimeout(ctx, longestWrite)
		defer cancel()
		ctx = limited
	}
	p.commands++
	if last := len(segments) - 1; last > 0 && !unbounded { // no server can answer before it has the whole line
		_ = c.Write(ctx, segments[:last], pause)
		machine.Sleep(ctx, pause)
		segments = segments[last:]
	}
	sent := p.law.Sent(c.number, all, unbounded, time.Now())
	c.clause, c.dueReplies, c.isJudged, c.situation = sent.Clause, sent.DueReplies, sent.IsJudged, sent.Situation
	c.maxReplies += sent.MaxReplies
	p.mayEnd = p.mayEnd || sent.Ends
	c.hasOddBytes = c.hasOddBytes || sent.DueReplies < 0
	p.last = c.clause
	_ = c.Write(ctx, segments, pause) // why nothing can be written shows at the next read
}

// conn is one connection of a play.
type conn struct {
	*session.Conn
	number       int
	openStep     int                       // the step that opened it
	dueReplies   int                       // messages; below zero: so many at the most
	isJudged     bool                      // the next message is judged
	sentStep     int                       // the step that sent the last command
	pieces       int                       // commands until nothing comes any more of one that was sent in segments
	awaited      string                    // the step's text of the command whose answer is owed
	clause       string                    // that rules it
	situation    string                    // that it meets
	introduction string                    // the text of the line by which the client has introduced itself last
	isHalfClosed bool                      // half-closed by us
	hasOddBytes  bool                      // it was sent what is no single line
	isUnbounded  bool                      // it was sent bytes that may be any number of commands
	maxReplies   int                       // answers that this may bring
	replies      int                       // of them
	lapses       chan *session.SyntaxError // of messages that are no part of the conversation; more are not kept
}

// dial opens a connection on which no step has sent anything yet, as do says.
func (p *playthrough) dial(ctx context.Context, number int, do *scenarios.Connect) (*conn, error) {
	p.forwarded.Settle(ctx, true, false)
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	fields := ""
	if do.Hello != nil {
		fields = p.fill(do.Hello.String(), number)
	}
	nc, protocol, err := play.Dial(ctx, p.target, p.subject.Dialect, do.Role, fields)
	if err != nil {
		return nil, err
	}
	const limit = 16
	c := &conn{number: number, lapses: make(chan *session.SyntaxError, limit)}
	watch := func(r session.Received) {
		if r.Message.IsHidden && len(c.lapses) < limit {
			c.lapses <- r.Message.Lapse // there is one, or it would not be shown
		}
	}
	c.Conn = session.New(nc, protocol, session.Config{Timeout: p.timeout, Budget: p.budget, OnReceived: watch,
		ToleratesLapses: true})
	c.dueReplies = c.Status().OwedMessages
	if _, opens := p.subject.Dialect.(scenarios.Opener); opens && do.Role == scenarios.Raw {
		c.dueReplies = 0 // the server waits for what the step does not send
	}
	return c, nil
}

// asker returns the opening of a client that only asks.
func asker() *scenarios.Connect { return &scenarios.Connect{Role: scenarios.Producer} }

// takeWithin takes what a connection brings next.
func (c *conn) takeWithin(ctx context.Context, limit time.Duration) (session.Received, bool) {
	return c.Take(ctx, time.Now().Add(limit))
}
