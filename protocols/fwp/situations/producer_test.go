package situations

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
)

// setJobs has a process have been given jobs, of which the server has taken some, and have printed lines.
func setJobs(tr *trial, p *program, jobs []job, jids []string, printed ...string) {
	for _, j := range jobs {
		p.jobs = append(p.jobs, j.unit(usualQueues[0]))
	}
	for _, jid := range jids {
		tr.acceptedJIDs[jid] = []string{jid}
	}
	p.Process = endedProcess{p.Code(), printed}
}

// pushLine is an accepted PUSH of a job.
func pushLine(text string) string { return "\n1 C: PUSH " + text + "\n1 S: +OK" }

// TestJobsArePushedAsGiven judges a producer whose server has refused nothing. (Work units; PUSH)
func TestJobsArePushedAsGiven(t *testing.T) {
	t.Parallel()
	const a = `{"jid":"a","jobtype":"fwp.ok","args":[1],"queue":"fwp-high","at":"2100-01-02T03:04:05Z"}`
	judge := func(jids ...string) func(*trial, *program) {
		return func(tr *trial, p *program) {
			setJobs(tr, p, []job{{jid: "a", args: "[1]", members: `,"at":"2100-01-02T03:04:05Z","custom":null`}}, jids)
			tr.judgePushedJobs(p)
		}
	}
	conversation := func(old, with string) string {
		return "1 producer" + pushLine(strings.Replace(a, old, with, 1)) + "\nexited 0"
	}
	heldDecisions := []string{"RESP-08 held", "WU-19 held"}
	testJudgments(t, []judgment{
		{name: "as it was given", conversation: conversation("", ""), judge: judge("a"), want: heldDecisions},
		{name: "the same instant", conversation: conversation("03:04:05Z", "04:04:05+01:00"), judge: judge("a"), want: heldDecisions},
		{name: "the same number", conversation: conversation("[1]", "[1.0]"), judge: judge("a"), want: heldDecisions},
		{name: "another time", conversation: conversation("05Z", "06Z"), judge: judge("a"), want: append(heldDecisions, "WU-19 broken")},
		{name: "another queue", conversation: conversation("fwp-high", "x"), judge: judge("a"),
			want: append(heldDecisions, "WU-19 broken")},
		{name: "other arguments", conversation: conversation("[1]", `["1"]`), judge: judge("a"),
			want: append(heldDecisions, "WU-03 broken")},
		{name: "no queue", conversation: conversation(`,"queue":"fwp-high"`, ""), judge: judge("a"),
			want: append(heldDecisions, "WU-19 broken")},
		{name: "an exit code other", conversation: "1 producer" + pushLine(a) + "\nexited 3", judge: judge("a"),
			want: []string{"RESP-08 broken", "WU-19 held"}},
		{name: "not pushed, and nobody was told", conversation: "1 producer\nexited 0", judge: judge(),
			want: []string{"WU-19 broken"}},
		{name: "not pushed, and the caller was told", conversation: "1 producer\nexited 1", judge: judge(),
			want: []string{"WU-19 open"}},
		{name: "it stays", conversation: "1 producer" + pushLine(a), judge: judge("a"),
			stop: "the program did not end within 1m0s"},
	})
}

// TestAnEndWithoutAReply: an exit code is no word about what is sent after END.
func TestAnEndWithoutAReply(t *testing.T) {
	t.Parallel()
	judge := func(jids ...string) func(*trial, *program) {
		return func(tr *trial, p *program) {
			setJobs(tr, p, []job{{jid: "a", args: "[1]"}}, jids)
			tr.judgeUnansweredEnd(p)
		}
	}
	ended := "1 producer" + pushLine(`{"jid":"a","jobtype":"fwp.ok","args":[1],"queue":"fwp-high"}`) + "\n1 C: END\n1 S: <close>"
	testJudgments(t, []judgment{
		{name: "it ends", conversation: ended + "\nexited 0", judge: judge("a"),
			want: []string{"END-03 held", "RESP-08 held", "WU-19 held"}},
		{name: "it exits with 1", conversation: ended + "\nexited 1", judge: judge("a"),
			want: []string{"END-03 held", "RESP-08 broken", "WU-19 held"}},
		{name: "it exits with 1, and its job was not pushed", conversation: "1 producer\nexited 1", judge: judge(),
			want: []string{"END-03 held", "WU-19 open"}},
		{name: "it stays", conversation: ended, judge: judge("a"), want: []string{"END-03 broken"}},
	})
}

// TestAJobIsNotLost judges a producer that has lost a connection.
func TestAJobIsNotLost(t *testing.T) {
	t.Parallel()
	judge := func(jids ...string) func(*trial, *program) {
		return func(tr *trial, p *program) {
			setJobs(tr, p, []job{{jid: "a"}, {jid: "b"}}, jids)
			tr.judgeLoss(p)
		}
	}
	testJudgments(t, []judgment{
		{name: "both were taken", conversation: "1 producer\nexited 0", judge: judge("a", "b"), want: []string{"WU-19 held"}},
		{name: "one was not, and nobody was told", conversation: "1 producer\nexited 0", judge: judge("b"),
			want: []string{"WU-19 broken"}},
		{name: "one was not, and the caller was told", conversation: "1 producer\nexited 1", judge: judge("b"),
			want: []string{"WU-19 held"}},
	})
}

