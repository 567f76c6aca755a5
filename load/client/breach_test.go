package client

import (
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/wire"
)

func TestWholeSecondsWithReplies(t *testing.T) {
	t.Parallel()
	var p pulse
	for _, at := range []time.Duration{100 * time.Millisecond, 1900 * time.Millisecond, 4 * time.Second,
		90 * time.Second} {
		p.note(at)
	}
	cases := []struct {
		from, to time.Duration
		want     int
	}{
		{0, time.Second, 1},
		{0, 999 * time.Millisecond, 0},
		{time.Millisecond, 2 * time.Second, 1},
		{0, 5 * time.Second, 3},
		{2 * time.Second, 4 * time.Second, 0},
		{4 * time.Second, 5 * time.Second, 1},
		{26 * time.Second, 27 * time.Second, 0}, // a minute and a bit before the latest one
		{90 * time.Second, 91 * time.Second, 1},
		{5 * time.Second, 4 * time.Second, 0},
	}
	for _, test := range cases {
		assert.Equal(t, test.want, p.countSeconds(test.from, test.to), "%v to %v", test.from, test.to)
	}
}

func TestKindsOfFailure(t *testing.T) {
	t.Parallel()
	for number, kind := range map[syscall.Errno]measure.ErrorKind{
		syscall.ECONNREFUSED: measure.Refused, wsaRefused: measure.Refused,
		syscall.EMFILE: measure.OutOfFiles, syscall.EADDRNOTAVAIL: measure.OutOfPorts, syscall.ENOMEM: measure.OutOfMemory,
		syscall.ECONNRESET: measure.Reset, wsaReset: measure.Reset, syscall.ENOTCONN: measure.Reset,
		syscall.ETIMEDOUT: measure.Timeout,
	} {
		err := fmt.Errorf("dial: %w", &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", number)})
		assert.Equal(t, kind, openErrorKind(err), err)
	}
	assert.Equal(t, measure.Other, openErrorKind(errBroken))
}

// What a server sends that the command does not have is reported with the command, the
// name of the breach, and the message.
func TestBreachesNameCommandAndReply(t *testing.T) {
	t.Parallel()
	cases := []struct{ phase, line, verb, breach, text string }{
		{"greeting", "+HI\r\n", "", "foreign-reply:", "greeting: expected a simple string"},
		{"greeting", "HTTP/1.1 400\r\n", "", "grammar:reply type", "the greeting is invalid RESP"},
		{"hello", "+YES\r\n", "HELLO", "foreign-reply:HELLO", `HELLO was answered with the simple string "YES"`},
		{"pushing", "$-1\r\n", "PUSH", "foreign-reply:PUSH", "PUSH was answered with the null bulk string"},
		{"fetching", okLine, "FETCH", "foreign-reply:FETCH", `FETCH was answered with the simple string "OK"`},
		{"fetching", "*-1\r\n", "FETCH", "grammar:null", "the reply to FETCH is invalid RESP"},
		{"acknowledges", ":7\r\n", "ACK", "foreign-reply:ACK", "ACK was answered with the integer 7"},
	}
	for _, test := range cases {
		s, c := newPhaseScene(t, test.phase)
		s.data(c, test.line)
		b := s.shard.Breaches()
		require.Len(t, b, 1)
		assert.Equal(t, int64(1), b[0].Count)
		assert.Equal(t, test.verb, b[0].First.Verb)
		assert.Equal(t, test.breach, b[0].First.Breach)
		assert.Contains(t, b[0].First.Error(), test.text)
	}
}

// otherReplies books a reply to other commands in each second between two times.
func otherReplies(s *Shard, from, until time.Duration) {
	for at := from; at < until; at += time.Second {
		s.pulse.note(at)
	}
}

// A command without a reply is a breach only if the server served others meanwhile, and all of them much faster.
func TestSilence(t *testing.T) {
	t.Parallel()
	const sent = 20 * time.Second
	for name, test := range map[string]struct {
		waited, slowest time.Duration
		repliesUntil    time.Duration
		isIdle          bool
		disruptedUntil  time.Duration
		wantBreach      bool
	}{
		"ten seconds, others served": {waited: 10 * time.Second, repliesUntil: time.Minute, wantBreach: true},
		"less than ten seconds":      {waited: 10*time.Second - 1, repliesUntil: time.Minute},
		"nothing was asked":          {waited: 10 * time.Second, repliesUntil: time.Minute, isIdle: true},
		"others took a quarter": {waited: 12 * time.Second, slowest: 3 * time.Second, repliesUntil: time.Minute,
			wantBreach: true},
		"others took more than a quarter": {waited: 12 * time.Second, slowest: 3*time.Second + 1, repliesUntil: time.Minute},
		"an outage: no other was served":  {waited: 30 * time.Second},
		"an outage after half of the time": {waited: 20 * time.Second, repliesUntil: 30 * time.Second,
			wantBreach: true},
		"an outage before half of the time": {waited: 20 * time.Second, repliesUntil: 29 * time.Second},
		"disrupted when it was sent":        {waited: 20 * time.Second, repliesUntil: time.Minute, disruptedUntil: sent},
		"disrupted just before": {waited: 20 * time.Second, repliesUntil: time.Minute, disruptedUntil: sent - 1,
			wantBreach: true},
	} {
		s := newScene(t, producers(1))
		c := &s.shard.producers[0].conn
		if c.phase = phaseBusy; test.isIdle {
			c.phase = phaseIdle
		}
		c.command, s.shard.longestService = command{op: measure.Push, sent: sent}, test.slowest
		otherReplies(s.shard, sent, test.repliesUntil)
		s.shard.shared.Disrupt(test.disruptedUntil)
		c.bookNoReply(sent + test.waited)
		assert.Equal(t, test.wantBreach, len(s.shard.Breaches()) == 1, name)
	}
}

// A fetch that found nothing is overdue beyond the protocol's wait, 1.5 s, and twice the slowest of other commands.
func TestOverdueFetch(t *testing.T) {
	t.Parallel()
	const sent, wait = 20 * time.Second, 2 * time.Second
	for name, test := range map[string]struct {
		took, wait, slowest, disruptedUntil time.Duration
		hasReplies, wantBreach              bool
	}{
		"in time":                  {took: 3500 * time.Millisecond, wait: wait, hasReplies: true},
		"too late":                 {took: 3500*time.Millisecond + 1, wait: wait, hasReplies: true, wantBreach: true},
		"as late as a slow server": {took: 5500 * time.Millisecond, wait: wait, slowest: time.Second, hasReplies: true},
		"later than a slow server": {took: 5501 * time.Millisecond, wait: wait, slowest: time.Second, hasReplies: true,
			wantBreach: true},
		"an outage":                  {took: 9 * time.Second, wait: wait},
		"a protocol without a wait":  {took: 9 * time.Second, hasReplies: true},
		"disrupted when it was sent": {took: 9 * time.Second, wait: wait, hasReplies: true, disruptedUntil: sent},
	} {
		s := newScene(t, plan.Workload{Consumers: 1})
		d := s.shard.workers[0].conns[0]
		s.shard.times.Wait, s.shard.longestService = test.wait, test.slowest
		d.command = command{op: measure.Fetch, sent: sent}
		if test.hasReplies {
			otherReplies(s.shard, sent, time.Minute)
		}
		s.shard.shared.Disrupt(test.disruptedUntil)
		d.bookOverdue(sent + test.took)
		assert.Equal(t, test.wantBreach, len(s.shard.Breaches()) == 1, name)
	}
}

// The end of a worker's connection counts only if the worker gave no cause, and others were served on.
func TestClosedWorker(t *testing.T) {
	t.Parallel()
	const at = time.Minute
	for name, test := range map[string]struct {
		change  func(d *workerConn)
		isAlone bool // no other connection was served afterwards
		isShut  bool // none that was opened afterwards was
		want    bool
	}{
		"without a cause":             {change: func(*workerConn) {}, want: true},
		"an outage: others too":       {change: func(*workerConn) {}, isAlone: true},
		"nothing new is served":       {change: func(*workerConn) {}, isShut: true},
		"never served":                {change: func(d *workerConn) { d.repliedAt = 0 }},
		"after a refused command":     {change: func(d *workerConn) { d.failures = 1 }},
		"told to be quiet":            {change: func(d *workerConn) { d.worker.state = wire.Working + 1 }},
		"its heartbeat is 45 s old":   {change: func(d *workerConn) { d.worker.latestBeat = at - 45*time.Second }, want: true},
		"its heartbeat is older":      {change: func(d *workerConn) { d.worker.latestBeat, d.openedAt = at-45*time.Second-1, 1 }},
		"the target was disrupted":    {change: func(d *workerConn) { d.shard.shared.Disrupt(at) }},
		"disrupted until just before": {change: func(d *workerConn) { d.shard.shared.Disrupt(at - 1) }, want: true},
	} {
		s := newScene(t, plan.Workload{Consumers: 3})
		d := s.shard.workers[0].conns[0]
		d.openedAt, d.repliedAt, d.worker.latestBeat = 1, at-time.Second, at-time.Second
		other := &s.shard.workers[1].conns[0].conn
		if other.openedAt, other.repliedAt = 1, at+1; test.isAlone {
			other.repliedAt = at
		}
		if newer := &s.shard.workers[2].conns[0].conn; !test.isShut {
			newer.openedAt, newer.repliedAt = at+1, at+2
		}
		test.change(d)
		d.noteServerClose(at)
		assert.Equal(t, test.want, s.shard.closingBreach().Count == 1, name)
	}
}
