package client_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/blockq"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/internal/memnet"
	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/protocol"
	"github.com/fwpsuite/fwp/load/workload"
)

// blockSpeaker speaks the second protocol: the client speaks first, a job is a counted
// block, there is no heartbeat, no FAIL and no reply to the goodbye.
type blockSpeaker struct {
	worker string
	asked  measure.Op
	body   []byte // memory for a job, whose size goes before it
}

func newBlockSpeaker(worker string) protocol.Speaker { return &blockSpeaker{worker: worker} }

func (s *blockSpeaker) say(out []byte, op measure.Op, c blockq.Command) []byte {
	s.asked = op
	return blockq.AppendCommand(out, c)
}

func (s *blockSpeaker) Open(out []byte) ([]byte, error) {
	name := s.worker
	if name == "" {
		name = "producer"
	}
	return s.say(out, measure.Hello, blockq.Command{Verb: blockq.VerbJoin, Name: name}), nil
}

func (s *blockSpeaker) Push(out []byte, job *workload.Push) []byte {
	s.body = job.AppendBody(s.body[:0])
	return s.say(out, measure.Push, blockq.Command{
		Verb: blockq.VerbPut, Block: s.body,
		Queue: string(job.Jobs.AppendQueue(nil, job.K)), ID: string(job.Jobs.AppendJID(nil, job.K)),
	})
}

func (s *blockSpeaker) Take(out []byte, from *protocol.Queues) []byte {
	return s.say(out, measure.Fetch, blockq.Command{Verb: blockq.VerbTake, Queue: from.Names[0]})
}

func (s *blockSpeaker) Done(out, jid []byte) []byte {
	return s.say(out, measure.Ack, blockq.Command{Verb: blockq.VerbDone, ID: string(jid)})
}

func (s *blockSpeaker) Fail(out, _ []byte) []byte                { return out }
func (s *blockSpeaker) Beat(out []byte, _ protocol.State) []byte { return out }

func (s *blockSpeaker) Info(out []byte) []byte {
	return s.say(out, measure.Info, blockq.Command{Verb: blockq.VerbCount, Queue: "any"})
}

func (s *blockSpeaker) Bye(out []byte) []byte {
	return s.say(out, measure.End, blockq.Command{Verb: blockq.VerbBye})
}

// blockReplies are the kinds of replies that a command may have, beside an error.
var blockReplies = map[measure.Op]map[blockq.Kind]protocol.Kind{
	measure.Hello: {blockq.OK: protocol.OK}, measure.Push: {blockq.OK: protocol.OK}, measure.Ack: {blockq.OK: protocol.OK},
	measure.Fetch: {blockq.Job: protocol.Job, blockq.None: protocol.Empty}, measure.Info: {blockq.Count: protocol.OK},
}

func (s *blockSpeaker) Hear(in []byte, e *protocol.Event) (int, error) {
	r, n, err := blockq.Decode(in)
	verb := s.Verb(s.asked)
	switch {
	case errors.Is(err, blockq.ErrShort):
		return 0, protocol.ErrShort
	case err != nil:
		return 0, &protocol.BreachError{Verb: verb, Breach: protocol.BrokenGrammar, What: err.Error()}
	case r.Kind == blockq.Err:
		e.Kind, e.Err = protocol.Refused, errors.New(r.Reason)
		return n, nil
	}
	kind, fits := blockReplies[s.asked][r.Kind]
	if !fits {
		what := verb + " was answered with " + string(r.Kind)
		return 0, &protocol.BreachError{Verb: verb, Breach: protocol.ForeignReply + verb, What: what}
	}
	e.Kind, e.Body = kind, r.Block
	return n, nil
}

func (*blockSpeaker) Verb(op measure.Op) string {
	return map[measure.Op]string{
		measure.Hello: blockq.VerbJoin, measure.Push: blockq.VerbPut, measure.Fetch: blockq.VerbTake,
		measure.Ack: blockq.VerbDone, measure.Info: blockq.VerbCount, measure.End: blockq.VerbBye,
	}[op]
}

func (*blockSpeaker) Times() protocol.Times { return protocol.Times{Poll: 10 * time.Millisecond} }

