package load

import (
	"fmt"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/reports"
)

// HistoryLimit is how many calls a run records if it is not told otherwise. They take
// some 300 bytes each, and 700 while they are judged.
const HistoryLimit = 2_000_000

// judgeHistory judges what was recorded, once all connections have ended and before the
// engine is closed.
func (r *run) judgeHistory() {
	if r.recorder == nil {
		return
	}
	h := r.recorder.History()
	r.each(func(c *client.Crew) { c.Complete(h) })
	h.Drained = r.report.Jobs.Drained
	h.Limits.Early = time.Second // the clocks of two machines
	r.history, r.judged = h, history.Examine(h)
	r.note(r.historyNote(), "")
}

// settleHistory tells what only the history proves, and gives its proof to what the
// ledger has found too.
func (r *run) settleHistory() {
	for _, f := range r.judged.Findings {
		i := slices.IndexFunc(r.report.Findings, func(known reports.LoadFinding) bool { return known.Clause == f.Clause })
		if i < 0 {
			i = len(r.report.Findings)
			r.report.Findings = append(r.report.Findings, reports.LoadFinding{
				Kind: reports.FindingHistory, Clause: f.Clause, What: "proved by the order of calls and replies",
			})
		}
		known := &r.report.Findings[i]
		if known.Kind == reports.FindingHistory {
			known.Count++
			if f.JID != "" && len(known.JIDs) < reports.FindingsKept {
				known.JIDs = append(known.JIDs, f.JID)
			}
			known.More = known.Count - int64(len(known.JIDs))
		}
		if len(known.Notes) < reports.FindingsKept {
			known.Notes = append(known.Notes, f.What)
		}
	}
}

// historyNote says what came of the history, for the phase in which it is judged.
func (r *run) historyNote() string {
	n, j := len(r.history.Events), &r.judged
	note := fmt.Sprintf("%d calls recorded; %d of %d jobs settled", n, j.Settled, j.Jobs)
	if cut := r.history.Cut; cut > 0 {
		note += fmt.Sprintf("; the record ends at its limit, %v after the start", cut.Round(time.Millisecond))
	}
	return note
}
