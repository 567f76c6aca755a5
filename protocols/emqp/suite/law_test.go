package suite

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/protocols/emqp"
)

// request is a REQUEST that was sent to the queue q.
func request(text string) *message {
	return &message{Message: emqp.Message{
		Command: emqp.REQUEST, ID: "id", Fields: [][]byte{[]byte("q"), nil, []byte(text)},
	}}
}

// TestRequestBreach: by which clause a REQUEST must not come to a peer.
func TestRequestBreach(t *testing.T) {
	t.Parallel()
	now := time.Now()
	newRequest := func() *message { return request("x") }
	leaverConn := func(roleBeforeLeaving role) *conn {
		return &conn{role: formerPeer, roleBeforeKBAI: roleBeforeLeaving, kbaiAt: now.Add(-time.Minute)}
	}
	at := func(x *message, at time.Time) *message { x.at = at; return x }
	works := &conn{role: worker, queues: []string{"p", "q"}}
	for name, test := range map[string]struct {
		l    emqpLaw
		c    *conn
		sent *message
		want string
	}{
		"to a worker of its queue":     {c: works, sent: newRequest()},
		"to a worker of another queue": {c: &conn{role: worker, queues: []string{"p"}}, sent: newRequest(), want: "REQ-02"},
		"to a client":                  {c: &conn{role: client}, sent: newRequest(), want: "REQ-02"},
		"to a peer without an identity": {
			l: emqpLaw{conns: map[int]*conn{1: works}}, c: &conn{role: client, isNameless: true}, sent: newRequest(), want: "REQ-02",
		},
		"to a peer without an identity, as the worker is": {
			l: emqpLaw{conns: map[int]*conn{1: {role: worker, queues: works.queues, isNameless: true}}},
			c: &conn{role: client, isNameless: true}, sent: newRequest(), want: "SOCK-07",
		},
		"a second time": {
			c: works, sent: &message{Message: newRequest().Message, isDone: true}, want: "REQ-03",
		},
		"a second time in an open queue": {
			l: emqpLaw{unknownQueues: map[string]bool{"q": true}}, c: works, sent: &message{Message: newRequest().Message, isDone: true},
		},
		"a second time in an open queue, answered": {
			l: emqpLaw{unknownQueues: map[string]bool{"q": true}}, c: works,
			sent: &message{Message: newRequest().Message, isDone: true, isAnswered: true}, want: "REQ-03",
		},
		"that no client sent":                   {c: works, want: "REQ-01"},
		"of another queue, that no client sent": {c: &conn{role: worker, queues: []string{"p"}}, want: "REQ-02"},
		"that no client is known to have sent":  {l: emqpLaw{isUnbounded: true}, c: works},
		"of somebody in an open queue":          {l: emqpLaw{unknownQueues: map[string]bool{"q": true}}, c: works},
		"that is a message of another version": {
			l: emqpLaw{foreignIDs: []string{"id"}}, c: works, sent: newRequest(), want: "FRAME-06",
		},
		"to a client whose INFORM is of another version": {c: &conn{hasForeignInform: true}, sent: newRequest(), want: "FRAME-06"},
		"sent after the KBAI of a client":                {c: leaverConn(client), sent: at(newRequest(), now), want: "KBAI-01"},
		"sent after its KBAI":                            {c: leaverConn(worker), sent: at(newRequest(), now), want: "KBAI-01"},
		"sent after the KBAI of a scheduler":             {c: leaverConn(scheduler), sent: at(newRequest(), now), want: "KBAI-02"},
		"sent before its KBAI":                           {c: leaverConn(worker), sent: at(newRequest(), now.Add(-time.Hour))},
		"from a broker that leaves":                      {l: emqpLaw{isLeaving: true}, c: works},
		"sent after the DISCONNECT": {
			l: emqpLaw{isLeaving: true}, c: works, sent: &message{Message: newRequest().Message, isAfterDisconnect: true}, want: "DISC-02",
		},
	} {
		clause := ""
		if b := test.l.requestBreach(test.c, test.sent, newRequest().Message); b != nil {
			clause = b.clause
			assert.NotZero(t, rules()[b.rule].Traits&law.Unasked, name)
		}
		assert.Equal(t, test.want, clause, name)
	}
}

