package life

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/reports"
)

// Life returns the life of a job, nil if the record has no call of it.
func (r *Record) Life(jid string) *reports.Life {
	b := &builder{record: r, life: &reports.Life{JID: jid, Record: r.Name, IsLineBased: r.kind == ofScript},
		stays:  map[string]int{},
		broken: map[int]string{}}
	isOfJob := func(e history.Event) bool { return e.JID == jid }
	first := slices.IndexFunc(r.Calls, isOfJob)
	if first < 0 || jid == "" {
		return nil
	}
	places := b.proofs(jid)
	last := first
	for i := range r.Calls {
		if isOfJob(r.Calls[i]) {
			places, last = append(places, i), i
		}
	}
	for i := first; i < last; i++ {
		if e := &r.Calls[i]; e.Op == history.Flush && e.Outcome == history.OK {
			places = append(places, i)
		}
	}
	slices.Sort(places)
	for _, i := range slices.Compact(places) {
		b.call(i)
	}
	b.end()
	return b.life
}

// builder makes a life of calls that it takes in their order.
type builder struct {
	record  *Record
	life    *reports.Life
	reserve time.Duration  // how long it may be held, 0 if that is not known
	stays   map[string]int // the stay of each who has it
	broken  map[int]string // clauses that calls prove, by their places
}

// proofs returns the calls that prove what is wrong with the job.
func (b *builder) proofs(jid string) (places []int) {
	for _, f := range b.record.Findings {
		if f.JID != jid && f.JID != "" {
			continue
		}
		b.life.Findings = append(b.life.Findings, f.LifeFinding)
		if n := len(f.Calls); n > 0 {
			places = append(places, f.Calls...)
			b.broken[f.Calls[n-1]] = f.Clause
		}
	}
	return places
}

// marks are the letters of calls.
var marks = map[history.Op]string{
	history.Push: "P", history.Fetch: "D", history.Ack: "A", history.Fail: "F", history.Flush: "X",
}

// call takes the next call.
func (b *builder) call(i int) {
	e := &b.record.Calls[i]
	if e.Op.IsOperatorAction() {
		return // a band, which end adds
	}
	c := reports.LifeCall{LifeSpan: spanOf(e), Mark: marks[e.Op], Client: client(e), Cells: Cells(i, e),
		BrokenClause: b.broken[i]}
	switch {
	case e.Outcome == history.Empty, e.Op == history.Fetch && e.JID != b.life.JID:
		c.Mark = "E"
	case e.Outcome == history.OK:
		c.Note = b.effect(e)
	default:
		c.Mark = strings.ToLower(c.Mark)
		if e.Op == history.Push && e.Outcome == history.NoReply {
			b.pushed(e)
		}
	}
	switch b.record.kind {
	case ofConversation:
		c.Cells = []string{instant(e.Call), c.Client, exchange(e)}
	case ofScript:
		c.Cells = []string{fmt.Sprintf("line %d", e.Call), c.Client, exchange(e)}
	}
	b.life.Calls = append(b.life.Calls, c)
}

// spanOf returns from when until when a call was; one without a reply is over at once.
func spanOf(e *history.Event) reports.LifeSpan {
	return reports.LifeSpan{From: e.Call, Until: max(e.Call, e.Return)}
}

// effect changes who has the job after a call that was accepted, and says what it did.
func (b *builder) effect(e *history.Event) string {
	switch e.Op {
	case history.Push:
		return b.pushed(e)
	case history.Fetch:
		note := b.leave(server, e.Return, "was there for", "and was delivered")
		for _, holder := range slices.Sorted(maps.Keys(b.stays)) {
			if end := b.reservationEnd(holder); end > 0 && end <= e.Return {
				note = b.leave(holder, end, "reserved for", "until its reservation ended")
			} else if holder != client(e) {
				note = holder + " has it"
			}
		}
		b.begin(client(e), e.Return, true)
		return note
	case history.Flush:
		return b.leave(server, e.Return, "was there for", "and was cleared")
	}
	note := cmp.Or(b.leave(client(e), e.Return, "reserved for", "until its "+e.Op.String()), "it did not have the job")
	if e.Op == history.Fail {
		b.begin(server, e.Return, false)
	}
	return note
}

// pushed begins a life.
func (b *builder) pushed(e *history.Event) string {
	b.begin(server, e.Call, false)
	if b.record.kind == ofScript {
		return ""
	}
	seconds := int64(1800)
	if e.ReserveFor != nil {
		seconds = min(max(*e.ReserveFor, 60), 1<<31)
	}
	b.reserve = time.Duration(seconds) * time.Second
	return ""
}

// begin begins the stay of the job with a holder: a worker, or the server.
func (b *builder) begin(holder string, at time.Duration, isHeld bool) {
	b.stays[holder] = len(b.life.Stays)
	b.life.Stays = append(b.life.Stays,
		reports.LifeStay{LifeSpan: reports.LifeSpan{From: at, Until: -1}, Holder: holder, IsHeld: isHeld})
}

// reservationEnd returns when the reservation of a worker ends, 0 if that is not known.
func (b *builder) reservationEnd(holder string) time.Duration {
	if stay := b.life.Stays[b.stays[holder]]; stay.IsHeld && b.reserve > 0 {
		return stay.From + b.reserve
	}
	return 0
}

// leave ends the stay of the job with a holder, and says how long it was; empty if there was none.
func (b *builder) leave(holder string, at time.Duration, words, ending string) string {
	i, ok := b.stays[holder]
	if !ok {
		return ""
	}
	delete(b.stays, holder)
	stay := &b.life.Stays[i]
	stay.Until = max(at, stay.From)
	if !b.life.IsLineBased {
		words += " " + reports.Duration(stay.Until-stay.From)
	} else {
		words = strings.TrimSuffix(words, " for")
	}
	stay.Words = holder + ": " + words + ", " + ending
	return words + ", " + ending
}

// maxEvents is how many calls, and how many stays, a life has at most.
const maxEvents = 200

// end closes what is open, and adds what was done to the server meanwhile.
func (b *builder) end() {
	l := b.life
	from, until := l.Calls[0].From, l.Calls[0].Until
	for _, c := range l.Calls {
		until = max(until, c.Until)
	}
	if len(b.stays) > 0 { // what became of it is not in the record
		latest := spanOf(&b.record.Calls[len(b.record.Calls)-1]).Until
		until = max(until, latest)
	}
	for holder := range b.stays {
		if end := b.reservationEnd(holder); end > 0 && end <= until {
			b.leave(holder, end, "reserved for", "until its reservation ended")
		} else {
			b.leave(holder, until, "not seen again for", "until the record ends")
		}
	}
	for i := range b.record.Calls {
		if e := &b.record.Calls[i]; e.Op.IsOperatorAction() && e.Call <= until && max(e.Call, e.Return) >= from {
			l.Bands = append(l.Bands, reports.LifeBand{LifeSpan: spanOf(e), Name: cmp.Or(e.Action, e.Op.String())})
		}
	}
	l.Stays = slices.DeleteFunc(l.Stays, func(s reports.LifeStay) bool { return s.Until == s.From })
	l.OmittedCalls = max(0, len(l.Calls)-maxEvents)
	l.Calls, l.Stays, l.Bands = elide(l.Calls), elide(l.Stays), elide(l.Bands)
}

// elide leaves out the middle of what is long.
func elide[T any](all []T) []T {
	if len(all) <= maxEvents {
		return all
	}
	return slices.Delete(all, maxEvents/2, len(all)-maxEvents/2)
}
