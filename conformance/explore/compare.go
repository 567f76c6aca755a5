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
	Explorer Explorer
	Other    play.Target // the second server
	Password string      // of the second server
	Own      bool        // both servers exist for this run only: nothing is removed, and one that died is restarted

	// Found is called with each difference of a new kind before it is shrunk; may be nil.
	Found func(Difference)
}

// Compared is what a comparison found. What it has two of is of the first and of the
// second server.
type Compared struct {
	Commands    int       // that were sent to the first server, those that shrank differences not included
	Coverage    *Coverage // of the first server
	Differences []Difference
	Left        [2][]string // jobs that could not be removed
	Dead        [2]bool     // the server serves no more
	Lost        [2]string   // why a forwarder before it may have ended, and not the server; else empty
	Unread      [2]string   // the commands most of whose replies could not be read, and why; empty if there are none
	Limits      [2]int      // connections that the server serves at a time; zero if no limit was met
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
	Shown        int // of Tried times that the conversation was played
	Tried        int

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
	// deep is after how many commands without a difference an episode ends.
	deep = 2000
	// mostBrief is after how many episodes in a row a comparison ends that were over after so few commands as an
	// introduction takes: where a server refuses each client, or each connection, there is nothing else to compare.
	mostBrief, fewCommands = 100, 3
)