// TestRequestClause: by which clause a worker has to get a REQUEST: that about what may keep it from it.
func TestRequestClause(t *testing.T) {
	t.Parallel()
	now := time.Now()
	plain := conn{queues: []string{"q"}, lastSent: now}
	sent := func(text string) *message { x := request(text); x.at = now; return x }
	for name, test := range map[string]struct {
		change func(c *conn, x *message, l *emqpLaw)
		text   string
		want   string
	}{
		"nothing":                {text: "x", want: "REQ-01"},
		"no text":                {text: "", want: "REQ-04"},
		"255 bytes":              {text: strings.Repeat("x", 255), want: "REQ-01"},
		"256 bytes":              {text: strings.Repeat("x", 256), want: "REQ-04"},
		"bytes that are no text": {text: "\xff", want: "REQ-05"},
		"a zero":                 {text: "a\x00b", want: "REQ-05"},
		"it has acknowledged one": {
			text: "x", change: func(c *conn, _ *message, _ *emqpLaw) { c.hasAcked = true }, want: "ACK-02",
		},
		"it has replied": {
			text: "x", change: func(c *conn, _ *message, _ *emqpLaw) { c.hasReplied = true }, want: "REPLY-04",
		},
		"it was silent": {
			text: "x", change: func(c *conn, _ *message, _ *emqpLaw) { c.wasIdle = true }, want: "BEAT-05",
		},
		"it is silent for 8 s": {
			text: "x", change: func(c *conn, _ *message, _ *emqpLaw) { c.lastSent = now.Add(-8 * time.Second) }, want: "REQ-01",
		},
		"it is silent for longer": {
			text: "x", change: func(c *conn, _ *message, _ *emqpLaw) { c.lastSent = now.Add(-8*time.Second - 1) },
			want: "BEAT-05",
		},
		"it had one before": {
			text: "x", change: func(c *conn, _ *message, _ *emqpLaw) { c.deliveries = 1 }, want: "REQ-07",
		},
		"of its second queue": {
			text: "x", change: func(c *conn, _ *message, _ *emqpLaw) { c.queues = []string{"p", "q"} }, want: "INF-02",
		},
		"of the first of two": {
			text: "x", change: func(c *conn, _ *message, _ *emqpLaw) { c.queues = []string{"q", "p"} }, want: "REQ-01",
		},
		"no worker was ready": {
			text: "x", change: func(_ *conn, x *message, _ *emqpLaw) { x.hasWaited = true }, want: "REQ-06",
		},
		"it has no identity": {
			text: "x", change: func(c *conn, _ *message, _ *emqpLaw) { c.isNameless = true }, want: "SOCK-07",
		},
		"a weight that is no percentage": {
			text: "x", change: func(c *conn, _ *message, _ *emqpLaw) { c.oddQueues = []string{"q"} }, want: "INF-01",
		},
		"of two causes, in spite of one of which some have come": {
			text: "x", want: "REPLY-04", change: func(c *conn, x *message, l *emqpLaw) {
				c.hasReplied, x.hasWaited, l.causeCounts = true, true, map[cause]int{{"REQ-06", ""}: 1}
			},
		},
		"in spite of all of which several have come": {
			text: "x", want: "REQ-07", change: func(c *conn, _ *message, l *emqpLaw) {
				c.deliveries, c.hasAcked, l.causeCounts = 9, true, map[cause]int{{"ACK-02", ""}: 3}
			},
		},
		"behind what is not followed": {
			text: "x", change: func(_ *conn, _ *message, l *emqpLaw) { l.disturbanceClause = prefix + "SOCK-09" }, want: "SOCK-09",
		},
	} {
		l, c, x := emqpLaw{}, plain, sent(test.text)
		if test.change != nil {
			test.change(&c, x, &l)
		}
		assert.Equal(t, test.want, l.requestClause(x, &c), name)
	}
}

