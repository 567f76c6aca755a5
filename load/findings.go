package load

import (
	"slices"

	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/load/ledger"
	"github.com/fwpsuite/fwp/load/protocol"
	"github.com/fwpsuite/fwp/reports"
)

// reportFindings returns the findings about jobs and replies.
func (r *run) reportFindings(drained bool) (findings []reports.LoadFinding) {
	c := r.ledger.Count(drained)
	found := r.ledger.Findings()
	add := func(kind reports.FindingKind, count int64, jids []string) *reports.LoadFinding {
		findings = append(findings, reports.NewLoadFinding(kind, count, jids))
		return &findings[len(findings)-1]
	}
	if c.Lost > 0 {
		add(reports.FindingLost, c.Lost, r.missing(ledger.NotStopped))
	}
	if c.LostByRestart > 0 {
		add(reports.FindingLostByRestart, c.LostByRestart, r.missing(ledger.Restarted))
	}
	if c.Duplicated > 0 {
		add(reports.FindingDuplicated, c.Duplicated, r.jids(found.Twice))
	}
	if c.Returned > 0 {
		add(reports.FindingReturned, c.Returned, r.jids(found.Returned))
	}
	if lost := r.notReturned(); len(lost) > 0 {
		add(reports.FindingNotReturned, int64(len(lost)), r.jids(lost))
	}
	for flaw := range ledger.Flaws {
		if flaw == ledger.Early && len(r.figures.usage.ClockJumps) > 0 {
			continue // the time of a job is one of the wall clock
		}
		if n := c.Flawed[flaw]; n > 0 {
			jids, notes := r.flawed(found.Foreign, flaw)
			add(flaws[flaw], n, jids).Notes = notes
		}
	}
	for _, b := range r.breaches() {
		kind, what := kindOf(b.First)
		f := add(kind, b.Count, nil)
		f.Breach, f.What, f.Notes, f.More = b.First.Breach, what, []string{b.First.What}, 0
	}
	return r.withClauses(findings)
}

// withClauses adds the clauses and their levels, and the findings of the history.
func (r *run) withClauses(findings []reports.LoadFinding) []reports.LoadFinding {
	for i := range findings {
		findings[i].Clause = r.clauseOf(findings[i].Breach)
	}
	findings = r.withHistory(findings)
	for i := range findings {
		findings[i].Level = r.levelOf(findings[i].Clause)
	}
	return findings
}

// levelOf returns the level of a clause, empty if there is none or the caller has no catalogue.
func (r *run) levelOf(clause string) reports.Level {
	if r.config.LevelOf == nil || clause == "" {
		return ""
	}
	return r.config.LevelOf(clause)
}

// clauseOf returns the id of the clause that a breach breaks, empty if it has none or the caller has no catalogue.
func (r *run) clauseOf(breach string) string {
	if r.config.ClauseOf == nil {
		return ""
	}
	return r.config.ClauseOf(breach)
}

// breaches adds up those of all loops and of the introduction.
func (r *run) breaches() []client.Breach {
	var all []client.Breach
	add := func(b client.Breach) {
		i := slices.IndexFunc(all, func(known client.Breach) bool {
			return known.First.Verb == b.First.Verb && known.First.Breach == b.First.Breach
		})
		if i < 0 {
			all = append(all, b)
			return
		}
		all[i].Count += b.Count
	}
	if r.met.Breach != nil {
		add(client.Breach{First: r.met.Breach, Count: 1})
	}
	r.each(func(c *client.Shard) {
		for _, b := range c.Breaches() {
			add(b)
		}
	})
	return all
}

// kindOf returns the kind of finding of a breach, and a few words about it.
func kindOf(b *protocol.BreachError) (kind reports.FindingKind, what string) {
	switch b.Breach {
	case protocol.Unasked:
		return reports.FindingReply, "bytes that no command asked for"
	case protocol.ExtraReply:
		return reports.FindingReply, "more than one reply to " + b.Verb
	case protocol.NoReply:
		return reports.FindingUnanswered, b.Verb + " got no reply, while other commands did"
	case protocol.Overdue:
		return reports.FindingOverdue, "there was no job, and the reply came too late"
	case protocol.WorkerClosed:
		return reports.FindingClosed, "the connection of a worker, which gave no cause"
	case protocol.ForeignReply:
		return reports.FindingReply, "not a valid greeting"
	case protocol.ForeignReply + b.Verb:
		return reports.FindingReply, "not a valid reply to " + b.Verb
	}
	return reports.FindingGrammar, "bytes that are not well-formed"
}

var flaws = [ledger.Flaws]reports.FindingKind{
	ledger.NotOurs: reports.FindingForeign, ledger.WrongQueue: reports.FindingQueue,
	ledger.Altered: reports.FindingAltered, ledger.WasRefused: reports.FindingRefused, ledger.Early: reports.FindingEarly,
}

// flawed returns the jobs with a flaw, and a note about each.
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

// missing returns the jobs that were accepted and never delivered, after such a stop of the server.
func (r *run) missing(after ledger.Stop) []string {
	var list []string
	for k := range r.ledger.Missing() {
		if len(list) == reports.FindingsKept {
			break
		}
		if r.ledger.StoppedAfter(k) != after {
			continue
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
