package standstill_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/standstill"
)

// Each way has the looks that show it, and one sentence; what is like it and is another way stands behind it.
func TestLooksShowOneWay(t *testing.T) {
	t.Parallel()
	const (
		live   = standstill.Live
		silent = standstill.Silent
		ended  = standstill.Gone
	)
	type looks = standstill.Looks
	for name, test := range map[string]struct {
		looks looks
		way   standstill.Way
		words string
	}{
		"nothing was seen":             {},
		"it ended":                     {looks{Process: ended, Old: ended, Fresh: ended}, standstill.Dead, ""},
		"it ended behind its listener": {looks{Process: ended, Old: ended, Fresh: silent}, standstill.Dead, ""},
		"elsewhere, and refuses":       {looks{Old: ended, Fresh: ended}, standstill.Unknown, ""},
		"a forwarder takes connections, and all old ones ended": {
			looks{Old: ended, Fresh: silent}, standstill.Unknown, "",
		},
		"it hangs": {looks{Process: live, Old: silent, Fresh: silent, PID: 71, Admissions: 9}, standstill.Hanging,
			"it hangs: pid 71 lives, no connection is answered"},
		"it hangs, elsewhere": {looks{Old: silent, Fresh: silent}, standstill.Hanging,
			"it hangs: no connection is answered, neither a new one nor one that was open before"},
		"it accepts no more": {looks{Process: live, Old: live, Fresh: silent, PID: 71, Admissions: 400}, standstill.Closed,
			"it takes no new connection; those that were open are served; it took 400"},
		"it has closed its listener": {looks{Old: live, Fresh: ended}, standstill.Closed,
			"it takes no new connection; those that were open are served"},
		"no old one was seen": {looks{Process: live, Fresh: silent, PID: 71}, standstill.Closed,
			"it takes no new connection; pid 71 lives"},
		"nothing but a new one was seen": {looks{Fresh: silent}, standstill.Unknown, ""},
		"its threads are taken": {looks{Process: live, Old: live, Fresh: live, Second: live, Room: 8, Greeting: "HI"},
			standstill.Full, "it serves 8 connections at a time: the ninth gets no HI"},
		"it has one thread": {looks{Fresh: live, Second: silent, Third: silent, Room: 1, Greeting: "HI"},
			standstill.Full, "it serves one connection at a time: the second gets no HI"},
		"many threads": {looks{Fresh: live, Second: live, Room: 80, Greeting: "HI"}, standstill.Full,
			"it serves 80 connections at a time: the 81st gets no HI"},
		"it takes one after the other": {
			looks{Process: live, Old: live, Fresh: live, Second: silent, Third: live, Room: 3,
				Introduction: "HELLO"}, standstill.OneByOne,
			"it accepts the next connection when the one before has said HELLO"},
		"it ends by itself": {looks{Process: ended, Lifetimes: lives(8010, 8020, 8100, 7990)}, standstill.ShortLived,
			"it ends 8s after each start, whatever is sent"},
		"it ended soon, thrice alike": {looks{Process: ended, Lifetimes: lives(8010, 8020, 8100)}, standstill.Dead, ""},
		"it ended at a command, soon": {looks{Process: ended, Lifetimes: lives(600, 600, 600, 600)}, standstill.Dead, ""},
		"it ended now and then":       {looks{Process: ended, Lifetimes: lives(8000, 9000, 8000, 12000)}, standstill.Dead, ""},
		"it serves, and has ended before it": {looks{Process: live, Fresh: live, Lifetimes: lives(8000, 8000, 8000, 8000)},
			standstill.Unknown, ""},
		"it serves": {looks{Process: live, Old: live, Fresh: live, Second: live}, standstill.Unknown, ""},
	} {
		assert.Equal(t, test.way, test.looks.Way(), name)
		assert.Equal(t, test.words, test.looks.String(), name)
	}
}

// lives returns spans in milliseconds.
func lives(all ...int) (spans []time.Duration) {
	for _, ms := range all {
		spans = append(spans, time.Duration(ms)*time.Millisecond)
	}
	return spans
}

// Of several plays on one server one may have had a connection that was served.
func TestLooksOfSeveralPlays(t *testing.T) {
	t.Parallel()
	a := standstill.Looks{Old: standstill.Silent, Fresh: standstill.Silent, Admissions: 3}
	b := standstill.Looks{Old: standstill.Live, Fresh: standstill.Silent, Admissions: 4}
	assert.Equal(t, standstill.Closed, a.Merge(b).Way())
	assert.Equal(t, "it takes no new connection; those that were open are served; it took 4", b.Merge(a).String())
	a.Process, b.Process = standstill.Live, standstill.Gone
	assert.Equal(t, standstill.Dead, a.Merge(b).Way())
}
