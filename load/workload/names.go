package workload

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is how the connections of a worker share its duties.
type Kind uint8

// The kinds of topology.
const (
	Single Kind = iota // one connection does everything, one job at a time
	Pool               // connections that fetch, that report and one that beats share a worker id
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
			What: fmt.Sprintf("unknown name %q", text), Expected: "one of " + strings.Join(names, ", "),
			Do: advise(text, names, "choose one of them"),
		}
	}
}
