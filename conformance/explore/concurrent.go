package explore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/conformance/oracle"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/scenarios"
)

// Crowd plays producers and workers side by side and judges the whole history. Target
// must be set; the zero value of everything else works. A Crowd is used once.
type Crowd struct {
	Explorer             // Steps counts commands, 3,000 if it and Time are zero; Connections the clients that are not producers
	Producers   int      // 2 if zero
	FailOne     int      // of how many jobs one fails; none if zero, because it takes its time to come back
	QueuesAtAll int      // 4 if zero
	Known       []string // clauses of which nothing more needs to be told

	// Recorded is told of a history that shows something wrong before that is made
	// small, so that it can be saved at once; may be nil.
	Recorded func(*history.History, []history.Finding)
}

// History is what a crowd has brought.
type History struct {
	*history.History
	Report   history.Report
	Findings []Finding
	Commands int
	Took     time.Duration
	Left     []string // jobs of which nobody knows what became of them
	Dead     bool     // the server serves no more
}

// Run plays, drains, judges and makes small what it found. It blocks.
func (c *Crowd) Run(ctx context.Context) *History {
	m := &crowd{Crowd: c, config: c.config(), rec: history.NewRecorder(), prefix: freshPrefix()}
	begin := time.Now()
	workers, producers := c.Connections, c.Producers
	orInt(&workers, 8)
	orInt(&producers, 2)
	orInt(&c.QueuesAtAll, 4)
	steps := m.Steps
	if orInt(&steps, 3000); m.Steps == 0 && m.Time > 0 {
		steps = most
	}
	m.Steps, m.begun = steps, begin
	var pushing, working sync.WaitGroup
	for i := range producers {
		pushing.Go(func() { m.produce(ctx, i, m.Steps/3/producers) })
	}
	done := make(chan struct{})
	for i := range workers {
		working.Go(func() { m.work(ctx, producers+i, done) })
	}
	pushing.Wait()
	close(done)
	working.Wait()
	h := &History{History: m.rec.History()}
	h.Drained = m.drained && ctx.Err() == nil
	h.Report = history.Examine(h.History)
	for _, u := range h.Report.Undecided {
		h.Left = append(h.Left, u.JID)
	}
	h.Commands = len(h.Events)
	m.findings(ctx, h)
	h.Took = time.Since(begin)
	return h
}

// most is how many commands a crowd sends at all, since all that it did is kept.
const most = 1_000_000

func orInt(n *int, other int) {
	if *n == 0 {
		*n = other
	}
}

// crowd is one run of a Crowd.
type crowd struct {
	*Crowd
	config  *config
	rec     *history.Recorder
	prefix  string
	begun   time.Time
	asked   atomic.Int64
	mu      sync.Mutex
	others  map[string]found // breaches that are not about jobs, by rule and clause
	drained bool
	dead    bool
}

// lane is one client.
type lane struct {
	*crowd
	*rand.Rand
	p    *play // of this connection alone
	c    *conn
	log  *history.Lane
	wid  string
	done int
}

// enter opens the connection of a client.
func (m *crowd) enter(ctx context.Context, number int, worker bool) *lane {
	l := &lane{crowd: m, p: newPlay(m.config, m.prefix), Rand: rand.New(rand.NewPCG(m.Seed, uint64(number)+1))}
	step := Step{Kind: Open, Conn: number, Role: scenarios.Producer}
	if worker {
		step.Role, step.Worker = scenarios.Consumer, number
		l.wid = fmt.Sprintf("%s-wid%d", m.prefix, number)
	}
	l.p.do(ctx, &step)
	if l.c = l.p.conns[number]; l.c == nil {
		m.keep(l.p)
		return nil
	}
	l.log = m.rec.Lane(number, l.wid)
	return l
}

// keep takes over what the play of one connection found by itself.
func (m *crowd) keep(p *play) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dead = m.dead || p.dead
	for _, f := range p.found {
		if f.JID != "" || f.Rule == "missing" || f.Rule == "block" || f.Rule == "unknown" { // the history judges jobs
			continue
		}
		if m.others == nil {
			m.others = map[string]found{}
		}
		m.others[f.Rule+" "+f.Clause] = f
	}
}

