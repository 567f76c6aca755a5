package explore

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/session"
)

func TestWhyAnExplorationDoesNotPass(t *testing.T) {
	t.Parallel()
	judged := func(n int) *Result { return &Result{Coverage: &Coverage{Judged: n}} }
	for name, test := range map[string]struct {
		seen explored
		want string
	}{
		"well": {explored{Result: judged(9), served: true, sent: 10, answered: 9}, ""},
		"handshakes": {explored{Result: judged(0), served: true, sent: 6, answered: 9},
			"nothing was answered after the handshakes"},
		"half unanswered": {explored{Result: judged(0), served: true, sent: 10, answered: 4},
			"fewer than half of the commands were answered"},
		"a slow server": {explored{Result: judged(39), served: true, sent: 39, answered: 39, least: 40},
			"only 39 commands were answered in time"},
		"one that is not":  {explored{Result: judged(40), served: true, sent: 40, answered: 40, least: 40}, ""},
		"half answered":    {explored{Result: judged(5), served: true, sent: 10, answered: 5}, ""},
		"jobs unaccounted": {explored{Result: judged(0), served: true, open: "a job is missing"}, "a job is missing"},
	} {
		assert.Equal(t, test.want, test.seen.evidence().Open, name)
	}
}

func TestEvidenceOfAnExploration(t *testing.T) {
	t.Parallel()
	rules := map[string]law.Rule{"late": {Traits: law.Timed}}
	r := &Result{Coverage: &Coverage{Judged: 1}, Dead: true, Left: []string{"a job"}, Findings: []Finding{
		{
			Finding: conformance.Finding{
				Clause: "FWP-ACK-01", Should: true, Expected: "+OK", Got: "-ERR", What: "it was held", Script: "C: INFO",
			},
			Rule: "late", Moments: 1, Shown: 2,
		},
		{Rule: "late", Moments: 1},
		{Rule: "late", Moments: 2},
		{Rule: "field", Moments: 1},
		{Rule: "dies", Finding: conformance.Finding{Crash: true}},
	}}
	e := explored{Result: r, served: true, rules: rules}.evidence()
	assert.Equal(t, conformance.Evidence{
		Served: true, Dead: "no new connection is served", Leftover: []string{"a job"}, Findings: []conformance.Finding{
			{
				Clause: "FWP-ACK-01", Clocked: true, Should: true,
				Expected: "+OK", Got: "-ERR", What: "it was held", Script: "C: INFO",
			},
			{Clocked: true, Once: true}, {Clocked: true}, {},
			{Crash: true},
		},
	}, e)
}

// What is seen within a few seconds is seen at one moment.
func TestMoments(t *testing.T) {
	t.Parallel()
	var p pending
	for _, s := range []int{60, 61, 65, 66, 90} {
		p.seen(time.Unix(int64(s), 0))
	}
	assert.Equal(t, 5, p.Times)
	assert.Equal(t, 3, p.Moments)
}

// The names of an exploration follow from Names, and from nothing else; without it no two are the same.
func TestPrefixes(t *testing.T) {
	t.Parallel()
	prefix := func(names string) string { return (&Explorer{Names: names, Subject: &Subject{}}).config().ownPrefix() }
	first, again, other := prefix("fwp00000000070000-3"), prefix("fwp00000000070000-3"), prefix("fwp00000000070000-4")
	assert.Equal(t, first, again)
	assert.NotEqual(t, first, other)
	drawn, anew := prefix(""), prefix("")
	assert.NotEqual(t, drawn, anew)
	assert.Regexp(t, "^fwp[0-9a-f]{16}$", prefix("x"))
}

// TestUnread: a verb of which most replies were beyond a limit is named, with the limit, and others are not.
func TestUnread(t *testing.T) {
	t.Parallel()
	c := newCoverage(&Subject{})
	assert.Empty(t, c.Unread())
	c.Outcomes["FETCH identified: null"], c.Outcomes["FETCHED identified: OK"], c.Outcomes["PUSH identified: OK"] = 2, 9, 3
	for range 3 {
		c.unread("FETCH", &session.SyntaxError{Expected: "a reply of at most 9 bytes", Limit: true})
		c.unread("PUSH", &session.SyntaxError{})
	}
	assert.Equal(t, "3 of 5 replies to FETCH could not be read: the suite reads a reply of at most 9 bytes", c.Unread())
	assert.Equal(t, c.Unread(), explored{Result: &Result{Coverage: c}, served: true}.why())
	(*Coverage)(nil).unread("FETCH", &session.SyntaxError{}) // of a play without coverage
}
