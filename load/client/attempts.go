package client

import "sync"

// Attempts remembers how often jobs have failed, across the crews of a run: a job may
// come back to another one. Only jobs that failed and were not settled since take
// memory. The zero value is empty. It is safe for concurrent use.
type Attempts struct {
	mu     sync.Mutex
	failed map[int64]int
}

// of is how often job k has failed so far.
func (a *Attempts) of(k int64) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.failed[k]
}

// fail notes one more failure of job k.
func (a *Attempts) fail(k int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failed == nil {
		a.failed = make(map[int64]int)
	}
	a.failed[k]++
}

// settle forgets job k.
func (a *Attempts) settle(k int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.failed, k)
}
