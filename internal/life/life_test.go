package life_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/internal/life"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// call is an answered call about job j, from one second to the next.
func call(second int, worker string, op history.Op) history.Event {
	return history.Event{
		Worker: worker, Op: op, Outcome: history.OK, JID: "j", Call: time.Duration(second) * time.Second,
		Return: time.Duration(second+1) * time.Second,
	}
}

func short(e history.Event) history.Event {
	seconds := int64(60)
	e.ReserveFor = &seconds
	return e
}

func reply(e history.Event, o history.Outcome) history.Event {
	if e.Outcome = o; o == history.NoReply {
		e.Return = -1
	}
	return e
}

// summary returns the calls, the stays and the bands of a life in a line each.
func summary(l *reports.Life) string {
	var lines []string
	for _, c := range l.Calls {
		lines = append(lines, strings.TrimSpace(c.Mark+" "+c.Client+" "+reports.JoinWith("; ", c.Note, c.BrokenClause)))
	}
	for _, s := range l.Stays {
		lines = append(lines, s.Words)
	}
	for _, b := range l.Bands {
		lines = append(lines, b.Name+" "+l.Instant(b.From)+" "+l.Instant(b.Until))
	}
	return strings.Join(lines, "\n")
}

func TestLives(t *testing.T) {
	t.Parallel()
	push, fetch, ack, fail := call(0, "", history.Push), call(2, "a", history.Fetch), call(5, "a", history.Ack),
		call(5, "a", history.Fail)
	cut := history.Event{Op: history.Disrupt, Outcome: history.OK, Action: "partition for 2s", Call: 3e9, Return: 5e9}
	before := history.Event{Op: history.Kill, Outcome: history.OK, Call: -9e9, Return: -8e9}
	empty := reply(call(9, "b", history.Fetch), history.Empty)
	empty.JID = ""
	for name, test := range map[string]struct {
		calls []history.Event
		want  string
	}{
		"done": {[]history.Event{push, fetch, ack}, `P client 0
D a was there for 3 s, and was delivered
A a reserved for 3 s, until its ACK
the server: was there for 3 s, and was delivered
a: reserved for 3 s, until its ACK`},
		"failed, and tried again": {[]history.Event{push, fetch, fail, call(9, "b", history.Fetch), call(11, "b", history.Ack)},
			`P client 0
D a was there for 3 s, and was delivered
F a reserved for 3 s, until its FAIL
D b was there for 4 s, and was delivered
A b reserved for 2 s, until its ACK
the server: was there for 3 s, and was delivered
a: reserved for 3 s, until its FAIL
the server: was there for 4 s, and was delivered
b: reserved for 2 s, until its ACK`},
		"a reservation that ended": {[]history.Event{short(push), fetch, call(70, "b", history.Fetch), call(72, "a", history.Ack)},
			`P client 0
D a was there for 3 s, and was delivered
D b reserved for 60 s, until its reservation ended
A a it did not have the job
the server: was there for 3 s, and was delivered
a: reserved for 60 s, until its reservation ended
b: not seen again for 2 s, until the record ends`},
		"held twice": {[]history.Event{push, fetch, call(3, "b", history.Fetch)}, `P client 0
D a was there for 3 s, and was delivered
D b a has it
the server: was there for 3 s, and was delivered
a: not seen again for 1 s, until the record ends`},
		"a partition, and a kill before it": {[]history.Event{before, push, fetch, cut, ack}, `P client 0
D a was there for 3 s, and was delivered
A a reserved for 3 s, until its ACK
the server: was there for 3 s, and was delivered
a: reserved for 3 s, until its ACK
partition for 2s 3 s 5 s`},
		"not delivered": {[]history.Event{push, empty}, `P client 0
the server: not seen again for 10 s, until the record ends`},
		"without a reply, and refused": {
			[]history.Event{reply(push, history.NoReply), fetch, reply(ack, history.Refused), reply(ack, history.NoReply)}, `p client 0
D a was there for 3 s, and was delivered
a a
a a
the server: was there for 3 s, and was delivered
a: not seen again for 3 s, until the record ends`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &life.Record{Name: "run.history", Calls: test.calls}
			assert.Equal(t, test.want, summary(r.Life("j")))
			assert.Nil(t, r.Life("k"))
			assert.Nil(t, r.Life(""))
		})
	}
}

