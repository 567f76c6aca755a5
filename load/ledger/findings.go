package ledger

import (
	"slices"
	"sync"
)

// findingsKept is how many findings of each kind are kept. The counts are of all.
const findingsKept = 1000

// Finding is a delivery with a flaw.
type Finding struct {
	Flaw Flaw
	K    int64  // the job's number; -1 if it is not known
	JID  string // as received, if K is not known; empty if there was none
	What string // such as "refused and delivered nevertheless"
}

// Findings holds the first 1,000 of each kind, in the order of their deliveries.
type Findings struct {
	Twice     []int64   // jobs delivered to a second worker, once for each such delivery
	Returned  []int64   // jobs delivered after they were settled, the same
	Elsewhere []int64   // jobs delivered in two parts of the run, none of which had given them back, the same
	Foreign   []Finding // deliveries with a flaw
}

// findings has a lock, because findings are rare.
type findings struct {
	mu     sync.Mutex
	kept   Findings
	flawed [Flaws]int // how many of kept.Foreign have the flaw
}

func (f *findings) addTwice(k int64, list *[]int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(*list) < findingsKept {
		*list = append(*list, k)
	}
}

func (f *findings) addForeign(finding Finding) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.flawed[finding.Flaw] < findingsKept {
		f.flawed[finding.Flaw]++
		f.kept.Foreign = append(f.kept.Foreign, finding)
	}
}

// addAll adds the findings of a part of the run.
func (f *findings) addAll(others *Findings) {
	for _, list := range []struct{ to, from *[]int64 }{
		{&f.kept.Twice, &others.Twice}, {&f.kept.Returned, &others.Returned}, {&f.kept.Elsewhere, &others.Elsewhere},
	} {
		for _, k := range *list.from {
			f.addTwice(k, list.to)
		}
	}
	for _, finding := range others.Foreign {
		f.addForeign(finding)
	}
}

// Findings returns a copy of the findings so far. For missing jobs see Missing.
func (l *Ledger) Findings() Findings {
	l.findings.mu.Lock()
	defer l.findings.mu.Unlock()
	return Findings{
		Twice:     slices.Clone(l.findings.kept.Twice),
		Returned:  slices.Clone(l.findings.kept.Returned),
		Elsewhere: slices.Clone(l.findings.kept.Elsewhere),
		Foreign:   slices.Clone(l.findings.kept.Foreign),
	}
}
