package workercheck

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/monitor"
	"github.com/fwpsuite/fwp/internal/shortage"
	"github.com/fwpsuite/fwp/scenarios"
)

// bed is one play of a situation: its servers, its processes and its tape.
type bed struct {
	*tape
	ctx       context.Context //nolint:containedctx // of one play
	harness   *Harness
	situation *Situation
	meter     *scenarios.Meter
	began     time.Time

	servers []*server
	procs   []*proc

	hookMu   sync.Mutex
	hooks    []func(*fakes.Event)
	accepted map[string]int // jobs of a producer that the server has taken, by jid

	decisions []conformance.Decision
	stop      string // why the situation did not come about; empty if it did
	fleeting  bool   // the reason may be that this machine was busy
	watchers  sync.WaitGroup
	stopTicks func()
}

// server is one server of the play.
type server struct {
	*fakes.Server
	process int // that connects to it
	mu      sync.Mutex
}

// proc is one process of the program.
type proc struct {
	Process
	number int
	server *server
	first  string // its first line
	since  time.Duration
	input  *feed    // of a producer, as is the next field
	given  []handed // the jobs that it was handed
}

// options say how a process is started.
type options struct {
	server      *server // nil: one of its own
	concurrency int     // 2 if zero
	queues      []string
	unwarmed    bool     // do not wait for its first line
	input       *feed    // of a producer; nil: three ordinary jobs
	given       []handed // the jobs in it
}

const usualConcurrency = 2

// theQueues are those of a worker, unless the situation has others.
var theQueues = []string{"fwp-high", "fwp-low"}

func newBed(ctx context.Context, h *Harness, s *Situation, on conformance.Setup) *bed {
	b := &bed{ctx: ctx, harness: h, situation: s, meter: on.Meter, began: time.Now()}
	config := monitor.Config{Processes: true, Outcome: contract}
	if s.Server != nil {
		var c fakes.Config
		s.Server(&c)
		config.Password = c.Password
	}
	if h.observed.TakesQueues() || h.Launcher.Sets("queues") {
		config.Queues = theQueues
	}
	b.tape = newTape(config, on.Watch)
	b.accepted = map[string]int{}
	b.steer(lenient)
	b.steer(b.accept)
	ticking, stop := context.WithCancel(context.WithoutCancel(ctx))
	b.stopTicks = stop
	b.watchers.Go(func() { b.tick(ticking) })
	return b
}

// tick tells the monitors once a second that time has passed, and how late this machine was.
func (b *bed) tick(ctx context.Context) {
	every := time.NewTicker(time.Second)
	defer every.Stop()
	for {
		from := time.Now()
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
		e := monitor.Event{Kind: monitor.Passed}
		if b.meter != nil {
			if lag := b.meter.Lag(from); lag > worthNoting {
				e.Kind, e.Late = monitor.Lag, lag
			}
		}
		b.pass(e)
	}
}

// worthNoting is the lag from which on the monitors are told.
const worthNoting = 50 * time.Millisecond

// contract is the outcome of the jobs that docs/judging-workers.md describes.
func contract(jobtype string, args []any) monitor.Outcome {
	switch jobtype {
	case "fwp.ok":
		return monitor.Outcome{Known: true}
	case "fwp.fail", "fwp.echo", unknownType:
		return monitor.Outcome{Known: true, Fails: true}
	case "fwp.sleep":
		return monitor.Outcome{Known: true, Takes: secondsOf(args)}
	}
	return monitor.Outcome{}
}

// unknownType is a job type that no worker has.
const unknownType = "fwp.unknown"

// play plays the situation. A panic of stopped ends it early.
func (b *bed) play() {
	defer func() {
		if p := recover(); p != nil {
			if _, is := p.(stopped); !is {
				panic(p)
			}
		}
	}()
	b.situation.Play(b)
}

// stopped is the panic by which a play ends that cannot go on.
type stopped struct{}

// giveUp ends the play: the situation did not come about.
func (b *bed) giveUp(fleeting bool, format string, args ...any) {
	b.stop, b.fleeting = fmt.Sprintf(format, args...), fleeting
	panic(stopped{})
}

// end ends all processes and servers.
func (b *bed) end() {
	for _, p := range b.procs {
		p.Kill()
		if p.input != nil {
			p.input.end()
		}
	}
	for _, s := range b.servers {
		s.Close()
	}
	b.stopTicks()
	b.watchers.Wait()
}

// steer adds a hook to the servers.
func (b *bed) steer(hook func(*fakes.Event)) {
	b.hookMu.Lock()
	defer b.hookMu.Unlock()
	b.hooks = append(b.hooks, hook)
}

func (b *bed) hook(e *fakes.Event) {
	b.hookMu.Lock()
	hooks := b.hooks
	b.hookMu.Unlock()
	for _, h := range hooks {
		h(e)
	}
}

// The bounds of what clients can have a server keep, in bytes: unfinished lines, and jobs.
const (
	mostUnfinished = 64 << 20
	mostStored     = 64 << 20
)

// serve starts one more server.
func (b *bed) serve() *server {
	s := &server{process: len(b.servers) + 1}
	config := fakes.Config{Hook: b.hook, MaxUnfinished: mostUnfinished, MaxStored: mostStored}
	if b.situation.Server != nil {
		b.situation.Server(&config)
	}
	addr := ""
	config.Listen = func() (ln net.Listener, err error) {
		if addr == "" {
			ln, err = b.harness.listen(b.situation.IPv6)
			_ = b.notice(err)
		} else {
			ln, err = b.harness.listenAgain(addr)
		}
		if err != nil {
			return nil, err
		}
		addr = ln.Addr().String()
		return &listener{Listener: ln, tape: b.tape, process: s.of, secure: b.secure(), notice: b.notice}, nil
	}
	s.Server = fakes.NewUnstarted(config)
	if err := begin(s.Server); err != nil {
		b.giveUp(false, "the server of the situation could not be started: %v", err)
	}
	b.servers = append(b.servers, s)
	return s
}

