package plan_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// noon is when the tests push; only scheduled jobs look at it.
func noon() time.Time { return time.Date(2030, 1, 2, 12, 0, 0, 500_000_000, time.UTC) }

// richWorkload has something of everything.
func richWorkload(tb testing.TB) plan.Workload {
	tb.Helper()
	w, err := plan.Parse("rich.yaml", []byte(`
preset: scheduled
payload: 0-200:5,300:1
queues: 5
queue_pick: zipf
job_types: [email, "déjà \"vu\"", thumbnail]
reserve_for: 90s
retry: 3
work: 1ms-5ms
think: 1ms-9ms
`))
	require.NoError(tb, err)
	return w
}

func TestBody(t *testing.T) {
	t.Parallel()
	w, err := plan.Preset("roundtrip")
	require.NoError(t, err)
	w.Payload = plan.Constant(10)
	j := w.Jobs("r1", 42)
	body := string(j.AppendBody(nil, 0x1234, 17, 1500*time.Millisecond, noon()))
	assert.Equal(t, `{"jid":"fwpbench-r1-00001234","jobtype":"fwpbench","queue":"fwpbench-r1-4",`+
		`"reserve_for":1800,"retry":25,`+
		`"args":["r1",17,4660,1500000000,"4QTl6imU5i"]}`, body)
}

// TestPushIsAWorkUnit: what is pushed is read by the protocol's own package, and holds
// what the accessors promise.
func TestPushIsAWorkUnit(t *testing.T) {
	t.Parallel()
	w := richWorkload(t)
	j := w.Jobs("abc", 1)
	for _, k := range []int64{0, 1, 2, 255, 1 << 31, 1 << 40, math.MaxInt64} {
		var job fwp.Job
		require.NoError(t, json.Unmarshal(j.AppendBody(nil, k, 3, time.Second, noon()), &job))
		assert.Equal(t, string(j.AppendJID(nil, k)), job.JID)
		assert.GreaterOrEqual(t, len(job.JID), 16)
		assert.Equal(t, j.Queues()[j.QueueOf(k)], job.Queue)
		assert.Contains(t, w.JobTypes, job.Type)
		assert.EqualValues(t, 3, *job.Retry)
		assert.EqualValues(t, 90, *job.ReserveFor)
		at, err := time.Parse(time.RFC3339, job.At)
		require.NoError(t, err)
		assert.Equal(t, noon().Add(j.Delay(k)), at)
		var args []any
		require.NoError(t, json.Unmarshal(job.Args, &args))
		require.Len(t, args, 5)
		assert.Len(t, args[4], j.PayloadOf(k))
	}
}

// TestSameSeedSameBytes: the lines of three loops, each of which makes its own share
// with Jobs of its own, are those of one loop; and the same as ever.
func TestSameSeedSameBytes(t *testing.T) {
	t.Parallel()
	const jobs, loops = 3000, 3
	w := richWorkload(t)
	w.Think, w.Rate, w.Poisson = plan.Range{}, 1000, true
	require.NoError(t, w.Check())

	var all []byte
	c, j := w.Plan(7).Cursor(0, 1), w.Jobs("run", 7)
	for range jobs {
		k, at, ok := c.Next()
		require.True(t, ok)
		all = append(all, line(j, k, at)...)
	}

	lines := make([][]byte, jobs)
	for loop := range loops {
		c, j := w.Plan(7).Cursor(loop, loops), w.Jobs("run", 7)
		for range jobs / loops {
			k, at, ok := c.Next()
			require.True(t, ok)
			lines[k] = line(j, k, at)
		}
	}
	assert.Equal(t, sha256.Sum256(all), sha256.Sum256(slices.Concat(lines...)))
	sum := sha256.Sum256(all)
	assert.Equal(t, "5a328cca838523876db6ec2694f69c17bfe016aa043aaeb5a15f077d10585c26", hex.EncodeToString(sum[:]))

	other := w.Jobs("run", 8)
	assert.NotEqual(t, lines[0], line(other, 0, 0))
}

// line is what a client of FWP sends.
func line(j *plan.Jobs, k int64, at time.Duration) []byte {
	return append(j.AppendBody([]byte("PUSH "), k, int(k%50), at, noon()), "\r\n"...)
}

// TestChangesStayLocal: a setting changes what it is about, not what others draw.
func TestChangesStayLocal(t *testing.T) {
	t.Parallel()
	a, b := richWorkload(t), richWorkload(t)
	b.Payload, b.JobTypes, b.Work = plan.Constant(5), nil, plan.Range{}
	first, second := a.Jobs("x", 1), b.Jobs("x", 1)
	for k := range int64(1000) {
		require.Equal(t, first.QueueOf(k), second.QueueOf(k))
		require.Equal(t, first.Delay(k), second.Delay(k))
		require.Equal(t, first.Think(k), second.Think(k))
	}
}