// ask sends one command and awaits its answer; false means that none came.
func (l *lane) ask(ctx context.Context, text string) (fwp.Reply, time.Time, bool) {
	if n := l.asked.Add(1); n%256 == 0 && l.Progress != nil {
		l.mu.Lock()
		l.Progress(int(n), newCoverage())
		l.mu.Unlock()
	}
	line := []byte(text + "\r\n")
	l.c.awaited = text
	l.c.nc.SetWriteDeadline(time.Now().Add(l.config.patience))
	if _, err := l.c.nc.Write(line); err != nil {
		return fwp.Reply{}, time.Time{}, false
	}
	timer := time.NewTimer(l.config.patience)
	defer timer.Stop()
	select {
	case a := <-l.c.arrivals:
		if clause := clauseOfRule(a.err); clause != "" {
			l.p.violated(l.c, &oracle.Violation{Clause: clause, Rule: "grammar", Expected: "RESP", Got: a.err.Error()})
		}
		return a.reply, a.at, a.err == nil
	case <-timer.C:
		l.p.silent(ctx, l.c)
	case <-ctx.Done():
	}
	return fwp.Reply{}, time.Time{}, false
}

// leave ends the client.
func (l *lane) leave() {
	l.p.close()
	l.keep(l.p)
}

// produce pushes jobs.
func (m *crowd) produce(ctx context.Context, number, jobs int) {
	l := m.enter(ctx, number, false)
	if l == nil {
		return
	}
	defer l.leave()
	for i := range jobs {
		if m.Time > 0 && time.Since(m.begun) > m.Time {
			return
		}
		jid := fmt.Sprintf("%s-jid%dx%d", m.prefix, number, i)
		queue := l.queue()
		args := fmt.Sprintf(`[%d,"é %d"]`, int64(1)<<53+int64(i), l.IntN(1000))
		e := history.Event{Op: history.Push, JID: jid, Queue: queue, Body: body64("t", []byte(args))}
		text := fmt.Sprintf(`PUSH {"jid":%q,"jobtype":"t","args":%s,"queue":%q`, jid, args, queue)
		if l.IntN(3) > 0 {
			retry := int64(1 + l.IntN(5))
			e.Retry, text = &retry, fmt.Sprintf(`%s,"retry":%d`, text, retry)
		}
		call := l.log.Call(e)
		r, at, ok := l.ask(ctx, text+"}")
		if !ok {
			return
		}
		call.ReturnAt(at, outcome(r))
	}
}

func (l *lane) queue() string { return fmt.Sprintf("%s-queue%d", l.prefix, l.IntN(l.QueuesAtAll)) }

func outcome(r fwp.Reply) history.Outcome {
	switch r.Kind {
	case fwp.ErrorReply:
		return history.Refused
	case fwp.NullBulk:
		return history.Empty
	}
	return history.OK
}

// body64 is a form of the fields that must come back in which equal ones are equal.
func body64(jobtype string, args []byte) string {
	var b bytes.Buffer
	_ = json.Compact(&b, args) // it is JSON
	return jobtype + " " + b.String()
}

