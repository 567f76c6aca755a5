package script

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/fwpsuite/fwp/internal/base/number"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwpsession "github.com/fwpsuite/fwp/protocols/fwp/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// ledger holds the jobs that a play has put on the server and that are still there, as far
// as the replies show. It is safe for concurrent use.
type ledger struct {
	mu             sync.Mutex
	jobs           map[string]entry  // by jid
	pushedTo       map[string]string // the queues of all jobs that this play has pushed, by jid
	orderedWorkers map[string]bool   // worker ids that were answered with an order
}

type entry struct {
	queue      string
	isHeld     bool // fetched, and not yet reported
	hasRetries bool // comes back after a FAIL
	diesOnFail bool // is kept among the dead after a FAIL, where no client can get at it
	isDead     bool
	isForeign  bool // fetched, and not pushed by this play
}

// NewLedger returns the ledger of a fresh play, without jobs.
func (Dialect) NewLedger() scenarios.Ledger {
	return &ledger{jobs: map[string]entry{}, pushedTo: map[string]string{}, orderedWorkers: map[string]bool{}}
}

// Answered follows a command that was answered.
func (g *ledger) Answered(command []byte, m session.Message) {
	cmd, kind := fwp.SplitCommand(bytes.TrimRight(command, "\r\n")), fwp.Kind(m.Kind)
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case cmd.Verb == fwp.FETCH && kind == fwp.BulkString:
		g.followFetch(m.Text)
	case cmd.Verb == fwp.BEAT:
		wid, _ := number.Object(cmd.Args)["wid"].(string)
		g.orderedWorkers[wid] = g.orderedWorkers[wid] || isState(fwpsession.Reply(m))
	case cmd.Verb == "PUSHB" && kind == fwp.BulkString:
		g.followBatch(cmd.Args, m.Text)
	case kind == fwp.SimpleString:
		g.followAcceptance(cmd)
	}
}

// MayEnd implements [scenarios.Ledger]: the server must not close the connection to a consumer before it has answered a
// BEAT of it with quiet or terminate. (End State)
func (g *ledger) MayEnd(s session.State) bool {
	state, ok := s.(*fwpsession.State)
	g.mu.Lock()
	defer g.mu.Unlock()
	return ok && g.orderedWorkers[state.Worker()]
}

// Orders implements [scenarios.Ledger]. (BEAT Command: "server-initiated state change"; AMB-39)
func (*ledger) Orders(m session.Message) bool {
	state := fwpsession.Reply(m).State()
	return state == "quiet" || state == "terminate"
}

// followFetch records a job that was delivered.
func (g *ledger) followFetch(text []byte) {
	jid, e := jobOf(text)
	if jid == "" {
		return
	}
	if old, ok := g.jobs[jid]; ok {
		e = old
	}
	_, isOwn := g.pushedTo[jid] // also if it has ended, and comes again
	e.isHeld, e.isForeign = true, !isOwn
	g.jobs[jid] = e
}

// followBatch records the jobs of a PUSHB, except those that the answer names.
func (g *ledger) followBatch(args, answer []byte) {
	var jobs []json.RawMessage
	_ = json.Unmarshal(args, &jobs) // what is no array pushes nothing
	refused := number.Object(answer)
	for _, job := range jobs {
		if jid, e := jobOf(job); jid != "" && refused[jid] == nil {
			g.jobs[jid], g.pushedTo[jid] = e, e.queue
		}
	}
}

// followAcceptance records what a command has changed that was answered with a simple string.
func (g *ledger) followAcceptance(cmd fwp.Command) {
	if cmd.Verb == fwp.FLUSH {
		clear(g.jobs)
		return
	}
	if cmd.Verb == "MUTATE" {
		g.followMutate(cmd.Args)
		return
	}
	jid, pushed := jobOf(cmd.Args)
	switch e := g.jobs[jid]; {
	case cmd.Verb == fwp.PUSH && jid != "": // what cannot be read as a job cannot be recognised later
		g.jobs[jid], g.pushedTo[jid] = pushed, pushed.queue
	case cmd.Verb == fwp.FAIL && e.hasRetries && !e.isForeign:
		e.isHeld, e.isDead = false, e.diesOnFail
		g.jobs[jid] = e
	case cmd.Verb == fwp.ACK, cmd.Verb == fwp.FAIL:
		delete(g.jobs, jid)
	}
}

// followMutate records what a MUTATE that names jobs has done to them.
func (g *ledger) followMutate(args []byte) {
	fields := number.Object(args)
	filter, _ := fields["filter"].(map[string]any)
	jids, _ := filter["jids"].([]any)
	for _, each := range jids {
		jid, _ := each.(string)
		e, ok := g.jobs[jid]
		switch {
		case !ok:
		case fields["cmd"] == "discard":
			delete(g.jobs, jid)
		default:
			e.isDead = fields["cmd"] == "kill"
			g.jobs[jid] = e
		}
	}
}

// jobOf reads what the ledger needs from a work unit, or from the argument of
// ACK and FAIL.
func jobOf(text []byte) (jid string, e entry) {
	fields := number.Object(text) // what is no object has no jid
	jid, _ = fields["jid"].(string)
	retry, _ := fields["retry"].(json.Number)
	e = entry{queue: "default", hasRetries: retry != "0", diesOnFail: strings.HasPrefix(retry.String(), "-")}
	if q, ok := fields["queue"].(string); ok {
		e.queue = q
	}
	return jid, e
}

