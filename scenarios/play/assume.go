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
func (th *thread) mend(c *conn, e *scenarios.Expect, a session.Received) (mended session.Received, changed bool) {
	dialect, can := th.dialect().(scenarios.Mender)
	if !can || !a.Whole() || a.Owed != 1 {
		return a, false
	}
	m, was := dialect.Mend(a.Asked, a.Message)
	if was == "" || th.scope.Has(was) {
		return a, false
	}
	key := assumption{verb: th.grammar().VerbSent(a.Asked), path: "about"}
	th.mu.Lock()
	known := th.assumed[key] != 0
	th.assumed[key] = e.Line
	th.mu.Unlock()
	if !known {
		th.breachOn(c, e.Pos, a, scenarios.Breach{
			Kind: scenarios.ForeignReply, Verb: c.Status().Verb, Expected: "a reply about the subject of the command",
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
	if res.Outcome == Matched && !res.Assumed {
		th.contradict(e, a)
	}
	if res.Outcome != Mismatched {
		return res.Outcome == Matched
	}
	res.departed = th.assumable(e, a, res)
	if th.trial != nil {
		return false // which of its tries counts is not known yet
	}
	th.leaveAssumed(res)
	th.mu.Lock()
	defer th.mu.Unlock()
	for _, key := range res.departed {
		th.assumed[key] = cmp.Or(th.assumed[key], e.Line)
	}
	res.Assumed = res.departed != nil
	th.assuming = th.assuming || res.Assumed && !res.renamed
	return res.Assumed
}

// leaveAssumed makes the result of a line that did not match unsure where something that is assumed may be the reason.
func (pl *play) leaveAssumed(res *Result) {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	unknown := func(key assumption) bool { return pl.assumed[key] == 0 }
	switch {
	case res.departed == nil && pl.assuming:
		res.leave(doubt{SetUp, true, "the line did not match, which may be a consequence of an earlier finding"})
	case res.departed != nil && !slices.ContainsFunc(res.departed, unknown):
		res.leave(doubt{SetUp, true, fmt.Sprintf("the reply differs in the same way as that of line %d",
			pl.assumed[res.departed[0]])})
	}
}

// assumable returns where a reply departs from its line in values alone; nil if it does not, or that cannot be assumed.
func (th *thread) assumable(e *scenarios.Expect, a session.Received, res *Result) (keys []assumption) {
	if res.Late || !a.Whole() || a.Owed != 1 || e.RefusesOnly() ||
		th.grammar().Refused(a.Message) || th.doubt(*res).Outcome != Mismatched {
		return nil
	}
	for i := range e.Choices {
		differences := e.Choices[i].Assume(a, th.scope)
		res.renamed = !slices.ContainsFunc(differences, func(d scenarios.Difference) bool { return !d.Opaque })
		for _, d := range differences {
			keys = append(keys, assumption{th.grammar().VerbSent(a.Asked), d.Path, d.Got[0]})
		}
		if keys != nil {
			return keys
		}
	}
	return nil
}

// contradict drops the assumptions that a reply to the same verb is without.
func (th *thread) contradict(e *scenarios.Expect, a session.Received) {
	verb := th.grammar().VerbSent(a.Asked)
	th.mu.Lock()
	defer th.mu.Unlock()
	maps.DeleteFunc(th.assumed, func(key assumption, _ int) bool {
		return key.verb == verb && slices.ContainsFunc(e.Choices, func(ch scenarios.Choice) bool {
			return ch.Form() != nil && ch.Form().Kind == a.Message.Kind && slices.Contains(ch.Places(), key.path)
		})
	})
}
