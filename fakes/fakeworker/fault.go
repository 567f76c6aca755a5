package fakeworker

import (
	"cmp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/fwpsuite/fwp/fwp"
)

// Fault is a way in which a worker breaks the specification.
type Fault struct {
	// Name is a slug that never changes.
	Name string

	// Clauses may fail because of it; the first one fails whenever a situation decides it. No other clause may fail.
	Clauses []string

	// Summary describes the worker's behaviour in one sentence.
	Summary string

	// Configure adds the fault to a [Config]. Every worker needs a call of its own, since some faults have state.
	Configure func(*Config)
}

// Faults returns the catalogue, sorted by name.
func Faults() []Fault {
	faults := slices.Concat(helloFaults(), hashFaults(), lineFaults(), replyFaults(), beatFaults(), stateFaults(),
		endFaults(), fetchFaults(), reportFaults(), lossFaults(), deliveryFaults(), laterFaults(), growingFaults(),
		pausingFaults(), eventfulFaults(), ordersFaults())
	slices.SortFunc(faults, func(a, b Fault) int { return cmp.Compare(a.Name, b.Name) })
	return faults
}

// fault returns one whose hook has no state. The clauses are separated by spaces and lack the prefix that they share.
func fault(name, clauses, summary string, hook func(*Event)) Fault {
	return statefulFault(name, clauses, summary, func() func(*Event) { return hook })
}

// statefulFault returns one whose hook has state.
func statefulFault(name, clauses, summary string, hook func() func(*Event)) Fault {
	return setting(name, clauses, summary, func(c *Config) { c.Hook = hook() })
}

// setting returns a fault of the configuration.
func setting(name, clauses, summary string, configure func(*Config)) Fault {
	ids := strings.Fields(clauses)
	for i, id := range ids {
		ids[i] = "FWP-" + id
	}
	return Fault{Name: name, Clauses: ids, Summary: summary, Configure: configure}
}

// on returns a hook that acts at one point only.
func on(p Point, act func(*Event)) func(*Event) {
	return func(e *Event) {
		if e.Point == p {
			act(e)
		}
	}
}

// sent returns a hook that acts before the commands of a verb; "" means any.
func sent(verb string, act func(*Event)) func(*Event) {
	return on(Sending, func(e *Event) {
		if verb == "" || e.Verb == verb {
			act(e)
		}
	})
}

// replied returns a hook that acts on the replies to a verb.
func replied(verb string, act func(*Event)) func(*Event) {
	return on(Replied, func(e *Event) {
		if verb == "" || e.Verb == verb {
			act(e)
		}
	})
}

// after returns hooks that act at a point from when something has happened on.
func after(happened func(*Event) bool, p Point, act func(*Event)) func() func(*Event) {
	return func() func(*Event) {
		var has atomic.Bool
		return func(e *Event) {
			switch {
			case happened(e):
				has.Store(true)
			case e.Point == p && has.Load():
				act(e)
			}
		}
	}
}

// hasLost reports whether a connection was lost.
func hasLost(e *Event) bool { return e.Point == Lost }

// skip suppresses the step.
func skip(e *Event) { e.Skip = true }

// field returns a step that sets a field; nil removes it.
func field(name string, value any) func(*Event) {
	return func(e *Event) {
		if delete(e.Fields, name); value != nil {
			e.Fields[name] = value
		}
	}
}

// both joins two hooks.
func both(a, b func(*Event)) func(*Event) {
	return func(e *Event) { a(e); b(e) }
}

// isReport reports whether a verb is that of a report.
func isReport(verb string) bool { return verb == fwp.ACK || verb == fwp.FAIL }
