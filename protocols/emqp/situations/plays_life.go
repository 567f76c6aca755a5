package situations

import (
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/protocols/emqp"
	fwpsituations "github.com/fwpsuite/fwp/protocols/fwp/situations"
)

// silences returns for how long at most nothing was heard of the program, and has that begin anew.
func (s *session) silences() (longest time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.peers {
		if p.conversed > 0 {
			longest = max(longest, p.longest, s.Now()-p.heard)
			p.longest = 0
		}
	}
	return longest
}

// What is too long for a broker, and what is too long for any worker.
const (
	mostSilence = 3*interval + time.Second
	anySilence  = 65 * time.Second
)

// idle watches a worker that has no job, but for a short one at the beginning.
func idle(s *session) {
	const moment = 14 * time.Second
	s.push(&request{message: job("fwp.sleep", 3)})
	s.Pass(s.program, moment)
	longest := s.silences()
	if longest <= mostSilence && s.count(&s.beats) > 0 {
		s.Kept("BEAT-09")
		return
	}
	before := s.count(&s.beats)
	again := s.Until(s.program, anySilence, func() bool { return s.count(&s.beats) > before })
	broken := fwpsituations.Locked(&s.mu, func() bool { return s.steady.longest > mostSilence || s.steady.grown[0] > 0 })
	switch {
	case again && broken: // it had kept the interval before, or has none
	case again:
		s.Leave("BEAT-09", fmt.Sprintf(
			"nothing was sent for %v, although the interval in its environment is %v: does the worker read it?",
			longest.Round(time.Millisecond), interval))
	default:
		s.Holds("BEAT-09", false, fmt.Sprintf("HEARTBEATs every %v", interval),
			fmt.Sprintf("%d HEARTBEATs, and none in the last %v; the worker %s", before, anySilence, s.Ending(s.program)))
	}
}

// working watches a worker while a job runs, and one that is silent meanwhile without a job and with a longer one too.
func working(s *session) {
	const short, idles, takes = 4 * time.Second, 5 * time.Second, 8 * time.Second
	if s.silenceIn(short) <= 2*interval {
		s.Kept("BEAT-09")
		return
	}
	s.silences()
	s.Pass(s.program, idles)
	usual := max(s.silences(), interval)
	longest := s.silenceIn(takes)
	const factor = 3
	if usual*factor > takes {
		s.Leave("BEAT-09", fmt.Sprintf("it also sends nothing for %v without a job", usual.Round(time.Millisecond)))
		return
	}
	s.Holds("BEAT-09", longest <= usual*factor, "HEARTBEATs while a job runs, as without one", fmt.Sprintf(
		"nothing for %v while a job ran, and for %v without one", longest.Round(time.Millisecond),
		usual.Round(time.Millisecond)))
}

// silenceIn returns for how long at most nothing was heard while a job ran that takes so long, and waits for its REPLY.
func (s *session) silenceIn(takes time.Duration) time.Duration {
	const spare = time.Second / 2
	r, sent, replies := asked(job("fwp.sleep", takes.Seconds())), s.taken(), s.replies()
	r.takes = takes
	s.push(r)
	s.mustTake(sent + 1)
	s.silences()
	s.Pass(s.program, takes-spare)
	longest := s.silences()
	if s.Until(s.program, soon, func() bool { return s.replies() > replies }) {
		s.Kept("WRK-07")
	}
	return longest
}

// cut ends the connections of the program.
func (s *session) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for identity := range s.peers {
		s.router.Disconnect(identity)
	}
}

// away ends the broker for a while.
func (s *session) away() {
	const pause = 3 * time.Second
	s.hangUp()
	s.Remark("the broker is away for %v", pause)
	s.Pass(s.program, pause)
	s.listen(s.addr)
}

// fallSilent has the broker send nothing until an INFORM comes.
func (s *session) fallSilent() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent, s.steady.over = true, true
}

