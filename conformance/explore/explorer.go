package explore

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/standstill"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/internal/target/forward"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// Explorer explores one server. Alphabet and Target must be set; the zero value of everything else works. An Explorer
// is used once.
//
// The commands follow from the seed and from the replies: the same seed against a
// server that answers the same gives the same commands. All names (queues, jobs,
// workers) carry the prefix of the run; what others have on the server is not touched,
// unless no other client uses the server; and what is left at the end is removed.
type Explorer struct {
	Alphabet *Alphabet // the protocol
	Target   play.Target
	Password string // of the target, empty if it has none
	Seed     uint64 // of the commands
	// what the prefix of all names on the server follows from, if no other play there has it; random if empty
	NameSeed       string
	Steps          int           // commands at most; 10,000 if zero and Time is zero too
	MinAnswers     int           // of Steps that must be answered, or a [Property] is inconclusive; one of 500 if zero
	Time           time.Duration // of everything that Run does but shrinking, see [Divide]; no limit if zero
	Exploring      time.Duration // of Time for making up commands at most; what Divide leaves if zero
	Connections    int           // open at a time beside the two of the neighbour; 6 if zero
	Timeout        time.Duration // the longest wait for a reply; 5 s if zero
	Patience       time.Duration // for what the specification calls eventual; 150 s if zero
	LongestWait    time.Duration // that all clients wait at a time, never if zero; reservations and retries need it
	Slack          time.Duration // by which replies may be late for reasons of the network; 300 ms if zero
	History        *law.History  // what other plays have done on the target; nil: that is not known
	Alone          bool          // no other client uses the target: what touches everything on it is tried too
	NoFlush        bool          // what deletes everything on the target is not tried even so
	Restarts       bool          // the target may be restarted now and then, if it offers that
	Findings       int           // after which to stop; 1 if zero
	SkipsShrinking bool          // findings are not shrunk
	Impatient      bool          // the clean-up does not wait for jobs that are to come

	// Shrinking is for how long one finding is shrunk and confirmed at most, and all of them [Shrinkings] times as long;
	// no limit if zero. That is no part of Time. With a limit, short conversations are tried when something was just
	// found; all else is done when the exploration is over.
	Shrinking time.Duration

	// Disrupt is what is done to the target at any moment, if it is a [Disrupter]: some of Alphabet.Disruptions.
	Disrupt []target.Action

	// StartTarget starts another server like the target, for making findings small: a
	// bug that counts, or one that is fatal, shows on a server of its own only. Nil
	// where there is none. The returned function ends it.
	StartTarget func() (play.Target, func(), error)

	// Found is called with each finding before it is shrunk, so that it can be saved
	// at once; may be nil. Some of these turn out to be others in another form, and are
	// not in the Result, which counts also how often each came again.
	Found func(Finding)
	// WatchStep is called with each step before it is played; may be nil.
	WatchStep func(Step)
	// Progress is called whenever the activity changes, and every few steps or plays; may be nil.
	Progress func(Progress)
}

// Result is what an exploration found.
type Result struct {
	Commands     int
	Shrunk       time.Duration // in which findings were shrunk
	Coverage     *Coverage
	Findings     []Finding
	LeftoverJobs []string // jobs that could not be removed
	Limit        int      // connections that the server serves at a time; zero if no limit was met
	IsDead       bool     // the server serves no more
	// a new connection got no reply within the timeout, or none at all did in the time for everything
	IsSilent bool
	Looks    standstill.Looks // what was seen of a server that serves no more
	// of one that served, and was asked in vain when all was over: what is known of it
	UnservedWords string
	LostReason    string // why a forwarder before the target may have ended, and not the server; else empty
	IsRefused     bool   // every connection was refused, as a server does that is at its limit
	IsRefusing    bool   // new connections were not served when the time was over: whether the server died is not known

	// NotStarted is why the server did not start again after a disruption, which is no crash; nil if it did.
	NotStarted error
	// UnseenErrs has why disruptions were not seen to take effect: they decide nothing.
	UnseenErrs []error

	// Outages are the times during which no connection could be opened, and after which the server served again.
	Outages []play.Outage
}

// Finding is what no reading of the specification allows, with the shortest conversation that shows it.
type Finding struct {
	conformance.Finding
	Number      int              // in which the exploration came upon it, from 1
	Rule        string           // of the model
	IsDoubtful  bool             // it did not come again, and time or another bug may be why it came at all
	Looks       standstill.Looks // of a crash: what was seen of the server
	LikelyCause string           // of a crash whose cause is not known: the command that is the likeliest; else empty
	Commands    int              // after which it was seen
	Times       int              // that it was seen
	Moments     int              // at which it was: a server that stands still once is late for many at one moment
	// Places are where it was seen, and how often: commands with their answers, or fields with kinds of values.
	Places    map[string]int
	Original  Trace // the conversation as it was
	Reduction Trace // the shortest one that still shows it; empty if it did not come again
	Hits      int   // of Tries times that the small conversation was played
	Tries     int
}

