package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/reports"
)

const (
	busyChecks     = 2                      // at a time, in addition to those that wait
	busyAtLeast    = 30 * time.Millisecond  // after its start a check counts as busy, where this machine is not late
	mostLent       = 8                      // hostile checks at a time, where each has a server for itself
	quietFor       = 200 * time.Millisecond // after the start of a check that sends info, no other begins on its server
	retriesOfLag   = 3                      // of a check that lag made inconclusive, and that is over soon
	retriesShare   = 2                      // such a part of the time of all checks is for those retries, and at least
	retriesAtLeast = 2 * time.Minute
	triesAlone     = 2 // more of a check that is refused connections where it is alone
)

// internalError returns the cause of a check that could not be played or evaluated.
func internalError() cause { return cause{words: "internal error"} }

// causeOf returns why a check could not be played.
func causeOf(err error) cause {
	if _, unserved := errors.AsType[*UnservedError](err); unserved {
		return cause{reason: reports.ReasonNotServing, words: "the server that was started for it is not ready"}
	}
	return internalError()
}

// runState is one run of a Runner. One goroutine, its loop, starts the plays, takes their
// evidence and files the verdicts; only the loop writes the fields.
type runState struct {
	runner *Runner
	start  time.Time
	repeat int
	far    bool // the server is: see isolates
	meter  *machine.Meter
	hosts  []*host

	described []conformance.Description // of the checks, in their order

	pending  []*task // in the order in which they begin
	running  []*task
	again    []*task // to be tried again after all others
	ended    chan *task
	most     int // that may run
	mostBusy int // that may run and do more than wait

	results  [][]reports.Check // by check and repetition
	plays    int
	played   map[string]int // how often each check was, with SeedNames
	done     int
	first    time.Time // when the first round was over, if there is another one
	retries  time.Time // until when checks are tried again because of lag; zero in the first round
	verbs    map[string]*answers
	shown    map[string]bool           // clauses that a play has shown the server to keep
	unshown  map[string][]reports.Line // what was said in checks that passed a clause without that
	law      lawful
	crashes  []crash       // that no check is known to have caused
	replayed time.Duration // that candidates for crashes have been played again
	stopped  string        // why no more checks are begun
	stop     context.CancelFunc
	err      error // an internal error
}

func newRunState(r *Runner) *runState {
	s := &runState{
		played: map[string]int{},
		runner: r, start: time.Now(), repeat: max(r.Repeat, 1), meter: new(machine.Meter), ended: make(chan *task),
		verbs: map[string]*answers{}, shown: map[string]bool{}, unshown: map[string][]reports.Line{},
		law:  lawful{general: r.Protocol.General, rules: r.Protocol.Law.Rules, found: map[lawKey]*lawFinding{}},
		most: math.MaxInt, mostBusy: busyChecks,
	}
	if r.Parallel > 0 {
		s.most, s.mostBusy = r.Parallel, r.Parallel
	}
	for _, server := range r.Servers {
		s.hosts = append(s.hosts, newHost(server))
	}
	for _, check := range r.Checks {
		s.described = append(s.described, check.Describe())
		s.results = append(s.results, make([]reports.Check, s.repeat))
	}
	return s
}

// all runs all checks. It blocks until they are over.
func (s *runState) all(ctx context.Context) {
	ctx, s.stop = context.WithCancel(ctx)
	defer s.stop()
	for s.pending = s.tasks(); len(s.pending) > 0; s.pending, s.again = s.again, nil {
		for s.begin(ctx); len(s.running) > 0; s.begin(ctx) {
			s.await(ctx)
		}
		s.mostBusy = 1 // what is tried again runs undisturbed
		s.wrecks()
		if s.retries.IsZero() {
			s.retryFrom(time.Now())
		}
	}
	for _, h := range s.hosts {
		if h.crash != nil { // the run was interrupted
			s.unexplained(h)
		}
		for _, other := range h.idle {
			other.end()
		}
	}
}

// await waits until a check is over, or one more may begin.
func (s *runState) await(ctx context.Context) {
	_, calm := s.busy()
	timer := time.NewTimer(calm)
	defer timer.Stop()
	select {
	case t := <-s.ended:
		s.end(ctx, t)
	case <-timer.C:
	}
}

