package conformance

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/scenarios"
)

// task is one run of one check, with all its tries.
type task struct {
	script   *scenarios.Script
	property *Property     // nil: the script is played
	check    int           // its place in Scripts
	round    int           // which of the repetitions
	wait     time.Duration // see scenarios.Script.Wait; a little more if a FETCH may wait too
	conns    int           // see scenarios.Script.Connections
	host     *host         // the server that it shares; nil: it gets one of its own
	own      func() (Server, func(), error)
	apart    bool // nobody else may use the server meanwhile
	common   bool // it uses the queue default: one such check at a time

	// Of the latest try.
	began    time.Time
	names    string
	server   *host // where it was played
	run      *scenarios.Run
	err      error // a fault of ours
	together bool  // others used the server meanwhile
	epoch    int   // of the host, when it began

	tries   int
	lagged  int                      // tries that lag left undecided
	refused int                      // tries that did not get their connections
	sights  map[*scenarios.Run]Sight // of a property, by try
	death   *scenarios.Run           // an earlier try after which the server seemed dead
	filed   bool                     // it has an answer
}

// newTask is one run of one check.
func (s *session) newTask(check, round int) *task {
	script := s.Scripts[check]
	t := &task{script: script, check: check, round: round, wait: script.Wait(), conns: script.Connections()}
	for i := range s.Properties {
		if p := &s.Properties[i]; p.Name == script.Name && script.Source == nil {
			t.property, t.conns, t.sights = p, p.Connections, map[*scenarios.Run]Sight{}
		}
	}
	if script.Sends(fwp.FETCH) || t.property != nil {
		t.wait += time.Millisecond
	}
	return t
}

// tasks makes the list of all runs, in the order in which they begin: those that
// wait long first, otherwise as the seed has it, those that run apart last. What
// no server can serve is answered.
func (s *session) tasks() []*task {
	var all []*task
	random := rand.New(rand.NewPCG(s.Seed, s.Seed))
	for round := range s.repeat {
		for _, i := range random.Perm(len(s.Scripts)) {
			t := s.newTask(i, round)
			if missing := s.assign(t); missing != "" {
				s.file(t, s.notOffered(t.script, missing))
				continue
			}
			all = append(all, t)
		}
	}
	slices.SortStableFunc(all, func(a, b *task) int {
		switch {
		case a.apart == b.apart:
			return cmp.Compare(b.wait, a.wait)
		case a.apart:
			return 1
		}
		return -1
	})
	return all
}

// assign finds the server for a check; missing is the need that none meets, or "".
func (s *session) assign(t *task) (missing scenarios.Need) {
	if slices.Contains(t.script.Needs, scenarios.NeedEmbedded) {
		if s.Prepare == nil {
			return scenarios.NeedEmbedded
		}
		t.own = func() (Server, func(), error) { return s.Prepare(t.script.Embedded) }
		return ""
	}
	for _, h := range s.hosts {
		i := slices.IndexFunc(t.script.Needs, func(n scenarios.Need) bool { return !slices.Contains(h.Offers, n) })
		if i >= 0 {
			missing = t.script.Needs[i]
			continue
		}
		if apart, common := sharing(t.script); h.Fresh != nil && (apart || common || t.property != nil) {
			t.own = h.Fresh
		} else {
			t.host, t.apart, t.common = h, apart, common
		}
		return ""
	}
	return missing
}

// sharing says how a check gets on with others on one server. Those that end or
// empty it run apart, and so do those that count everything, which takes INFO.
// What is left of those that want to be alone is about the queue default.
func sharing(script *scenarios.Script) (apart, common bool) {
	for _, n := range script.Needs {
		switch n {
		case scenarios.NeedFlush, scenarios.NeedRestart, scenarios.NeedKill:
			return true, false
		case scenarios.NeedAlone:
			common = true
		}
	}
	if common && script.Sends(fwp.INFO) {
		return true, false
	}
	return false, common
}
