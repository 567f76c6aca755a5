package catalogue

// Hook is what a row of a catalogue may have: a hook, which every server may share, or a function that makes one for
// each server, because it remembers something.
type Hook[E any] interface {
	func(*E) | func() func(*E)
}

// Maker returns the function that makes the hook of a server.
//
//go:noinline
func Maker[E any, H Hook[E]](hook H) func() func(*E) {
	if maker, ok := any(hook).(func() func(*E)); ok {
		return maker
	}
	shared, _ := any(hook).(func(*E))
	return func() func(*E) { return shared }
}

// Chain returns a hook that calls two, one after the other; a nil one is left out.
//
//go:noinline
func Chain[E any](first, second func(*E)) func(*E) {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return func(e *E) {
		first(e)
		second(e)
	}
}

// ActIf returns a hook that acts on the events for which a condition holds.
//
//go:noinline
func ActIf[E any](match func(*E) bool, act func(*E)) func(*E) {
	return func(e *E) {
		if match(e) {
			act(e)
		}
	}
}

// All returns the condition that every one of some conditions holds. Those behind the first that does not hold are not
// asked.
//
//go:noinline
func All[E any](conditions ...func(*E) bool) func(*E) bool {
	return func(e *E) bool {
		for _, condition := range conditions {
			if !condition(e) {
				return false
			}
		}
		return true
	}
}

// Any returns the condition that at least one of some conditions holds.
//
//go:noinline
func Any[E any](conditions ...func(*E) bool) func(*E) bool {
	return func(e *E) bool {
		for _, condition := range conditions {
			if condition(e) {
				return true
			}
		}
		return false
	}
}

// Not returns the condition that another one does not hold.
//
//go:noinline
func Not[E any](condition func(*E) bool) func(*E) bool {
	return func(e *E) bool { return !condition(e) }
}

// ActEveryNth returns hooks that act on each nth of the events for which a condition holds.
//
//go:noinline
func ActEveryNth[E any](n int, match func(*E) bool, act func(*E)) func() func(*E) {
	return WithMemory(match, func(count *int, e *E) {
		if *count++; *count%n == 0 {
			act(e)
		}
	})
}
