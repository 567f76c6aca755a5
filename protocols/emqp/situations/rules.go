package situations

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/protocols/emqp"
	fwpsituations "github.com/fwpsuite/fwp/protocols/fwp/situations"
	"github.com/fwpsuite/fwp/reports"
)

// received judges a message of the program, and acts on it. The lock of the session is held.
func (s *session) received(identity string, frames [][]byte) {
	p := s.peers[identity]
	if p == nil {
		return // its connection has ended meanwhile
	}
	l := s.show(p, reports.FromClient, shown(frames), false)
	m, err := emqp.Parse(frames)
	bad, malformed := errors.AsType[*emqp.Error](err)
	if malformed {
		s.malformed(bad, l)
		m = meant(frames)
	} else {
		s.Kept("WRK-01")
		s.identified(p, m, l)
	}
	s.hears(p, l.At, m.Command == emqp.HEARTBEAT)
	if s.first == "" && len(frames) > 1 {
		s.first = cmp.Or(m.Command, string(frames[min(2, len(frames)-1)]))
	}
	s.leaves(p, m, l)
	switch m.Command {
	case emqp.INFORM:
		s.informed(identity, p, m, l, malformed)
	case emqp.READY:
		p.ready++
		s.dispatch()
	case emqp.HEARTBEAT:
		s.beats++
		if !malformed {
			s.beaten(m, l)
		}
	case emqp.REPLY:
		s.replied(m, l)
	case emqp.ACK:
		s.acknowledged(m, l)
	case emqp.KBAI:
		p.left = true
		s.kbais++
	}
}

// hears notes when a peer has sent a message, which is a HEARTBEAT or not. The lock is held.
func (s *session) hears(p *peer, now time.Duration, beat bool) {
	if p.heard > 0 {
		p.longest = max(p.longest, now-p.heard)
	}
	p.heard = now
	s.steady.hears(now, beat)
}

// acknowledged judges an ACK, which has the id of a message of the broker. The lock is held.
func (s *session) acknowledged(m emqp.Message, l reports.Line) {
	id := string(m.Fields[0])
	number, is := strings.CutPrefix(id, idPrefix)
	if n, err := strconv.Atoi(number); !is || err != nil || n < 1 || n > s.number {
		s.Wrong("WRK-01", "the id of the message that the ACK acknowledges", fmt.Sprintf("%q, the id of no message", id), l)
	}
}

// malformed names the clause that a malformed message breaks. The lock is held.
func (s *session) malformed(bad *emqp.Error, l reports.Line) {
	clause := map[emqp.Rule]string{
		emqp.RuleQueues: "WRK-02", emqp.RuleType: "WRK-02", emqp.RuleTimestamp: "WRK-05",
	}[bad.Rule]
	s.Wrong(cmp.Or(clause, "WRK-01"), bad.Expected, fmt.Sprintf("%s in frame %d", bad.Got, bad.Frame), l)
}

// meant returns a malformed message as it is meant, so that what else the program does can be judged: its command in
// whatever frame and case, and what stands behind the id. A message without a command is empty.
func meant(frames [][]byte) (m emqp.Message) {
	all := []string{emqp.INFORM, emqp.READY, emqp.HEARTBEAT, emqp.REPLY, emqp.KBAI, emqp.ACK}
	for i, f := range frames {
		if m.Command = strings.ToUpper(string(f)); slices.Contains(all, m.Command) {
			rest := append(slices.Clone(frames[i+1:]), nil, nil, nil) // for those that are missing
			m.ID, m.Fields = string(rest[0]), rest[1:]
			return m
		}
	}
	return emqp.Message{}
}

// steadiness is how regularly something is heard of the program, on whatever connection.
type steadiness struct {
	heard, beat time.Duration    // the latest message, and the latest HEARTBEAT
	regular     int              // HEARTBEATs that followed the one before in time
	longest     time.Duration    // silence, once the program has shown that it keeps the interval
	gaps        [3]time.Duration // before the latest HEARTBEATs in a row, the latest first; 0 is none
	grown       [3]time.Duration // those that grow
	over        bool             // the broker has fallen silent, or parted
}

func (s *steadiness) hears(now time.Duration, beat bool) {
	const shown = 2
	silence := now - s.heard
	if s.regular >= shown && !s.over {
		s.longest = max(s.longest, silence)
	}
	s.heard = now
	if !beat {
		s.gaps = [3]time.Duration{}
		return
	}
	if s.beat > 0 && now-s.beat <= 2*interval {
		s.regular++
	}
	s.beat = now
	if s.gaps = [3]time.Duration{silence, s.gaps[0], s.gaps[1]}; leastGrowth(s.gaps) > 0 && !s.over {
		s.grown = s.gaps
	}
}

// leastGrowth returns by how much two pauses, the latest first, are longer than those before at least; 0 if one is not
// half as long again, and longer by the interval.
func leastGrowth(gaps [3]time.Duration) time.Duration {
	least := min(gaps[0]-gaps[1], gaps[1]-gaps[2])
	if gaps[2] == 0 || least < interval || gaps[0] < gaps[1]*3/2 || gaps[1] < gaps[2]*3/2 {
		return 0
	}
	return least
}

