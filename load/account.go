package load

import (
	"fmt"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/load/ledger"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
)

// account is what a report has of a ledger.
type account struct {
	ledger         *ledger.Ledger
	jobs           *plan.Jobs
	isDrained      bool
	drainFailure   string
	clients        results.ClientCounts
	unreturnedJobs []int64 // jobs that the server would not take as done, and that should have come back
	clockWasSet    bool    // the time of day was set meanwhile
}

// account returns the account of the run so far.
func (r *run) account() account {
	a := account{
		ledger: r.ledger, jobs: r.jobs, isDrained: r.figures.isDrained, drainFailure: r.figures.drainFailure,
		clients: r.status.ClientCounts, clockWasSet: len(r.figures.usage.ClockJumps) > 0,
	}
	if a.ledger.Count(false).Sent == 0 {
		a.isDrained, a.drainFailure = true, ""
	}
	return a
}

// report returns the account of the jobs.
func (a *account) report() results.LoadJobs {
	c := a.count()
	jobs := results.LoadJobs{
		Pushed: c.Pushed, Refused: c.Refused, Doubtful: c.Doubtful + c.Unanswered,
		Delivered: c.Delivered, Redelivered: c.Redelivered, Acked: c.Acked, Failed: c.Failed,
		LostJobs:   c.LostJobs + c.LostByRestart + c.LostByKill,
		Duplicated: c.Duplicated + c.Returned + c.DuplicatedByStop + c.ReturnedByStop,
		Foreign:    c.Foreign, OutOfOrder: c.OutOfOrder,
		HeldJobs: c.HeldJobs, Waiting: c.Waiting, Missing: c.Missing, InDoubt: min(c.Missing, c.FetchesLost),
		FetchesLost: c.FetchesLost, ClientCounts: a.clients,
		IsDrained: a.isDrained, DrainFailure: a.drainFailure,
	}
	if jobs.IsDrained { // a run that has waited has no doubt about what a fetch may have taken
		jobs.InDoubt = jobs.Missing - jobs.LostJobs
	}
	return jobs
}

// count returns the counts of the ledger.
func (a *account) count() ledger.Counts { return a.ledger.Count(a.isDrained) }

// minClockDifference is the least difference of the two clocks that a report mentions.
const minClockDifference = 100 * time.Millisecond

// clock returns how far the server's clock is from this machine's; nil if no difference is known, or only a small one.
func (a *account) clock() *results.ServerClock {
	ahead, early := a.ledger.Clock().Offset(), a.ledger.Count(false).Flawed[ledger.EarlyByLocalClock]
	if a.clockWasSet || ahead.Abs() < minClockDifference && early == 0 {
		return nil
	}
	return &results.ServerClock{Ahead: ahead, Early: early}
}

// findings returns what the account shows about the server, without clauses.
func (a *account) findings() (findings []results.LoadFinding) {
	c, found := a.count(), a.ledger.Findings()
	add := func(kind results.FindingKind, count int64, jids []string) *results.LoadFinding {
		if count == 0 {
			return new(results.LoadFinding)
		}
		findings = append(findings, results.NewLoadFinding(kind, count, jids))
		return &findings[len(findings)-1]
	}
	addLost := func(kind results.FindingKind, count int64, after ledger.Stop) {
		jids := a.missingJobs(count, after)
		f := add(kind, count, jids)
		f.Count = count // as in the account of the jobs: some of those that are missing may have gone with a fetch
		if f.MoreJIDs = max(0, count-int64(len(jids))); count > 0 && int64(len(jids)) > count {
			f.Notes = []string{fmt.Sprintf("%d of these jobs may have gone with fetches that had no reply",
				int64(len(jids))-count)}
		}
	}
	addLost(results.FindingLost, c.LostJobs, ledger.NoStop)
	addLost(results.FindingLostByRestart, c.LostByRestart, ledger.Restart)
	add(results.FindingDuplicated, c.Duplicated, a.jids(found.Duplicates))
	add(results.FindingReturned, c.Returned, a.jids(found.Returned))
	add(results.FindingNotReturned, int64(len(a.unreturnedJobs)), a.jids(a.unreturnedJobs))
	for flaw := range ledger.Flaws {
		ofTime := flaw == ledger.EarlyJob || flaw == ledger.EarlyByLocalClock
		if ofTime && a.clockWasSet || flaw == ledger.EarlyByLocalClock && a.ledger.Clock().Agrees() {
			continue // the time of a job is one of the wall clock, and the server's may be another
		}
		jids, notes := a.jobsWithFlaw(found.Foreign, flaw)
		add(flaws[flaw], c.Flawed[flaw], jids).Notes = notes
	}
	return findings
}

