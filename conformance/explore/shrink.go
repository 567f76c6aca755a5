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
	config          *config
	startTarget     func() (play.Target, func(), error)
	target          sighting                   // what has to show again
	deliverySteps   map[int]bool               // the steps at which the job of the finding was delivered
	earlier         map[string]bool            // what was found before, which is no match
	reportedClauses []string                   // clauses under which it need not be shrunk
	limit           time.Duration              // that all this may take; no limit if zero
	trialServer     *trialServer               // where tries are played one after the other; nil: see startTarget
	look            bool                       // it was just found: short conversations alone are tried, with short waits
	progress        func(Progress)             // is called before each play; may be nil
	revive          func(context.Context) bool // starts a server again that a try has ended; nil where that cannot be done

	twin      *comparisonRun // a difference is shrunk: each try is played on a second server too
	exchanges []Exchange     // of the last try that showed it

	activity        Progress
	plays, commands int           // tries, and the commands in all of them
	latest          playRecord    // of the last try that showed the finding
	best            playRecord    // of the smallest conversation until now
	isKnown         bool          // a part of the conversation shows that this is something known
	leftover        []string      // jobs that tries could not remove
	isLate          bool          // there was no time for some of the first tries
	start           time.Duration // that the server of a try took to start at most
	isCut           bool          // there was none to make the conversation minimal
	ended           *Trace        // the conversation behind which the server that is explored was gone; nil: none
	fatal           sighting      // what was found then
	lostReason      string        // why it may be no server that is gone; else empty
}

const (
	maxPlays          = 600     // that are spent on one finding
	maxCommands       = 200_000 // commands that are spent on one finding
	confirmationPlays = 5       // times that the result is played
	maxUnit           = 20      // steps that are tried as the body of a repetition
	confirmationShare = 3       // one such part of the limit is kept for playing the result
)

// shrink fills in the small conversation of a finding, if it shows again at all; only its clause if that is reported.
func (s *shrinker) shrink(ctx context.Context, f *Finding) {
	ctx, cancel := withLimit(ctx, s.limit+s.patience())
	defer cancel()
	limited, end := s.limited(ctx)
	defer end()
	s.activity = Progress{Activity: Shrinking, Finding: f.Name(), Done: len(f.Original.Steps),
		Total: len(f.Original.Steps)}
	f.UnscriptedReason = "" // of an earlier look
	trace, ok := s.begin(limited, f.Original.Steps[:min(s.target.step+1, len(f.Original.Steps))])
	if !ok {
		f.UnscriptedReason = fmt.Sprintf("it did not come again in %s with fresh names",
			text.Count(s.plays, "conversation"))
		if s.isLate || limited.Err() != nil {
			f.UnscriptedReason = fmt.Sprintf("it did not come again in %s; no time was left for more",
				text.Count(s.plays, "conversation"))
		}
		return
	}
	if slices.Contains(s.reportedClauses, s.best.hit.Clause) {
		f.Clause = s.best.hit.Clause
		return
	}
	s.minimal(ctx, limited, f, trace)
}

// shrinkFurther makes smaller what an earlier call of shrink has cut, and goes on with its result.
func (s *shrinker) shrinkFurther(ctx context.Context, f *Finding) {
	ctx, cancel := withLimit(ctx, s.limit)
	defer cancel()
	limited, end := s.limited(ctx)
	defer end()
	s.activity = Progress{Activity: Shrinking, Finding: f.Name(), Done: len(f.Reduction.Steps),
		Total: len(f.Reduction.Steps)}
	if f.Tries, f.Hits = 0, 0; s.shows(limited, f.Reduction) {
		s.best = s.latest
		s.minimal(ctx, limited, f, f.Reduction)
	}
}

// limited returns ctx with the part of the limit in which conversations are made shorter.
func (s *shrinker) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return withLimit(ctx, s.limit-s.limit/confirmationShare)
}

// minimal makes a conversation that shows the finding minimal, as far as the limited time allows, and confirms it.
func (s *shrinker) minimal(ctx, limited context.Context, f *Finding, trace Trace) {
	done := s.useTrialServer(limited, trace)
	if trace = s.reduce(limited, trace); s.isKnown {
		done()
		return
	}
	minimal := !s.isSpent(limited)
	f.Reduction = s.simplify(limited, trace)
	s.isCut = s.isSpent(limited)
	done()
	if s.confirm(ctx, f); f.Hits > 0 && minimal { // it needs the earlier command
		f.CommandClause = ""
	}
	if f.Hits > 0 && s.twin == nil {
		hit := conformance.FindingOf(s.best.hit.Violation)
		f.Clause, f.IsRecommendation, f.Expected, f.Got, f.Detail = hit.Clause, hit.IsRecommendation, hit.Expected, hit.Got,
			hit.Detail
		if f.Script = script(f.Reduction, f, s.best); f.Script == "" {
			f.UnscriptedReason = "a script cannot express it"
		}
	}
}

