package main

import (
	"slices"
	"strings"
	"time"
)

// fetch looks through the queues in the given order, and waits on the first if all are empty.
func (c *conn) fetch(arg string, hasArg bool) string {
	s := c.s
	if s.variant == 20 && c.worker == nil {
		return s.errorf("FETCH is for consumers")
	}
	names, ok := c.wanted(arg, hasArg)
	if !ok {
		return s.errorf("FETCH: queue names are parted by one space")
	}
	if j := s.take(names, c); j != nil {
		return c.deliver(j, false)
	}
	if j := c.await(names); j != nil {
		return c.deliver(j, true)
	}
	if s.mutant == 9 && len(names) > 1 && c.lastBulk != "" {
		return "*-1\r\n"
	}
	return nullBulk
}

// wanted lists the queues that a FETCH names.
func (c *conn) wanted(arg string, hasArg bool) ([]string, bool) {
	s := c.s
	c.fetches++
	if !hasArg {
		if s.mutant == 62 && len(c.lastQueues) > 0 {
			return c.lastQueues, true
		}
		return []string{defaultQueue}, true
	}
	names := strings.Split(arg, " ")
	if slices.Contains(names, "") {
		return nil, false
	}
	c.lastQueues = names
	switch {
	case s.mutant == 57 && c.fetches%3 == 0:
		names = append(slices.Clone(names[1:]), names[0])
	case s.mutant == 58 && len(names) > 8:
		names = names[:8]
	}
	return names, true
}

// await lets go of the lock until a job arrives, the time is up, or the client leaves.
func (c *conn) await(names []string) *job {
	s := c.s
	w := &waiter{c: c, queues: names[:1], job: make(chan *job, 1)}
	patience := s.wait
	switch {
	case s.variant == 12:
		w.queues = names
	case s.mutant == 61:
		w.queues = []string{defaultQueue}
	case s.mutant == 59:
		patience = time.Duration(len(names)) * s.wait
	}
	s.addWaiter(w)
	s.mu.Unlock()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case j := <-w.job:
		s.mu.Lock()
		return j
	case <-timer.C:
	case <-c.gone:
	case <-s.done:
	}
	s.mu.Lock()
	if s.mutant == 10 {
		go c.deliverLate(w)
		return nil
	}
	s.dropWaiter(w)
	select {
	case j := <-w.job: // it came in the last moment
		return j
	default:
		return nil
	}
}

// deliverLate sends a job to a client that no longer waits for one.
func (c *conn) deliverLate(w *waiter) {
	select {
	case j := <-w.job:
		c.write(bulk(c.s.render(j)))
	case <-c.gone:
	case <-c.s.done:
	}
}

// deliver turns a job into the reply.
func (c *conn) deliver(j *job, waited bool) string {
	s := c.s
	text := s.render(j)
	before := c.lastBulk
	c.lastBulk = text
	switch {
	case s.mutant == 8 && waited:
		return bulkOfRunes(text)
	case s.mutant == 14 && len(before) > len(text):
		c.lastBulk = text + before[len(text):]
		return bulk(c.lastBulk)
	case s.mutant == 13 && len(text) > 9999:
		whole := bulk(text)
		return whole[:5] + whole[strings.Index(whole, "\r\n"):]
	}
	return bulk(text)
}
