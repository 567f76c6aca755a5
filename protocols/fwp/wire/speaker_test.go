package wire_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/wire"
	fwpwire "github.com/fwpsuite/fwp/protocols/fwp/wire"
)

const (
	greetingReply = "+HI {\"v\":2}\r\n"
	okReply       = "+OK\r\n"
)

// hear is what a text means to a speaker.
func hear(s wire.Speaker, text string) (e wire.Event, n int, err error) {
	n, err = s.Hear([]byte(text), &e)
	return e, n, err
}

// openSpeaker is the speaker of a connection that may send commands.
func openSpeaker(t *testing.T, worker string) wire.Speaker {
	t.Helper()
	s := (&fwpwire.Config{Hostname: "here", PID: 7}).Speaker(worker)
	out, err := s.Open(nil)
	require.NoError(t, err)
	require.Empty(t, out, "the server speaks first")
	e, n, err := hear(s, greetingReply)
	require.NoError(t, err)
	assert.Equal(t, wire.Event{Kind: wire.Greeting}, e)
	assert.Equal(t, len(greetingReply), n)
	out, err = s.Open(nil)
	require.NoError(t, err)
	if worker == "" {
		assert.Equal(t, `HELLO {"v":2}`+"\r\n", string(out))
	} else {
		assert.Equal(t, `HELLO {"hostname":"here","wid":"w1","pid":7,"labels":["fwpbench"],"v":2}`+"\r\n", string(out))
	}
	e, _, err = hear(s, okReply)
	require.NoError(t, err)
	assert.Equal(t, wire.Event{Kind: wire.OK}, e)
	return s
}

// commands are what a speaker appends, with a reply and what that means.
var commands = map[string]struct {
	say   func(s wire.Speaker, out []byte) []byte
	line  string
	reply string
	want  wire.Event
}{
	"PUSH": {func(s wire.Speaker, out []byte) []byte {
		w := plan.Workload{Queues: plan.Queues{Number: 1}}
		return s.Push(out, &plan.Push{Jobs: w.Jobs("r", 1), Number: 10, Producer: 2, Intended: 9})
	}, `PUSH {"jid":"fwpbench-r-0000000a","jobtype":"fwpbench","queue":"fwpbench-r-0","reserve_for":1800,` +
		`"retry":25,"args":["r",2,10,9,""]}`, okReply, wire.Event{}},
	"PUSHB": {func(s wire.Speaker, out []byte) []byte {
		w := plan.Workload{Queues: plan.Queues{Number: 1}, JobTypes: []string{"t"}}
		jobs := w.Jobs("r", 1)
		all := []plan.Push{{Jobs: jobs, Number: 10, Producer: 2}, {Jobs: jobs, Number: 11, Producer: 2, Intended: 9}}
		return s.(wire.Batcher).PushAll(out, all)
	}, `PUSHB [{"jid":"fwpbench-r-0000000a","jobtype":"t","queue":"fwpbench-r-0","reserve_for":1800,` +
		`"retry":25,"args":["r",2,10,0,""]},{"jid":"fwpbench-r-0000000b","jobtype":"t","queue":"fwpbench-r-0",` +
		`"reserve_for":1800,"retry":25,"args":["r",2,11,9,""]}]`, "$10\r\n{\"j\":\"no\"}\r\n",
		wire.Event{Refusals: map[string]string{"j": "no"}}},
	"FETCH":       {take, "FETCH q1 q2", "$2\r\n{}\r\n", wire.Event{Kind: wire.Job, Body: []byte("{}")}},
	"empty FETCH": {take, "FETCH q1 q2", "$-1\r\n", wire.Event{Kind: wire.Empty}},
	"ACK": {func(s wire.Speaker, out []byte) []byte { return s.Ack(out, []byte("j1")) }, `ACK {"jid":"j1"}`,
		okReply, wire.Event{}},
	"FAIL": {
		func(s wire.Speaker, out []byte) []byte { return s.Fail(out, []byte("j1")) },
		`FAIL {"jid":"j1","errtype":"fwpbench","message":"failed on purpose","backtrace":[]}`, okReply, wire.Event{},
	},
	"BEAT": {beat(wire.Working), `BEAT {"wid":"w1"}`, okReply, wire.Event{}},
	"BEAT, quiet": {beat(wire.Working), `BEAT {"wid":"w1"}`, "$17\r\n{\"state\":\"quiet\"}\r\n",
		wire.Event{Kind: wire.Order, State: wire.Quiet}},
	"quiet BEAT": {beat(wire.Quiet), `BEAT {"wid":"w1","current_state":"quiet"}`,
		"$21\r\n{\"state\":\"terminate\"}\r\n", wire.Event{Kind: wire.Order, State: wire.Terminating}},
	"terminate BEAT": {beat(wire.Terminating), `BEAT {"wid":"w1","current_state":"terminate"}`, okReply, wire.Event{}},
	"INFO": {func(s wire.Speaker, out []byte) []byte { return s.Info(out) }, "INFO", "$2\r\n{}\r\n",
		wire.Event{Body: []byte("{}")}},
	"END": {func(s wire.Speaker, out []byte) []byte { return s.Bye(out) }, "END", okReply, wire.Event{}},
}

