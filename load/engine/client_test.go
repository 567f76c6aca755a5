package engine_test

import (
	"context"
	"errors"
	"net/netip"

	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/wire"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// redisProtocol is a protocol whose every command is an inline PING: a push costs what it costs in a load, with dispatcher,
// speaker, parser of RESP, ledger and three histograms, and the server does what it does for redis-benchmark.
type redisProtocol struct{}

func (redisProtocol) Introduce(context.Context, wire.Dial) (wire.Introduction, error) {
	return wire.Introduction{}, nil
}

func (redisProtocol) Speaker(string) wire.Speaker { return new(redisSpeaker) }

type redisSpeaker struct{ isFetch bool }

func (s *redisSpeaker) ping(out []byte, isFetch bool) []byte {
	s.isFetch = isFetch
	return append(out, "PING\r\n"...)
}

func (s *redisSpeaker) Open(out []byte) ([]byte, error)         { return s.ping(out, false), nil }
func (s *redisSpeaker) Push(out []byte, _ *plan.Push) []byte    { return s.ping(out, false) }
func (s *redisSpeaker) Fetch(out []byte, _ *wire.Queues) []byte { return s.ping(out, true) }
func (s *redisSpeaker) Ack(out, _ []byte) []byte                { return s.ping(out, false) }
func (s *redisSpeaker) Fail(out, _ []byte) []byte               { return s.ping(out, false) }
func (s *redisSpeaker) Beat(out []byte, _ wire.State) []byte    { return s.ping(out, false) }
func (s *redisSpeaker) Info(out []byte) []byte                  { return s.ping(out, false) }
func (*redisSpeaker) Bye(out []byte) []byte                     { return append(out, "QUIT\r\n"...) }
func (*redisSpeaker) Verb(measure.Op) string                    { return "PING" }
func (*redisSpeaker) Times() wire.Times                         { return wire.Times{} }

func (s *redisSpeaker) Hear(in []byte, e *wire.Event) (int, error) {
	_, n, err := fwp.Decode(in, 1<<10)
	if errors.Is(err, fwp.ErrShort) {
		return 0, wire.ErrShort
	}
	if s.isFetch {
		e.Kind = wire.Empty // there is no job here
	}
	return n, err
}

// client carries out an order with all that a load has.
func client(o order) (m measurement, err error) {
	address, err := netip.ParseAddrPort(o.Address)
	if err != nil {
		return m, err
	}
	config := load.Config{
		Workload: plan.Workload{Producers: o.Connections, JobLimit: int64(o.Pings)}, Run: "r", Pace: 1e5, Loops: 1,
		Protocol: redisProtocol{}, Dial: configFor(address).Dial,
	}
	if o.Epoll {
		config.Resolve = configFor(address).Resolve
	}
	result := load.Run(context.Background(), config)
	if result.Report.Jobs.Pushed != int64(o.Pings) {
		return m, errors.New("not all PINGs were answered: " + result.Report.GoneReason)
	}
	op := result.Report.Op("push")
	m.Elapsed = result.Report.Measured
	m.Service.P99 = op.Service.P99
	return m, nil
}