// quickStart is how long a server may take to start for each try.
const quickStart = 50 * time.Millisecond

// useTrialServer has the tries that follow use one server, until done, where each would have one that takes long to
// start, if the conversation shows the finding there too.
func (s *shrinker) useTrialServer(ctx context.Context, trace Trace) (done func()) {
	if s.trialServer != nil || s.start < quickStart {
		return func() {}
	}
	s.trialServer = &trialServer{startTarget: s.startTarget}
	done = func() {
		s.trialServer.drop()
		s.trialServer = nil
	}
	if !s.shows(ctx, trace) {
		done()
		return done
	}
	s.best = s.latest
	return done
}

// confirm counts how reliably the small conversation shows the finding.
func (s *shrinker) confirm(ctx context.Context, f *Finding) {
	s.activity = Progress{Activity: Confirming, Finding: f.Name(), Total: confirmationPlays}
	if s.look {
		s.assure(ctx, f)
		return
	}
	f.count(ctx, s.tries(ctx, slices.Repeat([]Trace{f.Reduction}, confirmationPlays)), func(isShown bool) {
		if s.activity.Done++; isShown {
			s.best = s.latest
		}
	})
}

// lookReplyWait is how long the tries of a look wait for a reply: a server that was found not to answer is not slow.
const lookReplyWait = time.Second

// wait is the longest wait of a try for a reply.
func (s *shrinker) wait() time.Duration {
	if s.look && s.activity.Activity == Shrinking && s.target.outage == nil {
		return min(s.config.timeout, lookReplyWait)
	}
	return s.config.timeout
}

// deathPatience is how long a server may take to die of a conversation; zero: that is not what it is to show.
func (s *shrinker) deathPatience() time.Duration {
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
	s.trialServer.drop()
	limited, cancel := withLimit(ctx, s.limit/confirmationShare)
	defer cancel()
	f.Tries, f.Hits = 1, b2i(s.shows(ctx, f.Reduction))
	s.best = s.latest
	for f.Tries < confirmationPlays && f.Hits > 0 && limited.Err() == nil {
		isShown := s.shows(limited, f.Reduction)
		if limited.Err() != nil && !isShown {
			break
		}
		f.Tries++
		f.Hits += b2i(isShown)
	}
}

// count counts plays of the small conversation, and those that showed the finding. A play that did not because the time
// was over does not count. If there was no time for any, the one that showed the finding last counts.
func (f *Finding) count(ctx context.Context, plays iter.Seq[bool], played func(isShown bool)) {
	for isShown := range plays {
		if ctx.Err() != nil && !isShown {
			break
		}
		f.Tries++
		f.Hits += b2i(isShown)
		played(isShown)
	}
	if f.Tries == 0 {
		f.Hits, f.Tries = 1, 1
	}
}

// shows plays a conversation, and reports whether the finding came up.
func (s *shrinker) shows(ctx context.Context, t Trace) bool {
	s.tell()
	return s.addResult(s.try(ctx, t, s.allowedEmpties()))
}

// isExplained reports whether the last command of a part of the conversation was answered in
// a way that is known to be wrong: what was found has no cause of its own.
func (s *shrinker) isExplained(p *playthrough, t Trace) bool {
	return t.N <= 1 && slices.ContainsFunc(p.sightings, func(f sighting) bool {
		return f.step == len(t.Steps)-1 && s.wasFound(f) && s.isAlike(f)
	})
}

// isAlike reports whether a finding may be the wanted one under another clause: it is of the
// same family, and about the same field of a job if it is about one.
func (s *shrinker) isAlike(f sighting) bool {
	if !s.isRelated(f.Rule) || f.crash != s.target.crash {
		return false
	}
	want, _, _ := strings.Cut(s.target.Got, ":")
	got, _, _ := strings.Cut(f.Got, ":")
	return !s.config.subject.hasTrait(f.Rule, law.OfField) || want == "" || want == got
}

