package explore

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// shrinker makes conversations small. Every try is a play on fresh names, on a server
// of its own if there is a way to have one.
type shrinker struct {
	config   *config
	fresh    func() (play.Target, func(), error)
	target   found                      // what has to show again
	comes    map[int]bool               // the steps at which the job of the finding was delivered
	before   map[string]bool            // what was found before, which is no match
	reported []string                   // clauses under which it need not be shrunk
	limit    time.Duration              // that all this may take; no limit if zero
	bench    *bench                     // where tries are played one after the other; nil: see fresh
	look     bool                       // it was just found: short conversations alone are tried, with short waits
	progress func(Progress)             // is called before each play; may be nil
	revive   func(context.Context) bool // starts a server again that a try has ended; nil where that cannot be done

	twin      *comparing // a difference is shrunk: each try is played on a second server too
	exchanges []Exchange // of the last try that showed it

	doing       Progress
	plays, sent int           // tries, and the commands in all of them
	latest      record        // of the last try that showed the finding
	best        record        // of the smallest conversation until now
	same        bool          // a part of the conversation shows that this is something known
	left        []string      // jobs that tries could not remove
	late        bool          // there was no time for some of the first tries
	start       time.Duration // that the server of a try took to start at most
	cut         bool          // there was none to make the conversation minimal
	ended       *Trace        // the conversation behind which the server that is explored was gone; nil: none
	fatal       found         // what was found then
	lost        string        // why it may be no server that is gone; else empty
}

const (
	playsAtMost = 600     // that are spent on one finding
	sentAtMost  = 200_000 // commands that are spent on one finding
	confirmed   = 5       // times that the result is played
	unitAtMost  = 20      // steps that are tried as the body of a repetition
	confirming  = 3       // one such part of the limit is kept for playing the result
)

// shrink fills in the small conversation of a finding, if it shows again at all; only its clause if that is reported.
func (s *shrinker) shrink(ctx context.Context, f *Finding) {
	ctx, cancel := within(ctx, s.limit+s.patience())
	defer cancel()
	limited, end := s.limited(ctx)
	defer end()
	s.doing = Progress{Activity: Shrinking, Finding: f.Name(), Done: len(f.Whole.Steps), Of: len(f.Whole.Steps)}
	f.Unscripted = "" // of an earlier look
	small, ok := s.begin(limited, f.Whole.Steps[:min(s.target.step+1, len(f.Whole.Steps))])
	if !ok {
		f.Unscripted = fmt.Sprintf("it did not come again in %s with fresh names",
			text.Count(s.plays, "conversation"))
		if s.late || limited.Err() != nil {
			f.Unscripted = fmt.Sprintf("it did not come again in %s; no time was left for more",
				text.Count(s.plays, "conversation"))
		}
		return
	}
	if slices.Contains(s.reported, s.best.hit.Clause) {
		f.Clause = s.best.hit.Clause
		return
	}
	s.minimal(ctx, limited, f, small)
}

// further is shrink for what an earlier one has cut, and goes on with its result.
func (s *shrinker) further(ctx context.Context, f *Finding) {
	ctx, cancel := within(ctx, s.limit)
	defer cancel()
	limited, end := s.limited(ctx)
	defer end()
	s.doing = Progress{Activity: Shrinking, Finding: f.Name(), Done: len(f.Small.Steps), Of: len(f.Small.Steps)}
	if f.Tried, f.Shown = 0, 0; s.shows(limited, f.Small) {
		s.best = s.latest
		s.minimal(ctx, limited, f, f.Small)
	}
}

// limited returns ctx with the part of the limit in which conversations are made shorter.
func (s *shrinker) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return within(ctx, s.limit-s.limit/confirming)
}

// minimal makes a conversation that shows the finding minimal, as far as the limited time allows, and confirms it.
func (s *shrinker) minimal(ctx, limited context.Context, f *Finding, small Trace) {
	done := s.onOne(limited, small)
	if small = s.reduce(limited, small); s.same {
		done()
		return
	}
	minimal := !s.spent(limited)
	f.Small = s.simplify(limited, small)
	s.cut = s.spent(limited)
	done()
	if s.confirm(ctx, f); f.Shown > 0 && minimal { // it needs the earlier command
		f.Own = ""
	}
	if f.Shown > 0 && s.twin == nil {
		hit := conformance.Judged(s.best.hit.Violation)
		f.Clause, f.Should, f.Expected, f.Got, f.What = hit.Clause, hit.Should, hit.Expected, hit.Got, hit.What
		if f.Script = script(f.Small, f, s.best); f.Script == "" {
			f.Unscripted = "a script cannot express it"
		}
	}
}

// quickStart is how long a server may take to start for each try.
const quickStart = 50 * time.Millisecond

// onOne has the tries that follow use one server, until done, where each would have one that takes long to start,
// if the conversation shows the finding there too.
func (s *shrinker) onOne(ctx context.Context, small Trace) (done func()) {
	if s.bench != nil || s.start < quickStart {
		return func() {}
	}
	s.bench = &bench{fresh: s.fresh}
	done = func() {
		s.bench.drop()
		s.bench = nil
	}
	if !s.shows(ctx, small) {
		done()
		return done
	}
	s.best = s.latest
	return done
}

