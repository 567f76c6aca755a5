package agents

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
)

// script is a run of agents at moments that the test chooses.
type script struct {
	roster

	now  time.Duration
	late time.Duration // this machine
}

func newScript(agents int) *script {
	return &script{roster: roster{
		plan: Plan{Run: "run", Agents: agents}, version: "v1", within: joinLimit, phase: gathering,
	}}
}

func (s *script) joins(names ...string) (refused string) {
	for _, name := range names {
		refused = s.join(joining{name, "v1"})
	}
	s.advance(s.now)
	return refused
}

// beats lets a second pass in which these agents tick.
func (s *script) beats(ready bool, names ...string) {
	s.now += heartbeat
	for _, name := range names {
		s.heard(tick{Name: name, Ready: ready})
	}
	s.beat(s.late)
	s.advance(s.now)
}

func (s *script) reports(place int, l results.Load) {
	s.reported(place, &l)
	s.advance(s.now)
}

func TestAWholeRun(t *testing.T) {
	t.Parallel()
	s := newScript(2)
	assert.Empty(t, s.joins("a"))
	assert.Equal(t, gathering, s.phase)
	assert.Nil(t, s.state().Plan)
	assert.Empty(t, s.joins("b"))
	assert.Equal(t, connecting, s.phase)
	assert.Equal(t, []string{"a", "b"}, s.state().Names)
	s.beats(true, "a")
	assert.Equal(t, connecting, s.phase, "b is not ready")
	assert.Zero(t, s.state().Start)
	s.beats(true, "b")
	assert.Equal(t, running, s.phase)
	assert.Equal(t, s.now+headStart, s.state().Start)
	s.beats(true, "a", "b")
	s.reports(1, results.Load{})
	assert.Equal(t, running, s.phase)
	s.reports(0, results.Load{})
	assert.Equal(t, over, s.phase)
	assert.Empty(t, s.state().Why)
}

func TestWhoIsRefused(t *testing.T) {
	t.Parallel()
	s := newScript(2)
	assert.Empty(t, s.joins("a"))
	assert.Contains(t, s.joins("a"), "there is an agent with this name")
	assert.Contains(t, s.join(joining{"b", "v2"}), `its version is "v2", and that of the coordinator is "v1"`)
	assert.Empty(t, s.joins("b"))
	assert.Contains(t, s.joins("c"), "the run has its 2 agents already")
}

// An agent that falls silent before all are there makes room, under any name.
func TestALeaverMakesRoom(t *testing.T) {
	t.Parallel()
	s := newScript(2)
	s.joins("a")
	for range missable {
		assert.Len(t, s.members, 1)
		s.beats(false)
	}
	s.beats(false)
	assert.Empty(t, s.members)
	assert.Empty(t, s.joins("a", "b"))
	assert.Equal(t, connecting, s.phase)
}

func TestTooFewAgents(t *testing.T) {
	t.Parallel()
	s := newScript(3)
	s.joins("a", "b")
	for range 60 {
		s.beats(false, "a", "b")
		assert.Equal(t, gathering, s.phase)
	}
	s.beats(false, "a", "b")
	assert.Equal(t, over, s.phase)
	assert.Equal(t, "2 of 3 agents joined within 1m0s: a, b", s.state().Why)
	none := newScript(1)
	none.now = joinLimit
	none.beats(false)
	assert.Equal(t, "0 of 1 agent joined within 1m0s: none", none.failed)
}

// began returns a run whose load has begun.
func began(names ...string) *script {
	s := newScript(len(names))
	s.joins(names...)
	s.beats(true, names...)
	return s
}

func TestASilentAgentIsLost(t *testing.T) {
	t.Parallel()
	s := began("a", "b")
	for range missable - 1 {
		s.beats(true, "a")
		assert.Equal(t, running, s.phase)
	}
	s.beats(true, "a")
	assert.Equal(t, stopping, s.phase)
	assert.Contains(t, s.members[1].lost, "three of its ticks are missing")
	assert.Equal(t, "lost: b", s.state().Why)
	s.heard(tick{Name: "b"})
	assert.NotEmpty(t, s.members[1].lost, "it stays lost")
	s.reports(0, results.Load{Trouble: reports.Trouble{Interrupted: true}})
	assert.Equal(t, over, s.phase)
	assert.Empty(t, s.members[0].lost)
}

