package ledger

import (
	"slices"
	"sync"
)

// findingsKept is how many of each kind are kept one by one. The counts are of all.
const findingsKept = 1000

// Finding is a delivery that should not have been.
type Finding struct {
	Flaw Flaw
	K    int64  // the job's number; -1 if it is not known
	JID  string // as it came, if K is not known; empty if none came
	What string // in words: "refused and delivered all the same"
}

// Findings are the first 1,000 of each kind, in the order in which they were seen.
type Findings struct {
	Twice    []int64   // jobs delivered to a second worker, once for each such delivery
	Returned []int64   // jobs delivered after they were settled, the same
	Foreign  []Finding // deliveries of what is not ours, or not as it should be
}

// findings is behind a lock, because what it holds is rare.
type findings struct {
	mu     sync.Mutex
	kept   Findings
	flawed [Flaws]int // how many of kept.Foreign have which flaw
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

// Findings returns what was found so far. The caller may keep it. The jobs that are missing are in Missing.
func (l *Ledger) Findings() Findings {
	l.findings.mu.Lock()
	defer l.findings.mu.Unlock()
	return Findings{
		Twice:    slices.Clone(l.findings.kept.Twice),
		Returned: slices.Clone(l.findings.kept.Returned),
		Foreign:  slices.Clone(l.findings.kept.Foreign),
	}
}
