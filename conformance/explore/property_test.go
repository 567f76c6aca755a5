package explore

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios/play"
)

func TestWhyAnExplorationDoesNotPass(t *testing.T) {
	t.Parallel()
	judged := func(n int) *Result { return &Result{Coverage: &Coverage{Answers: n}} }
	for name, test := range map[string]struct {
		result propertyResult
		want   string
	}{
		"well": {propertyResult{Result: judged(9), hasServed: true, commands: 10, answers: 9}, ""},
		"handshakes": {propertyResult{Result: judged(0), hasServed: true, commands: 6, answers: 9},
			"nothing was answered after the handshakes"},
		"half unanswered": {propertyResult{Result: judged(0), hasServed: true, commands: 10, answers: 4},
			"fewer than half of the commands were answered"},
		"a slow server": {propertyResult{Result: judged(39), hasServed: true, commands: 39, answers: 39, minAnswers: 40},
			"only 39 commands were answered in time"},
		"one that is not":  {propertyResult{Result: judged(40), hasServed: true, commands: 40, answers: 40, minAnswers: 40}, ""},
		"half answered":    {propertyResult{Result: judged(5), hasServed: true, commands: 10, answers: 5}, ""},
		"jobs unaccounted": {propertyResult{Result: judged(0), hasServed: true, slowness: "a job is missing"}, "a job is missing"},
	} {
		assert.Equal(t, test.want, test.result.evidence().OpenCause, name)
	}
}

func TestEvidenceOfAnExploration(t *testing.T) {
	t.Parallel()
	rules := map[string]law.Rule{"late": {Traits: law.Timed}}
	r := &Result{Coverage: &Coverage{Answers: 1}, IsDead: true, LeftoverJobs: []string{"a job"}, Findings: []Finding{
		{
			Finding: conformance.Finding{
				Clause: "FWP-ACK-01", IsRecommendation: true, Expected: "+OK", Got: "-ERR", Detail: "it was held", Script: "C: INFO",
			},
			Rule: "late", Moments: 1, Hits: 2,
		},
		{Rule: "late", Moments: 1},
		{Rule: "late", Moments: 2},
		{Rule: "field", Moments: 1},
		{Rule: "dies", Finding: conformance.Finding{Crash: true}},
	}}
	e := propertyResult{Result: r, hasServed: true, rules: rules}.evidence()
	assert.Equal(t, conformance.Evidence{
		HasServed: true, DeadReason: "no new connection is served", LeftoverJobs: []string{"a job"}, Findings: []conformance.Finding{
			{
				Clause: "FWP-ACK-01", IsTimed: true, IsRecommendation: true,
				Expected: "+OK", Got: "-ERR", Detail: "it was held", Script: "C: INFO",
			},
			{IsTimed: true, IsUnsteady: true}, {IsTimed: true}, {},
			{Crash: true},
		},
	}, e)
}

// What is seen within a few seconds is seen at one moment.
func TestMoments(t *testing.T) {
	t.Parallel()
	var p pendingFinding
	for _, s := range []int{60, 61, 65, 66, 90} {
		p.addMoment(time.Unix(int64(s), 0))
	}
	assert.Equal(t, 5, p.Times)
	assert.Equal(t, 3, p.Moments)
}

// The names of an exploration follow from NameSeed, and from nothing else; without it no two are the same.
func TestPrefixes(t *testing.T) {
	t.Parallel()
	prefix := func(names string) string {
		return (&Explorer{NameSeed: names, Alphabet: &Alphabet{}}).config().exclusivePrefix()
	}
	first, repeat, other := prefix("fwp00000000070000-3"), prefix("fwp00000000070000-3"), prefix("fwp00000000070000-4")
	assert.Equal(t, first, repeat)
	assert.NotEqual(t, first, other)
	drawn, anew := prefix(""), prefix("")
	assert.NotEqual(t, drawn, anew)
	assert.Regexp(t, "^fwp[0-9a-f]{16}$", prefix("x"))
}

// TestUnread: a verb of which most replies were beyond a limit is named, with the limit, and others are not.
func TestUnread(t *testing.T) {
	t.Parallel()
	c := newCoverage(&Alphabet{})
	assert.Empty(t, c.Unread())
	c.Outcomes["FETCH identified: null"], c.Outcomes["FETCHED identified: OK"], c.Outcomes["PUSH identified: OK"] = 2, 9, 3
	for range 3 {
		c.addUnread("FETCH", &session.SyntaxError{Expected: "a reply of at most 9 bytes", IsLimit: true})
		c.addUnread("PUSH", &session.SyntaxError{})
	}
	assert.Equal(t, "3 of 5 replies to FETCH could not be read: the suite reads a reply of at most 9 bytes", c.Unread())
	assert.Equal(t, c.Unread(), propertyResult{Result: &Result{Coverage: c}, hasServed: true}.openCause())
	(*Coverage)(nil).addUnread("FETCH", &session.SyntaxError{}) // of a play without coverage
}

// endedTarget is a target whose process has ended.
type endedTarget struct{ play.Target }

func (endedTarget) HasDied() bool { return true }

// An exploration that ends while the server accepts no connection does not pass.
func TestAnUnservedEndIsNoPass(t *testing.T) {
	t.Parallel()
	r := &Result{Coverage: &Coverage{Answers: 99}, IsRefusing: true}
	e := propertyResult{Result: r, hasServed: true, commands: 99, answers: 99}.evidence()
	assert.Equal(t, "new connections were not served when the time of the check was over", e.OpenCause)
}
