package explore

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/scenarios"
)

// lane is one client of a crowd: one goroutine, with one connection after the other.
type lane struct {
	*crowd
	*rand.Rand
	p       *play // of its connections alone; it judges greetings, BEATs and the ends of connections
	c       *conn // nil while there is none
	log     *history.Lane
	returns int  // how often it came back after the server had sent it away
	mute    bool // it was not answered, and waits for nothing more
	sent    lastWords
	wid     string
	beaten  time.Time
}

// newLane makes a client. Its number is what its choices follow from.
func (m *crowd) newLane(number int) *lane {
	random := rand.New(rand.NewPCG(m.Seed, uint64(number))) //nolint:gosec // a small number
	return &lane{crowd: m, Rand: random, p: newPlay(m.config, m.prefix)}
}

// enter opens a connection, as a worker if there is a number for its wid, and says
// whether it was let in.
func (l *lane) enter(ctx context.Context, worker int) bool {
	number := int(l.opened.Add(1))
	step := Step{Kind: Open, Conn: number, Role: scenarios.Producer}
	l.wid, l.beaten = "", time.Now()
	if worker > 0 {
		step.Role, step.Worker = scenarios.Consumer, worker
		l.wid = fmt.Sprintf("%s-wid%d", l.prefix, worker)
	}
	l.p.do(ctx, &step)
	if l.c = l.p.conns[number]; l.c == nil {
		return false
	}
	l.log = l.rec.Lane(number, l.wid)
	return true
}

// sentAway is how often a client comes back that the server has sent away.
const sentAway = 3

// again comes back after the server has ended the connection.
func (l *lane) again(ctx context.Context, worker int) bool {
	if l.returns++; l.returns > sentAway || l.mute || l.p.dead || ctx.Err() != nil {
		return false
	}
	return l.enter(ctx, worker)
}

// call sends one command and records it with its answer. The job is that which a FETCH
// brought; ok means that there was an answer.
func (l *lane) call(ctx context.Context, e history.Event, text string) (r fwp.Reply, job brought, ok bool) {
	l.count()
	l.p.poll(ctx) // what came without being asked for, or the end
	if l.c == nil || l.p.conns[l.c.number] != l.c {
		return r, job, false
	}
	pending := l.log.Call(e)
	l.send(text)
	r, at, ok := l.answer(ctx)
	if ok {
		job = noted(pending, r, at)
	}
	return r, job, ok
}

// asks sends a command that is no part of the history, and of whose answer nothing is
// judged but that it comes.
func (l *lane) asks(ctx context.Context, text string) (r fwp.Reply, ok bool) {
	if l.p.poll(ctx); l.p.conns[l.c.number] != l.c {
		return r, false
	}
	l.send(text)
	r, _, ok = l.answer(ctx)
	return r, ok
}

// count counts a command, and tells of every few.
func (l *lane) count() {
	const every = 256
	if n := l.asked.Add(1); n%every == 0 && l.Progress != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.Progress(int(n), nil)
	}
}

// send writes a line. Why nothing can be written shows when the answer is read.
func (l *lane) send(text string) {
	l.sent = lastWords{conn: l.c.number, text: text}
	l.c.awaited, l.c.owed = text, 1
	l.c.nc.SetWriteDeadline(time.Now().Add(l.config.timeout))
	_, _ = l.c.nc.Write([]byte(text + "\r\n"))
}

// answer awaits the answer to what was sent; false means that none came.
func (l *lane) answer(ctx context.Context) (fwp.Reply, time.Time, bool) {
	c := l.c
	timer := time.NewTimer(l.config.timeout)
	defer timer.Stop()
	select {
	case a := <-c.arrivals:
		if a.err != nil {
			l.p.over(ctx, c, a)
			return fwp.Reply{}, a.at, false
		}
		c.owed, l.sent.answered = 0, true
		if a.more > 0 {
			got := fmt.Sprintf("%d bytes more", a.more)
			l.p.violated(c, l.p.violation(RuleExtra, "one reply", got))
		}
		return a.reply, a.at, true
	case <-timer.C:
		l.p.silent(ctx, c)
		l.mute = true
	case <-ctx.Done():
	}
	return fwp.Reply{}, time.Time{}, false
}

// beat tells the server that a worker is there, if that is due. (BEAT)
func (l *lane) beat(ctx context.Context) {
	const every = 15 * time.Second
	if l.c != nil && l.wid != "" && time.Since(l.beaten) > every {
		l.beaten = time.Now()
		l.judged(ctx, fmt.Sprintf(`BEAT {"wid":%q}`, l.wid))
	}
}

// judged sends a command whose answer is judged by itself, and is no part of the history.
func (l *lane) judged(ctx context.Context, text string) {
	begun := time.Now()
	l.sent = lastWords{conn: l.c.number, text: text}
	l.p.do(ctx, &Step{Kind: Send, Conn: l.c.number, Segments: []string{text}})
	l.sent.answered = l.p.conns[l.c.number] == l.c
	l.mute = l.mute || !l.sent.answered && time.Since(begun) >= l.config.timeout
	l.p.seen = nil // it may go on for long
}

// leave ends the client.
func (l *lane) leave() {
	l.p.close()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.p.dead {
		l.dead = true
		l.last = append(l.last, l.sent)
	}
	for _, f := range l.p.found {
		l.others[f.Rule+" "+f.Clause] = f
	}
}

func (l *lane) queueName(queue int) string { return fmt.Sprintf("%s-queue%d", l.prefix, queue) }

func (l *lane) names(queues []int) []string {
	var all []string
	for _, q := range queues {
		all = append(all, l.queueName(q))
	}
	return all
}

// brought is what a FETCH brought; without a jid, nothing.
type brought struct{ jid, queue, body string }

// noted takes down the answer to a call.
func noted(call history.Pending, r fwp.Reply, at time.Time) brought {
	job := broughtBy(r)
	switch {
	case r.Kind == fwp.ErrorReply:
		call.ReturnAt(at, history.Refused)
	case r.Kind == fwp.NullBulk:
		call.ReturnAt(at, history.Empty)
	case job.jid != "":
		call.DeliveredAt(at, job.jid, job.queue, job.body)
	default:
		call.ReturnAt(at, history.OK)
	}
	return job
}

// broughtBy is the job in a reply.
func broughtBy(r fwp.Reply) brought {
	var job struct {
		JID, Queue, JobType string
		Args                json.RawMessage
	}
	if r.Kind != fwp.BulkString || json.Unmarshal(r.Text, &job) != nil || job.JID == "" {
		return brought{}
	}
	return brought{job.JID, job.Queue, content(job.JobType, job.Args)}
}
