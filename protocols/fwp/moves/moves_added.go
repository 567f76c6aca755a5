package moves

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/internal/target"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
)

// addedMoves are those of the commands that an extension adds. The first word of a name is the verb.
var addedMoves = []move{
	{"pushb", 6, isIdentified, moveOf(func(g *maker, _ *fwplaw.Conn) string { return "PUSHB " + g.batch() })},
	{"pushb-many", 0.1, mayFetch, (*maker).pushMany},
	{"pushb-badly", 0.7, isIdentified, moveOf(func(g *maker, _ *fwplaw.Conn) string {
		return "PUSHB" + deal(g, "PUSHB",
			[]string{"", " ", " {}", " [", " null", " 1", ` "x"`, " [[]]", " []x", " " + g.job()})
	})},
	{"pushb-early", 0.5, isRaw, moveOf(func(g *maker, _ *fwplaw.Conn) string { return "PUSHB " + g.batch() })},
	{"queue-pause", 2, mayFetch, (*maker).pauseQueue},
	{"queue-leave-paused", 0.4, isIdentified,
		moveOf(func(g *maker, _ *fwplaw.Conn) string { return "QUEUE PAUSE " + g.queue() })},
	{"queue-resume", 2, func(g *maker, c int, w *fwplaw.Conn) bool {
		return isIdentified(g, c, w) && len(g.pausedQueues()) > 0
	}, moveOf(func(g *maker, _ *fwplaw.Conn) string { return "QUEUE RESUME " + strings.Join(g.pausedQueues(), " ") })},
	{"queue-latency", 1, isIdentified, moveOf(func(g *maker, _ *fwplaw.Conn) string {
		return "QUEUE LATENCY " + choose(g, []string{g.queue(), g.allQueues(), g.freshQueue()})
	})},
	{"queue-remove", 0.7, mayFetch, (*maker).removeQueue},
	{"queue-all", 0.1, combine(isAlone, isIdentified), func(g *maker, c int, _ *fwplaw.Conn) []explore.Step {
		return []explore.Step{line(c, "QUEUE PAUSE *"), line(c, "QUEUE RESUME *")}
	}},
	{"queue-badly", 0.5, isIdentified, moveOf(func(g *maker, _ *fwplaw.Conn) string {
		return "QUEUE" + deal(g, "QUEUE", []string{"", " ", " PAUSE", " STOP " + g.queue(), " RESUME", " REMOVE", " LATENCY"})
	})},
	{"queue-early", 0.3, isRaw, moveOf(func(g *maker, _ *fwplaw.Conn) string { return "QUEUE PAUSE " + g.queue() })},
	{"mutate", 5, mayFetch, (*maker).mutate},
	{"mutate-any", 1, isIdentified, moveOf(func(g *maker, _ *fwplaw.Conn) string {
		jids := fmt.Sprintf(`"$jid%d","$jid%d"`, 1+g.IntN(g.jobs+2), max(1, g.jobs-g.IntN(6)))
		return mutation(choose(g, []string{"kill", "discard", "requeue"}), choose(g, mutateTargets), `"jids":[`+jids+`]`)
	})},
	{"mutate-all", 0.1, combine(mayFlush, isIdentified), moveOf(func(g *maker, _ *fwplaw.Conn) string {
		cmd := deal(g, "all", []string{`"clear"`, `"discard"`, `"kill"`, `"discard","filter":{}`})
		return fmt.Sprintf(`MUTATE {"cmd":%s,"target":"%s"}`, cmd, choose(g, mutateTargets))
	})},
	{"mutate-badly", 0.5, isIdentified, moveOf(func(g *maker, _ *fwplaw.Conn) string {
		filter := fmt.Sprintf(`"filter":{"jids":["$jid%d"]}`, 1+g.IntN(g.jobs+1))
		return "MUTATE" + deal(g, "MUTATE", []string{
			"", " ", " x", " []",
			` {"cmd":"kill","target":"working",` + filter + `}`, ` {"cmd":"stop","target":"dead",` + filter + `}`,
			` {"target":"dead",` + filter + `}`, ` {"cmd":"kill",` + filter + `}`, ` {"cmd":5,"target":"dead",` + filter + `}`,
		})
	})},
	{"mutate-early", 0.3, isRaw, moveOf(func(g *maker, _ *fwplaw.Conn) string {
		return mutation("discard", "scheduled", fmt.Sprintf(`"jids":["$jid%d"]`, 1+g.IntN(g.jobs+1)))
	})},
}

