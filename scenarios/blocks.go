package scenarios

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

func (l *lane) playBlock(ctx context.Context, b *Block) error {
	switch b.Kind {
	case Repeat:
		if b.By > 0 {
			return l.repeatBy(ctx, b)
		}
		return l.repeat(ctx, b)
	case Parallel:
		return l.parallel(ctx, b)
	case Unordered:
		return l.unordered(ctx, b)
	case Eventually:
		return l.eventually(ctx, b)
	default:
		return l.table(ctx, b)
	}
}

// with is a lane that differs from l in its scope.
func (l *lane) with(sc *scope, b *Block) *lane {
	inner := *l
	inner.scope, inner.block = sc, b
	return &inner
}

func (l *lane) repeat(ctx context.Context, b *Block) error {
	for round := range b.Count {
		if err := l.with(l.scope.repetition(b, round), b).steps(ctx, b.Steps); err != nil {
			return err
		}
	}
	return nil
}

// repeatBy shares the repetitions among workers that each have a connection of
// their own. The first that fails stops all.
func (l *lane) repeatBy(ctx context.Context, b *Block) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var next atomic.Int64
	errs := make([]error, b.By)
	var wg sync.WaitGroup
	for w := range b.By {
		wg.Go(func() {
			if errs[w] = l.worker(ctx, b, w, &next); errs[w] != nil {
				cancel()
			}
		})
	}
	wg.Wait()
	return firstOf(errs)
}