func take(s wire.Speaker, out []byte) []byte {
	return s.Fetch(out, &wire.Queues{Names: []string{"q1", "q2"}})
}

func beat(state wire.State) func(wire.Speaker, []byte) []byte {
	return func(s wire.Speaker, out []byte) []byte { return s.Beat(out, state) }
}

func TestCommandsAndReplies(t *testing.T) {
	t.Parallel()
	for name, c := range commands {
		s := openSpeaker(t, "w1")
		assert.Equal(t, "before "+c.line+"\r\n", string(c.say(s, []byte("before "))), name)
		for end := range c.reply {
			_, _, err := hear(s, c.reply[:end])
			require.ErrorIs(t, err, wire.ErrShort, name)
		}
		e, n, err := hear(s, c.reply+"more")
		require.NoError(t, err, name)
		assert.Equal(t, c.want, e, name)
		assert.Equal(t, len(c.reply), n, name)
	}
	openSpeaker(t, "")
}

// Every command may be refused, and has replies that it does not have.
func TestForeignReplies(t *testing.T) {
	t.Parallel()
	for name, c := range commands {
		s := openSpeaker(t, "w1")
		c.say(s, nil)
		verb, _, _ := strings.Cut(c.line, " ")
		e, _, err := hear(s, "-ERR no\r\n")
		require.NoError(t, err, name)
		assert.Equal(t, wire.Refusal, e.Kind, name)
		refused, ok := errors.AsType[*wire.RefusedError](e.Err)
		require.True(t, ok, name)
		assert.Equal(t, "ERR no", refused.Text)
		for text, breach := range map[string]string{
			"+YES\r\n": wire.ImpossibleReply + verb, ":1\r\n": wire.ImpossibleReply + verb,
			"*0\r\n": wire.ImpossibleReply + verb,
			"?":      wire.BrokenGrammar + "reply type", "*-1\r\n": wire.BrokenGrammar + "null",
		} {
			_, n, err := hear(s, text)
			b, ok := errors.AsType[*wire.BreachError](err)
			require.True(t, ok, "%s %q", name, text)
			assert.Equal(t, breach, b.Breach, "%s %q", name, text)
			assert.Equal(t, verb, b.Verb)
			assert.Zero(t, n)
		}
	}
}

func TestGreetings(t *testing.T) {
	t.Parallel()
	config := &fwpwire.Config{Password: "foobar"}
	s := config.Speaker("")
	e, _, err := hear(s, "+HI {\"v\":2,\"s\":\"123456789abc\",\"i\":1735}\r\n")
	require.NoError(t, err)
	require.NotNil(t, e.Work)
	e.Work()
	out, err := s.Open(nil)
	require.NoError(t, err)
	assert.Contains(t, string(out), `"pwdhash":"`)

	s = config.Speaker("")
	e, _, err = hear(s, "-ERR busy\r\n")
	require.NoError(t, err)
	assert.Equal(t, wire.Refusal, e.Kind)
	require.ErrorContains(t, e.Err, "ERR busy")

	for greeting, breach := range map[string]string{
		"+HI\r\n": wire.ImpossibleReply, okReply: wire.ImpossibleReply,
		"HTTP/1.1 400\r\n": wire.BrokenGrammar + "reply type",
	} {
		_, _, err = hear(config.Speaker(""), greeting)
		b, ok := errors.AsType[*wire.BreachError](err)
		require.True(t, ok, greeting)
		assert.Equal(t, breach, b.Breach)
		assert.Empty(t, b.Verb)
	}
}

