package catalogue

import (
	"reflect"
	"sync"
)

// WithMemory returns hooks that act on the events for which a condition holds, and remember something: every server has
// an M of its own, which is zero at first.
//
// act is never called twice at the same time for one server, so that it needs no lock. It must return at once, and must
// not call the server, which may call the hook again; what waits, or calls the server, is done by a hook without a
// memory or, if the fake has a way for that, after the hook has returned. The condition is asked without the lock.
//
//go:noinline
func WithMemory[E, M any](match func(*E) bool, act func(memory *M, e *E)) func() func(*E) {
	return func() func(*E) {
		var mu sync.Mutex
		var memory M
		return ActIf(match, func(e *E) {
			mu.Lock()
			defer mu.Unlock()
			act(&memory, e)
		})
	}
}

// WithMemoryBy is [WithMemory] with a V for each key, such as a connection, a job or a worker. A V that is zero when
// act returns takes no room.
//
//go:noinline
func WithMemoryBy[E any, K comparable, V any](
	key func(*E) K, match func(*E) bool, act func(memory *V, e *E),
) func() func(*E) {
	return WithMemory(match, func(all *Memory[K, V], e *E) {
		k := key(e)
		v := all.GetOrAdd(k)
		act(v, e)
		if reflect.ValueOf(v).Elem().IsZero() {
			all.Forget(k)
		}
	})
}

// ActAfter returns hooks that act on the events that match, once cause has held for the same key.
//
//go:noinline
func ActAfter[E any, K comparable](key func(*E) K, cause, match func(*E) bool, act func(*E)) func() func(*E) {
	return WithMemoryBy(key, Any(cause, match), func(hasHappened *bool, e *E) {
		switch {
		case cause(e):
			*hasHappened = true
		case *hasHappened:
			act(e)
		}
	})
}

// ActNext returns hooks that act on the first event that matches after cause has held for the same key, each time anew.
//
//go:noinline
func ActNext[E any, K comparable](key func(*E) K, cause, match func(*E) bool, act func(*E)) func() func(*E) {
	return Recall(key, cause, ServerKey[E], match, func(_ struct{}, e *E) { act(e) })
}

// Recall returns hooks that note something when cause holds, and act with it at the next event of the same key that
// matches.
//
//go:noinline
func Recall[E any, K comparable, V any](
	key func(*E) K, cause func(*E) bool, note func(*E) V, match func(*E) bool, act func(value V, e *E),
) func() func(*E) {
	type memory struct {
		hasNote bool
		value   V
	}
	return WithMemoryBy(key, Any(cause, match), func(m *memory, e *E) {
		switch previous := *m; {
		case cause(e):
			*m = memory{true, note(e)}
		case previous.hasNote:
			*m = memory{}
			act(previous.value, e)
		}
	})
}

// ActOnRepeat returns hooks that act from the second time on that a condition holds for the same key.
//
//go:noinline
func ActOnRepeat[E any, K comparable](key func(*E) K, match func(*E) bool, act func(*E)) func() func(*E) {
	return WithMemoryBy(key, match, func(hasMatched *bool, e *E) {
		if *hasMatched {
			act(e)
		}
		*hasMatched = true
	})
}

// ServerKey is the key of what is remembered for a server as a whole.
func ServerKey[E any](*E) struct{} { return struct{}{} }

// Memory is what a hook remembers by key. The zero value is empty. It is not safe for concurrent use: [WithMemory]
// calls a hook once at a time.
type Memory[K comparable, V any] struct {
	values map[K]*V
}

// GetOrAdd returns what is remembered for a key, to be read and changed; it adds a zero value if there is none.
//
//go:noinline
func (m *Memory[K, V]) GetOrAdd(key K) *V {
	v := m.values[key]
	if v == nil {
		if m.values == nil {
			m.values = map[K]*V{}
		}
		v = new(V)
		m.values[key] = v
	}
	return v
}

// Has reports whether something is remembered for a key.
func (m *Memory[K, V]) Has(key K) bool { return m.values[key] != nil }

// Take returns what is remembered for a key, and forgets it; ok is false if there is nothing.
func (m *Memory[K, V]) Take(key K) (value V, ok bool) {
	if v := m.values[key]; v != nil {
		delete(m.values, key)
		return *v, true
	}
	return value, false
}

// Forget forgets what is remembered for a key.
func (m *Memory[K, V]) Forget(key K) { delete(m.values, key) }

// Clear forgets everything.
func (m *Memory[K, V]) Clear() { clear(m.values) }

// All calls f with each key and what is remembered for it, in no order. f may change the value and forget the key.
func (m *Memory[K, V]) All(f func(key K, value *V) bool) {
	for k, v := range m.values {
		if !f(k, v) {
			return
		}
	}
}
