package main

import (
	"slices"
	"sync"
)

// hand is the set of the jobs that were fetched and not yet reported.
type hand struct {
	mu   sync.Mutex
	jobs []*job
	last string
}

// add takes a job into the hand.
func (h *hand) add(j *job) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.jobs = append(h.jobs, j)
	h.last = j.jid
}

// remove takes a reported job out.
func (h *hand) remove(j *job) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.jobs = slices.DeleteFunc(h.jobs, func(other *job) bool { return other == j })
}

// list is the present content.
func (h *hand) list() []*job {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.jobs)
}

// latest is the jid of the job that came last.
func (h *hand) latest() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last
}
