package plan_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/plan"
)

// Each contradiction blames one key, and is gone at its limit.
func TestContradictions(t *testing.T) {
	t.Parallel()
	second := plan.Duration(time.Second)
	newWorkload := func() plan.Workload {
		return plan.Workload{Producers: 2, Consumers: 2, Payload: plan.Constant(1)}
	}
	for name, test := range map[string]struct {
		change func(*plan.Workload)
		key    string // that is to blame; empty if nothing is wrong
	}{
		"nothing":                        {func(*plan.Workload) {}, ""},
		"rate and stages":                {func(w *plan.Workload) { w.Rate, w.Stages = 5, stagesOf("1s:5") }, "stages"},
		"poisson in a closed loop":       {func(w *plan.Workload) { w.Poisson = true }, "poisson"},
		"poisson in an open loop":        {func(w *plan.Workload) { w.Poisson, w.Rate = true, 5 }, ""},
		"a burst in a closed loop":       {func(w *plan.Workload) { w.Burst = 2 }, "burst"},
		"a burst of one":                 {func(w *plan.Workload) { w.Burst = 1 }, ""},
		"think in an open loop":          {func(w *plan.Workload) { w.Rate, w.Think.Max = 5, time.Second }, "think"},
		"an open loop without producers": {func(w *plan.Workload) { w.Rate, w.Producers = 5, 0 }, "producers"},
		"jobs without producers":         {func(w *plan.Workload) { w.JobLimit, w.Producers = 5, 0 }, "jobs"},
		"stages without duration": {func(w *plan.Workload) { w.Stages, w.Duration = stagesOf("1s:5"), second },
			"duration"},
		"a warm-up as long as the stages": {func(w *plan.Workload) { w.Stages, w.Warmup = stagesOf("1s:5"), second },
			"warmup"},
		"a warm-up shorter than them": {func(w *plan.Workload) { w.Stages, w.Warmup = stagesOf("1s:5"), second-1 },
			""},
		"stages in which all rates are 0": {func(w *plan.Workload) { w.Stages = stagesOf("1s:0") }, "stages"},
		"a warm-up that takes all jobs": {func(w *plan.Workload) {
			w.Rate, w.JobLimit, w.Warmup = 5, 5, second
		}, "warmup"},
		"a warm-up that leaves one job": {func(w *plan.Workload) { w.Rate, w.JobLimit, w.Warmup = 5, 6, second }, ""},
		"no connections":                {func(w *plan.Workload) { w.Producers, w.Consumers = 0, 0 }, "producers"},
		"idle connections":              {func(w *plan.Workload) { w.Connections = 1 }, "connections"},
		"churn beside producers":        {func(w *plan.Workload) { w.Connections, w.Churn = 1, true }, "producers"},
		"churn without connections":     {func(w *plan.Workload) { w.Producers, w.Churn = 0, true }, "connections"},
		"beats beside jobs":             {func(w *plan.Workload) { w.Connections, w.BeatOnly = 1, true }, "beat_only"},
		"observing without observers":   {func(w *plan.Workload) { w.ObserveEvery = second }, "observe_every"},
		"places without disconnects": {func(w *plan.Workload) { w.DisconnectAt = []plan.Phase{plan.AtPush} },
			"disconnect_at"},
		"every command disconnects":      {func(w *plan.Workload) { w.Disconnects = 1 }, "disconnects"},
		"most commands do":               {func(w *plan.Workload) { w.Disconnects = 0.99 }, ""},
		"fetchers of one connection":     {func(w *plan.Workload) { w.Topology.Fetchers = 1 }, "fetchers"},
		"work without workers":           {func(w *plan.Workload) { w.Consumers, w.Work.Max = 0, time.Second }, "work"},
		"failing without workers":        {func(w *plan.Workload) { w.Consumers, w.FailShare = 0, 0.5 }, "fail_share"},
		"weights that are not picked by": {func(w *plan.Workload) { w.Queues.Weights = []float64{1} }, "queue_weights"},
		"picked by no weights":           {func(w *plan.Workload) { w.Queues.Pick = plan.Weighted }, "queue_pick"},
		"fewer weights than queues": {func(w *plan.Workload) {
			w.Queues = plan.Queues{Number: 2, Pick: plan.Weighted, Weights: []float64{1}}
		}, "queue_weights"},
		"weights of nothing": {func(w *plan.Workload) {
			w.Queues = plan.Queues{Pick: plan.Weighted, Weights: []float64{0, 0}}
		}, "queue_weights"},
		"skew of equal queues":  {func(w *plan.Workload) { w.Queues.Skew = 1 }, "queue_skew"},
		"all fail, for ever":    {func(w *plan.Workload) { w.FailShare = 1 }, "fail_share"},
		"all fail, once":        {func(w *plan.Workload) { w.FailShare, w.Retry = 1, new(int) }, ""},
		"as long as reserved":   {func(w *plan.Workload) { w.ReserveFor, w.Work.Max = 60*second, time.Minute }, "work"},
		"shorter than reserved": {func(w *plan.Workload) { w.ReserveFor, w.Work.Max = 60*second, time.Minute-1 }, ""},
		"due after the drain":   {func(w *plan.Workload) { w.Drain, w.Delay.Max = second, time.Second+1 }, "delay"},
		"due at its end":        {func(w *plan.Workload) { w.Drain, w.Delay.Max = second, time.Second }, ""},
	} {
		w := newWorkload()
		test.change(&w)
		err := w.Check()
		if test.key == "" {
			assert.NoError(t, err, name)
			continue
		}
		problem, ok := errors.AsType[*plan.Problem](err)
		require.True(t, ok, "%s: %v", name, err)
		assert.Equal(t, test.key, problem.Key, name)
		assert.NotEmpty(t, problem.Do, name)
	}
}

func stagesOf(text string) plan.Stages {
	stages, err := plan.ParseStages(text)
	if err != nil {
		panic(err)
	}
	return stages
}