func TestQueuePicks(t *testing.T) {
	t.Parallel()
	const jobs = 100_000
	for _, c := range []struct {
		name   string
		queues plan.Queues
		want   []float64 // parts of the jobs
	}{
		{"one", plan.Queues{Number: 1}, []float64{1}},
		{"uniform", plan.Queues{Number: 4}, []float64{0.25, 0.25, 0.25, 0.25}},
		{"priority", plan.Queues{Number: 2, Pick: plan.Priority}, []float64{0.5, 0.5}},
		{"weighted", plan.Queues{Pick: plan.Weighted, Weights: []float64{0, 80, 0, 20, 0}},
			[]float64{0, 0.8, 0, 0.2, 0}},
		{"zipf", plan.Queues{Number: 3, Pick: plan.Zipf}, []float64{6. / 11, 3. / 11, 2. / 11}},
		{"steep", plan.Queues{Number: 2, Pick: plan.Zipf, Skew: 2}, []float64{0.8, 0.2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := plan.Workload{Producers: 1, Queues: c.queues}
			require.NoError(t, w.Check())
			j, got := w.Jobs("x", 9), make([]float64, len(c.want))
			require.Len(t, j.Queues(), len(c.want))
			for k := range int64(jobs) {
				got[j.QueueOf(k)] += 1. / jobs
			}
			assert.InDeltaSlice(t, c.want, got, 0.008)
			for i, part := range c.want {
				assert.Equal(t, part > 0, got[i] > 0, "queue %d", i)
			}
		})
	}
}

func TestAsks(t *testing.T) {
	t.Parallel()
	w := plan.Workload{Queues: plan.Queues{Number: 3}}
	j := w.Jobs("x", 0)
	assert.Equal(t, []string{"fwpbench-x-0", "fwpbench-x-1", "fwpbench-x-2"}, j.Queues())
	assert.Equal(t, j.Queues(), j.WorkerQueues(0))
	assert.Equal(t, []string{"fwpbench-x-1", "fwpbench-x-2", "fwpbench-x-0"}, j.WorkerQueues(4))
	w.Consumers = 2
	j = w.Jobs("x", 0)
	assert.Equal(t, []string{"fwpbench-x-0", "fwpbench-x-2"}, j.WorkerQueues(0), "two workers share three queues out")
	assert.Equal(t, []string{"fwpbench-x-1"}, j.WorkerQueues(1))
	assert.Equal(t, []string{"fwpbench-x-2", "fwpbench-x-0", "fwpbench-x-1"}, j.WorkerQueues(2),
		"one who is not among them asks for all")
	w.Consumers = 7
	assert.Equal(t, []string{"fwpbench-x-0"}, w.Jobs("x", 0).WorkerQueues(6))
	w.Queues.Pick = plan.Priority
	j = w.Jobs("x", 0)
	assert.Equal(t, j.Queues(), j.WorkerQueues(4))
}

func TestPayloadSizes(t *testing.T) {
	t.Parallel()
	const jobs = 50_000
	sizes := func(text string) []float64 {
		size, err := plan.ParseSize(text)
		require.NoError(t, err)
		w := plan.Workload{Payload: size}
		j, got := w.Jobs("x", 3), make([]float64, jobs)
		for k := range got {
			got[k] = float64(j.PayloadOf(int64(k)))
		}
		slices.Sort(got)
		return got
	}
	assertSizes := func(got []float64, low, median, high, slack float64) {
		t.Helper()
		assert.InDelta(t, low, got[0], slack)
		assert.InDelta(t, median, got[jobs/2], slack)
		assert.InDelta(t, high, got[jobs-1], slack)
	}
	assertSizes(sizes("0"), 0, 0, 0, 0)
	assertSizes(sizes("77"), 77, 77, 77, 0)
	assertSizes(sizes("100-2000"), 100, 1050, 2000, 20)
	got := sizes("100:80,10000:20")
	assertSizes(got, 100, 100, 10000, 0)
	assert.InDelta(t, 100, got[int(0.79*jobs)], 0)
	assert.InDelta(t, 10000, got[int(0.81*jobs)], 0)
	got = sizes("lognormal:500,1.2")
	assert.InDelta(t, 500, got[jobs/2], 15)
	assert.InDelta(t, 500*math.Exp(1.2), got[int(0.8413*jobs)], 60)
	got = sizes("lognormal:8MiB,3")
	assert.InDelta(t, plan.MaxPayload, got[jobs-1], 0, "clamped")
}