// TestDue: who has to get a message of which all is known.
func TestDue(t *testing.T) {
	t.Parallel()
	newMessage := func(command string, to ...int) *message {
		x := request("x")
		x.Command, x.isRequired, x.to = command, true, map[int]bool{}
		for _, n := range to {
			x.to[n] = true
		}
		return x
	}
	doneMessage, optionalMessage := newMessage(emqp.REQUEST), newMessage(emqp.REQUEST)
	doneMessage.isDone, optionalMessage.isRequired = true, false
	for name, test := range map[string]struct {
		sent   *message
		clause string
		conns  []int
	}{
		"a REQUEST":                       {newMessage(emqp.REQUEST), "REQ-01", []int{2, 1}},
		"one that came":                   {doneMessage, "", nil},
		"one that need not come":          {optionalMessage, "", nil},
		"a SCHEDULE":                      {newMessage(emqp.SCHEDULE, 4, 5), "SCHED-01", []int{4, 5}},
		"a SCHEDULE, and one has left":    {newMessage(emqp.SCHEDULE, 3, 5, 9), "SCHED-01", []int{5}},
		"a SCHEDULE, and all have left":   {newMessage(emqp.SCHEDULE, 3, 9), "", nil},
		"an UNSCHEDULE, one at a time":    {newMessage(emqp.UNSCHEDULE, 5, 4), "UNSCH-01", []int{4}},
		"an UNSCHEDULE, and one has left": {newMessage(emqp.UNSCHEDULE, 3, 5), "UNSCH-01", []int{5}},
		"an UNSCHEDULE, first to one whose INFORM is the plainest": {
			newMessage(emqp.UNSCHEDULE, 5, 6), "UNSCH-01", []int{5},
		},
		"an UNSCHEDULE, to one with queues": {newMessage(emqp.UNSCHEDULE, 6), "INF-04", []int{6}},
		"a SCHEDULE, to one with queues":    {newMessage(emqp.SCHEDULE, 6), "INF-04", []int{6}},
		"one with queues that has got one":  {newMessage(emqp.SCHEDULE, 7), "SCHED-01", []int{7}},
	} {
		now := time.Now()
		test.sent.at = now
		l := emqpLaw{passedCommands: map[string]bool{emqp.SCHEDULE: true, emqp.UNSCHEDULE: true}, conns: map[int]*conn{
			1: {role: worker, queues: []string{"q"}, lastSent: now},
			2: {role: worker, queues: []string{"q"}, isReady: true, lastSent: now},
			3: {role: client}, 4: {role: scheduler}, 5: {role: scheduler}, 6: {role: scheduler, namesQueues: true},
			7: {role: scheduler, namesQueues: true, deliveries: 1},
		}}
		d := l.messageDue(test.sent)
		if test.clause == "" {
			assert.Nil(t, d, name)
		} else if assert.NotNil(t, d, name) {
			assert.Equal(t, prefix+test.clause, d.Missing.Clause, name)
			assert.Equal(t, test.conns, d.Conns, name)
		}
	}
}

// playMessage is a message of a play, whose names begin with x.
func playMessage(command, id, text string) emqp.Message {
	m := emqp.Message{Command: command, ID: id, Fields: [][]byte{[]byte("x-q"), nil, []byte(text)}}
	if command == emqp.REPLY {
		m.Fields = m.Fields[2:]
	}
	return m
}

