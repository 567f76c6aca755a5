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
	index       int // in the whole run
	arrival     arrival
	hasArrival  bool
	hasReply    bool          // to its command
	vacantSince time.Duration // since when the place is free
}

func (s *churner) connection() *conn { return &s.conn }

// give implements taker.
func (s *churner) give(_ time.Duration, a arrival) bool {
	if s.phase != phaseShut || s.hasArrival {
		return false
	}
	s.arrival, s.hasArrival = a, true
	s.dial(a.intended, s.pausedUntil)
	return true
}

// askAgain implements taker.
func (s *churner) askAgain(now time.Duration) {
	if s.phase == phaseShut && !s.hasArrival {
		s.shard.cycler.add(now, &s.conn)
	}
}

// needsConn implements role, after a pause. It dials here, because the arrival has the time at which that was due.
func (s *churner) needsConn(now time.Duration) bool {
	d := &s.shard.dispatcher
	switch {
	case s.shard.isStopping:
		s.shard.bookPushLoss(s.arrival, s.hasArrival, false)
		s.hasArrival = false
		s.retire()
	case !s.hasArrival:
		if s.arrival, s.hasArrival = d.ask(now, s, max(s.pausedUntil, d.start)); s.hasArrival {
			s.dial(s.arrival.intended, s.pausedUntil)
		}
	}
	return false
}

func (s *churner) next(now time.Duration, out []byte) []byte {
	if s.hasReply || !s.hasArrival {
		return s.leave(now, out)
	}
	if s.shard.share.churnInfo {
		s.begin(now, measure.Info, s.arrival.intended)
		return s.speaker.Info(out)
	}
	s.begin(now, measure.Push, s.arrival.intended)
	return s.shard.push(now, out, s.speaker, s.arrival, s.index)
}

func (s *churner) handleReply(_ time.Duration, e *wire.Event) outcome {
	s.hasReply = true
	if s.shard.share.churnInfo {
		return outcome{measure.Info, e.Err}
	}
	s.notePush(s.arrival.k, outcomeOf(e.Err))
	return s.shard.bookPushReply(s.arrival, e.Err)
}

// handleLoss implements role. The arrival counts as an error, and another one is taken after a pause. A client that
// disconnects before it has sent its command connects again for the same arrival.
func (s *churner) handleLoss(now time.Duration, hasCommand bool) {
	switch {
	case hasCommand && !s.shard.share.churnInfo:
		s.notePush(s.arrival.k, history.NoReply)
		s.shard.ledger.BookDoubt(s.arrival.k)
	case !hasCommand && !s.hasReply && s.quit.isDecided && s.hasArrival:
		s.shard.dispatcher.giveBack(s.arrival)
		s.hasArrival = false
	}
	s.vacate(now, s.reconnectDelay())
}

func (s *churner) handleLeave(now time.Duration) {
	think := time.Duration(0)
	if d := &s.shard.dispatcher; d.hasThinkTime && d.mode == modeClosed && s.hasArrival {
		think = s.shard.jobs.Think(s.arrival.k)
	}
	s.vacate(now, think)
}

// vacate makes the place free again after a pause.
func (s *churner) vacate(now, pause time.Duration) {
	if s.hasArrival {
		s.shard.dispatcher.assignments--
	}
	s.hasArrival, s.hasReply = false, false
	s.pausedUntil = now + pause
	s.vacantSince = s.pausedUntil
	s.shard.cycler.add(s.pausedUntil, &s.conn)
}
