package explore

import (
	"context"
	"iter"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
)

// try is one play of a conversation that may show a finding.
type try struct {
	shown  bool
	record record // if it was shown
	same   bool   // a part of the conversation shows that this is something known
	sent   int    // commands
	steps  int    // of the conversation
	left   []string
}

// together is how many tries are played at the same time where each has a server of its own.
const together = 12

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
	free := make(chan struct{}, together)
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
	if s.fresh != nil && ctx.Err() == nil {
		target, end, err := s.fresh()
		if err != nil {
			return r
		}
		defer end()
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
	r.sent, r.steps = p.commands, len(t.Steps)
	if i := s.hit(p); i >= 0 {
		r.shown, r.record = true, recorded(p, p.found[i])
	} else {
		r.same = s.explained(p, t)
	}
	return r
}

// clean ends a play, and removes what it has left on a server that is not its own. It returns the jobs that it could
// not remove.
func (s *shrinker) clean(ctx context.Context, p *playing) (left []string) {
	if s.target.outage != nil && !p.dead { // what starts the server again may be at it: that is no part of the next try
		p.serves(ctx)
	}
	if s.fresh == nil && !p.dead {
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
	if s.fresh == nil {
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
		p.drainAfterLast(ctx, s.target.crash)
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
