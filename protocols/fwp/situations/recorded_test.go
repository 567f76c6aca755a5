package situations

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/transcript"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// endedProcess is a process of a recorded conversation: nothing comes from it any more.
type endedProcess struct {
	code    int
	printed []string
}

func (p endedProcess) Signal(string)         {}
func (p endedProcess) Done() <-chan struct{} { return nil }
func (p endedProcess) Code() int             { return p.code }
func (p endedProcess) ExitStatus() string    { return fmt.Sprintf("exit status %d", p.code) }
func (p endedProcess) Output() []string      { return nil }
func (p endedProcess) Kill()                 {}

// Lines returns what it printed: when all was over, or so long before as stands behind an @.
func (p endedProcess) Lines() (all []PrintedLine) {
	for _, line := range p.printed {
		text, at, _ := strings.Cut(line, "@")
		ago, _ := time.ParseDuration(at)
		all = append(all, PrintedLine{text, time.Now().Add(-ago)})
	}
	return all
}

// newRecordedTrial returns a trial whose one process has had a conversation, in the notation of package transcript. In
// "S: $text" a text becomes a bulk string. Of its own a conversation has
//
//	1 open             the process opens connection 1
//	1 worker w1        it opens connection 1 and greets as a worker; "1 producer" without a wid
//	exited 0           the process ends
func newRecordedTrial(t *testing.T, s *situation, conversation string) (*trial, *program) {
	t.Helper()
	h := &Harness{Launcher: InProcess(nil), observation: Observation{FirstVerb: "HELLO", Works: true, Idles: true}}
	h.setUp()
	tr := newTrial(t.Context(), h, s, conformance.Setup{})
	p := &program{Process: endedProcess{}, number: 1, input: newInput()}
	events, err := transcript.Parse(conversation + "\nover")
	require.NoError(t, err)
	last := len(events) - 1
	for i, e := range events[:last] {
		at := e.At + time.Duration(i+1)*time.Millisecond
		if code, ok := strings.CutPrefix(string(e.Bytes), "exited "); ok && e.Conn == "" {
			n, err := strconv.Atoi(code)
			require.NoError(t, err)
			p.Process = endedProcess{code: n}
			tr.builder.Process(at, 1, clientrules.Event{Kind: clientrules.ProcessExit, Code: n})
			continue
		}
		replayEvent(t, tr.builder, at, e)
	}
	tr.recording.start = time.Now().Add(-events[last].At - time.Duration(last)*time.Millisecond)
	return tr, p
}

var bulk = regexp.MustCompile(`^\$([^-0-9].*)?\r\n$`)

func replayEvent(t *testing.T, b *clientrules.Builder, at time.Duration, e transcript.Event) {
	t.Helper()
	conn, err := strconv.Atoi(strings.TrimPrefix(e.Conn, "c")) // as reports name it
	require.NoError(t, err, e)
	switch e.Kind {
	case transcript.Client:
		b.Client(at, conn, e.Bytes)
	case transcript.Server:
		if bulk.Match(e.Bytes) {
			e.Bytes = fwp.AppendBulk(nil, e.Bytes[1:len(e.Bytes)-2])
		}
		b.Server(at, conn, e.Bytes)
	case transcript.ClientEnd:
		b.Close(at, conn, clientrules.Client, false)
	case transcript.ServerEnd:
		b.Close(at, conn, clientrules.Server, false)
	default:
		role, wid, _ := strings.Cut(string(e.Bytes), " ")
		require.Contains(t, []string{"open", "worker", "producer"}, role)
		b.Open(at, conn, 1)
		if role == "open" {
			return
		}
		hello := `HELLO {"v":2}`
		if role == "worker" {
			hello = fmt.Sprintf(`HELLO {"hostname":"h","wid":%q,"pid":1,"labels":[],"v":2}`, wid)
		}
		b.Server(at, conn, []byte("+HI {\"v\":2}\r\n"))
		b.Client(at, conn, []byte(hello+"\r\n"))
		b.Server(at, conn, []byte("+OK\r\n"))
	}
}

