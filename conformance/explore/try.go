package explore

import (
	"context"
	"iter"
	"runtime"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// try is one play of a conversation that may show a finding.
type try struct {
	shown  bool
	record record // if it was shown
	same   bool   // a part of the conversation shows that this is something known
	sent   int    // commands
	steps  int    // of the conversation
	left   []string
	start  time.Duration // that its server took to start
}

// together returns how many tries are played at the same time where each has a server of its own, which needs a
// processor at least while it starts. Most of their time is waiting.
func together() int {
	const each, least = 2, 4
	return max(least, each*runtime.GOMAXPROCS(0))
}

// sideBySide reports whether several tries are played at the same time.
func (s *shrinker) sideBySide() bool { return s.fresh != nil && s.limit > 0 }

// tries plays conversations, and yields for each, in their order, whether the finding came up. Where time is limited
// and each try has a server of its own, they are played side by side: most of their time is waiting.
func (s *shrinker) tries(ctx context.Context, all []Trace) iter.Seq[bool] {
	return func(yield func(bool) bool) {
		if !s.sideBySide() {
			for _, t := range all {
				if !yield(s.shows(ctx, t)) {
					return
				}
			}
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		going := true
		for _, result := range s.beside(ctx, all) {
			s.tell()
			if took := <-result; going { // the others are over at once, but have to be awaited
				if going = yield(s.took(took)); !going {
					cancel()
				}
			}
		}
	}
}

// beside plays conversations side by side, and returns where the result of each will be.
func (s *shrinker) beside(ctx context.Context, all []Trace) []chan try {
	allowed := s.empties()
	results := make([]chan try, len(all))
	for i := range results {
		results[i] = make(chan try, 1)
	}
	free := make(chan struct{}, together())
	go func() {
		for i, t := range all {
			free <- struct{}{}
			go func() { results[i] <- s.try(ctx, t, allowed); <-free }()
		}
	}()
	return results
}

// tell reports the progress of shrinking.
func (s *shrinker) tell() {
	if s.progress != nil {
		s.progress(s.doing)
	}
}

// took takes in the result of a try, and reports whether the finding came up.
func (s *shrinker) took(r try) bool {
	s.plays++
	s.sent += r.sent
	s.same = s.same || r.same
	s.left = append(s.left, r.left...)
	s.start = max(s.start, r.start)
	if r.shown {
		s.latest = r.record
		if s.doing.Activity == Shrinking {
			s.doing.Done = min(s.doing.Done, r.steps)
		}
	}
	return r.shown
}

// try plays a conversation, and gives up when it has waited more often than allowed for jobs that do not come. Several
// may be played at the same time if each has a server of its own.
func (s *shrinker) try(ctx context.Context, t Trace, allowed int) try {
	if s.twin != nil {
		return s.onBoth(ctx, t, s.stalls(allowed))
	}
	var r try
	c, prefix := *s.config, freshPrefix()
	c.timeout = s.wait()
	switch {
	case ctx.Err() != nil:
	case s.bench != nil:
		if s.bench.serve(&c) != nil {
			return r
		}
	case s.look: // others use the server too: what touches all of it is not sent
		c.terms.Alone, c.terms.Flush = false, false
	case s.fresh != nil:
		began := time.Now()
		target, end, err := s.fresh()
		if err != nil {
			return r
		}
		defer end()
		r.start = time.Since(began)
		c.target, c.terms.Server = target, law.NewExclusive()
		prefix = c.ownPrefix() // nothing else has been played there
	}
	p := newPlay(&c, prefix)
	stalls := s.stalls(allowed)
	if s.limit > 0 {
		p.hurries = s.stalls(allowed - 1)
	}
	s.play(ctx, p, t, func() bool { return s.hit(p) >= 0 || p.stalled || stalls(p) })
	r.left = s.clean(ctx, p)
	if p.dead {
		s.gone(p, t)
	}
	r.sent, r.steps = p.commands, len(t.Steps)
	if i := s.hit(p); i >= 0 {
		r.shown, r.record = true, recorded(p, p.found[i])
	} else {
		r.same = s.explained(p, t)
	}
	return r
}

// shared reports whether tries are played on a server on which others have been.
func (s *shrinker) shared() bool { return s.fresh == nil || s.bench != nil }

// clean ends a play, and removes what it has left on a server that is not its own. It returns the jobs that it could
// not remove.
func (s *shrinker) clean(ctx context.Context, p *playing) (left []string) {
	if s.target.outage != nil && !p.dead { // what starts the server again may be at it: that is no part of the next try
		p.serves(ctx)
	}
	if s.shared() && !p.dead {
		p.cleanup(ctx, Quickly)
		left = p.law.Leftover()
	}
	p.close()
	if p.dead && s.revive != nil && s.revive(ctx) { // what the play left on the server may still be there
		p.dead = false
		p.cleanup(ctx, Quickly)
		p.close()
		p.dead = true
	}
	return left
}

// play plays a conversation until enough is true.
func (s *shrinker) play(ctx context.Context, p *playing, t Trace, enough func() bool) {
	if s.shared() {
		p.reset(ctx)
	}
	for round, i := range t.played() {
		if enough() || p.dead || ctx.Err() != nil {
			break
		}
		p.round, p.step = round, i
		p.do(ctx, &t.Steps[i])
	}
	p.round = 0
	p.poll(ctx)
	if p.pushes() && !enough() {
		p.drainAfterLast(ctx, s.dying())
	}
}

// reset plays what makes a server forget: what an earlier try has left behind in its
// memory is not to be taken for what this one shows.
func (p *playing) reset(ctx context.Context) {
	for _, step := range p.subject.Reset {
		p.do(ctx, &step)
	}
	p.found, p.seen = nil, nil
}

// empties returns how often a try may wait for jobs that do not come, which costs two seconds each time: twice where
// there is time for that, or as often as the conversation that is shrunk does.
func (s *shrinker) empties() int {
	const enough = 10 * time.Second
	switch {
	case s.best.answers != nil:
	case s.limit == 0 || s.limit > enough:
		return 2
	default:
		return 0
	}
	allowed := 0
	for _, all := range s.best.answers {
		allowed += empty(all)
	}
	return allowed
}

// stalls returns a function that reports whether a play has waited for jobs that do not come more often than allowed,
// where time is limited. It looks at every answer once: a conversation may be repeated thousands of times.
func (s *shrinker) stalls(allowed int) func(*playing) bool {
	looked, n := 0, 0
	return func(p *playing) bool {
		n += empty(p.seen[looked:])
		looked = len(p.seen)
		return s.limit > 0 && n > allowed
	}
}

// empty counts the answers that brought no job.
func empty(answers []seen) (n int) {
	for _, a := range answers {
		n += b2i(a.Empty)
	}
	return n
}

// bench is a server on which tries are played one after the other, with names that keep them apart: to start one for
// each takes longer than most of them. A nil bench has none.
type bench struct {
	fresh  func() (play.Target, func(), error)
	target play.Target // nil: it is still to be started
	server *law.Server
	end    func()
}

// serve has a play use the server.
func (b *bench) serve(c *config) (err error) {
	if b.target == nil {
		if b.target, b.end, err = b.fresh(); err != nil {
			b.target = nil
			return err
		}
		b.server = law.NewExclusive()
	}
	c.target, c.terms.Server = b.target, b.server
	return nil
}

// drop ends the server: the next play has another one.
func (b *bench) drop() {
	if b != nil && b.target != nil {
		b.end()
		b.target = nil
	}
}

// gone notes that the server of a try is gone.
func (s *shrinker) gone(p *playing, t Trace) {
	if s.bench.drop(); s.bench != nil || s.fresh != nil {
		return
	}
	s.ended, s.lost = &t, p.lost
	last := len(t.Steps) - 1
	s.fatal = found{crash: true, step: last, about: last, conn: noConn, Violation: &law.Violation{ // it died behind that
		Rule: RuleCrash, Expected: "a server that serves", Got: "no new connection is served",
	}}
	if i := slices.IndexFunc(p.found, func(f found) bool { return f.crash }); i >= 0 {
		s.fatal = p.found[i]
	}
}

// How much of the time for shrinking is for short conversations: three quarters, and a quarter of what is left of that
// for each finding, so that there is some for all that come later.
const (
	lookShare = 4
	lookEach  = 4
	lookLeast = 50 * time.Millisecond
)

// look makes what was just found small, on a server that serves, and with fresh names: whatever becomes of the server,
// it has a script then. What does not come again in a short conversation is left for the end. Where there is another
// server for it, one look at a time is taken beside the exploration; last: all are taken and awaited.
func (x *exploration) look(ctx context.Context, last bool) {
	for x.Shrinking > 0 && !x.Unshrunk && ctx.Err() == nil && len(x.result.Findings) < x.enough() {
		switch beside := x.bench != nil && !last; {
		case x.beside != nil && (last || len(x.beside) > 0):
			x.saw(<-x.beside)
			x.beside = nil
		case x.beside != nil || x.seenNow == len(x.pending) || x.bench == nil && x.play.dead:
			return
		case beside:
			x.beside = make(chan looked, 1)
			go func(l looked, to chan<- looked) {
				l.shrinker.shrink(ctx, &l.small)
				to <- l
			}(x.next(x.Shrinking), x.beside)
		default:
			all := Shrinkings * x.Shrinking
			limit := min(x.Shrinking, (all-all/lookShare-x.looked)/lookEach)
			if limit < lookLeast {
				return
			}
			x.pause(ctx, limit, all-x.looked)
		}
	}
}

// pause takes a look while nothing else is done. That is no part of the time for exploring.
func (x *exploration) pause(ctx context.Context, limit, most time.Duration) {
	begun := time.Now()
	limited, cancel := within(ctx, most)
	defer cancel()
	l := x.next(limit)
	l.shrinker.progress = x.report
	l.shrinker.shrink(limited, &l.small)
	x.saw(l)
	took := time.Since(begun)
	x.looked += took
	if !x.budget.Explore.IsZero() {
		x.budget = Budget{Explore: x.budget.Explore.Add(took), End: x.budget.End.Add(took)}
	}
}

// looked is a look at a finding.
type looked struct {
	*pending
	shrinker *shrinker
	small    Finding // what has come of it
}

// next begins a look at the next finding.
func (x *exploration) next(limit time.Duration) looked {
	p := x.pending[x.seenNow]
	x.seenNow++
	s := &shrinker{
		config: x.config, limit: limit, bench: x.bench, look: true, target: p.found, comes: p.comes, before: x.reported,
	}
	if x.bench == nil {
		s.revive = x.Revive
	}
	return looked{p, s, p.Finding}
}

// saw keeps what has come of a look: a script that shows the finding, or what was tried.
func (x *exploration) saw(l looked) {
	p, s := l.pending, l.shrinker
	x.result.Left = append(x.result.Left, s.left...)
	key := x.kind(p.Rule, p.Clause)
	switch {
	case x.reported[key]: // another one turned out to be this
	case s.same && l.small.Shown == 0 && p.Crash: // a part of it ends the server as is known
		x.reported[key], p.kept = true, true
	case l.small.Shown > 0 && 2*l.small.Shown >= l.small.Tried && !s.same:
		l.small.Times, l.small.Moments = p.Times, p.Moments // it may have come again meanwhile
		p.Finding = l.small
		const plain = 6 // steps
		if x.keep(p, key); p.kept && s.cut && len(p.Small.Steps) > plain {
			p.cut = &s.best.hit
		}
	default:
		p.Unscripted = l.small.Unscripted
	}
	if s.ended == nil {
		return
	}
	x.play.dead, x.play.lost = true, s.lost // what its own play sees of that is no finding
	if s.lost == "" && !p.Crash {
		x.trace, x.play.seen = s.ended.Steps, nil
		x.finding(s.fatal)
	}
}

// further makes the small conversation of a finding shorter, if there was no time for that when it was found.
func (x *exploration) further(ctx context.Context, p *pending, limit time.Duration) {
	s, small := x.shrinker(limit, *p.cut), p.Finding
	s.further(ctx, &small)
	x.result.Left = append(x.result.Left, s.left...)
	if small.Shown == 0 || small.Script == "" || small.Clause != p.Clause || len(small.Small.Steps) >= len(p.Small.Steps) {
		return
	}
	at := slices.IndexFunc(x.result.Findings, func(f Finding) bool { return f.Number == p.Number })
	p.Finding, x.result.Findings[at] = small, small
}
