package workercheck

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/monitor"
	"github.com/fwpsuite/fwp/scenarios"
)

// mostLines bounds the conversation that is kept: the first half and the last half of it.
const mostLines = 4000

// mostEvents bounds the events that a situation can look back at, and mostKept their bytes. The monitors see all.
const (
	mostEvents = 50_000
	mostKept   = 64 << 20
)

// mostOpen is how many connections of a program are served at a time; others are closed.
const mostOpen = 500

// tape is what happened in one play: events for the monitors and for the situation, and the conversation. Its methods
// may be called by many goroutines at once.
type tape struct {
	start time.Time

	mu      sync.Mutex
	builder *monitor.Builder
	watch   *monitor.Watch
	events  []monitor.Event
	kept    int // bytes of the events
	lines   []scenarios.Line
	reports map[string]int // indexes of events: the first ACK or FAIL by jid
	gave    map[string]int // and the first delivery
	exits   map[int]bool   // processes that have ended
	changed chan struct{}  // closed at the next event
	conns   int
	open    int // of them
	crowded bool
	show    func(scenarios.Line)
}

func newTape(config monitor.Config, show func(scenarios.Line)) *tape {
	t := &tape{
		start: time.Now(), watch: monitor.NewWatch(config), changed: make(chan struct{}), show: show,
		reports: map[string]int{}, gave: map[string]int{}, exits: map[int]bool{},
	}
	t.builder = monitor.NewBuilder(t.see)
	return t
}

func (t *tape) now() time.Duration { return time.Since(t.start) }

// see takes an event. The lock is held.
func (t *tape) see(e monitor.Event) {
	t.watch.See(e)
	if size := len(e.Raw) + len(e.Reply.Text); len(t.events) < mostEvents && t.kept+size <= mostKept {
		t.kept += size
		t.index(&e)
		t.events = append(t.events, e)
	}
	if e.Kind == monitor.Exited {
		t.exits[e.Process] = true
	}
	if l, is := lineOf(e); is {
		if t.show != nil {
			t.show(l)
		}
		if t.lines = append(t.lines, l); len(t.lines) > mostLines {
			t.lines = append(t.lines[:mostLines/2], t.lines[mostLines/2+1:]...)
		}
	}
	close(t.changed)
	t.changed = make(chan struct{})
}

// index remembers where the event is that is about to be kept, if it is about a job.
func (t *tape) index(e *monitor.Event) {
	in, jid := t.reports, ""
	switch {
	case delivered(e):
		in, jid = t.gave, jidOf(e)
	case e.Kind == monitor.Line && (e.Command.Verb == fwp.ACK || e.Command.Verb == fwp.FAIL):
		jid, _ = e.Object["jid"].(string)
	}
	if _, known := in[jid]; jid != "" && !known {
		in[jid] = len(t.events)
	}
}

// reportOf returns the first ACK or FAIL of a job, nil if there is none.
func (t *tape) reportOf(jid string) *monitor.Event { return t.indexed(t.reports, jid) }

// deliveryOf returns the first delivery of a job, nil if there is none.
func (t *tape) deliveryOf(jid string) *monitor.Event { return t.indexed(t.gave, jid) }

func (t *tape) indexed(in map[string]int, jid string) *monitor.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	at, known := in[jid]
	if !known {
		return nil
	}
	e := t.events[at]
	return &e
}

// lineOf returns an event as a line of the conversation.
func lineOf(e monitor.Event) (scenarios.Line, bool) {
	m := e.Moment()
	l := scenarios.Line{At: e.At, From: "--", Text: m.Text}
	if e.Conn > 0 {
		l.Conn = "c" + strconv.Itoa(e.Conn)
	}
	switch e.Kind {
	case monitor.Line:
		l.From, l.Text = "C", strings.TrimPrefix(m.Text, "C: ")
	case monitor.Reply, monitor.Broken:
		l.From, l.Text = "S", strings.TrimPrefix(m.Text, "S: ")
	case monitor.Closed:
		l.Ended = true
	case monitor.Opened, monitor.Started, monitor.Signalled, monitor.Exited:
	default:
		return l, false
	}
	return l, true
}