// TestForeignVersion: nothing of a message of another version is passed on.
func TestForeignVersion(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		c    *conn
		m    emqp.Message
		want string
	}{
		"a REPLY":                          {&conn{}, playMessage(emqp.REPLY, "b-1", "x-1 text"), "FRAME-06"},
		"a SCHEDULE":                       {&conn{role: scheduler}, playMessage(emqp.SCHEDULE, "x-1", "text"), "FRAME-06"},
		"an UNSCHEDULE":                    {&conn{role: scheduler}, playMessage(emqp.UNSCHEDULE, "b-1", "x-1"), "FRAME-06"},
		"to a scheduler that became none":  {&conn{hasForeignInform: true}, playMessage(emqp.UNSCHEDULE, "x-2", "text"), "FRAME-06"},
		"a REQUEST":                        {&conn{role: worker}, playMessage(emqp.REQUEST, "b-1", "x-1"), "FRAME-06"},
		"one whose id goes on":             {&conn{role: scheduler}, playMessage(emqp.SCHEDULE, "b-1", "x-12 text"), "SCHED-01"},
		"one of which the play knows none": {&conn{role: scheduler}, playMessage(emqp.SCHEDULE, "b-1", "x-3 text"), "SCHED-01"},
	} {
		l := newLaw(law.Terms{NamePrefix: "x"})
		l.conns[1], l.foreignIDs = test.c, []string{"x-1"}
		b, _ := l.judge(1, test.c, test.m, time.Now())
		if assert.NotNil(t, b, name) {
			assert.Equal(t, test.want, b.clause, name)
		}
	}
}

// TestJudgeReply: by which clause a client must not get a REPLY.
func TestJudgeReply(t *testing.T) {
	t.Parallel()
	const self, other, works = 1, 2, 3
	now := time.Now()
	asks := func(from int, headers string) *message {
		x := request("x")
		x.from, x.isDone, x.Fields[1] = from, true, []byte(headers)
		return x
	}
	for name, test := range map[string]struct {
		c    conn
		sent []*message
		got  *message // the last REQUEST of the worker
		text string
		want string
	}{
		"its own":                   {sent: []*message{asks(self, emqp.ReplyRequested)}, text: "mine"},
		"that nobody has sent":      {sent: []*message{asks(self, emqp.ReplyRequested)}, text: "?", want: "REPLY-01"},
		"to one that has not asked": {sent: []*message{asks(self, "")}, text: "other", want: "REPLY-02"},
		"of another one":            {sent: []*message{asks(self, emqp.ReplyRequested)}, text: "other", want: "REPLY-03"},
		"for a REQUEST that asked not": {
			sent: []*message{asks(self, emqp.ReplyRequested)}, got: asks(self, ""), text: "other", want: "REPLY-02",
		},
		"of another one, both without an identity": {
			c: conn{isNameless: true}, sent: []*message{asks(self, emqp.ReplyRequested)}, text: "other", want: "SOCK-07",
		},
		"after its KBAI":       {c: conn{role: formerPeer, kbaiAt: now.Add(-time.Minute)}, text: "mine", want: "KBAI-01"},
		"sent before its KBAI": {c: conn{role: formerPeer, kbaiAt: now}, text: "mine"},
	} {
		l := newLaw(law.Terms{Slack: time.Second})
		l.conns[self], l.conns[works], l.messages = &test.c, &conn{role: worker, lastRequest: test.got}, test.sent
		l.conns[other] = &conn{isNameless: test.c.isNameless}
		for to, text := range map[int]string{self: "mine", other: "other"} {
			l.replies = append(l.replies, &reply{
				Message: emqp.Reply("r", text), worker: works, at: now, to: []int{to},
			})
		}
		if test.text == "other" { // the client awaits none
			l.replies[0].isDone, l.replies[1].isDone = true, true
		}
		clause := ""
		if b := l.judgeReply(self, &test.c, emqp.Reply("b", test.text)); b != nil {
			clause = b.clause
			assert.Contains(t, rules()[b.rule].Clauses, clause, name)
		}
		assert.Equal(t, test.want, clause, name)
	}
}

// TestSchedulerClause: that a scheduler has no identity is the reason for what it does not get only before it has got
// anything.
func TestSchedulerClause(t *testing.T) {
	t.Parallel()
	l := newLaw(law.Terms{})
	l.passedCommands[emqp.SCHEDULE] = true
	for want, c := range map[string]*conn{
		"SCHED-01": {}, "SOCK-07": {isNameless: true}, "INF-04": {namesQueues: true},
	} {
		assert.Equal(t, want, l.schedulerClause(c, emqp.SCHEDULE, "SCHED-01"))
		c.deliveries = 1
		assert.Equal(t, "SCHED-01", l.schedulerClause(c, emqp.SCHEDULE, "SCHED-01"))
	}
}

