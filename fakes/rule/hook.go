package rule

import (
	"sync"
	"time"
)

// Hooks returns a hook that follows rules, in their order.
func Hooks[E any](rules ...Rule[E]) func(*E) {
	var hooks []func(*E)
	for _, r := range rules {
		hooks = append(hooks, r.Hook())
	}
	return func(e *E) {
		for _, hook := range hooks {
			hook(e)
		}
	}
}

// gate lets events through, or not, by what was seen before.
type gate[E any] interface {
	isOpen(*E) bool // of an event that the rule is about and the gates before this one let through
	see(*E)         // each event, after that
}

// hook returns a hook, which may be called by several goroutines at a time.
func hook[E any](match func(*E) bool, gates []func() gate[E], acts []func(*E)) func(*E) {
	var mu sync.Mutex
	all := make([]gate[E], len(gates))
	for i, g := range gates {
		all[i] = g()
	}
	passes := func(e *E) bool {
		if len(all) == 0 {
			return match(e)
		}
		mu.Lock()
		defer mu.Unlock()
		isOpen := match(e)
		for _, g := range all {
			isOpen = isOpen && g.isOpen(e)
		}
		for _, g := range all {
			g.see(e)
		}
		return isOpen
	}
	return func(e *E) {
		if !passes(e) {
			return
		}
		for _, act := range acts {
			act(e)
		}
	}
}

// countGate is open for each n-th event of a key, the first n, or from the n-th on.
type countGate[E any] struct {
	mode   string
	n      int
	key    func(*E) string
	counts map[string]int
}

func (c *countGate[E]) isOpen(e *E) bool {
	k := c.key(e)
	c.counts[k]++
	switch n := c.counts[k]; c.mode {
	case "each":
		return n%c.n == 0
	case "first":
		return n <= c.n
	default:
		return n >= c.n
	}
}

func (c *countGate[E]) see(*E) {}

// afterGate is open after an event with the same key, at least so long after the last one; isSingle: only for the next
// event.
type afterGate[E any] struct {
	match    func(*E) bool
	key      func(*E) string
	delay    time.Duration
	isSingle bool
	times    map[string]time.Time
}

func (b *afterGate[E]) isOpen(e *E) bool {
	k := b.key(e)
	at, ok := b.times[k]
	if !ok || time.Since(at) < b.delay {
		return false
	}
	if b.isSingle {
		delete(b.times, k)
	}
	return true
}

func (b *afterGate[E]) see(e *E) {
	if b.match(e) {
		b.times[b.key(e)] = time.Now()
	}
}
