package crowd

import (
	"cmp"
	"context"
	"net"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/protocols/fwp/moves"
	fwpsession "github.com/fwpsuite/fwp/protocols/fwp/session"
	fwpwire "github.com/fwpsuite/fwp/protocols/fwp/wire"
	"github.com/fwpsuite/fwp/scenarios"
)

// Crowd is a load of producers and workers that close their connections now and then, in any phase that leaves no job
// reserved, and connect again. Explorer.Target must be set; the zero value of everything else works.
type Crowd struct {
	// Explorer is where, for how long, and how findings are shrunk. Steps counts commands,
	// three for each job: 900 if it and Time are zero. Time is that of everything but
	// shrinking, see explore.Divide.
	Explorer          explore.Explorer
	Workers           int      // 8 if zero
	Producers         int      // as many as there are workers if zero
	Observers         int      // clients that send INFO all the time: a server that counts without locks may crash
	ReportedClauses   []string // clauses that are reported already
	ReproducedClauses []string // those of them that were reproduced: others of their kind are shrunk for less time

	// OnHistory is called with a history that has findings before they are shrunk; may be
	// nil.
	OnHistory func(*history.History, []history.Finding)

	// ExcludesLaw has what the law finds in the conversations be no Findings.
	ExcludesLaw bool

	judge *law.Watch // judges all connections of the load
}

// Result is the result of a load.
type Result struct {
	History         *history.History // never nil
	Findings        []explore.Finding
	Law             []law.Occurrence // what the law found in the conversations
	Tally           law.Tally        // what it has judged
	Commands        int
	Answers         int           // of the commands
	ShrinkTime      time.Duration // in which findings were shrunk, at the end
	UnaccountedJobs []string      // accepted jobs whose end is not known
	IsDead          bool          // the server does not serve any more
	ForwarderLoss   string        // why a forwarder before it may have ended, and not the server; else empty
	IsServed        bool          // the clients were accepted
	IsUnserved      bool          // the server does not serve any more, and whether it died of the load is not known
}

const (
	commandsOfJob = 3 // PUSH, FETCH and ACK
	maxCommands   = 1_000_000
	drainLimit    = 58 * time.Second // a server whose reports take 500 ms needs 45 s, 4 s of them for empty FETCHes
)

// Run blocks until the load is over and its findings are shrunk. When ctx is done, the
// history until then is evaluated, and nothing is shrunk.
func (l *Crowd) Run(ctx context.Context) *Result {
	l.fill()
	e := &l.Explorer
	budget := explore.Divide(e.Time)
	loading, cancel := explore.Until(ctx, budget.Explore)
	defer cancel()
	done := load.Run(loading, load.Config{
		Workload: l.workload(budget), Seed: e.Seed, Run: load.NewRunName(), RecordHistory: true, CoarseTimers: true,
		Deadline: budget.End,
		Dial:     l.dial(ctx), Protocol: fwpwire.New(e.Password), Watch: l.watch(),
	})
	r := &Result{
		History: done.History, IsServed: done.History != nil,
		Law: l.judge.Occurrences(), Tally: l.judge.Tally(),
	}
	if r.History == nil {
		r.History = &history.History{}
	}
	r.Commands = len(r.History.Events)
	for _, call := range r.History.Events {
		if call.Outcome != history.NoReply {
			r.Answers++
		}
	}
	for _, u := range done.Examination.Undecided {
		if !u.Unsent {
			r.UnaccountedJobs = append(r.UnaccountedJobs, u.JID)
		}
	}
	isGone := l.isGone(ctx, r, budget, done.Report.Connections)
	r.IsDead = isGone && (e.StartTarget != nil || !e.Revive(ctx))
	reporting := time.Now()
	l.report(ctx, r, done, isGone)
	r.ShrinkTime = time.Since(reporting)
	return r
}

