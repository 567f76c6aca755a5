package plan

import (
	"fmt"
	"strings"
)

// Segment is one of Count parts of a load, Index from 0, each of which is put on the server by a generator of its own:
// arrival k of the plan, and job k of a closed loop or of the prefill, belong to the segment with Index k mod Count.
// All segments together are the load. The zero value is the whole load.
type Segment struct{ Index, Count int }

// maxSegments bounds the parts of a load.
const maxSegments = 1000

// ParseSegment reads "2/4", the second of four segments, or "@1/4", which is the same, counted from 0 as Kubernetes
// counts pods. The error is a *Problem.
func ParseSegment(text string) (Segment, error) {
	first, second, _ := strings.Cut(text, "/")
	index, isZeroBased := strings.CutPrefix(first, "@")
	from := int64(1)
	if isZeroBased {
		from = 0
	}
	parts, err := parseInt(second, 1, maxSegments)
	if err == nil {
		var place int64
		if place, err = parseInt(index, from, parts-1+from); err == nil {
			return Segment{Index: int(place - from), Count: int(parts)}, nil
		}
	}
	return Segment{}, newProblem(text, "is not a valid segment",
		fmt.Sprintf("a number and how many segments there are, at "+
			"most %d",
			maxSegments), "write 2/4 for the second of four, or @1/4, counted from 0")
}

// String is what ParseSegment reads; empty for the whole load.
func (s Segment) String() string {
	if s.Count == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index+1, s.Count)
}

// Parts returns how many segments the load has, 1 or more.
func (s Segment) Parts() int { return max(1, s.Count) }

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
				Key: kind.key, Description: fmt.Sprintf("%d cannot be divided among %d segments", *kind.count, s.Count),
				Expected: fmt.Sprintf("%d or more, at least one for each segment", s.Count), Do: "raise the number, or use fewer " +
					"segments",
			}
		}
		*kind.count = int(s.Share(int64(*kind.count)))
	}
	part.Observers = int(s.Share(int64(part.Observers)))
	fewest := *w // each segment has queues of its own, and all have as many as the one with the fewest workers awaits
	fewest.Consumers /= s.Parts()
	part.Queues.Number = fewest.WithDefaults().Queues.Number
	return part, nil
}
