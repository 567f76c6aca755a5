package situations

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
)

// outage is one kind of outage that begins at one moment: a situation.
type outage struct {
	kind   outageKind
	moment outageMoment
}

// outageKind is what a program meets with while its server is away.
type outageKind struct {
	name, title string
	meets       string // "refused connect"
	there       fate   // of the connections that are there at the beginning
	opened      fate   // of those that are opened meanwhile
	unnamed     bool   // the name of the server does not resolve
	common      bool   // a quick run has it
}

// outageKinds returns all of them.
func outageKinds() []outageKind {
	return []outageKind{
		{"refused", "nothing listens", "refused connect", hungUp, refused, false, true},
		{"closed", "the server closes every connection", "closed connection", reset, hungUp, false, false},
		{"silent", "the server accepts connections and sends nothing", "missing greeting", hungUp, silent, false, true},
		{"stalled", "the server sends nothing, and then continues", "missing reply", late, late, false, false},
		{"reset", "the server resets every connection", "reset connection", reset, reset, false, false},
		{"unanswered", "the address of the server does not answer", "missing reply", silent, unanswered, false, false},
		{"unresolved", "the name of the server does not resolve", "unknown name", hungUp, untouched, true, false},
		{"slow", "the server is slow to accept connections", "late greeting", hungUp, late, false, false},
	}
}

// isObserved reports whether what a program does behind the outage is only observed: behind an address that does not
// answer it is its operating system that decides when a connect is tried again.
func (o outage) isObserved() bool { return o.kind.opened == unanswered }

// outageMoment is when an outage begins.
type outageMoment struct {
	name, title string // the title goes on from "a client that"
	wait        int    // in seconds, until it begins
	common      bool   // a quick run has it
	alone       bool   // of the connections that are there, it is an outage of one
	// begin brings a program to the moment.
	begin func(*trial, outage) onset
}

// onset is a program at the moment at which an outage begins.
type onset struct {
	program *program
	held    []string // jobs in its hand
	begun   func()   // has the server go on that has stopped at a step; nil: it has not
}

// workerMoments returns those of workers.
func workerMoments() []outageMoment {
	return []outageMoment{
		{"idle", "waits in FETCH", 2, true, false, (*trial).beginIdle},
		{"busy", "runs jobs", 1, true, false, (*trial).beginBusy},
		{"heartbeat", "sends a BEAT (only that connection is affected)", 17, false, true, func(t *trial, o outage) onset {
			return t.stopAt(o, 1, fakes.Checked, fwp.BEAT, beatPatience, t.beginIdle(o).program)
		}},
		{"connect", "connects for the first time", 0, false, false, stoppedAt(1, fakes.Accepted, "")},
		{"hello", "sends its first HELLO", 0, false, false, stoppedAt(1, fakes.Checked, fwp.HELLO)},
	}
}

// producerMoments returns those of producers.
func producerMoments() []outageMoment {
	return []outageMoment{
		{"first", "connects for its first PUSH", 0, false, false, stoppedAt(1, fakes.Accepted, "")},
		{"between", "has pushed three jobs and gets more", 0, true, false, (*trial).beginBetween},
		{"awaited", "waits for the reply to a PUSH", 0, true, false, stoppedAt(2, fakes.Checked, fwp.PUSH)},
	}
}

// outageTime is how long an outage takes.
const outageTime = 10 * time.Second

// outageSituations returns a situation for each pair of a kind and a moment.
func outageSituations(moments []outageMoment, clauses, observed string, play func(outage, *trial)) (all []situation) {
	for _, k := range outageKinds() {
		for _, m := range moments {
			o := outage{k, m}
			s := situation{
				id: "outage/" + k.name + "-" + m.name, clauses: clauses, wait: m.wait + int(outageTime.Seconds()) + 2,
				title: "a client that " + m.title + " works as before after 10 s in which " + k.title,
				play:  func(t *trial) { play(o, t) },
				setup: setup{server: retriesSoon, quick: k.common && m.common},
			}
			if o.isObserved() {
				s.clauses, s.setup.untimed = observed, true
			}
			if s.id == "outage/closed-busy" {
				s.id = "loss/outage" // names of situations stay
			}
			all = append(all, s)
		}
	}
	return all
}

// beginIdle starts a worker that has run as many jobs at a time as it does, and waits for others.
func (t *trial) beginIdle(outage) onset {
	p := t.launch(options{})
	t.reported(p, soon, t.pushMany(2*usualConcurrency, "fwp.sleep", "[1]")...)
	t.watch(p, time.Second)
	return onset{program: p}
}

