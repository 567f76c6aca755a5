package play

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// A reply that departs from its line in values alone is a finding, or the reason why its check is inconclusive, and the
// play goes on as if this were the way of the server: what another line is about can still be judged. An assumption is
// as narrow as what was seen: the verb of the command, the place of the value and the type of the value. The same
// departure is told once in a play; a line that it hides is unsure, so that its clauses do not pass. It is no longer
// assumed where a later reply is right at that place.
//
// What cannot be assumed ends the play: a message of another kind, a refusal, or one where a refusal is due; an end of
// the connection; a message that is not whole, that no command or more than one asked for, or that came too early or
// too late; another number of parts; a text that is no JSON; a value of the play in the wrong
// place; a message that leaves a name of its line without a value; and all in an eventually or unordered block. Behind
// an assumption an eventually block is tried for as long as any other.
// Behind an assumption, what differs in another way than in values decides nothing: it may follow from it. It does not
// follow where only names differ that nothing of the play has, and whose text the script leaves open: that is the same
// thing by another name.

// mend returns a message as it would be if it were about what its command asks about, and records that it is not, once
// for each verb. A message about something else of the play stays as it is: the server has confused the two.
func (th *thread) mend(c *conn, e *scenarios.Expect, a session.Received) (mended session.Received, isChanged bool) {
	dialect, ok := th.dialect().(scenarios.Mender)
	if !ok || !a.IsComplete() || a.OwedMessages != 1 {
		return a, false
	}
	m, was := dialect.Mend(a.Command, a.Message)
	if was == "" || th.scope.Has(was) {
		return a, false
	}
	key := assumption{verb: th.grammar().VerbSent(a.Command), path: "about"}
	th.mu.Lock()
	isKnown := th.assumptions[key] != 0
	th.assumptions[key] = e.Line
	th.mu.Unlock()
	if !isKnown {
		th.breachOn(c, e.Pos, a, scenarios.Breach{
			Kind: scenarios.ImpossibleReply, Verb: c.Status().Verb, Expected: "a reply about the subject of the command",
			Assumed: true,
		})
	}
	a.Message = m
	return a, true
}

// assumption is a departure of a server that a play takes as its way.
type assumption struct {
	verb, path string
	class      byte // of the value: the first byte of its JSON
}

// assume decides whether a play goes on behind a reply that its line does not expect, and forgets what a reply that it
// expects contradicts.
func (th *thread) assume(e *scenarios.Expect, a session.Received, res *Result) bool {
	if res.Outcome == Matched && !res.IsAssumed {
		th.contradict(e, a)
	}
	if res.Outcome != Mismatched {
		return res.Outcome == Matched
	}
	res.departures = th.assumptionsOf(e, a, res)
	if th.trial != nil {
		return false // which of its tries counts is not known yet
	}
	th.leaveAssumed(res)
	th.mu.Lock()
	defer th.mu.Unlock()
	for _, key := range res.departures {
		th.assumptions[key] = cmp.Or(th.assumptions[key], e.Line)
	}
	res.IsAssumed = res.departures != nil
	th.assuming = th.assuming || res.IsAssumed && !res.isRenamed
	return res.IsAssumed
}

// leaveAssumed makes the result of a line that did not match unsure where something that is assumed may be the reason.
func (pl *play) leaveAssumed(res *Result) {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	isUnknown := func(key assumption) bool { return pl.assumptions[key] == 0 }
	switch {
	case res.departures == nil && pl.assuming:
		res.makeUnsure(doubt{SetUp, true, "the line did not match, which may be a consequence of an earlier finding"})
	case res.departures != nil && !slices.ContainsFunc(res.departures, isUnknown):
		res.makeUnsure(doubt{SetUp, true, fmt.Sprintf("the reply differs in the same way as that of line %d",
			pl.assumptions[res.departures[0]])})
	}
}

// assumptionsOf returns where a reply departs from its line in values alone; nil if it does not, or that cannot be
// assumed.
func (th *thread) assumptionsOf(e *scenarios.Expect, a session.Received, res *Result) (keys []assumption) {
	if res.IsLate || !a.IsComplete() || a.OwedMessages != 1 || e.RefusesOnly() ||
		th.grammar().IsRefusal(a.Message) || th.doubt(*res).Outcome != Mismatched {
		return nil
	}
	for i := range e.Choices {
		differences := e.Choices[i].Assume(a, th.scope)
		res.isRenamed = !slices.ContainsFunc(differences, func(d scenarios.Difference) bool { return !d.Opaque })
		for _, d := range differences {
			keys = append(keys, assumption{th.grammar().VerbSent(a.Command), d.Path, d.Got[0]})
		}
		if keys != nil {
			return keys
		}
	}
	return nil
}

// contradict drops the assumptions that a reply to the same verb is without.
func (th *thread) contradict(e *scenarios.Expect, a session.Received) {
	verb := th.grammar().VerbSent(a.Command)
	th.mu.Lock()
	defer th.mu.Unlock()
	maps.DeleteFunc(th.assumptions, func(key assumption, _ int) bool {
		return key.verb == verb && slices.ContainsFunc(e.Choices, func(ch scenarios.Choice) bool {
			return ch.Form() != nil && ch.Form().Kind == a.Message.Kind && slices.Contains(ch.Places(), key.path)
		})
	})
}
