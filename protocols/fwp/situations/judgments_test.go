package situations

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
)

// TestJobsAreReported judges what becomes of jobs. (FETCH, ACK, FAIL)
func TestJobsAreReported(t *testing.T) {
	t.Parallel()
	judge := func(jids ...string) func(*trial, *program) {
		return func(tr *trial, p *program) { tr.judgeJobs(p, jids) }
	}
	testJudgments(t, []judgment{
		{name: "all", conversation: "1 worker w" + jobLine(1, "a") + ackLine("a"), judge: judge("a"),
			want: []string{"FETCH-09 held"}},
		{name: "the second is missing", conversation: "1 worker w" + jobLine(1, "a") + ackLine("a") + jobLine(1, "b"),
			judge: judge("a", "b"), want: []string{"FETCH-09 broken"}},
		{name: "the second was not fetched", conversation: "1 worker w" + jobLine(1, "a") + ackLine("a") + "\n1 C: FETCH",
			judge: judge("a", "b"), want: []string{"FETCH-09 held", "FETCH-09 open"}},
		{name: "it has ended, and could not fetch the second", judge: judge("a", "b"),
			conversation: "1 worker w" + jobLine(1, "a") + ackLine("a") + "\n1 C: END\n1 S: <close>\nexited 0",
			want:         []string{"FETCH-09 held", "FETCH-09 open"}},
		{name: "none was fetched", conversation: "1 worker w\n1 C: FETCH other", judge: judge("a"),
			stop: "it fetches from other"},
	})
}

// TestJobsBehindAJob judges the jobs that a worker is given behind one that was hard for it. (FETCH)
func TestJobsBehindAJob(t *testing.T) {
	t.Parallel()
	judge := func(tr *trial, p *program) { tr.judgeSuccessAfter(p, "a job", []string{"a", "b"}) }
	testJudgments(t, []judgment{
		{name: "both succeed", judge: judge, want: []string{"FETCH-09 held", "FETCH-11 held"},
			conversation: "1 worker w" + jobLine(1, "a") + ackLine("a") + jobLine(1, "b") + ackLine("b")},
		{name: "one is fetched, and not reported", judge: judge, want: []string{"FETCH-09 broken", "FETCH-11 held"},
			conversation: "1 worker w" + jobLine(1, "a") + ackLine("a") + jobLine(1, "b")},
		{name: "one is not fetched", judge: judge, want: []string{"FETCH-11 broken"},
			conversation: "1 worker w" + jobLine(1, "a") + ackLine("a")},
		{name: "none is reported", judge: judge, want: []string{"FETCH-11 broken"},
			conversation: "1 worker w" + jobLine(1, "a") + jobLine(1, "b")},
	})
}

// TestMissingJobsAreShown: the delivery of the first job without a report shows what is wrong. Where jobs were not
// fetched, it is said whether the worker has ended.
func TestMissingJobsAreShown(t *testing.T) {
	t.Parallel()
	conversation := "1 worker w" + jobLine(1, "a") + ackLine("a") + "\n2 worker w\n+1s" + jobLine(2, "b")
	replayTrial(t, &situation{}, conversation, func(t *testing.T, tr *trial, p *program) {
		t.Helper()
		tr.judgeJobs(p, []string{"a", "b"})
		d := tr.decisions[0]
		assert.Equal(t, "c2", d.Conn)
		assert.Equal(t, tr.deliveryOf("b").At, d.At)
		assert.Contains(t, d.Got, "no report on b ")
		assert.Equal(t, "ACK or FAIL for each of 2 jobs", d.Expected)
	})
	conversation = "1 worker w" + jobLine(1, "a") + ackLine("a") + "\n1 C: END\n1 S: <close>\nexited 0"
	replayTrial(t, &situation{}, conversation, func(t *testing.T, tr *trial, p *program) {
		t.Helper()
		tr.judgeJobs(p, []string{"a", "b"})
		assert.Equal(t, "1 of 2 jobs were not fetched within 30s; the worker ended (exit status 0)", tr.decisions[1].Cause)
	})
}

