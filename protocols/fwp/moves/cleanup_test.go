package moves

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/scenarios"
)

// player plays steps against a server that answers lines from a list: the first reply
// whose line it is, and OK if there is none.
type player struct {
	law     *fwpLaw
	replies [][2]string // a line and its reply, used once each
	sent    []string    // by all connections, but for HELLO
}

func (p *player) play(s explore.Step) {
	now := time.Now()
	conn := s.Conn()
	switch do := s.Do.(type) {
	case *scenarios.Connect:
		p.law.Open(conn, now)
		p.law.Judge(conn, message(`+HI {"v":2}`), now)
		p.line(conn, p.law.Introduce(conn, do))
	case *scenarios.Send:
		if s.Ends() {
			_ = p.law.Close(conn, false, now) // what clients end themselves is no violation
			break
		}
		p.line(conn, s.Text())
	}
}

func (p *player) line(conn int, text string) {
	line := strings.ReplaceAll(text, "$", p.law.NamePrefix+"-")
	if !strings.HasPrefix(line, fwp.HELLO) {
		p.sent = append(p.sent, text)
	}
	p.law.Sent(conn, []byte(line+"\r\n"), false, time.Now())
	for i, r := range p.replies {
		if r[0] == text {
			p.replies = append(p.replies[:i:i], p.replies[i+1:]...)
			if r[1] == "<close>" {
				_ = p.law.Close(conn, true, time.Now()) // what it finds is no matter of the clean-up
				return
			}
			p.law.Judge(conn, message(strings.ReplaceAll(r[1], "~", p.law.NamePrefix+"-")), time.Now())
			return
		}
	}
	p.law.Judge(conn, message("+OK"), time.Now())
}

func message(text string) session.Message {
	if text == "$-1" {
		return session.Message{Kind: byte(fwp.NullBulk)}
	}
	return session.Message{Kind: text[0], Text: []byte(text[1:])}
}

// TestCleanup: what a play has left is acknowledged, and a job of another client that is
// fetched on the way is given back with a FAIL, never acknowledged.
func TestCleanup(t *testing.T) {
	t.Parallel()
	const back = `FAIL {"jid":"x","errtype":"fwpcheck","message":"fetched by a check, given back","backtrace":[]}`
	push := func(n string) string {
		return `PUSH {"jid":"$jid` + n + `","jobtype":"t","args":[],"queue":"$queue` + n + `"}`
	}
	tests := map[string]struct {
		alone     bool
		effort    explore.Cleaning
		lines     []string // sent before
		unbounded string   // bytes
		replies   [][2]string
		sent      string // by the clean-up
	}{
		"nothing": {},
		"held by its worker": {
			lines:   []string{push("1"), "FETCH $queue1"},
			replies: [][2]string{{"FETCH $queue1", `${"jid":"~jid1"}`}},
			sent:    `ACK {"jid":"$jid1"}`,
		},
		"enqueued": {
			lines:   []string{push("1")},
			replies: [][2]string{{"FETCH $queue1", `${"jid":"~jid1"}`}},
			sent:    "FETCH $queue1\n" + `ACK {"jid":"$jid1"}`,
		},
		"enqueued, but does not come": {
			lines:   []string{push("1")},
			replies: [][2]string{{"FETCH $queue1", "$-1"}},
			sent:    "FETCH $queue1",
		},
		"the connection ends": {
			lines:   []string{push("1"), push("2")},
			replies: [][2]string{{"FETCH $queue1 $queue2", "<close>"}},
			sent:    "FETCH $queue1 $queue2",
		},
		"a job of another client": {
			lines:   []string{push("1")},
			replies: [][2]string{{"FETCH $queue1", `${"jid":"x"}`}},
			sent:    "FETCH $queue1\n" + back,
		},
		"a job of another client, fetched before": {
			lines:   []string{push("1"), "FETCH $queue1"},
			replies: [][2]string{{"FETCH $queue1", `${"jid":"x"}`}, {"FETCH $queue1", `${"jid":"~jid1"}`}},
			sent:    "FETCH $queue1\n" + `ACK {"jid":"$jid1"}`,
		},
		"in default": {
			lines: []string{`PUSH {"jid":"$jid1","jobtype":"t","args":[]}`},
		},
		"in default, alone": {
			alone:   true,
			lines:   []string{`PUSH {"jid":"$jid1","jobtype":"t","args":[]}`},
			replies: [][2]string{{"FETCH default", `${"jid":"~jid1"}`}},
			sent:    "FETCH default\n" + `ACK {"jid":"$jid1"}`,
		},
		"perhaps pushed, quickly": {
			lines: []string{push("1")}, replies: [][2]string{{push("1"), ":1"}},
		},
		"perhaps pushed": {
			effort:  explore.FullCleaning,
			lines:   []string{push("1")},
			replies: [][2]string{{push("1"), ":1"}, {"FETCH $queue1 $queue10000001", `${"jid":"~jid10000001"}`}},
			sent: strings.TrimSuffix(push("10000001"), "}") + `,"retry":0}` + "\n" +
				"FETCH $queue1 $queue10000001\n" + `ACK {"jid":"$jid10000001"}`,
		},
		"wild": {
			unbounded: push("1") + "\r\n" + push("2"),
			replies: [][2]string{
				{"FETCH $queue1 $queue2 $queue10000001", `${"jid":"~jid2"}`},
				{"FETCH $queue1 $queue2 $queue10000001", `${"jid":"x"}`},
				{"FETCH $queue1 $queue2 $queue10000001", `${"jid":"~jid10000001"}`},
			},
			sent: `ACK {"jid":"$jid1"}` + "\n" + `ACK {"jid":"$jid2"}` + "\n" + strings.TrimSuffix(push("10000001"), "}") +
				`,"retry":0}` + "\n" +
				"FETCH $queue1 $queue2 $queue10000001\n" + `ACK {"jid":"$jid2"}` + "\n" +
				"FETCH $queue1 $queue2 $queue10000001\n" + back + "\n" +
				"FETCH $queue1 $queue2 $queue10000001\n" + `ACK {"jid":"$jid10000001"}`,
		},
		"wild, in a queue of others": {
			unbounded: `PUSH {"jid":"x","jobtype":"t","args":[],"queue":"theirs"}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			law := newLaw(law.Terms{NamePrefix: "fwp0", Alone: test.alone, Patience: time.Minute})
			p := &player{law: law, replies: test.replies}
			p.play(consumer(2, 1))
			for _, line := range test.lines {
				p.play(build().Line(2, "%s", line))
			}
			if test.unbounded != "" {
				all := strings.ReplaceAll(test.unbounded, "$", "fwp0-") + "\r\n"
				p.law.Sent(2, []byte(all), true, time.Now())
			}
			p.sent = nil
			for s := range p.law.Cleanup(test.effort) {
				p.play(s)
			}
			assert.Equal(t, test.sent, strings.Join(p.sent, "\n"))
		})
	}
}