// Run compares until the steps or the time are used up, there are enough differences, a
// server is gone or ctx is done. It blocks, and removes what it left on the servers.
func (c *Comparison) Run(ctx context.Context) *Compared {
	x := &comparing{Comparison: c, begun: time.Now(), result: &Compared{}}
	for side := range x.covers {
		x.covers[side] = newCoverage(c.Explorer.Subject)
	}
	x.result.Coverage = x.covers[0]
	first := c.Explorer.config()
	first.terms.Compared = true
	second := *first
	second.target, second.terms.Password = c.Other, c.Password
	if !c.Own {
		first.deeds, second.deeds = deedsOf(first.target), deedsOf(c.Other)
	}
	x.configs = [2]*config{first, &second}
	for round := uint64(0); x.goesOn(ctx); round++ {
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

// comparing is one run of a comparison.
type comparing struct {
	*Comparison
	configs [2]*config
	covers  [2]*Coverage
	begun   time.Time
	traces  [][]Step // by difference: the conversation that showed it first
	revived int      // how often a server was restarted
	briefs  int      // episodes in a row that were over at once
	result  *Compared
}

// goesOn reports whether there is anything left to do.
func (x *comparing) goesOn(ctx context.Context) bool {
	e := x.Explorer
	steps := e.Steps
	if steps == 0 && e.Time == 0 {
		steps = 10000
	}
	over := steps > 0 && x.result.Commands >= steps || e.Time > 0 && time.Since(x.begun) >= e.Time
	return !over && ctx.Err() == nil && !x.result.Dead[0] && !x.result.Dead[1] && x.revived < revivals &&
		x.briefs < mostBrief && len(x.result.Differences) < e.enough()
}

// episode plays made-up steps on fresh names until a difference shows: what comes behind it
// would differ for its sake.
func (x *comparing) episode(ctx context.Context, round uint64) {
	both := newPair(x.configs)
	first := both.plays[0]
	limit := x.limit()
	both.each(func(side int, p *playing) { p.most, p.cover = limit, x.covers[side] })
	maker := x.Explorer
	maker.Seed += round << 32
	gen := newGenerator(&maker, first)
	gen.Compared = true
	before := x.result.Commands
	var trace []Step
	for first.commands < deep && x.goesOn(ctx) {
		for _, step := range gen.next() {
			trace = append(trace, step)
			all := both.do(ctx, len(trace)-1, 0, step)
			x.result.Commands = before + first.commands
			if x.meets(ctx, both) {
				x.endOf(ctx, both, Quickly)
				return
			}
			for i := range all {
				x.found(&all[i], trace)
			}
			if diverges(all) || both.dead() {
				x.endOf(ctx, both, Quickly)
				return
			}
		}
	}
	x.endOf(ctx, both, Patiently)
}

// dead reports whether one of the servers serves no more.
func (x *pair) dead() bool { return x.plays[0].dead || x.plays[1].dead }

// limit returns how many connections both servers serve at a time; zero if no limit was met.
func (x *comparing) limit() (least int) {
	for _, n := range x.result.Limits {
		if n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// meets notes limits of connections that a pair of plays has met, and reports whether there are any. Servers may have
// any: what differs because one is lower is no difference, and the next episode stays below.
func (x *comparing) meets(ctx context.Context, both *pair) (met bool) {
	for side, p := range both.plays {
		if p.refused > 0 {
			p.limited(ctx) // the server may have counted connections that had ended
			x.result.Limits[side], met = p.most, true
		}
	}
	return met
}

// found counts a difference, and keeps its conversation if it is shorter than the one known.
func (x *comparing) found(d *Difference, trace []Step) {
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

// endOf ends an episode, and removes what it left.
func (x *comparing) endOf(ctx context.Context, both *pair, how Cleaning) {
	if x.briefs++; both.plays[0].commands > fewCommands {
		x.briefs = 0
	}
	if x.Own {
		both.each(func(_ int, p *playing) { p.close() })
	} else {
		left := both.end(ctx, how)
		for side := range left {
			x.result.Left[side] = append(x.result.Left[side], left[side]...)
		}
	}
	x.revive(ctx, both)
}

// revive restarts servers that are gone where that can be done, and notes those that stay so.
func (x *comparing) revive(ctx context.Context, both *pair) {
	for side, p := range both.plays {
		if !p.dead || p.outage != nil {
			continue
		}
		x.revived++
		x.result.Dead[side], x.result.Lost[side] = !x.Own || !x.configs[side].restarts(ctx), p.lost
	}
}

// end removes what a pair of plays has left, and returns what it could not remove.
func (x *pair) end(ctx context.Context, how Cleaning) (left [2][]string) {
	x.each(func(side int, p *playing) {
		p.events = nil
		if p.poll(ctx); !p.dead {
			p.close() // what waits may take a job
			p.cleanup(ctx, how)
		}
		left[side] = p.law.Leftover()
		p.close()
	})
	return left
}

// shrink looks for a short conversation that shows a difference.
func (x *comparing) shrink(ctx context.Context, d *Difference, trace []Step) {
	s := &shrinker{config: x.configs[0], limit: x.Explorer.Shrinking, twin: x}
	s.target = found{Violation: &law.Violation{Clause: d.kind, Rule: ruleDifference}, step: len(trace) - 1}
	if x.Explorer.Unshrunk || x.result.Dead[0] || x.result.Dead[1] {
		d.Conversation = unanswered(s.suffix(trace, tail))
		return
	}
	f := &Finding{Whole: Trace{Steps: trace}}
	s.shrink(ctx, f)
	d.Shown, d.Tried = f.Shown, f.Tried
	x.result.Left[0] = append(x.result.Left[0], s.left...)
	if d.Conversation = s.exchanges; len(d.Conversation) == 0 {
		d.Conversation = unanswered(s.suffix(trace, tail))
	}
}

// tail is how many steps are shown of a conversation that was not shrunk.
const tail = 10

// ruleDifference is under which a try shows a difference, whose kind takes the place of a clause.
const ruleDifference = "difference"

// onBoth is try on both servers: it plays a conversation until a difference shows, which is a
// finding of the play on the first.
func (s *shrinker) onBoth(ctx context.Context, t Trace, stalls func(*playing) bool) try {
	both := newPair(s.twin.configs)
	both.each(func(side int, p *playing) {
		p.reset(ctx)
		both.events[side] = nil
	})
	first := both.plays[0]
	var all []Difference
	wanted := func(d Difference) bool { return d.kind == s.target.Clause }
	for round, i := range t.played() {
		if diverges(all) || slices.ContainsFunc(all, wanted) || stalls(first) || first.dead || ctx.Err() != nil {
			break
		}
		all = both.do(ctx, i, round, t.Steps[i])
	}
	left := both.end(ctx, Quickly)
	s.twin.revive(ctx, both)
	r := try{sent: first.commands, steps: len(t.Steps), left: slices.Concat(left[0], left[1])}
	if at := slices.IndexFunc(all, wanted); at >= 0 {
		v, step := &law.Violation{Clause: all[at].kind, Rule: ruleDifference}, all[at].step
		r.shown, r.record = true, recorded(first, found{Violation: v, step: step, about: step, conn: noConn})
		s.exchanges = both.exchanges(t)
	}
	return r
}

// exchanges returns a conversation with what both servers answered.
func (x *pair) exchanges(t Trace) []Exchange {
	all := unanswered(t.Steps)
	for side, events := range x.past {
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

// unanswered returns steps without what was answered.
func unanswered(steps []Step) []Exchange {
	all := make([]Exchange, len(steps))
	for i, step := range steps {
		all[i].Step = step.String()
	}
	return all
}
