package main

import (
	"errors"
	"log"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// fetcher is one thread of the worker: it fetches a job, runs it, reports it, and fetches the next.
type fetcher struct {
	*worker
	link    *link
	stale   *jobError
	working bool // the last FETCH brought a job
}

// loop fetches and works until terminate.
func (f *fetcher) loop() {
	for try := 0; f.alive() || f.link.fetchPending(); {
		if !f.mayFetch() {
			if variant == 11 {
				f.link.end()
				return
			}
			if mutant == 33 && len(f.hand.list()) == 0 {
				f.enter(terminating)
			}
			f.pause(span(200 * time.Millisecond))
			continue
		}
		text, err := f.fetch()
		if errors.Is(err, errEnded) {
			return
		}
		if err != nil {
			log.Printf("fetching: %v", err)
			f.pause(backoff(try))
			try++
			continue
		}
		try = 0
		f.working = text != ""
		if f.working {
			f.process(text)
		}
	}
}

// mayFetch says whether the state allows another FETCH.
func (f *fetcher) mayFetch() bool {
	if mutant == 32 && f.working {
		return true
	}
	return f.fetching() || f.link.fetchPending()
}

// fetch asks for a job. It returns an empty text when there is none.
func (f *fetcher) fetch() (string, error) {
	start := time.Now()
	answer, err := f.link.do(f.fetchLine())
	switch {
	case err != nil:
		return "", err
	case answer.failed():
		log.Printf("the server refused FETCH: %s", answer.text)
		f.pause(span(time.Second))
		return "", nil
	case answer.null:
		if variant == 10 {
			f.pause(span(time.Second))
		}
		// A server that does not block must not be asked without pause.
		if time.Since(start) < span(500*time.Millisecond) {
			f.pause(span(100 * time.Millisecond))
		}
		return "", nil
	}
	return answer.text, nil
}

// fetchLine is the FETCH command.
func (w *worker) fetchLine() string {
	queues := w.cfg.queues
	if variant == 13 {
		if slices.Equal(queues, []string{"default"}) {
			return "FETCH"
		}
		queues = slices.Clone(queues)
		rand.Shuffle(len(queues), func(i, k int) { queues[i], queues[k] = queues[k], queues[i] })
	}
	separator := " "
	if mutant == 12 {
		separator = ","
	}
	return "FETCH " + strings.Join(queues, separator)
}

// process runs a fetched job and reports it.
func (f *fetcher) process(text string) {
	j, err := decodeJob(text, f.link)
	if j == nil {
		log.Printf("a job cannot be read: %v", err)
		return
	}
	f.hand.add(j)
	if err != nil {
		f.finish(j, newJobError("BadJob", err.Error()))
		return
	}
	if variant == 12 && !f.alive() {
		f.finish(j, newJobError("Shutdown", "the worker is shutting down"))
		return
	}
	if mutant == 20 {
		j.claim()
		f.report(j, nil)
	}
	result := make(chan *jobError, 1)
	go func() { result <- j.execute() }()
	select {
	case failure := <-result:
		if mutant == 23 && failure == nil {
			failure = f.stale
		}
		f.stale = failure
		f.finish(j, failure)
	case <-j.abandoned:
	}
	if mutant == 28 {
		f.beat(f.beatLink)
	}
}
