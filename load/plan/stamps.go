package plan

import (
	"strings"
	"time"
)

// rawStamps are what a server may write into a job about its times, as it stands there; nil if absent.
type rawStamps struct{ created, enqueued, failure []byte }

// Stamps are the times of a server that are in a delivered job. Each is zero if it is not there.
type Stamps struct {
	// Earliest and Latest are the first and the last time at which the server wrote into the job. One that it gives in
	// whole seconds may be up to a second later.
	Earliest, Latest time.Time
	IsCoarse         bool // Earliest is in whole seconds
	// Retry is when a job that failed was to be tried again.
	Retry time.Time
}

// Stamps returns the times that the server wrote into the job.
func (d *Delivery) Stamps() (found Stamps) {
	var failure []byte
	s := scanner{text: d.stamps.failure}
	if s.peek() == '{' {
		s.need('{')
		for isFirst := true; s.hasMember(isFirst, '}'); isFirst = false {
			s.peek()
			key := s.str()
			s.need(':')
			switch value := s.value(); string(key) {
			case "failed_at":
				failure = value
			case "next_at", "retry_at":
				found.Retry, _ = stamp(value)
			}
		}
	}
	for _, text := range [][]byte{d.stamps.created, d.stamps.enqueued, failure} {
		at, isCoarse := stamp(text)
		if at.IsZero() {
			continue
		}
		if found.Earliest.IsZero() || at.Before(found.Earliest) {
			found.Earliest, found.IsCoarse = at, isCoarse
		}
		if at.After(found.Latest) {
			found.Latest = at
		}
	}
	return found
}

// stamp reads a time as it stands in JSON, zero if it is none, and whether it is in whole seconds.
func stamp(text []byte) (at time.Time, isCoarse bool) {
	if len(text) < 2 || text[0] != '"' {
		return at, false
	}
	words := string(text[1 : len(text)-1])
	at, err := time.Parse(time.RFC3339Nano, words)
	if err != nil {
		return time.Time{}, false
	}
	return at, !strings.Contains(words, ".")
}
