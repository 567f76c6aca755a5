package load

import (
	"fmt"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/wire"
)

// breaches adds up those of all loops and of the introduction.
func (r *run) breaches() (all client.Breaches) {
	if r.introduction.Breach != nil {
		all.Add(client.Breach{First: r.introduction.Breach, Count: 1})
	}
	r.eachShard(func(c *client.Shard) { all.Add(c.Breaches()...) })
	return all
}

// kindOf returns the kind of finding of a breach, and a few words about it.
func kindOf(b *wire.BreachError) (kind results.FindingKind, words string) {
	switch b.Breach {
	case wire.UnaskedBytes:
		return results.FindingReply, "bytes that no command asked for"
	case wire.ExtraReply:
		return results.FindingReply, "more than one reply to " + b.Verb
	case wire.NoReply:
		return results.FindingUnanswered, b.Verb + " got no reply, while other commands did"
	case wire.OverdueFetch:
		return results.FindingOverdue, "there was no job, and the reply was too late"
	case wire.WorkerClosed:
		return results.FindingClosed, "the connection of a worker, without a cause"
	case wire.ImpossibleReply:
		return results.FindingReply, "not a valid greeting"
	case wire.ImpossibleReply + b.Verb:
		return results.FindingReply, "not a valid reply to " + b.Verb
	}
	return results.FindingGrammar, "bytes that are not well-formed"
}

// DefaultMaxCalls is how many calls a run records, unless Config.MaxCalls is another limit. They take about 300 bytes
// each, and 700 while they are examined.
const DefaultMaxCalls = 2_000_000

// examineHistory examines the recorded calls, after all connections have ended and before the engine is closed.
func (r *run) examineHistory() {
	if r.historyRecorder == nil {
		return
	}
	h := r.historyRecorder.History()
	r.eachShard(func(c *client.Shard) { c.Complete(h) })
	h.Drained = r.figures.isDrained
	h.Limits.MaxLead = time.Second + r.ledger.Clock().Offset().Abs() // the clocks of two machines
	result := history.Examine(h)
	r.figures.history, r.figures.examination = h, result
	note := fmt.Sprintf("%d calls recorded; %d of %d jobs settled", len(h.Events), result.Settled, result.Jobs)
	if h.CutAt > 0 {
		note += fmt.Sprintf("; the record ends at its limit, %v after the start", h.CutAt.Round(time.Millisecond))
	}
	r.note(note)
}

// addExternal adds the findings of Config.Findings.
func (r *run) addExternal(findings []results.LoadFinding) []results.LoadFinding {
	if r.config.Findings == nil {
		return findings
	}
	others := slices.DeleteFunc(r.config.Findings(), func(other results.LoadFinding) bool {
		return slices.ContainsFunc(findings, func(f results.LoadFinding) bool { return f.Clause == other.Clause })
	})
	return append(findings, others...)
}

// addHistory adds the findings of the history. One about a clause that has a finding already adds its proof to that.
func (r *run) addHistory(findings []results.LoadFinding) []results.LoadFinding {
	for _, f := range r.figures.examination.Findings {
		breach, clause := string(f.Breach), r.clauses().clauseOf(string(f.Breach))
		i := slices.IndexFunc(findings, func(finding results.LoadFinding) bool {
			return finding.Breach == breach || clause != "" && finding.Clause == clause
		})
		if i < 0 {
			i = len(findings)
			findings = append(findings, results.LoadFinding{
				Kind: results.FindingHistory, Breach: breach, Clause: clause,
				Description: "proved by the order of calls and replies",
			})
		}
		finding := &findings[i]
		if finding.Kind == results.FindingHistory {
			finding.Count++
			if f.JID != "" && len(finding.JIDs) < results.MaxJIDs {
				finding.JIDs = append(finding.JIDs, f.JID)
			}
			finding.MoreJIDs = finding.Count - int64(len(finding.JIDs))
		}
		if len(finding.Notes) < results.MaxJIDs {
			finding.Notes = append(finding.Notes, f.Description)
		}
	}
	return findings
}

// addPushTimes adds when the jobs of findings were pushed.
func (r *run) addPushTimes(findings []results.LoadFinding) []results.LoadFinding {
	for i := range findings {
		f, hasTime := &findings[i], false
		f.Pushed = make([]time.Duration, len(f.JIDs))
		for n, jid := range f.JIDs {
			f.Pushed[n] = -1
			if k, ok := r.jobs.Number(jid); ok {
				if at, ok := r.ledger.PushedAt(k); ok {
					f.Pushed[n], hasTime = at, true
				}
			}
		}
		if !hasTime {
			f.Pushed = nil
		}
	}
	return findings
}
