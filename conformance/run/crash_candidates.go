package run

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

const (
	shortly   = time.Second // before its end a server can have got what ended it
	keptEnded = 64          // plays that are kept as possible reasons of an end that is noticed later

	mostSuspects = 10 // that are played again alone
)

// lead is what a play sent last before the end of its server.
type lead struct {
	line string
	at   time.Time
	rank int  // the lower, the likelier
	open bool // it has no reply
}

// sent reports whether anything was sent at all; of a property that is taken for granted.
func (l lead) sent() bool { return l.line != "" || l.rank == malformed }

// The ranks of leads.
const (
	malformed = iota // it breaks the protocol on purpose
	unreplied
	answered
	waiting // a command that may wait for its reply
)

// candidatesOf returns the plays that may have ended their server, the likeliest first: those that were under way, and
// those that sent a malformed line and were over shortly before, unless there is a malformed line without a reply.
// Malformed lines come first, otherwise the line that was sent last. A command that may wait comes last. Suspects are
// those of them that are worth another play: the likeliest always is.
func candidatesOf(g *scenarios.Grammar, dying, over []*task) (candidates, suspects []*task) {
	death := deathOf(g, dying)
	if death.IsZero() { // the server seems to have ended before the first of them had sent anything
		death = firstBegan(dying)
	}
	var before []*task
	for i, t := range slices.Concat(dying, over) {
		t.lead = leadOf(g, t, death)
		switch t.bearing(death, i < len(dying)) {
		case underWay:
			if !slices.Contains(candidates, t) {
				candidates = append(candidates, t)
			}
		case sentBefore:
			before = append(before, t)
		}
	}
	if !slices.ContainsFunc(candidates, func(t *task) bool { return t.lead.rank == malformed && t.lead.open }) {
		candidates = append(candidates, before...)
	}
	if len(candidates) == 0 { // the server seems to have ended before they began
		candidates = slices.Clone(dying)
	}
	slices.SortStableFunc(candidates, func(a, b *task) int {
		return cmp.Or(cmp.Compare(a.lead.rank, b.lead.rank), b.lead.at.Compare(a.lead.at))
	})
	for i, t := range candidates {
		if i == 0 || len(suspects) < mostSuspects && t.lead.suspicious(death) {
			suspects = append(suspects, t)
		}
	}
	return candidates, suspects
}

// bearing is what a play may have had to do with the end of its server.
type bearing uint8

const (
	noBearing  bearing = iota
	underWay           // when the server ended
	sentBefore         // it was over, and had sent a malformed line shortly before
)

// bearing returns what a play may have had to do with the end of its server. dying: it ended after another one found
// the server dead. The time of the death is zero if it is not known: then those that are dying were under way.
func (t *task) bearing(death time.Time, dying bool) bearing {
	began := t.evidence.Began
	switch {
	case death.IsZero() && !dying, !death.IsZero() && began.After(death):
		return noBearing
	case dying || began.Add(t.evidence.Took).After(death):
		return underWay
	case t.lead.rank == malformed:
		return sentBefore
	}
	return noBearing
}

// suspicious reports whether a server may well have ended of this: of a malformed line, or of what it got shortly
// before.
func (l lead) suspicious(death time.Time) bool {
	return l.rank == malformed || l.rank != waiting && death.Sub(l.at) <= shortly
}

// firstBegan returns when the first of the plays began that found the server dead; zero if that is not known.
func firstBegan(dying []*task) (first time.Time) {
	for _, t := range dying {
		if t.evidence.Dead != "" && (first.IsZero() || t.evidence.Began.Before(first)) {
			first = t.evidence.Began
		}
	}
	return first
}

// leadOf returns the last malformed line that a play sent shortly before the end of the server, else the commands that
// had no reply when it ended, else its last line before it. What a property sent is not known line by line.
func leadOf(g *scenarios.Grammar, t *task, death time.Time) lead {
	last := lead{rank: answered}
	if t.about.Hostile && len(t.evidence.Conversation) == 0 {
		last.rank = malformed
	}
	for _, l := range t.evidence.Conversation {
		at := t.evidence.Began.Add(l.At)
		switch {
		case l.From == "S" && !l.Ended:
			last = last.replied()
		case l.From != "C" || l.Ended || !death.IsZero() && at.After(death): // no command that the server got
		default:
			last = last.followed(lead{l.Text, at, rankOf(g, l, death.IsZero() || death.Sub(at) <= shortly), true})
		}
	}
	if last.rank == malformed {
		return last
	}
	return cmp.Or(inFlight(g, t.evidence, death), last)
}

