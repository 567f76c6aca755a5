package explore

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance/model"
	"github.com/fwpsuite/fwp/conformance/oracle"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/scenarios"
)

// play is one playing of steps on a server, judged by a world of its own.
type play struct {
	*config
	names
	world    *oracle.World
	conns    map[int]*conn
	found    []found
	seen     []seen // what each step was answered with
	step     int    // the one that is being played
	cover    *Coverage
	commands int
	dead     bool
	cut      bool // the line that is being played came in segments
}

// found is a violation where it came up.
type found struct {
	*oracle.Violation
	crash bool
	step  int
	conn  int
	owing []string // the texts of commands whose answers were awaited
}

// seen is what came back.
type seen struct {
	step, conn int
	expected   model.Answer
	answer     model.Answer
	jid        string
}

// config is what all plays of an exploration share.
type config struct {
	target   scenarios.Target
	password string
	alone    bool
	flush    bool          // FLUSH may be tried
	patience time.Duration // for a reply
	eventual time.Duration // for what the specification calls eventual
	slack    time.Duration
}

func newPlay(c *config, prefix string) *play {
	p := &play{config: c, world: oracle.NewWorld(), conns: map[int]*conn{}}
	p.names = names{prefix: prefix, times: map[string]string{}, secret: c.password, now: time.Now()}
	p.world.Protected, p.world.Password, p.world.Alone = c.password != "", c.password, c.alone
	p.world.Patience, p.world.Slack = c.eventual, c.slack
	return p
}

// do plays one step.
func (p *play) do(ctx context.Context, s *Step) {
	p.poll(ctx)
	p.now = time.Now()
	if s.Kind == Open {
		p.open(ctx, s)
		return
	}
	if s.Kind == Wait {
		p.wait(ctx, s.For)
		return
	}
	if s.Kind == Operate {
		p.operate(ctx, s)
		return
	}
	c := p.conns[s.Conn]
	if c == nil {
		return
	}
	switch s.Kind {
	case Send:
		p.send(ctx, c, s)
	case Await:
		p.settle(ctx, c)
	case End:
		p.end(ctx, c, s.Ending)
	}
}

// open begins a connection and greets on it. (Not Identified State)
func (p *play) open(ctx context.Context, s *Step) {
	if old := p.conns[s.Conn]; old != nil {
		p.end(ctx, old, scenarios.Closed)
	}
	dialing, cancel := context.WithTimeout(ctx, p.patience)
	nc, err := p.target.Dial(dialing)
	cancel()
	if err != nil {
		p.probe(ctx, &conn{number: s.Conn, clause: "FWP-HI-01"})
		return
	}
	c := open(s.Conn, nc)
	c.role = s.Role
	p.conns[s.Conn] = c
	p.world.Open(s.Conn)
	p.world.Conns[s.Conn].Opened = time.Now()
	c.owed, c.clause = 1, "FWP-HI-01"
	p.settle(ctx, c)
	if p.conns[s.Conn] != c || s.Role == scenarios.Raw {
		return
	}
	hello := p.hello(c, s)
	p.transmit(ctx, c, [][]byte{[]byte(hello + "\r\n")}, 0)
	p.settle(ctx, c)
}

// hello is the HELLO of a connection that greets by itself.
func (p *play) hello(c *conn, s *Step) string {
	text := `{"v":2}`
	if c.hi.Protected {
		text = `{"pwdhash":"$pwdhash","v":2}`
	}
	if s.Role == scenarios.Consumer {
		wid := p.fill(fmt.Sprintf("$wid%d", s.Worker), c.hi)
		c.wid, c.beat = wid, time.Now()
		text = `{"hostname":"fwpcheck","wid":"` + wid + `","pid":4711,"labels":["fwpcheck"],` + text[1:]
	}
	return fwp.HELLO + " " + p.fill(text, c.hi)
}

// send plays a Send.
func (p *play) send(ctx context.Context, c *conn, s *Step) {
	p.settle(ctx, c)
	if p.conns[s.Conn] != c {
		return
	}
	segments := make([][]byte, len(s.Segments))
	for i, text := range s.Segments {
		segments[i] = []byte(p.fill(text, c.hi))
	}
	if !s.Raw {
		last := len(segments) - 1
		segments[last] = append(segments[last], "\r\n"...)
	}
	pause := 20 * time.Millisecond
	if s.Bytewise {
		all := bytes.Join(segments, nil)
		segments = bytes.SplitAfter(all, nil)
		pause = time.Millisecond
	}
	if p.meddles(bytes.Join(segments, nil)) {
		return
	}
	c.awaited = s.text()
	p.cut = len(segments) > 1 && !s.Raw
	p.transmit(ctx, c, segments, pause)
	if !s.Ahead {
		p.settle(ctx, c)
	}
	p.cut = false
}