// beginBusy starts a worker that has jobs which end in the outage. Those that it does not report come back a minute
// after their delivery.
func (t *trial) beginBusy(outage) onset {
	p := t.launch(options{})
	one := job{jobtype: "fwp.sleep", args: "[4]", more: `,"reserve_for":60`}
	jids := t.pushAll(slices.Repeat([]job{one}, usualConcurrency)...)
	t.mustTake(jids...)
	t.watch(p, timeToRead) // a report that is sent too early comes before the loss
	return onset{program: p, held: jids}
}

// beginBetween starts a producer that has pushed jobs, and has more of them.
func (t *trial) beginBetween(outage) onset {
	p := t.produceOpen(options{}, ordinary(3)...)
	t.mustPush(p)
	return onset{program: p, begun: func() { t.giveMore(p, ordinary(3)...) }}
}

// stoppedAt begins an outage at the nth step of a new program's server at a point of a verb.
func stoppedAt(n int64, point fakes.Point, verb string) func(*trial, outage) onset {
	return func(t *trial, o outage) onset { return t.stopAt(o, n, point, verb, t.harness.patience, nil) }
}

// stopAt has the server stop at the nth step at a point of a verb, until the outage has begun. The command is not
// carried out, unless it is answered behind the outage.
func (t *trial) stopAt(
	o outage, n int64, point fakes.Point, verb string, patience time.Duration, p *program,
) onset {
	reached, begun := make(chan struct{}), make(chan struct{})
	var count atomic.Int64
	t.hook(func(e *fakes.Event) {
		if e.Point != point || e.Command.Verb != verb || count.Add(1) != n {
			return
		}
		close(reached)
		select {
		case <-begun:
			e.Skip = e.Skip || point == fakes.Checked && o.kind.there != late
		case <-e.Conn.Done:
		}
	})
	switch {
	case p != nil:
	case t.harness.Producer: // its input stays open: it gets more jobs behind the outage
		p = t.produceOpen(options{eager: true}, ordinary(3)...)
	default:
		p = t.launch(options{eager: true})
	}
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case <-reached:
	case <-p.Over():
		t.giveUp(true, "the program ended (%s) before the outage", p.How())
	case <-timeout.C:
		t.giveUp(true, "the moment for the outage did not come within %v", patience)
	case <-t.ctx.Done():
		t.giveUp(true, "the run ended")
	}
	return onset{program: p, begun: func() { close(begun) }}
}

// playOutage plays an outage of the server of a worker.
func playOutage(o outage, t *trial) {
	t.worksElsewhere()
	at, from := o.strike(t)
	p := at.program
	opened := t.count(after(from, ofKind(clientrules.Opened)))
	if !t.exited(p) && !o.isObserved() {
		t.holds("WRK-05", true, "", fmt.Sprintf("it opened %d connections in these 10 s", opened))
	}
	t.recovers(p, recovery{atATime: t.atATime(p), outage: &o, from: from}, at.held...)
}

// playProducerOutage plays an outage of the server of a producer.
func playProducerOutage(o outage, t *trial) {
	t.worksElsewhere()
	at, from := o.strike(t)
	p := at.program
	if !t.exited(p) {
		t.giveMore(p, ordinary(2)...)
	}
	if !t.ends(p, endPatience) && o.isObserved() {
		t.holds("WRK-06", true, "", fmt.Sprintf("%v after the end of the outage it still tries", endPatience))
		return
	}
	t.mustEnd(p)
	t.holds("WRK-06", true, "", fmt.Sprintf("%s; it ended with %s, %.0f s after the start of the outage",
		notPushed(p, t.notAccepted(p)), p.How(), (t.endOf(p)-from).Seconds()))
	t.notLost(p)
}

// strike plays the outage from its beginning to its end, which is when the program ends, if it does.
func (o outage) strike(t *trial) (at onset, from time.Duration) {
	if o.kind.unnamed {
		t.nameServers()
	}
	at = o.moment.begin(t, o)
	only := 0
	if o.moment.alone {
		only = t.last(at.program.lines(fwp.BEAT)).Conn
	}
	from = t.now()
	over := t.away(at.program.server, o.kind, only)
	if at.begun != nil {
		at.begun()
	}
	t.watch(at.program, outageTime)
	over()
	return at, from
}

// away begins an outage of a kind, and returns what ends it.
func (t *trial) away(s *server, k outageKind, only int) (over func()) {
	t.remark("an outage begins: %s", k.title)
	if k.unnamed {
		t.resolve(s, false)
	}
	d, err := s.listener.disrupt(k.there, k.opened, only)
	if err != nil {
		t.leaveOut("needs-silence", "this machine cannot provide an address that does not answer: %v", err)
	}
	return func() {
		if k.unnamed {
			t.resolve(s, true)
		}
		if err := s.listener.restore(d); err != nil {
			t.giveUp(true, "%v", err) // another process may have taken the port
		}
		t.remark("the outage is over")
	}
}
