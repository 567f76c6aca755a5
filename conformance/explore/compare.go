package explore

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// Comparison plays the same steps on two servers and compares what they answer. Explorer
// has the first server and the limits of the run, its Findings being after how many kinds
// of differences to stop; the steps are made up from what the first server answers. A
// Comparison is used once.
type Comparison struct {
	Explorer    Explorer
	Second      play.Target // the second server
	Password    string      // of the second server
	OwnsServers bool        // both servers exist for this run only: nothing is removed, and one that died is restarted

	// Found is called with each difference of a new kind before it is shrunk; may be nil.
	Found func(Difference)
}

// ComparisonResult is what a comparison found. What it has two of is of the first and of the
// second server.
type ComparisonResult struct {
	Commands     int       // that were sent to the first server, those that shrank differences not included
	Coverage     *Coverage // of the first server
	Differences  []Difference
	LeftoverJobs [2][]string // jobs that could not be removed
	IsDead       [2]bool     // the server serves no more
	LostReason   [2]string   // why a forwarder before it may have ended, and not the server; else empty
	Unread       [2]string   // the commands most of whose replies could not be read, and why; empty if there are none
	Limits       [2]int      // connections that the server serves at a time; zero if no limit was met
}

// Difference is a kind of difference between two servers, with the shortest conversation
// that showed it.
type Difference struct {
	Command string // the verb, "" for a greeting or the end of a connection
	Field   string // of the message that differs, "" for the whole message
	State   string // of the connection when the command was sent
	Clause  string // that rules the command
	Sides   [2]Side
	Count   int // how often it was seen

	Conversation []Exchange
	Hits         int // of Tries times that the conversation was played
	Tries        int

	kind     string
	step     int
	diverges bool // the servers are in different states after it
}

// Side is one server's side of a difference.
type Side struct {
	Reply     string         // what is different in it
	Violation *law.Violation // nil: a reading of the specification allows it
}

// Exchange is a step of a conversation, and how both servers answered it: "" for not at all.
type Exchange struct {
	Step    string
	Replies [2]string
}

const (
	// episodeLimit is after how many commands without a difference an episode ends.
	episodeLimit = 2000
	// maxBriefEpisodes is after how many episodes in a row a comparison ends that were over after so few commands as an
	// introduction takes: where a server refuses each client, or each connection, there is nothing else to compare.
	maxBriefEpisodes, fewCommands = 100, 3
)

// Run compares until the steps or the time are used up, there are enough differences, a
// server is gone or ctx is done. It blocks, and removes what it left on the servers.
func (c *Comparison) Run(ctx context.Context) *ComparisonResult {
	x := &comparisonRun{Comparison: c, start: time.Now(), result: &ComparisonResult{}}
	for side := range x.covers {
		x.covers[side] = newCoverage(c.Explorer.Alphabet)
	}
	x.result.Coverage = x.covers[0]
	first := c.Explorer.config()
	first.terms.Compared = true
	second := *first
	second.target, second.terms.Password = c.Second, c.Password
	if !c.OwnsServers {
		first.forwarded, second.forwarded = forwardedOf(first.target), forwardedOf(c.Second)
	}
	x.configs = [2]*config{first, &second}
	for round := uint64(0); x.continues(ctx); round++ {
		x.episode(ctx, round)
	}
	for side, cover := range x.covers {
		x.result.Unread[side] = cover.Unread()
	}
	for i, trace := range x.traces {
		x.shrink(ctx, &x.result.Differences[i], trace)
	}
	return x.result
}

// comparisonRun is one run of a comparison.
type comparisonRun struct {
	*Comparison
	configs       [2]*config
	covers        [2]*Coverage
	start         time.Time
	traces        [][]Step // by difference: the conversation that showed it first
	revived       int      // how often a server was restarted
	briefEpisodes int      // episodes in a row that were over at once
	result        *ComparisonResult
}

