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
	maxBusyChecks = 2                      // at a time, in addition to those that wait
	minBusyTime   = 30 * time.Millisecond  // after its start a check counts as busy, where this machine is not late
	maxLent       = 8                      // hostile checks at a time, where each has a server for itself
	infoPause     = 200 * time.Millisecond // after the start of a check that sends info, no other begins on its server
	lagRetries    = 3                      // of a check that lag made inconclusive, and that is over soon
	retryShare    = 2                      // such a part of the time of all checks is for those retries, and at least
	minRetryTime  = 2 * time.Minute
	aloneTries    = 2 // more of a check that is refused connections where it is alone
)

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
	isFar  bool // the server is: see isolates
	meter  *machine.Meter
	hosts  []*host

	descriptions []conformance.Description // of the checks, in their order

	pending    []*task // in the order in which they begin
	running    []*task
	retryQueue []*task // to be tried again after all others
	ended      chan *task
	maxRunning int // that may run
	maxBusy    int // that may run and do more than wait

	results       [][]reports.Check // by check and repetition
	plays         int
	playCounts    map[string]int // how often each check was, with SeedNames
	done          int
	firstEnd      time.Time // when the first round was over, if there is another one
	retryDeadline time.Time // until when checks are tried again because of lag; zero in the first round
	verbs         map[string]*answers
	shownClauses  map[string]bool           // clauses that a play has shown the server to keep
	unshownLines  map[string][]reports.Line // what was said in checks that passed a clause without that
	law           lawResults
	crashes       []crash       // that no check is known to have caused
	replayTime    time.Duration // that candidates for crashes have been played again
	stopReason    string        // why no more checks are begun
	stop          context.CancelFunc
	err           error // an internal error
}

func newRunState(r *Runner) *runState {
	s := &runState{
		playCounts: map[string]int{},
		runner:     r, start: time.Now(), repeat: max(r.Repeat, 1), meter: new(machine.Meter), ended: make(chan *task),
		verbs: map[string]*answers{}, shownClauses: map[string]bool{}, unshownLines: map[string][]reports.Line{},
		law:        lawResults{general: r.Suite.GeneralClauses, rules: r.Suite.Law.Rules, findings: map[lawKey]*lawFinding{}},
		maxRunning: math.MaxInt, maxBusy: maxBusyChecks,
	}
	if r.Parallel > 0 {
		s.maxRunning, s.maxBusy = r.Parallel, r.Parallel
	}
	for _, server := range r.Servers {
		s.hosts = append(s.hosts, newHost(server))
	}
	for _, check := range r.Checks {
		s.descriptions = append(s.descriptions, check.Describe())
		s.results = append(s.results, make([]reports.Check, s.repeat))
	}
	return s
}