// blockRun has a test work with a run of the second protocol that is over, and its history.
func blockRun(t *testing.T, fault blockq.Fault, load workload.Workload,
	test func(r *run, drained bool, h *history.History),
) {
	t.Helper()
	var recorder *history.Recorder
	wholeAt(t, func(r *run, network *memnet.Network) func() {
		recorder = history.NewRecorder()
		listener, err := network.Listen("server:7419")
		require.NoError(t, err)
		server := &blockq.Server{Fault: fault}
		go server.Serve(listener)
		return func() { server.Close() }
	}, load, func(r *run) {
		r.patience = 30 * time.Second
		r.begin()
		time.Sleep(10 * time.Second)
		drained := r.finish()
		test(r, drained, recorder.History())
	}, func(c *client.Config) { c.Speaker, c.History = newBlockSpeaker, recorder })
}

// blockLoad has a worker for each queue: a take names one.
func blockLoad() workload.Workload {
	load := roundtrip()
	load.Rate, load.Queues.Number = 200, load.Consumers
	load.Work = workload.Range{Min: 10 * time.Millisecond, Max: 30 * time.Millisecond}
	return load
}

// A protocol that is unlike FWP in all that matters to a client is put under load by the
// same roles: everything that was pushed is taken and finished.
func TestASecondProtocolUnderLoad(t *testing.T) {
	t.Parallel()
	cases := map[string]func(w *workload.Workload){
		"plain": func(*workload.Workload) {},
		"pool": func(w *workload.Workload) {
			w.Topology = workload.Topology{Kind: workload.Pool, Fetchers: 2, Reporters: 2, Concurrency: 5}
		},
		"own queues": func(w *workload.Workload) { w.QueuePerJob = 0.1 },
		"observed":   func(w *workload.Workload) { w.Observers, w.ObserveEvery = 1, workload.Duration(time.Second) },
		"churn":      func(w *workload.Workload) { w.Producers, w.Churn, w.Connections = 0, true, 20 },
		"restless": func(w *workload.Workload) {
			w.Disconnects, w.DisconnectAt = 0.1, []workload.Phase{workload.AtHello, workload.AtIdle}
		},
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			load := blockLoad()
			change(&load)
			blockRun(t, "", load, func(r *run, drained bool, h *history.History) {
				assert.True(t, drained)
				counts := r.ledger.Count(true)
				assert.EqualValues(t, 2000, counts.Pushed+r.total.Dropped())
				assert.Greater(t, counts.Pushed, int64(1900))
				assert.Equal(t, counts.Pushed, counts.Acked)
				assert.Zero(t, counts.Lost+counts.Duplicated+counts.Foreign+counts.Returned)
				assert.NoError(t, r.status().First)
				report := history.Examine(h)
				assert.Empty(t, report.Findings)
				assert.Equal(t, int(counts.Pushed), report.Settled)
			})
		})
	}
}

// What is wrong with its server shows in the account, or as a breach.
func TestFaultsOfASecondProtocol(t *testing.T) {
	t.Parallel()
	cases := map[blockq.Fault]func(t *testing.T, r *run, breaches []client.Breach){
		blockq.DeliveredTwice: func(t *testing.T, r *run, breaches []client.Breach) {
			counts := r.ledger.Count(false)
			assert.Positive(t, counts.Duplicated+counts.Returned)
			assert.Empty(t, breaches)
		},
		blockq.Lost: func(t *testing.T, r *run, breaches []client.Breach) {
			counts := r.ledger.Count(true)
			assert.Equal(t, counts.Pushed, counts.Lost)
			assert.Empty(t, breaches)
		},
		blockq.Foreign: func(t *testing.T, _ *run, breaches []client.Breach) {
			require.NotEmpty(t, breaches)
			assert.Equal(t, "foreign-reply:take", breaches[0].First.Breach)
		},
		blockq.BlockShort: func(t *testing.T, _ *run, breaches []client.Breach) {
			require.NotEmpty(t, breaches)
			assert.Equal(t, protocol.BrokenGrammar, breaches[0].First.Breach)
		},
		blockq.Silent: func(t *testing.T, r *run, _ []client.Breach) {
			assert.Positive(t, r.total.Errors(measure.Ack, measure.Timeout))
		},
	}
	for fault, judge := range cases {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			blockRun(t, fault, blockLoad(), func(r *run, _ bool, _ *history.History) {
				var breaches []client.Breach
				r.each(func(c *client.Shard) { breaches = append(breaches, c.Breaches()...) })
				judge(t, r, breaches)
			})
		})
	}
}
