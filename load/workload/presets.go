package workload

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// presetNames holds the default first.
var presetNames = [...]string{"roundtrip", "push", "fetch", "idle", "churn", "scheduled", "failing"}

// Presets are the names of the presets, the default first.
func Presets() []string { return slices.Clone(presetNames[:]) }

// Preset is the workload of that name; an empty one means roundtrip. The error is a
// *Problem.
//
//   - roundtrip: producers push, consumers fetch and acknowledge, closed loop
//   - push: producers only; the drain takes the jobs away
//   - fetch: consumers only, on jobs that are there before they begin
//   - idle: connections that only beat
//   - churn: connections that come, push one job and go
//   - scheduled: a round trip with jobs that are due later
//   - failing: a round trip in which a share of the deliveries ends in a FAIL
func Preset(name string) (Workload, error) {
	w := Workload{Preset: orElse(name, presetNames[0]), Payload: Constant(100)}
	switch w.Preset {
	case "roundtrip":
		w.Producers, w.Consumers = 50, 50
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
		w.Producers, w.Consumers = 50, 50
		w.FailShare = 0.05
		w.Drain = Duration(5 * time.Minute) // servers wait before they retry
	default:
		return Workload{}, &Problem{
			Key: "preset", What: fmt.Sprintf("%q is no preset", name),
			Expected: "one of " + strings.Join(presetNames[:], ", "), Do: advise(name, presetNames[:], "choose one of them"),
		}
	}
	return w, nil
}
