package suite

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/emqp"
	emqpsession "github.com/fwpsuite/fwp/protocols/emqp/session"
)

// TestJudgeBeatOrACK: when a HEARTBEAT or an ACK must not come, and what its timestamp may be.
func TestJudgeBeatOrACK(t *testing.T) {
	t.Parallel()
	now := time.Unix(1700000000, 0)
	before := func(d time.Duration) time.Time { return now.Add(-d) }
	leaverConn := func(was role, at time.Time) *conn { return &conn{role: formerPeer, roleBeforeKBAI: was, kbaiAt: at} }
	beat, ack := emqp.Heartbeat("b", now), emqp.Ack("b", "i")
	beatWith := func(text string) emqp.Message {
		return emqp.Message{Command: emqp.HEARTBEAT, ID: "b", Fields: [][]byte{[]byte(text)}}
	}
	for name, test := range map[string]struct {
		c       *conn
		m       emqp.Message
		leaving time.Time // when the broker got a DISCONNECT, if it did
		sentAt  time.Time // when the message was sent that an ACK is for
		want    string
	}{
		"to a worker":                     {c: &conn{role: worker}, m: beat},
		"to a scheduler":                  {c: &conn{role: scheduler}, m: beat},
		"to a client":                     {c: &conn{}, m: beat, want: "BEAT-04"},
		"to a client whose bytes are odd": {c: &conn{mayBeClosed: true}, m: beat},
		"an ACK to a client":              {c: &conn{}, m: ack, sentAt: now},
		"just after KBAI":                 {c: leaverConn(worker, before(2*time.Second)), m: beat},
		"after KBAI":                      {c: leaverConn(worker, before(3*time.Second)), m: beat, want: "KBAI-01"},
		"an ACK after KBAI":               {c: leaverConn(worker, before(3*time.Second)), m: ack, sentAt: now, want: "KBAI-01"},
		"after the KBAI of a scheduler":   {c: leaverConn(scheduler, before(3*time.Second)), m: beat, want: "KBAI-02"},
		"after the KBAI of a client":      {c: leaverConn(client, before(3*time.Second)), m: beat},
		"just after DISCONNECT":           {c: &conn{role: worker}, m: beat, leaving: before(2 * time.Second)},
		"after DISCONNECT": {
			c: &conn{role: worker}, m: beat, leaving: before(3 * time.Second), want: "DISC-02",
		},
		"an ACK of what was sent before it": {
			c: &conn{}, m: ack, leaving: before(3 * time.Second), sentAt: before(time.Minute),
		},
		"an ACK of what was sent after it": {
			c: &conn{}, m: ack, leaving: before(9 * time.Second), sentAt: now, want: "DISC-02",
		},
		"a fraction of a second":             {c: &conn{role: worker}, m: beatWith("1700000000.25")},
		"milliseconds":                       {c: &conn{role: worker}, m: beatWith("1700000000000"), want: "BEAT-03"},
		"the seconds since the broker began": {c: &conn{role: worker}, m: beatWith("17"), want: "BEAT-03"},
	} {
		l := newLaw(law.Terms{Slack: 2 * time.Second})
		l.isLeaving, l.leftAt, l.sentIDs["i"] = !test.leaving.IsZero(), test.leaving, test.sentAt
		clause := ""
		if b := l.judgeBeatOrACK(test.c, test.m, now); b != nil {
			clause = b.clause
			assert.Contains(t, rules(), b.rule, name)
		}
		assert.Equal(t, test.want, clause, name)
	}
}

// TestTimestampsGoOn: HEARTBEATs have the time of one clock.
func TestTimestampsGoOn(t *testing.T) {
	t.Parallel()
	now := time.Unix(1700000000, 0)
	for ahead, want := range map[time.Duration]bool{
		0: true, 2 * time.Second: true, 5 * time.Second: false, -9 * time.Second: false, time.Hour: false,
	} {
		l := newLaw(law.Terms{})
		l.clock.Agrees(now.Add(time.Hour), now, now)
		later := now.Add(time.Minute)
		b := l.judgeBeatOrACK(&conn{role: worker}, emqp.Heartbeat("b", later.Add(time.Hour+ahead)), later)
		assert.Equal(t, want, b == nil, ahead)
	}
}

// TestUnique: no two messages of the broker have one id.
func TestUnique(t *testing.T) {
	t.Parallel()
	l := newLaw(law.Terms{})
	l.sentIDs["c-1"] = time.Now()
	assert.True(t, l.isUnique(emqp.Ack("b-1", "c-1"), nil))
	assert.True(t, l.isUnique(emqp.Ack("b-1", "c-1"), nil), "what several peers get is one message")
	assert.False(t, l.isUnique(emqp.Ack("b-1", "c-2"), nil))
	assert.True(t, l.isUnique(emqp.Reply("c-1", "x"), nil))
	assert.True(t, l.isUnique(emqp.Reply("c-1", "y"), nil), "the id is that of a client")
	assert.False(t, l.isUnique(emqp.Ack("c-1", "c-1"), nil), "an ACK is a message of its own")
	x := request("x")
	assert.True(t, l.isUnique(x.Message, x))
	l.sentIDs[x.ID] = time.Now()
	assert.True(t, l.isUnique(x.Message, x))
	other := emqp.Message{Command: emqp.REQUEST, ID: "c-1", Fields: x.Fields}
	assert.False(t, l.isUnique(other, x), "the id is that of another one")
	l.forget()
	assert.True(t, l.isUnique(emqp.Ack("b-1", "c-2"), nil), "the broker was started again")
}

// TestJudgeSocket: the READY of the broker names a ROUTER.
func TestJudgeSocket(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"ROUTER": true, "DEALER": false, "": false} {
		m := session.Message{Kind: emqpsession.Ready, Parts: [][]byte{
			[]byte("Socket-Type"), []byte(text), []byte("Identity"), []byte("ROUTER"),
		}}
		assert.Equal(t, want, judgeSocket(m) == nil, text)
	}
	assert.NotNil(t, judgeSocket(session.Message{Kind: emqpsession.Ready}))
	assert.Nil(t, judgeSocket(session.Message{Kind: emqpsession.Pong}))
}

// TestACKsAgain: three ACKs in turn of a message that had its one, while three others have none, are of those.
func TestACKsAgain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		sent, ackIDs string // a message for each character
		want         bool
	}{
		"one each":                      {sent: "abcdef", ackIDs: "abcdef"},
		"none of some":                  {sent: "abcdef", ackIDs: "af"},
		"two each":                      {sent: "abcdef", ackIDs: "aabbccddeeff"},
		"an id that was used again":     {sent: "aaaa", ackIDs: "aaaa"},
		"of the first alone":            {sent: "abcd", ackIDs: "aaaa", want: true},
		"again, with one in between":    {sent: "abcdef", ackIDs: "aaabbb"},
		"of messages of another client": {sent: "abcdef", ackIDs: "axxxxx"},
	} {
		var a acks
		for id := range strings.SplitSeq(test.sent, "") {
			a.add(emqp.Request(id, "q", nil, ""))
		}
		isWrong := false
		for id := range strings.SplitSeq(test.ackIDs, "") {
			b := a.receive(id)
			isWrong = isWrong || b != nil
		}
		assert.Equal(t, test.want, isWrong, name)
	}
	var pendingAcks acks
	for range 1000 {
		pendingAcks.add(emqp.Request("i", "q", nil, ""))
	}
	assert.Len(t, pendingAcks.pending, 100)
}
