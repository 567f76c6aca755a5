package run

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// task is one run of one check, with all its tries.
type task struct {
	check       conformance.Check
	description conformance.Description
	place       int   // of the check in Checks
	round       int   // which of the repetitions
	host        *host // the server that it shares; nil: it gets one of its own
	hostModel   *host // which that is like
	isExclusive bool  // no other check may use the server meanwhile

	// Of the latest try.
	began      time.Time
	namePrefix string
	server     *host // where it was played
	evidence   *conformance.Evidence
	err        error // an internal error
	isShared   bool  // others used the server meanwhile
	conns      int   // how many connections the checks there had, with this one, when they were most

	tries         int
	lagTries      int               // tries that lag made inconclusive
	purpose       purpose           // of the present try
	closedTry     *closedTry        // of an earlier try, beside others
	errorClauses  []string          // clauses that errors have broken in an earlier try, beside others
	momentClauses []string          // clauses that earlier tries found broken at one moment
	earlierResult *reports.Check    // what an earlier try has decided, where a further try is to confirm a finding
	replays       []reports.Verdict // of the further tries, where that is a finding
	occasional    *reports.Check    // an earlier try in which the server did what it may do now and then
	refusedTries  int               // tries alone that were refused a connection
	isFiled       bool              // it has a result

	isSuspect bool   // the next try, alone, shows whether it ends its server
	isFatal   bool   // it ended its server
	wreck     *wreck // for which this try is; nil: for none
	revives   bool   // the try starts the server again first
	reviveErr error  // why it could not
}

// newTask returns one run of one check.
func (s *runState) newTask(place, round int) *task {
	return &task{check: s.runner.Checks[place], description: s.descriptions[place], place: place, round: round}
}

// tasks returns all runs, in the order in which they begin: by phase, in each those that wait longest first, otherwise
// in the order of the seed. A quick run that plays one at a time begins with those that wait shortest, because it may
// end before it has begun all. It files checks as skipped if no server meets their needs.
func (s *runState) tasks() []*task {
	var all []*task
	random := rand.New(rand.NewPCG(s.runner.Seed, s.runner.Seed))
	for round := range s.repeat {
		for _, i := range random.Perm(len(s.runner.Checks)) {
			t := s.newTask(i, round)
			if missing := s.assign(t); missing != "" {
				s.file(t, s.skipResult(t.description, missing))
				continue
			}
			all = append(all, t)
		}
	}
	slices.SortStableFunc(all, func(a, b *task) int {
		if s.runner.Quick && s.runner.Parallel == 1 { // none disturbs the counts of another
			return cmp.Or(cmp.Compare(max(a.phase(), 1), max(b.phase(), 1)), cmp.Compare(a.description.Wait, b.description.Wait))
		}
		return cmp.Or(cmp.Compare(a.phase(), b.phase()), cmp.Compare(b.description.Wait, a.description.Wait))
	})
	return all
}

// phase returns when in a run a task begins. What a server may not survive comes late, so that little is lost then.
func (t *task) phase() int {
	switch {
	case t.host != nil && t.description.Hostile:
		return 3
	case t.lends() && t.description.Wait <= conformance.QuickWait:
		return -1 // before those that keep this machine busy
	case t.isExclusive:
		return 2
	case t.spares(): // a server that is started for this run does not matter
		return 0
	case t.description.SendsCount:
		return 1
	}
	return 0
}

// lends reports whether another check may have the server of a task when it is over: a hostile one that it survived.
func (t *task) lends() bool {
	return t.host == nil && t.description.Hostile && t.description.Sharing == conformance.SharesAll
}

// spares reports whether the end of the server of a task would cost nothing: another one can be started.
func (t *task) spares() bool { return t.host == nil || t.host.StartServer != nil }

// assign chooses the server of a check; missing is the need that no server meets, or "".
func (s *runState) assign(t *task) (missing scenarios.Need) {
	for _, h := range s.hosts {
		i := slices.IndexFunc(t.description.Needs, func(n scenarios.Need) bool { return !slices.Contains(h.Offers, n) })
		if i >= 0 {
			missing = t.description.Needs[i]
			continue
		}
		isExclusive := t.description.Sharing == conformance.SharesNothing
		if h.StartServer != nil && (isExclusive || !h.IsSlow &&
			(t.description.Hostile || t.description.Sharing != conformance.SharesAll)) {
			t.hostModel = h
			return ""
		}
		t.host, t.isExclusive = h, isExclusive
		return ""
	}
	return missing
}

// farRoundTrip is from which round trip on a quick run has no time for one check after the other.
const farRoundTrip = 50 * time.Millisecond

// isolates reports whether no other check may use the server of a check meanwhile: of a hostile one, but in a quick run
// those that wait for seconds are played beside others like them, and all where the server is far away.
func (s *runState) isolates(t *task) bool {
	hurries := s.runner.Quick && (s.isFar || t.description.Wait >= time.Second)
	return t.isExclusive || t.host != nil && t.description.Hostile && !hurries
}