// speak ends a silence with the INFORM of a peer. Others have disconnected by then, although their connections may be
// open. The lock is held.
func (s *session) speak(p *peer) {
	if !s.silent {
		return
	}
	s.silent = false
	for _, other := range s.peers {
		if other != p {
			other.ready = 0
		}
	}
}

// lost returns a play in which the broker disconnects, and once more while a job runs. It watches the program for a
// while when it has begun anew.
func lost(watched time.Duration, how func(*session)) func(*session) {
	return func(s *session) {
		if s.comesBack(how, asked(job("fwp.ok"))) {
			s.Pass(s.program, watched)
			s.mu.Lock()
			s.steady.hears(s.Now(), false) // it may have been silent since
			s.steady.over = true
			s.mu.Unlock()
			s.comesBack(how, &request{message: job("fwp.sleep", 8)})
		}
	}
}

// comesBack has the broker disconnect when a request was taken, decides whether the program begins anew, and returns
// that.
func (s *session) comesBack(how func(*session), r *request) bool {
	const comeback = 90 * time.Second
	taken := s.taken()
	s.push(r)
	s.mustTake(taken + 1)
	s.Pass(s.program, 4*interval)
	informs, conns, beats := s.count(&s.informs), s.count(&s.conns), s.count(&s.beats)
	how(s)
	again := s.Until(s.program, comeback, func() bool { return s.count(&s.informs) > informs })
	s.mu.Lock()
	s.silent = false
	s.mu.Unlock()
	seldom := s.count(&s.beats) - beats
	if !again && seldom > 0 && seldom < int(comeback/mostSilence) && !s.Exited(s.program) {
		s.Leave("BEAT-10", fmt.Sprintf("%d HEARTBEATs within %v: with its own interval it may detect this later", seldom,
			comeback))
		return false
	}
	s.Holds("BEAT-10", again, "another INFORM", fmt.Sprintf("no INFORM within %v; it opened %d connections; "+
		"the worker %s", comeback, s.count(&s.conns)-conns, s.Ending(s.program)))
	if !again {
		return false
	}
	taken = s.taken()
	s.push(asked(job("fwp.ok")))
	ready := s.Until(s.program, soon, func() bool { return s.taken() > taken })
	s.Holds("BEAT-10", ready, "a READY after the INFORM", fmt.Sprintf("none within %v", soon))
	return ready
}

// disconnect returns a play in which the broker sends a DISCONNECT while a job runs, unless that takes no time.
func disconnect(takes time.Duration) func(*session) {
	return func(s *session) {
		path, ends := s.file("pending")
		if takes > 0 {
			s.push(&request{message: job("fwp.late", takes.Seconds(), path)})
			s.mustTake(1)
		}
		s.Pass(s.program, interval)
		s.sendAll(emqp.Disconnect(""))
		kbai := s.Until(s.program, takes+soon, func() bool { return s.count(&s.kbais) > 0 })
		kbai = kbai || s.count(&s.kbais) > 0
		s.Holds("WRK-11", kbai, "a KBAI", fmt.Sprintf("none within %v; the worker %s", takes+soon, s.Ending(s.program)))
		const watched = 4 * time.Second
		s.Pass(s.program, max(watched, takes+watched/2))
		if kbai {
			s.Kept("WRK-12")
		}
		if takes == 0 {
			return
		}
		s.Holds("WRK-13", ends() == 1, "the end of the running job",
			"it did not run to its end; the worker "+s.Ending(s.program))
	}
}

// brokerLeaves sends a KBAI of the broker while a job runs whose REPLY the broker does not want any more.
func brokerLeaves(s *session) {
	r := asked(job("fwp.sleep", 2))
	r.takes = 2 * time.Second
	s.push(r)
	s.mustTake(1)
	s.Pass(s.program, interval/2)
	if peers := fwpsituations.Locked(&s.mu, func() int { return len(s.peers) }); peers == 0 {
		s.GiveUp(true, "the worker has no connection; it %s", s.Ending(s.program))
	}
	s.sendAll(emqp.Kbai(""))
	s.Pass(s.program, max(4*interval, min(3*s.silences(), 7*time.Second)))
	s.Kept("WRK-14")
}