// TestTheCallerIsTold judges what the caller learns of each job. (Server Protocol Sender and Client Protocol Receiver)
func TestTheCallerIsTold(t *testing.T) {
	t.Parallel()
	const refused = "1 producer\n1 C: PUSH {\"jid\":\"a\"}\n1 S: +OK\n1 C: PUSH {\"jid\":\"b\"}\n1 S: -ERR no"
	judge := func(printed ...string) func(*trial, *program) {
		return func(tr *trial, p *program) {
			setJobs(tr, p, []job{{jid: "a"}, {jid: "b"}}, []string{"a"}, printed...)
			tr.judgeCallerNotice(p, map[string]bool{"b": true})
		}
	}
	testJudgments(t, []judgment{
		{name: "of each", conversation: refused + "\nexited 1", judge: judge("pushed a", "refused b"),
			want: []string{"RESP-09 held"}},
		{name: "of one", conversation: refused + "\nexited 1", judge: judge("refused b"), want: []string{"RESP-09 held"}},
		{name: "of neither", conversation: refused + "\nexited 1", judge: judge("some words"),
			want: []string{"RESP-09 held", "RESP-09 open"}},
		{name: "the refused one is printed as pushed", conversation: refused + "\nexited 1",
			judge: judge("pushed a", "pushed b"), want: []string{"RESP-09 held", "RESP-09 broken"}},
		{name: "the pushed one is printed as refused", conversation: refused + "\nexited 1",
			judge: judge("refused a", "refused b"), want: []string{"RESP-09 held", "RESP-09 broken"}},
		{name: "exit code 0", conversation: refused + "\nexited 0", judge: judge("pushed a", "refused b"),
			want: []string{"RESP-09 broken"}},
		{name: "nothing was refused", conversation: "1 producer" + pushLine(`{"jid":"a"}`) + "\nexited 1", judge: judge(),
			stop: "pushed none of the jobs that were to be refused"},
		{name: "one that was not refused was not pushed", conversation: refused + "\nexited 1",
			judge: func(tr *trial, p *program) {
				setJobs(tr, p, []job{{jid: "a"}, {jid: "b"}, {jid: "c"}}, []string{"a"}, "pushed a", "refused b")
				tr.judgeCallerNotice(p, map[string]bool{"b": true})
			}, want: []string{"RESP-09 held", "RESP-09 open"}},
	})
}

// TestWhatIsPrinted holds what a producer prints against the replies to its PUSHes.
func TestWhatIsPrinted(t *testing.T) {
	t.Parallel()
	judge := func(printed ...string) func(*trial, *program) {
		return func(tr *trial, p *program) {
			setJobs(tr, p, []job{{jid: "a"}}, nil, printed...)
			tr.judgePrinted(p)
		}
	}
	const push = "1 producer\n1 C: PUSH {\"jid\":\"a\"}\n"
	testJudgments(t, []judgment{
		{name: "pushed", conversation: push + "1 S: +OK\nexited 0", judge: judge("pushed a")},
		{name: "refused", conversation: push + "1 S: -ERR no\nexited 1", judge: judge("refused a")},
		{name: "pushed, and it was refused", conversation: push + "1 S: -ERR no\nexited 0", judge: judge("pushed a"),
			want: []string{"RESP-09 broken"}},
		{name: "pushed, and then refused, as it was", conversation: push + "1 S: -ERR no\nexited 1",
			judge: judge("pushed a", "refused a"), want: []string{"RESP-09 broken"}},
		{name: "pushed, without a reply", conversation: push + "1 S: <close>\nexited 0", judge: judge("pushed a"),
			want: []string{"WU-19 broken"}},
		{name: "pushed, without a PUSH", conversation: "1 producer\nexited 0", judge: judge("pushed a"),
			want: []string{"WU-19 broken"}},
		{name: "refused, without a reply", conversation: push + "1 S: <close>\nexited 1", judge: judge("refused a")},
		{name: "refused, with an OK that was read", conversation: push + "1 S: +OK\n1 C: END\nexited 1",
			judge: judge("refused a"), want: []string{"RESP-09 broken"}},
		{name: "refused, with an OK that may not have been read", conversation: push + "1 S: +OK\n1 S: <close>\nexited 1",
			judge: judge("refused a")},
		{name: "pushed, as the OK comes", conversation: push + "+9s\n1 S: +OK\nexited 0", judge: judge("pushed a@900ms")},
		{name: "pushed, long before the OK", conversation: push + "+9s\n1 S: +OK\nexited 0", judge: judge("pushed a@2s"),
			want: []string{"WU-19 broken"}},
		{name: "pushed, behind the first OK of two", conversation: push + "1 S: +OK\n+9s\n1 C: PUSH {\"jid\":\"a\"}\n1 S: +OK",
			judge: judge("pushed a@8s")},
		{name: "refused, long before the error", conversation: push + "+9s\n1 S: -ERR no\nexited 1", judge: judge("refused a@9s")},
		{name: "another job", conversation: push + "1 S: +OK\nexited 0", judge: judge("pushed b")},
	})
}