func (e *Explorer) config() *config {
	return &config{
		nameSeed: e.NameSeed, subject: e.Alphabet, target: e.Target, timeout: cmp.Or(e.Timeout, 5*time.Second),
		budget: new(session.Budget), terms: law.Terms{
			Password: e.Password, Alone: e.Alone, Flush: e.Alone && !e.NoFlush, History: e.History,
			Patience: cmp.Or(e.Patience, 150*time.Second), Slack: cmp.Or(e.Slack, 300*time.Millisecond),
			Disrupted: len(e.Disrupt) > 0,
		},
	}
}

// newPrefix is a prefix that no other play has.
func newPrefix() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return "fwp" + hex.EncodeToString(b[:])
}

// exclusivePrefix is the prefix of the one play of an exploration that no other one on its server has: it follows from
// Names, so that two explorations of one seed have the same. Without NameSeed it is fresh.
func (c *config) exclusivePrefix() string {
	if c.nameSeed == "" {
		return newPrefix()
	}
	sum := sha256.Sum256([]byte(c.nameSeed))
	return "fwp" + hex.EncodeToString(sum[:8])
}

// Run explores until the steps or the time for it are used up, enough was found, the server
// is gone or ctx is done. It blocks, and removes what it left on the server; there is
// little time for that once ctx is done.
func (e *Explorer) Run(ctx context.Context) *Result {
	x := e.begin(ctx)
	x.loop(ctx)
	return x.end(ctx)
}

// Replay plays the steps of a conversation, such as the whole one of a finding, instead
// of steps of its own, on fresh names, and is like Run in everything else.
func (e *Explorer) Replay(ctx context.Context, t Trace) *Result {
	x := e.begin(ctx)
	limited, cancel := Until(ctx, x.budget.deadline())
	defer cancel()
	for round, i := range t.sequence() {
		if x.isOver(limited) || x.play.isDead || x.countClear() >= x.maxFindings() {
			break
		}
		x.play.round = round
		x.steps(limited, t.Steps[i:i+1], false)
		x.gen.Round++
		x.tell()
	}
	x.play.round = 0
	return x.end(ctx)
}

// begin makes an exploration.
func (e *Explorer) begin(ctx context.Context) *exploration {
	x := &exploration{
		Explorer: e, began: time.Now(), config: e.config(), byKind: map[string]*pendingFinding{},
		reportedKinds: map[string]bool{},
		budget:        e.divide(), result: &Result{Coverage: newCoverage(e.Alphabet)},
	}
	if x.config.terms.History == nil && e.Alone && e.StartTarget != nil { // the target was started as others can be
		x.config.terms.History = law.NewExclusiveHistory()
	}
	if e.StartTarget != nil {
		x.trialServer = &trialServer{startTarget: e.StartTarget}
	}
	x.config.forwarded = e.forwarded()
	x.play = newPlay(x.config, x.config.exclusivePrefix())
	x.play.cover = x.result.Coverage
	x.gen = newGenerator(e, x.play)
	if x.StartTarget == nil {
		limited, cancel := Until(ctx, x.budget.deadline())
		defer cancel()
		p := newPlay(x.config, newPrefix())
		p.reset(limited)
		p.close()
		x.result.IsSilent, x.play.lostReason, x.play.isDead = p.isMute, p.lostReason, p.lostReason != ""
	}
	return x
}

// forwarded returns what clients did to the transport, where a forwarder may be before the target; else nil.
func (e *Explorer) forwarded() *forward.Record {
	if e.StartTarget != nil || e.Restarts {
		return nil
	}
	return forwardedOf(e.Target)
}

func forwardedOf(target play.Target) *forward.Record {
	if target, ok := target.(forward.Target); ok {
		return target.Forwarded()
	}
	return nil
}

// LostReason returns why a forwarder before the target may have ended, and not the server; empty if that is not so. It
// blocks.
func (e *Explorer) LostReason(ctx context.Context) string { return e.forwarded().LossReason(ctx) }

// divide returns the budget of the exploration.
func (e *Explorer) divide() Budget {
	b := Divide(e.Time)
	if limit := time.Now().Add(e.Exploring); e.Exploring > 0 && (e.Time == 0 || limit.Before(b.Explore)) {
		b.Explore = limit
	}
	return b
}

// end cleans up, and shrinks the findings. The commands for that are not counted.
func (x *exploration) end(ctx context.Context) *Result {
	x.result.Commands = x.play.commands
	if x.play.isDead {
		x.resume(ctx)
	}
	x.cleanup(ctx)
	x.play.close()
	x.askOnceMore(ctx)
	x.confirmUnserved(ctx)
	x.result.Looks = x.play.looks
	x.result.Limit, x.result.LostReason = x.play.limit, x.play.lostReason
	x.result.NotStarted, x.result.UnseenErrs = x.play.notStarted, x.play.unseenErrs
	x.result.IsDead = x.play.isDead && x.play.outage == nil
	unserved := !x.play.hasServed && !x.play.isMute && !x.result.IsSilent
	x.result.IsRefused = unserved && x.play.limitHits > 0
	x.result.IsSilent = x.result.IsSilent || x.play.isMute || unserved && !x.result.IsRefused
	x.result.IsRefusing = x.play.isRefusing && !x.play.isDead
	if x.result.IsSilent || x.result.IsRefused || x.result.IsRefusing {
		x.result.LostReason = cmp.Or(x.result.LostReason, x.config.forwarded.LossReason(ctx))
	}
	start := time.Now().Add(-x.lookTime)
	x.shrinkAll(ctx)
	x.trialServer.drop()
	x.result.Shrunk = time.Since(start)
	return x.result
}

