package suite_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/transcript"
	workqsession "github.com/fwpsuite/fwp/protocols/workq/session"
	workqsuite "github.com/fwpsuite/fwp/protocols/workq/suite"
)

// judge plays a conversation in virtual time, and returns the clauses and rules that are broken. It is in the notation
// of package transcript, with | for \r\n, and $1 for an id.
func judge(t *testing.T, lines ...string) string {
	t.Helper()
	return judgeOn(t, nil, lines...)
}

// judgeOn is judged of one of the plays on a server.
func judgeOn(t *testing.T, s *law.History, lines ...string) string {
	t.Helper()
	var found []string
	synctest.Test(t, func(t *testing.T) {
		w, start := law.NewWatch(workqsuite.Law(), law.Terms{NamePrefix: "n", Alone: true, History: s}), time.Now()
		conns, sent := map[string]session.Observer{}, map[string][]byte{}
		text := strings.ReplaceAll(strings.Join(lines, "\n"), "|", `\r\n`)
		for n := range 9 {
			text = strings.ReplaceAll(text, fmt.Sprint("$", n), fmt.Sprintf("6ba7b810-9dad-41d1-80b4-00c04fd430c%d", n))
		}
		events, err := transcript.Parse(text + "\nover")
		require.NoError(t, err)
		for _, e := range events {
			time.Sleep(time.Until(start.Add(e.At)))
			if conns[e.Conn] == nil && e.Conn != "" {
				conns[e.Conn] = w.Dialed(e.Conn)
			}
			switch e.Kind {
			case transcript.Client:
				sent[e.Conn] = e.Bytes
				conns[e.Conn].Sent(e.Bytes, time.Now())
			case transcript.Server:
				reader, state := workqsession.Codec{}.Begin(bytes.NewReader(e.Bytes))
				state.Sent(sent[e.Conn])
				m, err := reader.Read()
				require.NoError(t, err, e)
				conns[e.Conn].Received(session.Received{At: time.Now(), Message: m})
			case transcript.ServerEnd:
				conns[e.Conn].Received(session.Received{At: time.Now(), Ending: session.Fin})
			default:
				require.Equal(t, "over", string(e.Bytes))
			}
		}
		for _, v := range w.Occurrences() {
			line := v.Clause + " " + v.Rule
			if len(v.Premises) > 0 {
				line += " after " + strings.Join(v.Premises, " ")
			}
			found = append(found, line)
		}
	})
	return strings.Join(found, ", ")
}

const (
	add1    = "a C: add $1 n-x 600000 3600000 1|x"
	add2    = "a C: add $2 n-x 600000 3600000 1|x"
	okay    = "a S: +OK"
	delete1 = "a C: delete $1"

	runReply = "a S: +OK 1|$1 11|name n-x|ttr 600000|payload-size 1|payload x|max-attempts 0|attempts 0|max-fails 0" +
		"|fails 0|priority 5|state 0|created 2000-01-01T00:00:00Z"
	server = "a S: +OK 1|server 3|active-clients 1|evicted-jobs 0|started "
)

// listReply is a reply to inspect jobs with some of $1 and $2.
func listReply(numbers ...int) string {
	all := fmt.Sprint("a S: +OK ", len(numbers))
	for _, n := range numbers {
		all += fmt.Sprintf("|$%d 11|name n-x|ttr 600000|ttl 3600000|payload-size 1|payload x|max-attempts 0|attempts 0"+
			"|max-fails 0|fails 0|priority 0|state 0|created 2000-01-01T00:00:00Z", n)
	}
	return strings.ReplaceAll(all, " 11|", " 12|")
}

// lapseLines has a job that was leased go because of its time, and a reply to another add with its id, and to inspect jobs.
func lapseLines(reply, list string) []string {
	return []string{
		"a C: add $1 n-x 600000 1000 1|x", okay, "a C: lease n-x 500", "a S: +OK 1|$1 n-x 600000 1|x", "+10s",
		"a C: inspect job $1", "a S: -NOT-FOUND", add1, "a S: " + reply,
		"a C: inspect jobs n-x 0 9", list,
	}
}