// continues reports whether there is anything left to do.
func (x *comparisonRun) continues(ctx context.Context) bool {
	e := x.Explorer
	steps := e.Steps
	if steps == 0 && e.Time == 0 {
		steps = 10000
	}
	isOver := steps > 0 && x.result.Commands >= steps || e.Time > 0 && time.Since(x.start) >= e.Time
	return !isOver && ctx.Err() == nil && !x.result.IsDead[0] && !x.result.IsDead[1] && x.revived < maxRevivals &&
		x.briefEpisodes < maxBriefEpisodes && len(x.result.Differences) < e.maxFindings()
}

// episode plays made-up steps on fresh names until a difference shows: what comes behind it
// would differ for its sake.
func (x *comparisonRun) episode(ctx context.Context, round uint64) {
	pair := newPair(x.configs)
	first := pair.plays[0]
	limit := x.limit()
	pair.each(func(side int, p *playthrough) { p.limit, p.cover = limit, x.covers[side] })
	maker := x.Explorer
	maker.Seed += round << 32
	gen := newGenerator(&maker, first)
	gen.Compared = true
	before := x.result.Commands
	var trace []Step
	for first.commands < episodeLimit && x.continues(ctx) {
		for _, step := range gen.next() {
			trace = append(trace, step)
			all := pair.do(ctx, len(trace)-1, 0, step)
			x.result.Commands = before + first.commands
			if x.noteLimits(ctx, pair) {
				x.endEpisode(ctx, pair, QuickCleaning)
				return
			}
			for i := range all {
				x.count(&all[i], trace)
			}
			if diverges(all) || pair.isDead() {
				x.endEpisode(ctx, pair, QuickCleaning)
				return
			}
		}
	}
	x.endEpisode(ctx, pair, PatientCleaning)
}

// isDead reports whether one of the servers serves no more.
func (x *pair) isDead() bool { return x.plays[0].isDead || x.plays[1].isDead }

// limit returns how many connections both servers serve at a time; zero if no limit was met.
func (x *comparisonRun) limit() (limit int) {
	for _, n := range x.result.Limits {
		if n > 0 && (limit == 0 || n < limit) {
			limit = n
		}
	}
	return limit
}

// noteLimits notes limits of connections that a pair of plays has met, and reports whether there are any. Servers may
// have any: what differs because one is lower is no difference, and the next episode stays below.
func (x *comparisonRun) noteLimits(ctx context.Context, pair *pair) (ok bool) {
	for side, p := range pair.plays {
		if p.limitHits > 0 {
			p.meetsLimit(ctx) // the server may have counted connections that had ended
			x.result.Limits[side], ok = p.limit, true
		}
	}
	return ok
}

// count counts a difference, and keeps its conversation if it is shorter than the one known.
func (x *comparisonRun) count(d *Difference, trace []Step) {
	at := slices.IndexFunc(x.result.Differences, func(o Difference) bool { return o.kind == d.kind })
	if at >= 0 {
		if x.result.Differences[at].Count++; len(trace) < len(x.traces[at]) {
			x.traces[at] = trace
		}
		return
	}
	if x.Found != nil {
		x.Found(*d)
	}
	d.Count = 1
	x.result.Differences = append(x.result.Differences, *d)
	x.traces = append(x.traces, trace)
}

// endEpisode ends an episode, and removes what it left.
func (x *comparisonRun) endEpisode(ctx context.Context, pair *pair, cleaning Cleaning) {
	if x.briefEpisodes++; pair.plays[0].commands > fewCommands {
		x.briefEpisodes = 0
	}
	if x.OwnsServers {
		pair.each(func(_ int, p *playthrough) { p.close() })
	} else {
		leftover := pair.end(ctx, cleaning)
		for side := range leftover {
			x.result.LeftoverJobs[side] = append(x.result.LeftoverJobs[side], leftover[side]...)
		}
	}
	x.revive(ctx, pair)
}

