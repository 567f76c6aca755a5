package client_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
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
func whole(t *testing.T, server fakes.Config, load workload.Workload, test func(r *run), change ...func(*client.Config)) {
	t.Helper()
	wholeAt(t, func(r *run, network *memnet.Network) func() {
		server.Listen = func() (net.Listener, error) { return network.Listen("server:7419") }
		r.server = fakes.NewServer(server)
		return func() { r.server.Close() }
	}, load, test, change...)
}

// wholeAt is whole with any server, which serve starts and what it returns ends.
func wholeAt(t *testing.T, serve func(*run, *memnet.Network) func(), load workload.Workload, test func(r *run), change ...func(*client.Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		network := memnet.New()
		r := &run{t: t, patience: 5 * time.Minute, ledger: ledger.New(), moved: make(chan struct{}, 1)}
		closeServer := serve(r, network)
		r.engine = engine.NewPortable(engine.Config{Loops: loops, Coarse: true, Dial: func(ctx context.Context) (net.Conn, error) {
			nc, err := network.DialContext(ctx, "tcp", "server:7419")
			if err != nil {
				return nil, err
			}
			return wired{nc.(socket), r.moved}, nil
		}})
		r.hire(load, change)
		test(r)
		require.NoError(t, r.engine.Close())
		closeServer()
	})
}

func (r *run) hire(load workload.Workload, change []func(*client.Config)) {
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
	drained := r.until(r.patience, func(s client.Status) bool { return s.Drained && r.ledger.Count(false).Waiting <= s.Repeated })
	r.each((*client.Shard).Stop)
	ended := r.until(time.Minute, func(s client.Status) bool { return s.Open == 0 })
	r.each((*client.Shard).Abandon)
	for i, recorder := range r.recorders {
		r.engine.Do(i, func(now time.Duration) { r.total.Add(recorder.Take(now)) })
	}
	return pushed && drained && ended
}

func roundtrip() workload.Workload {
	return workload.Workload{
		Producers: 5, Consumers: 5, Payload: workload.Constant(100), Rate: 500, Duration: workload.Duration(10 * time.Second),
		Queues: workload.Queues{Number: 3},
	}
}

func TestEveryKindOfRunAccountsForEveryJob(t *testing.T) {
	t.Parallel()
	twice := 2
	ms := func(n int) workload.Range {
		return workload.Range{Min: time.Millisecond, Max: time.Duration(n) * time.Millisecond}
	}
	cases := map[string]func(w *workload.Workload){
		"round trip": func(*workload.Workload) {},
		"poisson":    func(w *workload.Workload) { w.Poisson = true },
		"closed loop": func(w *workload.Workload) {
			w.Rate, w.Think, w.JobLimit, w.Duration = 0, ms(20), 3000, 0
		},
		"pool": func(w *workload.Workload) {
			w.Topology = workload.Topology{Kind: workload.Pool, Fetchers: 2, Reporters: 2, Concurrency: 20}
			w.Work = ms(50)
		},
		"large":     func(w *workload.Workload) { w.Payload = workload.Constant(100_000); w.Rate = 50 },
		"push":      func(w *workload.Workload) { w.Consumers = 0 },
		"fetch":     func(w *workload.Workload) { w.Producers, w.Prefill, w.Rate = 0, 5000, 0 },
		"prefilled": func(w *workload.Workload) { w.Prefill = 1000 },
		"scheduled": func(w *workload.Workload) { w.Delay = workload.Range{Min: time.Second, Max: 5 * time.Second} },
		"failing":   func(w *workload.Workload) { w.FailShare, w.Retry = 0.3, &twice },
		"churn": func(w *workload.Workload) {
			*w = workload.Workload{Churn: true, Connections: 20, Rate: 500, Duration: w.Duration, Payload: workload.Constant(10)}
		},
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			load := roundtrip()
			change(&load)
			server := fakes.Config{Password: "secret", Iterations: 10, RetryDelay: func(int) time.Duration { return time.Second }}
			whole(t, server, load, func(r *run) {
				r.begin()
				time.Sleep(10 * time.Second)
				assert.True(t, r.finish())
				counts := r.ledger.Count(true)
				want := int64(5000)
				switch name {
				case "closed loop":
					want = 3000
				case "large":
					want = 500
				case "prefilled":
					want = 6000
				case "poisson":
					want = counts.Pushed
				}
				assert.Greater(t, counts.Pushed, int64(400))
				assert.Equal(t, want, counts.Pushed)
				assert.Equal(t, counts.Pushed, counts.Acked+counts.Dead)
				assert.Equal(t, counts.Delivered, counts.Acked+counts.Dead)
				assert.Zero(t, counts.Lost+counts.Missing+counts.Duplicated+counts.Returned+counts.Foreign+counts.Doubtful+counts.Held+counts.Waiting)
				assert.Equal(t, name == "failing", counts.Redelivered > 0)
				s := r.status()
				assert.Zero(t, s.Errors, s.First)
				assert.Zero(t, s.InFlight)
				assert.Zero(t, s.Ready)
				assert.Zero(t, r.server.Connections())
				assert.Zero(t, r.total.Dropped())
			}, func(c *client.Config) { c.Speaker = (&fwpspeaker.Config{Password: "secret"}).Speaker })
		})
	}
}

