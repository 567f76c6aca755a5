package situations

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// eventAt returns an event of a server at a point of a command.
func eventAt(point fakes.Point, verb string, conn int64) *fakes.Event {
	return &fakes.Event{Point: point, Command: fwp.Command{Verb: verb}, Conn: &fakes.Conn{ID: conn}}
}

// changesBy runs a hook on events, and returns of which ones it has changed something, as "x", and "." of the others.
func changesBy(hook func(*fakes.Event), events ...*fakes.Event) string {
	var b strings.Builder
	for _, e := range events {
		before := *e
		hook(e)
		switch {
		case e.Skip != before.Skip, !errors.Is(e.Err, before.Err), string(e.Reply.Text) != string(before.Reply.Text):
			b.WriteString("x")
		default:
			b.WriteString(".")
		}
	}
	return b.String()
}

func repeat(n int, newEvent func() *fakes.Event) (all []*fakes.Event) {
	for range n {
		all = append(all, newEvent())
	}
	return all
}

// TestRulesOfRows: the rules of each row are rules, which a play would find that is left out of most tests.
func TestRulesOfRows(t *testing.T) {
	t.Parallel()
	count := 0
	for _, s := range slices.Concat(workerSituations(), producerSituations(), bulkSituations()) {
		if s.setup.rules != "" {
			hookOf(s.setup.rules)
			count++
		}
	}
	assert.Greater(t, count, 20)
	assert.Panics(t, func() { hookOf("on ran: silent\non reed: skip") })
}

// TestRefusals: the first two of some commands are refused, and each third one of the next ten.
func TestRefusals(t *testing.T) {
	t.Parallel()
	all := repeat(15, func() *fakes.Event { return eventAt(fakes.Checked, fwp.FETCH, 1) })
	assert.Equal(t, "xxx..x..x..x...", changesBy(refuseCommands(fwp.FETCH), all...))
	assert.Greater(t, len(all[1].Err.Error()), 4096, "longer than a buffer")
}

// TestAWorkerIsForgotten: from its second BEAT on, until it greets on a connection of its own.
func TestAWorkerIsForgotten(t *testing.T) {
	t.Parallel()
	beat := func(conn int64) *fakes.Event { return eventAt(fakes.Checked, fwp.BEAT, conn) }
	accepted := func(conn int64) *fakes.Event { return eventAt(fakes.Accepted, "", conn) }
	hook := forgetWorker()
	assert.Equal(t, "...xx", changesBy(hook, accepted(1), accepted(2), beat(1), beat(1), beat(1)))
	assert.Equal(t, "x..", changesBy(hook, beat(2), accepted(3), beat(3)), "those that were open then are forgotten")
}

// A few connections, the first one of them, are asked for no password where each has its own salt.
func TestOpenConnections(t *testing.T) {
	t.Parallel()
	hook, marks := saltConnections(), ""
	for id := range int64(8) {
		e := eventAt(fakes.Greeting, "", id+1)
		e.Conn.Iterations = 1
		hook(e)
		marks += map[bool]string{true: "x", false: "."}[e.Conn.Iterations > 0]
		assert.Equal(t, e.Conn.Iterations > 0, strings.Contains(string(e.Reply.Text), `"s"`))
	}
	assert.Equal(t, ".xxxx.xx", marks)
}

func TestJobsAreDeliveredAsTheyWerePushed(t *testing.T) {
	t.Parallel()
	e := eventAt(fakes.Ran, fwp.FETCH, 1)
	e.Reply = fwp.Reply{Kind: fwp.BulkString, Text: []byte(`{"jid":"a"}`)}
	assert.Equal(t, ".", changesBy(replaceDeliveries(map[string]string{"b": "changed"}), e))
	assert.Equal(t, "x", changesBy(replaceDeliveries(map[string]string{"a": `{"jid":"a","retry":1}`}), e))
}
