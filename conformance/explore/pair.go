package explore

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/fwpsuite/fwp/conformance/law"
)

// event is what a client saw on a connection: a message, its end, or a violation.
type event struct {
	opening   opening
	step      int      // that was being played
	clause    string   // that rules the command
	command   string   // the verb
	state     string   // of the connection when the command was sent
	parts     []string // of the message, as the law normalises it
	job       string   // that came, without the prefix of the play
	violation *law.Violation
}

// opening is a connection of a play: its number, and the step that opened it.
type opening struct{ conn, step int }

// record keeps an event, if anything keeps them.
func (p *playthrough) record(c *conn, e event) {
	if p.events == nil || c.isUnbounded {
		return
	}
	e.opening, e.step, e.clause = opening{c.number, c.openStep}, p.step, c.clause
	e.violation = p.withSymbols(e.violation)
	*p.events = append(*p.events, e)
}

// withSymbols returns a violation with the names of the play as the steps have them: on the other server they have
// another prefix.
func (p *playthrough) withSymbols(v *law.Violation) *law.Violation {
	if v == nil {
		return nil
	}
	renamed := *v
	for _, words := range []*string{&renamed.Expected, &renamed.Got, &renamed.Detail} {
		*words = strings.ReplaceAll(*words, p.prefix+"-", "$")
	}
	return &renamed
}

// recordAnswer records a message.
func (p *playthrough) recordAnswer(c *conn, a law.Answer) {
	p.record(c, event{command: a.Verb, state: a.State, parts: a.Normal, violation: a.Violation,
		job: strings.ReplaceAll(a.JID, p.prefix+"-", "")})
}

// pair plays the same steps on two servers, each with names and a law of its own.
type pair struct {
	plays   [2]*playthrough
	events  [2][]event
	queues  [2]map[opening][]event // that have no counterpart yet
	history [2][]event             // all of them, in order
}

func newPair(configs [2]*config) *pair {
	x := &pair{}
	for i, c := range configs {
		x.plays[i] = newPlay(c, newPrefix())
		x.plays[i].events = &x.events[i]
		x.queues[i] = map[opening][]event{}
	}
	return x
}

// each does something on both servers at the same time.
func (x *pair) each(do func(side int, p *playthrough)) {
	var wg sync.WaitGroup
	for side, p := range x.plays {
		wg.Go(func() { do(side, p) })
	}
	wg.Wait()
}

// do plays a step on both servers, and returns the differences that show.
func (x *pair) do(ctx context.Context, number, round int, step Step) []Difference {
	x.each(func(_ int, p *playthrough) {
		clone := step
		p.step, p.round = number, round
		p.do(ctx, &clone)
	})
	return x.compare()
}

// compare returns the differences between events that have a counterpart, or that are
// violations and cannot have one any more; none behind one after which the servers are in
// different states.
func (x *pair) compare() []Difference {
	for side := range x.events {
		for _, e := range x.events[side] {
			x.queues[side][e.opening] = append(x.queues[side][e.opening], e)
		}
		x.history[side] = append(x.history[side], x.events[side]...)
		x.events[side] = nil
	}
	var all []Difference
	for _, key := range x.openings() {
		for len(x.queues[0][key]) > 0 && len(x.queues[1][key]) > 0 {
			if all = append(all, differences(x.take(0, key), x.take(1, key))...); diverges(all) {
				return all
			}
		}
		all = append(all, x.unmatchedDifferences(key)...)
	}
	return all
}

// diverges reports whether servers are in different states after one of the differences.
func diverges(all []Difference) bool {
	return slices.ContainsFunc(all, func(d Difference) bool { return d.diverges })
}

// openings lists the connections of which there are events, in the order of the steps.
func (x *pair) openings() []opening {
	all := map[opening]int{}
	for _, queue := range x.queues {
		for key, events := range queue {
			if len(events) > 0 {
				all[key] = events[0].step
			}
		}
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b opening) int {
		if all[a] != all[b] {
			return all[a] - all[b]
		}
		return a.conn - b.conn
	})
}