// availableMoves returns the moves of those commands of the extension that the server has.
func (g *maker) availableMoves() []move {
	return slices.DeleteFunc(slices.Clone(addedMoves), func(m move) bool {
		verb, _, _ := strings.Cut(m.name, "-")
		return g.law.world.HasExtensionVerb == nil || !g.law.world.HasExtensionVerb(strings.ToUpper(verb))
	})
}

// batch makes the argument of a PUSHB: jobs like others, now and then with one that is wrong among them, or with one
// that is there twice.
func (g *maker) batch() string {
	jobs := make([]string, deal(g, "batch", []int{2, 0, 3, 1, 7}))
	for i := range jobs {
		jobs[i] = g.job()
	}
	if len(jobs) > 1 && g.IntN(3) == 0 {
		jid, queue := g.jid(), g.queue()
		jobs[g.IntN(len(jobs))] = deal(g, "bad job", []string{
			fmt.Sprintf(`{"jid":"%s","args":[],"queue":"%s"}`, jid, queue),
			fmt.Sprintf(`{"jid":"%s","jobtype":"t","queue":"%s"}`, jid, queue),
			fmt.Sprintf(`{"jobtype":"t","args":[],"queue":"%s"}`, queue),
			fmt.Sprintf(`{"jid":"%s","jobtype":5,"args":[],"queue":"%s"}`, jid, queue),
			"1", "null", "[]", jobs[0],
		})
	}
	return "[" + strings.Join(jobs, ",") + "]"
}

// pushMany pushes as many jobs at a time as clients do, and removes their queue.
func (g *maker) pushMany(c int, _ *fwplaw.Conn) []explore.Step {
	queue, jobs := g.freshQueue(), make([]string, 20)
	if removes := g.law.world.HasExtensionVerb("QUEUE"); removes {
		jobs = make([]string, deal(g, "many", []int{100, 1000}))
	}
	for i := range jobs {
		jobs[i] = fmt.Sprintf(`{"jid":"%s","jobtype":"t","args":[],"queue":"%s","retry":0}`, g.jid(), queue)
	}
	steps := []explore.Step{line(c, "PUSHB [%s]", strings.Join(jobs, ",")), line(c, "FETCH %s", queue)}
	if len(jobs) > 20 {
		steps = append(steps, line(c, "QUEUE REMOVE %s", queue), g.sendAside(line(c, "FETCH %s", queue)))
	}
	return steps
}

// pausedQueues returns those of the queues in use that may be paused.
func (g *maker) pausedQueues() []string {
	return slices.DeleteFunc(slices.Clone(g.queues),
		func(q string) bool { return !g.law.world.MayBePaused(g.law.realName(q)) })
}

// pauseQueue pauses a queue with jobs, and resumes it after something else has happened.
func (g *maker) pauseQueue(c int, w *fwplaw.Conn) []explore.Step {
	queue, other, first, second := g.freshQueue(), g.freshQueue(), g.jid(), g.jid()
	fetch := line(c, "FETCH %s", queue)
	steps := []explore.Step{
		push(c, first, queue, ""), push(c, second, other, ""), line(c, "QUEUE PAUSE %s", queue),
		line(c, "FETCH %s %s", queue, other), ack(c, second),
	}
	number, ok := g.law.worker(w.WID)
	switch deal(g, "paused", []int{0, 1, 2, 3, 4}) {
	case 0:
		steps = append(steps, g.sendAside(fetch))
	case 1:
		steps = append(steps, push(c, g.jid(), queue, ""), line(c, "QUEUE LATENCY %s", queue))
	case 2: // a FETCH waits for the queue that is resumed
		steps = append(steps, sendAhead(fetch), explore.Wait(100*time.Millisecond),
			line(controlProducer, "QUEUE RESUME %s", queue),
			build().Await(c))
	case 3:
		if g.Restarts && ok {
			steps = append(steps, explore.Disrupt(target.Restart), consumer(c, number))
		}
	case 4:
		if g.Terms.Flush {
			steps = append(steps, line(c, "FLUSH"), push(c, g.jid(), queue, ""))
		}
	}
	return append(steps, line(c, "QUEUE RESUME %s", queue), fetch)
}

