package situations

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// Harness tests one program. Launcher must be set; the zero value of everything else works. It is used for one run.
type Harness struct {
	Launcher Launcher
	// Listen opens the listener of the nth server; nil means a free port of the loopback interface, IPv6 or not.
	// ListenAgain opens it again where it was, after a restart of the server.
	Listen      func(ipv6 bool) (net.Listener, error)
	ListenAgain func(addr string) (net.Listener, error)
	// Dial connects to such a listener; nil: over the network of the machine.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Certificate is that of servers with TLS for localhost, and CA the path of a file with it, for the program. Nil:
	// situations with TLS are inconclusive.
	Certificate *tls.Certificate
	CA          string
	// Patience is how long a program may take from its start to its first line. If zero, the first start may take 90 s,
	// and later ones 30 s, or four times what the first took.
	Patience time.Duration
	// Grace is when a program is killed after SIGTERM, as a platform does; zero: not before the situation is over.
	Grace time.Duration
	// IsSequential says that one situation is played after the other: each process is ended in order then, before it is
	// killed, and two run at a time only where a situation needs that.
	IsSequential bool
	// Log gets each line that the program prints; it may be nil.
	Log *target.Log
	// Extension is what the played servers have beyond the specification; empty: nothing.
	Extension string
	// IsProducer says that the program is a producer.
	IsProducer bool
	// OtherProtocol is that of the program; nil: FWP.
	OtherProtocol *OtherProtocol

	setUpOnce   sync.Once
	startTokens chan struct{} // a token for each process that may be starting
	patience    time.Duration // for a start
	observation Observation
	memory      memory

	mu              sync.Mutex
	peakConcurrency int // the largest number of jobs that a process was seen to run at a time
	findings        map[finding]*findingState
	ends            map[string]processEnd // by situation
	remarks         []string              // for the report
	storm           storm                 // of all outages

	startFailures   startFailures
	executors       int  // jobs that a worker ran at a time in the first test; 0: not known
	readsWholeInput bool // a producer reads its input to the end before it pushes
}

// startPatience is how long a start may take at least. The first one, of which nothing is known, may take
// firstStartFactor times that, and others laterStartFactor times what the first took: they are not alone.
const (
	startPatience    = 30 * time.Second
	firstStartFactor = 3
	laterStartFactor = 4
)

// Observation is what [Harness.Identify] has seen.
type Observation struct {
	FirstVerb string   // the verb of the first line of the program
	Queues    []string // that it fetches from
	// it acknowledges jobs of type fwp.ok; a producer has pushed its jobs, and ended with exit code 0
	Works            bool
	Idles            bool   // it does not end when there are no jobs
	UnknownTypeError string // what says that it does not know the type fwp.ok, of its first job: "KeyError: 'fwp.ok'"
}

// TakesQueues reports whether a worker fetches from a queue that it was told.
func (o Observation) TakesQueues() bool { return !areDisjoint(o.Queues, usualQueues) }

// takesQueues reports whether the program is known to take the queues that it is told.
func (h *Harness) takesQueues() bool { return h.observation.TakesQueues() || h.Launcher.Sets("queues") }

func (h *Harness) setUp() {
	h.setUpOnce.Do(func() {
		h.startTokens = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)))
		h.findings, h.ends = map[finding]*findingState{}, map[string]processEnd{}
		if h.patience = h.Patience; h.patience <= 0 {
			h.patience = startPatience
		}
	})
}

// Checks returns a check for each situation of the tables.
func (h *Harness) Checks() []conformance.Check {
	h.setUp()
	all := workerSituations()
	switch {
	case h.OtherProtocol != nil:
		all = h.OtherProtocol.situations()
	case h.IsProducer:
		if all = producerSituations(); fakes.Extension(h.Extension) == fakes.Faktory {
			all = append(all, bulkSituations()...)
		}
	}
	checks := make([]conformance.Check, len(all))
	for i := range all {
		checks[i] = check{&all[i], h}
	}
	return checks
}

// check is one situation for one program.
type check struct {
	situation *situation
	harness   *Harness
}

// Describe implements conformance.Check.
func (c check) Describe() conformance.Description {
	return c.situation.describe(c.harness.protocol().Prefix)
}

// Play implements conformance.Check.
func (c check) Play(ctx context.Context, playSetup conformance.Setup) conformance.Evidence {
	c.harness.setUp()
	t := newTrial(ctx, c.harness, c.situation, playSetup)
	defer t.end()
	t.play()
	return t.evidence()
}

// NoServer is what a run.Runner needs in place of a server: it has no connections of its own.
type NoServer struct{}

