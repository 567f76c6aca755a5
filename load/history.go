package load

import (
	"fmt"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/load/results"
)

// HistoryLimit is how many calls a run records, unless another limit is set. They take about 300 bytes each, and 700
// while they are examined.
const HistoryLimit = 2_000_000

// examineHistory examines the recorded calls, after all connections have ended and before the engine is closed.
func (r *run) examineHistory() {
	if r.recorder == nil {
		return
	}
	h := r.recorder.History()
	r.each(func(c *client.Shard) { c.Complete(h) })
	h.Drained = r.figures.drained
	h.Limits.Early = time.Second // the clocks of two machines
	result := history.Examine(h)
	r.figures.history, r.figures.examined = h, result
	note := fmt.Sprintf("%d calls recorded; %d of %d jobs settled", len(h.Events), result.Settled, result.Jobs)
	if h.Cut > 0 {
		note += fmt.Sprintf("; the record ends at its limit, %v after the start", h.Cut.Round(time.Millisecond))
	}
	r.note(note)
}

// withHistory adds the findings of the history. One about a clause that has a finding already adds its proof to that.
func (r *run) withHistory(findings []results.LoadFinding) []results.LoadFinding {
	for _, f := range r.figures.examined.Findings {
		breach, clause := string(f.Breach), r.clauses().clauseOf(string(f.Breach))
		i := slices.IndexFunc(findings, func(known results.LoadFinding) bool {
			return known.Breach == breach || clause != "" && known.Clause == clause
		})
		if i < 0 {
			i = len(findings)
			findings = append(findings, results.LoadFinding{
				Kind: results.FindingHistory, Breach: breach, Clause: clause, What: "proved by the order of calls and replies",
			})
		}
		known := &findings[i]
		if known.Kind == results.FindingHistory {
			known.Count++
			if f.JID != "" && len(known.JIDs) < results.FindingsKept {
				known.JIDs = append(known.JIDs, f.JID)
			}
			known.More = known.Count - int64(len(known.JIDs))
		}
		if len(known.Notes) < results.FindingsKept {
			known.Notes = append(known.Notes, f.What)
		}
	}
	return findings
}
