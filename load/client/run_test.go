package client_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/memnet"
	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/load/engine"
	"github.com/fwpsuite/fwp/load/fwpspeaker"
	"github.com/fwpsuite/fwp/load/ledger"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/workload"
)

// run is a whole load run in virtual time: engine, shards, and a server of fakes.
type run struct {
	t         *testing.T
	server    *fakes.Server
	engine    engine.Engine
	shards    []*client.Shard
	recorders []*measure.Recorder
	ledger    *ledger.Ledger
	patience  time.Duration // with the drain
	total     measure.Set
	moved     chan struct{} // something has come since it was last looked
}

const loops = 2

// whole has a test work with a run whose connections are not open yet.
func whole(t *testing.T, server fakes.Config, load workload.Workload, test func(r *run),
	change ...func(*client.Config),
) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		network := memnet.New()
		r := &run{t: t, patience: 5 * time.Minute, ledger: ledger.New(), moved: make(chan struct{}, 1)}
		server.Listen = func() (net.Listener, error) { return network.Listen("server:7419") }
		r.server = fakes.NewServer(server)
		r.engine = engine.NewPortable(engine.Config{Loops: loops, Coarse: true,
			Dial: func(ctx context.Context) (net.Conn, error) {
				nc, err := network.DialContext(ctx, "tcp", "server:7419")
				if err != nil {
					return nil, err
				}
				return wired{nc.(socket), r.moved}, nil
			}})
		r.addWorker(load, change)
		test(r)
		require.NoError(t, r.engine.Close())
		r.server.Close()
	})
}

func (r *run) addWorker(load workload.Workload, change []func(*client.Config)) {
	require.NoError(r.t, load.Check())
	jobs, shared := load.Jobs("whole", 1), new(client.Shared)
	for i, loop := range r.engine.Loops() {
		r.recorders = append(r.recorders, measure.NewRecorder())
		config := client.Config{
			Loop: loop, Index: i, Of: loops, Workload: &load, Jobs: jobs, Recorder: r.recorders[i],
			Ledger: r.ledger, Shared: shared, Plan: load.Plan(1), Run: "whole", Began: time.Now(),
			Speaker: new(fwpspeaker.Config).Speaker,
		}
		for _, c := range change {
			c(&config)
		}
		r.shards = append(r.shards, client.NewShard(config))
	}
}

// each calls f in every loop.
func (r *run) each(f func(c *client.Shard)) {
	for i, c := range r.shards {
		r.engine.Do(i, func(time.Duration) { f(c) })
	}
}

// status is that of all shards together.
func (r *run) status() client.Status {
	sum := client.Status{Drained: true}
	r.each(func(c *client.Shard) {
		s := c.Status()
		sum.Wanted += s.Wanted
		sum.Ready += s.Ready
		sum.Open += s.Open
		sum.Errors += s.Errors
		sum.Held += s.Held
		sum.InFlight += s.InFlight
		sum.Waited += s.Waited
		sum.Quiet += s.Quiet
		sum.Terminated += s.Terminated
		sum.Emptied += s.Emptied
		sum.TakenAtStop += s.TakenAtStop
		sum.Repeated += s.Repeated
		sum.Disconnects += s.Disconnects
		sum.Pushing = sum.Pushing || s.Pushing
		sum.Drained = sum.Drained && s.Drained
		if s.First != nil {
			sum.First = s.First
		}
	})
	return sum
}

// until waits for something, and says whether it came to be. It looks whenever
// something has come on a connection and everybody has done what follows from it.
func (r *run) until(limit time.Duration, done func(s client.Status) bool) bool {
	over := time.After(limit)
	for {
		synctest.Wait()
		if done(r.status()) {
			return true
		}
		select {
		case <-r.moved:
		case <-over:
			return false
		}
	}
}

func (r *run) now() (now time.Duration) {
	r.engine.Do(0, func(t time.Duration) { now = t })
	return now
}

// begin connects, fills and starts.
func (r *run) begin() {
	r.each((*client.Shard).Connect)
	require.True(r.t, r.until(time.Minute, func(s client.Status) bool { return s.Ready == s.Wanted }))
	r.each((*client.Shard).Prefill)
	require.True(r.t, r.until(time.Minute, func(s client.Status) bool { return !s.Pushing }))
	at := r.now()
	r.each(func(c *client.Shard) { c.Start(at) })
}

// finish stops, drains and ends. It says whether the drain was complete.
func (r *run) finish() bool {
	r.each((*client.Shard).StopPushing)
	pushed := r.until(time.Minute, func(s client.Status) bool { return !s.Pushing })
	from := r.now()
	r.each(func(c *client.Shard) { c.Drain(from) })
	drained := r.until(r.patience, func(s client.Status) bool {
		return s.Drained && r.ledger.Count(false).Waiting <= s.Repeated
	})
	r.each((*client.Shard).Stop)
	ended := r.until(time.Minute, func(s client.Status) bool { return s.Open == 0 })
	r.each((*client.Shard).Abandon)
	for i, recorder := range r.recorders {
		r.engine.Do(i, func(now time.Duration) { r.total.Add(recorder.Take(now)) })
	}
	return pushed && drained && ended
}

// roundtrip is an open loop of 1,000 jobs in ten seconds.
func roundtrip() workload.Workload {
	return workload.Workload{
		Producers: 5, Consumers: 5, Payload: workload.Constant(100), Rate: 100, Duration: workload.Duration(10 * time.Second),
		Queues: workload.Queues{Number: 3},
	}
}

// wired is a connection that tells when something has come on it.
type wired struct {
	socket
	moved chan<- struct{}
}

func (c wired) Read(b []byte) (int, error) {
	n, err := c.socket.Read(b)
	select {
	case c.moved <- struct{}{}:
	default: // it is known
	}
	return n, err
}

// socket is what a connection of package net can do beside.
type socket interface {
	net.Conn
	CloseWrite() error
	SetLinger(seconds int) error
}