// TestJobsAtATime judges the concurrency of two processes. (FETCH)
func TestJobsAtATime(t *testing.T) {
	t.Parallel()
	conversation := func(first, second int) string {
		var b strings.Builder
		b.WriteString("1 worker w")
		for i := range first {
			b.WriteString(jobLine(1, string(rune('a'+i))))
		}
		b.WriteString("\n+5s")
		for i := range first {
			b.WriteString(ackLine(string(rune('a' + i))))
		}
		for i := range second {
			b.WriteString(jobLine(1, string(rune('k'+i))))
		}
		return b.String()
	}
	replayTrial(t, &situation{}, conversation(3, 2), func(t *testing.T, tr *trial, p *program) {
		t.Helper()
		assert.Equal(t, 3, tr.maxHeld(p, 0))
		assert.Equal(t, 2, tr.maxHeld(p, 5*time.Second), "of those that it got from a time on")
		assert.Zero(t, tr.maxHeld(&program{number: 2}, 0), "another process")
	})
	judgeSame := func(tr *trial, p *program) { tr.judgeConcurrency(p, p) }
	judgeOther := func(tr *trial, p *program) { tr.judgeConcurrency(&program{number: 2}, p) }
	testJudgments(t, []judgment{
		{name: "both run none", conversation: "1 worker w", judge: judgeSame, stop: "the worker fetched none of the jobs"},
		{name: "both run four", conversation: conversation(4, 0), judge: judgeSame, want: []string{"FETCH-11 held"}},
		{name: "both run one", conversation: conversation(1, 0), judge: judgeSame, want: []string{"FETCH-11 broken"}},
		{name: "the first runs none", conversation: conversation(4, 0), judge: judgeOther,
			want: []string{"WRK-10 held", "FETCH-11 broken"}},
		{name: "the first runs four, and the second none", conversation: conversation(4, 0),
			judge: func(tr *trial, p *program) { tr.judgeConcurrency(p, &program{number: 2}) },
			want:  []string{"WRK-10 broken", "FETCH-11 broken"}},
		{name: "the second runs five", conversation: conversation(5, 0), judge: judgeOther,
			want: []string{"WRK-10 broken", "FETCH-11 broken"}},
	})
}

// TestAWorkerThatEndsOwesNoBeat: where the situation is about BEAT, an end before the next one was due has kept it.
func TestAWorkerThatEndsOwesNoBeat(t *testing.T) {
	t.Parallel()
	for end, want := range map[string]bool{"+59s": true, "+61s": false} {
		conversation := "1 worker w\n1 C: BEAT {\"wid\":\"w\"}\n1 S: +{\"state\":\"terminate\"}\n" + end + "\nexited 0"
		replayTrial(t, &situation{clauses: "BEAT-16"}, conversation, func(t *testing.T, tr *trial, p *program) {
			t.Helper()
			tr.judgeTermination(p)
			assert.Equal(t, want, slices.Contains(outcomes(tr.decisions), "BEAT-16 held"), end)
		})
	}
}

// TestAWorkerComesBack judges a worker that has lost its connections.
func TestAWorkerComesBack(t *testing.T) {
	t.Parallel()
	judge := func(tr *trial, p *program) { tr.judgeLossRecovery(p, "a") }
	testJudgments(t, []judgment{
		{name: "it stays and works no more", conversation: "1 worker w\n1 S: <close>", judge: judge,
			want: []string{"FETCH-11 broken"}},
		{name: "it has ended", conversation: "1 worker w\n1 S: <close>\nexited 1", judge: judge,
			want: []string{"FETCH-11 broken"}},
		{name: "it works no jobs anyway", conversation: "1 worker w", judge: func(tr *trial, p *program) {
			tr.harness.observation.Works = false
			tr.judgeLossRecovery(p)
		}, stop: "the program failed the first test: to acknowledge three jobs"},
	})
}

