package law_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/law"
)

func TestServer(t *testing.T) {
	t.Parallel()
	pushed := func(s *law.History) { s.AddJob("j", "q") }
	allEnded := func(s *law.History) { s.EndAllJobs("X-2") }
	then := func(all ...func(*law.History)) func(*law.History) {
		return func(s *law.History) {
			for _, do := range all {
				do(s)
			}
		}
	}
	ended := func(clause string) func(*law.History) {
		return then(pushed, func(s *law.History) { s.EndJob("j", clause) })
	}
	for name, test := range map[string]struct {
		do   func(*law.History)
		want law.PushedJob
		ok   bool
	}{
		"never pushed":           {func(*law.History) {}, law.PushedJob{}, false},
		"pushed":                 {pushed, law.PushedJob{Queue: "q"}, true},
		"of another id":          {func(s *law.History) { s.AddJob("k", "q") }, law.PushedJob{}, false},
		"of an id of two":        {func(s *law.History) { s.AddJob("j", "q"); s.AddJob("j", "r") }, law.PushedJob{}, true},
		"ended, of an id of two": {then(pushed, ended("X-1")), law.PushedJob{}, true},
		"ended":                  {ended("X-1"), law.PushedJob{Queue: "q", Clause: "X-1"}, true},
		"ended, never pushed":    {func(s *law.History) { s.EndJob("j", "X-1") }, law.PushedJob{}, false},
		"ended with all":         {then(pushed, allEnded), law.PushedJob{Queue: "q", Clause: "X-2"}, true},
		"ended before a kill":    {then(ended("X-1"), (*law.History).Killed), law.PushedJob{Queue: "q"}, true},
		"pushed behind all ends": {then(allEnded, pushed), law.PushedJob{Queue: "q"}, true},
	} {
		s := law.NewHistory()
		test.do(s)
		got, ok := s.Job("j")
		assert.Equal(t, test.ok, ok, name)
		if test.ok {
			assert.Equal(t, test.want, got, name)
		}
		test.do(nil)
	}
	s := law.NewHistory()
	assert.False(t, s.Repeats("a", ""))
	assert.False(t, s.Repeats("b", ""))
	assert.True(t, s.Repeats("a", ""))
	assert.False(t, s.Repeats("c", "x"))
	assert.False(t, s.Repeats("c", "x"), "of the same")
	assert.True(t, s.Repeats("c", "y"), "of another one")
	for _, begins := range []func(){s.Restarted, s.Killed} {
		begins()
		assert.False(t, s.Repeats("a", ""))
	}
	var none *law.History
	none.Restarted()
	none.Repeats("a", "")
	assert.False(t, none.Repeats("a", ""))
}

// TestCountsOfAServer holds that what a server counts is known where no other client uses it.
func TestCountsOfAServer(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, test := range map[string]struct {
		server         *law.History
		lapsed, opened int
		ok             bool
	}{
		"for the plays alone": {law.NewExclusiveHistory(), 1, 2, true}, "with others": {law.NewHistory(), 0, 2, false},
		"unknown": {nil, 0, 0, false},
	} {
		s := test.server
		for _, n := range []int{1, 1, -1, 1} {
			s.AddConns(n)
		}
		s.SetLapse("over", now)
		s.SetLapse("later", now.Add(1))
		s.SetLapse("ended", now)
		s.SetLapse("ended", time.Time{})
		n, ok := s.Lapsed(now)
		assert.Equal(t, test.lapsed, n, name)
		assert.Equal(t, test.ok, ok, name)
		n, ok = s.MaxConns()
		assert.Equal(t, test.opened, n, name)
		assert.Equal(t, test.ok, ok, name)
	}
}
