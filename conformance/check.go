package conformance

import (
	"context"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// Check is one check of a server. There are two kinds: a [ScriptCheck] plays a script, and a [Property] makes up what
// it sends.
type Check interface {
	// Describe returns what is known of the check before it is played. It is always the same.
	Describe() Description

	// Play plays the check once and blocks until it is over; it ends early when ctx is done. Several plays may run at
	// the same time.
	Play(ctx context.Context, on Setup) Evidence
}

// Description is what is known of a check before it is played.
type Description struct {
	ID     string   // "fetch/empty-queue-blocks"
	Title  string   // one sentence
	File   string   // how reports name the file of its script; empty if it has none
	Source []string // the lines of that file

	Marks       []scenarios.Mark  // the clauses that its lines decide, in their order; none: it may break any
	Needs       []scenarios.Need  // what a server must offer
	Embedded    map[string]string // the settings of a server that is prepared for it, where it needs one
	Wait        time.Duration     // how long a play takes at least, on a server that answers at once
	Fetches     bool              // a FETCH may have it wait longer
	Connections int               // how many it may have open at a time
	Sharing     Sharing
}

// Sharing is how a check gets on with others on one server.
type Sharing uint8

// The kinds of sharing. A check of any kind but the first is given a server of its own where there can be another one.
const (
	SharesAll      Sharing = iota // it runs beside any other
	SharesAtNeed                  // the same, but a server of its own is better
	SharesOneByOne                // it uses the queue default: one such check at a time
	SharesNothing                 // it ends or empties the server, or counts everything there
)

// Clauses returns the marks of the clauses that the check decides, each once, in the order of its lines.
func (d Description) Clauses() []scenarios.Mark {
	var all []scenarios.Mark
	for _, m := range d.Marks {
		if !slices.ContainsFunc(all, func(o scenarios.Mark) bool { return o.Clause == m.Clause }) {
			all = append(all, m)
		}
	}
	return all
}

// Setup is where and how a check is played.
type Setup struct {
	Target   scenarios.Target
	Password string               // of the target, empty if it has none
	Alone    bool                 // nobody else uses the target: FLUSH and the queue default may be used
	Seed     uint64               // of all that is made up
	Names    string               // the prefix of all names on the target: see scenarios.Player.Play
	Timeout  time.Duration        // the longest wait for a reply; 10 s if zero
	Patience time.Duration        // for what the specification calls eventual; 150 s if zero
	Quick    bool                 // the play must end soon on every server: see QuickCheck
	Meter    *scenarios.Meter     // of the lag of this machine; nil if it is not measured
	Watch    func(scenarios.Line) // receives each line of the conversations as it happens, one at a time; may be nil

	// Fresh starts another server like the target; nil where there is none. The
	// returned function ends it.
	Fresh func() (scenarios.Target, func(), error)

	host *host // of the target
}

// Evidence is what one play of a check saw.
type Evidence struct {
	Began    time.Time
	Took     time.Duration
	Dead     string             // why the target is held to serve no longer, empty if it serves
	Amid     int                // how many connections to the target were open then
	Refused  *scenarios.Refusal // a connection that the target refused, nil if it refused none
	Leftover []string           // jobs of the play that are still on the target, with their queues
	Err      error              // an interruption, or a reason of ours for which the play could not go on

	// Of a script: see scenarios.Run.
	Results      []scenarios.Result
	Breaches     []scenarios.Breach
	Conversation []scenarios.Line

	Findings []Finding // of a property
	Served   bool      // of a property: a client was identified; what was never served did not die either
	Open     string    // why the check does not pass although nothing was found; empty if it does
	Passing  bool      // Open is because of lag: another try may go better
}

// Finding is something that a property found broken.
type Finding struct {
	Clause   string // id; empty if no clause is broken
	Should   bool   // the clause only recommends it here, whatever its level
	Crash    bool   // the target serves no longer since
	Clocked  bool   // a lag of ours may be the reason
	Expected string
	Got      string
	What     string // what is wrong, in words
	Script   string // the text of a script that shows it; empty if there is none
}

// complete reports whether every line was reached and decided and the target still serves.
func (e *Evidence) complete() bool {
	open := func(r scenarios.Result) bool {
		return r.Outcome == scenarios.NotReached || r.Outcome == scenarios.Unsure ||
			r.Outcome == scenarios.Mismatched && len(r.Marks) == 0
	}
	return !slices.ContainsFunc(e.Results, open) && e.Err == nil && e.Dead == "" && e.Open == ""
}

// held reports whether the play is complete and everything came as it was expected.
func (e *Evidence) held() bool {
	mismatched := func(r scenarios.Result) bool { return r.Outcome == scenarios.Mismatched }
	return len(e.Breaches) == 0 && len(e.Findings) == 0 && !slices.ContainsFunc(e.Results, mismatched) && e.complete()
}

// levelOf is the level at which a mark judges.
func levelOf(m scenarios.Mark) reports.Level {
	if m.Level != "" {
		return reports.Level(m.Level)
	}
	c, _ := ClauseByID(m.Clause) // a script of somebody else's may name what it likes
	return c.Level
}

// breachOf is what a departure from the clause of a mark means.
func breachOf(m scenarios.Mark) reports.Verdict {
	if c, ok := ClauseByID(m.Clause); ok && m.Level == "" {
		return c.Breach()
	}
	return levelOf(m).Breach()
}
