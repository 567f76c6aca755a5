package history

import (
	"cmp"
	"fmt"
	"slices"
)

// stray is a job that was delivered from a queue that was not named, and its finding.
type stray struct {
	finding int
	event   int32 // the FETCH that delivered it
	queue   string
}

// nearby is how many later strays one is compared with at most, so that the time stays
// linear however many there are.
const nearby = 32

// swapped finds pairs of overlapping strays that are each what the other FETCH named: their
// replies were sent to each other's connections. (FWP-RESP-06)
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

// exchange changes the finding about one of two such jobs to Swapped.
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
