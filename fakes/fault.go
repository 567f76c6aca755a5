package fakes

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/fwpsuite/fwp/fwp"
)

// Fault is a way in which a server breaks the specification.
type Fault struct {
	// Name is a slug that stays the same for good.
	Name string

	// Clauses may turn red because of it, the first one for certain when it is
	// looked at; nothing else may.
	Clauses []string

	// Summary says what the server does, in one sentence.
	Summary string

	// Hook makes the [Config.Hook] that does it. Every server needs one of its
	// own, since some of them keep count; the catalogue itself can be shared.
	Hook func() func(*Event)
}

// Faults is the catalogue, sorted by name. Faults that are rare are counted and not
// drawn, so that they show every time.
func Faults() []Fault {
	faults := slices.Concat(
		greetingFaults(), passwordFaults(), protectedFaults(), helloFaults(),
		stateFaults(), stayFaults(), deliveryFaults(), goneFaults(), restartFaults(),
		lineFaults(), carriedFaults(), replyFaults(), stepFaults(),
		pushFaults(), requiredFaults(), optionalFaults(), readOnlyFaults(),
		fieldFaults(), followFaults(), redeliveryFaults(), backtraceFaults(),
		scheduleFaults(), oddQueueFaults(), retryFaults(), retryLimitFaults(),
		fetchFaults(), blockFaults(), reportFaults(),
		beatFaults(), commandFaults(), fatalFaults(),
	)
	slices.SortFunc(faults, func(a, b Fault) int { return cmp.Compare(a.Name, b.Name) })
	return faults
}

// fault makes one whose hook keeps nothing in mind. The clauses are separated by
// spaces and lack the prefix that they share.
func fault(name, clauses, summary string, hook func(*Event)) Fault {
	return counting(name, clauses, summary, func() func(*Event) { return hook })
}

// counting makes one whose hook keeps something in mind.
func counting(name, clauses, summary string, hook func() func(*Event)) Fault {
	ids := strings.Fields(clauses)
	for i, id := range ids {
		ids[i] = "FWP-" + id
	}
	return Fault{Name: name, Clauses: ids, Summary: summary, Hook: hook}
}

// on has a hook act at one point only.
func on(p Point, act func(*Event)) func(*Event) {
	return func(e *Event) {
		if e.Point == p {
			act(e)
		}
	}
}

// when has a hook act at one point of one command only.
func when(p Point, verb string, act func(*Event)) func(*Event) {
	return on(p, func(e *Event) {
		if e.Command.Verb == verb {
			act(e)
		}
	})
}

// skip has what is told at a point not happen.
func skip(e *Event) { e.Skip = true }

// every has a hook act at each nth time that a point is reached.
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

// let has a command that is refused for one reason carried out all the same.
func let(verb string, about About) func(*Event) {
	return when(Judged, verb, func(e *Event) {
		if e.about() == about {
			e.accept()
		}
	})
}

// pretend has a command that is refused for one reason answered as if it had been
// carried out.
func pretend(verb string, about About) func(*Event) {
	return when(Judged, verb, func(e *Event) {
		if e.about() == about {
			e.Err = nil
		}
	})
}

// answer has a command that was carried out answered with something else.
func answer(verb string, r fwp.Reply) func(*Event) {
	return when(Ran, verb, func(e *Event) {
		if e.Err == nil && e.Reply.Kind != 0 {
			e.Reply = r
		}
	})
}

func simple(text string) fwp.Reply {
	return fwp.Reply{Kind: fwp.SimpleString, Text: []byte(text)}
}

// notes is what a hook keeps in mind of each connection, or of anything else.
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

// take gives what was put there, and forgets it.
func (n *notes[K, V]) take(k K) (V, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	v, ok := n.m[k]
	delete(n.m, k)
	return v, ok
}