func TestFailsAndDurations(t *testing.T) {
	t.Parallel()
	w := richWorkload(t)
	for share, slack := range map[float64]float64{0: 0, 0.05: 0.004, 1: 0} {
		w.FailShare = share
		j, fails, repeats := w.Jobs("x", 5), 0., 0.
		for k := range int64(50_000) {
			if j.Fails(k, 0) {
				fails++
				if j.Fails(k, 1) {
					repeats++
				}
			}
			require.True(t, j.Work(k) >= ms && j.Work(k) <= 5*ms)
		}
		assert.InDelta(t, share, fails/50_000, slack)
		if fails > 0 {
			assert.InDelta(t, share, repeats/fails, 10*slack, "attempts know nothing of each other")
		}
	}
	j := w.Jobs("x", 5)
	assert.Equal(t, 90*time.Second, j.ReserveFor())
	assert.Equal(t, 3, j.Retry(0))
}

func TestPlan(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		yaml        string
		total       int64 // -1: closed loop
		from, until time.Duration
	}{
		{"jobs: 500", -1, 0, 0},
		{"warmup: 5s", -1, 5 * time.Second, 35 * time.Second},
		{"rate: 100", 3000, 0, 30 * time.Second},
		{"rate: 100\nduration: 10s\nwarmup: 2s", 1200, 2 * time.Second, 12 * time.Second},
		{"rate: 300/m\njobs: 7", 7, 0, 0},
		{"rate: 1e6\njobs: 12345\npoisson: true\nburst: 100", 12345, 0, 0},
		{"rate: 100\njobs: 500\nduration: 1m", 500, 0, time.Minute},
		{"stages: 10s:0-100,5s:200\nwarmup: 10s", 1500, 10 * time.Second, 15 * time.Second},
	} {
		t.Run(strings.ReplaceAll(c.yaml, "\n", ","), func(t *testing.T) {
			t.Parallel()
			w, err := plan.Parse("w.yaml", []byte(c.yaml))
			require.NoError(t, err)
			from, until := w.Window()
			assert.Equal(t, [2]time.Duration{c.from, c.until}, [2]time.Duration{from, until})
			plan := w.Plan(1)
			assert.Equal(t, c.total >= 0, w.IsOpen())
			if c.total < 0 {
				assert.Nil(t, plan)
				return
			}
			assert.Equal(t, c.total, plan.Total())
		})
	}
}

func TestFilled(t *testing.T) {
	t.Parallel()
	retry := 25
	var w plan.Workload
	assert.Equal(t, plan.Workload{
		Preset: "roundtrip", Burst: 1, Duration: plan.DefaultDuration, Drain: plan.DefaultDrain,
		JobTypes: []string{"fwpbench"}, ReserveFor: plan.DefaultReserveFor, Retry: &retry,
		Queues: plan.Queues{Number: 10},
	}, w.WithDefaults())
	w = plan.Workload{
		JobLimit: 5, Queues: plan.Queues{Pick: plan.Zipf, Weights: []float64{1, 2}},
		Topology: plan.Topology{Kind: plan.Pool, Fetchers: 4},
	}
	f := w.WithDefaults()
	assert.Zero(t, f.Duration)
	assert.Equal(t, 2, f.Queues.Number)
	assert.Equal(t, plan.Topology{Kind: plan.Pool, Fetchers: 4, Reporters: 1, Concurrency: 10}, f.Topology)
	assert.Zero(t, w.Queues.Number, "the original stays")
}

// Unless the user says otherwise there are no more queues than workers.
func TestQueuesFollowWorkers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ number, consumers, want, awaited int }{
		{0, 0, 10, 10}, {0, 1, 1, 1}, {0, 5, 5, 5}, {0, 50, 10, 10}, {10, 5, 10, 5}, {3, 5, 3, 3},
	} {
		w := plan.Workload{Producers: 6, Consumers: test.consumers, Queues: plan.Queues{Number: test.number}}
		assert.Equal(t, test.want, w.WithDefaults().Queues.Number, test)
		assert.Equal(t, test.awaited, w.AwaitedQueues(), test)
		if test.consumers >= 2 {
			part, err := w.Segment(plan.Segment{Index: 0, Count: 2})
			require.NoError(t, err)
			queues := test.number
			if queues == 0 {
				queues = min(test.consumers/2, 10)
			}
			assert.Equal(t, queues, part.WithDefaults().Queues.Number, "each has queues of its own: %v", test)
		}
	}
	w := plan.Workload{Consumers: 50, Queues: plan.Queues{Pick: plan.Priority}}
	assert.Equal(t, 1, w.AwaitedQueues(), "all workers wait for the first")
}