// reportLines has a job that has ended by a command, and is failed once more and asked for.
func reportLines(verb string) []string {
	return []string{
		"a C: add $1 n-x 600000 3600000 1 -max-fails=1|x", okay, "a C: lease n-x 500", "a S: +OK 1|$1 n-x 600000 1|x",
		"a C: " + verb + " $1 1|y", okay, "a C: fail $1 1|z", okay, "a C: lease n-x 1000",
	}
}

// queueLines has two queues of one job each, of which one lives for some milliseconds, and then only the other one.
func queueLines(ttl int) []string {
	return []string{
		fmt.Sprintf("a C: add $1 n-x 600000 %d 1|x", ttl), okay, "a C: add $2 n-y 600000 3600000 1|x", okay,
		"a C: inspect queues 0 9", "a S: +OK 2|n-x 2|ready-len 1|scheduled-len 0|n-y 2|ready-len 1|scheduled-len 0", "+10s",
		"a C: inspect queues 0 9", "a S: +OK 1|n-y 2|ready-len 1|scheduled-len 0",
	}
}

// failLines has two jobs that failed, of which the one of the lower priority is leased first, and then the answer to
// another lease.
func failLines(reply string) []string {
	lines := []string{
		"a C: add $1 n-x 600000 3600000 1 -max-fails=5 -priority=5|x", okay, "a C: lease n-x 500",
		"a S: +OK 1|$1 n-x 600000 1|x", "a C: fail $1 1|z", okay, "a C: lease n-x 500", "a S: +OK 1|$1 n-x 600000 1|x",
		"a C: fail $1 1|z", okay, add2, okay, "a C: lease n-x 500", "a S: +OK 1|$2 n-x 600000 1|x", "a C: lease n-x 500",
	}
	if strings.HasSuffix(reply, "TIMEOUT") {
		lines = append(lines, "+500ms")
	}
	return append(lines, reply)
}

// endedReply is a reply to inspect job with $1 of reported.
const endedReply = "a S: +OK 1|$1 12|name n-x|ttr 600000|ttl 3600000|payload-size 1|payload x|max-attempts 0" +
	"|attempts 1|max-fails 1|fails 1|priority 0|state 1|created 2000-01-01T00:00:00Z"