// An agent that ticks and never reports has a limit after a stop.
func TestAnAgentThatDoesNotStop(t *testing.T) {
	t.Parallel()
	s := began("a", "b")
	s.stop(s.now, "the user")
	for s.phase == stopping {
		s.beats(true, "a", "b")
		assert.Less(t, s.now, time.Minute)
	}
	assert.Contains(t, s.members[0].lost, "sent no report within 20s")
	assert.Equal(t, "the user", s.why, "the first reason stays")
}

func TestWhatStopsTheOthers(t *testing.T) {
	t.Parallel()
	s := newScript(2)
	s.joins("a", "b")
	s.reports(0, results.Load{Trouble: reports.Trouble{Unreachable: "no server"}})
	assert.Equal(t, stopping, s.phase)
	assert.Equal(t, "ended before the load began: a", s.why)
	assert.Empty(t, s.members[0].lost)

	s = began("a", "b")
	s.reports(1, results.Load{Trouble: reports.Trouble{Interrupted: true}})
	assert.Equal(t, stopping, s.phase)
	assert.Equal(t, "it was interrupted", s.members[1].lost)

	s = newScript(2)
	s.joins("a")
	s.stop(s.now, "interrupted")
	assert.Equal(t, over, s.phase)
	assert.Equal(t, "interrupted", s.failed)
}

func TestNotReadyInTime(t *testing.T) {
	t.Parallel()
	s := newScript(2)
	s.connecting = time.Minute
	s.joins("a", "b")
	s.beats(true, "b")
	for s.phase == connecting {
		s.beats(false, "a", "b")
	}
	assert.Equal(t, stopping, s.phase)
	assert.Equal(t, "not ready in time: a", s.why)
	assert.InDelta(t, readyLimit+time.Minute, s.now, float64(2*heartbeat))
}

// A coordinator that was held up counts few heartbeats of its own, so it blames no agent for its own delay.
func TestOnesOwnDelayIsNoSilence(t *testing.T) {
	t.Parallel()
	s := began("a", "b")
	s.now += time.Minute
	s.beats(true)
	assert.Equal(t, running, s.phase)
	assert.Empty(t, s.members[0].lost)
}

// On a machine that is late an agent may be so as well, and is given three times as long at most, and the lag itself.
func TestSilenceFollowsTheLag(t *testing.T) {
	t.Parallel()
	for late, want := range map[time.Duration]int{0: 3, 10 * time.Millisecond: 3, 100 * time.Millisecond: 5, 2 * time.Second: 11} {
		s := began("a", "b")
		s.late = late
		beats := 0
		for ; s.members[1].lost == "" && beats < 100; beats++ {
			s.beats(true, "a")
		}
		assert.Equal(t, want, beats, late)
	}
}

// No agent drains before all have pushed their last job; who has reported or is lost pushes no more.
func TestAllHavePushed(t *testing.T) {
	t.Parallel()
	s := newScript(3)
	s.joins("a", "b", "c")
	for _, m := range s.members {
		s.heard(tick{Name: m.name, Pushed: true})
	}
	assert.False(t, s.state().Pushed, "the load has not begun")
	s = began("a", "b", "c")
	s.heard(tick{Name: "a", Pushed: true})
	s.heard(tick{Name: "a"})
	assert.False(t, s.state().Pushed)
	s.reported(1, &results.Load{})
	assert.False(t, s.state().Pushed)
	s.members[2].lost = "killed"
	assert.True(t, s.state().Pushed)
}

// A piece that comes again changes nothing; one that comes too early is not taken.
func TestParcels(t *testing.T) {
	t.Parallel()
	var p parcel
	assert.False(t, p.take(1, 2, []byte("b")))
	assert.False(t, p.take(0, 2, []byte("a")))
	assert.False(t, p.take(0, 2, []byte("a")))
	assert.True(t, p.take(1, 2, []byte("b")))
	assert.False(t, p.take(1, 2, []byte("b")))
	assert.Equal(t, "ab", string(p.data))
}