// work fetches and reports until the producers are done and the queues are empty.
func (m *crowd) work(ctx context.Context, number int, done <-chan struct{}) {
	l := m.enter(ctx, number, true)
	if l == nil {
		return
	}
	defer func() { l.leave() }()
	failed := 0
	for l.done <= m.Steps && ctx.Err() == nil { // a server may give jobs out for ever
		over := isClosed(done)
		queues := l.Perm(l.QueuesAtAll)
		if !over {
			queues = queues[:1+l.IntN(l.QueuesAtAll)]
		}
		jid, ok := l.fetch(ctx, queues)
		l.done++
		switch {
		case !ok:
			return
		case jid == "" && over:
			m.mu.Lock()
			m.drained = true
			m.mu.Unlock()
			if failed == 0 {
				return
			}
			failed-- // wait once more for what comes back
			if !sleep(ctx, 30*time.Second) {
				return
			}
			continue
		case jid == "":
			continue
		}
		if m.FailOne > 0 && l.IntN(m.FailOne) == 0 && !over {
			failed = 1
			ok = l.report(ctx, history.Fail, jid)
		} else {
			ok = l.report(ctx, history.Ack, jid)
		}
		if !ok {
			return
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// fetch asks for a job; an empty jid means that there was none.
func (l *lane) fetch(ctx context.Context, queues []int) (string, bool) {
	e := history.Event{Op: history.Fetch}
	text := "FETCH"
	for _, q := range queues {
		name := fmt.Sprintf("%s-queue%d", l.prefix, q)
		e.Queues, text = append(e.Queues, name), text+" "+name
	}
	call := l.log.Call(e)
	r, at, ok := l.ask(ctx, text)
	if !ok {
		return "", false
	}
	var job struct {
		JID, Queue, JobType string
		Args                json.RawMessage
	}
	if r.Kind != fwp.BulkString || json.Unmarshal(r.Text, &job) != nil {
		call.ReturnAt(at, outcome(r))
		return "", r.Kind == fwp.NullBulk
	}
	call.DeliveredAt(at, job.JID, job.Queue, "")
	return job.JID, true
}

// report tells what became of a job.
func (l *lane) report(ctx context.Context, op history.Op, jid string) bool {
	call := l.log.Call(history.Event{Op: op, JID: jid})
	text := fmt.Sprintf(`ACK {"jid":%q}`, jid)
	if op == history.Fail {
		text = fmt.Sprintf(`FAIL {"jid":%q,"errtype":"Example","message":"on purpose","backtrace":[]}`, jid)
	}
	r, at, ok := l.ask(ctx, text)
	if ok {
		call.ReturnAt(at, outcome(r))
	}
	return ok
}

// families say in which kind of short conversation a finding of the history may show.
var families = map[string]string{
	"FWP-STATE-05": "delivered", "FWP-ACK-02": "delivered", "FWP-RETRY-03": "delivered", "FWP-RETRY-01": "delivered", "FWP-STATE-06": "delivered",
	"FWP-PUSH-04": "missing", "FWP-PUSH-01": "missing", "FWP-STATE-04": "missing", "FWP-STATE-09": "missing", "FWP-FETCH-04": "swapped", "FWP-RESP-06": "swapped", "FWP-FETCH-01": "swapped",
	"FWP-WU-03": "field", "FWP-WU-04": "field",
}

// findings makes the findings of the history, and those that came up beside it, small.
func (m *crowd) findings(ctx context.Context, h *History) {
	h.Dead = m.dead
	seen := map[string]bool{}
	limit := m.enough()
	if m.Recorded != nil && len(h.Report.Findings) > 0 {
		m.Recorded(h.History, h.Report.Findings)
	}
	for _, f := range h.Report.Findings {
		if seen[f.Clause] || slices.Contains(m.Known, f.Clause) || len(h.Findings) >= limit {
			continue
		}
		seen[f.Clause] = true
		finding := Finding{Number: len(h.Findings) + 1, Clause: f.Clause, Rule: "history", What: f.What, Commands: len(h.Events)}
		m.small(ctx, &finding, families[f.Clause])
		h.Findings = append(h.Findings, finding)
	}
	for _, key := range slices.Sorted(maps.Keys(m.others)) {
		if f := m.others[key]; len(h.Findings) < limit && !slices.Contains(m.Known, f.Clause) {
			finding := Finding{Number: len(h.Findings) + 1, Clause: f.Clause, Rule: f.Rule, Crash: f.crash, Expected: f.Expected, Got: f.Got, What: f.What, Commands: len(h.Events)}
			m.small(ctx, &finding, f.Rule)
			h.Findings = append(h.Findings, finding)
		}
	}
}

// small looks for a short conversation that shows the same.
func (m *crowd) small(ctx context.Context, f *Finding, rule string) {
	if m.Unshrunk || rule == "" || m.dead && m.Fresh == nil || ctx.Err() != nil {
		return
	}
	s := &shrinker{config: m.config, fresh: m.Fresh, limit: m.Shrinking, target: found{Violation: &oracle.Violation{Clause: f.Clause, Rule: rule}, crash: f.Crash}}
	s.shrink(ctx, f)
}
