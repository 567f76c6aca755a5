package situations

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
	"github.com/fwpsuite/fwp/reports"
)

// trial is one play of a situation: its servers, its processes and what is recorded of them.
type trial struct {
	*recording
	ctx       context.Context //nolint:containedctx // of one play
	harness   *Harness
	situation *situation
	meter     *machine.Meter
	startTime time.Time

	servers  []*server
	programs []*program

	hookMu       sync.Mutex
	hooks        []func(*fakes.Event)
	acceptedJIDs map[string][]string // the jids of the jobs of a producer that the server has taken, by their names

	decisions []conformance.Decision
	isCertain map[string]bool // clauses that no lag of this machine explains to be broken
	isAwaited map[string]bool // clauses that are broken by what did not come in a long wait
	// times since the start of the recording
	brokenAt         map[string]time.Duration // when rules have found clauses broken
	stopReason       string                   // why the situation did not come about; empty if it did
	isTransient      bool                     // the reason may be that this machine was busy
	stopCode         reports.ReasonCode       // of stopReason; it may be empty
	isOrdinary       bool                     // it only finds out whether the program starts
	lackReason       string                   // what is not there that the situation needs; empty if nothing is
	lackCode         reports.ReasonCode       // of lackReason
	unjudgedBreaches []string                 // breaches that are none, since the process was to end at once
	handshakes       atomic.Int64             // that clients have begun
	// the file of the names of servers that programs see; empty: that of this machine
	hosts      string
	background sync.WaitGroup
	stopTicks  func()
}

// server is one server of the play.
type server struct {
	*fakes.Server
	listener *recordedListener // the latest
	mu       sync.Mutex
	process  int // that connects to it
}

func newTrial(ctx context.Context, h *Harness, s *situation, playSetup conformance.Setup) *trial {
	config := clientrules.Config{HasProcesses: true, Outcome: outcomeOf}
	if s.setup.server != nil {
		var c fakes.Config
		s.setup.server(&c)
		config.Password = c.Password
	}
	if h.takesQueues() {
		config.Queues = usualQueues
	}
	t := &trial{
		recording: newRecording(config, &h.memory, playSetup.WatchLine), ctx: ctx, harness: h, situation: s,
		meter:        playSetup.Meter,
		startTime:    time.Now(),
		acceptedJIDs: map[string][]string{}, isCertain: map[string]bool{}, isAwaited: map[string]bool{},
	}
	t.lagSince = t.lag
	t.hook(mend)
	t.addRules(lenientRules)
	t.hook(t.recordAccepted)
	t.addRules(s.setup.rules)
	tickCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	t.stopTicks = stop
	t.background.Go(func() { t.tick(tickCtx) })
	return t
}

// tick tells the rules once a second that time has passed.
func (t *trial) tick(ctx context.Context) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			t.passTime()
		case <-ctx.Done():
			return
		}
	}
}

// lag returns by how much this machine was late from a time on.
func (t *trial) lag(from time.Time) time.Duration {
	if t.meter == nil {
		return 0
	}
	return t.meter.Lag(from)
}

// play plays the situation. A stopPanic ends it early.
func (t *trial) play() {
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(stopPanic); !ok {
				panic(p)
			}
		}
	}()
	t.situation.play(t)
}

// stopPanic is the panic by which a play ends that cannot go on.
type stopPanic struct{}

// giveUp ends the play: the situation did not come about, for a reason that is transient if this machine may have been
// too busy.
func (t *trial) giveUp(transient bool, format string, args ...any) {
	t.stopReason, t.isTransient = fmt.Sprintf(format, args...), transient
	for _, p := range t.programs {
		t.watch(p, 0) // how the connections of one that has ended were closed is for the rules
	}
	panic(stopPanic{})
}

// leaveOut ends the play of a situation that needs what is not there.
func (t *trial) leaveOut(reason reports.ReasonCode, format string, args ...any) {
	t.lackReason, t.lackCode = fmt.Sprintf(format, args...), reason
	panic(stopPanic{})
}

// excuseEnd has a process that has ended not be judged by what it left behind: it was to end at once, or its supervisor
// helps.
func (t *trial) excuseEnd() {
	t.unjudgedBreaches = []string{
		clientrules.JobNotReported, clientrules.ClosedWithoutEnd, clientrules.EndWithJobs, clientrules.LineUnfinished,
	}
}

