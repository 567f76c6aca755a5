package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
)

// What is wrong may be so only because this machine was late: a line was sent too late, a greeting, or a reply was read
// too late. A result whose premise is time is in doubt after a small lag, any other one after a lag that outlasts
// the waits for a reply.
const (
	lagOfTimes = 100 * time.Millisecond // within the last recentLag
	recentLag  = 15 * time.Second
	lagOfAll   = 500 * time.Millisecond // since the play began
)

// lateness returns how late this machine was, if that casts doubt on what was received at a moment. timed is
// whether its premise is time.
func (pl *play) lateness(timed bool, at time.Time) (lag time.Duration, doubtful bool) {
	if lag = pl.Meter.Lag(at.Add(-recentLag)); timed && lag > lagOfTimes {
		return lag, true
	}
	lag = pl.Meter.Lag(pl.rec.start)
	return lag, lag > lagOfAll
}

// doubt returns a mismatch that the lag of this machine may explain as one that decides nothing.
func (pl *play) doubt(r Result) Result {
	if r.Outcome != Mismatched || r.Refused {
		return r
	}
	lag, doubtful := pl.lateness(r.timed, pl.rec.start.Add(r.At))
	if doubtful {
		r.Transient = true
		r.leave(doubt{Lag, fmt.Sprintf("%s; this machine was late by up to %v meanwhile, which may be the reason",
			r.Got, round(lag))})
	}
	return r
}

// timed reports whether the time of our lines may be the reason for an answer: the command waits for something, and
// that came or did not come where the line expects the opposite, or another of several things came first.
func (th *thread) timed(e *Expect, a session.Received) bool {
	grammar := th.dialect().Grammar()
	wait, waits := grammar.Waits[grammar.verbSent(a.Asked)]
	if !waits || !a.Whole() || grammar.refuses(a.Message.Kind) {
		return false
	}
	asks := func(kind byte) func(Choice) bool {
		return func(ch Choice) bool { return ch.form != nil && ch.form.Kind == kind }
	}
	another := func(d Difference) bool { return slices.Contains(grammar.Families, strings.TrimPrefix(d.Path, ".")) }
	itself := func(ch Choice) bool {
		return asks(a.Message.Kind)(ch) && !slices.ContainsFunc(th.try(&ch, a), another)
	}
	switch {
	case a.Message.Kind == wait.Kind:
		return !e.refusesOnly()
	case th.script.inTurn(e):
		return false
	case !slices.ContainsFunc(e.Choices, asks(a.Message.Kind)):
		return slices.ContainsFunc(e.Choices, asks(wait.Kind))
	}
	return !slices.ContainsFunc(e.Choices, itself)
}

// refuses reports whether messages of a kind are refusals.
func (g *Grammar) refuses(kind byte) bool {
	return slices.ContainsFunc(g.Forms, func(f Form) bool { return f.Kind == kind && f.Refusal })
}

// inTurn reports whether a play waits for the reply to each line before it does anything else, as far as a step and the
// end of its block, and has by then sent nothing by which something comes due later. Then nothing that the step
// receives can have come because a line of the script was late.
func (s *Script) inTurn(e *Expect) bool {
	turns := turns{grammar: s.Dialect.Grammar()}
	for _, step := range s.Steps {
		steps := []Step{step}
		if b, ok := step.(*Block); ok {
			steps = append(steps, b.Steps...)
		}
		if !turns.all(steps) {
			return false
		}
		if slices.Contains(steps, Step(e)) {
			return true
		}
	}
	return false
}

// turns follows the steps of a script.
type turns struct {
	grammar *Grammar
	sent    *Send // the line that has no reply yet, nil if there is none
}

func (ts *turns) all(steps []Step) bool {
	return !slices.ContainsFunc(steps, func(step Step) bool { return !ts.next(step) })
}

// next reports whether a step waits for those before it.
func (ts *turns) next(step Step) bool {
	switch step := step.(type) {
	case *Send:
		if ts.sent != nil || step.Ending != Open || step.defers(ts.grammar) {
			return false
		}
		ts.sent = step
	case *Expect:
		if ts.sent != nil && ts.sent.Conn != step.Conn {
			return false
		}
		ts.sent = nil
	case *Block:
		return step.By == 0 && (step.Kind == Repeat || step.Kind == Table)
	case *Operate, *Barrier:
		return false
	}
	return true
}

// defers reports whether something may come due later by a line.
func (s *Send) defers(g *Grammar) bool {
	var text strings.Builder
	for _, t := range s.Segments {
		for _, p := range t {
			text.WriteString(p.lit)
			if p.ref != nil && p.ref.object != nil {
				for _, f := range p.ref.object.fields {
					fmt.Fprintf(&text, "%q", f.key)
				}
			}
		}
	}
	return slices.Contains(g.Defers, verb(text.String())) || slices.ContainsFunc(g.Defers, func(field string) bool {
		return strings.Contains(text.String(), `"`+field+`"`)
	})
}
