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

// receive judges a message of the program, and acts on it. The lock of the session is held.
func (s *session) receive(identity string, frames [][]byte) {
	p := s.peers[identity]
	if p == nil {
		return // its connection has ended meanwhile
	}
	l := s.show(p, reports.FromClient, excerpt(frames), false)
	m, err := emqp.Parse(frames)
	bad, isMalformed := errors.AsType[*emqp.Error](err)
	if isMalformed {
		s.reportMalformed(bad, l)
		m = repair(frames)
	} else {
		s.NoteOccasion("WRK-01")
		s.checkID(p, m, l)
	}
	s.hear(p, l.At, m.Command == emqp.HEARTBEAT)
	if s.first == "" && len(frames) > 1 {
		s.first = cmp.Or(m.Command, string(frames[min(2, len(frames)-1)]))
	}
	s.checkKBAI(p, m, l)
	switch m.Command {
	case emqp.INFORM:
		s.inform(identity, p, m, l, isMalformed)
	case emqp.READY:
		p.readies++
		s.dispatch()
	case emqp.HEARTBEAT:
		s.beats++
		if !isMalformed {
			s.checkHeartbeat(m, l)
		}
	case emqp.REPLY:
		s.checkReply(m, l)
	case emqp.ACK:
		s.checkACK(m, l)
	case emqp.KBAI:
		p.hasLeft = true
		s.kbais++
	}
}

// hear notes when a peer has sent a message, which is a HEARTBEAT or not. The lock is held.
func (s *session) hear(p *peer, now time.Duration, isBeat bool) {
	if p.lastHeard > 0 {
		p.longestSilence = max(p.longestSilence, now-p.lastHeard)
	}
	p.lastHeard = now
	s.steadiness.hear(now, isBeat)
}

// checkACK judges an ACK, which has the id of a message of the broker. The lock is held.
func (s *session) checkACK(m emqp.Message, l reports.Line) {
	id := string(m.Fields[0])
	number, ok := strings.CutPrefix(id, idPrefix)
	if n, err := strconv.Atoi(number); !ok || err != nil || n < 1 || n > s.number {
		s.DecideBroken("WRK-01", "the id of the message that the ACK acknowledges",
			fmt.Sprintf("%q, the id of no message", id), l)
	}
}

// reportMalformed names the clause that a malformed message breaks. The lock is held.
func (s *session) reportMalformed(bad *emqp.Error, l reports.Line) {
	clause := map[emqp.Rule]string{
		emqp.RuleQueues: "WRK-02", emqp.RuleType: "WRK-02", emqp.RuleTimestamp: "WRK-05",
	}[bad.Rule]
	s.DecideBroken(cmp.Or(clause, "WRK-01"), bad.Expected, fmt.Sprintf("%s in frame %d", bad.Got, bad.Frame), l)
}

// repair returns a malformed message as it is meant, so that what else the program does can be judged: its command in
// whatever frame and case, and what stands behind the id. A message without a command is empty.
func repair(frames [][]byte) (m emqp.Message) {
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
	lastMessage, lastBeat time.Duration    // the latest message, and the latest HEARTBEAT
	regularCount          int              // HEARTBEATs that followed the one before in time
	longest               time.Duration    // silence, once the program has shown that it keeps the interval
	gaps                  [3]time.Duration // before the latest HEARTBEATs in a row, the latest first; 0 is none
	growth                [3]time.Duration // those that grow
	hasEnded              bool             // the broker has fallen silent, or parted
}

func (s *steadiness) hear(now time.Duration, isBeat bool) {
	const minBeats = 2
	silence := now - s.lastMessage
	if s.regularCount >= minBeats && !s.hasEnded {
		s.longest = max(s.longest, silence)
	}
	s.lastMessage = now
	if !isBeat {
		s.gaps = [3]time.Duration{}
		return
	}
	if s.lastBeat > 0 && now-s.lastBeat <= 2*interval {
		s.regularCount++
	}
	s.lastBeat = now
	if s.gaps = [3]time.Duration{silence, s.gaps[0], s.gaps[1]}; minGrowth(s.gaps) > 0 && !s.hasEnded {
		s.growth = s.gaps
	}
}

// minGrowth returns by how much two pauses, the latest first, are longer than those before at least; 0 if one is not
// half as long again, and longer by the interval.
func minGrowth(gaps [3]time.Duration) time.Duration {
	minimum := min(gaps[0]-gaps[1], gaps[1]-gaps[2])
	if gaps[2] == 0 || minimum < interval || gaps[0] < gaps[1]*3/2 || gaps[1] < gaps[2]*3/2 {
		return 0
	}
	return minimum
}

