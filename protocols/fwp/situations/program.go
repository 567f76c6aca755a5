package situations

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
)

// program is one process of the program under test.
type program struct {
	Process
	number    int
	server    *server
	firstVerb string // the verb of its first line
	hasStayed bool   // it, or what COMMAND had started, was there when it should have ended
	input     *input // of a producer, as is the next field
	jobs      []unit // the jobs that it was given
}

// options say how a process is started.
type options struct {
	concurrency int      // 2 if zero
	queues      []string // usualQueues if nil
	// isEager says that the play goes on before the first line of the process.
	isEager bool
	server  *server // a new one if nil
	input   *input  // of a producer; nil: three ordinary jobs
	jobs    []unit  // the jobs in it
}

const usualConcurrency = 2

// usualQueues are those of a worker, unless it has its own.
var usualQueues = []string{"fwp-high", "fwp-low"}

// Queues returns those in the environment of a worker.
func Queues() []string { return slices.Clone(usualQueues) }

// launch starts the program on a server of its own, and ends the play if it does not greet.
func (t *trial) launch(o options) *program {
	p, err := t.start(o)
	if err != nil {
		t.giveUp(true, "%s", firstLine(err.Error()))
	}
	return p
}

// start starts the program and waits until its first line was received. The error is a *NoClientError if it does not
// get there.
func (t *trial) start(o options) (*program, error) {
	s := o.server
	if s == nil {
		s = t.serve()
	}
	if o.input == nil && t.harness.IsProducer {
		o.jobs = ordinaryUnits(3)
		o.input = newInput(jsonOf(o.jobs)...)
		o.input.end()
	}
	p := &program{number: len(t.programs) + 1, server: s, input: o.input, jobs: o.jobs}
	s.setProcess(p.number)
	awaitGreeting := t.awaitFirstLine
	if o.isEager {
		awaitGreeting = func(*program) error { return nil }
	}
	err := t.begin(p, t.environment(p, o), awaitGreeting)
	if err != nil && p.Process != nil {
		t.judgeStartFailure(p, err)
	}
	return p, err
}

// begin starts a process in its environment, and waits until it has greeted: only so many may be starting at a time.
func (t *trial) begin(p *program, e Environment, awaitGreeting func(*program) error) error {
	select {
	case t.harness.startTokens <- struct{}{}:
	case <-t.ctx.Done():
		return t.ctx.Err()
	}
	defer func() { <-t.harness.startTokens }()
	t.process(p.number, clientrules.Event{Kind: clientrules.ProcessStart, ProcessQueues: e.Queues})
	if log := t.harness.Log; log != nil {
		e.Line = func(line string) { log.Line(fmt.Sprintf("%s %d", t.situation.id, p.number), line) }
	}
	var err error
	if p.Process, err = t.harness.Launcher.Launch(e); err != nil {
		return fmt.Errorf("start the command: %w", t.notice(err))
	}
	t.programs = append(t.programs, p)
	t.background.Go(func() {
		<-p.Done()
		t.process(p.number, clientrules.Event{Kind: clientrules.ProcessExit, Code: p.Code()})
	})
	return awaitGreeting(p)
}

func (t *trial) environment(p *program, o options) Environment {
	e := Environment{
		URL: t.url(p.server), UsesProvider: t.situation.setup.usesProvider, Queues: usualQueues,
		Concurrency: cmp.Or(o.concurrency, usualConcurrency),
	}
	if o.queues != nil {
		e.Queues = o.queues
	}
	if t.situation.setup.usesTLS {
		e.CA = t.harness.CA
	}
	if e.Zone = t.situation.setup.zone; e.Zone != "" {
		t.remark("the program starts with TZ=%s", e.Zone)
	}
	if o.input != nil {
		e.Input = o.input
	}
	if t.hosts != "" {
		t.resolve(p.server, true)
		e.Hosts = t.hosts
	}
	return e
}

// awaitFirstLine waits for the first command of a process.
func (t *trial) awaitFirstLine(p *program) error {
	speaks := p.events(func(e *clientrules.Event) bool { return e.Kind == clientrules.Line && beginsWithVerb(e.Raw) })
	if t.await(p, t.harness.patience, speaks) {
		p.firstVerb = t.first(speaks).Verb()
		return nil
	}
	if t.ctx.Err() != nil {
		return t.ctx.Err()
	}
	return &NoClientError{t.silenceReason(p), p.Output()}
}

