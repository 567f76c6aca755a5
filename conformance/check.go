package conformance

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/standstill"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// Check is one check of a server. There are two kinds: a [ScriptCheck] plays a script, and a [Property] generates
// what it sends.
type Check interface {
	// Describe returns what is known of the check before it is played. All calls return the same.
	Describe() Description

	// Play plays the check once and blocks until it is over; it ends early when ctx is done. Several plays may run at
	// the same time.
	Play(ctx context.Context, setup Setup) Evidence
}

// Description is what is known of a check before it is played.
type Description struct {
	ID     string   // "fetch/empty-queue-blocks"
	Title  string   // one sentence
	File   string   // how reports name the file of its script; empty if it has none
	Source []string // the lines of that file

	Marks       []scenarios.ClauseMark // the clauses that its lines decide, in their order; none: it may break any
	Needs       []scenarios.Need       // what a server must offer
	Wait        time.Duration          // how long a play takes at most on the embedded server; 0: not long, or not known
	Connections int                    // how many it may have open at a time
	Sharing     Sharing
	Quick       bool // a quick run has it, however long it waits
	Hostile     bool // it sends what a client must not send, or much at a time: a buggy server may end, and it runs alone
	SendsCount  bool // it sends info: servers that count while queues come into being beside it may end
}

// Sharing says which other checks may use the server of a check at the same time.
type Sharing uint8

// The kinds of sharing. All but SharesAll get a server of their own where another one can be started.
const (
	SharesAll      Sharing = iota // any other
	SharesIfNeeded                // any other, but a server of its own is better
	SharesOneByOne                // it uses the queue default: one such check at a time
	SharesNothing                 // it ends or empties the server, or counts everything there, or in a crowd
)

// Clauses returns the marks of the clauses that the check decides, each once, in the order of its lines.
func (d Description) Clauses() []scenarios.ClauseMark {
	var all []scenarios.ClauseMark
	for _, m := range d.Marks {
		if !slices.ContainsFunc(all, func(o scenarios.ClauseMark) bool { return o.Clause == m.Clause }) {
			all = append(all, m)
		}
	}
	return all
}

// Setup is where and how a check is played.
type Setup struct {
	Target          play.Target
	Password        string             // of the target, empty if it has none
	NeedsNoPassword bool               // the target asks for no password, although there may be one
	Alone           bool               // no other client uses the target: flush and the queue default may be used
	Seed            uint64             // of all that is generated
	NamePrefix      string             // the prefix of all names on the target: see play.Player.Play
	Timeout         time.Duration      // the longest wait for a reply; 10 s if zero
	Patience        time.Duration      // for what the specification calls eventual; 150 s if zero
	Quick           bool               // the play must end soon on every server: see QuickCheck
	Meter           *machine.Meter     // of the lag of this machine; nil if it is not measured
	WatchLine       func(reports.Line) // receives each line of the conversations as it happens, one at a time; may be nil

	// StartTarget starts another server like the target; nil if there cannot be one. The
	// returned function ends it.
	StartTarget func() (play.Target, func(), error)

	Suite    *Suite          // of the target
	Peers    *play.PeerStats // the connections of all plays on the target; nil: it counts those of this play
	History  *law.History    // what the scripts of all plays have done on the target; nil: that is not known
	HasEnded func() bool     // reports that the process of the target has ended; nil if that is not known
}