// runAll runs all checks. It blocks until they are over.
func (s *runState) runAll(ctx context.Context) {
	ctx, s.stop = context.WithCancel(ctx)
	defer s.stop()
	for s.pending = s.tasks(); len(s.pending) > 0; s.pending, s.retryQueue = s.retryQueue, nil {
		for s.begin(ctx); len(s.running) > 0; s.begin(ctx) {
			s.await(ctx)
		}
		s.maxBusy = 1 // what is tried again runs undisturbed
		s.queueWrecks()
		if s.retryDeadline.IsZero() {
			s.retryFrom(time.Now())
		}
	}
	s.sweepAll(ctx)
	for _, h := range s.hosts {
		if h.crash != nil { // the run was interrupted
			s.fileCrash(h)
		}
		s.askLast(ctx, h)
		s.withdrawBlame(h)
		for _, other := range h.idleHosts {
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
	busyTime := s.busyTime()
	for _, t := range s.running {
		age := time.Since(t.began)
		if age < busyTime {
			n++
		}
		for _, limit := range [...]time.Duration{busyTime, infoPause, conformance.QuickWait} {
			if age <= limit {
				calm = min(calm, limit-age+time.Millisecond)
			}
		}
	}
	return n, calm
}

// busyTime returns how long a check counts as busy after its start: longer where this machine is late.
func (s *runState) busyTime() time.Duration {
	const turns, recent, limit = 10, time.Second, 2 * time.Second
	return min(minBusyTime+turns*s.meter.Lag(time.Now().Add(-recent)), limit)
}

// begin starts the checks that may run now.
func (s *runState) begin(ctx context.Context) {
	s.isFar = s.meter.RoundTrip() >= farRoundTrip
	for i := 0; i < len(s.pending) && (s.hasRoom() || ctx.Err() != nil); {
		t := s.pending[i]
		switch {
		case s.skip(ctx, t):
		case len(s.running) == 0 || s.isFree(t):
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

// isFree reports whether the server of a check has room for it.
func (s *runState) isFree(t *task) bool {
	if t.host != nil {
		return t.host.hasRoomFor(t, s)
	}
	loans := 0
	for _, other := range s.running {
		if t.lends() && other.lends() {
			loans++
		}
	}
	return loans < maxLent
}

// skip files a check that is not played, or not again, and reports whether it did.
func (s *runState) skip(ctx context.Context, t *task) bool {
	words := s.timeReason()
	if t.lagTries > 0 && t.evidence.IsUnproven {
		words = ""
	}
	reason := cause{reason: reports.ReasonTime, words: words}
	switch {
	case s.stopReason != "":
		reason = s.stopCause()
	case ctx.Err() != nil:
		reason = cause{words: "the run was interrupted before"}
	}
	switch {
	case t.host != nil && t.host.lostReason != "":
		s.fileLost(t)
	case t.lagTries > 0 && t.wreck == nil && s.isRetryTimeOver():
	case reason.words == "":
		return false
	case !t.isFiled:
		s.file(t, s.withoutResult(t.description, reports.NotRun, reason, ""))
	}
	if t.wreck != nil {
		s.addCrash(t.wreck.crash())
	}
	return true
}

// hasRoom reports whether one more check may begin.
func (s *runState) hasRoom() bool {
	busy, _ := s.busy()
	return len(s.running) < s.maxRunning && busy < s.maxBusy
}

func (s *runState) enter(t *task) {
	s.running = append(s.running, t)
	if t.host != nil {
		t.host.enter(t)
	}
	t.began = time.Now()
	t.tries++
	s.plays++
	t.namePrefix = s.newNamePrefix(t)
}

// newNamePrefix returns what the names of a play begin with, which no other play on the server has. With SeedNames they
// follow from the seed, the check and how often that was played.
func (s *runState) newNamePrefix(t *task) string {
	if !s.runner.SeedNames {
		salt := (s.runner.Seed ^ uint64(s.start.Nanosecond())) & 0xffff
		return fmt.Sprintf("fwp%s%04x-%d", s.start.UTC().Format("0102150405"), salt, s.plays)
	}
	place := slices.IndexFunc(s.descriptions, func(d conformance.Description) bool { return d.ID == t.description.ID })
	number := 1 + place + len(s.descriptions)*s.playCounts[t.description.ID]
	s.playCounts[t.description.ID]++
	return fmt.Sprintf("fwp%010d%04x-%d", s.runner.Seed%1e10, s.runner.Seed>>48, number)
}

// end takes the evidence of a play, and decides whether it counts.
func (s *runState) end(ctx context.Context, t *task) {
	s.running = slices.DeleteFunc(s.running, func(other *task) bool { return other == t })
	if t.host != nil {
		t.host.leave(t)
	}
	switch {
	case s.fileStartFailure(ctx, t):
	case t.reviveErr != nil:
		s.giveUp(t.host)
		s.skip(ctx, t)
	case t.err != nil:
		s.noteInternalError(t.err)
		s.file(t, s.withoutResult(t.description, reports.Inconclusive, causeOf(t.err), ""))
	case t.host == nil && s.searchWreck(t):
	case t.host == nil:
		t.isFatal = t.evidence.DeadReason != ""
		s.evaluate(t)
	default:
		s.endShared(ctx, t)
	}
	if h := t.host; h != nil && len(h.endedSinceDeath) > 0 && len(h.running) == 0 {
		s.handleDeath(ctx, h)
	}
}

// endShared is end for a play on a server that other checks use too.
func (s *runState) endShared(ctx context.Context, t *task) {
	h := t.host
	s.lookAtRefusal(ctx, h, t)
	switch {
	case t.isSuspect:
		s.lookAtDead(ctx, h, t)
		s.endAlone(t)
	case ctx.Err() == nil && s.postpone(t):
	case t.evidence.DeadReason != "" || len(h.endedSinceDeath) > 0 && !t.evidence.Passed():
		h.endedSinceDeath = append(h.endedSinceDeath, t)
	default:
		s.evaluate(t)
	}
}

// postpone queues a check again that was refused a connection, and reports whether it did: beside others with half as
// many at a time. One that is refused some where it is alone gets the time that a server may take to notice that others
// were closed.
func (s *runState) postpone(t *task) bool {
	h, refusal := t.host, t.evidence.Refusal
	switch {
	case t.evidence.DeadReason != "":
		return false
	case refusal == nil || t.evidence.Passed():
		h.refusesAlways = false
		return false
	case !t.isShared && t.refusedTries == aloneTries && refusal.OwnConns == 0:
		h.refusesAlways, h.connLimit = true, maxConns
		return false
	case h.refusesAlways || !t.isShared && t.refusedTries == aloneTries:
		return false
	case t.isShared:
		h.halve(t)
		s.pending = append(s.pending, t)
	default:
		t.refusedTries++
		s.pending = slices.Insert(s.pending, 0, t)
	}
	return true
}

// evaluate files the verdicts of a play, and queues the check again if lag made it
// inconclusive.
func (s *runState) evaluate(t *task) {
	s.countAnswers(t.description.ID, t.evidence.Tally.Verbs)
	s.keepRemainder(t)
	t.doubtMoments()
	check, needsReplay := s.judge(t)
	retry := purposeOf(timeReplay, needsReplay)
	check.Attempts = t.tries
	if !s.closedWhileShared(t, &check) && s.clausesLimitedWhileShared(t, &check) == nil {
		retry = max(retry, s.law.take(t.description, t.evidence, s.meter.Lag(t.began)))
	}
	if s.stopReason != "" && t.evidence.Err != nil { // the stop interrupted it
		leftover := check.LeftoverJobs
		check = s.withoutResult(t.description, reports.NotRun, s.stopCause(), "")
		check.LeftoverJobs = leftover
	}
	retry = max(retry, purposeOf(countReplay, t.mergeReplay(&check)))
	done := s.retryClosed(t, &check) || s.retryLimited(t, &check) || s.retryOccasional(t, &check)
	if s.file(t, check); done {
		return
	}
	if retry != noReplay && t.lagTries < furtherTries(retry, check.Took, t.evidence.IsUnproven, s.runner.Quick) {
		t.lagTries++
		t.purpose = retry
		if check.Verdict.IsDecided() {
			t.earlierResult = &check
		}
		s.retryQueue = append(s.retryQueue, t)
	}
	if s.runner.FailFast && s.isUnexpected(check) {
		s.stopAtFinding()
	}
}

// isUnexpected reports whether a check has failed that may not.
func (s *runState) isUnexpected(check reports.Check) bool {
	isExpected := s.runner.Expected != nil && s.runner.Expected(check)
	return !isExpected && (check.Verdict == reports.Fail || check.Verdict == reports.Crash)
}

// furtherTries returns how often a check that took that long is tried again: one that waits for minutes once, beside
// all others of its kind, so that retries take no longer than the run before them, and not at all in a quick run, or
// only to count. A finding that is not proven yet is worth the time.
func furtherTries(p purpose, took time.Duration, unproven, quick bool) int {
	switch {
	case unproven || took <= conformance.QuickPatience:
		return lagRetries
	case quick || p == countReplay:
		return 0
	}
	return 1
}

// isRetryTimeOver reports whether no more checks are tried again because of lag.
func (s *runState) isRetryTimeOver() bool {
	return !s.retryDeadline.IsZero() && time.Now().After(s.retryDeadline)
}

// stopCause returns why the run begins no more checks.
func (s *runState) stopCause() cause { return cause{words: s.stopReason} }

// stopAtFinding ends a run that stops at the first finding.
func (s *runState) stopAtFinding() {
	if s.stopReason == "" {
		s.stopReason = "the run stopped at the first finding"
		s.stop()
	}
}

// file keeps the result of a check, and reports progress.
func (s *runState) file(t *task, check reports.Check) {
	s.results[t.place][t.round] = check
	if t.isFiled {
		return
	}
	t.isFiled = true
	s.done++
	if s.runner.Progress != nil {
		s.runner.Progress(s.done, len(s.runner.Checks)*s.repeat, t.description.ID)
	}
}