var verbs = []string{
	fwp.HELLO, fwp.FLUSH, fwp.INFO, fwp.END, fwp.PUSH, fwp.FETCH, fwp.ACK, fwp.FAIL, fwp.BEAT,
}

// beginsWithVerb reports whether a line begins with a verb, whatever stands around that: a client that leaves out the
// space behind HELLO speaks the protocol, and speaks it wrong.
func beginsWithVerb(line []byte) bool {
	return slices.Contains(verbs, strings.ToUpper(clientrules.Verb(bytes.TrimSpace(line))))
}

// silenceReason says how far a process got that sent no command.
func (t *trial) silenceReason(p *program) string {
	var reason string
	switch opened, line := t.count(p.events(eventsOfKind(clientrules.ConnOpen))),
		t.first(p.events(eventsOfKind(clientrules.Line))); {
	case opened == 0:
		reason = "it opened no connection"
	case line != nil:
		reason = "the first line that it sent is not a command of the protocol: " + line.Moment().Text
	case opened == 1:
		reason = "it opened a connection and sent no line"
	default:
		reason = fmt.Sprintf("it opened %d connections and sent no line", opened)
	}
	select {
	case <-p.Done():
		if leftovers := p.leftovers(); len(leftovers) > 0 {
			reason += fmt.Sprintf("; what it had started (%s) still ran, and was killed: COMMAND has to stay in the foreground",
				joinPIDs(leftovers))
		}
		return fmt.Sprintf("the command ended (%s) before it sent HELLO: %s", p.ExitStatus(), reason)
	default:
		return fmt.Sprintf("the command sent no HELLO within %v: %s", t.harness.patience, reason)
	}
}

// signal sends a process a signal.
func (t *trial) signal(p *program, name string) {
	t.process(p.number, clientrules.Event{Kind: clientrules.ProcessSignal, Signal: name})
	p.Signal(name)
}

func firstLine(s string) string {
	first, _, _ := strings.Cut(s, "\n")
	return strings.TrimSuffix(first, "; the last lines that it printed:")
}

// requireWork ends the play of a program that does not work jobs without the situation either: what it does in it
// would say nothing.
func (t *trial) requireWork() {
	if t.harness.observation.Works {
		return
	}
	if t.harness.IsProducer {
		t.giveUp(false, "the program failed the first test: to push three jobs and end with exit code 0. So missing "+
			"jobs prove nothing")
	}
	t.giveUp(false, "the program failed the first test: to acknowledge three jobs of type fwp.ok. So missing ACKs "+
		"prove nothing. Does it have this job type?")
}

// requireIdling ends the play of a program that ends by itself when there are no jobs: its end in the situation would
// say nothing.
func (t *trial) requireIdling() {
	if !t.harness.observation.Idles && t.harness.observation.FirstVerb != "" {
		t.giveUp(false, "in the first test the program ended by itself when it had no jobs")
	}
}

// judgeWork has the program work, or push, three jobs, decides a clause by whether it does, and reports that.
func (t *trial) judgeWork(p *program, clause, expected string) bool {
	if t.harness.IsProducer {
		return t.judgePushes(p, clause, expected)
	}
	t.requireWork()
	missing := t.awaitReports(p, quickPatience, t.pushMany(3, "fwp.ok", "[1]")...)
	got := fmt.Sprintf("%d of 3 jobs were reported within %v; the worker %s", 3-len(missing), quickPatience, t.ending(p))
	if len(missing) > 0 && !t.hasExited(p) && len(t.awaitReports(p, slowFetchPatience, missing...)) == 0 {
		t.decideHeld(clause) // how often it fetches is the subject of FWP-FETCH-11
		return true
	}
	t.decide(clause, len(missing) == 0, expected, got)
	return len(missing) == 0
}

// slowFetchPatience is how much longer a worker may take that fetches seldom.
const slowFetchPatience = 45 * time.Second

// playWorks returns a play that launches the program, has it work three jobs, and decides a clause by whether it does.
func playWorks(clause, expected string) func(*trial) {
	return func(t *trial) {
		t.requireWork()
		p, err := t.start(options{})
		if err != nil && t.ctx.Err() == nil {
			t.decide(clause, false, expected, firstLine(err.Error()))
			return
		}
		t.judgeWork(p, clause, expected)
	}
}
