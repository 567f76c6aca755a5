package play

import (
	"context"
	"slices"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// gathering is what was received for the lines of an unordered block: for each line the
// next message of its connection.
type gathering struct {
	lines    []*scenarios.Expect
	conns    []*conn
	received []session.Received
}

// unordered receives the next message for each line from the line's connection, and
// looks for an order in which all lines match.
func (th *thread) unordered(ctx context.Context, b *scenarios.Block) error {
	g, err := th.gather(ctx, b)
	if err != nil {
		return err
	}
	order := th.assign(g)
	results := make([]Result, len(order))
	var stop error
	for i, e := range g.lines {
		a, c := g.received[order[i]], g.conns[order[i]]
		res := th.judge(c, e, a)
		if res.Outcome == Matched {
			res = th.inTime(e, c, a, res)
		}
		if res.Outcome != Matched {
			stop = errStop
			th.checkSilent(ctx, c, e, a, &res)
		}
		th.note(e, res)
		if results[i] = res; stop != nil {
			break
		}
	}
	for j := range g.received { // recorded in the order in which they were received
		i := slices.Index(order, j)
		th.applyReceived(g.conns[j], g.lines[i], g.received[j], results[i])
	}
	for i, e := range g.lines {
		if stop == nil {
			stop = th.probe(ctx, g.conns[order[i]], e, g.received[order[i]])
		}
	}
	return stop
}

// gather waits for the messages.
func (th *thread) gather(ctx context.Context, b *scenarios.Block) (*gathering, error) {
	g := new(gathering)
	for _, s := range b.Steps {
		e, ok := s.(*scenarios.Expect)
		if !ok {
			return nil, th.fail(s, "S: lines", "something else in an unordered block")
		}
		c, err := th.conn(ctx, e.Conn)
		if err != nil {
			return nil, th.noConnection(ctx, e, scenarios.Raw, err)
		}
		a := th.await(ctx, c, e)
		if ctx.Err() != nil && a.GaveUp {
			return nil, interruptError(ctx, e)
		}
		g.lines, g.conns, g.received = append(g.lines, e), append(g.conns, c), append(g.received, a)
	}
	return g, nil
}

// assign gives each line a received message of its own that matches it. If there is no such order, as many lines have
// one as can, the earlier ones first.
func (th *thread) assign(g *gathering) []int {
	fits := make([][]bool, len(g.lines))
	for i, e := range g.lines {
		fits[i] = make([]bool, len(g.received))
		for j := range g.received {
			fits[i][j] = th.attempt().judge(g.conns[j], e, g.received[j]).Outcome == Matched
		}
	}
	fallback, all := matching(fits)
	if !all { // the search would take very long
		return fallback
	}
	if order := th.attempt().search(g, fits, nil); order != nil {
		return order
	}
	return fallback
}

// attempt returns a thread whose bindings do not last.
func (th *thread) attempt() *thread { return th.withScope(th.scope.Attempt(), th.block) }

// search continues an order, depth first; the values that names get on the way matter
// too.
func (th *thread) search(g *gathering, fits [][]bool, order []int) []int {
	i := len(order)
	if i == len(g.lines) {
		return order
	}
	for j := range g.received {
		inner := th.attempt()
		if !fits[i][j] || slices.Contains(order, j) ||
			inner.judge(g.conns[j], g.lines[i], g.received[j]).Outcome != Matched {
			continue
		}
		if found := inner.search(g, fits, append(slices.Clip(order), j)); found != nil {
			return found
		}
	}
	return nil
}

// matching returns an order in which as many lines as possible have a message that fits them, names aside, and whether
// all have. The others have what is left.
func matching(fits [][]bool) (order []int, all bool) {
	lineOf := map[int]int{} // by the index of what was received
	var place func(i int, tried map[int]bool) bool
	place = func(i int, tried map[int]bool) bool {
		for j, fit := range fits[i] {
			if !fit || tried[j] {
				continue
			}
			tried[j] = true
			if other, ok := lineOf[j]; !ok || place(other, tried) {
				lineOf[j] = i
				return true
			}
		}
		return false
	}
	order = slices.Repeat([]int{-1}, len(fits))
	for i := range fits {
		place(i, map[int]bool{})
	}
	for j, i := range lineOf {
		order[i] = j
	}
	for j := range fits {
		if _, ok := lineOf[j]; !ok {
			order[slices.Index(order, -1)] = j
		}
	}
	return order, len(lineOf) == len(fits)
}
