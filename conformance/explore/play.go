package explore

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/standstill"
	"github.com/fwpsuite/fwp/internal/target/forward"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// playthrough is one playing of steps on a server, with a law of its own.
type playthrough struct {
	*config
	names
	terms         law.Terms
	law           Law
	pusher        law.Pusher // the law, if the server sends messages that answer no command; else nil
	conns         map[int]*conn
	sightings     []sighting
	replies       []reply  // what each step was answered with
	events        *[]event // what clients saw on connections; nil: it is not kept
	step          int      // the one that is being played
	cover         *Coverage
	commands      int
	limit         int  // connections that the server serves at a time; zero if no limit was met
	limitHits     int  // how often that limit was met
	declines      bool // introductions are declined, and not because of the number of clients
	isTrial       bool // it only looks for a limit
	isDead        bool
	lostReason    string                  // why it is dead although no server need have ended; else empty
	closes        []time.Time             // when the server ended the last connections that it may end
	outage        *play.Outage            // it is dead only in that nothing is known of it: it serves again
	hasServed     bool                    // some command was answered
	lapsed        []string                // the rules of the grammar that messages broke which were read all the same
	hurries       func(*playthrough) bool // nothing is to be awaited any more that cannot come; nil: never
	isStalled     bool                    // that was the case
	skipsVainWait bool                    // the step does not wait for a reply that cannot come
	isMute        bool                    // a new connection got no reply within the timeout
	unserved      scenarios.Role          // that of the new connection that got no reply last
	isRefusing    bool                    // new connections were refused when the time was over
	looks         standstill.Looks        // what was seen when a new connection was not served
	isSplit       bool                    // the line that is being played came in segments
	last          string                  // the clause of what was sent last
	inFlight      []string                // the commands whose answers were owed when the server was seen not to serve
	mayEnd        bool                    // the server was sent what it may end for
	disrupted     *disruption             // the one that lasts, if any
	notStarted    error                   // why the server did not start again after a disruption
	unseenErrs    []error                 // why disruptions were not seen to take effect
	isFuzzing     bool                    // bytes were sent, and whether the server survives them is not known yet
}

// sighting is a violation where it came up.
type sighting struct {
	*law.Violation
	crash     bool
	looks     standstill.Looks // of a crash
	step      int              // that was being played
	wrongStep int              // the step that sent what was answered wrongly; the same in most cases
	conn      int
	owing     []string // the texts of commands whose answers were awaited
	job       string   // the name of the job that it is about, as steps have it without the $; empty if it is about none
	names     []string // the names in what was expected

	outage *play.Outage // of a crash after which the server served again by itself
}

// reply is one reply.
type reply struct {
	law.Answer
	step, conn int
	round      int       // of a repetition
	order      int       // among all answers of the play
	sentAt, at time.Time // when its command was written last, and when it came; of a job that is handed out zero
}

// config is what all plays of an exploration share.
type config struct {
	nameSeed  string // see Explorer.NameSeed
	subject   *Alphabet
	target    play.Target
	terms     law.Terms     // but for the prefix
	timeout   time.Duration // the longest wait for a reply
	budget    *session.Budget
	forwarded *forward.Record // of a target before which a forwarder may be; else nil
}

// grammar is what the texts of the subject may have.
func (c *config) grammar() *scenarios.Grammar { return c.subject.Dialect.Grammar() }

func newPlay(c *config, prefix string) *playthrough {
	p := &playthrough{config: c, terms: c.terms, conns: map[int]*conn{}}
	p.terms.NamePrefix = prefix
	p.law = c.subject.Start(p.terms)
	p.pusher, _ = p.law.(law.Pusher)
	p.names = names{
		dialect: c.subject.Dialect, jobs: c.subject.Jobs, prefix: prefix,
		times: map[string]string{}, value: p.law.Value, now: time.Now(),
	}
	return p
}