// revive restarts servers that are gone where that can be done, and notes those that stay so.
func (x *comparisonRun) revive(ctx context.Context, pair *pair) {
	for side, p := range pair.plays {
		if !p.isDead || p.outage != nil {
			continue
		}
		x.revived++
		x.result.IsDead[side], x.result.LostReason[side] = !x.OwnsServers || !x.configs[side].restart(ctx), p.lostReason
	}
}

// end removes what a pair of plays has left, and returns what it could not remove.
func (x *pair) end(ctx context.Context, cleaning Cleaning) (leftover [2][]string) {
	x.each(func(side int, p *playthrough) {
		p.events = nil
		if p.poll(ctx); !p.isDead {
			p.close() // what waits may take a job
			p.cleanup(ctx, cleaning)
		}
		leftover[side] = p.law.Leftover()
		p.close()
	})
	return leftover
}

// shrink looks for a short conversation that shows a difference.
func (x *comparisonRun) shrink(ctx context.Context, d *Difference, trace []Step) {
	s := &shrinker{config: x.configs[0], limit: x.Explorer.Shrinking, twin: x}
	s.target = sighting{Violation: &law.Violation{Clause: d.kind, Rule: ruleDifference}, step: len(trace) - 1}
	if x.Explorer.SkipsShrinking || x.result.IsDead[0] || x.result.IsDead[1] {
		d.Conversation = exchangesOf(s.suffix(trace, tail))
		return
	}
	f := &Finding{Original: Trace{Steps: trace}}
	s.shrink(ctx, f)
	d.Hits, d.Tries = f.Hits, f.Tries
	x.result.LeftoverJobs[0] = append(x.result.LeftoverJobs[0], s.leftover...)
	if d.Conversation = s.exchanges; len(d.Conversation) == 0 {
		d.Conversation = exchangesOf(s.suffix(trace, tail))
	}
}

// tail is how many steps are shown of a conversation that was not shrunk.
const tail = 10

// ruleDifference is under which a try shows a difference, whose kind takes the place of a clause.
const ruleDifference = "difference"

// tryPair is try on both servers: it plays a conversation until a difference shows, which is a
// finding of the play on the first.
func (s *shrinker) tryPair(ctx context.Context, t Trace, stalls func(*playthrough) bool) tryResult {
	pair := newPair(s.twin.configs)
	pair.each(func(side int, p *playthrough) {
		p.reset(ctx)
		pair.events[side] = nil
	})
	first := pair.plays[0]
	var all []Difference
	isTarget := func(d Difference) bool { return d.kind == s.target.Clause }
	for round, i := range t.sequence() {
		if diverges(all) || slices.ContainsFunc(all, isTarget) || stalls(first) || first.isDead || ctx.Err() != nil {
			break
		}
		all = pair.do(ctx, i, round, t.Steps[i])
	}
	leftover := pair.end(ctx, QuickCleaning)
	s.twin.revive(ctx, pair)
	r := tryResult{commands: first.commands, steps: len(t.Steps), leftover: slices.Concat(leftover[0], leftover[1])}
	if at := slices.IndexFunc(all, isTarget); at >= 0 {
		v, step := &law.Violation{Clause: all[at].kind, Rule: ruleDifference}, all[at].step
		r.isShown, r.record = true, recordOf(first, sighting{Violation: v, step: step, wrongStep: step, conn: noConn})
		s.exchanges = pair.exchanges(t)
	}
	return r
}

// exchanges returns a conversation with what both servers answered.
func (x *pair) exchanges(t Trace) []Exchange {
	all := exchangesOf(t.Steps)
	for side, events := range x.history {
		for _, e := range events {
			reply := strings.Join(e.parts, " ")
			if at := &all[e.step].Replies[side]; *at != "" {
				*at += " / " + reply
			} else {
				*at = reply
			}
		}
	}
	return all
}

// exchangesOf returns steps without what was answered.
func exchangesOf(steps []Step) []Exchange {
	all := make([]Exchange, len(steps))
	for i, step := range steps {
		all[i].Step = step.String()
	}
	return all
}