// TestLaw has replies that a server may send, and replies that it may not.
func TestLaw(t *testing.T) {
	t.Parallel()
	pair := []string{add1, okay, add2, okay}
	page := func(offset, limit int) string { return fmt.Sprintf("a C: inspect jobs n-x %d %d", offset, limit) }
	for name, test := range map[string]struct {
		lines []string
		want  string
	}{
		"pages":            {append(pair, page(0, 1), listReply(1), page(1, 1), listReply(2), page(0, 9), listReply(1, 2)), ""},
		"pages, once more": {append(pair, page(0, 1), listReply(2), page(0, 1), listReply(2)), ""},
		"one job twice":    {append(pair, page(0, 1), listReply(1), page(1, 1), listReply(1)), "WORKQ-INSP-07 shown"},
		"a job moves":      {append(pair, page(0, 1), listReply(1), page(0, 9), listReply(2, 1)), "WORKQ-INSP-07 shown"},
		"a list that comes after the reply to a command behind it": {
			append(pair, page(0, 9), "b C: delete $1", "b S: +OK", listReply(1, 2), page(0, 9), listReply(2)), "",
		},
		"another command": {
			append(pair, page(0, 1), listReply(1), "a C: delete $3", "a S: -NOT-FOUND", page(0, 9), listReply(2, 1)),
			"",
		},
		"a command between": {append(pair, page(0, 1), listReply(1), "b C: lease n-y 1000", page(0, 9), listReply(2, 1)), ""},

		"a completed job that is failed as well": {append(reportLines("complete"), "+1s", "a S: -TIMEOUT"), ""},
		"a completed job that is leased once it was failed as well": {
			append(reportLines("complete"), "a S: +OK 1|$1 n-x 600000 1|x"),
			"WORKQ-DONE-02 delivered",
		},
		"a completed job whose fail counts": {
			append(reportLines("complete")[:8], "a C: inspect job $1", endedReply),
			"",
		},
		"a failed job that is leased once it was failed again": {
			append(reportLines("fail"), "a S: +OK 1|$1 n-x 600000 1|x"),
			"WORKQ-ADD-22 delivered",
		},
		"a run that ends while a worker has the job": {
			[]string{"a C: run $1 n-x 60000 1000 1|x", "b C: lease n-x 500", "b S: +OK 1|$1 n-x 60000 1|x", "+2s",
				"a S: -TIMEOUT"},
			"WORKQ-RUN-01 early",
		},

		"two leases at one reading of the clock": {
			[]string{"a C: lease n-x 9000", "b C: lease n-x 9000", "c C: add $1 n-x 600000 3600000 1|x", "c S: +OK",
				"b S: +OK 1|$1 n-x 600000 1|x"},
			"",
		},

		"a job of a higher priority at the reading of the clock at which a lease was sent": {
			[]string{"a C: add $1 n-x 600000 3600000 1|x", "a S: +OK", "b C: lease n-x 9000",
				"a C: add $2 n-x 600000 3600000 1 -priority=9|x", "a S: +OK", "b S: +OK 1|$1 n-x 600000 1|x"},
			"",
		},

		"an id once more": {[]string{add1, okay, delete1, okay, add1, okay, page(0, 9), listReply(1)}, ""},
		"an id once more, refused": {
			[]string{add1, okay, delete1, okay, add1, "a S: -CLIENT-ERROR x"},
			"WORKQ-DEL-02 reply",
		},
		"an id once more, lost": {
			[]string{add1, okay, delete1, okay, add1, okay, page(0, 9), "a S: +OK 0"},
			"WORKQ-INSP-06 listed",
		},
		"a report of no job, refused": {[]string{"a C: fail $1 1|x", "a S: -CLIENT-ERROR x"}, "WORKQ-FAIL-02 reply"},
		"a report of no job, refused for its size": {
			[]string{"a C: fail $1 1048576|" + strings.Repeat("x", 1<<20), "a S: -CLIENT-ERROR x"}, "WORKQ-DONE-03 reply",
		},
		"a second add is refused": {[]string{add1, okay, add1, "a S: -CLIENT-ERROR x"}, ""},
		"what a second add had comes": {
			[]string{
				add1, okay, "a C: add $1 n-x 600000 3600000 1|y", okay, "a C: lease n-x 500", "a S: +OK 1|$1 n-x 600000 1|y",
			},
			"WORKQ-ADD-03 field",
		},
		"what a second add had comes behind the first": {
			[]string{
				add1, okay, "a C: lease n-x 500", "a S: +OK 1|$1 n-x 600000 1|x", "a C: add $1 n-x 600000 3600000 1|y", okay,
				"a C: lease n-x 500", "a S: +OK 1|$1 n-x 600000 1|y",
			},
			"WORKQ-ADD-03 delivered",
		},
		"a job that time has removed is counted": {
			[]string{
				"a C: add $1 n-x 600000 1000 1|x", okay, "+10s", "a C: inspect job $1", "a S: -NOT-FOUND", "a C: inspect server",
				server + "2000-01-01T00:00:00Z",
			},
			"WORKQ-INSP-12 field",
		},
		"an id when its time may be over": {
			[]string{
				"a C: add $1 n-x 600000 1000 1|x", okay, "+1500ms", "a C: add $1 n-x 600000 3600000 1|y", okay,
				"a C: lease n-x 500", "a S: +OK 1|$1 n-x 600000 1|y",
			},
			"",
		},
		"a run whose client may have given up": {
			[]string{
				"b C: run $1 n-x 600000 1000 1 -priority=5|x", "a C: inspect job $1", runReply, add2, okay, "+1001ms",
				"a C: lease n-x 500", "a S: +OK 1|$2 n-x 600000 1|x", "b S: -TIMEOUT",
			},
			"",
		},
		"a run whose client still waits": {
			[]string{
				"b C: run $1 n-x 600000 1000 1 -priority=5|x", "+100ms", "a C: inspect job $1", runReply, add2, okay,
				"a C: lease n-x 500", "a S: +OK 1|$2 n-x 600000 1|x",
			},
			"WORKQ-ADD-15 order",
		},
		"queues, of which time ends one": {queueLines(1000), ""},
		"waits of more than a day, which are refused": {
			[]string{
				"a C: lease n-x 86400001", "a S: -CLIENT-ERROR x", add1, okay, "a C: result $1 86400001", "a S: -CLIENT-ERROR x",
				"a C: run $2 n-x 600000 86400001 1|x", "a S: -CLIENT-ERROR x", "a C: inspect job $1", "a S: -NOT-FOUND",
			},
			"WORKQ-INSP-01 reply",
		},
		"a lease of a day that is refused": {
			[]string{"a C: lease n-x 86400000", "a S: -CLIENT-ERROR x"}, "WORKQ-LEASE-04 reply",
		},
		"a result of a day that is refused": {
			[]string{add1, okay, "a C: result $1 86400000", "a S: -CLIENT-ERROR x"}, "WORKQ-RESULT-03 reply",
		},
		"a run of a day that is refused": {
			[]string{"a C: run $1 n-x 600000 86400000 1|x", "a S: -CLIENT-ERROR x"}, "WORKQ-RUN-01 result",
		},
		"queues that stay, of which one is missing and the other one moves": {
			queueLines(3600000), "WORKQ-INSP-07 shown",
		},
		"a job that failed, and may not be there": {failLines("a S: -TIMEOUT"), "WORKQ-ADD-20 missing"},
		"a job that failed, and comes later":      {failLines("a S: +OK 1|$1 n-x 600000 1|x"), "WORKQ-ADD-15 order"},
		"an id after its time": {
			[]string{"a C: add $1 n-x 600000 1000 1|x", okay, "+10s", add1, "a S: -CLIENT-ERROR x"},
			"",
		},
		"leased by another id, and not listed": {
			[]string{add1, okay, "a C: lease n-x 500", "a S: +OK 1|$3 n-x 600000 1|x", page(0, 9), "a S: +OK 0"},
			"WORKQ-LEASE-02 unknown",
		},
		"an id after its time, added": {lapseLines("+OK", listReply(1)), ""},
		"an id after its time, lost":  {lapseLines("+OK", "a S: +OK 0"), ""},
		"an id after its time, with the attempts before": {
			lapseLines("+OK", strings.Replace(listReply(1), "attempts 0|max-fails", "attempts 1|max-fails", 1)),
			"WORKQ-INSP-03 field",
		},
		"a lease waits, and a job that is added is missed": {
			[]string{"b C: lease n-x 5000", add1, okay, "+5s", "b S: -TIMEOUT"},
			"WORKQ-LEASE-05 missing",
		},
		"a lease misses a job that was added before": {
			[]string{add1, okay, "a C: lease n-x 500", "+500ms", "a S: -TIMEOUT"},
			"WORKQ-ADD-02 missing",
		},
		"a lease of two names misses a job": {
			[]string{add1, okay, "a C: lease n-y n-x 500", "+500ms", "a S: -TIMEOUT"},
			"WORKQ-LEASE-02 missing",
		},
		"a lease of two names misses a scheduled job, and none has come yet": {
			[]string{
				"a C: schedule $1 n-x 600000 3600000 2000-01-01T00:00:01Z 1|x", okay, "+5s", "a C: lease n-y n-x 500", "+500ms",
				"a S: -TIMEOUT",
			},
			"WORKQ-SCHED-03 overdue",
		},
		"an id after its time, refused and added": {lapseLines("-CLIENT-ERROR x", listReply(1)), "WORKQ-ADD-08 overdue"},
		"created by the same clock":               {append(pair, "+1s", page(0, 9), listReply(1, 2)), ""},
		"created by another clock": {
			[]string{add1, okay, page(0, 9), listReply(1), "+10s", add2, okay, page(1, 9), listReply(2)},
			"WORKQ-INSP-02 field",
		},
		"started before a job": {
			append(pair, page(0, 9), listReply(1, 2), "a C: inspect server", server+"1999-12-31T23:00:00Z"),
			"",
		},
		"started by UTC with an offset": {
			append(pair, "a C: inspect server", server+"1999-12-31T23:00:00+00:00"),
			"",
		},
		"started by another zone": {
			append(pair, "a C: inspect server", server+"1999-12-31T23:00:00+01:00"),
			"WORKQ-INSP-12 field",
		},
		"started in the future": {
			append(pair, page(0, 9), listReply(1, 2), "a C: inspect server", server+"2000-01-01T00:01:00Z"),
			"WORKQ-INSP-12 field",
		},
		"queues": {
			[]string{add1, okay, "a C: inspect queues 0 1", "a S: +OK 1|n-x 2|ready-len 1|scheduled-len 0"},
			"",
		},
		"queues, one is passed over": {
			[]string{add1, okay, "a C: inspect queues 0 1", "a S: +OK 1|n-y 2|ready-len 0|scheduled-len 0"},
			"WORKQ-INSP-11 shown",
		},
		"queues, the limit is before": {
			[]string{add1, okay, "a C: inspect queues 0 1", "a S: +OK 1|m 2|ready-len 0|scheduled-len 0"},
			"",
		},

		"a result that waits for a job that is deleted": {
			[]string{add1, okay, "b C: result $1 5000", delete1, okay, "b S: -TIMEOUT"},
			"",
		},
		"a result of a deleted job": {
			[]string{add1, okay, delete1, okay, "+1s", "b C: result $1 0", "b S: -TIMEOUT"},
			"WORKQ-DEL-02 reply",
		},
		"a result of a run that is over": {
			[]string{
				"b C: run $1 n-x 600000 5000 1|x", "a C: lease n-x 500", "a S: +OK 1|$1 n-x 600000 1|x", "c C: result $1 5000",
				"a C: complete $1 1|y", okay, "c S: -NOT-FOUND",
			},
			"",
		},
		"more fails than are known": {
			[]string{
				"a C: add $1 n-x 600000 3600000 1 -max-fails=256|x", "a S: -CLIENT-ERROR x", "a C: inspect job $1",
				"a S: -NOT-FOUND",
			},
			"",
		},
		"a wrong id, unknown":   {[]string{"a C: delete 1", "a S: -NOT-FOUND"}, ""},
		"a wrong id, added":     {[]string{"a C: add 1 n-x 1000 1000 1|x", okay}, "WORKQ-ADD-04 malformed"},
		"a wrong time to run":   {[]string{"a C: add $1 n-x 86400001 1000 1|x", okay}, "WORKQ-ADD-07 malformed"},
		"a flag without value":  {[]string{"a C: add $1 n-x 1000 1000 1 -priority|x", okay}, "WORKQ-LINE-08 malformed"},
		"a lease without a job": {[]string{add1, okay, "a C: lease n-x 500", okay}, "WORKQ-LEASE-01 foreign"},

		"the server ends a connection":      {[]string{add1, okay, "a S: <fin>"}, "WORKQ-LINE-10 closed"},
		"the server ends it amid a command": {[]string{add1, okay, "a C: add $2 n-x 600000 3600000 9|x", "a S: <fin>"}, ""},
		"the server ends it behind a malformed": {
			[]string{"a C: add $2 n-x 600000 3600000 x|x", "a S: -CLIENT-ERROR", "a S: <fin>"},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, judge(t, test.lines...))
		})
	}
}