// A job that was lost is proved by a FETCH that found nothing, which is a part of its life.
func TestFindings(t *testing.T) {
	t.Parallel()
	empty := reply(call(9, "b", history.Fetch), history.Empty)
	empty.JID = ""
	h := &history.History{Events: []history.Event{call(0, "", history.Push), empty}, Drained: true}
	report := history.Examine(h)
	require.Len(t, report.Findings, 1)
	r := life.OfHistory("run.history", h, &report, func(history.Breach) string { return "FWP-X-01" })
	l := r.Life("j")
	assert.Equal(t, "P client 0\nE b FWP-X-01\nthe server: not seen again for 10 s, until the record ends", summary(l))
	require.Len(t, l.Findings, 1)
	assert.Equal(t, []string{"#1", "9s to 10s", "b (client 0)", "FETCH: nothing"}, l.Calls[1].Cells)
}

func TestAServerThatDeliversForEver(t *testing.T) {
	t.Parallel()
	r := &life.Record{Calls: []history.Event{call(0, "", history.Push)}}
	for i := range 1000 {
		r.Calls = append(r.Calls, call(2*i+2, "w", history.Fetch), call(2*i+3, "w", history.Ack))
	}
	l := r.Life("j")
	assert.Len(t, l.Calls, 200)
	assert.Equal(t, 1801, l.OmittedCalls)
	assert.Contains(t, l.Table().Note.String(), "1,801 calls in the middle left out")
}

func TestConversations(t *testing.T) {
	t.Parallel()
	var lines []reports.Line
	for i, text := range []string{
		`S a +HI {"v":2}`, `C a HELLO {"wid":"w1","v":2}`, `S a +OK`, `C b PUSH {"jid":"j","reserve_for":60,"args":[]}`,
		`C a FETCH q`, `S b +OK`, `S a ${"jid":"j","args":[]}`, `C a INFO`, `C a ACK {"jid":"j"}`, `S a $`, `S a -ERR no`,
		`- - the server is stopped (restart)`, `C a FETCH q`, `S a $-1`, `C b PUSHB [{"jid":"k"},{"jid":"j"}]`, `S b ${}`,
	} {
		from := map[string]string{"C": reports.FromClient, "S": reports.FromServer, "-": reports.FromSuite}
		parts := strings.SplitN(text, " ", 3)
		lines = append(lines, reports.Line{
			At: time.Duration(i) * time.Second, From: from[parts[0]], Conn: strings.Trim(parts[1], "-"), Text: parts[2],
		})
	}
	r := life.OfConversation("report.json, a/b", lines, 14, reports.LifeFinding{Clause: "FWP-X-01", Description: "w"})
	assert.Equal(t, []string{"j", "k"}, r.JIDs())
	l := r.Life("j")
	assert.Equal(t, `P b
D w1 was there for 3 s, and was delivered
a w1
E w1 FWP-X-01
P b
the server: was there for 3 s, and was delivered
w1: not seen again for 9 s, until the record ends
the server: not seen again for 1 s, until the record ends
restart 11 s 11 s`, summary(l))
	assert.Equal(t, []string{"3s", "b", "PUSH j: OK"}, l.Calls[0].Cells)
}

func TestScripts(t *testing.T) {
	t.Parallel()
	s, err := scenarios.Parse(fwpscript.Dialect{}, "bug.fwp", []byte("title: t\n\nconnect as consumer\n"+
		"C: PUSH {\"jid\":\"$jid\",\"jobtype\":\"t\",\"args\":[]}\nS: +OK\nC: FETCH default\nS: ${\"jid\":\"$jid\"}\nC: ACK {\"jid\":\"$jid\"}\nS: -\n"))
	require.NoError(t, err)
	l := life.OfScript(s).Life("$jid")
	assert.Equal(t, "P client\nD client was there, and was delivered\na client\nthe server: was there, and was delivered\n"+
		"client: not seen again, until the record ends", summary(l))
	assert.Equal(t, "line 4", l.Calls[0].Cells[0])
	assert.Equal(t, "line 9", l.Instant(l.Calls[2].Until))
}

func TestNearest(t *testing.T) {
	t.Parallel()
	jids := []string{"fwp-1-aa", "fwp-2-aa", "fwp-3-bb"}
	assert.Equal(t, []string{"fwp-1-aa", "fwp-2-aa"}, life.Nearest("aa", jids))
	assert.Equal(t, []string{"fwp-3-bb"}, life.Nearest("fpw-3-bb", jids))
	assert.Empty(t, life.Nearest("", jids))
}
