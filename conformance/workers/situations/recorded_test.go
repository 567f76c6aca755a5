package situations

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/workers"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// ended is a process of a recorded conversation: nothing comes from it any more.
type ended struct {
	code    int
	printed []string
}

func (p ended) Signal(string)         {}
func (p ended) Over() <-chan struct{} { return nil }
func (p ended) Code() int             { return p.code }
func (p ended) How() string           { return fmt.Sprintf("exit status %d", p.code) }
func (p ended) Output() []string      { return nil }
func (p ended) Lines() []string       { return p.printed }
func (p ended) Kill()                 {}

// recorded returns a trial whose one process has had a conversation, a line for each event:
//
//	+15s               time passes
//	1 open             the process opens connection 1
//	1 worker w1        it opens connection 1 and greets as a worker; "1 producer" without a wid
//	1 C: INFO          it sends a line
//	1 part INF         it sends a part of one
//	1 S: +OK           the server replies; "$ text" becomes a bulk string
//	1 closed client    by the client, or by the server
//	exited 0           the process ends
func recorded(t *testing.T, s *situation, conversation string) (*trial, *program) {
	t.Helper()
	h := &Harness{Launcher: InProcess(nil), observed: Observed{First: "HELLO", Works: true, Idles: true}}
	h.setUp()
	tr := newTrial(t.Context(), h, s, conformance.Setup{})
	p := &program{Process: ended{}, number: 1, input: newInput()}
	at := time.Duration(0)
	for line := range strings.Lines(conversation) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		at += time.Millisecond
		if d, is := strings.CutPrefix(line, "+"); is {
			passed, err := time.ParseDuration(d)
			require.NoError(t, err, line)
			at += passed
			continue
		}
		replayLine(t, tr.builder, at, line)
		if code, is := strings.CutPrefix(line, "exited "); is {
			n, err := strconv.Atoi(code)
			require.NoError(t, err)
			p.Process = ended{code: n}
		}
	}
	tr.recording.start = time.Now().Add(-at)
	return tr, p
}

func replayLine(t *testing.T, b *workers.Builder, at time.Duration, line string) {
	t.Helper()
	who, what, _ := strings.Cut(line, " ")
	conn, err := strconv.Atoi(who)
	if err != nil {
		code, err := strconv.Atoi(what)
		require.NoError(t, err, line)
		b.Process(at, 1, workers.Event{Kind: workers.Exited, Code: code})
		return
	}
	verb, rest, _ := strings.Cut(what, " ")
	switch verb {
	case "open", "worker", "producer":
		b.Open(at, conn, 1)
		if verb == "open" {
			return
		}
		hello := `HELLO {"v":2}`
		if verb == "worker" {
			hello = fmt.Sprintf(`HELLO {"hostname":"h","wid":%q,"pid":1,"labels":[],"v":2}`, rest)
		}
		b.Server(at, conn, []byte("+HI {\"v\":2}\r\n"))
		b.Client(at, conn, []byte(hello+"\r\n"))
		b.Server(at, conn, []byte("+OK\r\n"))
	case "C:":
		b.Client(at, conn, []byte(rest+"\r\n"))
	case "part":
		b.Client(at, conn, []byte(rest))
	case "S:":
		if bulk, is := strings.CutPrefix(rest, "$ "); is {
			rest = fmt.Sprintf("$%d\r\n%s", len(bulk), bulk)
		}
		b.Server(at, conn, []byte(rest+"\r\n"))
	case "closed":
		by := workers.Client
		if rest == "server" {
			by = workers.Server
		}
		b.Close(at, conn, by, false)
	default:
		require.Fail(t, "unknown line of a conversation", line)
	}
}

// replayed runs a judgment on a recorded conversation, in virtual time.
func replayed(t *testing.T, s *situation, conversation string, judge func(*testing.T, *trial, *program)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		tr, p := recorded(t, s, conversation)
		defer tr.end()
		judge(t, tr, p)
	})
}

// judgment is a row of a table: a conversation, and what a situation makes of it.
type judgment struct {
	name         string
	conversation string
	judge        func(*trial, *program)
	want         []string // "CLAUSE held", "CLAUSE broken" or "CLAUSE open", in order
	stop         string   // what the reason contains why the play cannot go on
}

