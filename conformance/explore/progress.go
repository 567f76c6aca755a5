package explore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/session"
)

// Activity is what a run is doing.
type Activity uint8

// The activities of a run.
const (
	Exploring  Activity = iota // plays commands that it makes up
	Shrinking                  // looks for a shorter conversation that shows a finding
	Confirming                 // plays the shrunk conversation again
	Loading                    // puts a load of many clients on the server
	CleaningUp                 // removes what it left on the server
)

// Progress is how far a run is.
type Progress struct {
	Activity    Activity
	Commands    int    // that were sent, without those that shrank findings
	Outcomes    int    // different ones that were seen
	Finding     string // that is shrunk or confirmed: its clause, or its rule if it has none
	Done, Total int    // shrinking: steps that remain, of those that there were; confirming: plays
}

// Name returns what a finding is called: its clause, or its rule if it has none.
func (f *Finding) Name() string { return cmp.Or(f.Clause, f.Rule) }

// progress reports what an exploration is doing.
func (x *exploration) progress(a Activity) { x.report(Progress{Activity: a}) }

// report fills in what is counted over the whole exploration, and reports progress.
func (x *exploration) report(p Progress) {
	if x.Progress == nil {
		return
	}
	p.Commands, p.Outcomes = x.play.commands, len(x.result.Coverage.Outcomes)
	x.Progress(p)
}

// Coverage counts what an exploration has seen.
type Coverage struct {
	Answers     int            // answers to commands that were judged
	States      map[string]int // of connections, by role: how often a command was answered there
	Transitions map[string]int // "not identified > identified"
	Outcomes    map[string]int // "fetch identified worker: null", verb x state x outcome
	Situations  map[string]int // of the subject, zero for those that were never reached

	unreadCounts map[string]*unreadCount // by verb
}

// unreadCount are the replies to a verb that were not read.
type unreadCount struct {
	times  int
	reason string // the first one was not: what the suite reads, or what was expected
}

func newCoverage(s *Alphabet) *Coverage {
	c := &Coverage{
		States: map[string]int{}, Transitions: map[string]int{}, Outcomes: map[string]int{}, Situations: map[string]int{},
	}
	for _, name := range s.Situations {
		c.Situations[name] = 0
	}
	return c
}

// addSituation counts the situation of a command that was answered, be it by a close.
func (c *Coverage) addSituation(situation string) {
	if c != nil && situation != "" {
		c.Situations[situation]++
	}
}

// note counts one answered command.
func (c *Coverage) note(a law.Answer) {
	if c == nil {
		return
	}
	c.Answers += b2i(a.IsJudged && a.Verb != "") // not what every server of the transport says
	c.States[a.State]++
	c.Outcomes[a.Outcome]++
	if a.Transition != "" {
		c.Transitions[a.Transition]++
	}
}

// addUnread counts a reply that is beyond a limit of the suite, or breaks the grammar.
func (c *Coverage) addUnread(verb string, err *session.SyntaxError) {
	if c == nil {
		return
	}
	if c.unreadCounts == nil {
		c.unreadCounts = map[string]*unreadCount{}
	}
	if c.unreadCounts[verb] == nil {
		c.unreadCounts[verb] = &unreadCount{reason: "expected " + err.Expected}
		if err.IsLimit {
			c.unreadCounts[verb].reason = "the suite reads " + err.Expected
		}
	}
	c.unreadCounts[verb].times++
}

// Unread returns which verbs had most of their replies unread, and why: the limit of the suite, or what was expected;
// empty if none had.
func (c *Coverage) Unread() string {
	var all []string
	for _, verb := range slices.Sorted(maps.Keys(c.unreadCounts)) {
		read := 0
		for outcome, n := range c.Outcomes {
			if strings.HasPrefix(outcome, verb+" ") {
				read += n
			}
		}
		if b := c.unreadCounts[verb]; b.times > read {
			all = append(all, fmt.Sprintf("%d of %d replies to %s could not be read: %s",
				b.times, b.times+read, cmp.Or(verb, "a new connection"), b.reason))
		}
	}
	return strings.Join(all, "; ")
}

// Budget divides the time of a run: commands are made up until Explore, and what was left on the server is removed
// until End. The zero value has no limits.
type Budget struct{ Explore, End time.Time }

// Divide returns the budget of a run that begins now and lasts no longer than total: an eighth of it, at most ten
// seconds, is kept for the clean-up. There are no limits if total is zero.
func Divide(total time.Duration) Budget {
	if total == 0 {
		return Budget{}
	}
	end := time.Now().Add(total)
	return Budget{Explore: end.Add(-min(total/cleanupShare, maxCleanup)), End: end}
}

const (
	cleanupShare = 8 // one such part of the time is for the clean-up
	maxCleanup   = 10 * time.Second
)

// deadline returns when the last command has to be over, which may take long on a server that does not answer: half of
// the time for the clean-up is left then.
func (b Budget) deadline() time.Time { return b.Explore.Add(b.End.Sub(b.Explore) / 2) }

// Shrinkings times as long as one finding may take, all findings of a run take at most to be shrunk.
const Shrinkings = 3

// Pool is the time for shrinking several findings, one after the other.
type Pool struct {
	each time.Duration // at most, no limit if zero
	end  time.Time
}

// NewPool returns a pool from which one finding takes so much time at most, and all of them [Shrinkings] times as much,
// from now on. There is no limit if each is zero.
func NewPool(each time.Duration) Pool {
	return Pool{each, time.Now().Add(Shrinkings * each)}
}

// Begin returns ctx with the end of the pool.
func (p Pool) Begin(ctx context.Context) (context.Context, context.CancelFunc) {
	if p.each == 0 {
		return Until(ctx, time.Time{})
	}
	return Until(ctx, p.end)
}

// Share returns how long the next of n findings may be shrunk: its part of the time that is left. isKnown: one of its
// kind was reproduced already, so that it gets a quarter of that only, because the reason is probably the same, and
// what does not come again costs most. Zero is no limit.
func (p Pool) Share(n int, isKnown bool) time.Duration {
	if p.each == 0 {
		return 0
	}
	part := min(p.each, time.Until(p.end)/time.Duration(n))
	if isKnown {
		part /= 4
	}
	return max(part, 1)
}

// Until returns a copy of ctx that ends at t, if that is not zero.
func Until(ctx context.Context, t time.Time) (context.Context, context.CancelFunc) {
	if t.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, t)
}

// withLimit is ctx with a limit, unless that is zero.
func withLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit == 0 {
		return Until(ctx, time.Time{})
	}
	return Until(ctx, time.Now().Add(limit))
}