// TestCutPiece: what stands in a piece behind the command at which its connection has ended may be carried out.
func TestCutPiece(t *testing.T) {
	t.Parallel()
	l := workqsuite.Law().Start(law.Terms{NamePrefix: "n", Alone: true})
	now := time.Now()
	const id = "6ba7b810-9dad-41d1-80b4-00c04fd430c1"
	l.Open(1, now)
	l.Sent(1, []byte("inspect queues 0 1\r\nadd "+id+" n-x 600000 3600000 1\r\nx\r\n"), false, now)
	_ = l.Close(1, false, now)
	l.Open(2, now)
	l.Sent(2, []byte("lease n-x 500\r\n"), false, now)
	leased := strings.NewReader("+OK 1\r\n" + id + " n-x 600000 1\r\nx\r\n")
	reader, state := workqsession.Codec{}.Begin(leased)
	state.Sent([]byte("lease n-x 500\r\n"))
	m, err := reader.Read()
	require.NoError(t, err)
	assert.Nil(t, l.Judge(2, m, now).Violation)
}

// TestCounts has a server count jobs and clients of several plays, which is limited where no other client uses it.
func TestCounts(t *testing.T) {
	t.Parallel()
	const shortLived, wrong = "a C: add $1 n-x 600000 1000 1|x", "WORKQ-INSP-12 field"
	inspect := func(clients, evicted int) []string {
		const counts = "a S: +OK 1|server 3|active-clients %d|evicted-jobs %d|started 2000-01-01T00:00:00Z"
		return []string{"a C: inspect server", fmt.Sprintf(counts, clients, evicted)}
	}
	endLines := []string{
		shortLived, okay, "a C: lease n-x 500", "a S: +OK 1|$1 n-x 600000 1|x", "a C: complete $1 1|y", okay, "+10s",
	}
	for name, test := range map[string]struct {
		lines            []string
		clients, evicted int
		want             string
	}{
		"one whose time is over":       {[]string{shortLived, okay, "+10s"}, 1, 1, ""},
		"one too many":                 {[]string{shortLived, okay, "+10s"}, 1, 2, wrong},
		"one whose time is not over":   {[]string{shortLived, okay, "+100ms"}, 1, 1, wrong},
		"one that has ended":           {endLines, 1, 1, wrong},
		"one that was deleted":         {[]string{shortLived, okay, delete1, okay, "+10s"}, 1, 1, wrong},
		"one that was refused":         {[]string{add1, okay, shortLived, "a S: -CLIENT-ERROR", "+10s"}, 1, 1, wrong},
		"one of bytes that are unread": {[]string{"b C: add $1 n-x 600000 x 1|add", "+10s"}, 1, 1, ""},
		"one that is malformed":        {[]string{"a C: delete add", "a S: -CLIENT-ERROR", "+10s"}, 1, 1, wrong},
		"one that may run":             {[]string{"b C: run $1 n-x 600000 1000 1|x", "+1s", "b S: -TIMEOUT"}, 1, 1, ""},
		"one that ran": {
			[]string{
				"b C: run $1 n-x 600000 1000 1|x", "a C: lease n-x 500", "a S: +OK 1|$1 n-x 600000 1|x",
				"a C: complete $1 1|y", okay,
				"b S: +OK 1|$1 1 1|y", "+10s",
			},
			1, 1, wrong,
		},
		"one that is due later": {
			[]string{"a C: schedule $1 n-x 600000 1000 2000-01-01T01:00:00Z 1|x", okay, "+10s"},
			1, 1, wrong,
		},
		"clients":          {nil, 22, 0, ""},
		"too many clients": {nil, 23, 0, wrong},
	} {
		lines := slices.Concat(test.lines, inspect(test.clients, test.evicted))
		if strings.HasPrefix(strings.Join(test.lines, ""), "b C: run") { // there are two connections then
			test.clients = 2
			lines = slices.Concat(test.lines, inspect(test.clients, test.evicted))
		}
		assert.Equal(t, test.want, judgeOn(t, law.NewExclusiveHistory(), lines...), name)
		assert.Empty(t, judgeOn(t, law.NewHistory(), lines...), "%s, beside others", name)
	}
	plays := law.NewExclusiveHistory()
	assert.Empty(t, judgeOn(t, plays, shortLived, okay))
	assert.Empty(t, judgeOn(t, plays, slices.Concat([]string{"+10s"}, inspect(1, 1))...), "a job of another play")
}

// A wait may end too soon, and too late.
func TestTimesOfWaits(t *testing.T) {
	t.Parallel()
	for after, want := range map[string]string{
		"+500ms":  "WORKQ-LEASE-04 early",
		"+9300ms": "WORKQ-LEASE-04 late",
	} {
		assert.Equal(t, want, judgeOn(t, law.NewHistory(), "a C: lease n-x 1000", after, "a S: -TIMEOUT"), after)
	}
}
