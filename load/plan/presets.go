package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// presets holds the default first, each with a description in one line and what it sets.
var presets = [...]struct {
	name, words string
	set         func(w *Workload)
}{
	{"roundtrip", "producers push, workers fetch and acknowledge, in a closed loop (the default)", roundtrip},
	{"push", "producers only; the drain removes the jobs", func(w *Workload) { w.Producers = 50 }},
	{"fetch", "workers only, with jobs that are pushed beforehand",
		func(w *Workload) { w.Consumers, w.Prefill = 50, 100_000 }},
	{"idle", "connections that only send BEAT", func(w *Workload) { w.Connections, w.BeatOnly = 1000, true }},
	{"churn", "short-lived connections, each of which pushes one job", func(w *Workload) {
		w.Connections, w.Churn = 50,
			true
	}},
	{"neighbour", "five queues, one of which gets 90 % of the jobs, in bursts", neighbour},
	{"scheduled", "a round trip with scheduled jobs", func(w *Workload) {
		w.Producers, w.Consumers, w.Delay = 50, 50, Range{Min: time.Second, Max: 5 * time.Second}
	}},
	{"failing", "a round trip in which some jobs fail", func(w *Workload) {
		roundtrip(w)
		w.FailShare, w.Drain = 0.05, Duration(5*time.Minute) // servers wait before they retry
	}},
}

// defaultBacklog is enough to keep the workers busy: one job for each is on its way while the next one waits.
const defaultBacklog = 2

func roundtrip(w *Workload) { w.Producers, w.Consumers, w.Backlog = 50, 50, defaultBacklog }

// neighbour has workers that are busy for a fifth of the time, so that a job of a quiet queue waits only where the
// server has it wait behind those of the noisy one.
func neighbour(w *Workload) {
	w.Producers, w.Consumers, w.Burst = 50, 50, 50
	w.Queues.Rates, w.Work = []Rate{900, 25, 25, 25, 25}, Range{Min: 10 * time.Millisecond, Max: 10 * time.Millisecond}
}

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
	for _, p := range presets {
		if p.name == w.Preset {
			p.set(&w)
			return w, nil
		}
	}
	return Workload{}, &Problem{
		Key: "preset", Description: fmt.Sprintf("unknown preset %q", name),
		Expected: "one of " + strings.Join(Presets(), ", "), Do: advise(name, Presets(), "choose one of them"),
	}
}

// TopologyKind is how the connections of a worker share its duties.
type TopologyKind uint8

// The kinds of topology.
const (
	Single TopologyKind = iota // one connection does everything, one job at a time
	Pool                       // connections that fetch, that report and one that beats share a worker id
)

var kindNames = [...]string{"single", "pool"}

// Pick is how jobs spread over the queues.
type Pick uint8

// The ways to pick a queue.
const (
	Uniform  Pick = iota // all alike
	Weighted             // by a list of weights
	Zipf                 // few are hot: the weight of queue i is 1/(i+1)^skew
	Priority             // all alike, and all workers ask in the order of the queues
)

var pickNames = [...]string{"uniform", "weighted", "zipf", "priority"}

// String is the pick's name in flags and files.
func (p Pick) String() string { return pickNames[p] }

// parseName returns what reads one of the names of an enumeration.
func parseName[T ~uint8](names []string) func(string) (T, error) {
	return func(text string) (T, error) {
		if i := slices.Index(names, text); i >= 0 {
			return T(i), nil
		}
		return 0, &Problem{
			Description: fmt.Sprintf("unknown name %q", text), Expected: "one of " + strings.Join(names, ", "),
			Do: advise(text, names, "choose one of them"),
		}
	}
}
