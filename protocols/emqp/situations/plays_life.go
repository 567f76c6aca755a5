package situations

import (
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/protocols/emqp"
	fwpsituations "github.com/fwpsuite/fwp/protocols/fwp/situations"
)

// longestSilence returns for how long at most nothing was heard of the program, and has that begin anew.
func (s *session) longestSilence() (longest time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.peers {
		if p.informs > 0 {
			longest = max(longest, p.longestSilence, s.Now()-p.lastHeard)
			p.longestSilence = 0
		}
	}
	return longest
}

// What is too long for a broker, and what is too long for any worker.
const (
	maxSilence       = 3*interval + time.Second
	maxWorkerSilence = 65 * time.Second
)

// watchIdle watches a worker that has no job, but for a short one at the beginning.
func watchIdle(s *session) {
	const moment = 14 * time.Second
	s.push(&request{message: job("fwp.sleep", 3)})
	s.Pass(s.program, moment)
	longest := s.longestSilence()
	if longest <= maxSilence && s.count(&s.beats) > 0 {
		s.NoteOccasion("BEAT-09")
		return
	}
	count := s.count(&s.beats)
	hasResumed := s.WaitUntil(s.program, maxWorkerSilence, func() bool { return s.count(&s.beats) > count })
	isBroken := fwpsituations.WithLock(&s.mu, func() bool {
		return s.steadiness.longest > maxSilence ||
			s.steadiness.growth[0] > 0
	})
	switch {
	case hasResumed && isBroken: // it had kept the interval before, or has none
	case hasResumed:
		s.LeaveOpen("BEAT-09", fmt.Sprintf(
			"nothing was sent for %v, although the interval in its environment is %v: does the worker read it?",
			longest.Round(time.Millisecond), interval))
	default:
		s.Decide("BEAT-09", false, fmt.Sprintf("HEARTBEATs every %v", interval),
			fmt.Sprintf("%d HEARTBEATs, and none in the last %v; the worker %s", count, maxWorkerSilence, s.Ending(s.program)))
	}
}

// watchJob watches a worker while a job runs, and one that is silent meanwhile without a job and with a longer one too.
func watchJob(s *session) {
	const short, idles, takes = 4 * time.Second, 5 * time.Second, 8 * time.Second
	if s.silenceDuring(short) <= 2*interval {
		s.NoteOccasion("BEAT-09")
		return
	}
	s.longestSilence()
	s.Pass(s.program, idles)
	usual := max(s.longestSilence(), interval)
	longest := s.silenceDuring(takes)
	const factor = 3
	if usual*factor > takes {
		s.LeaveOpen("BEAT-09", fmt.Sprintf("it also sends nothing for %v without a job", usual.Round(time.Millisecond)))
		return
	}
	s.Decide("BEAT-09", longest <= usual*factor, "HEARTBEATs while a job runs, as without one", fmt.Sprintf(
		"nothing for %v while a job ran, and for %v without one", longest.Round(time.Millisecond),
		usual.Round(time.Millisecond)))
}

// silenceDuring returns for how long at most nothing was heard while a job ran that takes so long, and waits for its
// REPLY.
func (s *session) silenceDuring(takes time.Duration) time.Duration {
	const spare = time.Second / 2
	r, count, replies := replyRequest(job("fwp.sleep", takes.Seconds())), s.requestCount(), s.replyCount()
	r.duration = takes
	s.push(r)
	s.awaitRequests(count + 1)
	s.longestSilence()
	s.Pass(s.program, takes-spare)
	longest := s.longestSilence()
	if s.WaitUntil(s.program, waitLimit, func() bool { return s.replyCount() > replies }) {
		s.NoteOccasion("WRK-07")
	}
	return longest
}

// disconnectAll ends the connections of the program.
func (s *session) disconnectAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for identity := range s.peers {
		s.router.Disconnect(identity)
	}
}

// restart ends the broker for a while.
func (s *session) restart() {
	const pause = 3 * time.Second
	s.closeBroker()
	s.Remark("the broker is away for %v", pause)
	s.Pass(s.program, pause)
	s.listen(s.addr)
}

// stopSending has the broker send nothing until an INFORM comes.
func (s *session) stopSending() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isSilent, s.steadiness.hasEnded = true, true
}