// end ends all processes and servers.
func (t *trial) end() {
	for _, p := range t.programs {
		if t.harness.IsSequential {
			p.endInOrder()
		}
		p.Kill()
		if l, ok := p.Process.(interface{ Leaks() bool }); ok && l.Leaks() {
			t.harness.note("it printed the password of its server; reports do not show it")
		}
		if p.input != nil {
			p.input.end()
		}
	}
	for _, s := range t.servers {
		s.Close()
	}
	if t.hosts != "" {
		_ = os.RemoveAll(filepath.Dir(t.hosts)) // nothing can be done about it
	}
	t.stopTicks()
	t.background.Wait()
	t.release()
}

// hook adds a hook to the servers.
func (t *trial) hook(act func(*fakes.Event)) {
	t.hookMu.Lock()
	defer t.hookMu.Unlock()
	t.hooks = append(t.hooks, act)
}

func (t *trial) runHooks(e *fakes.Event) {
	t.hookMu.Lock()
	hooks := t.hooks
	t.hookMu.Unlock()
	for _, act := range hooks {
		act(e)
	}
}

// The bounds of what a program can have the servers keep, in bytes: unfinished lines, one of them and those of all
// situations that are played at a time, and jobs.
const (
	maxLine       = 16 << 20
	maxUnfinished = 32 << 20
	maxStored     = 32 << 20
)

// retryAfterPlay is when jobs that have failed are tried again, unless the situation is about that: a slow worker would
// get them before the jobs that wait in its second queue.
func retryAfterPlay(int) time.Duration { return time.Hour }

// serve starts one more server.
func (t *trial) serve() *server {
	s := &server{process: len(t.servers) + 1}
	config := fakes.Config{
		Hook: t.runHooks, MaxLine: maxLine, MaxUnfinished: maxUnfinished, MaxStored: maxStored,
		Memory: &t.harness.memory.servers, RetryDelay: retryAfterPlay, Extension: fakes.Extension(t.harness.Extension),
	}
	if t.situation.setup.server != nil {
		t.situation.setup.server(&config)
	}
	addr := ""
	config.Listen = func() (net.Listener, error) {
		ln, err := t.harness.listen(addr, t.situation.setup.usesIPv6)
		if err != nil && addr == "" {
			return nil, t.notice(err)
		}
		if err != nil {
			return nil, err
		}
		addr = ln.Addr().String()
		s.listener = t.newListener(ln, s)
		return s.listener, nil
	}
	s.Server = fakes.NewUnstarted(config)
	if err := s.TryStart(); err != nil {
		t.giveUp(false, "the server of the situation could not be started: %v", err)
	}
	if t.situation.setup.usesTLS && len(t.servers) == 0 {
		t.remark("the URL requires TLS: %s", t.url(s))
	}
	t.servers = append(t.servers, s)
	return s
}

// notice ends the run if an error means that this process ran out of something, and returns it: what a program does
// then says nothing about it.
func (t *trial) notice(err error) error { return machine.Notice(t.ctx, err) }

// restart restarts the server of a process, and returns the time, which is behind all that was seen before.
func (t *trial) restart(p *program) time.Duration {
	t.remark("the server is restarted")
	from := t.now() + 1
	if err := p.server.Restart(); err != nil {
		t.giveUp(true, "%v", err) // another process may have taken the port
	}
	return from
}

// processNumber returns the number of the process that connects to the server, and setProcess sets it.
func (s *server) processNumber() int {
	return WithLock(&s.mu, func() int { return s.process })
}

func (s *server) setProcess(number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process = number
}

// secure returns what has a connection use TLS, nil if the situation has none.
func (t *trial) secure() func(net.Conn) net.Conn {
	if !t.situation.setup.usesTLS || t.harness.Certificate == nil {
		return nil
	}
	certificate := t.harness.Certificate
	if wrong := t.situation.setup.wrongCert; wrong != nil {
		replacement, err := wrong.create(certificate)
		if err != nil {
			t.giveUp(false, "no certificate could be made: %v", err)
		}
		certificate = replacement
	}
	config := &tls.Config{
		Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			t.handshakes.Add(1)
			if hello.ServerName == "" {
				t.harness.note("its TLS handshake has no name of the server (SNI): what serves several hosts at one address " +
					"cannot know which one is meant")
			}
			return nil, nil //nolint:nilnil // the configuration stays
		},
	}
	return func(nc net.Conn) net.Conn { return tls.Server(nc, config) }
}

// url returns the URL of a server for the program.
func (t *trial) url(s *server) string {
	u, err := url.Parse(s.URL())
	if err != nil { // the server has made it
		panic(err)
	}
	if t.hosts != "" {
		u.Host = net.JoinHostPort(serverName, u.Port())
	}
	if t.situation.setup.usesTLS {
		u.Scheme = "tcp+tls"
		if net.ParseIP(u.Hostname()) != nil { // another network has other names
			u.Host = net.JoinHostPort("localhost", u.Port())
		}
	}
	return u.String()
}
