package workload

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// presets holds the default first.
var presets = [...]struct{ name, words string }{
	{"roundtrip", "producers push, workers fetch and acknowledge, in a closed loop (the default)"},
	{"push", "producers only; the drain takes the jobs away"},
	{"fetch", "workers only, on jobs that are pushed before they begin"},
	{"idle", "connections that only beat"},
	{"churn", "connections that come, push one job and go"},
	{"scheduled", "a round trip with jobs that are due later"},
	{"failing", "a round trip in which a share of the deliveries ends in a fail"},
}

// usualBacklog is enough to keep the workers busy: one job for each is on its way while the next one waits.
const usualBacklog = 2

// Presets are the names of the presets, the default first.
func Presets() []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.name
	}
	return names
}

// Describe returns a description of a preset in one line; "" if there is none of that name.
func Describe(name string) string {
	for _, p := range presets {
		if p.name == name {
			return p.words
		}
	}
	return ""
}

// Preset is the workload of that name; an empty one means roundtrip. The error is a
// *Problem. Describe describes each of them.
func Preset(name string) (Workload, error) {
	w := Workload{Preset: cmp.Or(name, presets[0].name), Payload: Constant(100)}
	switch w.Preset {
	case "roundtrip":
		w.Producers, w.Consumers, w.Backlog = 50, 50, usualBacklog
	case "push":
		w.Producers = 50
	case "fetch":
		w.Consumers, w.Prefill = 50, 100_000
	case "idle":
		w.Connections, w.BeatOnly = 1000, true
	case "churn":
		w.Connections, w.Churn = 50, true
	case "scheduled":
		w.Producers, w.Consumers = 50, 50
		w.Delay = Range{Min: time.Second, Max: 5 * time.Second}
	case "failing":
		w.Producers, w.Consumers, w.Backlog = 50, 50, usualBacklog
		w.FailShare = 0.05
		w.Drain = Duration(5 * time.Minute) // servers wait before they retry
	default:
		return Workload{}, &Problem{
			Key: "preset", What: fmt.Sprintf("unknown preset %q", name),
			Expected: "one of " + strings.Join(Presets(), ", "), Do: advise(name, Presets(), "choose one of them"),
		}
	}
	return w, nil
}