// removeQueue removes a queue with jobs in every state that are of it.
func (g *maker) removeQueue(c int, _ *fwplaw.Conn) []explore.Step {
	queue, heldJID, laterJID := g.freshQueue(), g.jid(), g.jid()
	fetch := line(c, "FETCH %s", queue)
	return []explore.Step{
		push(c, heldJID, queue, ""), fetch, push(c, g.jid(), queue, ""), push(c, g.jid(), queue, `,"at":"$now+1h"`),
		line(c, "QUEUE REMOVE %s", queue), ack(c, heldJID),
		push(c, laterJID, queue, ""), fetch,
	}
}

var mutateTargets = []string{"scheduled", "retries", "dead"}

// mutation is a MUTATE with a filter.
func mutation(cmd, target, filter string) string {
	return fmt.Sprintf(`MUTATE {"cmd":"%s","target":"%s","filter":{%s}}`, cmd, target, filter)
}

// mutate has two jobs be where a MUTATE moves one of them from, by each kind of filter, and shows where both are then.
func (g *maker) mutate(c int, w *fwplaw.Conn) []explore.Step {
	queue, first, second := g.freshQueue(), g.jid(), g.jid()
	set := deal(g, "target", mutateTargets)
	filter := deal(g, "filter "+set, []string{
		fmt.Sprintf(`"jids":["%s"]`, first), fmt.Sprintf(`"jids":["%s-none","%[1]s"]`, first),
		fmt.Sprintf(`"jobtype":"of-%s"`, first), fmt.Sprintf(`"regexp":"*%s*"`, first),
		fmt.Sprintf(`"jids":["%s"],"jobtype":"of-%[1]s"`, first),
		fmt.Sprintf(`"regexp":"*of-%s*","jobtype":"of-%[1]s"`, first),
	})
	fetch := line(c, "FETCH %s", queue)
	var steps []explore.Step
	for _, jid := range []string{first, second} {
		fields := map[string]string{"scheduled": `,"at":"$now+1h"`, "dead": `,"retry":-1`}[set]
		steps = append(steps, line(c, `PUSH {"jid":"%s","jobtype":"of-%[1]s","args":[],"queue":"%s"%s}`, jid, queue, fields))
		if set != "scheduled" {
			steps = append(steps, fetch, line(c, "FAIL %s", g.failure(jid)))
		}
	}
	cmd := deal(g, "cmd "+set, []string{"kill", "discard", "requeue"})
	if steps = append(steps, line(c, "%s", mutation(cmd, set, filter))); g.Restarts && g.IntN(10) == 0 {
		if number, ok := g.law.worker(w.WID); ok {
			steps = append(steps, explore.Disrupt(target.Restart), consumer(c, number))
		}
	}
	requeue := line(c, "%s", mutation("requeue", set, fmt.Sprintf(`"jids":["%s","%s"]`, first, second)))
	switch {
	case cmd == "requeue":
		return append(steps, line(c, "QUEUE LATENCY %s", queue), fetch, requeue, fetch)
	case cmd == "kill" && set != "dead":
		revive := line(c, "%s", mutation("requeue", "dead", fmt.Sprintf(`"jids":["%s"]`, first)))
		return append(steps, requeue, fetch, revive, fetch)
	case g.IntN(4) == 0:
		return append(steps, requeue, fetch, g.sendAside(fetch))
	}
	return append(steps, requeue, fetch)
}
