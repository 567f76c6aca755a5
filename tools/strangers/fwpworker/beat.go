package main

import (
	"encoding/json"
	"errors"
	"log"
	"runtime"
	"time"
)

// shortestBeat is the time that must lie between two BEATs.
const shortestBeat = 5 * time.Second

// beatInterval is the time from one BEAT to the next on the same connection.
func beatInterval() time.Duration {
	if variant == 7 {
		return span(10 * time.Second)
	}
	return span(15 * time.Second)
}

// heartbeat sends BEATs until the connection is ended.
func (w *worker) heartbeat(l *link, delay time.Duration) {
	time.Sleep(delay)
	for {
		time.Sleep(w.untilNextBeat())
		if mutant == 27 && len(w.hand.list()) > 0 {
			time.Sleep(beatInterval())
			continue
		}
		answer, err := w.beat(l)
		switch {
		case errors.Is(err, errEnded):
			return
		case err != nil:
			log.Printf("heartbeat: %v", err)
			if mutant == 30 && l.greeted {
				return
			}
			time.Sleep(backoff(0))
			continue
		case answer.failed() && mutant == 18:
			return
		}
		time.Sleep(beatInterval())
	}
}

// untilNextBeat is how long the next BEAT must still wait. It counts from the answer to the last one, as a BEAT
// may have to wait for its connection before it leaves.
func (w *worker) untilNextBeat() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Until(w.lastBeat.Add(span(shortestBeat)))
}

// beat sends one BEAT and obeys the answer.
func (w *worker) beat(l *link) (reply, error) {
	answer, err := l.do(w.beatLine())
	w.mu.Lock()
	w.lastBeat = time.Now()
	w.mu.Unlock()
	if err != nil {
		return answer, err
	}
	if answer.failed() {
		log.Printf("the server refused BEAT: %s", answer.text)
		return answer, nil
	}
	if next, found := stateOf(answer); found {
		if mutant == 36 && w.current() == quiet {
			return answer, nil
		}
		w.enter(next)
	} else if mutant == 31 {
		w.revive()
	}
	return answer, nil
}

// beatLine is the BEAT command.
func (w *worker) beatLine() string {
	fields := []field{{"wid", w.id.wid}}
	now := w.current()
	if mutant == 29 && now == quiet {
		fields = nil
	}
	if now != running {
		fields = append(fields, field{"current_state", now.String()})
	}
	if variant != 7 {
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		fields = append(fields, field{"rss_kb", memory.Sys / 1024})
	}
	return "BEAT " + object(fields...)
}

// stateOf finds a change of state in the answer to a BEAT. Both a bulk string and a simple string may carry it.
func stateOf(answer reply) (state, bool) {
	if answer.null || answer.text == "OK" || (mutant == 17 && answer.kind == '+') {
		return running, false
	}
	var change struct {
		State string `json:"state"`
	}
	if err := json.Unmarshal([]byte(answer.text), &change); err != nil {
		log.Printf("an answer to BEAT cannot be read: %q", answer.text)
		return running, false
	}
	for _, next := range []state{quiet, terminating} {
		if change.State == next.String() {
			return next, true
		}
	}
	return running, false
}
