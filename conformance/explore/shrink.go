package explore

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/scenarios"
)

// shrinker makes conversations small. Every try is a play on fresh names, on a server
// of its own if there is a way to have one.
type shrinker struct {
	config *config
	fresh  func() (scenarios.Target, func(), error)
	target found                      // what has to show again
	comes  map[int]bool               // the steps at which the job of the finding was delivered
	before map[string]bool            // what was found before, which is no match
	limit  time.Duration              // that all this may take; no limit if zero
	revive func(context.Context) bool // starts a server again that a try has ended; nil where that cannot be done

	plays, sent int      // tries, and the commands in all of them
	latest      record   // of the last try that showed the finding
	best        record   // of the smallest conversation until now
	same        bool     // a part of the conversation shows that this is something known
	everybody   bool     // a restart, or a line that is Shared, was played, which touches what others have on the server
	left        []string // jobs that tries could not remove
}

const (
	playsAtMost = 600     // that are spent on one finding
	sentAtMost  = 200_000 // commands that are spent on one finding
	confirmed   = 5       // times that the result is played
	unitAtMost  = 20      // steps that are tried as the body of a repetition
)

// shrink fills in the small conversation of a finding, if it shows again at all.
func (s *shrinker) shrink(ctx context.Context, f *Finding) {
	limited, cancel := within(ctx, s.limit)
	defer cancel()
	small, ok := s.begin(limited, f.Whole.Steps[:min(s.target.step+1, len(f.Whole.Steps))])
	if !ok {
		f.Unscripted = "it did not come again when the same was played on fresh names"
		if limited.Err() != nil {
			f.Unscripted = "it did not come again in the time for that"
		}
		return
	}
	if small = s.reduce(limited, small); s.same {
		return
	}
	f.Small = s.simplify(limited, small)
	s.confirm(ctx, f)
	if f.Shown > 0 {
		hit := s.best.hit
		f.Clause, f.Should, f.Expected, f.Got, f.What = hit.Clause, hit.Should, hit.Expected, hit.Got, hit.What
		if f.Script = script(f.Small, f, s.best); f.Script == "" {
			f.Unscripted = "no line of a script can say it"
		}
	}
}

// within is ctx with a limit, unless that is zero.
func within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}

// confirm counts how reliably the small conversation shows the finding. If there is no
// time for it, that one which showed it last counts.
func (s *shrinker) confirm(ctx context.Context, f *Finding) {
	limited, cancel := within(ctx, s.limit/2)
	defer cancel()
	for range confirmed {
		is := s.shows(limited, f.Small)
		if limited.Err() != nil && !is {
			break
		}
		if f.Tried++; is {
			f.Shown++
			s.best = s.latest
		}
	}
	if f.Tried == 0 {
		f.Shown, f.Tried = 1, 1
	}
}

// shows plays a conversation, and reports whether the finding came up.
func (s *shrinker) shows(ctx context.Context, t Trace) bool {
	s.plays++
	stalls := s.stalls()
	p, end := s.play(ctx, t, func(p *play) bool { return s.hit(p) >= 0 || stalls(p) })
	defer end()
	s.sent += p.commands
	if i := s.hit(p); i >= 0 {
		s.latest = recorded(p, p.found[i])
		return true
	}
	s.same = s.same || s.explained(p, t)
	return false
}

// explained reports whether the last command of a part of the conversation was answered in
// a way that is known to be wrong: what was found has no cause of its own.
func (s *shrinker) explained(p *play, t Trace) bool {
	return t.N <= 1 && slices.ContainsFunc(p.found, func(f found) bool {
		return f.step == len(t.Steps)-1 && s.known(f) && s.alike(f)
	})
}

// alike reports whether a finding may be the wanted one under another clause: it is of the
// same family, and about the same field of a job if it is about one.
func (s *shrinker) alike(f found) bool {
	if !s.related(f.Rule) || f.crash != s.target.crash {
		return false
	}
	want, _, _ := strings.Cut(s.target.Got, ":")
	got, _, _ := strings.Cut(f.Got, ":")
	return f.Rule != "field" || want == "" || want == got
}