// do plays one step. What other connections have brought is taken in before, but not
// between fuzzed bytes and the new connection that shows whether the server has survived
// them: it is there that a crash is to be seen.
func (p *playthrough) do(ctx context.Context, s *Step) {
	if s.Sends() != nil {
		p.isFuzzing = s.isUnbounded()
	}
	if send, ok := s.Do.(*scenarios.Send); ok {
		p.forwarded.Settle(ctx, false, send.Ending != scenarios.Open)
	}
	if !p.isFuzzing {
		p.poll(ctx)
	}
	p.now = time.Now()
	switch do := s.Do.(type) {
	case *scenarios.Connect:
		p.open(ctx, s.Conn(), do)
		p.isFuzzing = false
	case *scenarios.Silence:
		p.wait(ctx, do.For)
	case *scenarios.Operate:
		p.operate(ctx, s, do)
	default:
		if c := p.conns[s.Conn()]; c != nil { // else it has ended before its time
			p.playStep(ctx, c, s)
		}
	}
	p.awaitPushes(ctx, s)
}

// playStep plays a step on an open connection.
func (p *playthrough) playStep(ctx context.Context, c *conn, s *Step) {
	do, sends := s.Do.(*scenarios.Send)
	switch {
	case !sends && p.skipsVainWait && p.waitsInVain(c):
	case !sends:
		p.readReplies(ctx, c)
	case do.Ending == scenarios.Open:
		p.send(ctx, c, s)
	default:
		p.end(ctx, c, do.Ending)
	}
}

// open begins a connection and introduces the client on it.
func (p *playthrough) open(ctx context.Context, number int, do *scenarios.Connect) {
	p.settle(ctx)
	if old := p.conns[number]; old != nil {
		p.end(ctx, old, scenarios.Closed)
	}
	c, err := p.dial(ctx, number, do)
	if err != nil {
		p.probe(ctx, &conn{number: number, clause: p.greetingClause()})
		return
	}
	p.conns[number] = c
	p.law.Open(number, time.Now())
	c.sentStep, c.openStep, c.clause, c.isJudged = p.step, p.step, p.greetingClause(), true
	if p.readReplies(ctx, c); p.conns[number] != c {
		return
	}
	if line := p.law.Introduce(number, do); line != "" {
		c.introduction = line
		p.transmit(ctx, c, [][]byte{p.line(p.fill(line, number))}, 0, false)
		p.readReplies(ctx, c)
	}
}

// addViolation keeps a violation that shows while a step is played.
func (p *playthrough) addViolation(c *conn, v *law.Violation) {
	if v != nil {
		p.record(c, event{parts: []string{v.Got}, violation: v})
	}
	p.addSighting(c, v, p.step)
}

// addSighting keeps a violation that is about what a step has sent, and stops judging its job:
// one bug is reported once.
func (p *playthrough) addSighting(c *conn, v *law.Violation, step int) {
	if v == nil {
		return
	}
	switch {
	case p.isSplit && p.subject.hasTrait(v.Rule, law.WrongReply): // or it is refused in one piece too
		v.CommandClause = cmp.Or(v.CommandClause, v.Clause)
		v.Clause, v.Doubtful = p.law.Clause(RuleCut), true
	case c.pieces > 0 && v.Rule == RuleExtra:
		v.Clause = p.law.Clause(RuleCut)
	}
	owing := append([]string{c.awaited}, p.awaited()...)
	p.sightings = append(p.sightings, sighting{
		Violation: v, step: p.step, wrongStep: step, conn: c.number, owing: owing,
		job: p.symbol(v.JID), names: p.symbols(v.Expected),
	})
	if v.JID != "" && !p.subject.hasTrait(v.Rule, law.JobStays) {
		p.law.StopJudging(v.JID)
	}
}

// drop ends a connection from our side.
func (p *playthrough) drop(c *conn, ending scenarios.Ending) {
	if p.conns[c.number] != c {
		return
	}
	p.forget(c)
	_ = p.law.Close(c.number, false, time.Now()) // what clients end themselves is no violation
	_ = c.End(ending)                            // how the server takes it does not matter any more
}

// forget removes a connection that has ended, from whichever side.
func (p *playthrough) forget(c *conn) {
	delete(p.conns, c.number)
	c.dueReplies = 0
}