// transmit writes and takes down what was sent.
func (p *play) transmit(ctx context.Context, c *conn, segments [][]byte, pause time.Duration) {
	all := segments[0]
	if len(segments) > 1 {
		all = bytes.Join(segments, nil)
	}
	now := time.Now()
	switch line, ended := bytes.CutSuffix(all, []byte("\r\n")); {
	case !ended || bytes.IndexByte(line, '\n') >= 0 && !bytes.HasSuffix(line, []byte{'\n'}) || bytes.Contains(line, []byte("\r\n")):
		p.odd(c, all, now)
	case bytes.IndexByte(line, '\n') >= 0:
		p.odd(c, all, now)
	default:
		c.clause = p.world.Sent(c.number, line, now)
		c.owed = 1
		p.commands++
	}
	if err := c.write(ctx, segments, pause, p.patience); err != nil && c.owed == 0 {
		return // why nothing can be written shows at the next read
	}
}

// odd sends what is no single line: how many answers come is not judged.
func (p *play) odd(c *conn, all []byte, now time.Time) {
	c.odd = true
	lines := bytes.Count(all, []byte("\n"))
	p.commands += max(lines, 1)
	first, _, _ := bytes.Cut(all, []byte("\n"))
	if lf := bytes.IndexByte(all, '\n'); lf > 0 && all[lf-1] != '\r' {
		first = all[:min(len(all), lf+1)] // an LF alone: the first answer is judged
		c.clause = p.world.Sent(c.number, first, now)
		c.owed = -lines
		return
	}
	c.clause = p.world.Sent(c.number, bytes.TrimSuffix(first, []byte("\r")), now)
	p.world.Loosen(c.number)
	c.owed = -lines
}

func (p *play) violated(c *conn, v *oracle.Violation) {
	if v == nil {
		return
	}
	if p.cut && (v.Rule == "refused" || v.Rule == "reply") {
		v.Clause = "FWP-FRAME-05"
	}
	f := found{Violation: v, step: p.step, conn: c.number, owing: []string{c.awaited}}
	for _, o := range p.conns {
		if o.owed != 0 {
			f.owing = append(f.owing, o.awaited)
		}
	}
	p.found = append(p.found, f)
	if j := p.world.Jobs[v.JID]; j != nil {
		j.Loose = true
	}
}

// drop ends a connection from our side.
func (p *play) drop(c *conn, how scenarios.Ending) {
	if p.conns[c.number] != c {
		return
	}
	p.forget(c)
	_ = p.world.Close(c.number, false, time.Now()) // what clients end themselves is no violation
	c.leave(how)
}

func (p *play) forget(c *conn) {
	delete(p.conns, c.number)
	c.owed = 0
}

// end plays an End.
func (p *play) end(ctx context.Context, c *conn, how scenarios.Ending) {
	half, can := c.nc.(interface{ CloseWrite() error })
	if how != scenarios.HalfShut || !can || half.CloseWrite() != nil {
		p.drop(c, how)
		return
	}
	c.shut = true
	p.world.Shut(c.number)
	if c.owed > 0 {
		p.halfway(ctx, c)
	}
	p.drop(c, scenarios.Closed)
}

func (p *play) wait(ctx context.Context, d time.Duration) {
	const every = 15 * time.Second
	for d > 0 && ctx.Err() == nil {
		part := min(d, every)
		if !sleep(ctx, part) {
			return
		}
		d -= part
		p.poll(ctx)
		for _, n := range slices.Sorted(maps.Keys(p.conns)) {
			c := p.conns[n]
			if c == nil || c.wid == "" || c.owed != 0 || c.odd || time.Since(c.beat) < every {
				continue
			}
			c.beat, c.awaited = time.Now(), "BEAT {}"
			p.transmit(ctx, c, [][]byte{[]byte(`BEAT {"wid":"` + c.wid + "\"}\r\n")}, 0)
			p.settle(ctx, c)
		}
	}
}

func (p *play) close() {
	for _, n := range slices.Sorted(maps.Keys(p.conns)) {
		p.drop(p.conns[n], scenarios.Closed)
	}
}