func TestConnectionsThatOnlyBeat(t *testing.T) {
	t.Parallel()
	var beats, others atomic.Int64
	hook := func(e *fakes.Event) {
		if e.Point == fakes.Ran && e.Command.Verb == "BEAT" {
			beats.Add(1)
		} else if e.Point == fakes.Ran {
			others.Add(1)
		}
	}
	whole(t, fakes.Config{Hook: hook}, workload.Workload{BeatOnly: true, Connections: 100}, func(r *run) {
		r.begin()
		time.Sleep(10*time.Minute + time.Second)
		assert.Equal(t, 100, r.status().Ready)
		assert.Equal(t, int64(100*40), beats.Load())
		assert.Equal(t, int64(100), others.Load(), "HELLO")
		assert.True(t, r.finish())
	})
}

// stalling has the server say nothing for a second, once.
func stalling(at, length time.Duration) func(*fakes.Event) {
	begin := time.Now()
	return func(e *fakes.Event) {
		if since := time.Since(begin); e.Point == fakes.Ran && e.Command.Verb == "PUSH" && since >= at && since < at+length {
			e.Delay = at + length - since
		}
	}
}

func TestAStallIsSeenInFull(t *testing.T) {
	t.Parallel()
	var hook func(*fakes.Event)
	server := fakes.Config{Hook: func(e *fakes.Event) { hook(e) }}
	whole(t, server, roundtrip(), func(r *run) {
		hook = stalling(4*time.Second, time.Second)
		r.begin()
		time.Sleep(10 * time.Second)
		assert.True(t, r.finish())
		response := func(p float64) time.Duration {
			return r.total.Percentile(measure.SeriesOf(measure.Push, measure.Response), p)
		}
		assert.InDelta(t, time.Second, response(100), float64(30*time.Millisecond))
		assert.InDelta(t, 500*time.Millisecond, response(95), float64(50*time.Millisecond), "of 5000, 500 came into the stall")
		assert.Less(t, r.total.Percentile(measure.SeriesOf(measure.Push, measure.Lateness), 100), time.Millisecond)
		assert.InDelta(t, 500, r.status().Waited, 20)
	})
}

func TestFaultsAreFound(t *testing.T) {
	t.Parallel()
	cases := map[string]func(t *testing.T, c ledger.Counts){
		"push-lost":       func(t *testing.T, c ledger.Counts) { t.Helper(); assert.Equal(t, int64(100), c.Lost) },
		"ack-redelivered": func(t *testing.T, c ledger.Counts) { t.Helper(); assert.Positive(t, c.Returned) },
	}
	for _, f := range fakes.Faults() {
		judge := cases[f.Name]
		if judge == nil {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			load := roundtrip()
			load.Work = workload.Range{Min: 10 * time.Millisecond, Max: 10 * time.Millisecond}
			whole(t, fakes.Config{Hook: f.Hook()}, load, func(r *run) {
				r.patience = 10 * time.Second // nothing is ever empty where jobs come back for ever
				r.begin()
				time.Sleep(10 * time.Second)
				r.finish()
				judge(t, r.ledger.Count(true))
			})
		})
	}
}