// confirm counts how reliably the small conversation shows the finding.
func (s *shrinker) confirm(ctx context.Context, f *Finding) {
	s.doing = Progress{Activity: Confirming, Finding: f.Name(), Of: confirmed}
	if s.look {
		s.assure(ctx, f)
		return
	}
	f.count(ctx, s.tries(ctx, slices.Repeat([]Trace{f.Small}, confirmed)), func(shown bool) {
		if s.doing.Done++; shown {
			s.best = s.latest
		}
	})
}

// briefly is how long the tries of a look wait for a reply: a server that was found not to answer is not slow.
const briefly = time.Second

// wait is the longest wait of a try for a reply.
func (s *shrinker) wait() time.Duration {
	if s.look && s.doing.Activity == Shrinking && s.target.outage == nil {
		return min(s.config.timeout, briefly)
	}
	return s.config.timeout
}

// dying is how long a server may take to die of a conversation; zero: that is not what it is to show.
func (s *shrinker) dying() time.Duration {
	if !s.target.crash {
		return 0
	}
	return min(time.Second, s.wait()/4) //nolint:mnd // of a look most tries do not end the server
}

// patience is how long a look may take behind its limit, to play its result with the whole timeout.
func (s *shrinker) patience() time.Duration {
	if s.look && s.limit > 0 {
		return 2 * s.config.timeout
	}
	return 0
}

// assure plays the result of a look with the whole timeout, on a server on which nothing was played before if there can
// be one, and then again as long as there is time.
func (s *shrinker) assure(ctx context.Context, f *Finding) {
	s.bench.drop()
	limited, cancel := within(ctx, s.limit/confirming)
	defer cancel()
	f.Tried, f.Shown = 1, b2i(s.shows(ctx, f.Small))
	s.best = s.latest
	for f.Tried < confirmed && f.Shown > 0 && limited.Err() == nil {
		shown := s.shows(limited, f.Small)
		if limited.Err() != nil && !shown {
			break
		}
		f.Tried++
		f.Shown += b2i(shown)
	}
}

// count counts plays of the small conversation, and those that showed the finding. A play that did not because the time
// was over does not count. If there was no time for any, the one that showed the finding last counts.
func (f *Finding) count(ctx context.Context, plays iter.Seq[bool], played func(shown bool)) {
	for shown := range plays {
		if ctx.Err() != nil && !shown {
			break
		}
		f.Tried++
		f.Shown += b2i(shown)
		played(shown)
	}
	if f.Tried == 0 {
		f.Shown, f.Tried = 1, 1
	}
}

// shows plays a conversation, and reports whether the finding came up.
func (s *shrinker) shows(ctx context.Context, t Trace) bool {
	s.tell()
	return s.took(s.try(ctx, t, s.empties()))
}

// explained reports whether the last command of a part of the conversation was answered in
// a way that is known to be wrong: what was found has no cause of its own.
func (s *shrinker) explained(p *playing, t Trace) bool {
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
	return !s.config.subject.has(f.Rule, law.OfField) || want == "" || want == got
}

// family returns one name for all rules under which the same bug may show.
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

// hit is where the finding came up in a play: under its clause, under that of its own command, because the earlier one
// is not the reason then, or under one of which nothing is known yet; negative if it did not.
func (s *shrinker) hit(p *playing) int {
	return slices.IndexFunc(p.found, func(f found) bool {
		if f.Clause == s.target.Clause || s.target.Own != "" && f.Clause == s.target.Own {
			return s.related(f.Rule) && f.crash == s.target.crash
		}
		return s.alike(f) && !s.known(f)
	})
}

// reduce takes steps away as long as the finding shows. What it returns was played: the record of it is the best one.
func (s *shrinker) reduce(ctx context.Context, t Trace) Trace {
	best := t.all()
	if part := effective(t, best); len(part) < len(best) && !s.spent(ctx) && s.still(ctx, t.only(part)) {
		best = part
	}
	play.Shorten(ctx, best, func(ctx context.Context, part []int) bool {
		part = effective(t, part)
		if len(part) == 0 || s.spent(ctx) || !slices.Equal(part, best) && !s.still(ctx, t.only(part)) {
			return false
		}
		best = part
		return true
	})
	return t.only(best)
}

// effective leaves out those of some steps of a trace, which are given as their places, that are done on connections
// that are not open: they have no effect. Where steps are repeated nothing is left out.
func effective(t Trace, places []int) []int {
	open := map[int]bool{}
	return slices.DeleteFunc(slices.Clone(places), func(at int) bool {
		step := t.Steps[at]
		conn := step.Conn()
		known := open[conn]
		if _, stops := step.disrupts(); stops {
			clear(open)
		}
		switch {
		case step.opens():
			open[conn] = true
			return false
		case step.Ends():
			open[conn] = false
		}
		return conn >= 0 && !known && t.N <= 1
	})
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

// all returns the places of all steps.
func (t Trace) all() []int {
	places := make([]int, len(t.Steps))
	for i := range places {
		places[i] = i
	}
	return places
}

// only returns the trace with the steps at some places alone. What is repeated stays so.
func (t Trace) only(places []int) Trace {
	less := Trace{N: t.N}
	for _, at := range places {
		less.Steps = append(less.Steps, t.Steps[at])
		less.From, less.To = less.From+b2i(at < t.From), less.To+b2i(at < t.To)
	}
	return less
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
