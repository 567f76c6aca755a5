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
	name, title  string
	encounter    string // "refused connect"
	connFate     fate   // of the connections that are there at the beginning
	newConnFate  fate   // of those that are opened meanwhile
	isUnresolved bool   // the name of the server does not resolve
	isQuick      bool   // a quick run has it
}

// outageKinds returns all of them.
func outageKinds() []outageKind {
	return []outageKind{
		{"refused", "nothing listens", "refused connect", fateClose, fateRefusal, false, true},
		{"closed", "the server closes every connection", "closed connection", fateReset, fateClose, false, false},
		{"silent", "the server accepts connections and sends nothing", "missing greeting", fateClose, fateSilence, false,
			true},
		{"stalled", "the server sends nothing, and then continues", "missing reply", fateDelay, fateDelay, false, false},
		{"reset", "the server resets every connection", "reset connection", fateReset, fateReset, false, false},
		{"unanswered", "the address of the server does not answer", "missing reply", fateSilence, fateNoAnswer, false, false},
		{"unresolved", "the name of the server does not resolve", "unknown name", fateClose, fateNone, true, false},
		{"slow", "the server is slow to accept connections", "late greeting", fateClose, fateDelay, false, false},
	}
}

// isObserved reports whether what a program does behind the outage is only observed: behind an address that does not
// answer it is its operating system that decides when a connect is tried again.
func (o outage) isObserved() bool { return o.kind.newConnFate == fateNoAnswer }

// outageMoment is when an outage begins.
type outageMoment struct {
	name, title    string // the title goes on from "a client that"
	wait           int    // in seconds, until it begins
	isQuick        bool   // a quick run has it
	affectsOneConn bool   // of the connections that are there, it is an outage of one
	endsInput      bool   // the jobs of a producer end in it
	// begin brings a program to the moment.
	begin func(*trial, outage) onset
}

// onset is a program at the moment at which an outage begins.
type onset struct {
	program *program
	jids    []string // jobs in its hand
	release func()   // has the server go on that has stopped at a step; nil: it has not
}

// workerMoments returns those of workers.
func workerMoments() []outageMoment {
	return []outageMoment{
		{"idle", "waits in FETCH", 2, true, false, false, (*trial).beginIdle},
		{"busy", "runs jobs", 1, true, false, false, (*trial).beginBusy},
		{"heartbeat", "sends a BEAT (only that connection is affected)", 17, false, true, false,
			func(t *trial, o outage) onset {
				return t.stopServerAt(o, 1, fakes.Checked, fwp.BEAT, beatPatience, t.beginIdle(o).program)
			}},
		{"connect", "connects for the first time", 0, false, false, false, beginAtStep(1, fakes.Accepted, "")},
		{"hello", "sends its first HELLO", 0, false, false, false, beginAtStep(1, fakes.Checked, fwp.HELLO)},
	}
}