// stalls returns a function that reports whether a play has waited for jobs that do
// not come more often than the conversation that is shrunk: each time costs two
// seconds. It looks at every answer once: a conversation may be repeated thousands of
// times.
func (s *shrinker) stalls() func(*play) bool {
	allowed := 2
	for _, all := range s.best.answers {
		allowed += empty(all)
	}
	looked, n := 0, 0
	return func(p *play) bool {
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

// family returns one name for all rules under which the same fault may show.
func (s *Subject) family(rule string) string {
	if s.Family == nil {
		return rule
	}
	return s.Family(rule)
}

// kind is what distinguishes findings.
func (e *Explorer) kind(rule, clause string) string { return e.Subject.family(rule) + " > " + clause }

// known reports whether such a finding was found before.
func (s *shrinker) known(f found) bool {
	return s.before[s.config.subject.family(f.Rule)+" > "+f.Clause]
}

// related reports whether a rule is of the family of the one that is wanted.
func (s *shrinker) related(rule string) bool {
	return s.config.subject.family(rule) == s.config.subject.family(s.target.Rule)
}

// hit is where the finding came up in a play: under its clause, or under one of which
// nothing is known yet; negative if it did not.
func (s *shrinker) hit(p *play) int {
	return slices.IndexFunc(p.found, func(f found) bool {
		if f.Clause == s.target.Clause {
			return s.related(f.Rule) && f.crash == s.target.crash
		}
		return s.alike(f) && !s.known(f)
	})
}

// play plays a conversation until enough is true.
func (s *shrinker) play(ctx context.Context, t Trace, enough func(*play) bool) (*play, func()) {
	c, end := *s.config, func() {}
	if s.fresh != nil {
		target, stop, err := s.fresh()
		if err == nil {
			c.target, end = target, stop
		}
	}
	p := newPlay(&c, freshPrefix())
	s.everybody = s.everybody || slices.ContainsFunc(t.Steps, s.shared)
	if s.fresh == nil {
		p.reset(ctx)
	}
	for round, i := range t.played() {
		if enough(p) || p.dead || ctx.Err() != nil {
			break
		}
		p.round, p.step = round, i
		p.do(ctx, &t.Steps[i])
	}
	p.round = 0
	p.poll(ctx)
	if s.fresh == nil && !p.dead {
		p.cleanup(ctx)
		s.left = append(s.left, p.law.Leftover()...)
	}
	p.close()
	if p.dead && s.revive != nil && s.revive(ctx) { // what the play left on the server may still be there
		p.dead = false
		p.cleanup(ctx)
		p.close()
		p.dead = true
	}
	return p, end
}

// shared reports whether a step changes what others have on the server.
func (s *shrinker) shared(step Step) bool {
	return step.restarts() || s.config.subject.Shared != nil && s.config.subject.Shared(step.Text())
}

// reset plays what makes a server forget: what an earlier try has left behind in its
// memory is not to be taken for what this one shows.
func (p *play) reset(ctx context.Context) {
	for _, step := range p.subject.Reset {
		p.do(ctx, &step)
	}
	p.found, p.seen = nil, nil
}

// reduce takes steps away as long as the finding shows: first the number of
// repetitions, then halves, quarters and so on down to single steps.
func (s *shrinker) reduce(ctx context.Context, t Trace) Trace {
	t = effective(t)
	for n := max(1, len(t.Steps)/2); ; {
		shorter := false
		for at := 0; at < len(t.Steps) && !s.spent(ctx); {
			if less := without(t, at, min(at+n, len(t.Steps))); len(less.Steps) > 0 && s.still(ctx, less) {
				t, shorter = less, true
				continue
			}
			at += n
		}
		if n == 1 && !shorter || s.spent(ctx) {
			return t
		}
		if t = effective(t); n > 1 {
			n = min(n/2, max(1, len(t.Steps)/2))
		}
	}
}

// effective leaves out what is done on connections that are not open, which has no
// effect.
func effective(t Trace) Trace {
	if t.N > 1 {
		return t
	}
	open := map[int]bool{}
	return Trace{Steps: slices.DeleteFunc(slices.Clone(t.Steps), func(step Step) bool {
		conn := step.Conn()
		known := open[conn]
		switch {
		case step.opens():
			open[conn] = true
			return false
		case step.Ends():
			open[conn] = false
		}
		return conn >= 0 && !known
	})}
}

// spent reports whether enough was tried.
func (s *shrinker) spent(ctx context.Context) bool {
	return s.same || s.plays >= playsAtMost || s.sent >= sentAtMost || ctx.Err() != nil
}

// still reports whether a conversation shows the finding, each time where time plays a
// part.
func (s *shrinker) still(ctx context.Context, t Trace) bool {
	times := 1
	if slices.ContainsFunc(t.Steps, func(step Step) bool { return step.waits() > 0 }) {
		times = 3
	}
	for range times {
		if !s.shows(ctx, t) {
			return false
		}
	}
	s.best = s.latest
	return true
}

// changes applies change to a copy of the steps, and keeps it if the finding still shows.
func (s *shrinker) changes(ctx context.Context, t *Trace, change func(steps []Step) bool) bool {
	next := *t
	next.Steps = slices.Clone(t.Steps)
	accepted := !s.spent(ctx) && change(next.Steps) && s.still(ctx, next)
	if accepted {
		*t = next
	}
	return accepted
}

// sends has a step send another text instead, if the finding still shows.
func (s *shrinker) sends(ctx context.Context, t *Trace, at int, text string) bool {
	return s.changes(ctx, t, func(steps []Step) bool {
		steps[at] = steps[at].sending(Builder{s.config.subject.Dialect}.Parse(text), steps[at].Sends().Bytewise)
		return true
	})
}

// without leaves the steps [from,to) out.
func without(t Trace, from, to int) Trace {
	shift := func(at int) int { return at - max(0, min(at, to)-from)*b2i(at > from) }
	return Trace{Steps: slices.Concat(t.Steps[:from], t.Steps[to:]), From: shift(t.From), To: shift(t.To), N: t.N}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
