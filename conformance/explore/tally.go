package explore

import "sync"

// tally counts the jobs of a crowd that should wait in each queue. It has workers ask
// where something is, because a FETCH that waits for nothing takes two seconds; nothing
// is judged by it. Its methods may be called by many goroutines at once.
type tally struct {
	mu         sync.Mutex
	waiting    []int // by queue
	claimed    int   // jobs for which a FETCH is under way
	unfinished int   // jobs that may have been accepted, and were not acknowledged
}

// pushed counts a job that was accepted.
func (t *tally) pushed(queue int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting[queue]++
	t.unfinished++
}

// sent counts a job that may have been accepted.
func (t *tally) sent() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unfinished++
}

// claim takes one of the jobs of a worker's own queue off the count, or of another queue
// if there is none, and says in which queue that one waits. Whoever claims a job must say
// when it has landed.
func (t *tally) claim(own int) (queue int, found bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.waiting {
		if queue = (own + i) % len(t.waiting); t.waiting[queue] > 0 {
			t.waiting[queue]--
			t.claimed++
			return queue, true
		}
	}
	return 0, false
}

// landed takes note that a FETCH for a claimed job was answered.
func (t *tally) landed() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.claimed--
}

// underWay says whether there are FETCHes for claimed jobs.
func (t *tally) underWay() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.claimed > 0
}

// add changes the count of a queue. It is below zero while a FETCH waits for what comes
// next.
func (t *tally) add(queue, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting[queue] += n
}

// finished counts a job that was acknowledged.
func (t *tally) finished() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unfinished--
}

// held is how many jobs are still to be acknowledged.
func (t *tally) held() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.unfinished
}
