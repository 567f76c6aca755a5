package play

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/standstill"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// Run is the result of playing a script. It has outcomes of lines; package conformance
// turns them into verdicts about clauses.
type Run struct {
	Script       *scenarios.Script
	Results      []Result           // one for each step with an expectation, in script order; and failed set-up steps
	Breaches     []scenarios.Breach // those that no line is about
	Conversation []reports.Line     // in the order in which it happened
	Began        time.Time
	Took         time.Duration
	NotServing   string           // why the target no longer serves, empty if it does
	Looks        standstill.Looks // what was seen of it then
	OpenConns    int              // connections that were open then, of all plays that share a PeerStats
	Outage       *Outage          // the first one during the play, nil if there was none
	Refusal      *Refusal         // a connection that was not let in, nil if all were; the engine's probes do not count
	LeftoverJobs []string         // jobs of the script that are still on the server, with their queues
	Remainder    *Remainder       // what can be asked when the play is over; nil for nothing
	Err          error            // an internal error, or the play was interrupted
}

// Complete reports whether every step with an expectation was reached and decided, and
// there was no other problem.
func (r *Run) Complete() bool {
	return !slices.ContainsFunc(r.Results, Result.Stops) && r.Err == nil && r.NotServing == ""
}

// Passed reports whether the run is complete and every expectation was met.
func (r *Run) Passed() bool {
	for _, res := range r.Results {
		if res.Outcome == Mismatched {
			return false
		}
	}
	return len(r.Breaches) == 0 && r.Complete()
}

// Outcome is how a line went.
type Outcome uint8

// The outcomes.
const (
	NotReached Outcome = iota
	Matched
	Mismatched
	Unsure // not decided: see Cause
)

func (o Outcome) String() string {
	return [...]string{"not reached", "matched", "mismatched", "unsure"}[o]
}

// errStop ends a play: what happened is in the results.
var errStop = errors.New("the script cannot continue")

func severity(o Outcome) int {
	return map[Outcome]int{NotReached: 0, Matched: 1, Unsure: 2, Mismatched: 3}[o]
}

// Result is the outcome of one step.
type Result struct {
	scenarios.Pos
	Marks         []scenarios.ClauseMark
	Outcome       Outcome
	Setup         bool // it is about a connection or an operator, not about what a line expects
	LacksConn     bool // a connection that it needs could not be opened
	IsLapse       bool // what was received breaks the grammar, and was read all the same
	Expected      string
	Got           string
	Choice        string // the alternative that was received, if there are several: "an error", "null", "+OK"
	IsAlternative bool   // of Matched: it was not the first one
	Differences   []scenarios.Difference
	Cause         string // of Unsure, and of a mismatch in time
	Reason        Reason // of Unsure
	// of Unsure: the protocol is broken whatever the line is about; there is a Breach for it
	BreaksProtocol   bool
	IsCommandRefused bool             // the command was refused, where another reply is due
	Ending           scenarios.Ending // of the connection, if it had ended by then
	// the verb, if a connection ended before its introduction where a refusal was expected
	UnrefusedVerb string
	Conn          string
	At            time.Duration // when it was received, since the start of the play
	IsTransient   bool          // the reason is lag or a refused connection: worth another try, alone

	// IsOccasional: a server may do that now and then, but not always. Another try, alone, shows which it is.
	IsOccasional bool

	// IsAssumed: the reply departs from the line in values alone, and the play went on. A departure of that kind that was
	// seen before is Unsure.
	IsAssumed bool

	IsLate bool // a mismatch in time only: the reply came after the end of its window

	// IsEmptyReply: what the server answers when its wait brought nothing, where another reply is due.
	IsEmptyReply bool

	restsOnTime bool      // a span of time is the premise of a mismatch
	sentSince   time.Time // since when lines were sent that the server may have read late; zero: that is not the reason

	departures []assumption // where the reply departs from its line in values alone; nil if it does not
	isRenamed  bool         // it departs in opaque names alone that nothing of the play has
}

// Stops reports whether the play of the script has not got behind the step, or has decided nothing there.
func (r Result) Stops() bool {
	return !r.IsAssumed && (r.Outcome == NotReached || r.Outcome == Unsure || r.Outcome == Mismatched && len(r.Marks) == 0)
}

