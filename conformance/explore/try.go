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

// tryResult is one play of a conversation that may show a finding.
type tryResult struct {
	isShown  bool
	record   playRecord // if it was shown
	isKnown  bool       // a part of the conversation shows that this is something known
	commands int        // commands
	steps    int        // of the conversation
	leftover []string
	start    time.Duration // that its server took to start
}

// parallelTries returns how many tries are played at the same time where each has a server of its own, which needs a
// processor at least while it starts. Most of their time is waiting.
func parallelTries() int {
	const each, minimum = 2, 4
	return max(minimum, each*runtime.GOMAXPROCS(0))
}

// isParallel reports whether several tries are played at the same time.
func (s *shrinker) isParallel() bool { return s.startTarget != nil && s.limit > 0 }

// tries plays conversations, and yields for each, in their order, whether the finding came up. Where time is limited
// and each try has a server of its own, they are played side by side: most of their time is waiting.
func (s *shrinker) tries(ctx context.Context, all []Trace) iter.Seq[bool] {
	return func(yield func(bool) bool) {
		if !s.isParallel() {
			for _, t := range all {
				if !yield(s.shows(ctx, t)) {
					return
				}
			}
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		isRunning := true
		for _, result := range s.playParallel(ctx, all) {
			s.tell()
			if took := <-result; isRunning { // the others are over at once, but have to be awaited
				if isRunning = yield(s.addResult(took)); !isRunning {
					cancel()
				}
			}
		}
	}
}

// playParallel plays conversations side by side, and returns where the result of each will be.
func (s *shrinker) playParallel(ctx context.Context, all []Trace) []chan tryResult {
	empties := s.allowedEmpties()
	results := make([]chan tryResult, len(all))
	for i := range results {
		results[i] = make(chan tryResult, 1)
	}
	slots := make(chan struct{}, parallelTries())
	go func() {
		for i, t := range all {
			slots <- struct{}{}
			go func() { results[i] <- s.try(ctx, t, empties); <-slots }()
		}
	}()
	return results
}

// tell reports the progress of shrinking.
func (s *shrinker) tell() {
	if s.progress != nil {
		s.progress(s.activity)
	}
}

// addResult takes in the result of a try, and reports whether the finding came up.
func (s *shrinker) addResult(r tryResult) bool {
	s.plays++
	s.commands += r.commands
	s.isKnown = s.isKnown || r.isKnown
	s.leftover = append(s.leftover, r.leftover...)
	s.start = max(s.start, r.start)
	if r.isShown {
		s.latest = r.record
		if s.activity.Activity == Shrinking {
			s.activity.Done = min(s.activity.Done, r.steps)
		}
	}
	return r.isShown
}

// try plays a conversation, and gives up when it has waited more often than allowed for jobs that do not come. Several
// may be played at the same time if each has a server of its own.
func (s *shrinker) try(ctx context.Context, t Trace, empties int) tryResult {
	if s.twin != nil {
		return s.tryPair(ctx, t, s.stalls(empties))
	}
	var r tryResult
	c, prefix := *s.config, newPrefix()
	c.timeout = s.wait()
	switch {
	case ctx.Err() != nil:
	case s.trialServer != nil:
		if s.trialServer.serve(&c) != nil {
			return r
		}
	case s.look: // others use the server too: what touches all of it is not sent
		c.terms.Alone, c.terms.Flush = false, false
	case s.startTarget != nil:
		began := time.Now()
		target, end, err := s.startTarget()
		if err != nil {
			return r
		}
		defer end()
		r.start = time.Since(began)
		c.target, c.terms.History = target, law.NewExclusiveHistory()
		prefix = c.exclusivePrefix() // nothing else has been played there
	}
	p := newPlay(&c, prefix)
	stalls := s.stalls(empties)
	if s.limit > 0 {
		p.hurries = s.stalls(empties - 1)
	}
	s.play(ctx, p, t, func() bool { return s.hit(p) >= 0 || p.isStalled || stalls(p) })
	r.leftover = s.clean(ctx, p)
	if p.isDead {
		s.noteEnd(p, t)
	}
	r.commands, r.steps = p.commands, len(t.Steps)
	if i := s.hit(p); i >= 0 {
		r.isShown, r.record = true, recordOf(p, p.sightings[i])
	} else {
		r.isKnown = s.isExplained(p, t)
	}
	return r
}

// isShared reports whether tries are played on a server on which others have been.
func (s *shrinker) isShared() bool { return s.startTarget == nil || s.trialServer != nil }

// clean ends a play, and removes what it has left on a server that is not its own. It returns the jobs that it could
// not remove.
func (s *shrinker) clean(ctx context.Context, p *playthrough) (leftover []string) {
	if s.target.outage != nil && !p.isDead { // what starts the server again may be at it: that is no part of the next try
		p.serves(ctx)
	}
	if s.isShared() && !p.isDead {
		p.cleanup(ctx, QuickCleaning)
		leftover = p.law.Leftover()
	}
	p.close()
	if p.isDead && s.revive != nil && s.revive(ctx) { // what the play left on the server may still be there
		p.isDead = false
		p.cleanup(ctx, QuickCleaning)
		p.close()
		p.isDead = true
	}
	return leftover
}

// play plays a conversation until enough is true.
func (s *shrinker) play(ctx context.Context, p *playthrough, t Trace, enough func() bool) {
	if s.isShared() {
		p.reset(ctx)
	}
	for round, i := range t.sequence() {
		if enough() || p.isDead || ctx.Err() != nil {
			break
		}
		p.round, p.step = round, i
		p.do(ctx, &t.Steps[i])
	}
	p.round = 0
	p.poll(ctx)
	if p.pushes() && !enough() {
		p.drainAfterLast(ctx, s.deathPatience())
	}
}

// reset plays what makes a server forget: what an earlier try has left behind in its
// memory is not to be taken for what this one shows.
func (p *playthrough) reset(ctx context.Context) {
	for _, step := range p.subject.Reset {
		p.do(ctx, &step)
	}
	p.sightings, p.replies = nil, nil
}

// allowedEmpties returns how often a try may wait for jobs that do not come, which costs two seconds each time: twice
// where there is time for that, or as often as the conversation that is shrunk does.
func (s *shrinker) allowedEmpties() int {
	const limit = 10 * time.Second
	switch {
	case s.best.answers != nil:
	case s.limit == 0 || s.limit > limit:
		return 2
	default:
		return 0
	}
	total := 0
	for _, all := range s.best.answers {
		total += countEmpty(all)
	}
	return total
}

// stalls returns a function that reports whether a play has waited for jobs that do not come more often than allowed,
// where time is limited. It looks at every answer once: a conversation may be repeated thousands of times.
func (s *shrinker) stalls(empties int) func(*playthrough) bool {
	looked, n := 0, 0
	return func(p *playthrough) bool {
		n += countEmpty(p.replies[looked:])
		looked = len(p.replies)
		return s.limit > 0 && n > empties
	}
}

// countEmpty counts the answers that brought no job.
func countEmpty(answers []reply) (n int) {
	for _, a := range answers {
		n += b2i(a.Empty)
	}
	return n
}

// trialServer is a server on which tries are played one after the other, with names that keep them apart: to start one
// for each takes longer than most of them. A nil bench has none.
type trialServer struct {
	startTarget func() (play.Target, func(), error)
	target      play.Target // nil: it is still to be started
	history     *law.History
	end         func()
}

// serve has a play use the server.
func (b *trialServer) serve(c *config) (err error) {
	if b.target == nil {
		if b.target, b.end, err = b.startTarget(); err != nil {
			b.target = nil
			return err
		}
		b.history = law.NewExclusiveHistory()
	}
	c.target, c.terms.History = b.target, b.history
	return nil
}

// drop ends the server: the next play has another one.
func (b *trialServer) drop() {
	if b != nil && b.target != nil {
		b.end()
		b.target = nil
	}
}

// noteEnd notes that the server of a try is gone.
func (s *shrinker) noteEnd(p *playthrough, t Trace) {
	if s.trialServer.drop(); s.trialServer != nil || s.startTarget != nil {
		return
	}
	s.ended, s.lostReason = &t, p.lostReason
	last := len(t.Steps) - 1
	// it died behind that
	s.fatal = sighting{crash: true, step: last, wrongStep: last, conn: noConn, Violation: &law.Violation{
		Rule: RuleCrash, Expected: "a server that serves", Got: "no new connection is served",
	}}
	if i := slices.IndexFunc(p.sightings, func(f sighting) bool { return f.crash }); i >= 0 {
		s.fatal = p.sightings[i]
	}
}

// How much of the time for shrinking is for short conversations: three quarters, and a quarter of what is left of that
// for each finding, so that there is some for all that come later.
const (
	lookShare = 4
	lookEach  = 4
	minLook   = 50 * time.Millisecond
)

// look makes what was just found small, on a server that serves, and with fresh names: whatever becomes of the server,
// it has a script then. What does not come again in a short conversation is left for the end. Where there is another
// server for it, one look at a time is taken beside the exploration; last: all are taken and awaited.
func (x *exploration) look(ctx context.Context, last bool) {
	for x.Shrinking > 0 && !x.SkipsShrinking && ctx.Err() == nil && len(x.result.Findings) < x.maxFindings() {
		switch isParallel := x.trialServer != nil && !last; {
		case x.lookResults != nil && (last || len(x.lookResults) > 0):
			x.keepLook(<-x.lookResults)
			x.lookResults = nil
		case x.lookResults != nil || x.lookCount == len(x.pending) || x.trialServer == nil && x.play.isDead:
			return
		case isParallel:
			x.lookResults = make(chan lookResult, 1)
			go func(l lookResult, to chan<- lookResult) {
				l.shrinker.shrink(ctx, &l.result)
				to <- l
			}(x.next(x.Shrinking), x.lookResults)
		default:
			all := Shrinkings * x.Shrinking
			limit := min(x.Shrinking, (all-all/lookShare-x.lookTime)/lookEach)
			if limit < minLook {
				return
			}
			x.pause(ctx, limit, all-x.lookTime)
		}
	}
}

// pause takes a look while nothing else is done. That is no part of the time for exploring.
func (x *exploration) pause(ctx context.Context, limit, total time.Duration) {
	start := time.Now()
	limited, cancel := withLimit(ctx, total)
	defer cancel()
	l := x.next(limit)
	l.shrinker.progress = x.report
	l.shrinker.shrink(limited, &l.result)
	x.keepLook(l)
	took := time.Since(start)
	x.lookTime += took
	if !x.budget.Explore.IsZero() {
		x.budget = Budget{Explore: x.budget.Explore.Add(took), End: x.budget.End.Add(took)}
	}
}

// lookResult is a look at a finding.
type lookResult struct {
	*pendingFinding
	shrinker *shrinker
	result   Finding // what has come of it
}

// next begins a look at the next finding.
func (x *exploration) next(limit time.Duration) lookResult {
	p := x.pending[x.lookCount]
	x.lookCount++
	s := &shrinker{
		config: x.config, limit: limit, trialServer: x.trialServer, look: true, target: p.found,
		deliverySteps: p.deliverySteps,
		earlier:       x.reportedKinds,
	}
	if x.trialServer == nil {
		s.revive = x.Revive
	}
	return lookResult{p, s, p.Finding}
}

// keepLook keeps what has come of a look: a script that shows the finding, or what was tried.
func (x *exploration) keepLook(l lookResult) {
	p, s := l.pendingFinding, l.shrinker
	x.result.LeftoverJobs = append(x.result.LeftoverJobs, s.leftover...)
	key := x.kind(p.Rule, p.Clause)
	switch {
	case x.reportedKinds[key]: // another one turned out to be this
	case s.isKnown && l.result.Hits == 0 && p.Crash: // a part of it ends the server as is known
		x.reportedKinds[key], p.isInResult = true, true
	case l.result.Hits > 0 && 2*l.result.Hits >= l.result.Tries && !s.isKnown:
		l.result.Times, l.result.Moments = p.Times, p.Moments // it may have come again meanwhile
		p.Finding = l.result
		const maxSteps = 6 // steps
		if x.keep(p, key); p.isInResult && s.isCut && len(p.Reduction.Steps) > maxSteps {
			p.cut = &s.best.hit
		}
	default:
		p.UnscriptedReason = l.result.UnscriptedReason
	}
	if s.ended == nil {
		return
	}
	x.play.isDead, x.play.lostReason = true, s.lostReason // what its own play sees of that is no finding
	if s.lostReason == "" && !p.Crash {
		x.trace, x.play.replies = s.ended.Steps, nil
		x.finding(s.fatal)
	}
}

// shrinkFurther makes the small conversation of a finding shorter, if there was no time for that when it was found.
func (x *exploration) shrinkFurther(ctx context.Context, p *pendingFinding, limit time.Duration) {
	s, result := x.shrinker(limit, *p.cut), p.Finding
	s.shrinkFurther(ctx, &result)
	x.result.LeftoverJobs = append(x.result.LeftoverJobs, s.leftover...)
	if result.Hits == 0 || result.Script == "" || result.Clause != p.Clause ||
		len(result.Reduction.Steps) >= len(p.Reduction.Steps) {
		return
	}
	at := slices.IndexFunc(x.result.Findings, func(f Finding) bool { return f.Number == p.Number })
	p.Finding, x.result.Findings[at] = result, result
}