// wrongQueue has every 100th job look as if it came from another queue.
func wrongQueue() func(*fakes.Event) {
	var n atomic.Int64
	return func(e *fakes.Event) {
		if e.Point == fakes.Delivered && n.Add(1)%100 == 0 {
			e.Object.SetText("queue", "default")
		}
	}
}

func TestJobsFromAWrongQueueAreFound(t *testing.T) {
	t.Parallel()
	whole(t, fakes.Config{Hook: wrongQueue()}, roundtrip(), func(r *run) {
		r.begin()
		time.Sleep(10 * time.Second)
		assert.True(t, r.finish())
		counts := r.ledger.Count(true)
		assert.Equal(t, int64(50), counts.Foreign)
		assert.Zero(t, counts.Lost)
		assert.Equal(t, int64(5000), counts.Acked)
	})
}

// A server that dies and comes back: what was in flight is in doubt, all else is there.
func TestAServerThatIsKilled(t *testing.T) {
	t.Parallel()
	load := roundtrip()
	load.ReserveFor = workload.Duration(60 * time.Second)
	whole(t, fakes.Config{MinReserve: time.Minute, RetryDelay: func(int) time.Duration { return time.Second }}, load, func(r *run) {
		r.begin()
		for range 3 {
			time.Sleep(2 * time.Second)
			require.NoError(t, r.server.Kill())
		}
		time.Sleep(4 * time.Second)
		assert.Equal(t, 10, r.status().Ready, "everybody is back")
		r.finish()
		counts := r.ledger.Count(true)
		assert.Zero(t, counts.Lost+counts.Duplicated+counts.Foreign)
		assert.Equal(t, counts.Pushed+counts.Doubtful, int64(5000)-r.total.Dropped())
		assert.Positive(t, r.status().Errors)
	})
}

func TestAWrongPassword(t *testing.T) {
	t.Parallel()
	whole(t, fakes.Config{Password: "secret"}, roundtrip(), func(r *run) {
		r.each((*client.Shard).Connect)
		time.Sleep(10 * time.Second)
		s := r.status()
		assert.Zero(t, s.Ready)
		require.ErrorContains(t, s.First, "error")
		assert.Less(t, s.Errors, int64(10*12), "it is not tried all the time")
		r.each((*client.Shard).Stop)
		assert.True(t, r.until(time.Minute, func(s client.Status) bool { return s.Open == 0 }))
	}, func(c *client.Config) { c.Speaker = (&fwpspeaker.Config{Password: "wrong"}).Speaker })
}

func TestAServerThatTakesOnlySome(t *testing.T) {
	t.Parallel()
	load := roundtrip()
	whole(t, fakes.Config{MaxConnections: 7}, load, func(r *run) {
		r.each((*client.Shard).Connect)
		time.Sleep(10 * time.Second)
		assert.Equal(t, 7, r.status().Ready)
		assert.Equal(t, 10, r.status().Wanted)
		r.each((*client.Shard).Stop)
		assert.True(t, r.until(time.Minute, func(s client.Status) bool { return s.Open == 0 }))
	})
}

func TestWorkersObeyTheServer(t *testing.T) {
	t.Parallel()
	whole(t, fakes.Config{}, roundtrip(), func(r *run) {
		r.begin()
		require.NoError(t, r.server.Signal("fwpbench-whole-w0", "quiet"))
		require.NoError(t, r.server.Signal("fwpbench-whole-w1", "terminate"))
		time.Sleep(20 * time.Second)
		s := r.status()
		assert.Equal(t, 1, s.Quiet)
		assert.Equal(t, 1, s.Terminated)
		assert.Equal(t, 9, s.Ready)
		assert.True(t, r.finish())
		assert.Zero(t, r.ledger.Count(true).Lost)
	})
}
