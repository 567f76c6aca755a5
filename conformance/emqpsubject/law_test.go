package emqpsubject

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/emqp"
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
	ofQ := func() *message { return request("x") }
	left := func(roleBeforeLeaving role) *conn {
		return &conn{role: gone, roleBeforeKBAI: roleBeforeLeaving, left: now.Add(-time.Minute)}
	}
	at := func(x *message, at time.Time) *message { x.at = at; return x }
	works := &conn{role: worker, queues: []string{"p", "q"}}
	for name, test := range map[string]struct {
		l    emqpLaw
		c    *conn
		sent *message
		want string
	}{
		"to a worker of its queue":     {c: works, sent: ofQ()},
		"to a worker of another queue": {c: &conn{role: worker, queues: []string{"p"}}, sent: ofQ(), want: "REQ-02"},
		"to a client":                  {c: &conn{role: client}, sent: ofQ(), want: "REQ-02"},
		"a second time": {
			c: works, sent: &message{Message: ofQ().Message, over: true}, want: "REQ-03",
		},
		"a second time in an open queue": {
			l: emqpLaw{open: map[string]bool{"q": true}}, c: works, sent: &message{Message: ofQ().Message, over: true},
		},
		"that no client sent":                  {c: works, want: "REQ-01"},
		"that no client is known to have sent": {l: emqpLaw{unbounded: true}, c: works},
		"of somebody in an open queue":         {l: emqpLaw{open: map[string]bool{"q": true}}, c: works},
		"that is a message of another version": {
			l: emqpLaw{foreign: []string{"id"}}, c: works, sent: ofQ(), want: "FRAME-06",
		},
		"sent after its KBAI":                {c: left(worker), sent: at(ofQ(), now), want: "KBAI-01"},
		"sent after the KBAI of a scheduler": {c: left(scheduler), sent: at(ofQ(), now), want: "KBAI-02"},
		"sent before its KBAI":               {c: left(worker), sent: at(ofQ(), now.Add(-time.Hour))},
		"from a broker that leaves":          {l: emqpLaw{leaving: true}, c: works},
		"sent after the DISCONNECT": {
			l: emqpLaw{leaving: true}, c: works, sent: &message{Message: ofQ().Message, late: true}, want: "DISC-02",
		},
	} {
		clause := ""
		if b := test.l.requestBreach(test.c, test.sent, ofQ().Message); b != nil {
			clause = b.clause
			assert.NotZero(t, rules[b.rule].Traits&law.Unasked, name)
		}
		assert.Equal(t, test.want, clause, name)
	}
}

// TestExplained: by which clause a worker has to get a REQUEST: that about what may keep it from it.
func TestExplained(t *testing.T) {
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
			text: "x", change: func(c *conn, _ *message, _ *emqpLaw) { c.acked = true }, want: "ACK-02",
		},
		"it has replied": {
			text: "x", change: func(c *conn, _ *message, _ *emqpLaw) { c.replied = true }, want: "REPLY-04",
		},
		"it was silent": {
			text: "x", change: func(c *conn, _ *message, _ *emqpLaw) { c.idled = true }, want: "BEAT-05",
		},
		"it is silent for 8 s": {
			text: "x", change: func(c *conn, _ *message, _ *emqpLaw) { c.lastSent = now.Add(-8 * time.Second) }, want: "REQ-01",
		},
		"it is silent for longer": {
			text: "x", change: func(c *conn, _ *message, _ *emqpLaw) { c.lastSent = now.Add(-8*time.Second - 1) },
			want: "BEAT-05",
		},
		"it had one before": {
			text: "x", change: func(c *conn, _ *message, _ *emqpLaw) { c.delivered = 1 }, want: "REQ-07",
		},
		"of its second queue": {
			text: "x", change: func(c *conn, _ *message, _ *emqpLaw) { c.queues = []string{"p", "q"} }, want: "INF-02",
		},
		"of the first of two": {
			text: "x", change: func(c *conn, _ *message, _ *emqpLaw) { c.queues = []string{"q", "p"} }, want: "REQ-01",
		},
		"no worker was ready": {
			text: "x", change: func(_ *conn, x *message, _ *emqpLaw) { x.waited = true }, want: "REQ-06",
		},
		"behind what is not followed": {
			text: "x", change: func(_ *conn, _ *message, l *emqpLaw) { l.disrupted = prefix + "SOCK-09" }, want: "SOCK-09",
		},
	} {
		l, c, x := emqpLaw{}, plain, sent(test.text)
		if test.change != nil {
			test.change(&c, x, &l)
		}
		assert.Equal(t, test.want, l.explained(x, &c), name)
	}
}

// TestDue: who has to get a message of which all is known.
func TestDue(t *testing.T) {
	t.Parallel()
	with := func(command string, to ...int) *message {
		x := request("x")
		x.Command, x.firm, x.to = command, true, map[int]bool{}
		for _, n := range to {
			x.to[n] = true
		}
		return x
	}
	over, open := with(emqp.REQUEST), with(emqp.REQUEST)
	over.over, open.firm = true, false
	for name, test := range map[string]struct {
		sent   *message
		clause string
		conns  []int
	}{
		"a REQUEST":                       {with(emqp.REQUEST), "REQ-01", []int{2, 1}},
		"one that came":                   {over, "", nil},
		"one that need not come":          {open, "", nil},
		"a SCHEDULE":                      {with(emqp.SCHEDULE, 4, 5), "SCHED-01", []int{4, 5}},
		"a SCHEDULE, and one has left":    {with(emqp.SCHEDULE, 3, 5, 9), "SCHED-01", []int{5}},
		"a SCHEDULE, and all have left":   {with(emqp.SCHEDULE, 3, 9), "", nil},
		"an UNSCHEDULE, one at a time":    {with(emqp.UNSCHEDULE, 5, 4), "UNSCH-01", []int{4}},
		"an UNSCHEDULE, and one has left": {with(emqp.UNSCHEDULE, 3, 5), "UNSCH-01", []int{5}},
	} {
		now := time.Now()
		test.sent.at = now
		l := emqpLaw{conns: map[int]*conn{
			1: {role: worker, queues: []string{"q"}, lastSent: now},
			2: {role: worker, queues: []string{"q"}, credit: 1, lastSent: now},
			3: {role: client}, 4: {role: scheduler}, 5: {role: scheduler},
		}}
		d := l.dueFor(test.sent)
		if test.clause == "" {
			assert.Nil(t, d, name)
		} else if assert.NotNil(t, d, name) {
			assert.Equal(t, prefix+test.clause, d.Missing.Clause, name)
			assert.Equal(t, test.conns, d.Conns, name)
		}
	}
}
