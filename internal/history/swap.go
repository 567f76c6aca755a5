package history

import (
	"cmp"
	"fmt"
	"slices"
)

// stray is a job that came from a queue that was not asked, and the finding about it.
type stray struct {
	finding int
	event   int32 // the FETCH that brought it
	queue   string
}

// nearby is how many strays that came later one is compared with at most, so that the
// judging stays linear however wrong a server is.
const nearby = 32

// swapped looks for pairs of strays that overlap and of which each is what the other one
// asked for: their replies went to each other's connections. (FWP-RESP-06)
func (j *judge) swapped() {
	events := j.index.events
	slices.SortFunc(j.strays, func(a, b stray) int { return cmp.Compare(a.event, b.event) })
	for i, a := range j.strays {
		for _, b := range j.strays[i+1 : min(i+1+nearby, len(j.strays))] {
			if events[b.event].Call > events[a.event].Return {
				break
			}
			if slices.Contains(events[a.event].asked(), b.queue) && slices.Contains(events[b.event].asked(), a.queue) {
				j.exchange(a, b)
				j.exchange(b, a)
			}
		}
	}
}

// exchange says in the finding about one of two such jobs what has happened.
func (j *judge) exchange(got, other stray) {
	x, f := j.index, &j.report.Findings[got.finding]
	if f.Breach == Swapped { // it is one of another pair
		return
	}
	f.Breach = Swapped
	f.What += fmt.Sprintf("; at the same time %s asked for it, and brought a job of queue %s: their replies were swapped",
		x.name(other.event), other.queue)
	f.Events = append(f.Events, int(other.event))
	slices.Sort(f.Events)
}