// Evidence is what one play of a check observed.
type Evidence struct {
	Began        time.Time
	Took         time.Duration
	DeadReason   string           // why the target is considered dead, empty if it serves
	HasRecovered bool             // it was dead for a moment only
	Ending       string           // how its process ended, with what it printed last; empty if that is not known
	ShortEnding  string           // the same in a few words: "exit status 2: panic: an error"
	Printed      []string         // what it printed meanwhile, where it was silent or closed a connection; nil: not known
	Looks        standstill.Looks // what was seen of it then
	OpenConns    int              // how many connections to the target were open then
	Refusal      *play.Refusal    // a connection that the target refused, nil if it refused none
	LeftoverJobs []string         // jobs of the play that are still on the target, with their queues
	Remainder    *Remainder       // what can be asked when the play is over; nil for nothing
	Err          error            // an interruption, or an internal error that ended the play

	// Of a script: see play.Run.
	Results      []play.Result
	Breaches     []scenarios.Breach
	Conversation []reports.Line

	Decisions []Decision // of a situation of a client
	Lack      string     // what the target or this machine lacks that the situation needs, for Reason; empty if nothing

	Law   []law.Occurrence // what the law of the protocol found in the conversations
	Tally law.Tally        // what it has judged

	Findings    []Finding          // of a property
	HasServed   bool               // of a property: a client was identified; otherwise the target cannot have crashed
	OpenCause   string             // why the check is inconclusive although there is no finding; empty if it passes
	Reason      reports.ReasonCode // of OpenCause; if empty, too little could be evaluated
	IsTransient bool               // lag is the reason for OpenCause: another try may pass
	IsUnproven  bool               // OpenCause is that one play has found a clause broken, and another has to confirm it
}

// Finding is a finding of a property.
type Finding struct {
	Clause           string // id; empty if no clause is broken
	IsRecommendation bool   // the clause is a recommendation here, whatever its level
	Crash            bool   // the target has served no connection since
	IsTimed          bool   // a lag of this machine may be the reason
	IsUnsteady       bool   // a span of time was wrong at one moment, and not when the conversation was played again
	Expected         string
	Got              string
	Detail           string // what is wrong, in words
	RefusedVerb      string // the verb of the command that was refused, empty if none was
	// the clause of the command itself, where Clause may follow from what is wrong with that; else empty
	CommandClause string
	Premises      []string // see [law.Violation]
	Script        string   // text of a script that reproduces it; empty if there is none

	UnscriptedReason string         // why there is no Script
	Unshrunk         []string       // without one: the last steps that have to do with it, as a script has them
	Conversation     []reports.Line // the last of what was said before it, and what was received
}

// FindingOf returns what a law has found as a finding.
func FindingOf(v *law.Violation) Finding {
	return Finding{
		Clause: v.Clause, IsRecommendation: v.IsRecommendation, Expected: v.Expected, Got: text.Shorten(v.Got),
		Detail:        text.Shorten(v.Detail),
		CommandClause: v.CommandClause, Premises: v.Premises,
	}
}

// Decision is what one play of a situation says about one clause that binds clients. Others of the same play do not
// depend on it.
type Decision struct {
	Clause         string
	Outcome        play.Outcome       // Matched: the clause held; Mismatched: it is broken; Unsure: neither, see Cause
	Expected       string             // of Mismatched
	Got            string             // of Mismatched; of a clause that is only recorded what was observed
	Cause          string             // of Unsure, in one sentence without a full stop
	Reason         reports.ReasonCode // of Unsure; it may be empty
	HasOtherBreach bool               // of Unsure: another clause was broken meanwhile
	Conn           string             // where it shows in the conversation, with At; empty if no line shows it
	At             time.Duration
	// Harm is what a breach does to users, if it is more than its clause says: one of reports.Harms. A breach that harms
	// users is a fail, whatever the level of its clause.
	Harm string
}

// ReasonOrDefault returns Reason, or where that is empty the one that follows from the rest.
func (e *Evidence) ReasonOrDefault() reports.ReasonCode {
	switch {
	case e.Reason != "":
		return e.Reason
	case e.IsTransient:
		return reports.ReasonLag
	}
	return reports.ReasonSetUp
}

// ReasonOf returns the reason if an error ended a play; an interruption has none.
func ReasonOf(err error) reports.ReasonCode {
	if errors.Is(err, errQuickCheck) {
		return reports.ReasonTime
	}
	return ""
}

// Complete reports whether every line was reached and decided and the target still serves.
func (e *Evidence) Complete() bool {
	return !slices.ContainsFunc(e.Results, play.Result.Stops) && e.Err == nil && e.DeadReason == "" && e.OpenCause == ""
}

// Passed reports whether the play is complete and everything was as expected.
func (e *Evidence) Passed() bool {
	mismatched := func(r play.Result) bool { return r.Outcome == play.Mismatched }
	return len(e.Breaches) == 0 && len(e.Findings) == 0 && !slices.ContainsFunc(e.Results, mismatched) && e.Complete()
}