// makeUnsure makes a result one that decides nothing.
func (r *Result) makeUnsure(reason doubt) {
	r.Outcome, r.Reason, r.BreaksProtocol, r.Cause = Unsure, reason.reason, reason.breaksProtocol, reason.words
}

// isExcused reports whether the command brought nothing, or was refused, which the server may do to this client from
// now on, but need not.
func (r Result) isExcused() bool {
	return r.Outcome == Unsure && !r.BreaksProtocol && (r.IsEmptyReply || r.IsCommandRefused)
}

// recorder keeps the conversation of one play; safe for concurrent use.
type recorder struct {
	mu         sync.Mutex
	start      time.Time
	lines      []reports.Line
	watch      func(reports.Line)
	watchCount int  // lines that watch was called with
	isInternal bool // from now on all lines are
	repetition map[string]repetition
}

// repetition is what a connection received of late.
type repetition struct {
	openLines int    // lines that were sent and not answered
	text      string // of the last line that no line asked for
	n         int    // how often that was received, one after the other
}

const (
	maxLines       = 4000   // lines of a long play that are kept: the first and the last
	maxWatched     = 20_000 // lines of it that are shown as they happen: a peer may send without an end
	maxRepetitions = 100    // lines that are the same again and again, on one connection
)

// isRepeated reports whether a line is one too many of those that a peer sends again and again without being asked.
func (r *recorder) isRepeated(l *reports.Line) bool {
	if r.repetition == nil {
		r.repetition = map[string]repetition{}
	}
	a := r.repetition[l.Conn]
	defer func() { r.repetition[l.Conn] = a }()
	switch {
	case l.From == reports.FromClient:
		a = repetition{openLines: a.openLines + 1}
	case l.From != reports.FromServer || l.IsEnd:
		a.n = 0
	case a.openLines > 0:
		a.openLines--
	case a.text != l.Text:
		a.text, a.n = l.Text, 1
	default:
		a.n++
	}
	if a.n == maxRepetitions {
		l.Text += " (further ones are left out)"
	}
	return a.n > maxRepetitions
}

// remark adds what the engine says of a connection, or of none.
func (r *recorder) remark(conn, words string) { r.add(conn, reports.FromSuite, words) }

// sending adds a line that is about to be sent.
func (r *recorder) sending(conn, words string) { r.add(conn, reports.FromClient, words) }

func (r *recorder) add(conn, from, words string) {
	r.keep(reports.Line{At: time.Since(r.start), Conn: conn, From: from, Text: text.Shorten(words)})
}

// question adds a question of the engine's.
func (r *recorder) question(conn, words string) {
	r.keep(reports.Line{
		At: time.Since(r.start), Conn: conn, From: reports.FromClient, IsInternal: true,
		Text: words + " (fwpcheck checks whether the connection still works)",
	})
}

// cleanup makes the lines that follow own.
func (r *recorder) cleanup() {
	r.mu.Lock()
	r.isInternal = true
	r.mu.Unlock()
	r.remark("cleanup", "removing leftover jobs of the script")
}

// received adds what was received on a connection, or its end.
func (r *recorder) received(conn string, a session.Received) {
	r.keep(reports.Line{
		At: a.At.Sub(r.start), Conn: conn, From: reports.FromServer, Text: text.Shorten(a.String()),
		IsEnd: a.Ending != scenarios.Open,
	})
}

func (r *recorder) keep(l reports.Line) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l.IsInternal = l.IsInternal || r.isInternal
	if r.isRepeated(&l) {
		return
	}
	if len(r.lines) >= maxLines {
		from, to := maxLines/2, maxLines*3/4 // many at a time: each removal moves all that follow
		if r.isInternal {                    // what was removed matters less than what was tested
			from, to = maxLines-1, maxLines
		}
		r.lines = slices.Delete(r.lines, from, to)
	}
	r.lines = append(r.lines, l)
	if r.watch == nil || r.watchCount > maxWatched {
		return
	}
	if r.watchCount++; r.watchCount > maxWatched {
		l = reports.Line{At: l.At, From: reports.FromSuite, Text: "this conversation is very long; the rest is not shown"}
	}
	r.watch(l)
}