// busy returns how many checks have just begun, and when more checks may begin because of the
// time that has passed. A check that takes longer waits most of the time, and others can run meanwhile.
func (s *runState) busy() (n int, calm time.Duration) {
	calm = time.Hour
	busyFor := s.busyFor()
	for _, t := range s.running {
		ran := time.Since(t.began)
		if ran < busyFor {
			n++
		}
		for _, limit := range [...]time.Duration{busyFor, quietFor, conformance.QuickWait} {
			if ran <= limit {
				calm = min(calm, limit-ran+time.Millisecond)
			}
		}
	}
	return n, calm
}

// busyFor returns how long a check counts as busy after its start: longer where this machine is late.
func (s *runState) busyFor() time.Duration {
	const turns, recent, most = 10, time.Second, 2 * time.Second
	return min(busyAtLeast+turns*s.meter.Lag(time.Now().Add(-recent)), most)
}

// begin starts the checks that may run now.
func (s *runState) begin(ctx context.Context) {
	s.far = s.meter.RoundTrip() >= farAway
	for i := 0; i < len(s.pending) && (s.room() || ctx.Err() != nil); {
		t := s.pending[i]
		switch {
		case s.skip(ctx, t):
		case len(s.running) == 0 || s.free(t):
			s.enter(t)
			go func() {
				s.play(ctx, t)
				s.ended <- t
			}()
		default:
			i++
			continue
		}
		s.pending = slices.Delete(s.pending, i, i+1)
	}
}

// free reports whether the server of a check has room for it.
func (s *runState) free(t *task) bool {
	if t.host != nil {
		return t.host.takes(t, s)
	}
	lent := 0
	for _, other := range s.running {
		if t.lends() && other.lends() {
			lent++
		}
	}
	return lent < mostLent
}

// skip files a check that is not played, or not again, and reports whether it did.
func (s *runState) skip(ctx context.Context, t *task) bool {
	late := s.tooLate()
	if t.lagged > 0 && t.evidence.Unproven {
		late = ""
	}
	why := cause{reason: reports.ReasonTime, words: late}
	switch {
	case s.stopped != "":
		why = s.stopCause()
	case ctx.Err() != nil:
		why = cause{words: "the run was interrupted before"}
	}
	switch {
	case t.host != nil && t.host.lost != "":
		s.fileLost(t)
	case t.lagged > 0 && t.wreck == nil && s.retriedEnough():
	case why.words == "":
		return false
	case !t.filed:
		s.file(t, s.withoutResult(t.about, reports.NotRun, why, ""))
	}
	if t.wreck != nil {
		s.addCrash(t.wreck.crash())
	}
	return true
}

// room reports whether one more check may begin.
func (s *runState) room() bool {
	busy, _ := s.busy()
	return len(s.running) < s.most && busy < s.mostBusy
}

func (s *runState) enter(t *task) {
	s.running = append(s.running, t)
	if t.host != nil {
		t.host.enter(t)
	}
	t.began = time.Now()
	t.tries++
	s.plays++
	t.names = s.namesOf(t)
}

// namesOf returns what the names of a play begin with, which no other play on the server has. With SeedNames they
// follow from the seed, the check and how often that was played.
func (s *runState) namesOf(t *task) string {
	if !s.runner.SeedNames {
		salt := (s.runner.Seed ^ uint64(s.start.Nanosecond())) & 0xffff
		return fmt.Sprintf("fwp%s%04x-%d", s.start.UTC().Format("0102150405"), salt, s.plays)
	}
	place := slices.IndexFunc(s.described, func(d conformance.Description) bool { return d.ID == t.about.ID })
	number := 1 + place + len(s.described)*s.played[t.about.ID]
	s.played[t.about.ID]++
	return fmt.Sprintf("fwp%010d%04x-%d", s.runner.Seed%1e10, s.runner.Seed>>48, number)
}

// end takes the evidence of a play, and decides whether it counts.
func (s *runState) end(ctx context.Context, t *task) {
	s.running = slices.DeleteFunc(s.running, func(other *task) bool { return other == t })
	if t.host != nil {
		t.host.leave(t)
	}
	switch {
	case s.unstarted(ctx, t):
	case t.lost != nil:
		s.giveUp(t.host)
		s.skip(ctx, t)
	case t.err != nil:
		s.bug(t.err)
		s.file(t, s.withoutResult(t.about, reports.Inconclusive, causeOf(t.err), ""))
	case t.host == nil && s.searches(t):
	case t.host == nil:
		t.fatal = t.evidence.Dead != ""
		s.record(t)
	default:
		s.endShared(ctx, t)
	}
	if h := t.host; h != nil && len(h.dying) > 0 && len(h.running) == 0 {
		s.died(ctx, h)
	}
}

