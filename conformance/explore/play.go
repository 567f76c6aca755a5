package explore

import (
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
	cut      bool   // the line that is being played came in segments
	last     string // the clause of what was sent last
	fuzzing  bool   // bytes were sent of which nobody has seen yet whether the server survives them
	fuzzed   []fuzzedJob
}

// found is a violation where it came up.
type found struct {
	*oracle.Violation
	crash bool
	step  int // that was being played
	about int // the step that sent what was answered wrongly; the same in most cases
	conn  int
	owing []string // the texts of commands whose answers were awaited
}

// seen is what came back.
type seen struct {
	step, conn int
	order      int // among all answers of the play
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

// do plays one step. What other connections have brought is taken in before, but not
// between fuzzed bytes and the new connection that shows whether the server has survived
// them: it is there that a crash is to be seen.
func (p *play) do(ctx context.Context, s *Step) {
	if s.Kind == Send {
		p.fuzzing = s.fuzzes()
	}
	if !p.fuzzing {
		p.poll(ctx)
	}
	p.now = time.Now()
	c := p.conns[s.Conn]
	switch {
	case s.Kind == Open:
		p.open(ctx, s)
		p.fuzzing = false
	case s.Kind == Wait:
		p.wait(ctx, s.For)
	case s.Kind == Operate:
		p.operate(ctx, s)
	case c == nil: // it has ended before its time
	case s.Kind == Send:
		p.send(ctx, c, s)
	case s.Kind == Await:
		p.settle(ctx, c)
	case s.Kind == End:
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
		p.probe(ctx, &conn{number: s.Conn, clause: greetingClause})
		return
	}
	c := open(s.Conn, nc)
	c.role = s.Role
	p.conns[s.Conn] = c
	p.world.Open(s.Conn)
	p.world.Conns[s.Conn].Opened = time.Now()
	c.owed, c.clause = 1, greetingClause
	p.settle(ctx, c)
	if p.conns[s.Conn] != c || s.Role == scenarios.Raw {
		return
	}
	p.transmit(ctx, c, [][]byte{[]byte(p.hello(c, s) + "\r\n")}, 0)
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

// violated keeps a violation that shows while a step is played.
func (p *play) violated(c *conn, v *oracle.Violation) { p.broken(c, v, p.step) }

// broken keeps a violation that is about what a step has sent, and stops judging its job:
// one fault is told once.
func (p *play) broken(c *conn, v *oracle.Violation, step int) {
	if v == nil {
		return
	}
	switch {
	case p.cut && (v.Rule == "refused" || v.Rule == "reply"): // or it is refused in one piece too
		v.Clause, v.Doubtful = "FWP-FRAME-05", true
	case c.pieces > 0 && v.Rule == "extra":
		v.Clause = "FWP-FRAME-05"
	}
	f := found{Violation: v, step: p.step, about: step, conn: c.number, owing: []string{c.awaited}}
	for _, o := range p.conns {
		if o.owed != 0 {
			f.owing = append(f.owing, o.awaited)
		}
	}
	p.found = append(p.found, f)
	if j := p.world.Jobs[v.JID]; j != nil && v.Rule != "order" { // a job that was passed over may be lost, which shows later
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

// forget lets a connection be over, whoever ended it.
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
	switch {
	case c.fuzzed:
		p.hear(ctx, c, attention)
	case c.owed > 0:
		p.halfway(ctx, c)
	}
	p.drop(c, scenarios.Closed)
}

// wait lets time pass; workers beat, and nothing may come unasked. (FWP-RESP-05)
func (p *play) wait(ctx context.Context, d time.Duration) {
	const every = 15 * time.Second
	for d > 0 && ctx.Err() == nil {
		part := min(d, every)
		if !sleep(ctx, part) {
			return
		}
		d -= part
		if p.fuzzing {
			continue
		}
		p.poll(ctx)
		for _, n := range slices.Sorted(maps.Keys(p.conns)) {
			if c := p.conns[n]; c != nil && c.wid != "" && c.owed == 0 && !c.odd && time.Since(c.beat) >= every {
				c.beat, c.awaited = time.Now(), "BEAT {}"
				p.transmit(ctx, c, [][]byte{[]byte(`BEAT {"wid":"` + c.wid + "\"}\r\n")}, 0)
				p.settle(ctx, c)
			}
		}
	}
}

// close removes what fuzzed bytes have left, and ends all connections.
func (p *play) close() {
	p.cleanse()
	for _, n := range slices.Sorted(maps.Keys(p.conns)) {
		p.drop(p.conns[n], scenarios.Closed)
	}
}