// take removes the first event of a connection.
func (x *pair) take(side int, key opening) event {
	e := x.queues[side][key][0]
	x.queues[side][key] = x.queues[side][key][1:]
	return e
}

// unmatchedDifferences returns the differences of violations on a connection that has ended on the other
// server: nothing corresponds to them. What a server that is gone would have answered is not known.
func (x *pair) unmatchedDifferences(key opening) (all []Difference) {
	for side, p := range x.plays {
		other := x.plays[1-side]
		c := other.conns[key.conn]
		if other.isDead || c != nil && c.openStep == key.step && !p.isDead {
			continue
		}
		for len(x.queues[side][key]) > 0 {
			e := x.take(side, key)
			if e.violation == nil {
				continue
			}
			events := [2]event{e, e}
			events[1-side].parts, events[1-side].violation = []string{"<nothing more>"}, nil
			all = append(all, differences(events[0], events[1])...)
		}
	}
	return all
}

// differences returns how two events differ: in the kind of the message, or in its fields,
// each by itself. Fields are not compared beside one that breaks a clause.
func differences(a, b event) []Difference {
	d := Difference{Command: cmp.Or(a.command, b.command), State: cmp.Or(a.state, b.state), Clause: a.clause}
	d.step = max(a.step, b.step)
	sides := [2]event{a, b}
	switch {
	case a.kind() != b.kind():
		d.diverges = true
		return []Difference{d.withSides(sides, [2]string{a.kind(), b.kind()})}
	case a.job != b.job:
		d.diverges, d.Field = true, "another job"
		return []Difference{d.withSides(sides, [2]string{"$" + a.job, "$" + b.job})}
	}
	var all []Difference
	for _, name := range a.differingFields(b) {
		if field := cmp.Or(a.brokenField(), b.brokenField()); field != "" && field != name {
			continue
		}
		d.Field = name
		all = append(all, d.withSides(sides, [2]string{a.field(name), b.field(name)}))
	}
	if len(all) == 0 && (a.violation == nil) != (b.violation == nil) {
		d.Field = ""
		all = append(all, d.withSides(sides, [2]string{a.summary(), b.summary()}))
	}
	return all
}

// withSides returns a difference with what the servers did.
func (d Difference) withSides(sides [2]event, replies [2]string) Difference {
	parts := []string{d.Command, d.State, d.Clause}
	if d.Field != "" { // whatever the command asked for
		parts = []string{d.Command, d.Field}
	}
	for side, e := range sides {
		d.Sides[side] = Side{Reply: replies[side], Violation: e.violation}
		switch {
		case e.violation != nil:
			parts = append(parts, e.violation.Clause+" "+e.violation.Rule)
		case d.Field == "":
			parts = append(parts, replies[side])
		}
	}
	d.kind = strings.Join(parts, " | ")
	return d
}

// kind returns the first part of a message.
func (e event) kind() string {
	if len(e.parts) == 0 {
		return ""
	}
	return e.parts[0]
}

// summary returns what was received, or what is wrong with it.
func (e event) summary() string {
	if e.violation != nil {
		return e.violation.Got
	}
	return e.kind()
}

// brokenField returns the name of the field by which a message breaks a clause, "" if it breaks none.
func (e event) brokenField() string {
	if e.violation == nil {
		return ""
	}
	name, _, _ := strings.Cut(e.violation.Got, ":")
	return name
}

// field returns a field as it is written, "absent" if it is not there.
func (e event) field(name string) string {
	for _, part := range e.parts[1:] {
		if strings.HasPrefix(part, name+": ") {
			return part
		}
	}
	return name + ": absent"
}

// differingFields lists the fields that are not the same in two messages of a kind.
func (e event) differingFields(other event) []string {
	var names []string
	for _, pair := range [2][2]event{{e, other}, {other, e}} {
		for i := 1; i < len(pair[0].parts); i++ {
			name, _, _ := strings.Cut(pair[0].parts[i], ": ")
			if pair[1].field(name) != pair[0].parts[i] && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
