package situations

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// at returns an event of a server at a point of a command.
func at(point fakes.Point, verb string, conn int64) *fakes.Event {
	return &fakes.Event{Point: point, Command: fwp.Command{Verb: verb}, Conn: &fakes.Conn{ID: conn}}
}

// acted runs a hook on events, and returns of which ones it has changed something, as "x", and "." of the others.
func acted(hook func(*fakes.Event), events ...*fakes.Event) string {
	var b strings.Builder
	for _, e := range events {
		before := *e
		hook(e)
		switch {
		case e.Skip != before.Skip, e.Close != before.Close, !errors.Is(e.Err, before.Err), e.State != before.State,
			e.Delay != before.Delay, e.Chunk != before.Chunk, string(e.Reply.Text) != string(before.Reply.Text):
			b.WriteString("x")
		default:
			b.WriteString(".")
		}
	}
	return b.String()
}

func times(n int, one func() *fakes.Event) (all []*fakes.Event) {
	for range n {
		all = append(all, one())
	}
	return all
}

// TestHooksCount: a hook acts on the commands that it is about, and on as many as it says.
func TestHooksCount(t *testing.T) {
	t.Parallel()
	fetch := func() *fakes.Event { return at(fakes.Checked, fwp.FETCH, 1) }
	skip := func(e *fakes.Event) { e.Skip = true }
	assert.Equal(t, "..x..", acted(nth(3, fakes.Checked, fwp.FETCH, skip), times(5, fetch)...))
	assert.Equal(t, "xx...", acted(refuseFirst(2, fwp.FETCH, "no"), times(5, fetch)...))
	assert.Equal(t, "...", acted(refuseFirst(2, fwp.ACK, "no"), times(3, fetch)...), "another verb")
	assert.Equal(t, "xxx..x..x..x...", acted(refuseSome(fwp.FETCH), times(15, fetch)...))
	all := times(15, fetch)
	acted(refuseSome(fwp.FETCH), all...)
	assert.Greater(t, len(all[1].Err.Error()), 4096, "longer than a buffer")
	refused := fetch()
	refuseFirst(1, fwp.FETCH, "no")(refused)
	assert.EqualError(t, refused.Err, "no")
	assert.True(t, refused.Skip)
}

func TestHooksOfStates(t *testing.T) {
	t.Parallel()
	notified := func() *fakes.Event { return at(fakes.Notified, fwp.BEAT, 1) }
	assert.Equal(t, "x..", acted(tellState("quiet", false), times(3, notified)...))
	assert.Equal(t, "xxx", acted(tellState("quiet", true), times(3, notified)...))
	e := at(fakes.Ran, fwp.BEAT, 1)
	e.Reply.Text = []byte(`{"state":"quiet"}`)
	spaceState(e)
	assert.Equal(t, `{"state": "quiet"}`, string(e.Reply.Text))
}

// TestAWorkerIsForgotten: from its second BEAT on, until it greets on a connection of its own.
func TestAWorkerIsForgotten(t *testing.T) {
	t.Parallel()
	beat := func(conn int64) *fakes.Event { return at(fakes.Checked, fwp.BEAT, conn) }
	accepted := func(conn int64) *fakes.Event { return at(fakes.Accepted, "", conn) }
	hook := forgetWorker()
	assert.Equal(t, "...xx", acted(hook, accepted(1), accepted(2), beat(1), beat(1), beat(1)))
	assert.Equal(t, "x..", acted(hook, beat(2), accepted(3), beat(3)), "those that were open then are forgotten")
}

func TestHooksThatHangUp(t *testing.T) {
	t.Parallel()
	hook := hangUpUnread(2, fwp.ACK)
	assert.Equal(t, "...x", acted(hook, at(fakes.Checked, fwp.ACK, 1), at(fakes.Ran, fwp.ACK, 1),
		at(fakes.Ran, fwp.ACK, 2), at(fakes.Checked, fwp.ACK, 2)))
	assert.Equal(t, ".x", acted(hook, at(fakes.Ran, fwp.ACK, 1), at(fakes.Ran, fwp.ACK, 2)), "its connection alone")
	first := func(conn int64) *fakes.Event { return at(fakes.Checked, fwp.FETCH, conn) }
	assert.Equal(t, "xx.", acted(hangUpFirst(2, fwp.FETCH), first(1), first(2), first(3)))
	assert.Equal(t, "x.", acted(hangUpFirst(2, fwp.FETCH), at(fakes.Ran, fwp.FETCH, 1), at(fakes.Ran, fwp.BEAT, 1)))
	job := func() *fakes.Event {
		e := at(fakes.Writing, fwp.FETCH, 1)
		e.Reply.Kind, e.Bytes = fwp.BulkString, []byte("$4\r\nabcd\r\n")
		return e
	}
	second := job()
	hook = hangUpInJob(2)
	assert.Equal(t, ".x", acted(hook, job(), second))
	assert.Equal(t, "$4\r\na", string(second.Bytes))
	reply := at(fakes.Writing, fwp.PUSH, 1)
	assert.Equal(t, "xx", acted(hangUpInReply(1, fwp.PUSH), at(fakes.Checked, fwp.PUSH, 1), reply))
	assert.Equal(t, "+", string(reply.Bytes))
}

// A few connections, the first one of them, are asked for no password where each has its own salt.
func TestOpenConnections(t *testing.T) {
	t.Parallel()
	hook, asked := saltEach(), ""
	for id := range int64(8) {
		e := at(fakes.Greeting, "", id+1)
		e.Conn.Iterations = 1
		hook(e)
		asked += map[bool]string{true: "x", false: "."}[e.Conn.Iterations > 0]
		assert.Equal(t, e.Conn.Iterations > 0, strings.Contains(string(e.Reply.Text), `"s"`))
	}
	assert.Equal(t, ".xxxx.xx", asked)
}

func TestHooksOfReplies(t *testing.T) {
	t.Parallel()
	e := at(fakes.Writing, fwp.FETCH, 1)
	segmentBeats(e)
	assert.Zero(t, e.Chunk, "it is another command")
	assert.Equal(t, "x", acted(segmentBeats, at(fakes.Writing, fwp.BEAT, 1)))
	segment(e)
	assert.Equal(t, 1, e.Chunk)
	e = at(fakes.Greeting, "", 1)
	greeting("HI {}")(e)
	lateGreeting(e)
	assert.Equal(t, "HI {}", string(e.Reply.Text))
	assert.Equal(t, time.Second, e.Delay)
	e = at(fakes.Ran, fwp.FETCH, 1)
	e.Reply = fwp.Reply{Kind: fwp.BulkString, Text: []byte(`{"jid":"a"}`)}
	assert.Equal(t, ".", acted(deliverAs(map[string]string{"b": "changed"}), e))
	assert.Equal(t, "x", acted(deliverAs(map[string]string{"a": `{"jid":"a","retry":1}`}), e))
	e.Reply.Text = []byte(`{"jid":"a"}`)
	change := func([]byte) []byte { return []byte("changed") }
	assert.Equal(t, ".", acted(changeDelivery("b", change), e))
	assert.Equal(t, "x", acted(changeDelivery("a", change), e))
}