// notice ends the run if an error means that this process ran out of something, and returns it: what a program does
// then says nothing about it.
func (b *bed) notice(err error) error { return shortage.Notice(b.ctx, err) }

// begin starts a server, which panics if it cannot listen.
func begin(s *fakes.Server) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	s.Start()
	return nil
}

func (s *server) of() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process
}

func (b *bed) secure() func(net.Conn) net.Conn {
	if !b.situation.TLS || b.harness.Certificate == nil {
		return nil
	}
	config := &tls.Config{Certificates: []tls.Certificate{*b.harness.Certificate}, MinVersion: tls.VersionTLS12}
	return func(nc net.Conn) net.Conn { return tls.Server(nc, config) }
}

// url returns the URL of a server for the program.
func (b *bed) url(s *server) string {
	u, err := url.Parse(s.URL())
	if err != nil { // the server has made it
		panic(err)
	}
	if b.situation.TLS {
		u.Scheme = "tcp+tls"
		if net.ParseIP(u.Hostname()) != nil { // another network has other names
			u.Host = net.JoinHostPort("localhost", u.Port())
		}
	}
	return u.String()
}

// launch starts the program, and ends the play if that does not greet.
func (b *bed) launch(o options) *proc {
	p, err := b.start(o)
	if err != nil {
		b.giveUp(true, "%s", firstLine(err.Error()))
	}
	return p
}

// start starts the program and waits until it is warm: its first line was received. The error is a *NoClientError if
// it does not get there.
func (b *bed) start(o options) (*proc, error) { //nolint:funlen // its steps follow one another
	if o.server == nil {
		o.server = b.serve()
	}
	select {
	case b.harness.starts <- struct{}{}:
	case <-b.ctx.Done():
		return nil, b.ctx.Err()
	}
	defer func() { <-b.harness.starts }()
	if o.queues == nil {
		o.queues = theQueues
	}
	if o.input == nil && b.harness.Producer {
		o.given = ordinary(3)
		o.input = newFeed(linesOf(o.given)...)
		o.input.end()
	}
	p := &proc{number: len(b.procs) + 1, server: o.server, since: b.now(), input: o.input, given: o.given}
	o.server.mu.Lock()
	o.server.process = p.number
	o.server.mu.Unlock()
	b.process(p.number, monitor.Event{Kind: monitor.Started})
	var err error
	e := Environment{
		URL: b.url(o.server), Provider: b.situation.Provider, Queues: o.queues,
		Concurrency: cmp.Or(o.concurrency, usualConcurrency), CA: b.ca(),
	}
	if o.input != nil {
		e.Input = o.input
	}
	p.Process, err = b.harness.Launcher.Launch(e)
	if err != nil {
		return nil, fmt.Errorf("start the command: %w", b.notice(err))
	}
	b.procs = append(b.procs, p)
	b.watchers.Go(func() {
		<-p.Over()
		b.process(p.number, monitor.Event{Kind: monitor.Exited, Code: p.Code()})
	})
	if o.unwarmed {
		return p, nil
	}
	return p, b.warm(p)
}

func (b *bed) ca() string {
	if b.situation.TLS {
		return b.harness.CA
	}
	return ""
}

// warm waits for the first command of a process.
func (b *bed) warm(p *proc) error {
	speaks := func(e *monitor.Event) bool {
		return e.Kind == monitor.Line && e.Process == p.number && beginsWithVerb(e.Raw)
	}
	if b.awaitOrEnd(p, b.harness.Patience, speaks) {
		p.first = b.find(speaks).Verb()
		return nil
	}
	if b.ctx.Err() != nil {
		return b.ctx.Err()
	}
	return &NoClientError{b.whyCold(p), p.Output()}
}

var verbs = []string{
	fwp.HELLO, fwp.FLUSH, fwp.INFO, fwp.END, fwp.PUSH, fwp.FETCH, fwp.ACK, fwp.FAIL, fwp.BEAT,
}

// beginsWithVerb reports whether a line begins with a verb, whatever stands around that: a client that leaves out the
// space behind HELLO speaks the protocol, and speaks it wrong.
func beginsWithVerb(line []byte) bool {
	return slices.Contains(verbs, strings.ToUpper(monitor.Verb(bytes.TrimSpace(line))))
}

// whyCold says how far a process got that sent no command.
func (b *bed) whyCold(p *proc) string {
	of := func(kind monitor.Kind) func(*monitor.Event) bool {
		return func(e *monitor.Event) bool { return e.Kind == kind && e.Process == p.number }
	}
	var what string
	switch opened, line := b.count(of(monitor.Opened)), b.find(of(monitor.Line)); {
	case opened == 0:
		what = "it opened no connection"
	case line != nil:
		what = "the first line that it sent is not a command of the protocol: " + line.Moment().Text
	case opened == 1:
		what = "it opened a connection and sent no line"
	default:
		what = fmt.Sprintf("it opened %d connections and sent no line", opened)
	}
	if p.over() {
		return fmt.Sprintf("the command ended (%s) before it sent HELLO: %s", p.How(), what)
	}
	return fmt.Sprintf("the command sent no HELLO within %v: %s", b.harness.Patience, what)
}

func (p *proc) over() bool {
	select {
	case <-p.Over():
		return true
	default:
		return false
	}
}

// signal sends a process a signal.
func (b *bed) signal(p *proc, name string) {
	b.process(p.number, monitor.Event{Kind: monitor.Signalled, Signal: name})
	p.Signal(name)
}