func TestVerbsAndTimes(t *testing.T) {
	t.Parallel()
	s := new(fwpwire.Config).Speaker("")
	for op, verb := range map[measure.Op]string{
		measure.Connect: "", measure.Hello: "HELLO", measure.Push: "PUSH", measure.Fetch: "FETCH",
		measure.FetchFound:  "FETCH",
		measure.FetchWaited: "FETCH", measure.FetchEmpty: "FETCH", measure.Ack: "ACK", measure.Fail: "FAIL",
		measure.Beat: "BEAT",
		measure.Info: "INFO", measure.End: "END",
	} {
		assert.Equal(t, verb, s.Verb(op))
	}
	times := s.Times()
	assert.Equal(t, 15*time.Second, times.Beat)
	assert.Equal(t, 5*time.Second, times.BeatApart)
	assert.Less(t, times.FailAfter, times.EndAfter)
	assert.Equal(t, 30*time.Second, times.EndAfter)
	assert.Zero(t, times.Poll, "a FETCH waits at the server")
}

//nolint:paralleltest // counts what the whole process allocates
func TestASpeakerAllocatesNothing(t *testing.T) {
	s := openSpeaker(t, "w1")
	w := plan.Workload{}
	push, queues, jid := &plan.Push{Jobs: w.Jobs("r", 1)}, &wire.Queues{Names: []string{"q1", "q2"}}, []byte("j1")
	out, job, reply := make([]byte, 0, 4096), []byte("$2\r\n{}\r\n"), []byte(okReply)
	event := new(wire.Event)
	hear := func(in []byte) {
		*event = wire.Event{}
		if _, err := s.Hear(in, event); err != nil {
			panic(err)
		}
	}
	assert.Zero(t, testing.AllocsPerRun(1000, func() {
		s.Push(out, push)
		hear(reply)
		s.Fetch(out, queues)
		hear(job)
		s.Ack(out, jid)
		hear(reply)
	}))
}

// What is read of a server has bounds, which the jobs of the run widen. What is kept of an error is cut.
func TestLimits(t *testing.T) {
	t.Parallel()
	tooLong := func(s wire.Speaker, text string) {
		t.Helper()
		_, _, err := hear(s, text)
		assert.ErrorIs(t, err, wire.ErrTooLong)
	}
	tooLong((&fwpwire.Config{}).Speaker(""), "+HI "+strings.Repeat("x", 64<<10))
	s := openSpeaker(t, "")
	s.Beat(nil, wire.Working)
	tooLong(s, "-"+strings.Repeat("x", 256<<10))
	e, _, err := hear(s, "-"+strings.Repeat("x", 100_000)+"\r\n")
	require.NoError(t, err)
	assert.Less(t, len(e.Err.Error()), 1000)
	s.Info(nil)
	_, _, err = hear(s, "$1000000\r\n"+strings.Repeat("x", 1_000_000)+"\r\n")
	require.NoError(t, err)

	w := plan.Workload{Queues: plan.Queues{Number: 1}, Payload: plan.Constant(1 << 20)}
	s.Push(nil, &plan.Push{Jobs: w.Jobs("r", 1), Number: 1})
	_, _, err = hear(s, "-"+strings.Repeat("x", 5<<20)+"\r\n")
	require.NoError(t, err, "a server may send back what it got")
}

// A number that the server does not tell is not 0.
func TestStock(t *testing.T) {
	t.Parallel()
	sizer, ok := openSpeaker(t, "").(wire.InfoParser)
	require.True(t, ok)
	queues := map[string]int64{"a": 3, "b": 0}
	for info, want := range map[string]wire.ServerJobs{
		`{"faktory":{"queues":{"a":3,"b":0},"total_enqueued":3}}`: {Queues: queues, Alive: 3},
		`{"faktory":{"queues":{"a":3,"b":0},"total_enqueued":3,"tasks":{"Busy":{"size":10},"Dead":{"size":7},` +
			`"Retries":{"size":100},"Scheduled":{"size":1000}}}}`: {Queues: queues, IsComplete: true, Alive: 1113, Dead: 7},
		`{"faktory":{"queues":{},"total_enqueued":0,"tasks":{"Busy":{"size":0},"Dead":{"size":0},` +
			`"Retries":{"cycles":0},"Scheduled":{"size":0}}}}`: {Queues: map[string]int64{}},
		`{"server":{}}`: {}, `no JSON`: {}, "": {}, `{"faktory":[]}`: {},
	} {
		assert.Equal(t, want, sizer.ParseInfo([]byte(info)), info)
	}
}
