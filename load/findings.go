package load

import (
	"slices"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/load/ledger"
	"github.com/fwpsuite/fwp/reports"
)

// settleJobs writes the account of the jobs.
func (r *run) settleJobs() {
	jobs := &r.report.Jobs
	c := r.ledger.Count(jobs.Drained)
	jobs.Pushed, jobs.Refused, jobs.Doubtful = c.Pushed, c.Refused, c.Doubtful+c.Unanswered
	jobs.Delivered, jobs.Redelivered, jobs.Acked, jobs.Failed = c.Delivered, c.Redelivered, c.Acked, c.Failed
	jobs.Lost, jobs.Duplicated, jobs.Foreign, jobs.OutOfOrder = c.Lost, c.Duplicated+c.Returned, c.Foreign, c.OutOfOrder
	jobs.Held, jobs.Waiting, jobs.Missing = c.Held, c.Waiting, c.Missing
	jobs.InDoubt = min(c.Missing, c.FetchesLost)
	jobs.FetchesLost = c.FetchesLost
	jobs.TakenAtEnd = r.status.TakenAtStop
	if c.Sent == 0 {
		jobs.Drained, jobs.NotDrained = true, ""
	}
}

// settleFindings tells what the server did wrong with the jobs.
func (r *run) settleFindings() {
	c := r.ledger.Count(r.report.Jobs.Drained)
	found := r.ledger.Findings()
	add := func(kind reports.FindingKind, count int64, jids []string) *reports.LoadFinding {
		r.report.Findings = append(r.report.Findings, reports.NewLoadFinding(kind, count, jids))
		return &r.report.Findings[len(r.report.Findings)-1]
	}
	if c.Lost > 0 {
		add(reports.FindingLost, c.Lost, r.missing())
	}
	if c.Duplicated > 0 {
		add(reports.FindingDuplicated, c.Duplicated, r.jids(found.Twice))
	}
	if c.Returned > 0 {
		add(reports.FindingReturned, c.Returned, r.jids(found.Returned))
	}
	for flaw := range ledger.Flaws {
		if n := c.Flawed[flaw]; n > 0 {
			jids, notes := r.flawed(found.Foreign, flaw)
			add(flaws[flaw], n, jids).Notes = notes
		}
	}
	for _, b := range r.breaches() {
		kind, what := kindOf(b.First)
		f := add(kind, b.Count, nil)
		f.Clause, f.What, f.Notes, f.More = b.First.Clause, what, []string{b.First.What}, 0
	}
}

// breaches adds up those of all loops, and what came before them.
func (r *run) breaches() []client.Breach {
	var all []client.Breach
	add := func(b client.Breach) {
		i := slices.IndexFunc(all, func(known client.Breach) bool {
			return known.First.Verb == b.First.Verb && known.First.Clause == b.First.Clause
		})
		if i < 0 {
			all = append(all, b)
			return
		}
		all[i].Count += b.Count
	}
	if r.breach != nil {
		add(client.Breach{First: r.breach, Count: 1})
	}
	r.each(func(c *client.Crew) {
		for _, b := range c.Breaches() {
			add(b)
		}
	})
	return all
}

// kindOf says what kind of finding a breach is, and in a few words what it means.
func kindOf(b *client.BreachError) (kind reports.FindingKind, what string) {
	switch b.Clause {
	case "FWP-RESP-05":
		return reports.FindingReply, "bytes that nobody asked for"
	case "FWP-RESP-06":
		return reports.FindingReply, "more than one reply to " + b.Verb
	case fwp.ReplyClause(""):
		return reports.FindingReply, "not a valid greeting"
	case fwp.ReplyClause(b.Verb):
		return reports.FindingReply, "not a valid reply to " + b.Verb
	}
	return reports.FindingGrammar, "bytes that are not well-formed RESP"
}

var flaws = [ledger.Flaws]reports.FindingKind{
	ledger.NotOurs: reports.FindingForeign, ledger.WrongQueue: reports.FindingQueue,
	ledger.Altered: reports.FindingAltered, ledger.WasRefused: reports.FindingRefused,
}

// flawed names the jobs with a flaw, and says what was wrong with each.
func (r *run) flawed(found []ledger.Finding, flaw ledger.Flaw) (jids, notes []string) {
	for _, f := range found {
		if f.Flaw != flaw {
			continue
		}
		jid := f.JID
		if f.K >= 0 {
			jid = string(r.jobs.AppendJID(nil, f.K))
		}
		note := f.What
		if jid != "" {
			jids = append(jids, jid)
			note = jid + ": " + note
		}
		notes = append(notes, note)
	}
	return jids, notes
}

// missing names the jobs that were accepted and never came.
func (r *run) missing() []string {
	var list []string
	for k := range r.ledger.Missing() {
		if len(list) == reports.FindingsKept {
			break
		}
		list = append(list, string(r.jobs.AppendJID(nil, k)))
	}
	return list
}

func (r *run) jids(ks []int64) []string {
	list := make([]string, 0, len(ks))
	for _, k := range ks {
		list = append(list, string(r.jobs.AppendJID(nil, k)))
	}
	return list
}