// Dial fails.
func (NoServer) Dial(context.Context) (net.Conn, error) {
	return nil, errors.New("the target is a client")
}

var _ play.Target = NoServer{}

// NoClientError reports that the program under test did not greet.
type NoClientError struct {
	Reason string
	Output []string // the last lines that it printed
}

func (e *NoClientError) Error() string {
	if len(e.Output) == 0 {
		return e.Reason + "; it printed nothing"
	}
	return e.Reason + "; the last lines that it printed:\n  " + strings.Join(e.Output, "\n  ")
}

// Identify starts the program once and waits for its first command. The error is a [NoClientError] if none comes.
func (h *Harness) Identify(ctx context.Context) (Observation, error) {
	h.setUp()
	t := newTrial(ctx, h, &situation{id: "identify"}, conformance.Setup{})
	defer t.end()
	if h.Patience <= 0 {
		h.patience = firstStartFactor * startPatience
	}
	from := time.Now()
	if h.OtherProtocol != nil {
		return h.identifySide(t, from)
	}
	if h.IsProducer {
		return h.identifyProducer(t, from)
	}
	p, err := t.start(options{})
	if err != nil {
		return Observation{}, err
	}
	h.learnPatience(from)
	h.observation.FirstVerb = p.firstVerb
	t.noteWID(p)
	if fetches := p.lines(fwp.FETCH); t.await(p, fetchPatience, fetches) {
		h.observation.Queues = t.first(fetches).Queues()
	}
	jids := t.pushMany(3, "fwp.ok", "[1]")
	t.awaitReports(p, fetchPatience, jids...)
	if h.observation.UnknownTypeError = t.unknownTypeError(p, jids[0]); h.observation.UnknownTypeError != "" {
		return h.observation, ctx.Err()
	}
	h.executors = t.countExecutors(p)
	t.watch(p, idleTime)
	h.observation.Idles = !t.hasExited(p)
	h.observation.Works = !slices.ContainsFunc(jids, func(jid string) bool {
		report := t.reportOf(jid)
		return report == nil || report.Verb() != fwp.ACK
	})
	return h.observation, ctx.Err()
}

// unknownTypeError returns what the FAIL of the first job says, a job of type fwp.ok, if the worker fails one of a type
// that no worker knows in the same way, or the last line that it printed, if it ended with one that names the type;
// else nothing.
func (t *trial) unknownTypeError(p *program, jid string) string {
	if lines := p.Output(); t.reportOf(jid) == nil && t.hasExited(p) && len(lines) > 0 {
		if last := lines[len(lines)-1]; strings.Contains(last, "fwp.ok") {
			return fmt.Sprintf("%.200s", last)
		}
	}
	if t.failText(jid, "fwp.ok") == "" {
		return ""
	}
	unknownJID := t.push(job{jobtype: unknownType})
	if t.awaitReports(p, quickPatience, unknownJID); !t.failsLike(jid, "fwp.ok", unknownJID) {
		return ""
	}
	report := t.reportOf(jid)
	words := strings.Fields(report.Text("errtype") + ": " + report.Text("message"))
	return strings.Trim(fmt.Sprintf("%.200s", strings.Join(words, " ")), ": ")
}

// learnPatience sets how long later starts may take, from when the first one began.
func (h *Harness) learnPatience(from time.Time) {
	if h.Patience <= 0 {
		h.patience = max(startPatience, laterStartFactor*time.Since(from))
	}
}

// fetchPatience is how long a worker may take from its HELLO to its first FETCH, and idleTime how long it has no jobs
// at the start: longer than a FETCH waits.
const (
	fetchPatience = 10 * time.Second
	idleTime      = 3 * time.Second
)

// protocol returns that of the program.
func (h *Harness) protocol() *conformance.Suite {
	if h.OtherProtocol != nil {
		return h.OtherProtocol.Protocol
	}
	return fwpsuite.Protocol()
}

// dial connects to a listener.
func (h *Harness) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if h.Dial != nil {
		return h.Dial(ctx, network, addr)
	}
	return new(net.Dialer).DialContext(ctx, network, addr)
}

// listen opens a listener where a server has listened before, or of a new one if the address is empty.
func (h *Harness) listen(addr string, ipv6 bool) (net.Listener, error) {
	switch {
	case addr == "" && h.Listen != nil:
		return h.Listen(ipv6)
	case addr != "" && h.ListenAgain != nil:
		return h.ListenAgain(addr)
	case addr == "" && ipv6:
		addr = "[::1]:0"
	case addr == "":
		addr = "127.0.0.1:0"
	}
	ln, err := new(net.ListenConfig).Listen(context.Background(), "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	return ln, nil
}
