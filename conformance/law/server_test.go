package law_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/law"
)

func TestServer(t *testing.T) {
	t.Parallel()
	pushed := func(s *law.Server) { s.Pushes("j", "q") }
	allEnded := func(s *law.Server) { s.EndsAll("X-2") }
	then := func(all ...func(*law.Server)) func(*law.Server) {
		return func(s *law.Server) {
			for _, do := range all {
				do(s)
			}
		}
	}
	ended := func(clause string) func(*law.Server) {
		return then(pushed, func(s *law.Server) { s.Ends("j", clause) })
	}
	for name, test := range map[string]struct {
		do   func(*law.Server)
		want law.PushedJob
		ok   bool
	}{
		"never pushed":           {func(*law.Server) {}, law.PushedJob{}, false},
		"pushed":                 {pushed, law.PushedJob{Queue: "q"}, true},
		"of another id":          {func(s *law.Server) { s.Pushes("k", "q") }, law.PushedJob{}, false},
		"of an id of two":        {func(s *law.Server) { s.Pushes("j", "q"); s.Pushes("j", "r") }, law.PushedJob{}, true},
		"ended, of an id of two": {then(pushed, ended("X-1")), law.PushedJob{}, true},
		"ended":                  {ended("X-1"), law.PushedJob{Queue: "q", Clause: "X-1"}, true},
		"ended, never pushed":    {func(s *law.Server) { s.Ends("j", "X-1") }, law.PushedJob{}, false},
		"ended with all":         {then(pushed, allEnded), law.PushedJob{Queue: "q", Clause: "X-2"}, true},
		"ended before a kill":    {then(ended("X-1"), (*law.Server).Killed), law.PushedJob{Queue: "q"}, true},
		"pushed behind all ends": {then(allEnded, pushed), law.PushedJob{Queue: "q"}, true},
	} {
		s := law.NewServer()
		test.do(s)
		got, ok := s.Job("j")
		assert.Equal(t, test.ok, ok, name)
		if test.ok {
			assert.Equal(t, test.want, got, name)
		}
		test.do(nil)
	}
	s := law.NewServer()
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
	var none *law.Server
	none.Restarted()
	none.Repeats("a", "")
	assert.False(t, none.Repeats("a", ""))
}

// TestCountsOfAServer holds that what a server counts is known where no other client uses it.
func TestCountsOfAServer(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, test := range map[string]struct {
		server         *law.Server
		lapsed, opened int
		ok             bool
	}{
		"for the plays alone": {law.NewExclusive(), 1, 2, true}, "with others": {law.NewServer(), 0, 2, false},
		"unknown": {nil, 0, 0, false},
	} {
		s := test.server
		for _, n := range []int{1, 1, -1, 1} {
			s.Connects(n)
		}
		s.Lapses("over", now)
		s.Lapses("later", now.Add(1))
		s.Lapses("ended", now)
		s.Lapses("ended", time.Time{})
		n, ok := s.Lapsed(now)
		assert.Equal(t, test.lapsed, n, name)
		assert.Equal(t, test.ok, ok, name)
		n, ok = s.MaxConns()
		assert.Equal(t, test.opened, n, name)
		assert.Equal(t, test.ok, ok, name)
	}
}
