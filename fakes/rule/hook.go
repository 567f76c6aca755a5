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
	open(*E) bool // of an event that the rule is about and the gates before this one let through
	see(*E)       // each event, after that
}

// hook returns a hook, which may be called by several goroutines at a time.
func hook[E any](is func(*E) bool, gates []func() gate[E], acts []func(*E)) func(*E) {
	var mu sync.Mutex
	all := make([]gate[E], len(gates))
	for i, g := range gates {
		all[i] = g()
	}
	passes := func(e *E) bool {
		if len(all) == 0 {
			return is(e)
		}
		mu.Lock()
		defer mu.Unlock()
		open := is(e)
		for _, g := range all {
			open = open && g.open(e)
		}
		for _, g := range all {
			g.see(e)
		}
		return open
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

// counted is open for each n-th event of a key, the first n, or from the n-th on.
type counted[E any] struct {
	how  string
	n    int
	key  func(*E) string
	seen map[string]int
}

func (c *counted[E]) open(e *E) bool {
	k := c.key(e)
	c.seen[k]++
	switch n := c.seen[k]; c.how {
	case "each":
		return n%c.n == 0
	case "first":
		return n <= c.n
	default:
		return n >= c.n
	}
}

func (c *counted[E]) see(*E) {}

// behind is open after an event with the same key, at least so long after the last one; once: only for the next event.
type behind[E any] struct {
	is    func(*E) bool
	key   func(*E) string
	least time.Duration
	once  bool
	seen  map[string]time.Time
}

func (b *behind[E]) open(e *E) bool {
	k := b.key(e)
	at, is := b.seen[k]
	if !is || time.Since(at) < b.least {
		return false
	}
	if b.once {
		delete(b.seen, k)
	}
	return true
}

func (b *behind[E]) see(e *E) {
	if b.is(e) {
		b.seen[b.key(e)] = time.Now()
	}
}