// endShared is end for a play on a server that other checks use too.
func (s *runState) endShared(ctx context.Context, t *task) {
	h := t.host
	switch {
	case t.suspect:
		s.endAlone(t)
	case ctx.Err() == nil && s.postpone(t):
	case t.evidence.Dead != "" || len(h.dying) > 0 && !t.evidence.Passed():
		h.dying = append(h.dying, t)
	default:
		s.record(t)
	}
}

// postpone queues a check again that was refused a connection, and reports whether it did: beside others with half as
// many at a time. One that is refused some where it is alone gets the time that a server may take to notice that others
// were closed.
func (s *runState) postpone(t *task) bool {
	h, refused := t.host, t.evidence.Refused
	switch {
	case t.evidence.Dead != "":
		return false
	case refused == nil || t.evidence.Passed():
		h.refuses = false
		return false
	case !t.together && t.refused == triesAlone && refused.Own == 0:
		h.refuses, h.room = true, mostConnections
		return false
	case h.refuses || !t.together && t.refused == triesAlone:
		return false
	case t.together:
		h.halve(t)
		s.pending = append(s.pending, t)
	default:
		t.refused++
		s.pending = slices.Insert(s.pending, 0, t)
	}
	return true
}

// record files the verdicts of a play, and queues the check again if lag made it
// inconclusive.
func (s *runState) record(t *task) {
	s.answered(t.about.ID, t.evidence.Tally.Verbs)
	t.doubtMoments()
	check, late := s.judge(t)
	again := purposeOf(toMeasure, late)
	check.Attempts = t.tries
	if !s.closedBesideOthers(t, &check) && s.limitedBesideOthers(t, &check) == nil {
		again = max(again, s.law.take(t.about, t.evidence, s.meter.Lag(t.began)))
	}
	if s.stopped != "" && t.evidence.Err != nil { // the stop interrupted it
		leftover := check.Left
		check = s.withoutResult(t.about, reports.NotRun, s.stopCause(), "")
		check.Left = leftover
	}
	again = max(again, purposeOf(toCount, t.shownAgain(&check)))
	done := s.closes(t, &check) || s.limits(t, &check) || s.passes(t, &check)
	if s.file(t, check); done {
		return
	}
	if again != noReplay && t.lagged < furtherTries(again, check.Took, t.evidence.Unproven, s.runner.Quick) {
		t.lagged++
		t.purpose = again
		if check.Verdict.Decided() {
			t.found = &check
		}
		s.again = append(s.again, t)
	}
	if s.runner.FailFast && s.unexpected(check) {
		s.stopAtFinding()
	}
}

// unexpected reports whether a check has failed that may not.
func (s *runState) unexpected(check reports.Check) bool {
	expected := s.runner.Expected != nil && s.runner.Expected(check)
	return !expected && (check.Verdict == reports.Fail || check.Verdict == reports.Crash)
}

// furtherTries returns how often a check that took that long is tried again: one that waits for minutes once, beside
// all others of its kind, so that retries take no longer than the run before them, and not at all in a quick run, or
// only to count. A finding that is not proven yet is worth the time.
func furtherTries(p purpose, took time.Duration, unproven, quick bool) int {
	switch {
	case unproven || took <= conformance.QuickPatience:
		return retriesOfLag
	case quick || p == toCount:
		return 0
	}
	return 1
}

// retriedEnough reports whether no more checks are tried again because of lag.
func (s *runState) retriedEnough() bool { return !s.retries.IsZero() && time.Now().After(s.retries) }

// stopCause returns why the run begins no more checks.
func (s *runState) stopCause() cause { return cause{words: s.stopped} }

// stopAtFinding ends a run that stops at the first finding.
func (s *runState) stopAtFinding() {
	if s.stopped == "" {
		s.stopped = "the run stopped at the first finding"
		s.stop()
	}
}

// file keeps the result of a check, and reports progress.
func (s *runState) file(t *task, check reports.Check) {
	s.results[t.place][t.round] = check
	if t.filed {
		return
	}
	t.filed = true
	s.done++
	if s.runner.Progress != nil {
		s.runner.Progress(s.done, len(s.runner.Checks)*s.repeat, t.about.ID)
	}
}