// end plays a step that ends a connection.
func (p *playthrough) end(ctx context.Context, c *conn, ending scenarios.Ending) {
	if ending == scenarios.HalfClosed && c.End(ending) != nil { // this kind of connection has no half-close
		ending = scenarios.Closed
	}
	if ending != scenarios.HalfClosed {
		p.drop(c, ending)
		return
	}
	p.settle(ctx)
	c.isHalfClosed = true
	p.law.HalfClose(c.number)
	switch {
	case c.isUnbounded:
		p.readReply(ctx, c)
	case c.dueReplies > 0: // the answer still comes, or the end
		if a, ok := c.takeWithin(ctx, p.timeout); ok {
			p.takeArrival(ctx, c, a)
		}
	}
	p.drop(c, scenarios.Closed)
}

// wait lets time pass; workers beat, and nothing may come unasked.
func (p *playthrough) wait(ctx context.Context, d time.Duration) {
	const every = 15 * time.Second
	for d > 0 && ctx.Err() == nil {
		part := min(d, every)
		if !machine.Sleep(ctx, part) {
			return
		}
		d -= part
		if p.isFuzzing {
			continue
		}
		p.poll(ctx)
		for _, n := range slices.Sorted(maps.Keys(p.conns)) {
			c := p.conns[n]
			if c == nil || c.dueReplies != 0 || c.hasOddBytes {
				continue
			}
			if line := p.law.Heartbeat(n, time.Now()); line != "" {
				c.awaited = line
				p.transmit(ctx, c, [][]byte{p.line(line)}, 0, false)
				p.readReplies(ctx, c)
			}
		}
	}
}

// close ends all connections.
func (p *playthrough) close() {
	p.settle(context.Background())
	for _, n := range slices.Sorted(maps.Keys(p.conns)) {
		c := p.conns[n]
		if line := c.Farewell(); line != nil && p.pushes() { // else the server would send messages to a client that is gone
			_ = c.Write(context.Background(), [][]byte{line}, 0) // within the timeout
		}
		p.drop(c, scenarios.Closed)
	}
}

// The limit of a clean-up after an interruption or a try, and how much each job adds.
const (
	minCleanup = time.Second
	jobCleanup = 4 * time.Millisecond
)

// Cleaner is the first number of connections that clean up, and no others have.
const Cleaner = 1 << 20

// cleanup removes what an exploration left on the server, and judges what comes.
func (x *exploration) cleanup(ctx context.Context) {
	if x.play.isDead {
		return
	}
	x.progress(CleaningUp)
	limit := max(20*x.config.timeout, time.Minute)
	switch {
	case ctx.Err() != nil: // it was interrupted
		limit = minCleanup
	case !x.budget.End.IsZero():
		limit = time.Until(x.budget.End)
	}
	cleaning := FullCleaning
	if x.StartTarget == nil && !x.Impatient {
		cleaning = PatientCleaning
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	for _, n := range x.gen.idleConns() {
		x.play.drop(x.play.conns[n], scenarios.Closed)
	}
	for step := range x.play.law.Cleanup(cleaning) {
		if x.steps(ctx, []Step{step}, false); x.play.isDead || ctx.Err() != nil {
			break
		}
	}
	x.result.LeftoverJobs = append(x.result.LeftoverJobs, x.play.law.Leftover()...)
	slices.Sort(x.result.LeftoverJobs)
}

// cleanup removes what a play has left. What comes is no finding.
func (p *playthrough) cleanup(ctx context.Context, cleaning Cleaning) {
	sightings, replies := p.sightings, p.replies
	limit := minCleanup + jobCleanup*time.Duration(len(p.law.Leftover()))
	if cleaning != QuickCleaning {
		limit += time.Minute
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	p.round = 0
	for step := range p.law.Cleanup(cleaning) {
		if p.do(ctx, &step); p.isDead || ctx.Err() != nil {
			break
		}
	}
	p.sightings, p.replies = sightings, replies
}
