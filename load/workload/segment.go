package workload

import (
	"fmt"
	"strings"
)

// Segment is one of Of parts of a load, Index from 0, each of which is put on the server by a generator of its own:
// arrival k of the plan, and job k of a closed loop or of the prefill, belong to the segment with Index k mod Of. All
// segments together are the load. The zero value is the whole load.
type Segment struct{ Index, Of int }

// mostSegments bounds the parts of a load.
const mostSegments = 1000

// ParseSegment reads "2/4", the second of four segments. The error is a *Problem.
func ParseSegment(text string) (Segment, error) {
	first, second, _ := strings.Cut(text, "/")
	of, err := parseInt(second, 1, mostSegments)
	if err == nil {
		var place int64
		if place, err = parseInt(first, 1, of); err == nil {
			return Segment{Index: int(place) - 1, Of: int(of)}, nil
		}
	}
	return Segment{}, bad(text, "is not a valid segment", fmt.Sprintf("a place and how many there are, at most %d",
		mostSegments), "write it as in 2/4, the second of four")
}

// String is what ParseSegment reads; empty for the whole load.
func (s Segment) String() string {
	if s.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index+1, s.Of)
}

// Parts returns how many segments the load has, 1 or more.
func (s Segment) Parts() int { return max(1, s.Of) }

// Number returns the number in the whole load of thing i of the segment, both counted from 0.
func (s Segment) Number(i int64) int64 { return int64(s.Index) + i*int64(s.Parts()) }

// Share returns how many of the first n things of the whole load belong to the segment.
func (s Segment) Share(n int64) int64 {
	parts := int64(s.Parts())
	return max(0, (n-int64(s.Index)+parts-1)/parts)
}

// Segment returns the workload of a segment: w with the segment's share of its connections. Arrivals, their rates,
// prefill and number of jobs are still those of the whole load, because their numbers say to which segment each
// belongs. It is an error if the segment would have no connection of a kind that w has: its jobs would have no
// producer, or its queues no worker.
func (w *Workload) Segment(s Segment) (Workload, error) {
	part := *w
	for _, kind := range []struct {
		key   string
		count *int
	}{
		{"producers", &part.Producers}, {"consumers", &part.Consumers}, {"connections", &part.Connections},
	} {
		if *kind.count == 0 {
			continue
		}
		if *kind.count < s.Parts() {
			return part, &Problem{
				Key: kind.key, What: fmt.Sprintf("%d cannot be shared by %d segments", *kind.count, s.Of),
				Expected: fmt.Sprintf("%d or more, one for each", s.Of), Do: "raise it, or use fewer segments",
			}
		}
		*kind.count = int(s.Share(int64(*kind.count)))
	}
	part.Observers = int(s.Share(int64(part.Observers)))
	smallest := *w // each segment has queues of its own, and all have as many as the one with the fewest workers awaits
	smallest.Consumers /= s.Parts()
	part.Queues.Number = smallest.Filled().Queues.Number
	return part, nil
}

// Crossing is how the segments of a load share its jobs if these cross: what one pushes, any may fetch. Pushing is how
// many of the segments have all producers, while the others have all workers; 0: each segment has its share of both.
type Crossing struct{ Pushing int }

// Check returns an error for a workload whose jobs cannot cross so many segments. The error is a *Problem.
func (x Crossing) Check(w *Workload, segments int) error {
	f := w.Filled()
	var r rules
	r.broken(w.Producers == 0 || w.Consumers == 0, "the load has no jobs that cross: it has no producers, or no workers",
		"producers and consumers above 0", "add them, or leave it out", "cross")
	r.broken(w.QueuePerJob > 0, "which queues of single jobs are left is known where they were pushed only",
		"0 where jobs cross", "leave it out", "queue_per_job")
	r.broken(w.FailShare > 0 && *f.Retry != 0, "how often a job has failed is known where it did only",
		"retry 0 beside it, where jobs cross", "set retry to 0, or leave it out", "fail_share")
	r.broken(x.Pushing < 0 || x.Pushing >= segments && x.Pushing > 0,
		fmt.Sprintf("%d of %d agents would leave none for the workers", x.Pushing, segments),
		fmt.Sprintf("1 to %d", segments-1), "lower it, or use more agents", "producer_agents")
	r.broken(x.Pushing > 0 && !w.Open() && w.Backlog > 0,
		"the producers of a closed loop wait for the workers of their own agent (backlog)", "an open loop, or backlog 0",
		"add rate, or set backlog to 0 (then nothing bounds the queues but the load's end)", "producer_agents")
	if len(r) > 0 {
		return r[0].problem
	}
	return nil
}

// Segment returns the workload and the arrivals of a segment. Of a half the Segment counts those of its kind only. The
// errors are those of [Workload.Segment].
func (x Crossing) Segment(w *Workload, s Segment) (Workload, Segment, error) {
	half := *w
	half.Queues.Number = w.Filled().Queues.Number // all load the same ones
	if x.Pushing == 0 {
		part, err := half.Segment(s)
		return part, s, err
	}
	half.Half = true
	of := Segment{Index: s.Index, Of: x.Pushing}
	if s.Index < x.Pushing {
		half.Consumers = 0
	} else {
		half.Producers = 0
		of = Segment{Index: s.Index - x.Pushing, Of: s.Of - x.Pushing}
	}
	part, err := half.Segment(of)
	part.Observers = int(s.Share(int64(w.Observers)))
	return part, of, err
}
