package explore

import (
	"maps"
	"slices"
	"sync"
)

// tally counts the jobs of a crowd that should wait in each queue. It has workers ask
// where something is, because a FETCH that waits for nothing takes two seconds; nothing
// is judged by it. Its methods may be called by many goroutines at once.
type tally struct {
	mu         sync.Mutex
	waiting    []int          // by queue, of those that there are all the time
	news       []int          // queues that nobody has asked yet: each holds one job, and never another one
	rare       map[string]int // the queues of such jobs that were not acknowledged, by jid
	claimed    int            // jobs for which a FETCH is under way
	unfinished int            // jobs that may have been accepted, and were not acknowledged
}

// pushed counts a job that was accepted.
func (t *tally) pushed(jid string, queue int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unfinished++
	if queue < len(t.waiting) {
		t.waiting[queue]++
		return
	}
	t.news = append(t.news, queue)
	t.rare[jid] = queue
}

// sent counts a job that may have been accepted.
func (t *tally) sent() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unfinished++
}

// claim takes one of the jobs of a queue that was new off the count, or if there is none
// of a worker's own queue, or of another one, and says in which queue that one waits.
// Whoever claims a job must say when it has landed.
func (t *tally) claim(own int) (queue int, found bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.news) > 0 {
		queue, t.news = t.news[0], t.news[1:]
		t.claimed++
		return queue, true
	}
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
func (t *tally) finished(jid string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unfinished--
	delete(t.rare, jid)
}

// mostRare is how many queues one FETCH names beside those that there are all the time.
const mostRare = 50

// all lists the queues in which something may be: those that there are all the time, and
// so many of those that were new and whose job was not acknowledged.
func (t *tally) all(most int) []int {
	t.mu.Lock()
	defer t.mu.Unlock()
	rare := slices.Sorted(maps.Values(t.rare))
	for queue := range t.waiting {
		rare = append(rare, queue)
	}
	return rare[max(0, len(rare)-len(t.waiting)-most):]
}

// held is how many jobs are still to be acknowledged.
func (t *tally) held() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.unfinished
}
