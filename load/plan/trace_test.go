package plan_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/plan"
)

// traced returns a workload with a trace.
func traced(t *testing.T, source string) plan.Workload {
	t.Helper()
	w, err := plan.Preset("")
	require.NoError(t, err)
	w.Trace = "t.csv"
	w.TraceData, err = plan.ReadTrace("t.csv", strings.NewReader(source))
	require.NoError(t, err)
	return w
}

const threeJobs = "at,queue,payload,jobtype\n0.5,mail,10,a\n12,\"b,c\",30,b\n2.5,mail,20,a\n"

func TestTraceFormsAreEqual(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{
		"CSV": threeJobs,
		"with dates": "at,queue,payload,jobtype\r\n2026-01-31T15:04:00.5Z,mail,10,a\r\n2026-01-31T16:04:12+01:00,\"b,c\",30,b\r\n" +
			"2026-01-31T15:04:02.5Z,mail,20,a\r\n",
		"since 1970": "at,queue,payload,jobtype\n1780000000.5,mail,10,a\n1780000012,\"b,c\",30,b\n1780000002.5,mail,20,a\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := traced(t, source)
			require.NoError(t, w.Check())
			assert.Equal(t, []string{"mail", "b,c"}, w.TraceData.Queues)
			plan, jobs := w.Plan(1), w.Jobs("run", 1)
			require.EqualValues(t, 3, plan.Total())
			var got []string
			for k := range plan.Total() {
				at, _ := plan.At(k)
				got = append(got, fmt.Sprint(at, jobs.QueueOf(k), jobs.PayloadOf(k)))
			}
			assert.Equal(t, []string{"0s 0 10", "2s 0 20", "11.5s 1 30"}, got, "in the order of their times")
			body := jobs.AppendBody(nil, 2, 0, 0, time.Time{})
			assert.Contains(t, string(body), `"jobtype":"b","queue":"fwpbench-run-1"`)
			job, err := jobs.Read(body)
			require.NoError(t, err)
			assert.Equal(t, 1, job.Queue)
			assert.Equal(t, 30, jobs.LargestPayload())
			for _, k := range []int64{-1, 3, math.MaxInt64} {
				assert.NotPanics(t, func() { jobs.QueueOf(k) }, "a server may deliver any number")
			}
		})
	}
}

// What a trace does not say is as without one, and a faster one has its times only.
func TestTraceWithTimesOnly(t *testing.T) {
	t.Parallel()
	w := traced(t, "at\n0\n10\n20\n")
	w.TraceSpeed, w.Queues.Number, w.Payload = 4, 3, plan.Constant(7)
	require.NoError(t, w.Check())
	at, ok := w.Plan(0).At(2)
	assert.True(t, ok)
	assert.Equal(t, 5*time.Second, at)
	from, until := w.Window()
	assert.Equal(t, [2]time.Duration{0, 7500 * time.Millisecond}, [2]time.Duration{from, until})
	jobs := w.Jobs("run", 1)
	assert.Len(t, jobs.Queues(), 3)
	assert.Equal(t, 7, jobs.PayloadOf(1))
	w.JobLimit = 2
	assert.EqualValues(t, 2, w.Plan(0).Total())
	w = traced(t, "at\n5\n")
	assert.Equal(t, time.Second, w.PlanLength(), "there is something to measure")
}

// A worker asks for all queues of a trace, which are not alike, and another one first.
func TestTraceQueues(t *testing.T) {
	t.Parallel()
	w := traced(t, threeJobs)
	jobs := w.Jobs("run", 1)
	assert.Equal(t, []string{"fwpbench-run-1", "fwpbench-run-0"}, jobs.WorkerQueues(1))
	w.Queues.Pick = plan.Priority
	jobs = w.Jobs("run", 1)
	assert.Equal(t, []string{"fwpbench-run-0", "fwpbench-run-1"}, jobs.WorkerQueues(1))
}

