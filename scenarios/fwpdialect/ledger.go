package fwpdialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// ledger knows the jobs that a play has put on the server and that are still
// there, as far as the replies tell. It is safe for concurrent use.
type ledger struct {
	mu   sync.Mutex
	jobs map[string]entry // by jid
}

type entry struct {
	queue   string
	held    bool // fetched, and not yet reported
	tries   bool // comes back after a FAIL
	dies    bool // is kept among the dead after a FAIL, where no client can get at it
	dead    bool
	foreign bool // fetched, and not pushed by this play
}

// NewLedger returns the books of a fresh play.
func (Dialect) NewLedger() scenarios.Ledger { return &ledger{jobs: map[string]entry{}} }

// Answered follows a command that was answered.
func (g *ledger) Answered(command []byte, m session.Message) {
	cmd, kind := fwp.SplitCommand(bytes.TrimRight(command, "\r\n")), fwp.Kind(m.Kind)
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case cmd.Verb == fwp.FETCH && kind == fwp.BulkString:
		jid, e := jobOf(m.Text)
		known, ours := g.jobs[jid]
		if ours {
			e = known
		}
		e.held, e.foreign = true, !ours
		g.jobs[jid] = e
	case kind != fwp.SimpleString:
	case cmd.Verb == fwp.PUSH:
		jid, e := jobOf(cmd.Args)
		g.jobs[jid] = e
	case cmd.Verb == fwp.ACK, cmd.Verb == fwp.FAIL:
		jid, _ := jobOf(cmd.Args)
		if e := g.jobs[jid]; cmd.Verb == fwp.FAIL && e.tries && !e.foreign {
			e.held, e.dead = false, e.dies
			g.jobs[jid] = e
			return
		}
		delete(g.jobs, jid)
	case cmd.Verb == fwp.FLUSH:
		clear(g.jobs)
	}
}

// jobOf reads what the ledger needs from a work unit, or from the argument of
// ACK and FAIL.
func jobOf(text []byte) (jid string, e entry) {
	fields, _ := object(text) // what is no object has no jid
	jid, _ = fields["jid"].(string)
	retry, _ := fields["retry"].(json.Number)
	e = entry{queue: "default", tries: retry != "0", dies: strings.HasPrefix(retry.String(), "-")}
	if q, ok := fields["queue"].(string); ok {
		e.queue = q
	}
	return jid, e
}

// left lists the jobs that are still there: the enqueued ones by queue, and those
// that were fetched and not reported.
func (g *ledger) left() (byQueue map[string][]string, held []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	byQueue = map[string][]string{}
	for _, jid := range slices.Sorted(maps.Keys(g.jobs)) {
		switch e := g.jobs[jid]; {
		case e.dead:
		case e.held:
			held = append(held, jid)
		default:
			byQueue[e.queue] = append(byQueue[e.queue], jid)
		}
	}
	return byQueue, held
}

// dead lists the jobs that failed for good and were kept.
func (g *ledger) dead() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(g.jobs)), func(jid string) bool { return !g.jobs[jid].dead })
}

// foreign reports whether a job was fetched that another client has pushed.
func (g *ledger) foreign(jid string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.jobs[jid].foreign
}

// Removable reports whether there are jobs that a FETCH or an ACK removes.
func (g *ledger) Removable() bool {
	byQueue, held := g.left()
	return len(byQueue) > 0 || len(held) > 0
}

// Cleanup acknowledges the jobs that were fetched, and fetches and acknowledges those
// that wait, from the script's queues only. A job of another client that was fetched,
// which can only happen in a queue that others use too, is given back with a FAIL.
func (g *ledger) Cleanup(do func(line string) (session.Message, bool)) {
	byQueue, held := g.left()
	for _, jid := range held {
		if !g.release(jid, do) {
			return
		}
	}
	for _, queue := range slices.Sorted(maps.Keys(byQueue)) {
		g.empty(queue, do)
	}
}

// empty fetches from a queue until none of the script's jobs is left in it, or
// nothing comes.
func (g *ledger) empty(queue string, do func(line string) (session.Message, bool)) {
	if strings.ContainsAny(queue, " \t\r\n") || queue == "" {
		return // no FETCH can name it
	}
	for {
		byQueue, _ := g.left()
		if len(byQueue[queue]) == 0 {
			return
		}
		m, ok := do(fwp.FETCH + " " + queue)
		if !ok || fwp.Kind(m.Kind) != fwp.BulkString {
			return
		}
		if jid, _ := jobOf(m.Text); !g.release(jid, do) {
			return
		}
	}
}

// release acknowledges a job of the script, and gives back any other.
func (g *ledger) release(jid string, do func(line string) (session.Message, bool)) bool {
	quoted, err := json.Marshal(jid)
	if err != nil {
		return false
	}
	line := fmt.Sprintf(`%s {"jid":%s}`, fwp.ACK, quoted)
	if g.foreign(jid) {
		line = fmt.Sprintf(`%s {"jid":%s,"errtype":"fwpcheck","message":"fetched by a check, given back","backtrace":[]}`,
			fwp.FAIL, quoted)
	}
	_, ok := do(line)
	return ok
}

// Leftover names the jobs that are still there.
func (g *ledger) Leftover() []string {
	byQueue, held := g.left()
	words := slices.Clone(held)
	for _, jid := range g.dead() {
		words = append(words, jid+" among the dead jobs")
	}
	for _, queue := range slices.Sorted(maps.Keys(byQueue)) {
		for _, jid := range byQueue[queue] {
			words = append(words, fmt.Sprintf("%s in queue %s", jid, queue))
		}
	}
	return words
}
