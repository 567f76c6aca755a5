package explore

import "slices"

// RuleMemory is the Rule of a finding about memory that grows; it has no clause.
const RuleMemory = "memory"

// What makes growth a finding. Levels are looked at as the means of quarters of the
// rounds: a single level depends on when a collector ran last.
const (
	quarters     = 4
	risesAtLeast = 1 << 20  // from each quarter to the next
	growsAtLeast = 12 << 20 // from the first quarter to the last
	steadiness   = 2        // from the second to the last by at least such a part of that from the first to the third
	controlShare = 4        // a right client's input has it grow by at most one such part of it
	stillShare   = 8        // after the pause it rises above all levels before by at least such a part
)

// growth reports whether the level of memory rose with some input as it does only where
// that is kept: from quarter to quarter by something, from first to last by a lot, to the
// end as much as in the beginning, and not with the input of a right client before.
//
//   - A heap that waits for its collector falls now and then, so that quarters are alike,
//     or rises with the right client too.
//   - A heap that is doubled, or a cache that is filled, rises once and is flat then.
//   - What is kept for reuse (buffers, threads, pages) rises less and less.
//
// Steps do not hide a leak: where what is kept first fills what a collector has freed,
// the means of the quarters still rise.
func growth(fed, control []int64) bool {
	if len(fed) < quarters {
		return false
	}
	q := means(fed)
	for i := range quarters - 1 {
		if q[i+1]-q[i] < risesAtLeast {
			return false
		}
	}
	total := q[3] - q[0]
	return total >= growsAtLeast && (q[3]-q[1])*steadiness >= q[2]-q[0] && rise(control)*controlShare <= total
}

// stillGrows reports whether memory goes on to rise after a pause. What was kept for a
// while only is free by then, and more input finds room in it.
func stillGrows(fed, again []int64) bool {
	if len(fed) < quarters || len(again) < quarters {
		return false
	}
	return means(again)[3]-slices.Max(fed) >= rise(fed)/stillShare
}

// rise is by how much the mean of the last quarter is above that of the first.
func rise(levels []int64) int64 {
	if len(levels) < quarters {
		return 0
	}
	q := means(levels)
	return max(0, q[3]-q[0])
}

// means are those of the quarters.
func means(levels []int64) (q [quarters]int64) {
	n := len(levels) / quarters
	for i := range q {
		for _, level := range levels[i*n : (i+1)*n] {
			q[i] += level / int64(n)
		}
	}
	return q
}
