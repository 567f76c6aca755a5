// Package blockqspeaker speaks blockq for the connections of a load. It exists for tests only.
package blockqspeaker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/internal/blockq"
	"github.com/fwpsuite/fwp/internal/blockq/blockqdialect"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/protocol"
	"github.com/fwpsuite/fwp/load/workload"
)

// Protocol is blockq for a load.
type Protocol struct{}

// Speaker implements [protocol.Protocol].
func (Protocol) Speaker(worker string) protocol.Speaker { return &speaker{worker: worker} }

// Introduce asks whether the server answers a ping. A server reports nothing about itself.
func (Protocol) Introduce(ctx context.Context, dial protocol.Dial) (in protocol.Introduction, err error) {
	nc, err := dial(ctx)
	if err != nil {
		return in, err
	}
	conn := session.New(nc, blockqdialect.Dialect{}, session.Config{})
	defer conn.Leave(ctx)
	r, err := conn.Ask(ctx, blockq.AppendCommand(nil, blockq.Command{Verb: blockq.VerbPing}))
	if err == nil && r.String() != string(blockq.OK) {
		err = fmt.Errorf("ping was answered with %s", r)
	}
	return in, err
}

// speaker speaks the second protocol: the client speaks first, a job is a counted
// block, there is no heartbeat, no FAIL and no reply to the goodbye.
type speaker struct {
	worker string
	asked  measure.Op
	body   []byte // memory for a job, whose size goes before it
}

func (s *speaker) say(out []byte, op measure.Op, c blockq.Command) []byte {
	s.asked = op
	return blockq.AppendCommand(out, c)
}

func (s *speaker) Open(out []byte) ([]byte, error) {
	name := s.worker
	if name == "" {
		name = "producer"
	}
	return s.say(out, measure.Hello, blockq.Command{Verb: blockq.VerbJoin, Name: name}), nil
}

func (s *speaker) Push(out []byte, job *workload.Push) []byte {
	s.body = job.AppendBody(s.body[:0])
	return s.say(out, measure.Push, blockq.Command{
		Verb: blockq.VerbPut, Block: s.body,
		Queue: string(job.Jobs.AppendQueue(nil, job.K)), ID: string(job.Jobs.AppendJID(nil, job.K)),
	})
}

func (s *speaker) Take(out []byte, from *protocol.Queues) []byte {
	return s.say(out, measure.Fetch, blockq.Command{Verb: blockq.VerbTake, Queue: from.Names[0]})
}

func (s *speaker) Done(out, jid []byte) []byte {
	return s.say(out, measure.Ack, blockq.Command{Verb: blockq.VerbDone, ID: string(jid)})
}

func (s *speaker) Fail(out, _ []byte) []byte                { return out }
func (s *speaker) Beat(out []byte, _ protocol.State) []byte { return out }

func (s *speaker) Info(out []byte) []byte {
	return s.say(out, measure.Info, blockq.Command{Verb: blockq.VerbCount, Queue: "any"})
}

func (s *speaker) Bye(out []byte) []byte {
	return s.say(out, measure.End, blockq.Command{Verb: blockq.VerbBye})
}

// replies are the kinds of replies that a command may have, beside an error.
var replies = map[measure.Op]map[blockq.Kind]protocol.Kind{
	measure.Hello: {blockq.OK: protocol.OK}, measure.Push: {blockq.OK: protocol.OK}, measure.Ack: {blockq.OK: protocol.OK},
	measure.Fetch: {blockq.Job: protocol.Job, blockq.None: protocol.Empty}, measure.Info: {blockq.Count: protocol.OK},
}

func (s *speaker) Hear(in []byte, e *protocol.Event) (int, error) {
	r, n, err := blockq.Decode(in)
	verb := s.Verb(s.asked)
	switch {
	case errors.Is(err, blockq.ErrShort):
		return 0, protocol.ErrShort
	case err != nil:
		return 0, &protocol.BreachError{Verb: verb, Breach: protocol.BrokenGrammar, What: err.Error()}
	case r.Kind == blockq.Err:
		e.Kind, e.Err = protocol.Refused, &protocol.RefusedError{Text: r.Reason}
		return n, nil
	}
	kind, fits := replies[s.asked][r.Kind]
	if !fits {
		what := verb + " was answered with " + string(r.Kind)
		return 0, &protocol.BreachError{Verb: verb, Breach: protocol.ForeignReply + verb, What: what}
	}
	e.Kind, e.Body = kind, r.Block
	return n, nil
}

func (*speaker) Verb(op measure.Op) string {
	return map[measure.Op]string{
		measure.Hello: blockq.VerbJoin, measure.Push: blockq.VerbPut, measure.Fetch: blockq.VerbTake,
		measure.Ack: blockq.VerbDone, measure.Info: blockq.VerbCount, measure.End: blockq.VerbBye,
	}[op]
}

func (*speaker) Times() protocol.Times { return protocol.Times{Poll: 10 * time.Millisecond} }
