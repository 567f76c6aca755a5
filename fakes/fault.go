package fakes

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fwp"
)

// Fault is a way in which a server breaks the specification. Its hook is the [Config.Hook] of a server.
type Fault = catalogue.Fault[Event]

// Faults returns the catalogue, sorted by name. Rare faults are counted, not random, so
// that every run shows them. The slice is the caller's, the lists of clauses in it are shared.
func Faults() []Fault { return slices.Clone(allFaults()) }

// allFaults is the catalogue; listing the clauses asks for it hundreds of times.
var allFaults = sync.OnceValue(func() []Fault {
	return catalogue.SortFaults(
		greetingFaults(), passwordFaults(), nearFaults(), crossedFaults(), declinedFaults(), protectedFaults(), helloFaults(),
		stateFaults(), stayFaults(), deliveryFaults(), goneFaults(), restartFaults(),
		lineFaults(), carriedFaults(), replyFaults(), stepFaults(),
		pushFaults(), requiredFaults(), optionalFaults(), readOnlyFaults(),
		fieldFaults(), followFaults(), redeliveryFaults(), backtraceFaults(),
		scheduleFaults(), retryFaults(), retryLimitFaults(), againFaults(),
		fetchFaults(), blockFaults(), reportFaults(),
		beatFaults(), commandFaults(), fatalFaults(),
		textFaults(), emptyFaults(), keyFaults(), numberFaults(), customFaults(), nameFaults(),
		workerNameFaults(), queueFaults(), valueFaults(), neighbourFaults(), countFaults(),
		workerFaults(), manyFaults(), refusedFaults(), refusedCommandFaults(), unidentifiedFaults(),
		flushFaults(), kindFaults(), failureFaults(), identityFaults(), signalFaults(), longNameFaults(), secondFaults(),
		lastingFaults(), readingFaults(), elsewhereFaults(), afterwardsFaults(),
		returnFaults(), keptFaults(), turnFaults(), stampFaults(), pieceFaults(),
		rareFaults(), strictFaults(), companyFaults(), laterFaults(),
		formFaults(), laxFaults(), situationFaults(), unfinishedFaults(),
		silentFaults(), numberFormFaults(), orderFaults(), looseFaults(), longFaults(),
		pathFaults(), twiceFaults(), besideFaults(), verbFaults(), plainFaults(), plainTextFaults(), plainJobFaults(),
		failAlterFaults(), expiryAlterFaults(), otherAlterFaults(), offsetFaults(), enqueuedFaults(), whileWaitingFaults(),
		waitFaults(), partingFaults(), unheldFaults(), characterFaults(), stateChangeFaults(), nullFaults(), lostFaults(),
	)
})

// fault returns one whose hook has no state. The clauses are separated by spaces and
// lack the prefix that they share.
func fault(name, clauses, summary string, hook func(*Event)) Fault {
	return statefulFault(name, clauses, summary, func() func(*Event) { return hook })
}

// statefulFault returns one whose hook has state.
func statefulFault(name, clauses, summary string, hook func() func(*Event)) Fault {
	return catalogue.NewFault(name, "FWP-", clauses, summary, hook)
}

// on returns a hook that acts at one point only.
func on(p Point, act func(*Event)) func(*Event) {
	return func(e *Event) {
		if e.Point == p {
			act(e)
		}
	}
}

// when returns a hook that acts at one point of one command only.
func when(p Point, verb string, act func(*Event)) func(*Event) {
	return on(p, func(e *Event) {
		if e.Command.Verb == verb {
			act(e)
		}
	})
}

// skip suppresses the event.
func skip(e *Event) { e.Skip = true }

// every returns hooks that act each nth time that a point is reached.
func every(n int64, p Point, act func(*Event)) func() func(*Event) {
	return func() func(*Event) {
		var count atomic.Int64
		return on(p, func(e *Event) {
			if count.Add(1)%n == 0 {
				act(e)
			}
		})
	}
}

// allow carries out a command that is refused for one reason.
func allow(verb string, about About) func(*Event) {
	return when(Checked, verb, func(e *Event) {
		if e.about() == about {
			e.accept()
		}
	})
}

// pretend answers a command that is refused for one reason as if it had been carried out.
func pretend(verb string, about About) func(*Event) {
	return when(Checked, verb, func(e *Event) {
		if e.about() == about {
			e.Err = nil
		}
	})
}

// answer replaces the reply to a command that was carried out.
func answer(verb string, r fwp.Reply) func(*Event) {
	return when(Ran, verb, func(e *Event) {
		if e.Err == nil && e.Reply.Kind != 0 {
			e.Reply = r
		}
	})
}

// notes is what a hook remembers, by connection, job or worker.
type notes[K comparable, V any] struct {
	mu sync.Mutex
	m  map[K]V
}

func (n *notes[K, V]) put(k K, v V) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.m == nil {
		n.m = make(map[K]V)
	}
	n.m[k] = v
}

// take returns what was put under the key, and removes it.
func (n *notes[K, V]) take(k K) (V, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	v, ok := n.m[k]
	delete(n.m, k)
	return v, ok
}

// at returns a function that reports whether an event is at a point.
func at(p Point) func(*Event) bool { return func(e *Event) bool { return e.Point == p } }

// accepted returns a function that reports whether a command was checked and is right.
func accepted(verb string) func(*Event) bool {
	return func(e *Event) bool { return e.Point == Checked && e.Command.Verb == verb && e.Err == nil }
}

// due returns a function that reports whether a job leaves a set.
func due(set string) func(*Event) bool {
	return func(e *Event) bool { return e.Point == Due && e.Set == set }
}

// isScheduled reports whether a job is scheduled.
func isScheduled(e *Event) bool { return e.Point == Scheduled && e.Set == "scheduled" }

// endsWait reports whether a job ends the wait of a FETCH.
func endsWait(e *Event) bool { return e.Point == Reserved && e.Command.Verb == fwp.PUSH }

// noted returns hooks that act at a point on each job that an earlier event was about, once for every such event.
func noted(earlier func(*Event) bool, p Point, act func(*Event)) func() func(*Event) {
	return func() func(*Event) {
		var jids notes[string, bool]
		return func(e *Event) {
			switch {
			case earlier(e):
				jids.put(e.Object.Text("jid"), true)
			case e.Point == p:
				if is, _ := jids.take(e.Object.Text("jid")); is {
					act(e)
				}
			}
		}
	}
}
