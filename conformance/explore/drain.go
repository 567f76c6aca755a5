package explore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/model"
	"github.com/fwpsuite/fwp/conformance/oracle"
	"github.com/fwpsuite/fwp/scenarios"
)

// hasty is for how long an exploration cleans up that was interrupted.
const hasty = time.Second

// comes is how long it takes until the last of the jobs that were put off should be
// enqueued; zero if none was.
func (p *play) comes() time.Duration {
	const comes, late = model.Scheduled | model.Enqueued, 2 * time.Second // some schedulers look every few seconds
	var last time.Duration
	for _, j := range p.remaining(time.Now()) {
		if j.Where&comes == comes {
			last = max(last, time.Until(j.At())+late)
		}
	}
	return min(last, 14*time.Second)
}

// drain removes what the exploration left on the server, and judges what comes.
func (x *exploration) drain(ctx context.Context) {
	if x.play.dead {
		return
	}
	limit := max(20*x.config.patience, time.Minute)
	if ctx.Err() != nil { // somebody is waiting for the end
		limit = hasty
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	for _, c := range x.gen.strangers() {
		x.play.drop(c, scenarios.Closed)
	}
	x.play.sweep(ctx, func(steps ...Step) { x.steps(ctx, steps) })
	if wait := x.play.comes(); x.Fresh == nil && wait > 0 {
		x.play.wait(ctx, wait)
		x.play.sweep(ctx, func(steps ...Step) { x.steps(ctx, steps) })
	}
	x.result.Left = append(x.result.Left, x.play.left()...)
	slices.Sort(x.result.Left)
}

const sweeper = 1 << 20 // the number of a connection that nobody else has

// sweep acknowledges what is held, and fetches what is enqueued; do plays steps.
func (p *play) sweep(ctx context.Context, do func(...Step)) {
	held := map[int][]string{}
	queues := map[string]bool{}
	for _, j := range p.remaining(time.Now()) {
		var number int
		if _, err := fmt.Sscanf(p.symbol(j.Holder), "$wid%d", &number); err == nil && j.Where&model.Working != 0 {
			held[number] = append(held[number], p.symbol(j.JID))
		}
		if j.Where&model.Enqueued != 0 {
			for word := range strings.FieldsSeq(j.Queue) {
				queues[p.symbol(word)] = true
			}
		}
	}
	for i, worker := range slices.Sorted(maps.Keys(held)) {
		do(Step{Kind: Open, Conn: sweeper + 1 + i, Role: scenarios.Consumer, Worker: worker})
		for _, jid := range held[worker] {
			do(line(sweeper+1+i, `ACK {"jid":"%s"}`, jid))
		}
		if p.conns[sweeper+1+i] == nil { // a server that does not answer one will not answer the next
			return
		}
		do(Step{Kind: End, Conn: sweeper + 1 + i, Ending: scenarios.Closed})
	}
	maps.DeleteFunc(queues, func(name string, _ bool) bool { return !p.ours(name) })
	if len(queues) > 0 {
		do(Step{Kind: Open, Conn: sweeper, Role: scenarios.Consumer, Worker: sweeper})
		p.empty(ctx, slices.Sorted(maps.Keys(queues)), do)
	}
}

// ours tells whether a queue may be emptied: default is ours if nobody else uses the
// server.
func (p *play) ours(symbol string) bool {
	return strings.HasPrefix(symbol, "$queue") || symbol == "default" && p.alone
}

// empty fetches from queues until nothing comes.
func (p *play) empty(ctx context.Context, queues []string, do func(...Step)) {
	for part := range slices.Chunk(queues, 400) {
		for left := len(p.remaining(time.Now())) + 10; left > 0 && ctx.Err() == nil && p.conns[sweeper] != nil; left-- {
			n := len(p.seen)
			do(line(sweeper, "FETCH %s", strings.Join(part, " ")))
			if len(p.seen) == n || p.seen[len(p.seen)-1].answer != model.Delivered {
				break
			}
			if jid := p.seen[len(p.seen)-1].jid; p.world.Jobs[jid] != nil { // else it is somebody's
				do(line(sweeper, `ACK {"jid":"%s"}`, p.symbol(jid)))
			}
		}
	}
}

// symbol writes a name as it stands in steps: behind a dollar if it is one of the play.
func (p *play) symbol(name string) string {
	if own, is := strings.CutPrefix(name, p.prefix+"-"); is {
		return "$" + own
	}
	return name
}

// left names the jobs that may still be on the server.
func (p *play) left() []string {
	var all []string
	for _, j := range p.remaining(time.Now()) {
		all = append(all, j.JID)
	}
	return all
}

// remaining lists the jobs that may still be on the server.
func (p *play) remaining(now time.Time) []*oracle.Job {
	var all []*oracle.Job
	for _, jid := range slices.Sorted(maps.Keys(p.world.Jobs)) {
		j := p.world.Jobs[jid]
		p.world.In(j.Queue, now)
		if j.Where&^(model.Gone|model.Dead) != 0 {
			all = append(all, j)
		}
	}
	return all
}