// resumeSending ends a silence with the INFORM of a peer. Others have disconnected by then, although their connections
// may be open. The lock is held.
func (s *session) resumeSending(p *peer) {
	if !s.isSilent {
		return
	}
	s.isSilent = false
	for _, other := range s.peers {
		if other != p {
			other.readies = 0
		}
	}
}

// disconnectTwice returns a play in which the broker disconnects, and once more while a job runs. It watches the
// program for a while when it has begun anew.
func disconnectTwice(pause time.Duration, act func(*session)) func(*session) {
	return func(s *session) {
		if s.checkReturn(act, replyRequest(job("fwp.ok"))) {
			s.Pass(s.program, pause)
			s.mu.Lock()
			s.steadiness.hear(s.Now(), false) // it may have been silent since
			s.steadiness.hasEnded = true
			s.mu.Unlock()
			s.checkReturn(act, &request{message: job("fwp.sleep", 8)})
		}
	}
}

// checkReturn has the broker disconnect when a request was taken, decides whether the program begins anew, and returns
// that.
func (s *session) checkReturn(act func(*session), r *request) bool {
	const comeback = 90 * time.Second
	count := s.requestCount()
	s.push(r)
	s.awaitRequests(count + 1)
	s.Pass(s.program, 4*interval)
	informs, conns, beats := s.count(&s.informs), s.count(&s.conns), s.count(&s.beats)
	act(s)
	hasReturned := s.WaitUntil(s.program, comeback, func() bool { return s.count(&s.informs) > informs })
	s.mu.Lock()
	s.isSilent = false
	s.mu.Unlock()
	beatCount := s.count(&s.beats) - beats
	if !hasReturned && beatCount > 0 && beatCount < int(comeback/maxSilence) && !s.HasExited(s.program) {
		s.LeaveOpen("BEAT-10", fmt.Sprintf("%d HEARTBEATs within %v: with its own interval it may detect this later",
			beatCount,
			comeback))
		return false
	}
	s.Decide("BEAT-10", hasReturned, "another INFORM", fmt.Sprintf("no INFORM within %v; it opened %d connections; "+
		"the worker %s", comeback, s.count(&s.conns)-conns, s.Ending(s.program)))
	if !hasReturned {
		return false
	}
	count = s.requestCount()
	s.push(replyRequest(job("fwp.ok")))
	isReady := s.WaitUntil(s.program, waitLimit, func() bool { return s.requestCount() > count })
	s.Decide("BEAT-10", isReady, "a READY after the INFORM", fmt.Sprintf("none within %v", waitLimit))
	return isReady
}

// disconnect returns a play in which the broker sends a DISCONNECT while a job runs, unless that takes no time.
func disconnect(takes time.Duration) func(*session) {
	return func(s *session) {
		path, ends := s.file("pending")
		if takes > 0 {
			s.push(&request{message: job("fwp.late", takes.Seconds(), path)})
			s.awaitRequests(1)
		}
		s.Pass(s.program, interval)
		s.sendAll(emqp.Disconnect(""))
		hasKBAI := s.WaitUntil(s.program, takes+waitLimit, func() bool { return s.count(&s.kbais) > 0 })
		hasKBAI = hasKBAI || s.count(&s.kbais) > 0
		s.Decide("WRK-11", hasKBAI, "a KBAI", fmt.Sprintf("none within %v; the worker %s", takes+waitLimit,
			s.Ending(s.program)))
		const watchTime = 4 * time.Second
		s.Pass(s.program, max(watchTime, takes+watchTime/2))
		if hasKBAI {
			s.NoteOccasion("WRK-12")
		}
		if takes == 0 {
			return
		}
		s.Decide("WRK-13", ends() == 1, "the end of the running job",
			"it did not run to its end; the worker "+s.Ending(s.program))
	}
}

// brokerLeaves sends a KBAI of the broker while a job runs whose REPLY the broker does not want any more.
func brokerLeaves(s *session) {
	r := replyRequest(job("fwp.sleep", 2))
	r.duration = 2 * time.Second
	s.push(r)
	s.awaitRequests(1)
	s.Pass(s.program, interval/2)
	if peers := fwpsituations.WithLock(&s.mu, func() int { return len(s.peers) }); peers == 0 {
		s.GiveUp(true, "the worker has no connection; it %s", s.Ending(s.program))
	}
	s.sendAll(emqp.Kbai(""))
	s.Pass(s.program, max(4*interval, min(3*s.longestSilence(), 7*time.Second)))
	s.NoteOccasion("WRK-14")
}