// TestJobsWithoutAJID: a job that the producer has given two jids is two jobs.
func TestJobsWithoutAJID(t *testing.T) {
	t.Parallel()
	judge := func(jids ...string) func(*trial, *program) {
		return func(tr *trial, p *program) {
			p.jobs, p.Process = unitsWithoutJIDs(7, 1), endedProcess{p.Code(), nil}
			if len(jids) > 0 {
				tr.acceptedJIDs[p.jobs[0].name()] = jids
			}
			tr.judgePushedJobs(p)
		}
	}
	testJudgments(t, []judgment{
		{name: "one", conversation: "1 producer\nexited 0", judge: judge("a"), want: []string{"RESP-08 held", "WU-19 held"}},
		{name: "the same again", conversation: "1 producer\nexited 0", judge: judge("a", "a"),
			want: []string{"RESP-08 held", "WU-19 held"}},
		{name: "two", conversation: "1 producer\nexited 0", judge: judge("a", "b"),
			want: []string{"RESP-08 held", "WU-19 held", "WU-19 broken"}},
		{name: "none", conversation: "1 producer\nexited 0", judge: judge(), want: []string{"WU-19 broken"}},
	})
}

// TestTried: that a program goes on trying is said of one that was seen to.
func TestTried(t *testing.T) {
	t.Parallel()
	for conversation, want := range map[string]string{
		"1 producer": "in the last 0s it opened no connection and sent no command",
		"1 producer\n2 producer\n2 C: INFO\n2 S: +OK": "it keeps trying (in the last 0s: 1 connections, 2 commands)",
	} {
		replayTrial(t, &situation{}, conversation, func(t *testing.T, tr *trial, p *program) {
			t.Helper()
			opened := tr.all(eventsOfKind(clientrules.ConnOpen))
			assert.Equal(t, want, tr.attemptText(p, opened[0].At+1))
		})
	}
}

// TestPushesAtATime counts the PUSHes that wait for their replies at a time.
func TestPushesAtATime(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		conversation string
		want         int
	}{
		{"1 producer" + pushLine(`{"jid":"a"}`) + pushLine(`{"jid":"b"}`), 1},
		{"1 producer\n2 producer\n1 C: PUSH {\"jid\":\"a\"}\n2 C: PUSH {\"jid\":\"b\"}\n1 S: +OK\n2 S: +OK", 2},
		{"1 producer\n1 C: PUSH {\"jid\":\"a\"}\n1 S: <close>\n2 producer\n2 C: PUSH {\"jid\":\"b\"}", 1},
	} {
		replayTrial(t, &situation{}, row.conversation, func(t *testing.T, tr *trial, p *program) {
			t.Helper()
			assert.Equal(t, row.want, tr.maxPendingPushes(p), row.conversation)
		})
	}
}

// TestAnswersToAPush finds the reply to each PUSH, also where several wait at a time and where one is repeated.
func TestAnswersToAPush(t *testing.T) {
	t.Parallel()
	conversation := "1 producer\n2 producer\n1 C: PUSH {\"jid\":\"a\"}\n2 C: PUSH {\"jid\":\"b\"}\n2 S: -ERR no\n" +
		"1 S: +OK\n2 C: PUSH {\"jid\":\"b\"}\n2 S: +OK"
	replayTrial(t, &situation{}, conversation, func(t *testing.T, tr *trial, _ *program) {
		t.Helper()
		assert.Equal(t, 1, tr.answerTo("a").Conn)
		assert.False(t, tr.answerTo("b").IsError(), "the last one counts")
		assert.Nil(t, tr.answerTo("c"))
	})
}

// TestAcceptedJobs: a job counts as taken when the server has set what is missing in it.
func TestAcceptedJobs(t *testing.T) {
	t.Parallel()
	tr := &trial{acceptedJIDs: map[string][]string{}}
	for _, point := range []fakes.Point{fakes.Checked, fakes.Ran, fakes.Writing} {
		tr.recordAccepted(&fakes.Event{Point: point})
	}
	assert.Empty(t, tr.acceptedJIDs)
	p := &program{jobs: ordinaryUnits(2)}
	assert.Len(t, tr.missingJobs(p), 2)
	tr.acceptedJIDs[p.jobs[0].jid] = []string{p.jobs[0].jid}
	assert.Equal(t, []string{p.jobs[1].jid}, tr.missingJobs(p))
}
