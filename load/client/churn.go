package client

import (
	"time"

	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/wire"
)

// churner is a place for a short-lived connection: each arrival connects, sends one
// command and goodbye. The arrival is done when the connection has ended, so that the next one waits for that.
type churner struct {
	conn
	index   int // in the whole run
	todo    arrival
	has     bool
	replied bool          // to its command
	vacant  time.Duration // since when the place is
}

func (s *churner) self() *conn { return &s.conn }

// give implements taker.
func (s *churner) give(_ time.Duration, a arrival) bool {
	if s.phase != shut || s.has {
		return false
	}
	s.todo, s.has = a, true
	s.dial(a.intended, s.pause)
	return true
}

// again implements taker.
func (s *churner) again(now time.Duration) {
	if s.phase == shut && !s.has {
		s.shard.cycler.add(now, &s.conn)
	}
}

// open implements role, after a pause. It dials here, because the arrival has the time at which that was due.
func (s *churner) open(now time.Duration) bool {
	d := &s.shard.dispatcher
	switch {
	case s.shard.stopping:
		s.shard.unpushed(s.todo, s.has, false)
		s.has = false
		s.retire()
	case !s.has:
		if s.todo, s.has = d.ask(now, s, max(s.pause, d.start)); s.has {
			s.dial(s.todo.intended, s.pause)
		}
	}
	return false
}

func (s *churner) next(now time.Duration, out []byte) []byte {
	if s.replied || !s.has {
		return s.leave(now, out)
	}
	if s.shard.share.churnInfo {
		s.begin(now, measure.Info, s.todo.intended)
		return s.speaker.Info(out)
	}
	s.begin(now, measure.Push, s.todo.intended)
	return s.shard.push(now, out, s.speaker, s.todo, s.index)
}

func (s *churner) answered(_ time.Duration, e *wire.Event) outcome {
	s.replied = true
	if s.shard.share.churnInfo {
		return outcome{measure.Info, e.Err}
	}
	s.notePush(s.todo.k, replied(e.Err))
	return s.shard.pushed(s.todo, e.Err)
}

// lost implements role. The arrival counts as an error, and another one is taken after a pause. A client that
// disconnects before it has sent its command connects again for the same arrival.
func (s *churner) lost(now time.Duration, asked bool) {
	switch {
	case asked && !s.shard.share.churnInfo:
		s.notePush(s.todo.k, history.Open)
		s.shard.ledger.Doubtful(s.todo.k)
	case !asked && !s.replied && s.quit.decided && s.has:
		s.shard.dispatcher.giveBack(s.todo)
		s.has = false
	}
	s.vacate(now, s.reconnectDelay())
}

func (s *churner) left(now time.Duration) {
	think := time.Duration(0)
	if d := &s.shard.dispatcher; d.thinks && d.mode == closed && s.has {
		think = s.shard.jobs.Think(s.todo.k)
	}
	s.vacate(now, think)
}

// vacate makes the place free again after a pause.
func (s *churner) vacate(now, pause time.Duration) {
	if s.has {
		s.shard.dispatcher.taken--
	}
	s.has, s.replied = false, false
	s.pause = now + pause
	s.vacant = s.pause
	s.shard.cycler.add(s.pause, &s.conn)
}