// dial returns what opens the connections of the load, which the law judges. The load dials under a context of its own,
// so a shortage of this machine is noticed here in ctx: clients that could not be opened would be missing without a
// word.
func (l *Crowd) dial(ctx context.Context) func(context.Context) (net.Conn, error) {
	return func(dialing context.Context) (net.Conn, error) {
		nc, err := l.Explorer.Target.Dial(dialing)
		if err != nil {
			return nil, machine.Notice(ctx, err)
		}
		return l.judge.Tapped(nc, fwpsession.Codec{}), nil
	}
}

// isGone reports whether the server serves no more, of the load as far as is known, or a forwarder before it has ended.
func (l *Crowd) isGone(ctx context.Context, r *Result, budget explore.Budget, opened results.Connections) bool {
	hasEnded, isRefusing := l.checkServing(ctx, budget)
	hasNoConn := opened.Opened == 0
	if isRefusing = isRefusing || hasNoConn && opened.Refusal != ""; hasEnded || isRefusing {
		r.ForwarderLoss = l.Explorer.LostReason(ctx)
	}
	r.IsUnserved = r.ForwarderLoss == "" && (isRefusing || hasEnded && hasNoConn)
	return r.ForwarderLoss != "" || hasEnded && !r.IsUnserved
}

// checkServing reports whether the server serves no more, as far as that can be seen in the time for everything, or
// else whether it refuses connections when the time is over.
func (l *Crowd) checkServing(ctx context.Context, budget explore.Budget) (hasEnded, isRefusing bool) {
	limited, cancel := explore.Until(ctx, budget.End)
	defer cancel()
	if limited.Err() != nil {
		return false, false
	}
	isServing, isRefusing := l.Explorer.Serves(limited)
	return !isServing && limited.Err() == nil, isRefusing
}

func (l *Crowd) fill() {
	e := &l.Explorer
	switch {
	case e.Steps == 0 && e.Time > 0:
		e.Steps = maxCommands
	case e.Steps == 0:
		e.Steps = 900
	}
	l.Workers = cmp.Or(l.Workers, 8)
	l.Producers = cmp.Or(l.Producers, l.Workers)
	l.judge = law.NewWatch(moves.Law(), law.Terms{
		Password: e.Password, Patience: cmp.Or(e.Patience, scenarios.DefaultPatience),
		Slack: cmp.Or(e.Slack, machine.Allowance),
	})
}

// historyOps are the kinds of commands that a history has.
var historyOps = []measure.Op{
	measure.Push, measure.Fetch, measure.FetchFound, measure.FetchWaited, measure.FetchEmpty, measure.Ack, measure.Fail,
}

// watch returns what reports the progress of the load, nil if no one wants it.
func (l *Crowd) watch() func(load.Progress) {
	if l.Explorer.Progress == nil {
		return nil
	}
	p := explore.Progress{Activity: explore.Loading}
	l.Explorer.Progress(p)
	return func(m load.Progress) {
		for _, op := range m.Ops {
			if slices.Contains(historyOps, measure.Op(op.Op)) {
				p.Commands += int(op.Count + op.Errors)
			}
		}
		l.Explorer.Progress(p)
	}
}

// workload returns the load. Its rate keeps queues short, so that a job which is delivered
// twice is delivered while it is held. Where there is a budget, half of the time for it is
// for the drain.
func (l *Crowd) workload(b explore.Budget) plan.Workload {
	const ms = time.Millisecond
	duration, drain := time.Duration(0), drainLimit
	if !b.Explore.IsZero() {
		remaining := time.Until(b.Explore)
		drain = max(min(drainLimit, remaining/2), ms)
		duration = max(remaining-drain, ms)
	}
	return plan.Workload{
		Producers: l.Producers, Consumers: l.Workers, Observers: l.Observers, ObserveEvery: plan.Duration(ms),
		Rate: plan.Rate(75 * l.Workers), JobLimit: int64(max(1, l.Explorer.Steps/commandsOfJob)),
		Duration: plan.Duration(duration), Work: plan.Range{Min: 2 * ms, Max: 10 * ms},
		Queues: plan.Queues{Number: 4}, Payload: plan.Constant(20), ExactIntegers: true,
		Disconnects: 0.05, Drain: plan.Duration(drain),
	}
}
