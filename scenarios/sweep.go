package scenarios

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/session/fwpsession"
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

// note follows a command that was answered.
func (g *ledger) note(cmd fwp.Command, r fwp.Reply) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.jobs == nil {
		g.jobs = map[string]entry{}
	}
	switch {
	case cmd.Verb == fwp.FETCH && r.Kind == fwp.BulkString:
		jid, e := jobOf(r.Text)
		known, ours := g.jobs[jid]
		if ours {
			e = known
		}
		e.held, e.foreign = true, !ours
		g.jobs[jid] = e
	case r.Kind != fwp.SimpleString:
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
	value, _ := parseJSON(text) // what is no JSON has no jid
	fields, _ := value.(map[string]any)
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

// foreign reports whether a job was fetched that somebody else has pushed.
func (g *ledger) foreign(jid string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.jobs[jid].foreign
}

// sweep removes what the script has left on the server, with a consumer of its
// own, and tells what it could not remove. It fetches from the script's queues
// only. A job of somebody else's that was fetched, which can only happen in a
// queue that others use too, is given back with a FAIL.
func (pl *play) sweep(ctx context.Context) []string {
	byQueue, held := pl.ledger.left()
	if len(byQueue) == 0 && len(held) == 0 || pl.dead != "" {
		return pl.leftWords()
	}
	limit := pl.Timeout
	if ctx.Err() != nil { // somebody waits for the end
		limit = min(limit, time.Second)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	pl.rec.add(time.Now(), "sweep", "--", "removing the jobs that the script has left", Pos{})
	l := &lane{play: pl, scope: pl.scope.child()}
	l.scope.ownFresh(widName())
	c := l.sweeper(ctx)
	if c == nil {
		return pl.leftWords()
	}
	defer c.leave(ctx)
	for _, jid := range held {
		if !l.release(ctx, c, jid) {
			return pl.leftWords()
		}
	}
	for _, queue := range slices.Sorted(maps.Keys(byQueue)) {
		l.empty(ctx, c, queue)
	}
	return pl.leftWords()
}

// sweeper is a consumer's connection, or nil. It is asked for again and again,
// because the server may be at its limit of connections for a moment.
func (l *lane) sweeper(ctx context.Context) *conn {
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		c, err := l.play.dial(ctx, "sweep")
		if err == nil {
			if c.role, err = Consumer, l.greet(ctx, c); err == nil {
				return c
			}
			c.leave(ctx)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
	}
}

// empty fetches from a queue until none of the script's jobs is left in it, or
// nothing comes.
func (l *lane) empty(ctx context.Context, c *conn, queue string) {
	if strings.ContainsAny(queue, " \t\r\n") || queue == "" {
		return // no FETCH can name it
	}
	for {
		byQueue, _ := l.ledger.left()
		if len(byQueue[queue]) == 0 {
			return
		}
		r, ok := l.command(ctx, c, fwp.FETCH+" "+queue)
		if !ok || r.Kind != fwp.BulkString {
			return
		}
		if jid, _ := jobOf(r.Text); !l.release(ctx, c, jid) {
			return
		}
	}
}

// release acknowledges a job of the script, and gives back any other.
func (l *lane) release(ctx context.Context, c *conn, jid string) bool {
	quoted, err := marshal(jid)
	if err != nil {
		return false
	}
	line := fmt.Sprintf(`%s {"jid":%s}`, fwp.ACK, quoted)
	if l.ledger.foreign(jid) {
		line = fmt.Sprintf(`%s {"jid":%s,"errtype":"fwpcheck","message":"fetched by a check, given back","backtrace":[]}`, fwp.FAIL, quoted)
	}
	_, ok := l.command(ctx, c, line)
	return ok
}

// command sends a line that no script has, and keeps the ledger.
func (l *lane) command(ctx context.Context, c *conn, line string) (fwp.Reply, bool) {
	c.says(line)
	if c.Ended() != Open || c.Write(ctx, [][]byte{[]byte(line + "\r\n")}, 0) != nil {
		return fwp.Reply{}, false
	}
	_, sent := c.LastWrite()
	a, ok := c.Take(ctx, sent.Add(l.Timeout))
	if !ok || !a.Whole() {
		return fwp.Reply{}, false
	}
	reply := fwpsession.Reply(a.Message)
	l.ledger.note(fwp.SplitCommand([]byte(line)), reply)
	return reply, true
}

// leftWords names the jobs that are still there.
func (pl *play) leftWords() []string {
	byQueue, held := pl.ledger.left()
	words := slices.Clone(held)
	for _, jid := range pl.ledger.dead() {
		words = append(words, jid+" among the dead jobs")
	}
	for _, queue := range slices.Sorted(maps.Keys(byQueue)) {
		for _, jid := range byQueue[queue] {
			words = append(words, fmt.Sprintf("%s in queue %s", jid, queue))
		}
	}
	return words
}
