package emqpsubject

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/emqp"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/emqpdialect"
)

// waiting returns the REQUESTs that may still be with the broker.
func (l *emqpLaw) waiting() (all []*message) {
	for _, x := range l.messages {
		if x.Command == emqp.REQUEST && !x.over && !l.leaving {
			all = append(all, x)
		}
	}
	return all
}

// Leftover names the REQUESTs that may still be with the broker.
func (l *emqpLaw) Leftover() (all []string) {
	for _, x := range l.waiting() {
		all = append(all, fmt.Sprintf("REQUEST %s of %s", x.ID, x.text(0)))
	}
	return all
}

// Cleanup has a worker take what waits: no message removes another one from its queue.
func (l *emqpLaw) Cleanup(explore.Cleaning) iter.Seq[explore.Step] {
	return func(play func(explore.Step) bool) {
		b := explore.Builder{Dialect: emqpdialect.Dialect{}}
		left := l.waiting()
		if len(left) == 0 || !play(b.Open(explore.Cleaner, scenarios.Consumer, "")) {
			return
		}
		ids := 0
		line := func(command string, fields ...string) bool {
			ids++
			frames := []string{`""`, `"eMQP/1.0"`, fmt.Sprintf("%q", command), fmt.Sprintf("%s-cleaner-%d", l.terms.Prefix, ids)}
			for _, f := range fields {
				frames = append(frames, fmt.Sprintf("%q", f))
			}
			step := b.Line(explore.Cleaner, "[%s]", strings.Join(frames, ", "))
			return play(step) && l.conns[explore.Cleaner] != nil
		}
		going := line(emqp.INFORM, emqp.FormatQueues(queuesIn(left)...), emqp.TypeWorker)
		for range left {
			going = going && (len(l.waiting()) == 0 || line(emqp.READY))
		}
		if going && line(emqp.KBAI) {
			play(explore.End(explore.Cleaner, scenarios.Closed))
		}
	}
}

// queuesIn returns the queues of REQUESTs.
func queuesIn(all []*message) (queues []emqp.Queue) {
	for _, x := range all {
		if q := (emqp.Queue{Weight: 1, Name: x.text(0)}); !slices.Contains(queues, q) {
			queues = append(queues, q)
		}
	}
	return queues
}