// family returns one name for all rules under which the same bug may show.
func (s *Alphabet) family(rule string) string {
	if s.Family == nil {
		return rule
	}
	return s.Family(rule)
}

// kind is what distinguishes findings.
func (e *Explorer) kind(rule, clause string) string { return e.Alphabet.family(rule) + " > " + clause }

// wasFound reports whether such a finding was found before.
func (s *shrinker) wasFound(f sighting) bool {
	return s.earlier[s.config.subject.family(f.Rule)+" > "+f.Clause]
}

// isRelated reports whether a rule is of the family of the one that is wanted.
func (s *shrinker) isRelated(rule string) bool {
	return s.config.subject.family(rule) == s.config.subject.family(s.target.Rule)
}

// hit is where the finding came up in a play: under its clause, under that of its own command, because the earlier one
// is not the reason then, or under one of which nothing is known yet; negative if it did not.
func (s *shrinker) hit(p *playthrough) int {
	return slices.IndexFunc(p.sightings, func(f sighting) bool {
		if f.Clause == s.target.Clause || s.target.CommandClause != "" && f.Clause == s.target.CommandClause {
			return s.isRelated(f.Rule) && f.crash == s.target.crash
		}
		return s.isAlike(f) && !s.wasFound(f)
	})
}

// reduce takes steps away as long as the finding shows. What it returns was played: the record of it is the best one.
func (s *shrinker) reduce(ctx context.Context, t Trace) Trace {
	best := t.places()
	if part := effectivePlaces(t, best); len(part) < len(best) && !s.isSpent(ctx) && s.showsEachTime(ctx, t.pick(part)) {
		best = part
	}
	play.Shorten(ctx, best, func(ctx context.Context, part []int) bool {
		part = effectivePlaces(t, part)
		if len(part) == 0 || s.isSpent(ctx) || !slices.Equal(part, best) && !s.showsEachTime(ctx, t.pick(part)) {
			return false
		}
		best = part
		return true
	})
	return t.pick(best)
}

// effectivePlaces leaves out those of some steps of a trace, which are given as their places, that are done on
// connections that are not open: they have no effect. Where steps are repeated nothing is left out.
func effectivePlaces(t Trace, places []int) []int {
	openConns := map[int]bool{}
	return slices.DeleteFunc(slices.Clone(places), func(at int) bool {
		step := t.Steps[at]
		conn := step.Conn()
		isOpen := openConns[conn]
		if _, stops := step.disrupts(); stops {
			clear(openConns)
		}
		switch {
		case step.opens():
			openConns[conn] = true
			return false
		case step.Ends():
			openConns[conn] = false
		}
		return conn >= 0 && !isOpen && t.N <= 1
	})
}

// isSpent reports whether enough was tried.
func (s *shrinker) isSpent(ctx context.Context) bool {
	return s.isKnown || s.plays >= maxPlays || s.commands >= maxCommands || ctx.Err() != nil
}

// showsEachTime reports whether a conversation shows the finding, each time where time plays a
// part.
func (s *shrinker) showsEachTime(ctx context.Context, t Trace) bool {
	times := 1
	if slices.ContainsFunc(t.Steps, func(step Step) bool { return step.waitTime() > 0 }) {
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

// tryChange applies change to a copy of the steps, and keeps it if the finding still shows.
func (s *shrinker) tryChange(ctx context.Context, t *Trace, change func(steps []Step) bool) bool {
	next := *t
	next.Steps = slices.Clone(t.Steps)
	accepted := !s.isSpent(ctx) && change(next.Steps) && s.showsEachTime(ctx, next)
	if accepted {
		*t = next
	}
	return accepted
}

// tryText has a step send another text instead, if the finding still shows.
func (s *shrinker) tryText(ctx context.Context, t *Trace, at int, text string) bool {
	return s.tryChange(ctx, t, func(steps []Step) bool {
		steps[at] = steps[at].withSegments(Builder{s.config.subject.Dialect}.Parse(text), steps[at].Sends().Bytewise)
		return true
	})
}

// places returns the places of all steps.
func (t Trace) places() []int {
	places := make([]int, len(t.Steps))
	for i := range places {
		places[i] = i
	}
	return places
}

// pick returns the trace with the steps at some places alone. What is repeated stays so.
func (t Trace) pick(places []int) Trace {
	part := Trace{N: t.N}
	for _, at := range places {
		part.Steps = append(part.Steps, t.Steps[at])
		part.From, part.To = part.From+b2i(at < t.From), part.To+b2i(at < t.To)
	}
	return part
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
