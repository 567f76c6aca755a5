package client

import (
	"sync"
	"sync/atomic"
	"time"
)

// Shared is what the shards of a run know together, since a job may reach another shard
// than the one that pushed it, and the memory for replies is that of one process. It takes
// memory only for jobs that failed and were not acknowledged since, and for queues of a
// single job that still have to be asked. The zero value is empty. It is safe for
// concurrent use.
type Shared struct {
	unfinished atomic.Int64 // bytes of replies whose rest has not come, of all connections
	ahead      atomic.Int64 // jobs that a closed loop with a backlog has pushed and that were not fetched
	fetched    atomic.Int64 // when the last of them was fetched, or given up, in time of the engine
	disrupted  atomic.Int64 // until when the target is disrupted on purpose, in time of the engine

	mu     sync.Mutex
	failed map[int64]int // how often job k has failed
	own    ownQueues
}

// Disrupt says that the target is disrupted on purpose until a time of the engine: nothing that it does to a connection
// until then, and no reply to a command that was sent until then, is late, missing or without a cause.
func (s *Shared) Disrupt(until time.Duration) { s.disrupted.Store(int64(until)) }

// calm reports whether the target was not disrupted at that time or later.
func (s *Shared) calm(at time.Duration) bool { return int64(at) > s.disrupted.Load() }

// attempts is how often job k has failed so far.
func (s *Shared) attempts(k int64) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed[k]
}

// fail notes one more failure of job k.
func (s *Shared) fail(k int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		s.failed = make(map[int64]int)
	}
	s.failed[k]++
}

// forget forgets the failures of job k.
func (s *Shared) forget(k int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.failed, k)
}