var flaws = [ledger.Flaws]results.FindingKind{
	ledger.UnknownJob: results.FindingForeign, ledger.WrongQueue: results.FindingQueue,
	ledger.AlteredJob: results.FindingAltered, ledger.RefusedJob: results.FindingRefused,
	ledger.EarlyJob:          results.FindingEarly,
	ledger.EarlyByLocalClock: results.FindingEarly,
}

// jobsWithFlaw returns the jobs with a flaw, and a note about each.
func (a *account) jobsWithFlaw(found []ledger.Finding, flaw ledger.Flaw) (jids, notes []string) {
	for _, f := range found {
		if f.Flaw != flaw {
			continue
		}
		jid := f.JID
		if f.Number >= 0 {
			jid = string(a.jobs.AppendJID(nil, f.Number))
		}
		note := f.Description
		if jid != "" {
			jids = append(jids, jid)
			note = jid + ": " + note
		}
		notes = append(notes, note)
	}
	return jids, notes
}

// missingJobs returns the jobs that were accepted and never delivered, after such a stop of the server, if there are
// any.
func (a *account) missingJobs(count int64, after ledger.Stop) []string {
	var list []string
	for k := range a.ledger.Missing() {
		if count == 0 || len(list) == results.MaxJIDs {
			break
		}
		if a.ledger.StoppedAfter(k) != after {
			continue
		}
		list = append(list, string(a.jobs.AppendJID(nil, k)))
	}
	return list
}

func (a *account) jids(ks []int64) []string {
	list := make([]string, len(ks))
	for i, k := range ks {
		list[i] = string(a.jobs.AppendJID(nil, k))
	}
	return list
}

// clauses says which clause a finding is about.
type clauses struct {
	lookup func(breach string) string        // nil: there is no catalogue
	level  func(clause string) reports.Level // the same
}

// clauseOf returns the id of the clause that a breach breaks, empty if it has none or there is no catalogue.
func (c clauses) clauseOf(breach string) string {
	if c.lookup == nil {
		return ""
	}
	return c.lookup(breach)
}

// name sets the clause of each finding, by its breach.
func (c clauses) name(findings []results.LoadFinding) []results.LoadFinding {
	for i := range findings {
		findings[i].Clause = c.clauseOf(findings[i].Breach)
	}
	return findings
}

// rank sets the levels of the clauses of findings.
func (c clauses) rank(findings []results.LoadFinding) []results.LoadFinding {
	for i := range findings {
		if f := &findings[i]; c.level != nil && f.Clause != "" {
			f.Level = c.level(f.Clause)
		}
	}
	return findings
}

// clauses returns the lookups of clauses and levels that the configuration has.
func (r *run) clauses() clauses { return clauses{r.config.ClauseOf, r.config.LevelOf} }

// reportFindings returns the findings about jobs and replies.
func (r *run) reportFindings() []results.LoadFinding {
	a := r.account()
	a.unreturnedJobs = r.unreturnedJobs()
	findings := a.findings()
	for _, b := range r.breaches() {
		kind, words := kindOf(b.First)
		f := results.NewLoadFinding(kind, b.Count, nil)
		f.Breach, f.Description, f.Notes, f.MoreJIDs = b.First.Breach, words, []string{b.First.Description}, 0
		findings = append(findings, f)
	}
	c := r.clauses()
	return r.addPushTimes(c.rank(r.addExternal(r.addHistory(slices.Clip(c.name(findings))))))
}
