package model

import (
	"time"
)

// States is a set of states that a work unit may be in: more than one where a client
// cannot know. (Work unit state diagram)
type States uint8

// The states.
const (
	Scheduled States = 1 << iota
	Enqueued
	Working
	Retries
	Dead
	Absent // purged, discarded, or never enqueued
	Unborn
)

// Event is what happens to a work unit.
type Event string

// The events.
const (
	Push       Event = "PUSH"
	PushAt     Event = "PUSH with at"
	ReachAt    Event = "at is reached"
	Fetch      Event = "FETCH"
	Ack        Event = "ACK"
	Fail       Event = "FAIL, retries are left"
	FailLast   Event = "FAIL, no retries are left"
	FailZero   Event = "FAIL, retry 0"
	FailDead   Event = "FAIL, retry -1"
	Expire     Event = "the reservation ends, retries are left"
	ExpireLast Event = "the reservation ends, no retries are left"
	BackOff    Event = "some delay"
	Flush      Event = "FLUSH"
)

// Arrow is a transition from a state to another.
type Arrow struct {
	From       States
	Event      Event
	To         States // one of several if the text has several readings
	Clause     string
	IsByServer bool // the server does it by itself; clients know at best a window for the time
}

// arrows are all transitions. Those that the server takes by itself come last, since they
// follow others.
var arrows = []Arrow{
	{Unborn, Push, Enqueued, "FWP-STATE-04", false},
	{Unborn, PushAt, Scheduled, "FWP-WU-06", false},
	{Enqueued, Fetch, Working, "FWP-STATE-05", false},
	{Working, Ack, Absent, "FWP-ACK-02", false},
	{Working, Fail, Retries, "FWP-STATE-06", false},
	{Working, FailLast, Dead, "FWP-RETRY-03", false},
	{Working, FailZero, Absent, "FWP-RETRY-01", false},
	{Working, FailDead, Dead, "FWP-RETRY-02", false},
	{Working, Expire, Retries | Enqueued, "FWP-STATE-07", false},                     // AMB-01b
	{Working, ExpireLast, Retries | Enqueued | Dead | Absent, "FWP-RETRY-03", false}, // the text counts FAILs only
	{Scheduled | Enqueued | Working | Retries | Dead, Flush, Absent, "FWP-FLUSH-02", false},
	{Scheduled, ReachAt, Enqueued, "FWP-STATE-11", true},
	{Retries, BackOff, Enqueued, "FWP-STATE-09", true},
}

// After returns where a unit that is in one of the states may be after an event, and the
// clause about it; 0 if the event cannot happen there. Where the server goes on by itself,
// all states on its way are included.
func (w States) After(e Event) (to States, clause string) {
	for _, a := range arrows {
		if a.Event == e && w&a.From != 0 {
			to, clause = to|a.To, a.Clause
		}
		if a.IsByServer && to&a.From != 0 {
			to |= a.To
		}
	}
	return to, clause
}

// AfterAny returns where it may be after one of several events.
func (w States) AfterAny(events ...Event) (to States) {
	for _, e := range events {
		after, _ := w.After(e)
		to |= after
	}
	return to
}

// FailEvent returns the event that a FAIL is for a unit that has failed so often before.
// (Work units, retry)
func FailEvent(retry int64, before int) Event {
	switch {
	case retry == 0:
		return FailZero
	case retry < 0:
		return FailDead
	case int64(before) >= retry:
		return FailLast
	}
	return Fail
}

// ExpiryEvent is which event the end of a reservation is for such a unit.
func ExpiryEvent(retry int64, before int) Event {
	if FailEvent(retry, before) == Fail {
		return Expire
	}
	return ExpireLast
}

// Windows of time. Where the text says "about" or "eventually" they are wide; they hold
// on a network without delay.
const (
	LongestBlock  = 2 * time.Second         // of a FETCH (FWP-FETCH-05)
	ShortestBlock = 1500 * time.Millisecond // of one that brings nothing (AMB-29)
	Instant       = 500 * time.Millisecond  // in which a job gets to a worker that waits (FWP-FETCH-06)
	SoonestRetry  = 300 * time.Millisecond  // of a job that failed; the text has no latest (FWP-STATE-06)
	EndLinger     = time.Second             // at most, until the connection ends after END (FWP-STATE-16)
	BeatInterval  = time.Minute             // at least, of a worker that must not be closed (FWP-STATE-13, AMB-23)
	Patience      = 150 * time.Second       // for what the text calls eventual (AMB-38)
)

// Reservation is how long a worker may hold a job whose reserve_for is n seconds, 1800
// if the job has none. (FWP-WU-05, AMB-17)
func Reservation(n int64) time.Duration {
	return time.Duration(min(max(n, 60), 1<<31)) * time.Second
}