// checkInterval decides that a program broke the interval that it had kept before, or that it has none, whatever the
// play is about.
func (s *session) checkInterval() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.peers) > 0 && !s.HasExited(s.program) {
		s.steadiness.hear(s.Now(), false)
	}
	if longest := s.steadiness.longest; longest > maxSilence {
		s.Decide("BEAT-09", false, fmt.Sprintf("HEARTBEATs every %v, as at the beginning", interval),
			fmt.Sprintf("nothing for %v", longest.Round(time.Millisecond)))
		return
	}
	if g := s.steadiness.growth; g[0] > 0 {
		s.Decide("BEAT-09", false, "HEARTBEATs at regular intervals", fmt.Sprintf(
			"the interval grows: %v, %v and then %v", g[2].Round(time.Millisecond), g[1].Round(time.Millisecond),
			g[0].Round(time.Millisecond)))
	}
}

// checkID judges the id of a message. The lock is held.
func (s *session) checkID(p *peer, m emqp.Message, l reports.Line) {
	const limit = 100_000
	switch {
	case p.ids[m.ID]:
		s.DecideBroken("WRK-03", "an id that no other message has", fmt.Sprintf("the id %q of an earlier message", m.ID), l)
	case len(p.ids) < limit:
		p.ids[m.ID] = true
		if len(p.ids) > 1 {
			s.NoteOccasion("WRK-03")
		}
	}
}

// checkKBAI judges what is sent behind a KBAI. The lock is held.
func (s *session) checkKBAI(p *peer, m emqp.Message, l reports.Line) {
	const transit = time.Second
	isPending := m.Command == emqp.REPLY || m.Command == emqp.ACK
	switch delay := l.At - p.kbaiAt; {
	case m.Command == emqp.INFORM:
	case p.hasLeft && !isPending && m.Command != emqp.KBAI:
		s.DecideBroken("WRK-12", "no message after the KBAI of the worker", m.Command, l)
	case p.kbaiAt > 0 && (delay > transit || m.Command == emqp.KBAI):
		s.Decide("WRK-14", false, "no message after the KBAI of the broker",
			fmt.Sprintf("%s %v after it", m.Command, delay.Round(time.Millisecond)))
	}
}

// inform takes an INFORM, with which a conversation begins anew. The lock is held.
func (s *session) inform(identity string, p *peer, m emqp.Message, l reports.Line, isMalformed bool) {
	queues, _ := emqp.ParseQueues(string(m.Fields[0])) // a malformed one may have none
	switch kind := string(m.Fields[1]); {
	case isMalformed:
	case kind != emqp.TypeWorker:
		s.DecideBroken("WRK-02", "the type worker", kind, l)
	case len(queues) == 0:
		s.DecideBroken("WRK-02", "queues with their weights", "none", l)
	default:
		s.NoteOccasion("WRK-02")
	}
	if len(queues) == 0 {
		queues = []emqp.Queue{{Name: fwpsituations.Queues()[0]}}
	}
	if p.informs > 0 { // nothing says that a READY may not come before the INFORM
		p.readies = 0
	}
	for _, q := range queues {
		s.queues[q.Name] = true
	}
	p.queue, p.hasLeft, p.kbaiAt = queues[0].Name, false, 0
	p.informs++
	s.informs++
	s.resumeSending(p)
	s.send(identity, p, emqp.Ack("", m.ID))
	s.dispatch()
}

// checkHeartbeat judges a HEARTBEAT. The lock is held.
func (s *session) checkHeartbeat(m emqp.Message, l reports.Line) {
	if s.informs == 0 { // a socket that has connected again by itself has sent one before
		s.DecideBroken("WRK-04", "an INFORM before the first HEARTBEAT", "a HEARTBEAT", l)
	} else {
		s.NoteOccasion("WRK-04")
	}
	const tolerance = 600 // the worker has the clock of this machine, whatever its time zone is
	text := string(m.Fields[0])
	seconds, _ := strconv.ParseFloat(text, 64)
	if now := float64(time.Now().Unix()); math.Abs(seconds-now) > tolerance {
		s.DecideBroken("WRK-05", fmt.Sprintf("the seconds since 1970, about %.0f", now), text, l)
		return
	}
	s.NoteOccasion("WRK-05")
}

// checkReply judges a REPLY, which does not say which request it is for. The lock is held.
func (s *session) checkReply(m emqp.Message, l reports.Line) {
	s.replies = append(s.replies, strings.TrimSpace(string(bytes.Join(m.Fields, []byte(" ")))))
	requestedCount, finishedCount := 0, 0
	for _, r := range s.sentRequests {
		if strings.Contains(r.headers, emqp.ReplyRequested) {
			requestedCount++
			if l.At-r.at+fwpsituations.TimerSlack >= r.duration {
				finishedCount++
			}
		}
	}
	switch {
	case len(s.replies) > requestedCount:
		s.DecideBroken("WRK-06", "at most one REPLY for each request with reply-requested",
			fmt.Sprintf("%d REPLYs for %d such requests", len(s.replies), requestedCount), l)
	case len(s.replies) > finishedCount:
		s.DecideBroken("WRK-07", "a REPLY after the end of the job", "a REPLY while it runs", l)
	default:
		s.NoteOccasion("WRK-06")
	}
}
