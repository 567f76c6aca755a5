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

// judgeOwn judges a HEARTBEAT or an ACK, of which the reader has checked that it is for a message that was sent. For
// how long either may still come after a KBAI, or after a DISCONNECT, is the slack of the play.
func (l *emqpLaw) judgeOwn(c *conn, m emqp.Message, at time.Time) *breach {
	asked := at // the moment that the message is about
	if m.Command == emqp.ACK {
		asked = l.given[string(m.Fields[0])]
	}
	switch {
	case l.leaving && asked.Sub(l.leftAt) > l.terms.Slack:
		return unasked("after-disconnect", "DISC-02")
	case !l.leaving && c.role == gone && c.roleBeforeKBAI != client && at.Sub(c.left) > l.terms.Slack:
		return c.afterKBAI()
	case m.Command == emqp.ACK:
		return c.acks.came(string(m.Fields[0]))
	case c.role == client && !c.mayBeClosed:
		return unasked("heartbeat-early", "BEAT-04")
	}
	return l.judgeTimestamp(m, at)
}

// acks is what a peer has of ACKs. A broker need not acknowledge a message, and may acknowledge one twice.
type acks struct {
	without []string // ids of the last messages that have no ACK
	last    string   // the id in the last ACK
	again   int      // ACKs of that id in turn, beside the first one
}

func (a *acks) sent(m emqp.Message) {
	const most = 100
	if m.Command != emqp.ACK && m.Command != emqp.HEARTBEAT {
		a.without = append(a.without[max(0, len(a.without)+1-most):], m.ID)
	}
}

// came follows an ACK. It is wrong where the last ones were of the same message again, and other messages have none.
func (a *acks) came(of string) *breach {
	const many = 3
	switch i := slices.Index(a.without, of); {
	case i >= 0:
		a.without = slices.Delete(a.without, i, i+1)
		a.last, a.again = of, 0
	case of == a.last:
		a.again++
	}
	if a.again < many || len(a.without) < many {
		return nil
	}
	a.again = 0
	return wrong("ack-again", "ACK-01", asLine(emqp.ACK, strconv.Quote(a.without[len(a.without)-1])))
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
		return wrong("timestamp", "BEAT-03", asLine(m.Command, fmt.Sprintf("number(%d..%d)", from, to)))
	}
	written := time.Unix(int64(seconds), int64((seconds-math.Floor(seconds))*1e9))
	if l.clock.Agrees(written, at.Add(-way), at) {
		return nil
	}
	earliest, latest, _ := l.clock.Between(at.Add(-way), at)
	within := fmt.Sprintf("number(%d..%d)", earliest.Unix(), latest.Unix())
	return wrong("timestamp", "BEAT-03", asLine(m.Command, within))
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
	const known, missing, moment = 2, 3, 2 * time.Second
	r, silence := l.beats[c.role], at.Sub(c.heard)
	if c.heard = at; r == nil || l.leaving {
		return nil
	}
	if limit := missing*r.longest + moment; r.intervals >= known && silence > limit && !c.silent && !c.informUncertain {
		clause := map[role]string{worker: "BEAT-01", scheduler: "BEAT-02"}[c.role]
		return wrong("heartbeat-missing", clause,
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

// unique reports whether no other message of the broker has the id of a message, in this play or, of those that the
// broker makes up, in another one. What it passes on may have the id of its client, and what it sends to several peers
// is one message. about is the message that it passes on, nil for none.
func (l *emqpLaw) unique(m emqp.Message, about *message) bool {
	const most = 10000
	own := slices.Contains([]string{emqp.HEARTBEAT, emqp.ACK, emqp.KBAI, emqp.DISCONNECT}, m.Command)
	if m.ID == emqp.NoID { // the reader has told it
		return true
	}
	if _, given := l.given[m.ID]; given || l.unbounded {
		return l.unbounded || !own && (about == nil || about.ID == m.ID)
	}
	sum := sha256.Sum256(bytes.Join(m.Frames(), []byte{0}))
	before, is := l.seen[m.ID]
	if !is && len(l.seen) < most {
		l.seen[m.ID] = sum
	}
	elsewhere := own && !l.leaving && l.terms.Server.Repeats("id "+m.ID, string(sum[:]))
	return (!is || before == sum) && !elsewhere
}

// mentionsPlay reports whether a message has a name of the play, which no other client uses.
func (l *emqpLaw) mentionsPlay(m emqp.Message) bool {
	return !l.unbounded && bytes.Contains(bytes.Join(m.Fields, []byte{0}), []byte(l.terms.Prefix+"-"))
}

// judgeSocket judges what the READY of the broker says of its socket.
func judgeSocket(m session.Message) *breach {
	router := [][]byte{[]byte(zmtp.SocketType), []byte(zmtp.ROUTER)}
	if m.Kind != emqpsession.Ready || slices.EqualFunc(m.Parts[:min(2, len(m.Parts))], router, bytes.Equal) {
		return nil
	}
	return wrong("socket", "SOCK-01", "READY Socket-Type ROUTER ...")
}