// producerMoments returns those of producers.
func producerMoments() []outageMoment {
	return []outageMoment{
		{"first", "connects for its first PUSH", 0, false, false, false, beginAtStep(1, fakes.Accepted, "")},
		{"between", "has pushed three jobs and gets more", 0, true, false, false, (*trial).beginBetween},
		{"last", "has pushed three jobs, and gets its last ones in it,", 0, true, false, true, (*trial).beginBetween},
		{"awaited", "waits for the reply to a PUSH", 0, true, false, false, beginAtStep(2, fakes.Checked, fwp.PUSH)},
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
				setup: setup{server: setShortRetry, isQuick: k.isQuick && m.isQuick},
			}
			if o.isObserved() {
				s.clauses, s.setup.ignoresTimes = observed, true
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
	t.awaitReports(p, quickPatience, t.pushMany(2*usualConcurrency, "fwp.sleep", "[1]")...)
	t.watch(p, time.Second)
	return onset{program: p}
}

// beginBusy starts a worker that has jobs which end in the outage. Those that it does not report come back a minute
// after their delivery.
func (t *trial) beginBusy(outage) onset {
	p := t.launch(options{})
	sleepJob := job{jobtype: "fwp.sleep", args: "[4]", members: `,"reserve_for":60`}
	jids := t.pushAll(slices.Repeat([]job{sleepJob}, usualConcurrency)...)
	t.mustTake(jids...)
	t.watch(p, timeToRead) // a report that is sent too early comes before the loss
	return onset{program: p, jids: jids}
}

// beginBetween starts a producer that has pushed jobs, and has more of them.
func (t *trial) beginBetween(o outage) onset {
	p := t.produceOpen(options{}, ordinaryUnits(3)...)
	t.mustPush(p)
	return onset{program: p, release: func() {
		t.addJobs(p, ordinaryUnits(3)...)
		if o.moment.endsInput {
			p.input.end()
		}
	}}
}

// beginAtStep begins an outage at the nth step of a new program's server at a point of a verb.
func beginAtStep(n int64, point fakes.Point, verb string) func(*trial, outage) onset {
	return func(t *trial, o outage) onset { return t.stopServerAt(o, n, point, verb, t.harness.patience, nil) }
}

// stopServerAt has the server stop at the nth step at a point of a verb, until the outage has begun. The command is not
// carried out, unless it is answered behind the outage.
func (t *trial) stopServerAt(
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
			e.Skip = e.Skip || point == fakes.Checked && o.kind.connFate != fateDelay
		case <-e.Conn.Done:
		}
	})
	switch {
	case p != nil:
	case t.harness.IsProducer: // its input stays open: it gets more jobs behind the outage
		p = t.produceOpen(options{isEager: true}, ordinaryUnits(3)...)
	default:
		p = t.launch(options{isEager: true})
	}
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case <-reached:
	case <-p.Done():
		t.giveUp(true, "the program ended (%s) before the outage", p.ExitStatus())
	case <-timeout.C:
		t.giveUp(true, "the moment for the outage did not come within %v", patience)
	case <-t.ctx.Done():
		t.giveUp(true, "the run ended")
	}
	return onset{program: p, release: func() { close(begun) }}
}

// playOutage plays an outage of the server of a worker.
func playOutage(o outage, t *trial) {
	t.requireWork()
	at, from := o.execute(t)
	p := at.program
	opened := t.count(eventsAfter(from, eventsOfKind(clientrules.ConnOpen)))
	if !t.hasExited(p) && !o.isObserved() {
		t.decide("WRK-05", true, "", fmt.Sprintf("it opened %d connections in these 10 s", opened))
	}
	t.judgeRecovery(p, recovery{concurrency: t.peakConcurrency(p), outage: &o, from: from}, at.jids...)
}

// playProducerOutage plays an outage of the server of a producer.
func playProducerOutage(o outage, t *trial) {
	t.requireWork()
	at, from := o.execute(t)
	p := at.program
	if !t.hasExited(p) && !o.moment.endsInput {
		t.addJobs(p, ordinaryUnits(2)...)
	}
	if !t.awaitEnd(p, endPatience) && o.isObserved() {
		t.decide("WRK-06", true, "", fmt.Sprintf("%v after the end of the outage it still tries", endPatience))
		return
	}
	t.mustEnd(p)
	t.decide("WRK-06", true, "", fmt.Sprintf("%s; it ended with %s, %.0f s after the start of the outage",
		pushText(p, t.missingJobs(p)), p.ExitStatus(), (t.endOf(p)-from).Seconds()))
	t.judgeLoss(p)
}

// execute plays the outage from its beginning to its end, which is when the program ends, if it does.
func (o outage) execute(t *trial) (at onset, from time.Duration) {
	if o.kind.isUnresolved {
		t.nameServers()
	}
	at = o.moment.begin(t, o)
	number := 0
	if o.moment.affectsOneConn {
		number = t.last(at.program.lines(fwp.BEAT)).Conn
	}
	from = t.now()
	restore := t.beginOutage(at.program.server, o.kind, number)
	if at.release != nil {
		at.release()
	}
	t.watch(at.program, outageTime)
	t.noteStorm(from)
	restore()
	return at, from
}

// beginOutage begins an outage of a kind, and returns what ends it.
func (t *trial) beginOutage(s *server, k outageKind, number int) (restore func()) {
	t.remark("an outage begins: %s", k.title)
	if k.isUnresolved {
		t.resolve(s, false)
	}
	d, err := s.listener.disrupt(k.connFate, k.newConnFate, number)
	if err != nil {
		t.leaveOut("needs-silence", "this machine cannot provide an address that does not answer: %v", err)
	}
	return func() {
		if k.isUnresolved {
			t.resolve(s, true)
		}
		if err := s.listener.restore(d); err != nil {
			t.giveUp(true, "%v", err) // another process may have taken the port
		}
		t.remark("the outage is over")
	}
}
