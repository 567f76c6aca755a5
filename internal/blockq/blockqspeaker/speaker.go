// Package blockqspeaker speaks blockq for the connections of a load. It exists for tests only.
package blockqspeaker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
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
	r, err := conn.Ask(ctx, []byte("ping\r\n"))
	if err == nil && r.String() != "OK" {
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

// commands are the verbs, and the replies that they may have beside an error.
var commands = map[measure.Op]struct {
	verb    string
	replies map[string]protocol.Kind
}{
	measure.Hello: {"join", map[string]protocol.Kind{"OK": protocol.OK}},
	measure.Push:  {"put", map[string]protocol.Kind{"OK": protocol.OK}},
	measure.Fetch: {"take", map[string]protocol.Kind{"JOB": protocol.Job, "NONE": protocol.Empty}},
	measure.Ack:   {"done", map[string]protocol.Kind{"OK": protocol.OK}},
	measure.Info:  {"count", map[string]protocol.Kind{"COUNT": protocol.OK}},
	measure.End:   {"bye", nil},
}

func (s *speaker) say(out []byte, op measure.Op, block []byte, words ...string) []byte {
	s.asked = op
	return blockq.Append(out, blockq.Line{Words: append([]string{s.Verb(op)}, words...), Block: block})
}

func (s *speaker) Open(out []byte) ([]byte, error) {
	return s.say(out, measure.Hello, nil, cmp.Or(s.worker, "producer")), nil
}

func (s *speaker) Push(out []byte, job *workload.Push) []byte {
	s.body = job.AppendBody(s.body[:0])
	queue, id := job.Jobs.AppendQueue(nil, job.K), job.Jobs.AppendJID(nil, job.K)
	return s.say(out, measure.Push, s.body, string(queue), string(id))
}

func (s *speaker) Take(out []byte, from *protocol.Queues) []byte {
	return s.say(out, measure.Fetch, nil, from.Names[0])
}

func (s *speaker) Done(out, jid []byte) []byte              { return s.say(out, measure.Ack, nil, string(jid)) }
func (s *speaker) Fail(out, _ []byte) []byte                { return out }
func (s *speaker) Beat(out []byte, _ protocol.State) []byte { return out }
func (s *speaker) Info(out []byte) []byte                   { return s.say(out, measure.Info, nil, "any") }
func (s *speaker) Bye(out []byte) []byte                    { return s.say(out, measure.End, nil) }

func (s *speaker) Hear(in []byte, e *protocol.Event) (int, error) {
	r, n, err := blockq.Parse(in)
	verb := s.Verb(s.asked)
	kind, fits := commands[s.asked].replies[r.Words[0]]
	switch {
	case errors.Is(err, session.ErrShort):
		return 0, protocol.ErrShort
	case err != nil:
		return 0, &protocol.BreachError{Verb: verb, Breach: protocol.BrokenGrammar, What: err.Error()}
	case r.Words[0] == "ERR":
		e.Kind, e.Err = protocol.Refused, &protocol.RefusedError{Text: strings.Join(r.Words[1:], " ")}
		return n, nil
	case !fits:
		what := verb + " was answered with " + r.Words[0]
		return 0, &protocol.BreachError{Verb: verb, Breach: protocol.ForeignReply + verb, What: what}
	}
	e.Kind, e.Body = kind, r.Block
	return n, nil
}

func (*speaker) Verb(op measure.Op) string { return commands[op].verb }

func (*speaker) Times() protocol.Times { return protocol.Times{Poll: 10 * time.Millisecond} }