// TestSteadyBeats judges the pauses between BEATs, whatever connections they are sent on.
func TestSteadyBeats(t *testing.T) {
	t.Parallel()
	beat := func(conn, pause string) string {
		return "\n+" + pause + "\n" + conn + " C: BEAT {\"wid\":\"w\"}\n" + conn + " S: +OK"
	}
	testJudgments(t, []judgment{
		{name: "every 59 s", conversation: "1 worker w" + beat("1", "59s") + beat("1", "59s"),
			judge: (*trial).judgeBeats, want: []string{"BEAT-06 held"}},
		{name: "on another connection", conversation: "1 worker w" + beat("1", "50s") + "\n2 worker w" + beat("2", "50s"),
			judge: (*trial).judgeBeats, want: []string{"BEAT-06 held"}},
		{name: "one after 61 s", conversation: "1 worker w" + beat("1", "61s") + beat("1", "20s"),
			judge: (*trial).judgeBeats},
		{name: "none for 61 s at the end", conversation: "1 worker w" + beat("1", "20s") + "\n+61s",
			judge: (*trial).judgeBeats},
		{name: "it has ended", conversation: "1 worker w" + beat("1", "20s") + "\nexited 0", judge: (*trial).judgeBeats},
	})
}

// TestALateReplyWasRead tells whether a client has read a reply that came when it had to leave.
func TestALateReplyWasRead(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, rest string
		want       bool
	}{
		{"the connection is open", "", true},
		{"it sends another line", "\n1 C: END\n1 C: <close>", true},
		{"it closes at the same time", "\n+500ms\n1 C: <close>", false},
		{"it closes later", "\n+1500ms\n1 C: <close>", true},
		{"another connection has a line", "\n2 worker w\n1 C: <close>", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			replayTrial(t, &situation{}, "1 worker w"+jobLine(1, "a")+row.rest, func(t *testing.T, tr *trial, _ *program) {
				t.Helper()
				assert.Equal(t, row.want, tr.wasRead(tr.deliveryOf("a")))
			})
		})
	}
}

// TestWorkersBeside: what another worker of the process does is not what the one does that was told something.
func TestWorkersBeside(t *testing.T) {
	t.Parallel()
	conversation := "1 worker told\n2 worker beside\n1 C: BEAT {\"wid\":\"told\"}\n1 S: +{\"state\":\"quiet\"}\n+10s\n" +
		"3 worker new\n1 C: FETCH\n2 C: FETCH\n3 C: FETCH"
	replayTrial(t, &situation{}, conversation, func(t *testing.T, tr *trial, _ *program) {
		t.Helper()
		order := tr.first(reply(fwp.BEAT))
		conns := func(m match) (all []int) {
			for _, e := range tr.all(m) {
				all = append(all, e.Conn)
			}
			return all
		}
		assert.Equal(t, []int{1, 3}, conns(tr.excludeOthers(order, 5*time.Second, line(fwp.FETCH))))
	})
}

// TestWhySilent says how far a program got that sent no command.
func TestWhySilent(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ conversation, want string }{
		{"", "it opened no connection"},
		{"1 open", "it opened a connection and sent no line"},
		{"1 open\n2 open", "it opened 2 connections and sent no line"},
		{"1 open\n1 C: GET / HTTP/1.1", "the first line that it sent is not a command of the protocol: C: GET / HTTP/1.1"},
	} {
		replayTrial(t, &situation{}, row.conversation, func(t *testing.T, tr *trial, p *program) {
			t.Helper()
			assert.Equal(t, "the command sent no HELLO within 30s: "+row.want, tr.silenceReason(p))
		})
	}
}

func TestBeginsWithVerb(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"HELLO {}\r\n": true, "hello{\"v\":2}\n": true, "  PUSH {}": true, "GET / HTTP/1.1\r\n": false, "\r\n": false,
		"HELLOO {}\r\n": false,
	} {
		assert.Equal(t, want, beginsWithVerb([]byte(line)), "%q", line)
	}
}

