package client_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/faults"
	"github.com/fwpsuite/fwp/internal/slow"
	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/load/fwpspeaker"
	"github.com/fwpsuite/fwp/load/ledger"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/workload"
)

func TestEveryKindOfRunAccountsForEveryJob(t *testing.T) {
	t.Parallel()
	twice, rate := 2, slow.Pick[workload.Rate](80, 500)
	ms := func(n int) workload.Range {
		return workload.Range{Min: time.Millisecond, Max: time.Duration(n) * time.Millisecond}
	}
	cases := map[string]func(w *workload.Workload){
		"round trip": func(*workload.Workload) {},
		"poisson":    func(w *workload.Workload) { w.Poisson = true },
		"closed loop": func(w *workload.Workload) {
			w.Rate, w.Think, w.JobLimit, w.Duration = 0, ms(20), int64(6*rate), 0
		},
		"pool": func(w *workload.Workload) {
			w.Topology = workload.Topology{Kind: workload.Pool, Fetchers: 2, Reporters: 2, Concurrency: 20}
			w.Work = ms(50)
		},
		"large":     func(w *workload.Workload) { w.Payload = workload.Constant(100_000); w.Rate = rate / 10 },
		"push":      func(w *workload.Workload) { w.Consumers = 0 },
		"fetch":     func(w *workload.Workload) { w.Producers, w.Prefill, w.Rate = 0, int64(10*rate), 0 },
		"prefilled": func(w *workload.Workload) { w.Prefill = 1000 },
		"scheduled": func(w *workload.Workload) { w.Delay = workload.Range{Min: time.Second, Max: 5 * time.Second} },
		"failing":   func(w *workload.Workload) { w.FailShare, w.Retry = 0.3, &twice },
		"churn": func(w *workload.Workload) {
			*w = workload.Workload{Churn: true, Connections: 20, Rate: rate, Duration: w.Duration,
				Payload: workload.Constant(10)}
		},
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			load := roundtrip()
			load.Rate = rate
			change(&load)
			server := fakes.Config{Password: "secret", Iterations: 10,
				RetryDelay: func(int) time.Duration { return time.Second }}
			whole(t, server, load, func(r *run) {
				r.begin()
				time.Sleep(10 * time.Second)
				assert.True(t, r.finish())
				counts := r.ledger.Count(true)
				want := int64(10 * rate)
				switch name {
				case "closed loop":
					want = int64(6 * rate)
				case "large":
					want = int64(rate)
				case "prefilled":
					want = int64(10*rate) + 1000
				case "poisson":
					want = counts.Pushed
				}
				assert.Greater(t, counts.Pushed, int64(0.8*rate))
				assert.Equal(t, want, counts.Pushed)
				assert.Equal(t, counts.Pushed, counts.Acked+counts.Dead)
				assert.Equal(t, counts.Delivered, counts.Acked+counts.Dead)
				assert.Zero(t, counts.Lost+counts.Missing+counts.Duplicated+counts.Returned)
				assert.Zero(t, counts.Foreign+counts.Doubtful+counts.Held+counts.Waiting)
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
		assert.InDelta(t, 500*time.Millisecond, response(95), float64(50*time.Millisecond),
			"of 1000, 100 came into the stall")
		assert.Less(t, r.total.Percentile(measure.SeriesOf(measure.Push, measure.Lateness), 100), time.Millisecond)
		assert.InDelta(t, 100, r.status().Waited, 10)
	})
}

func TestFaultsAreFound(t *testing.T) {
	t.Parallel()
	cases := map[string]func(t *testing.T, c ledger.Counts){
		"push-lost":       func(t *testing.T, c ledger.Counts) { t.Helper(); assert.Equal(t, int64(20), c.Lost) },
		"ack-redelivered": func(t *testing.T, c ledger.Counts) { t.Helper(); assert.Positive(t, c.Returned) },
	}
	for _, f := range faults.All() {
		judge := cases[f.Name]
		if judge == nil {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			load := roundtrip()
			load.Work = workload.Range{Min: 10 * time.Millisecond, Max: 10 * time.Millisecond}
			whole(t, fakes.Config{Hook: f.Hook()}, load, func(r *run) {
				r.patience = 3 * time.Second // nothing is ever empty where jobs come back for ever
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
		assert.Equal(t, int64(10), counts.Foreign)
		assert.Zero(t, counts.Lost)
		assert.Equal(t, int64(1000), counts.Acked)
	})
}

// A server that dies and comes back: what was in flight is in doubt, all else is there.
func TestAServerThatIsKilled(t *testing.T) {
	t.Parallel()
	load := roundtrip()
	load.ReserveFor = workload.Duration(60 * time.Second)
	whole(t, fakes.Config{MinReserve: time.Minute, RetryDelay: func(int) time.Duration { return time.Second }}, load,
		func(r *run) {
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
			assert.Equal(t, counts.Pushed+counts.Doubtful, int64(1000)-r.total.Dropped())
			assert.Positive(t, r.status().Errors)
		})
}

func TestAWrongPassword(t *testing.T) {
	t.Parallel()
	whole(t, fakes.Config{Password: "secret", Iterations: 10}, roundtrip(), func(r *run) {
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
