package conformance

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/scenarios"
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
// those of them that are worth another play.
func candidatesOf(g *scenarios.Grammar, dying, over []*task) (candidates, suspects []*task) {
	death := deathOf(g, dying)
	if death.IsZero() { // the server seems to have ended before the first of them had sent anything
		death = firstBegan(dying)
	}
	var before []*task
	for _, t := range slices.Concat(dying, over) {
		t.lead = leadOf(g, t, death)
		switch inFlight := slices.Contains(dying, t) || t.evidence.Began.Add(t.evidence.Took).After(death); {
		case slices.Contains(candidates, t), !death.IsZero() && t.evidence.Began.After(death):
		case death.IsZero() && !slices.Contains(dying, t):
		case inFlight:
			candidates = append(candidates, t)
		case t.lead.rank == malformed:
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
	for _, t := range candidates {
		idle := t.lead.rank != malformed && death.Sub(t.lead.at) > shortly
		if len(suspects) == 0 || len(suspects) < mostSuspects && t.lead.rank != waiting && !idle {
			suspects = append(suspects, t)
		}
	}
	return candidates, suspects
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
		soon := death.IsZero() || !at.After(death) && death.Sub(at) <= shortly
		switch {
		case l.From == "S" && !l.Ended:
			if last.open = false; last.rank != malformed {
				last.rank = answered
			}
		case l.From != "C" || l.Ended || !death.IsZero() && at.After(death):
		case l.Bad && soon:
			last = lead{l.Text, at, malformed, true}
		case last.rank == malformed:
		case mayWait(g, l.Text):
			last = lead{l.Text, at, waiting, true}
		default:
			last = lead{l.Text, at, unreplied, true}
		}
	}
	if last.rank == malformed {
		return last
	}
	return cmp.Or(inFlight(g, t.evidence, death), last)
}

// inFlight returns the commands of all connections of a play that had no reply when the server ended; the zero value if
// there were none. Some commands may wait, and the goodbye comes from the client when it sees the end of another
// connection.
func inFlight(g *scenarios.Grammar, e *Evidence, death time.Time) (l lead) {
	var lines []string
	for _, u := range unansweredIn(g, e) {
		line := strings.TrimSpace(u.text)
		if u.waits || g.Ends != "" && verbOf(line) == g.Ends || !death.IsZero() && u.sent.After(death) {
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
	for _, known := range []time.Time{end, silent, waits} {
		if !known.IsZero() {
			return known
		}
	}
	return time.Time{}
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
func unansweredIn(g *scenarios.Grammar, e *Evidence) []unanswered {
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
	_, waits := g.Waits[verbOf(line)]
	return waits
}

// verbOf returns the first word of a line.
func verbOf(line string) string {
	verb, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	return verb
}
