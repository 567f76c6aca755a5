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
	number int
	server *server
	first  string // the verb of its first line
	stayed bool   // it, or what COMMAND had started, was there when it should have ended
	input  *input // of a producer, as is the next field
	given  []unit // the jobs that it was given
}

// options say how a process is started.
type options struct {
	concurrency int      // 2 if zero
	queues      []string // theQueues if nil
	// eager says that the play goes on before the first line of the process.
	eager  bool
	server *server // a new one if nil
	input  *input  // of a producer; nil: three ordinary jobs
	given  []unit  // the jobs in it
}

const usualConcurrency = 2

// theQueues are those of a worker, unless it has its own.
var theQueues = []string{"fwp-high", "fwp-low"}

// Queues returns those in the environment of a worker.
func Queues() []string { return slices.Clone(theQueues) }

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
	if o.input == nil && t.harness.Producer {
		o.given = ordinary(3)
		o.input = newInput(jsonOf(o.given)...)
		o.input.end()
	}
	p := &program{number: len(t.programs) + 1, server: s, input: o.input, given: o.given}
	s.setProcess(p.number)
	greets := t.awaitFirstLine
	if o.eager {
		greets = func(*program) error { return nil }
	}
	err := t.begin(p, t.environment(p, o), greets)
	if err != nil && p.Process != nil {
		t.doesNotStart(p, err)
	}
	return p, err
}

// begin starts a process in its environment, and waits until it has greeted: only so many may be starting at a time.
func (t *trial) begin(p *program, e Environment, greets func(*program) error) error {
	select {
	case t.harness.starts <- struct{}{}:
	case <-t.ctx.Done():
		return t.ctx.Err()
	}
	defer func() { <-t.harness.starts }()
	t.process(p.number, clientrules.Event{Kind: clientrules.Started, Told: e.Queues})
	if log := t.harness.Log; log != nil {
		e.Line = func(line string) { log.Line(fmt.Sprintf("%s %d", t.situation.id, p.number), line) }
	}
	var err error
	if p.Process, err = t.harness.Launcher.Launch(e); err != nil {
		return fmt.Errorf("start the command: %w", t.notice(err))
	}
	t.programs = append(t.programs, p)
	t.background.Go(func() {
		<-p.Over()
		t.process(p.number, clientrules.Event{Kind: clientrules.Exited, Code: p.Code()})
	})
	return greets(p)
}

func (t *trial) environment(p *program, o options) Environment {
	e := Environment{
		URL: t.url(p.server), Provider: t.situation.setup.provider, Queues: theQueues,
		Concurrency: cmp.Or(o.concurrency, usualConcurrency),
	}
	if o.queues != nil {
		e.Queues = o.queues
	}
	if t.situation.setup.tls {
		e.CA = t.harness.CA
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
		p.first = t.first(speaks).Verb()
		return nil
	}
	if t.ctx.Err() != nil {
		return t.ctx.Err()
	}
	return &NoClientError{t.whySilent(p), p.Output()}
}

var verbs = []string{
	fwp.HELLO, fwp.FLUSH, fwp.INFO, fwp.END, fwp.PUSH, fwp.FETCH, fwp.ACK, fwp.FAIL, fwp.BEAT,
}

// beginsWithVerb reports whether a line begins with a verb, whatever stands around that: a client that leaves out the
// space behind HELLO speaks the protocol, and speaks it wrong.
func beginsWithVerb(line []byte) bool {
	return slices.Contains(verbs, strings.ToUpper(clientrules.Verb(bytes.TrimSpace(line))))
}

// whySilent says how far a process got that sent no command.
func (t *trial) whySilent(p *program) string {
	var what string
	switch opened, line := t.count(p.events(ofKind(clientrules.Opened))), t.first(p.events(ofKind(clientrules.Line))); {
	case opened == 0:
		what = "it opened no connection"
	case line != nil:
		what = "the first line that it sent is not a command of the protocol: " + line.Moment().Text
	case opened == 1:
		what = "it opened a connection and sent no line"
	default:
		what = fmt.Sprintf("it opened %d connections and sent no line", opened)
	}
	select {
	case <-p.Over():
		if left := p.left(); len(left) > 0 {
			what += fmt.Sprintf("; what it had started (%s) still ran, and was killed: COMMAND has to stay in the foreground",
				pids(left))
		}
		return fmt.Sprintf("the command ended (%s) before it sent HELLO: %s", p.How(), what)
	default:
		return fmt.Sprintf("the command sent no HELLO within %v: %s", t.harness.patience, what)
	}
}

// signal sends a process a signal.
func (t *trial) signal(p *program, name string) {
	t.process(p.number, clientrules.Event{Kind: clientrules.Signalled, Signal: name})
	p.Signal(name)
}

func firstLine(s string) string {
	first, _, _ := strings.Cut(s, "\n")
	return strings.TrimSuffix(first, "; the last lines that it printed:")
}

// worksElsewhere ends the play of a program that does not work jobs without the situation either: what it does in it
// would say nothing.
func (t *trial) worksElsewhere() {
	if t.harness.observed.Works {
		return
	}
	if t.harness.Producer {
		t.giveUp(false, "the program failed the first test: to push three jobs and end with exit code 0. So missing "+
			"jobs prove nothing")
	}
	t.giveUp(false, "the program failed the first test: to acknowledge three jobs of type fwp.ok. So missing ACKs "+
		"prove nothing. Does it have this job type?")
}

// idlesElsewhere ends the play of a program that ends by itself when there are no jobs: its end in the situation would
// say nothing.
func (t *trial) idlesElsewhere() {
	if !t.harness.observed.Idles && t.harness.observed.First != "" {
		t.giveUp(false, "in the first test the program ended by itself when it had no jobs")
	}
}

// itWorks has the program work, or push, three jobs, decides a clause by whether it does, and reports that.
func (t *trial) itWorks(p *program, clause, expected string) bool {
	if t.harness.Producer {
		return t.itPushes(p, clause, expected)
	}
	t.worksElsewhere()
	missing := t.reported(p, soon, t.pushMany(3, "fwp.ok", "[1]")...)
	got := fmt.Sprintf("%d of 3 jobs were reported within %v; the worker %s", 3-len(missing), soon, t.ending(p))
	if len(missing) > 0 && !t.exited(p) && len(t.reported(p, seldomFetch, missing...)) == 0 {
		t.kept(clause) // how often it fetches is the subject of FWP-FETCH-11
		return true
	}
	t.holds(clause, len(missing) == 0, expected, got)
	return len(missing) == 0
}

// seldomFetch is how much longer a worker may take that fetches seldom.
const seldomFetch = 45 * time.Second

// playWorks returns a play that launches the program, has it work three jobs, and decides a clause by whether it does.
func playWorks(clause, expected string) func(*trial) {
	return func(t *trial) {
		t.worksElsewhere()
		p, err := t.start(options{})
		if err != nil && t.ctx.Err() == nil {
			t.holds(clause, false, expected, firstLine(err.Error()))
			return
		}
		t.itWorks(p, clause, expected)
	}
}
