package main

import (
	"log"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// grace is how long jobs may go on after terminate before they are failed.
	grace = 25 * time.Second
	// parting is how long the goodbye may take after the grace.
	parting = 4 * time.Second
)

// worker is the whole program: some fetchers, a heartbeat, and the jobs in hand.
type worker struct {
	cfg      *config
	id       *identity
	links    []*link
	beatLink *link
	reporter *link // for all reports, if there is one
	hand     hand

	mu       sync.Mutex
	state    state
	quieted  bool
	deadline time.Time
	lastBeat time.Time

	terminating chan struct{}
	fetchers    sync.WaitGroup
	firstFailed atomic.Pointer[string]
}

// newWorker makes a worker that has not connected yet.
func newWorker(cfg *config) (*worker, error) {
	id, err := newIdentity()
	if err != nil {
		return nil, err
	}
	w := &worker{cfg: cfg, id: id, terminating: make(chan struct{})}
	w.beatLink = w.newLink()
	w.beatLink.parting = "BEAT " + object(field{"wid", id.wid})
	if variant == 2 {
		w.reporter = w.newLink()
	}
	return w, nil
}

// newLink makes a connection of this worker. One variant has a single connection for everything.
func (w *worker) newLink() *link {
	if variant == 1 && len(w.links) > 0 {
		return w.links[0]
	}
	l := &link{cfg: w.cfg, id: w.id}
	w.links = append(w.links, l)
	return l
}

// run works until terminate and ends all connections.
func (w *worker) run() {
	for range w.cfg.concurrency {
		f := &fetcher{worker: w, link: w.newLink()}
		w.fetchers.Go(f.loop)
	}
	go w.heartbeat(w.beatLink, 0)
	if variant == 8 {
		second := w.newLink()
		go w.heartbeat(second, beatInterval()/2)
	}
	<-w.terminating
	before := w.hand.list()
	idle := make(chan struct{})
	go func() {
		w.fetchers.Wait()
		close(idle)
	}()
	late := w.waitForJobs(idle)
	time.AfterFunc(parting, func() { os.Exit(1) })
	if late {
		w.giveUp(before)
		<-idle
	}
	w.endAll()
}

// waitForJobs waits until all fetchers are idle or the grace is over, which it reports as true.
func (w *worker) waitForJobs(idle <-chan struct{}) bool {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-idle:
			return false
		case now := <-tick.C:
			if now.After(w.graceEnd()) {
				return true
			}
		}
	}
}

// giveUp fails the jobs that outlived the grace. The list before holds the jobs in hand at terminate.
func (w *worker) giveUp(before []*job) {
	failure := newJobError("Shutdown", "the worker is shutting down")
	late := w.hand.list()
	if mutant == 37 {
		late = slices.DeleteFunc(late, func(j *job) bool { return slices.Contains(before, j) })
		late = append(late, before...)
	}
	var reports sync.WaitGroup
	for i, j := range late {
		close(j.abandoned)
		if !j.claim() && mutant != 37 || mutant == 35 && i > 0 {
			continue
		}
		reports.Go(func() {
			w.report(j, failure)
			w.hand.remove(j)
		})
	}
	reports.Wait()
}

// endAll says END on every connection.
func (w *worker) endAll() {
	var ends sync.WaitGroup
	for _, l := range w.links {
		ends.Go(l.end)
	}
	ends.Wait()
	log.Print("goodbye")
}

// pause waits, but not longer than until terminate.
func (w *worker) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-w.terminating:
	}
}

// backoff is the time before the next try after a lost connection. It grows and is spread a little.
func backoff(try int) time.Duration {
	first := 500 * time.Millisecond
	if variant == 9 {
		first = 3 * time.Second
	}
	d := span(first << min(try, 4))
	return d + rand.N(d/4)
}