// TestOneReplyOfTwoThatSayTheSame: what a client gets is the REPLY that it must get, where another one, which it need
// not get, says the same.
func TestOneReplyOfTwoThatSayTheSame(t *testing.T) {
	t.Parallel()
	const asker = 1
	l := newLaw(law.Terms{})
	l.conns[asker] = &conn{}
	for _, firm := range []bool{false, true, false} {
		l.replies = append(l.replies, &reply{Message: emqp.Reply("r", "text"), to: []int{asker}, isRequired: firm})
	}
	assert.Nil(t, l.judgeReply(asker, l.conns[asker], emqp.Reply("b", "text")))
	assert.Equal(t, []bool{false, true, false}, []bool{l.replies[0].isDone, l.replies[1].isDone, l.replies[2].isDone})
}

// TestMissedReply: the worker of a REPLY that is missing owes one less, unless no client awaits it any more.
func TestMissedReply(t *testing.T) {
	t.Parallel()
	const asker, works = 1, 2
	for _, to := range [][]int{{asker}, {}} {
		l := newLaw(law.Terms{})
		first, second := request("x"), request("y")
		first.from, second.from = asker, asker
		l.conns[works] = &conn{role: worker, outstanding: []*message{first, second}}
		l.replies = []*reply{{Message: emqp.Reply("r", "x"), worker: works, to: to}}
		l.Missed(&law.DueMessage{Missing: law.Violation{JID: "r"}})
		assert.True(t, l.replies[0].isDone)
		assert.Len(t, l.conns[works].outstanding, 2-len(to))
	}
}

// A worker that has two REQUESTs replies twice without a pause: both have to arrive. Of a third REPLY that is open.
func TestFirmReplies(t *testing.T) {
	t.Parallel()
	asks := func() *message {
		x := request("x")
		x.from, x.isDone, x.Fields[1] = 1, true, []byte(emqp.ReplyRequested)
		return x
	}
	l, works := newLaw(law.Terms{}), &conn{role: worker, outstanding: []*message{asks(), asks()}}
	for range 3 {
		l.reply(2, works, emqp.Reply("r", "text"), time.Now())
	}
	assert.Equal(t, []bool{true, true, false}, []bool{l.replies[0].isRequired, l.replies[1].isRequired, l.replies[2].isRequired})
}

// TestAnEndedConnection: what was sent last on a connection that the broker has ended need not have been read.
func TestAnEndedConnection(t *testing.T) {
	t.Parallel()
	for byServer, firm := range map[bool]bool{true: false, false: true} {
		l, now := newLaw(law.Terms{}), time.Now()
		l.Open(1, now)
		l.replies = []*reply{{worker: 1, isRequired: true}, {worker: 2, isRequired: true}}
		l.messages = []*message{{from: 1, isRequired: true}, {from: 2, isRequired: true}}
		assert.Nil(t, l.Close(1, byServer, now)) // of a client
		assert.Equal(t, []bool{firm, true}, []bool{l.replies[0].isRequired, l.replies[1].isRequired})
		assert.Equal(t, []bool{firm, true}, []bool{l.messages[0].isRequired, l.messages[1].isRequired})
	}
}