// keepsInterval decides that a program broke the interval that it had kept before, or that it has none, whatever the
// play is about.
func (s *session) keepsInterval() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.peers) > 0 && !s.Exited(s.program) {
		s.steady.hears(s.Now(), false)
	}
	if longest := s.steady.longest; longest > mostSilence {
		s.Holds("BEAT-09", false, fmt.Sprintf("HEARTBEATs every %v, as at the beginning", interval),
			fmt.Sprintf("nothing for %v", longest.Round(time.Millisecond)))
		return
	}
	if g := s.steady.grown; g[0] > 0 {
		s.Holds("BEAT-09", false, "HEARTBEATs at regular intervals", fmt.Sprintf(
			"the interval grows: %v, %v and then %v", g[2].Round(time.Millisecond), g[1].Round(time.Millisecond),
			g[0].Round(time.Millisecond)))
	}
}

// identified judges the id of a message. The lock is held.
func (s *session) identified(p *peer, m emqp.Message, l reports.Line) {
	const most = 100_000
	switch {
	case p.ids[m.ID]:
		s.Wrong("WRK-03", "an id that no other message has", fmt.Sprintf("the id %q of an earlier message", m.ID), l)
	case len(p.ids) < most:
		p.ids[m.ID] = true
		if len(p.ids) > 1 {
			s.Kept("WRK-03")
		}
	}
}

// leaves judges what is sent behind a KBAI. The lock is held.
func (s *session) leaves(p *peer, m emqp.Message, l reports.Line) {
	const onItsWay = time.Second
	pending := m.Command == emqp.REPLY || m.Command == emqp.ACK
	switch behind := l.At - p.gone; {
	case m.Command == emqp.INFORM:
	case p.left && !pending && m.Command != emqp.KBAI:
		s.Wrong("WRK-12", "no message after the KBAI of the worker", m.Command, l)
	case p.gone > 0 && (behind > onItsWay || m.Command == emqp.KBAI):
		s.Holds("WRK-14", false, "no message after the KBAI of the broker",
			fmt.Sprintf("%s %v after it", m.Command, behind.Round(time.Millisecond)))
	}
}

// informed takes an INFORM, with which a conversation begins anew. The lock is held.
func (s *session) informed(identity string, p *peer, m emqp.Message, l reports.Line, malformed bool) {
	queues, _ := emqp.ParseQueues(string(m.Fields[0])) // a malformed one may have none
	switch kind := string(m.Fields[1]); {
	case malformed:
	case kind != emqp.TypeWorker:
		s.Wrong("WRK-02", "the type worker", kind, l)
	case len(queues) == 0:
		s.Wrong("WRK-02", "queues with their weights", "none", l)
	default:
		s.Kept("WRK-02")
	}
	if len(queues) == 0 {
		queues = []emqp.Queue{{Name: fwpsituations.Queues()[0]}}
	}
	if p.conversed > 0 { // nothing says that a READY may not come before the INFORM
		p.ready = 0
	}
	for _, q := range queues {
		s.queues[q.Name] = true
	}
	p.queue, p.left, p.gone = queues[0].Name, false, 0
	p.conversed++
	s.informs++
	s.speak(p)
	s.send(identity, p, emqp.Ack("", m.ID))
	s.dispatch()
}

// beaten judges a HEARTBEAT. The lock is held.
func (s *session) beaten(m emqp.Message, l reports.Line) {
	if s.informs == 0 { // a socket that has connected again by itself has sent one before
		s.Wrong("WRK-04", "an INFORM before the first HEARTBEAT", "a HEARTBEAT", l)
	} else {
		s.Kept("WRK-04")
	}
	const most = 600 // the worker has the clock of this machine, whatever its time zone is
	text := string(m.Fields[0])
	seconds, _ := strconv.ParseFloat(text, 64)
	if now := float64(time.Now().Unix()); math.Abs(seconds-now) > most {
		s.Wrong("WRK-05", fmt.Sprintf("the seconds since 1970, about %.0f", now), text, l)
		return
	}
	s.Kept("WRK-05")
}

// replied judges a REPLY, which does not say which request it is for. The lock is held.
func (s *session) replied(m emqp.Message, l reports.Line) {
	s.got = append(s.got, strings.TrimSpace(string(bytes.Join(m.Fields, []byte(" ")))))
	requested, finished := 0, 0
	for _, r := range s.sent {
		if strings.Contains(r.headers, emqp.ReplyRequested) {
			requested++
			if l.At-r.at+fwpsituations.TimerSlack >= r.takes {
				finished++
			}
		}
	}
	switch {
	case len(s.got) > requested:
		s.Wrong("WRK-06", "at most one REPLY for each request with reply-requested",
			fmt.Sprintf("%d REPLYs for %d such requests", len(s.got), requested), l)
	case len(s.got) > finished:
		s.Wrong("WRK-07", "a REPLY after the end of the job", "a REPLY while it runs", l)
	default:
		s.Kept("WRK-06")
	}
}