func testJudgments(t *testing.T, rows []judgment) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := &situation{id: "x"}
			s.play = func(*trial) {}
			replayed(t, s, row.conversation, func(t *testing.T, tr *trial, p *program) {
				t.Helper()
				s.play = func(tr *trial) { row.judge(tr, p) }
				tr.play()
				assert.Equal(t, row.want, outcomes(tr.decisions))
				if row.stop == "" {
					assert.Empty(t, tr.stop)
				} else {
					assert.Contains(t, tr.stop, row.stop)
				}
			})
		})
	}
}

// outcomes returns decisions as "CLAUSE held", "CLAUSE broken" or "CLAUSE open".
func outcomes(decisions []conformance.Decision) (all []string) {
	words := map[play.Outcome]string{play.Matched: "held", play.Mismatched: "broken", play.Unsure: "open"}
	for _, d := range decisions {
		all = append(all, strings.TrimPrefix(d.Clause, "FWP-")+" "+words[d.Outcome])
	}
	return all
}

// jobLine is a delivery of a job of type fwp.ok.
func jobLine(conn int, jid string) string {
	return fmt.Sprintf("\n%d C: FETCH\n%d S: $ {\"jid\":%q,\"jobtype\":\"fwp.ok\",\"args\":[]}", conn, conn, jid)
}

// ackLine is an accepted ACK of connection 1.
func ackLine(jid string) string {
	return fmt.Sprintf("\n1 C: ACK {\"jid\":%q}\n1 S: +OK", jid)
}

func TestRecordedConversationIsIndexed(t *testing.T) {
	t.Parallel()
	conversation := "1 worker w1" + jobLine(1, "a") + ackLine("a") + jobLine(1, "b") + "\n+2s" + jobLine(1, "a") +
		"\nexited 0"
	replayed(t, &situation{}, conversation, func(t *testing.T, tr *trial, p *program) {
		t.Helper()
		assert.Equal(t, "ACK", tr.reportOf("a").Verb())
		assert.Nil(t, tr.reportOf("b"))
		assert.Less(t, tr.deliveryOf("a").At, time.Second, "the first one")
		assert.Equal(t, []string{"a", "b"}, tr.delivered([]string{"a", "b", "c"}))
		assert.True(t, tr.exited(p))
		assert.Equal(t, 3, tr.count(delivery))
		assert.Equal(t, []string{"default"}, tr.queuesOf(p))
		assert.Equal(t, 1, tr.count(after(2*time.Second, delivery)))
	})
}

// What comes first behind a stall of this machine is judged with the lag, which nothing else has noticed yet.
func TestLagIsKnownBeforeTheFirstEventBehindIt(t *testing.T) {
	t.Parallel()
	for late, want := range map[time.Duration]workers.State{0: workers.Broke, 70 * time.Second: workers.Held} {
		r := newRecording(workers.Config{}, new(memory), nil)
		r.late = func(time.Time) time.Duration { return late }
		replayLine(t, r.builder, 0, "1 worker w1")
		replayLine(t, r.builder, 2*time.Minute, `1 C: BEAT {"wid":"w1"}`)
		results := r.rules.Results()
		i := slices.IndexFunc(results, func(r workers.Result) bool { return r.Rule.Breach == workers.BeatMissing })
		assert.Equal(t, want, results[i].State(), "late by %v", late)
	}
}

// A conversation is kept up to a limit: its beginning and its end.
func TestConversationIsBounded(t *testing.T) {
	t.Parallel()
	r := newRecording(workers.Config{}, new(memory), nil)
	for i := range 2 * mostLines {
		r.remark("line %d", i)
	}
	assert.LessOrEqual(t, len(r.lines), mostLines)
	assert.Equal(t, "line 0", r.lines[0].Text)
	assert.Equal(t, fmt.Sprintf("line %d", 2*mostLines-1), r.lines[len(r.lines)-1].Text)
	assert.True(t, slices.ContainsFunc(r.lines, func(l play.Line) bool { return l.Text == "line 100" }))
}

// One connection more than is served is closed, and that is noted once.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	r := newRecording(workers.Config{}, new(memory), nil)
	assert.False(t, r.isFull())
	r.open = mostOpen
	assert.True(t, r.isFull())
	assert.True(t, r.isFull())
	assert.Len(t, r.lines, 1)
}
