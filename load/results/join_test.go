package results_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
)

// The parts of reports are joined as their tags say, and what has no tag stays.
func TestJoin(t *testing.T) {
	t.Parallel()
	l := results.Load{Run: "a", Head: reports.Head{Took: 3 * time.Second}, Measured: time.Second}
	interrupted := reports.Trouble{Interrupted: true}
	results.Join(&l, &results.Load{Run: "b",
		Head:     reports.Head{Took: time.Second, Trouble: interrupted},
		Measured: 2 * time.Second})
	results.Join(&l, &results.Load{Run: "c"})
	assert.Equal(t, results.Load{Run: "a",
		Head:     reports.Head{Took: 3 * time.Second, Trouble: interrupted},
		Measured: 2 * time.Second}, l,
		"the longest, and interrupted if one was")

	c := results.Connections{Planned: 3, Opened: 3}
	results.Join(&c, &results.Connections{Planned: 4, Opened: 2, Refused: "full", Lost: 1, LostWhy: "EOF"})
	results.Join(&c, &results.Connections{Refused: "later", Lost: 2, LostWhy: "reset", Disconnects: 5})
	assert.Equal(t, results.Connections{
		Planned: 7, Opened: 5, Refused: "full", Lost: 3, LostWhy: "EOF", Disconnects: 5,
	}, c, "why is that of the first")

	h := results.Health{CPUShare: 0.5, NoFiles: 1}
	results.Join(&h, &results.Health{CPUShare: 0.7, NoFiles: 2, NoPorts: 3, NoMemory: 4})
	assert.Equal(t, results.Health{CPUShare: 0.5, NoFiles: 3, NoPorts: 3, NoMemory: 4}, h,
		"how busy machines were does not add up")

	s := results.Second{At: time.Second, Achieved: 5, CPU: 0.5, Connections: 1, MemoryBytes: 10}
	results.Join(&s, &results.Second{At: 2 * time.Second, Achieved: 7, CPU: 1.25, Connections: 2, InFlight: 3, Backlog: 4,
		Dropped: 5, Unserved: 6, MemoryBytes: 20})
	assert.Equal(t, results.Second{At: time.Second, Achieved: 5, CPU: 1.75, Connections: 3, InFlight: 3, Backlog: 4,
		Dropped: 5, Unserved: 6, MemoryBytes: 30}, s, "rates are added up by who knows whose they are")

	p := results.LoadPlan{Words: "a", Producers: 1, Consumers: 2}
	results.Join(&p, &results.LoadPlan{Words: "b", Producers: 10, Idle: 3})
	assert.Equal(t, results.LoadPlan{Words: "a", Producers: 11, Consumers: 2, Idle: 3}, p)
}
