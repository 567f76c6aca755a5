package load_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/faults"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/disrupt"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/workload"
	"github.com/fwpsuite/fwp/reports"
)

// A load whose server pauses and resumes its queues, and enqueues what waits for a retry, by commands of its own.
func TestCommandsOfOperators(t *testing.T) {
	t.Parallel()
	schedule := []disrupt.Disruption{
		{Action: disrupt.PauseQueue, At: 5 * second, For: 3 * second}, {Action: disrupt.Requeue, At: 12 * second},
		{Action: disrupt.PauseQueue, At: 14 * second, For: 2 * second, Queue: 2},
	}
	for name, test := range map[string]struct {
		like   fakes.Like
		fault  string
		finds  results.FindingKind
		failed string
	}{
		"all well":             {like: fakes.LikeFaktory},
		"paused in vain":       {like: fakes.LikeFaktory, fault: "queue-pause-nothing", finds: results.FindingPaused},
		"requeued and lost":    {like: fakes.LikeFaktory, fault: "mutate-requeue-lost", finds: results.FindingHistory},
		"it has no such verbs": {failed: "QUEUE"},
		"not requeued":         {like: fakes.LikeFaktory, fault: "mutate-requeue-nothing", finds: results.FindingHistory},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := bench{
				server: fakes.Config{Like: test.like, RetryDelay: func(int) time.Duration { return 30 * time.Second }},
				load: workload.Workload{
					Producers: 2, Consumers: 4, Rate: 10, Duration: workload.Duration(20 * second), FailShare: 0.3,
					Queues: workload.Queues{Number: 3}, Drain: workload.Duration(5 * time.Minute),
				},
				change: func(c *load.Config) { c.Schedule, c.History, c.Loops = schedule, true, 1 },
			}
			if test.fault != "" {
				for _, f := range append(faults.All(), faults.Faktory()...) {
					if f.Name == test.fault {
						b.server.Hook = f.Hook()
					}
				}
				require.NotNil(t, b.server.Hook, test.fault)
			}
			l := b.run(t)
			require.Len(t, l.Disruptions.List, 3)
			assert.Contains(t, l.Disruptions.List[0].Failed, test.failed)
			if test.finds == "" {
				assert.Empty(t, l.Findings)
				code, words := l.Outcome()
				assert.Equal(t, test.failed != "", code == reports.ExitInconclusive, words)
				return
			}
			require.NotEmpty(t, l.Findings)
			assert.Equal(t, test.finds, l.Findings[0].Kind)
			want := map[results.FindingKind]string{results.FindingPaused: "FKT-QUEUE-01", results.FindingHistory: "FKT-MUTATE-03"}
			if assert.Equal(t, want[test.finds], l.Findings[0].Clause); test.finds == results.FindingPaused {
				assert.Contains(t, l.Findings[0].Notes[len(l.Findings[0].Notes)-1], "which was paused all the time")
			}
		})
	}
}