// replied returns what is left of a lead when the server sends something.
func (l lead) replied() lead {
	if l.open = false; l.rank != malformed {
		l.rank = answered
	}
	return l
}

// followed returns the lead of two lines, one after the other: the later one, unless only the earlier one is malformed.
func (l lead) followed(by lead) lead {
	if l.rank == malformed && by.rank != malformed {
		return l
	}
	return by
}

// rankOf ranks a line of a client that has no reply. soon: the server ended shortly after it.
func rankOf(g *scenarios.Grammar, l play.Line, soon bool) int {
	switch {
	case l.Bad && soon:
		return malformed
	case mayWait(g, l.Text):
		return waiting
	}
	return unreplied
}

// inFlight returns the commands of all connections of a play that had no reply when the server ended; the zero value if
// there were none. Some commands may wait, and the goodbye comes from the client when it sees the end of another
// connection.
func inFlight(g *scenarios.Grammar, e *conformance.Evidence, death time.Time) (l lead) {
	var lines []string
	for _, u := range unansweredIn(g, e) {
		line := strings.TrimSpace(u.text)
		if u.waits || g.Verbs.Ends != "" && verbOf(line) == g.Verbs.Ends || !death.IsZero() && u.sent.After(death) {
			continue
		}
		lines = append(lines, line)
		if l.rank, l.open = unreplied, true; u.sent.After(l.at) {
			l.at = u.sent
		}
	}
	slices.Sort(lines)
	l.line = strings.Join(slices.Compact(lines), ", and C: ")
	return l
}

// deathOf returns when a server ended: when it ended the first connection of a play that found it dead; if it ended
// none, when it got the first command without a reply other than one that may wait. It is zero if that is not
// known.
func deathOf(g *scenarios.Grammar, dying []*task) time.Time {
	var end, silent, waits time.Time
	first := func(t *time.Time, at time.Time) {
		if t.IsZero() || at.Before(*t) {
			*t = at
		}
	}
	for _, t := range dying {
		if t.evidence.Dead == "" { // it was only affected
			continue
		}
		for _, u := range unansweredIn(g, t.evidence) {
			switch {
			case !u.ended.IsZero():
				first(&end, u.ended)
			case u.waits:
				first(&waits, u.sent)
			default:
				first(&silent, u.sent)
			}
		}
	}
	return cmp.Or(end, silent, waits)
}

// unanswered is a command that got no reply.
type unanswered struct {
	text  string
	waits bool // it may have to
	sent  time.Time
	ended time.Time // when its connection ended; zero if it did not
}

// unansweredIn lists the commands of a play that were followed by the end of their
// connection, or by nothing.
func unansweredIn(g *scenarios.Grammar, e *conformance.Evidence) []unanswered {
	waiting := map[string]unanswered{} // by connection
	ended := map[string]bool{}
	var all []unanswered
	for _, l := range e.Conversation {
		at := e.Began.Add(l.At)
		u, waits := waiting[l.Conn]
		switch {
		case l.Ended:
			if waits && l.From == "S" {
				u.ended = at
				all = append(all, u)
			}
			ended[l.Conn] = true
			delete(waiting, l.Conn)
		case l.From == "S":
			delete(waiting, l.Conn)
		case l.From == "C" && !ended[l.Conn]:
			waiting[l.Conn] = unanswered{text: l.Text, waits: mayWait(g, l.Text), sent: at}
		}
	}
	for _, u := range waiting {
		all = append(all, u)
	}
	return all
}

// mayWait reports whether the reply to a line may take time without being late.
func mayWait(g *scenarios.Grammar, line string) bool {
	_, waits := g.Replies.Waits[verbOf(line)]
	return waits
}

// verbOf returns the first word of a line.
func verbOf(line string) string {
	verb, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	return verb
}