// firstOf prefers a stop to the cancellation that follows from it. Where all were
// interrupted, one of them says so.
func firstOf(errs []error) error {
	var first error
	for _, err := range errs {
		if errors.Is(err, errStop) {
			return err
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// worker plays rounds of a repeat block until none is left.
func (l *lane) worker(ctx context.Context, b *Block, number int, next *atomic.Int64) error {
	w := l.with(l.scope.child(), b)
	w.scope.ownFresh(l.dialect().Grammar().client())
	c, err := l.play.dial(ctx, fmt.Sprintf("%s%d", b.Role, number+1))
	if err != nil {
		return l.noConnection(ctx, b, b.Role, err)
	}
	c.role, w.own = b.Role, &seat{c}
	defer func() { w.own.c.leave(ctx) }()
	if b.Role != Raw {
		if err := w.greet(ctx, c); err != nil {
			return l.noConnection(ctx, b, b.Role, err)
		}
	}
	for {
		round := int(next.Add(1)) - 1
		if round >= b.Count {
			return nil
		}
		if err := w.with(w.scope.repetition(b, round), b).steps(ctx, b.Steps); err != nil {
			return err
		}
	}
}

// parallel plays the steps of each connection in their order, the connections
// side by side. Barriers cut the block into phases.
func (l *lane) parallel(ctx context.Context, b *Block) error {
	for _, phase := range phases(b.Steps) {
		errs := make([]error, len(phase))
		ctx, cancel := context.WithCancel(ctx)
		var wg sync.WaitGroup
		for i, steps := range phase {
			inner, name := *l, connectionOf(steps[0])
			inner.side = &name
			wg.Go(func() {
				if errs[i] = inner.steps(ctx, steps); errs[i] != nil {
					cancel()
				}
			})
		}
		wg.Wait()
		cancel()
		if err := firstOf(errs); err != nil {
			return err
		}
	}
	return nil
}

// phases groups the steps between barriers by connection.
func phases(steps []Step) [][][]Step {
	all := [][][]Step{nil}
	place := map[string]int{}
	for _, s := range steps {
		last := len(all) - 1
		if _, ok := s.(*Barrier); ok {
			all, place = append(all, nil), map[string]int{}
			continue
		}
		name := connectionOf(s)
		i, ok := place[name]
		if !ok {
			i = len(all[last])
			place[name] = i
			all[last] = append(all[last], nil)
		}
		all[last][i] = append(all[last][i], s)
	}
	return all
}

// nowhere is the lane of steps that use no connection.
const nowhere = "(none)"

// connectionOf is the connection that a step uses; steps that use none share a
// lane of their own.
func connectionOf(s Step) string {
	switch s := s.(type) {
	case *Connect:
		return s.Conn
	case *Send:
		return s.Conn
	case *Expect:
		return s.Conn
	case *Silence:
		if len(s.Conns) == 1 {
			return s.Conns[0]
		}
	}
	return nowhere
}

// eventually plays the body again and again until all of it matches.
func (l *lane) eventually(ctx context.Context, b *Block) error {
	start := time.Now()
	limit := l.patienceFor(b)
	var closest map[Step]Result
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		results := map[Step]Result{}
		t := l.with(l.scope.attempt(), b)
		t.trial = func(s Step, r Result) { results[s] = r }
		err := t.steps(ctx, b.Steps)
		took := time.Since(start)
		if err == nil {
			t.scope.commit()
			return l.conclude(b, results, took, start)
		}
		over := took > limit+l.Meter.excuse(start)
		if closest == nil || insideReply(results) || !insideReply(closest) {
			closest = results
		}
		if !errors.Is(err, errStop) || over || final(results) {
			if over && !final(results) {
				results = closest
			}
			l.report(b, results, over, took)
			return err
		}
		l.drain(ctx, b)
		if err := l.idle(ctx, time.Now().Add(pause)); err != nil {
			return err
		}
	}
}

// patienceFor is how long the block is tried. A hasty play does not wait for the end of
// a longer window.
func (l *lane) patienceFor(b *Block) time.Duration {
	switch {
	case b.Within.To == 0:
		return l.Patience
	case l.Hasty:
		return min(b.Within.To, l.Patience)
	}
	return b.Within.To
}

// drain takes the replies that a try which has failed did not come to, so that the
// next one does not take them for its own.
func (l *lane) drain(ctx context.Context, b *Block) {
	for _, c := range l.mine() {
		uses := func(s Step) bool { return slices.Contains(connectionsOf(s), c.name) }
		for slices.ContainsFunc(b.Steps, uses) && c.Status().Owed > 0 && c.Ended() == Open && c.astray == "" {
			a, err := c.Answer(ctx)
			if err != nil || a.GaveUp || a.Broken != nil {
				c.astray = "a reply to an earlier try is missing"
				break
			}
		}
	}
}

// final reports whether another try makes no sense: a reply did not come, or
// was none.
func final(results map[Step]Result) bool {
	for _, r := range results {
		if r.Outcome == Unsure || r.Outcome == Mismatched && (r.Ending != Open || len(r.Differences) == 0) {
			return true
		}
	}
	return false
}

// insideReply reports whether the difference was inside of a reply of the right type:
// a try that came so far tells more than a later one that found nothing.
func insideReply(results map[Step]Result) bool {
	for _, r := range results {
		if r.Outcome == Mismatched {
			return slices.ContainsFunc(r.Differences, func(d Difference) bool { return d.Path != "" })
		}
	}
	return false
}

// report hands the results of a try on: the last, or the one that came closest.
func (l *lane) report(b *Block, results map[Step]Result, over bool, took time.Duration) {
	hasty := l.Hasty && (b.Within.To == 0 || l.Patience < b.Within.To)
	for s, r := range results {
		switch {
		case r.Outcome != Mismatched || !over:
		case hasty:
			r.Outcome, r.Cause = Unsure, fmt.Sprintf("a quick run waits no longer than %v for what may come later", l.Patience)
		default:
			r.Cause = fmt.Sprintf("patience ended after %v; this is what came closest", round(took))
		}
		l.note(s, r)
	}
}

// conclude judges the window of the block.
func (l *lane) conclude(b *Block, results map[Step]Result, took time.Duration, start time.Time) error {
	for s, r := range results {
		l.note(s, r)
	}
	if b.Within == (Window{}) {
		return nil
	}
	res := Result{Pos: b.Pos, Marks: b.Marks, Outcome: Matched, Expected: "all of the block, " + b.Within.String(),
		Got: "after " + round(took).String()}
	res.judgeTime(b.Within, took, took, l.Meter.excuse(start))
	l.note(b, res)
	if res.Outcome != Matched {
		return errStop
	}
	return nil
}

// table plays rows that do not depend on each other: a mismatch keeps neither
// the next row from being tried nor the script from going on. A hasty play has no
// time for the rows behind one that was waited for in vain.
func (l *lane) table(ctx context.Context, b *Block) error {
	for _, row := range rows(b.Steps) {
		began := time.Now()
		err := l.steps(ctx, row)
		if err == nil {
			continue
		}
		inVain := l.Hasty && time.Since(began) >= l.Timeout
		if !errors.Is(err, errStop) || l.dead != "" || inVain {
			return err
		}
		if err := l.afresh(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

// rows begin with each client line that follows a server line.
func rows(steps []Step) [][]Step {
	var all [][]Step
	answered := true
	for _, s := range steps {
		_, expects := s.(*Expect)
		if answered && !expects {
			all = append(all, nil)
		}
		if len(all) == 0 {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], s)
		answered = expects
	}
	return all
}

// afresh replaces the connections of a failed row that are over or out of step
// by new ones in the same role. A raw one the next row must open itself, or it
// cannot be judged.
func (l *lane) afresh(ctx context.Context, row []Step) error {
	for _, s := range row {
		l.mu.Lock()
		c := l.conns[connectionOf(s)]
		l.mu.Unlock()
		if c == nil || c.Ended() == Open && c.Status().Owed == 0 && c.astray == "" {
			continue
		}
		if c.role == Raw {
			c.astray = "an earlier row of the table has left the connection out of step"
			continue
		}
		if _, err := l.again(ctx, c); err != nil {
			return l.noConnection(ctx, row[0], c.role, err)
		}
	}
	return nil
}