// remark adds a line about what this program did.
func (t *tape) remark(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := scenarios.Line{At: t.now(), From: "--", Text: text}
	t.lines = append(t.lines, l)
	if t.show != nil {
		t.show(l)
	}
}

// process notes what happened to a process.
func (t *tape) process(number int, e monitor.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.builder.Process(t.now(), number, e)
}

// full reports whether so many connections are open that no other is served.
func (t *tape) full() bool {
	t.mu.Lock()
	full, first := t.open >= mostOpen, !t.crowded
	t.crowded = t.crowded || full
	t.mu.Unlock()
	if full && first {
		t.remark(fmt.Sprintf("%d connections are open: others are closed", mostOpen))
	}
	return full
}

// pass tells the monitors that time has passed.
func (t *tape) pass(e monitor.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e.At = t.now()
	t.watch.See(e)
}

// listener records what passes over the connections that it accepts.
type listener struct {
	net.Listener
	tape    *tape
	process func() int
	secure  func(net.Conn) net.Conn // nil: no TLS
	notice  func(error) error       // is given the errors
}

func (l *listener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	for err == nil && l.tape.full() {
		_ = nc.Close()
		nc, err = l.Listener.Accept()
	}
	if err != nil {
		return nil, l.notice(err)
	}
	raw := nc
	if l.secure != nil {
		nc = l.secure(nc)
	}
	t := l.tape
	t.mu.Lock()
	defer t.mu.Unlock()
	t.conns++
	t.open++
	c := &tapped{Conn: nc, raw: raw, tape: t, number: t.conns, pump: newPump()}
	t.builder.Open(t.now(), c.number, l.process())
	go c.pump.run(nc, c.record)
	return c, nil
}

// tapped is a recorded connection.
type tapped struct {
	net.Conn
	raw    net.Conn
	tape   *tape
	number int
	pump   *pump
	reset  bool // guarded by the tape's lock, as is the next field
	closed bool
}

// record takes what the pump has read.
func (c *tapped) record(data []byte, err error) {
	c.tape.mu.Lock()
	defer c.tape.mu.Unlock()
	if len(data) > 0 && !c.closed {
		c.tape.builder.Client(c.tape.now(), c.number, data)
	}
	if err != nil && !errors.Is(err, net.ErrClosed) {
		c.end(monitor.Client, !errors.Is(err, io.EOF))
	}
}

func (c *tapped) Read(p []byte) (int, error) { return c.pump.read(p) }

func (c *tapped) SetReadDeadline(t time.Time) error {
	c.pump.change(func() { c.pump.deadline = t })
	return nil
}

func (c *tapped) SetDeadline(t time.Time) error {
	c.pump.change(func() { c.pump.deadline = t })
	return c.SetWriteDeadline(t)
}

func (c *tapped) Write(p []byte) (int, error) {
	c.tape.mu.Lock()
	if !c.closed {
		c.tape.builder.Server(c.tape.now(), c.number, p)
	}
	c.tape.mu.Unlock()
	n, err := c.Conn.Write(p)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		c.tape.mu.Lock()
		defer c.tape.mu.Unlock()
		c.end(monitor.Client, true)
	}
	return n, err
}

func (c *tapped) Close() error {
	c.tape.mu.Lock()
	c.end(monitor.Server, c.reset)
	c.tape.mu.Unlock()
	c.pump.change(func() { c.pump.closed, c.pump.in = true, nil })
	return c.Conn.Close()
}

// SetLinger makes the next Close a reset, where the connection can do that.
func (c *tapped) SetLinger(sec int) error {
	c.tape.mu.Lock()
	c.reset = sec == 0
	c.tape.mu.Unlock()
	if l, ok := c.raw.(interface{ SetLinger(sec int) error }); ok {
		return l.SetLinger(sec)
	}
	return nil
}

// end notes the end of the connection, the first of its causes. The tape's lock is held.
func (c *tapped) end(by monitor.Side, reset bool) {
	if !c.closed {
		c.closed = true
		c.tape.open--
		c.tape.builder.Close(c.tape.now(), c.number, by, reset)
	}
}
