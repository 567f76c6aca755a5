package play

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/scenarios"
)

func (th *thread) playBlock(ctx context.Context, b *scenarios.Block) error {
	switch b.Kind {
	case scenarios.Repeat:
		if b.By > 0 {
			return th.repeatBy(ctx, b)
		}
		return th.repeat(ctx, b)
	case scenarios.Unordered:
		return th.unordered(ctx, b)
	case scenarios.Eventually:
		return th.eventually(ctx, b)
	default:
		return th.table(ctx, b)
	}
}

// withScope is a thread that differs from th in its scope and its block.
func (th *thread) withScope(sc *scenarios.Scope, b *scenarios.Block) *thread {
	inner := *th
	inner.scope, inner.block = sc, b
	return &inner
}

func (th *thread) repeat(ctx context.Context, b *scenarios.Block) error {
	began := time.Now()
	defer th.rounds.end(b)
	for round := 0; th.rounds.hasNext(b, round, began); round++ {
		if err := th.withScope(th.scope.Repetition(b, round), b).steps(ctx, b.Steps); err != nil {
			return err
		}
	}
	return nil
}

// repeatBy shares the repetitions among workers that each have a connection of their
// own. The first one that fails stops all of them.
func (th *thread) repeatBy(ctx context.Context, b *scenarios.Block) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer th.rounds.end(b)
	errs := make([]error, b.By)
	var wg sync.WaitGroup
	for w := range b.By {
		wg.Go(func() {
			if errs[w] = th.worker(ctx, b, w); errs[w] != nil {
				cancel()
			}
		})
	}
	wg.Wait()
	return firstError(errs)
}

// firstError returns the first of the errors. A stop comes before the cancellation that
// follows from it.
func firstError(errs []error) error {
	if slices.Contains(errs, errStop) {
		return errStop
	}
	return cmp.Or(errs...)
}

// worker plays each round of a repeat block that is its own: every worker has the same share, so that what a connection
// does is the same in each play.
func (th *thread) worker(ctx context.Context, b *scenarios.Block, number int) error {
	began := time.Now()
	w := th.withScope(th.scope.Child(), b)
	w.scope.RenewClient(th.grammar())
	c, err := th.play.dial(ctx, fmt.Sprintf("%s%d", b.Role, number+1), b.Role, nil)
	if err != nil {
		return th.noConnection(ctx, b, b.Role, err)
	}
	c.role, w.ownConn = b.Role, &ownConn{c}
	defer func() { w.ownConn.c.leave(ctx) }()
	if b.Role != scenarios.Raw {
		if err := w.greet(ctx, c); err != nil {
			return th.noConnection(ctx, b, b.Role, err)
		}
	}
	for round := number; th.rounds.hasNext(b, round, began); round += b.By {
		if err := w.withScope(w.scope.Repetition(b, round), b).steps(ctx, b.Steps); err != nil {
			return err
		}
	}
	return nil
}

// eventually plays the body again and again until all of it matches.
func (th *thread) eventually(ctx context.Context, b *scenarios.Block) error {
	start := time.Now()
	limit := th.patienceFor(b)
	var closest map[scenarios.Step]Result
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		// The last try begins behind the limit, so that what is missing there is missing by every clock.
		isOver := time.Since(start) > limit+th.Meter.Excuse(start)
		results := map[scenarios.Step]Result{}
		t := th.withScope(th.scope.Attempt(), b)
		t.trial = func(s scenarios.Step, r Result) { results[s] = r }
		err := t.steps(ctx, b.Steps)
		took := time.Since(start)
		if err == nil {
			t.scope.Commit()
			return th.conclude(b, results, start, took)
		}
		if closest == nil || differsInside(results) || !differsInside(closest) || isExcused(results) {
			closest = results
		}
		last := final(results) || th.isDelivered(b, results)
		if !errors.Is(err, errStop) || isOver || last {
			if isOver && !last {
				results = closest
			}
			th.report(b, results, isOver && !last, took)
			return err
		}
		th.takeLate(ctx, b)
		if err := th.idle(ctx, time.Now().Add(pause)); err != nil {
			return err
		}
	}
}

// patienceFor is how long the block is tried. A quick play does not wait for the end of
// a longer window.
func (th *thread) patienceFor(b *scenarios.Block) time.Duration {
	switch {
	case b.Window.To == 0:
		return th.Patience
	case th.Quick:
		return min(b.Window.To, th.Patience)
	}
	return b.Window.To
}

// takeLate takes the replies that a failed try has not taken, so that the next try does
// not mistake them for its own.
func (th *thread) takeLate(ctx context.Context, b *scenarios.Block) {
	for _, c := range th.ownConns() {
		uses := func(s scenarios.Step) bool { return slices.Contains(scenarios.ConnectionsOf(s), c.name) }
		for slices.ContainsFunc(b.Steps, uses) && c.Status().OwedMessages > 0 && c.Ending() == scenarios.Open &&
			c.unjudged == nil {
			a, err := c.Answer(ctx)
			if err != nil || a.GaveUp || a.Broken != nil {
				c.unjudged = &doubt{SetUp, false, "a reply to an earlier try is missing"}
				break
			}
		}
	}
}