func TestTraceProblems(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"":                              `1:1: there are no jobs`,
		"at\n":                          `1:1: there are no jobs`,
		"at,quue\n1,a\n":                `1:4: unknown column "quue"; expected one of at, queue, jobtype, payload; did you mean queue?`,
		"at,at\n1,2\n":                  `1:4: at: duplicate column`,
		"{\"at\":1}\n":                  `1:2: bare " in non-quoted-field; expected a line of comma-separated values`,
		"queue\na\n":                    `1:1: at: there is no such column`,
		"at,queue\n1,a\n2\n":            `3:1: wrong number of fields`,
		"at,queue\n1,\"a\n":             `2:6: extraneous or missing " in quoted-field`,
		"at,queue\n1,\n":                `2:3: queue: "" is not a valid name`,
		"at,payload\n1,-1\n":            `2:3: payload: "-1" is out of range`,
		"at,payload\n1,99999999\n":      `2:3: payload: "99999999" is out of range`,
		"at\nsoon\n":                    `2:1: at: "soon" is not a valid time`,
		"at\nNaN\n":                     `2:1: at: "NaN" is not a valid time`,
		"at\n1e300\n":                   `2:1: at: "1e300" is not a valid time`,
		"at\n1\n2026-01-31T15:04:05Z\n": `3:1: at: "2026-01-31T15:04:05Z" is not the same kind of time`,
		"at\n1\n99999999\n":             `3:1: at: "99999999" is more than 1000h away from the first time`,
	} {
		_, err := plan.ReadTrace("t.csv", strings.NewReader(source))
		require.Error(t, err, "%q", source)
		assert.Contains(t, err.Error(), "t.csv:"+want, "%q", source)
	}
	_, err := plan.ReadTrace("t.csv", strings.NewReader("at\n"+strings.Repeat("x\n", 1000)))
	require.Error(t, err)
	assert.Len(t, strings.Split(err.Error(), "\n"), 100, "and no more")
	lines := "at,queue\n"
	for i := range 1001 {
		lines += fmt.Sprintf("1,q%d\n", i)
	}
	_, err = plan.ReadTrace("t.csv", strings.NewReader(lines))
	assert.ErrorContains(t, err, `t.csv:1002:3: queue: "q1000" exceeds the limit of names`)
}

// The trace is all there is about when jobs are pushed.
func TestTraceContradictions(t *testing.T) {
	t.Parallel()
	for key, set := range map[string]func(*plan.Workload){
		"rate":     func(w *plan.Workload) { w.Rate = 1 },
		"poisson":  func(w *plan.Workload) { w.Poisson = true },
		"burst":    func(w *plan.Workload) { w.Burst = 2 },
		"duration": func(w *plan.Workload) { w.Duration = plan.Duration(time.Second) },
		"prefill":  func(w *plan.Workload) { w.Prefill = 1 },
		"think":    func(w *plan.Workload) { w.Think.Max = 1 },
		"trace":    func(w *plan.Workload) { w.Warmup = plan.Duration(time.Hour) },
	} {
		w := traced(t, threeJobs)
		set(&w)
		assert.ErrorContains(t, w.Check(), key+": ", key)
	}
	w, err := plan.Preset("")
	require.NoError(t, err)
	w.TraceSpeed = 2
	require.ErrorContains(t, w.Check(), "trace_speed: this needs a trace; ")
}

// What is written can be read.
func TestTraceWriter(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	w := plan.NewTraceWriter(&out)
	assert.True(t, w.Job(1500*time.Microsecond, "default", "a,b", 12))
	assert.True(t, w.Job(time.Second, "default", "c", 0))
	require.NoError(t, w.Close())
	assert.Equal(t, "at,queue,jobtype,payload\n0.001500,default,\"a,b\",12\n1.000000,default,c,0\n", out.String())
	trace, err := plan.ReadTrace("t", strings.NewReader(out.String()))
	require.NoError(t, err)
	assert.Equal(t, []string{"a,b", "c"}, trace.Types)
	assert.Equal(t, 2, trace.Len())
}

func FuzzReadTrace(f *testing.F) {
	f.Add(threeJobs)
	f.Fuzz(func(t *testing.T, source string) {
		trace, err := plan.ReadTrace("t", strings.NewReader(source))
		if err != nil {
			return
		}
		w := plan.Workload{Producers: 1, Trace: "t", TraceData: trace}
		plan, jobs := w.Plan(0), w.Jobs("r", 0)
		var last time.Duration
		for k := range plan.Total() {
			at, ok := plan.At(k)
			require.True(t, ok && at >= last)
			last = at
			_, err := jobs.Read(jobs.AppendBody(nil, k, 0, at, time.Time{}))
			require.NoError(t, err)
		}
	})
}
