package explore

import (
	"bytes"
	"context"
	"time"

	"github.com/fwpsuite/fwp/conformance/model"
	"github.com/fwpsuite/fwp/conformance/oracle"
)

// fuzzes tells whether a step sends bytes of which nobody can say how many commands they
// are, and does not wait for what they bring.
func (s *Step) fuzzes() bool { return s.Kind == Send && s.Raw && s.Ahead }

// Between the segments of a line: one that is fuzzed need not come in as many pieces as
// it was sent in.
const (
	betweenSegments = 20 * time.Millisecond
	betweenBytes    = time.Millisecond
)

// longestWrite bounds how long fuzzed bytes may take that nobody reads.
const longestWrite = 2 * time.Second

// send plays a Send.
func (p *play) send(ctx context.Context, c *conn, s *Step) {
	p.settle(ctx, c)
	if p.conns[s.Conn] != c {
		return
	}
	segments := p.segments(c, s)
	if p.meddles(segments...) {
		return
	}
	pause := betweenSegments
	if s.Bytewise || s.fuzzes() {
		pause = betweenBytes
	}
	c.awaited = s.text()
	c.fuzzed = c.fuzzed || s.fuzzes()
	p.cut = len(segments) > 1 && !s.Raw
	p.transmit(ctx, c, segments, pause)
	if !s.Ahead {
		p.settle(ctx, c)
	}
	p.cut = false
}

// segments are the bytes of a step.
func (p *play) segments(c *conn, s *Step) [][]byte {
	segments := make([][]byte, len(s.Segments))
	for i, text := range s.Segments {
		segments[i] = []byte(p.fill(text, c.hi))
	}
	if !s.Raw {
		last := len(segments) - 1
		segments[last] = append(segments[last], "\r\n"...)
	}
	if s.Bytewise {
		segments = bytes.SplitAfter(bytes.Join(segments, nil), nil)
	}
	return segments
}

// transmit writes and takes down what was sent, which is one command.
func (p *play) transmit(ctx context.Context, c *conn, segments [][]byte, pause time.Duration) {
	all := segments[0]
	if len(segments) > 1 {
		all = bytes.Join(segments, nil)
	}
	now, limit := time.Now(), p.patience
	c.sent, c.pieces = p.step, max(0, c.pieces-1)
	if len(segments) > 1 {
		c.pieces = 2
	}
	line, ended := bytes.CutSuffix(all, []byte("\r\n"))
	p.commands++
	switch {
	case c.fuzzed:
		p.fuzz(c, all, now)
		limit = min(limit, longestWrite)
	case !ended || bytes.IndexByte(line, '\n') >= 0:
		p.odd(c, all, now)
	default:
		c.clause = p.world.Sent(c.number, line, now)
		c.owed = 1
	}
	p.last = c.clause
	_ = c.write(ctx, segments, pause, limit) // why nothing can be written shows at the next read
}

// odd takes down what is no single line: how many answers come is not judged.
func (p *play) odd(c *conn, all []byte, now time.Time) {
	c.odd = true
	c.owed = -bytes.Count(all, []byte("\n"))
	if lf := bytes.IndexByte(all, '\n'); lf > 0 && all[lf-1] != '\r' { // an LF alone: the first answer is judged
		c.clause = p.world.Sent(c.number, all[:lf+1], now)
		return
	}
	p.unjudged(c, all, now)
}

// fuzz takes down bytes of which nobody can say how many commands they are. That there
// are not more answers than they could possibly have is all that is judged.
func (p *play) fuzz(c *conn, all []byte, now time.Time) {
	c.odd, c.owed = true, -1
	c.most += mostAnswers(all)
	p.fuzzed = append(p.fuzzed, jobsIn(all)...)
	p.unjudged(c, all, now)
}

// unjudged takes down the first line of bytes whose answers are not judged, or the first
// that is malformed.
func (p *play) unjudged(c *conn, all []byte, now time.Time) {
	var chosen []byte
	for line := range bytes.Lines(all) {
		line = bytes.TrimRight(line, "\r\n")
		if malformed := oracle.ReadLine(line).Form != model.Okay; chosen == nil || malformed {
			if chosen = line; malformed {
				break
			}
		}
	}
	c.clause = p.world.Sent(c.number, chosen, now)
	p.world.Loosen(c.number)
}

// mostAnswers is how often bytes may be answered by whatever server: once for what it may
// take for the end of a line, for the rest, for each part of a line that is too long for
// it, and twice before it closes the connection.
func mostAnswers(all []byte) int {
	n := bytes.Count(all, []byte("\n")) + bytes.Count(all, []byte("\r")) - bytes.Count(all, []byte("\r\n")) + bytes.Count(all, []byte{0})
	return n + len(all)/1024 + 3
}