// final reports whether another try makes no sense: a reply is missing or malformed.
func final(results map[scenarios.Step]Result) bool {
	for _, r := range results {
		unlike := r.Outcome == Mismatched && (r.Ending != scenarios.Open || len(r.Differences) == 0)
		if unlike || r.Outcome == Unsure && !r.isExcused() {
			return true
		}
	}
	return false
}

// isExcused reports whether a line brought nothing from a server that may leave it at that: see [thread.otherBreach].
// Another try may bring it all the same; if none does, that decides nothing.
func isExcused(results map[scenarios.Step]Result) bool {
	for _, r := range results {
		if r.isExcused() {
			return true
		}
	}
	return false
}

// differsInside reports whether the difference was inside a reply of the right type: such
// a try shows more than a later one that found nothing.
func differsInside(results map[scenarios.Step]Result) bool {
	for _, r := range results {
		if r.Outcome == Mismatched {
			return slices.ContainsFunc(r.Differences, func(d scenarios.Difference) bool { return d.Path != "" })
		}
	}
	return false
}

// report records the results of a try: the last one, or the one that came closest.
func (th *thread) report(b *scenarios.Block, results map[scenarios.Step]Result, isOver bool, took time.Duration) {
	cutShort := th.Quick && (b.Window.To == 0 || th.Patience < b.Window.To)
	limit := ""
	if b.Window.To == 0 {
		limit = " (--patience)"
	}
	for s, r := range results {
		switch {
		case r.Outcome != Mismatched:
		case isOver && cutShort:
			r.makeUnsure(doubt{"", false, fmt.Sprintf("a quick run waits at most %v for late events", th.Patience)})
		default:
			if isOver {
				r.restsOnTime = false // it was tried for longer by what this machine was late
				r.Cause = fmt.Sprintf("gave up after %v%s; this try came closest", round(took), limit)
			}
			th.leaveAssumed(&r)
		}
		th.note(s, r)
	}
}

// conclude records the results of the try that matched, and checks the window of the
// block.
func (th *thread) conclude(
	b *scenarios.Block, results map[scenarios.Step]Result, start time.Time, took time.Duration,
) error {
	for s, r := range results {
		th.note(s, r)
	}
	if b.Window == (scenarios.Window{}) {
		return nil
	}
	res := Result{Pos: b.Pos, Marks: b.Marks, Outcome: Matched, Expected: "all of the block, " + b.Window.String(),
		Got: "after " + round(took).String()}
	res.judgeTime(b.Window, took, took-th.Meter.Excuse(start))
	res.restsOnTime = res.Outcome == Mismatched
	th.note(b, res)
	if res.Outcome != Matched {
		return errStop
	}
	return nil
}

// table plays rows that do not depend on each other: a mismatch keeps neither
// the next row from being tried nor the script from going on. A quick play has no
// time for the rows behind one that was waited for in vain.
func (th *thread) table(ctx context.Context, b *scenarios.Block) error {
	for _, row := range rows(b.Steps) {
		began := time.Now()
		th.assuming = false
		err := th.steps(ctx, row)
		if err == nil {
			continue
		}
		inVain := th.Quick && time.Since(began) >= th.Timeout
		if !errors.Is(err, errStop) || th.notServing != "" || inVain {
			return err
		}
		if err := th.reopenRow(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

// rows begin with each client line that follows a server line.
func rows(steps []scenarios.Step) [][]scenarios.Step {
	var all [][]scenarios.Step
	isAnswered := true
	for _, s := range steps {
		_, expects := s.(*scenarios.Expect)
		if isAnswered && !expects {
			all = append(all, nil)
		}
		if len(all) == 0 {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], s)
		isAnswered = expects
	}
	return all
}

// reopenRow replaces the connections of a failed row that have ended or are out of
// step by new ones in the same role. The engine does not replace a raw one: a row that
// uses it without opening it cannot be evaluated.
func (th *thread) reopenRow(ctx context.Context, row []scenarios.Step) error {
	for _, s := range row {
		th.mu.Lock()
		c := th.conns[scenarios.ConnectionOf(s)]
		th.mu.Unlock()
		if c == nil || c.Ending() == scenarios.Open && c.Status().OwedMessages == 0 && c.unjudged == nil {
			continue
		}
		if c.role == scenarios.Raw {
			c.unjudged = &doubt{SetUp, false, "after an earlier row of the table replies no longer match commands"}
			continue
		}
		if _, err := th.reopen(ctx, c); err != nil {
			return th.noConnection(ctx, row[0], c.role, err)
		}
	}
	return nil
}

// isDelivered reports whether a try has received what the block waits for, and in a way that does not match: the server
// hands it out once, so that no later try can match. What has another name is something else, and does not count.
func (th *thread) isDelivered(b *scenarios.Block, results map[scenarios.Step]Result) bool {
	grammar := th.grammar()
	verbs := map[string]string{} // of the last command, by connection
	for _, s := range b.Steps {
		switch s := s.(type) {
		case *scenarios.Send:
			verbs[s.Conn] = s.Verb()
		case *scenarios.Expect:
			_, handsOut := grammar.Replies.MayBeLate[verbs[s.Conn]]
			if r := results[s]; handsOut && r.Outcome == Mismatched && differsInside(map[scenarios.Step]Result{s: r}) {
				return !slices.ContainsFunc(r.Differences, grammar.IsName)
			}
		}
	}
	return false
}
