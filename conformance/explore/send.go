package explore

import (
	"bytes"
	"context"
	"time"

	"github.com/fwpsuite/fwp/scenarios"
)

// wild reports whether a step sends bytes that may be any number of commands, and does not
// await their answers.
func (s Step) wild() bool {
	do := s.Sends()
	return do != nil && do.Raw && s.Ahead
}

// Between the segments of a line: wild bytes need not come in as many pieces as they were
// sent in.
const (
	betweenSegments = 20 * time.Millisecond
	betweenBytes    = time.Millisecond
)

// longestWrite bounds how long the server may take to read wild bytes.
const longestWrite = 2 * time.Second

// send plays a Send.
func (p *play) send(ctx context.Context, c *conn, s *Step) {
	p.settle(ctx, c)
	if p.conns[c.number] != c {
		return
	}
	do := s.Sends()
	segments := p.segments(c, do)
	if p.law.Escapes(segments...) {
		return
	}
	pause := betweenSegments
	if do.Bytewise || s.wild() {
		pause = betweenBytes
	}
	if c.awaited = s.Text(); len(segments) == 1 {
		c.introduction = c.awaited
	}
	c.wild = c.wild || s.wild()
	p.cut = len(segments) > 1 && !do.Raw
	p.transmit(ctx, c, segments, pause, c.wild)
	p.cut = p.cut || len(segments) > 1 && c.owed > 0 && !c.wild // a single line, whatever it is made of
	if !s.Ahead {
		p.settle(ctx, c)
	}
	p.cut = false
}

// segments are the bytes of a step.
func (p *play) segments(c *conn, do *scenarios.Send) [][]byte {
	segments := make([][]byte, len(do.Segments))
	for i, t := range do.Segments {
		segments[i] = []byte(p.expand(t, c.number))
	}
	if p.grammar().Coding != nil && !do.Raw {
		segments = [][]byte{p.line(string(bytes.Join(segments, nil)))}
		if do.Bytewise {
			segments = bytes.SplitAfter(segments[0], nil)
		}
		return segments
	}
	if count := p.grammar().Counted; count != nil && !do.Raw && len(segments) == 1 {
		segments[0] = []byte(count(string(segments[0])))
	}
	if !do.Raw {
		last := len(segments) - 1
		segments[last] = append(segments[last], "\r\n"...)
	}
	if do.Bytewise {
		segments = bytes.SplitAfter(bytes.Join(segments, nil), nil)
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
func (p *play) transmit(ctx context.Context, c *conn, segments [][]byte, pause time.Duration, wild bool) {
	all := segments[0]
	if len(segments) > 1 {
		all = bytes.Join(segments, nil)
	}
	c.sent, c.pieces = p.step, max(0, c.pieces-1)
	if len(segments) > 1 {
		c.pieces = 2
	}
	if wild {
		limited, cancel := context.WithTimeout(ctx, longestWrite)
		defer cancel()
		ctx = limited
	}
	p.commands++
	sent := p.law.Sent(c.number, all, wild, time.Now())
	c.clause, c.owed, c.judged = sent.Clause, sent.Owed, sent.Judged
	c.most += sent.Most
	p.ends = p.ends || sent.Ends
	c.odd = c.odd || sent.Owed < 0
	p.last = c.clause
	_ = c.Write(ctx, segments, pause) // why nothing can be written shows at the next read
}
