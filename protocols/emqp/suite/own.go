package suite

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/emqp"
	emqpsession "github.com/fwpsuite/fwp/protocols/emqp/session"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
)

// judgeBeatOrACK judges a HEARTBEAT or an ACK, of which the reader has checked that it is for a message that was sent.
// For how long either may still come after a KBAI, or after a DISCONNECT, is the slack of the play.
func (l *emqpLaw) judgeBeatOrACK(c *conn, m emqp.Message, at time.Time) *breach {
	moment := at // the moment that the message is about
	if m.Command == emqp.ACK {
		moment = l.sentIDs[string(m.Fields[0])]
	}
	switch {
	case l.isLeaving && moment.Sub(l.leftAt) > l.terms.Slack:
		return extraBreach("after-disconnect", "DISC-02")
	case !l.isLeaving && c.role == formerPeer && c.roleBeforeKBAI != client && at.Sub(c.kbaiAt) > l.terms.Slack:
		return c.kbaiBreach()
	case m.Command == emqp.ACK:
		return c.acks.receive(string(m.Fields[0]))
	case c.role == client && !c.mayBeClosed:
		return extraBreach("heartbeat-early", "BEAT-04")
	}
	return l.judgeTimestamp(m, at)
}

// acks is what a peer has of ACKs. A broker need not acknowledge a message, and may acknowledge one twice.
type acks struct {
	pending []string // ids of the last messages that have no ACK
	last    string   // the id in the last ACK
	repeats int      // ACKs of that id in turn, beside the first one
}

func (a *acks) add(m emqp.Message) {
	const limit = 100
	if m.Command != emqp.ACK && m.Command != emqp.HEARTBEAT {
		a.pending = append(a.pending[max(0, len(a.pending)+1-limit):], m.ID)
	}
}

// receive follows an ACK. It is wrong where the last ones were of the same message again, and other messages have none.
func (a *acks) receive(id string) *breach {
	const minimum = 3
	switch i := slices.Index(a.pending, id); {
	case i >= 0:
		a.pending = slices.Delete(a.pending, i, i+1)
		a.last, a.repeats = id, 0
	case id == a.last:
		a.repeats++
	}
	if a.repeats < minimum || len(a.pending) < minimum {
		return nil
	}
	a.repeats = 0
	return contentBreach("ack-again", "ACK-01", scriptLine(emqp.ACK, strconv.Quote(a.pending[len(a.pending)-1])))
}

// judgeTimestamp judges that of a HEARTBEAT: the clock of the broker may be wrong, but not by decades, and it goes on.
// A HEARTBEAT may have been on its way for a while, on a machine that is late for longer.
func (l *emqpLaw) judgeTimestamp(m emqp.Message, at time.Time) *breach {
	const from, to, way = 946684800, 4102444800, 5 * time.Second // the years 2000 to 2099
	if string(m.Fields[0]) == emqp.NoTimestamp {                 // the reader has told it
		return nil
	}
	seconds, err := strconv.ParseFloat(string(m.Fields[0]), 64)
	if err != nil || seconds < from || seconds > to {
		return contentBreach("timestamp", "BEAT-03", scriptLine(m.Command, fmt.Sprintf("number(%d..%d)", from, to)))
	}
	stamp := time.Unix(int64(seconds), int64((seconds-math.Floor(seconds))*1e9))
	if l.clock.Agrees(stamp, at.Add(-way), at) {
		return nil
	}
	earliest, latest, _ := l.clock.Between(at.Add(-way), at)
	bounds := fmt.Sprintf("number(%d..%d)", earliest.Unix(), latest.Unix())
	return contentBreach("timestamp", "BEAT-03", scriptLine(m.Command, bounds))
}

// rhythm is what is known of the intervals at which the broker sends a kind of peers HEARTBEATs.
type rhythm struct {
	intervals int           // that were seen
	longest   time.Duration // of them
}

// judgeRhythm judges how long the broker has sent a worker or scheduler nothing, by the longest interval between two
// HEARTBEATs that was seen on any connection of its kind: the first one of a connection may come at any moment of the
// broker's interval. Any message stands for a HEARTBEAT. (Heartbeating)
func (l *emqpLaw) judgeRhythm(c *conn, m emqp.Message, at time.Time) *breach {
	const minIntervals, maxMissing, moment = 2, 3, 2 * time.Second
	r, silence := l.beats[c.role], at.Sub(c.lastHeard)
	if c.lastHeard = at; r == nil || l.isLeaving {
		return nil
	}
	if limit := maxMissing*r.longest + moment; r.intervals >= minIntervals && silence > limit && !c.isSilent &&
		!c.informUncertain {
		clause := map[role]string{worker: "BEAT-01", scheduler: "BEAT-02"}[c.role]
		return contentBreach("heartbeat-missing", clause,
			fmt.Sprint("a message within ", limit.Round(time.Second), " of the last one"))
	}
	if m.Command == emqp.HEARTBEAT {
		if !c.lastBeat.IsZero() {
			r.intervals, r.longest = r.intervals+1, max(r.longest, at.Sub(c.lastBeat))
		}
		c.lastBeat = at
	}
	return nil
}

// isUnique reports whether no other message of the broker has the id of a message, in this play or, of those that the
// broker makes up, in another one. What it passes on may have the id of its client, and what it sends to several peers
// is one message. x is the message that it passes on, nil for none.
func (l *emqpLaw) isUnique(m emqp.Message, x *message) bool {
	const limit = 10000
	isBrokerMessage := slices.Contains([]string{emqp.HEARTBEAT, emqp.ACK, emqp.KBAI, emqp.DISCONNECT}, m.Command)
	if m.ID == emqp.NoID { // the reader has told it
		return true
	}
	if _, ok := l.sentIDs[m.ID]; ok || l.isUnbounded {
		return l.isUnbounded || !isBrokerMessage && (x == nil || x.ID == m.ID)
	}
	sum := sha256.Sum256(bytes.Join(m.Frames(), []byte{0}))
	prev, ok := l.hashes[m.ID]
	if !ok && len(l.hashes) < limit {
		l.hashes[m.ID] = sum
	}
	isRepeated := isBrokerMessage && !l.isLeaving && l.terms.History.Repeats("id "+m.ID, string(sum[:]))
	return (!ok || prev == sum) && !isRepeated
}

// mentionsPlay reports whether a message has a name of the play, which no other client uses.
func (l *emqpLaw) mentionsPlay(m emqp.Message) bool {
	return !l.isUnbounded && bytes.Contains(bytes.Join(m.Fields, []byte{0}), []byte(l.terms.NamePrefix+"-"))
}

// judgeSocket judges what the READY of the broker says of its socket.
func judgeSocket(m session.Message) *breach {
	router := [][]byte{[]byte(zmtp.SocketType), []byte(zmtp.ROUTER)}
	if m.Kind != emqpsession.Ready || slices.EqualFunc(m.Parts[:min(2, len(m.Parts))], router, bytes.Equal) {
		return nil
	}
	return contentBreach("socket", "SOCK-01", "READY Socket-Type ROUTER ...")
}