// TestJudgeRhythm: a peer is sent something at least as often as HEARTBEATs come to peers of its kind.
func TestJudgeRhythm(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		c       conn
		beats   int // to another worker, one every 3 s, behind one that came soon
		silence time.Duration
		want    string
	}{
		"in time":                  {conn{role: worker}, 3, 10 * time.Second, ""},
		"too late":                 {conn{role: worker}, 3, 12 * time.Second, "BEAT-01"},
		"first ones only":          {conn{role: worker}, 0, 12 * time.Second, ""},
		"one interval is none":     {conn{role: worker}, 1, 12 * time.Second, ""},
		"of another kind":          {conn{role: scheduler}, 3, 12 * time.Second, ""},
		"a client":                 {conn{}, 3, 12 * time.Second, ""},
		"one that has left":        {conn{role: formerPeer}, 3, 12 * time.Second, ""},
		"one that answers none":    {conn{role: worker, isSilent: true}, 3, 12 * time.Second, ""},
		"not known to be a worker": {conn{role: worker, informUncertain: true}, 3, 12 * time.Second, ""},
	} {
		l, now := newLaw(law.Terms{}), time.Now()
		other := &conn{role: worker, lastHeard: now}
		assert.Nil(t, l.judgeRhythm(other, emqp.Heartbeat("a", now), now.Add(time.Millisecond)), name)
		for n := range test.beats {
			at := now.Add(time.Duration(n+1) * 3 * time.Second)
			other.lastHeard = at.Add(-time.Millisecond) // of another message
			assert.Nil(t, l.judgeRhythm(other, emqp.Heartbeat("b", now), at), name)
		}
		test.c.lastHeard = now
		clause := ""
		if b := l.judgeRhythm(&test.c, playMessage(emqp.REQUEST, "b", "text"), now.Add(test.silence)); b != nil {
			clause = b.clause
		}
		assert.Equal(t, test.want, clause, name)
	}
}

// TestSchedulersThatLeave: once a broker knows of the KBAI of a scheduler, the others get what is scheduled.
func TestSchedulersThatLeave(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for ago, firm := range map[time.Duration]bool{time.Second: false, time.Minute: true} {
		l := newLaw(law.Terms{Slack: 2 * time.Second, Alone: true})
		for n := range 3 {
			l.Open(n, now)
			l.conns[n].role = scheduler
		}
		l.kbai(l.conns[1], now.Add(-ago))
		assert.Nil(t, l.Close(1, true, now))
		l.schedule(9, playMessage(emqp.SCHEDULE, "x-1", "text"), now)
		assert.Equal(t, firm, l.messages[0].isRequired, ago)
		assert.Nil(t, l.Close(2, false, now))
		l.schedule(9, playMessage(emqp.SCHEDULE, "x-2", "text"), now)
		assert.False(t, l.messages[1].isRequired, "one has gone without KBAI")
	}
}

// TestIDsAcrossPlays: an id that the broker makes up is the one of no message of another play, unless it was started
// again.
func TestIDsAcrossPlays(t *testing.T) {
	t.Parallel()
	server := law.NewHistory()
	unique := func(command, id string) bool {
		l := newLaw(law.Terms{History: server})
		return l.isUnique(emqp.Message{Command: command, ID: id, Fields: [][]byte{[]byte(command)}}, nil)
	}
	assert.True(t, unique(emqp.HEARTBEAT, "1"))
	assert.True(t, unique(emqp.HEARTBEAT, "1"), "the same message")
	assert.False(t, unique(emqp.ACK, "1"))
	assert.True(t, unique(emqp.REQUEST, "1"), "which has the id of its client")
	newLaw(law.Terms{History: server}).Operated(target.Restart, "")
	assert.True(t, unique(emqp.ACK, "1"))
}

// A message that is passed on with an id of the broker's and other headers is the one of its queue and text that has
// still to come.
func TestFindWithOtherHeaders(t *testing.T) {
	t.Parallel()
	l := newLaw(law.Terms{})
	x := &message{Message: emqp.Request("c-1", "q", nil, "text")}
	l.messages = []*message{x}
	headers := emqp.Headers{{Name: emqp.Guarantee}}
	assert.Same(t, x, l.find(emqp.Request("b-1", "q", headers, "text")))
	assert.Nil(t, l.find(emqp.Request("b-1", "q", headers, "another text")))
	assert.Nil(t, l.find(emqp.Request("b-1", "another queue", headers, "text")))
	x.isDone = true
	assert.Nil(t, l.find(emqp.Request("b-1", "q", headers, "text")))
}