// replayTrial runs a judgment on a recorded conversation, in virtual time.
func replayTrial(t *testing.T, s *situation, conversation string, judge func(*testing.T, *trial, *program)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		tr, p := newRecordedTrial(t, s, conversation)
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
			replayTrial(t, s, row.conversation, func(t *testing.T, tr *trial, p *program) {
				t.Helper()
				s.play = func(tr *trial) { row.judge(tr, p) }
				tr.play()
				assert.Equal(t, row.want, outcomes(tr.decisions))
				if row.stop == "" {
					assert.Empty(t, tr.stopReason)
				} else {
					assert.Contains(t, tr.stopReason, row.stop)
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
	return fmt.Sprintf("\n%d C: FETCH\n%d S: ${\"jid\":%q,\"jobtype\":\"fwp.ok\",\"args\":[]}", conn, conn, jid)
}

// ackLine is an accepted ACK of connection 1.
func ackLine(jid string) string {
	return fmt.Sprintf("\n1 C: ACK {\"jid\":%q}\n1 S: +OK", jid)
}

func TestRecordedConversationIsIndexed(t *testing.T) {
	t.Parallel()
	conversation := "1 worker w1" + jobLine(1, "a") + ackLine("a") + jobLine(1, "b") + "\n+2s" + jobLine(1, "a") +
		"\nexited 0"
	replayTrial(t, &situation{}, conversation, func(t *testing.T, tr *trial, p *program) {
		t.Helper()
		assert.Equal(t, "ACK", tr.reportOf("a").Verb())
		assert.Nil(t, tr.reportOf("b"))
		assert.Less(t, tr.deliveryOf("a").At, time.Second, "the first one")
		assert.Equal(t, []string{"a", "b"}, tr.filterDelivered([]string{"a", "b", "c"}))
		assert.True(t, tr.hasExited(p))
		assert.Equal(t, 3, tr.count(delivery))
		assert.Equal(t, []string{"default"}, tr.queuesOf(p))
		assert.Equal(t, 1, tr.count(eventsAfter(2*time.Second, delivery)))
	})
}

// What comes first behind a stall of this machine is judged with the lag, which nothing else has noticed yet.
func TestLagIsKnownBeforeTheFirstEventBehindIt(t *testing.T) {
	t.Parallel()
	for lag, want := range map[time.Duration]clientrules.State{0: clientrules.StateBroken, 70 * time.Second: clientrules.StateHeld} {
		r := newRecording(clientrules.Config{}, new(memory), nil)
		r.lagSince = func(time.Time) time.Duration { return lag }
		events, err := transcript.Parse("1 worker w1\n+2m\n1 C: BEAT {\"wid\":\"w1\"}")
		require.NoError(t, err)
		for _, e := range events {
			replayEvent(t, r.builder, e.At, e)
		}
		results := r.rules.Results()
		i := slices.IndexFunc(results, func(r clientrules.Result) bool { return r.Rule.Breach == clientrules.BeatMissing })
		assert.Equal(t, want, results[i].State(), "late by %v", lag)
	}
}

// A conversation is kept up to a limit: its beginning and its end.
func TestConversationIsBounded(t *testing.T) {
	t.Parallel()
	r := newRecording(clientrules.Config{}, new(memory), nil)
	for i := range 2 * maxLines {
		r.remark("line %d", i)
	}
	assert.LessOrEqual(t, len(r.lines), maxLines)
	assert.Equal(t, "line 0", r.lines[0].Text)
	assert.Equal(t, fmt.Sprintf("line %d", 2*maxLines-1), r.lines[len(r.lines)-1].Text)
	assert.True(t, slices.ContainsFunc(r.lines, func(l reports.Line) bool { return l.Text == "line 100" }))
}

// One connection more than is served is closed, and that is noted once.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	r := newRecording(clientrules.Config{}, new(memory), nil)
	assert.False(t, r.isFull())
	r.openConns = maxOpenConns
	assert.True(t, r.isFull())
	assert.True(t, r.isFull())
	assert.Len(t, r.lines, 1)
}

// Where memory gets scarce, a report of any length is still one.
func TestLongTextsAreBounded(t *testing.T) {
	t.Parallel()
	m := new(memory)
	m.events.Store(maxEventBytes / 2)
	r := newRecording(clientrules.Config{}, m, nil)
	text := strings.Repeat("x", 2*maxTextBytes)
	events, err := transcript.Parse("1 worker w1" + jobLine(1, "a") +
		fmt.Sprintf("\n1 C: FAIL {\"jid\":\"a\",\"message\":\"no\",\"backtrace\":[%q]}\n1 S: +OK", text))
	require.NoError(t, err)
	for _, e := range events {
		replayEvent(t, r.builder, e.At, e)
	}
	require.NotNil(t, r.reportOf("a"))
	assert.Equal(t, "no", r.reportOf("a").Text("message"))
	assert.Less(t, len(r.reportOf("a").Raw), len(text))
}