// TestMatches tells which events of a conversation match.
func TestMatches(t *testing.T) {
	t.Parallel()
	conversation := "1 worker w\n1 C: FETCH\n1 S: -ERR no" + jobLine(1, "a") + ackLine("a") + "\n2 producer\n" +
		"2 C: PUSH {\"jid\":\"j\"}\n2 S: -ERR no\n1 S: <close>\n2 C: <close>"
	counts := map[string]struct {
		m    match
		want int
	}{
		"opened": {eventsOfKind(clientrules.ConnOpen), 2}, "lines": {line(fwp.FETCH, fwp.ACK), 3}, "replies": {reply(fwp.FETCH), 2},
		"refusals": {refusal(fwp.FETCH), 1}, "jobs": {delivery, 1}, "closed by the server": {serverClose, 1},
		"a PUSH": {pushOf("j"), 1}, "no PUSH": {pushOf("a"), 0},
	}
	replayTrial(t, &situation{}, conversation, func(t *testing.T, tr *trial, p *program) {
		t.Helper()
		for name, c := range counts {
			assert.Equal(t, c.want, tr.count(c.m), name)
			assert.Equal(t, c.want, tr.count(p.events(c.m)), name)
			assert.Zero(t, tr.count((&program{number: 2}).events(c.m)), name)
		}
	})
}

// TestRemarks: what a user should know and no clause is about.
func TestRemarks(t *testing.T) {
	t.Parallel()
	hello := func(wid, host string) string {
		return fmt.Sprintf("1 open\n1 C: HELLO {\"hostname\":%q,\"wid\":%q,\"pid\":17,\"labels\":[],\"v\":2}", host, wid)
	}
	connects := func(n int) (lines string) {
		for i := range n {
			lines += fmt.Sprintf("%d open\n", i+1)
		}
		return strings.TrimSpace(lines)
	}
	for name, row := range map[string]struct{ conversation, want string }{
		"host and pid":       {hello("web-1:17", "web-1"), `made of its host name and its pid ("web-1:17")`},
		"pid and host":       {hello("17@web-1", "web-1"), "made of its host name and its pid"},
		"host, pid and more": {hello("web-1:17:9f3a", "web-1"), ""},
		"chance":             {hello("9f3a17", "web-1"), ""},
		"host alone":         {hello("web-1", "web-1"), ""},
		"a pid in the host":  {hello("web-17", "web-17"), ""},
		"no host":            {hello("17", ""), ""},
		"no HELLO":           {"1 open", ""},
		"connections":        {connects(stormConns), "it opened 100 connections in "},
		"fewer connections":  {connects(stormConns - 1), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			replayTrial(t, &situation{id: "x"}, row.conversation, func(t *testing.T, tr *trial, p *program) {
				t.Helper()
				tr.noteWID(p)
				tr.noteStorm(0)
				got := strings.Join(tr.harness.Observations(), "; ")
				assert.Contains(t, got, row.want)
				assert.Equal(t, row.want == "", got == "", got)
			})
		})
	}
}

// TestServerNames: a handshake without the name of the server is noted.
func TestServerNames(t *testing.T) {
	t.Parallel()
	certificate := httptest.NewUnstartedServer(nil)
	certificate.StartTLS()
	t.Cleanup(certificate.Close)
	for name, want := range map[string]int{"localhost": 0, "": 1} {
		h := &Harness{Launcher: InProcess(nil), Certificate: &certificate.TLS.Certificates[0]}
		h.setUp()
		tr := newTrial(t.Context(), h, &situation{setup: setup{usesTLS: true}}, conformance.Setup{})
		client, server := net.Pipe()
		secured := tr.secure()(server)
		go func() { _, _ = secured.Read(make([]byte, 1)) }()
		err := tls.Client(client, &tls.Config{ServerName: name, InsecureSkipVerify: true}).HandshakeContext(t.Context()) //nolint:gosec // it looks at no certificate
		assert.NoError(t, err)
		assert.Len(t, h.Observations(), want, "%q", name)
		_ = client.Close()
		tr.end()
	}
}