// askOnceMore asks a target that has served until the time was over once more: it may have died, or hang, since the
// last command.
func (x *exploration) askOnceMore(ctx context.Context) {
	isKnown := x.play.isMute || x.play.isRefusing || x.play.isDead || !x.play.hasServed
	if isKnown || ctx.Err() != nil {
		return
	}
	p := newPlay(x.config, newPrefix())
	x.play.isRefusing, x.play.unserved = p.askRoles(ctx) != nil && ctx.Err() == nil, p.unserved
}

// exploration is one run of an explorer.
type exploration struct {
	*Explorer
	began         time.Time
	config        *config
	budget        Budget
	play          *playthrough
	gen           *generator
	trace         []Step
	sightingCount int // of play.sightings: those that were taken

	number int // of findings

	revived int

	byKind        map[string]*pendingFinding // by kind
	reportedKinds map[string]bool            // kinds of those that are in the result, or are another one in it
	pending       []*pendingFinding
	result        *Result

	lookCount   int             // of pending: those that were looked at
	lookTime    time.Duration   // that this took, while nothing else was done
	trialServer *trialServer    // where it is done; nil: on the server that is explored
	lookResults chan lookResult // has the look that is taken at the same time; nil: there is none
}

// maxFindings is after how many findings to stop.
func (e *Explorer) maxFindings() int { return max(e.Findings, 1) }

func (x *exploration) loop(ctx context.Context) {
	const maxIdle = 50
	limit, maxFindings := x.Steps, x.maxFindings()
	if limit == 0 && x.Time == 0 {
		limit = 10000
	}
	idleRounds := 0
	for !x.isOver(ctx) && x.countClear() < maxFindings {
		if x.gen.isDone() || x.play.isDead && !x.callWithDeadline(ctx, x.resume) || limit > 0 && x.play.commands >= limit {
			return
		}
		if x.look(ctx, false); x.play.isDead {
			continue
		}
		before, steps := x.play.commands, x.gen.next()
		x.callWithDeadline(ctx, func(ctx context.Context) bool { x.steps(ctx, steps, x.LongestWait == 0); return true })
		switch {
		case x.play.commands > before:
			idleRounds = 0
		case slices.ContainsFunc(steps, Step.opens): // not where it lets time pass
			idleRounds++
		}
		if idleRounds > maxIdle { // no connection is accepted
			return
		}
		x.tell()
	}
}

// callWithDeadline calls a function with ctx as it is until the last command has to be over.
func (x *exploration) callWithDeadline(ctx context.Context, f func(context.Context) bool) bool {
	limited, cancel := Until(ctx, x.budget.deadline())
	defer cancel()
	return f(limited)
}

// isOver reports whether no more commands are to be made up. The last one may take longer: whether a server is dead
// shows only after some time.
func (x *exploration) isOver(ctx context.Context) bool {
	end := x.budget.Explore
	return ctx.Err() != nil || !end.IsZero() && !time.Now().Before(end)
}

// tell reports progress now and then.
func (x *exploration) tell() {
	if x.gen.Round%64 == 0 {
		x.progress(Exploring)
	}
}

// minTrace is how many of the last steps an exploration keeps in mind at least.
const minTrace = 20000

// trim forgets old steps, but for the opening of connections that are still open.
func (x *exploration) trim() {
	if len(x.trace) < 2*minTrace {
		return
	}
	cut := len(x.trace) - minTrace
	openings := map[int]Step{}
	for _, step := range x.trace[:cut] {
		if step.opens() {
			openings[step.Conn()] = step
		}
	}
	var steps []Step
	for _, n := range slices.Sorted(maps.Keys(openings)) {
		if x.play.conns[n] != nil {
			steps = append(steps, openings[n])
		}
	}
	x.trace = append(steps, x.trace[cut:]...)
	x.play.replies = nil
}

// steps plays steps and keeps what they have found. goOn: it does not wait for a reply that cannot come, as far as is
// known, unless a later one of the steps sends something on the same connection.
func (x *exploration) steps(ctx context.Context, steps []Step, goOn bool) {
	for i := range steps {
		x.trim()
		x.play.step = len(x.trace)
		x.trace = append(x.trace, steps[i])
		if x.WatchStep != nil {
			x.WatchStep(steps[i])
		}
		x.play.skipsVainWait = goOn && !slices.ContainsFunc(steps[i+1:], func(s Step) bool {
			return s.Sends() != nil && s.Conn() == steps[i].Conn()
		})
		x.play.do(ctx, &x.trace[len(x.trace)-1])
		for ; x.sightingCount < len(x.play.sightings); x.sightingCount++ {
			x.finding(x.play.sightings[x.sightingCount])
		}
		if x.play.isDead || ctx.Err() != nil {
			return
		}
	}
}