// remainingJobs lists the jobs that are still there: the enqueued ones by queue, and those
// that were fetched and not reported.
func (g *ledger) remainingJobs() (byQueue map[string][]string, heldJIDs []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	byQueue = map[string][]string{}
	for _, jid := range slices.Sorted(maps.Keys(g.jobs)) {
		switch e := g.jobs[jid]; {
		case e.isDead:
		case e.isHeld:
			heldJIDs = append(heldJIDs, jid)
		default:
			byQueue[e.queue] = append(byQueue[e.queue], jid)
		}
	}
	return byQueue, heldJIDs
}

// deadJobs lists the jobs that failed for good and were kept.
func (g *ledger) deadJobs() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(g.jobs)), func(jid string) bool { return !g.jobs[jid].isDead })
}

// Owns implements [scenarios.Ledger].
func (g *ledger) Owns(jid string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, ok := g.pushedTo[jid]
	return ok
}

// Queues implements [scenarios.Ledger]. A name that is not plain may be refused, and with it all others.
func (g *ledger) Queues() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := slices.Compact(slices.Sorted(maps.Values(g.pushedTo)))
	return slices.DeleteFunc(all, func(queue string) bool { return !plainQueue.MatchString(queue) })
}

// Mark implements [scenarios.Sweeper].
func (Dialect) Mark(jid, queue string) string {
	return fmt.Sprintf(`%s {"jid":%q,"jobtype":"fwpcheck","args":[],"queue":%q,"retry":0}`, fwp.PUSH, jid, queue)
}

// Sweep implements [scenarios.Sweeper].
func (Dialect) Sweep(
	queues []string, isOwn func(jid string) bool, do func(line string) (session.Message, bool),
) (jid string, ok bool) {
	return Remover{IsOwn: isOwn, Do: do}.Next(queues...)
}

// Removable reports whether there are jobs that a FETCH or an ACK removes.
func (g *ledger) Removable() bool {
	byQueue, heldJIDs := g.remainingJobs()
	return len(byQueue) > 0 || len(heldJIDs) > 0
}

// Cleanup acknowledges the jobs that were fetched, and fetches and acknowledges those
// that wait, from the script's queues only. A job of another client that was fetched is
// given back.
func (g *ledger) Cleanup(do func(line string) (session.Message, bool)) {
	r := Remover{IsOwn: g.Owns, Do: do}
	byQueue, heldJIDs := g.remainingJobs()
	for _, jid := range heldJIDs {
		if !r.Release(jid) {
			return
		}
	}
	for _, queue := range slices.Sorted(maps.Keys(byQueue)) {
		if strings.ContainsAny(queue, " \t\r\n") || queue == "" {
			continue // no FETCH can name it
		}
		for remaining := byQueue; len(remaining[queue]) > 0; remaining, _ = g.remainingJobs() {
			if jid, ok := r.Next(queue); !ok || jid == "" {
				break
			}
		}
	}
}

// Leftover names the jobs that are still there.
func (g *ledger) Leftover() []string {
	byQueue, heldJIDs := g.remainingJobs()
	words := slices.Clone(heldJIDs)
	for _, jid := range g.deadJobs() {
		words = append(words, jid+" among the dead jobs")
	}
	for _, queue := range slices.Sorted(maps.Keys(byQueue)) {
		for _, jid := range byQueue[queue] {
			words = append(words, fmt.Sprintf("%s in queue %s", jid, queue))
		}
	}
	return words
}

// Remover removes jobs with the commands of one consumer: it acknowledges its own, and
// gives back any other with a FAIL. That a FETCH delivers another one can only happen in a
// queue that other clients use too, or on a server that mixes up queues.
type Remover struct {
	IsOwn func(jid string) bool                               // reports whether a job may be removed
	Do    func(line string) (answer session.Message, ok bool) // ok: another line is worth trying
}

// Next fetches a job from queues and releases it. It returns its jid, "" if nothing was
// delivered, and whether another line is worth trying.
func (r Remover) Next(queues ...string) (jid string, ok bool) {
	m, ok := r.Do(fwp.FETCH + " " + strings.Join(queues, " "))
	if !ok || fwp.Kind(m.Kind) != fwp.BulkString {
		return "", ok
	}
	if jid, _ = jobOf(m.Text); jid == "" {
		return "", ok
	}
	return jid, r.Release(jid)
}

// Release acknowledges a job of its own that was fetched, and gives back any other. It
// reports whether another line is worth trying.
func (r Remover) Release(jid string) bool {
	quoted, _ := json.Marshal(jid) // strings can always be written
	line := fmt.Sprintf(`%s {"jid":%s}`, fwp.ACK, quoted)
	if !r.IsOwn(jid) {
		line = fmt.Sprintf(`%s {"jid":%s,"errtype":"fwpcheck","message":"fetched by a check, given back","backtrace":[]}`,
			fwp.FAIL, quoted)
	}
	_, ok := r.Do(line)
	return ok
}
