package workqsubject

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/conformance/workqsuite"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/session/workqsession"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/workqdialect"
	"github.com/fwpsuite/fwp/workq"
)

// state is that of a job.
type state uint8

const (
	ready state = iota
	leased
	completed
	failed
	scheduled
	deleted
)

// identified is the state of each connection, by the name that reports have for one that is served: Workq knows no
// introduction.
const identified = "identified"

// job is what a law knows of a job.
type job struct {
	workq.Command
	state           state
	attempts, fails uint64
	result          []byte
}

// workqLaw is the state machine of Workq's commands. Leases last longer than an exploration, so that no reply depends on
// time. What the document leaves open ends the judging of the job and of its queue.
type workqLaw struct {
	prefix string
	conns  map[int]*conn
	jobs   map[string]*job // by id
	order  []string        // the ids of jobs in the order in which they were sent
	open   map[string]bool // names of queues about which nothing is known any more
}

// conn is one connection.
type conn struct {
	asked     workq.Command
	malformed bool
	bytes     []byte
}

func newLaw(t law.Terms) *workqLaw {
	return &workqLaw{prefix: t.Prefix, conns: map[int]*conn{}, jobs: map[string]*job{}, open: map[string]bool{}}
}

func (l *workqLaw) Open(number int, _ time.Time)           { l.conns[number] = &conn{} }
func (*workqLaw) Introduce(int, *scenarios.Connect) string { return "" }
func (*workqLaw) Shut(int)                                 {}
func (*workqLaw) State(int) string                         { return identified }
func (*workqLaw) Heartbeat(int, time.Time) string          { return "" }
func (*workqLaw) Value(int, string) string                 { return "" }
func (*workqLaw) Operated(scenarios.Need, string, string)  {}
func (*workqLaw) Escapes(...[]byte) bool                   { return false } // ids and names are those of the play
func (l *workqLaw) known(id string) bool                   { return l.jobs[id] != nil && l.jobs[id].state != deleted }
func (l *workqLaw) inQueue(name string, s state) (all []*job) {
	for _, id := range slices.Sorted(maps.Keys(l.jobs)) {
		if j := l.jobs[id]; j.Name() == name && j.state == s {
			all = append(all, j)
		}
	}
	return all
}

// Unjudge ends the judging of a job, of all if it is empty.
func (l *workqLaw) Unjudge(id string) {
	for _, j := range l.jobs {
		if id == "" || j.ID == id {
			l.open[j.Name()] = true
		}
	}
}

// Close is a breach if the server ended the connection, unless the last command was malformed.
func (l *workqLaw) Close(number int, byServer bool, _ time.Time) *law.Violation {
	c := l.conns[number]
	delete(l.conns, number)
	if !byServer || c != nil && c.malformed {
		return nil
	}
	return &law.Violation{
		Clause: "WORKQ-LINE-10", Rule: explore.RuleClosed, Expected: "an open connection", Got: "<close>",
	}
}

// Clause returns the clause that is broken by what the player itself sees.
func (*workqLaw) Clause(rule string) string {
	kind, detail, _ := strings.Cut(rule, ":")
	switch kind {
	case explore.RuleGrammar:
		return workqsuite.Protocol().ClauseOf("grammar:" + detail)
	case explore.RuleCut:
		return "WORKQ-LINE-01"
	case explore.RuleCrash:
		return "WORKQ-LINE-10"
	}
	return "WORKQ-LINE-07"
}

// Sent reads a command. What is more or less than one is not judged.
func (l *workqLaw) Sent(number int, all []byte, _ bool, _ time.Time) law.Sent {
	c := l.conns[number]
	asked, n, err := workq.ParseCommand(all)
	c.asked, c.bytes, c.malformed = asked, bytes.Clone(all), err != nil
	c.asked.Block = bytes.Clone(asked.Block)
	if id := asked.ID; id != "" && !slices.Contains(l.order, id) {
		l.order = append(l.order, id)
	}
	if errors.Is(err, workq.ErrShort) || n > 0 && n < len(all) {
		l.Unjudge("")
		c.malformed = true
		return law.Sent{Owed: -2}
	}
	return law.Sent{Clause: "WORKQ-" + clauses[asked.Verb], Owed: 1, Judged: true}
}

var clauses = map[string]string{
	workq.Add: "ADD-01", workq.Schedule: "SCHED-01", workq.Lease: "LEASE-01", workq.Complete: "DONE-01",
	workq.Fail: "FAIL-01", workq.Delete: "DEL-01", workq.Result: "RESULT-01", workq.InspectJob: "INSP-01",
	workq.InspectJobs: "INSP-06", workq.InspectScheduled: "INSP-09", workq.InspectQueue: "INSP-10",
	workq.InspectQueues: "INSP-13", workq.InspectServer: "INSP-12", "": "ERR-01",
}

// ruling is what a reply may be, and what follows from it.
type ruling struct {
	clause, rule string
	expected     string // as an S: line; empty: anything
	fits         bool
	then         func()
}

// Came judges a reply, and follows what it means.
func (l *workqLaw) Came(number int, m session.Message, _ time.Time) law.Answer {
	c := l.conns[number]
	got := workqdialect.Dialect{}.Text(m)
	a := law.Answer{
		Reply: true, Judged: true, Over: c.malformed, Verb: c.asked.Verb, State: identified, Pattern: pattern(m),
		Normal: l.normal(m), Job: l.cameJob(m),
		Outcome: cmp.Or(c.asked.Verb, "malformed") + " " + identified + ": " + string(rune(m.Kind)),
	}
	r := l.ruling(c, m)
	if !r.fits && r.expected != "" {
		a.Violation = &law.Violation{
			Clause: "WORKQ-" + r.clause, Rule: cmp.Or(r.rule, r.clause), JID: c.asked.ID, Expected: r.expected, Got: got,
		}
		a.Over = true
		l.Unjudge("")
		return a
	}
	if r.then != nil {
		r.then()
	}
	return a
}

// pattern is a reply as an S: line, without what differs from play to play.
func pattern(m session.Message) string {
	if m.Kind != workqsession.OK {
		return strings.SplitN(workqdialect.Dialect{}.Text(m), " ", 2)[0]
	}
	if len(m.Parts) == 0 {
		return "+OK"
	}
	words := []string{"+OK", string(m.Parts[0])}
	if shape, _ := workqsession.ShapeOf(m); shape == workqsession.Leased || shape == workqsession.Result {
		words = append(words, string(m.Parts[1]))
	}
	return strings.Join(append(words, "..."), " ")
}

// is returns a ruling that a reply is of a kind, and one of the usual ones.
func is(m session.Message, clause, expected string, kind byte, then func()) ruling {
	return ruling{clause: clause, expected: expected, fits: m.Kind == kind, then: then}
}

func notThere(m session.Message, clause string) ruling {
	return is(m, clause, "-NOT-FOUND", workqsession.NotFound, nil)
}

// ruling returns what the reply to the command of a connection may be.
func (l *workqLaw) ruling(c *conn, m session.Message) ruling {
	j := l.jobs[c.asked.ID]
	isOpen := func(name string) bool { return l.open[name] }
	switch {
	case c.malformed:
		return is(m, "ERR-01", "-CLIENT-ERROR", workqsession.ClientError, nil)
	case workqdialect.Dialect{}.Foreign(c.bytes, m):
		clause := strings.TrimPrefix(foreign(c.asked.Verb), "WORKQ-")
		return ruling{clause: clause, rule: "foreign", expected: "+OK | -CLIENT-ERROR"}
	case j != nil && isOpen(j.Name()), slices.ContainsFunc(c.asked.Names, isOpen):
		l.unruled(c.asked, m)
		return ruling{}
	}
	if rule := rulings[c.asked.Verb]; rule != nil {
		return rule(l, c.asked, m)
	}
	return l.inspected(c.asked, m)
}

// rulings has what the replies to the commands may be that do not only inspect.
var rulings = map[string]func(l *workqLaw, c workq.Command, m session.Message) ruling{
	workq.Add: (*workqLaw).added, workq.Schedule: (*workqLaw).added, workq.Lease: (*workqLaw).leased,
	workq.Complete: (*workqLaw).finished, workq.Fail: (*workqLaw).finished, workq.Delete: (*workqLaw).deleted,
	workq.Result: (*workqLaw).resulted, workq.InspectJob: (*workqLaw).inspectedJob,
}

// unruled follows a command about a queue of which nothing is known: any reply may come.
func (l *workqLaw) unruled(c workq.Command, m session.Message) {
	switch {
	case c.Verb == workq.Add, c.Verb == workq.Schedule:
		l.open[c.Name()] = true
		if !l.known(c.ID) {
			l.jobs[c.ID] = &job{Command: c}
		}
	case c.Verb == workq.Lease && m.Kind == workqsession.OK: // of whatever queue
		l.open[string(m.Parts[2])] = true
	}
}

// deleted judges delete.
func (l *workqLaw) deleted(c workq.Command, m session.Message) ruling {
	if !l.known(c.ID) {
		return notThere(m, "DEL-03")
	}
	return is(m, "DEL-01", "+OK", workqsession.OK, func() { l.jobs[c.ID].state = deleted })
}

// resulted judges result.
func (l *workqLaw) resulted(c workq.Command, m session.Message) ruling {
	if !l.known(c.ID) {
		return notThere(m, "RESULT-04")
	}
	return l.jobs[c.ID].ended(m)
}

// inspectedJob judges inspect job.
func (l *workqLaw) inspectedJob(c workq.Command, m session.Message) ruling {
	if !l.known(c.ID) {
		return notThere(m, "INSP-05")
	}
	return l.inspected(c, m)
}

// foreign is the clause of a reply that a command does not have.
func foreign(verb string) string {
	word, _, _ := strings.Cut(verb, " ")
	return workqsuite.Protocol().ClauseOf("foreign-reply:" + word)
}

// added judges add and schedule. (WQ-AMB-02: a second one may be answered in any way, and adds nothing)
func (l *workqLaw) added(c workq.Command, m session.Message) ruling {
	switch {
	case l.known(c.ID):
		return ruling{}
	case l.jobs[c.ID] != nil: // whether a deleted id may come again is open
		l.jobs[c.ID], l.open[c.Name()] = &job{Command: c}, true
		return ruling{}
	}
	j := &job{Command: c}
	if c.Verb == workq.Schedule {
		j.state = scheduled
	}
	return is(m, clauses[c.Verb], "+OK", workqsession.OK, func() { l.jobs[c.ID] = j })
}

// candidates are the jobs of the highest priority in each of the queues of a lease.
func (l *workqLaw) candidates(c workq.Command) (may []*job) {
	for _, name := range c.Names {
		waiting := l.inQueue(name, ready)
		top := slices.MaxFunc(append(waiting, &job{Command: workq.Command{Priority: workq.MinPriority - 1}}),
			func(a, b *job) int { return cmp.Compare(a.Priority, b.Priority) }).Priority
		for _, j := range waiting {
			if j.Priority == top {
				may = append(may, j)
			}
		}
	}
	return may
}

// leased judges lease: the jobs of the highest priority in one of its queues may come.
func (l *workqLaw) leased(c workq.Command, m session.Message) ruling {
	may := l.candidates(c)
	if len(may) == 0 {
		r := is(m, "LEASE-08", "-TIMEOUT", workqsession.Timeout, nil)
		if m.Kind == workqsession.OK {
			r.clause = l.insteadOf(string(m.Parts[1]), c)
		}
		return r
	}
	var lines []string
	for _, j := range may {
		lines = append(lines, fmt.Sprintf("+OK 1 %s %s %d %d %q", j.ID, j.Name(), j.TTR, len(j.Block), j.Block))
	}
	r := ruling{clause: "ADD-02", expected: strings.Join(lines, " | ")}
	if m.Kind != workqsession.OK {
		if len(c.Names) > 1 {
			r.clause = "LEASE-02"
		}
		return r
	}
	i := slices.IndexFunc(may, func(j *job) bool { return j.ID == string(m.Parts[1]) })
	if i < 0 {
		r.clause = l.insteadOf(string(m.Parts[1]), c)
		return r
	}
	j := may[i]
	switch {
	case string(m.Parts[2]) != j.Name():
		r.clause = "LEASE-02"
	case string(m.Parts[3]) != strconv.FormatUint(j.TTR, 10):
		r.clause = "LEASE-01"
	case !bytes.Equal(m.Parts[5], j.Block):
		r.clause = "ADD-10"
	default:
		r.fits, r.then = true, func() { j.state, j.attempts = leased, j.attempts+1 }
	}
	return r
}

// insteadOf is the clause that is broken by a job that comes and must not.
func (l *workqLaw) insteadOf(id string, c workq.Command) string {
	j := l.jobs[id]
	switch {
	case j == nil, !slices.Contains(c.Names, j.Name()):
		return "LEASE-02"
	case j.state == ready:
		return "ADD-15"
	}
	return map[state]string{
		leased: "LEASE-08", completed: "DONE-02", deleted: "DEL-02", scheduled: "SCHED-02", failed: "ADD-22",
	}[j.state]
}

// finished judges complete and fail. What is answered for a job that no worker has is open.
func (l *workqLaw) finished(c workq.Command, m session.Message) ruling {
	j := l.jobs[c.ID]
	failing := c.Verb == workq.Fail
	switch {
	case !l.known(c.ID) && failing:
		return notThere(m, "FAIL-02")
	case !l.known(c.ID):
		return notThere(m, "DONE-04")
	case j.state != leased:
		l.Unjudge(c.ID)
		return ruling{}
	case failing && j.MaxAttempts > 0 && j.attempts >= j.MaxAttempts && j.fails+1 < j.MaxFails:
		l.Unjudge(c.ID) // which of the two limits counts is open
	}
	return is(m, clauses[c.Verb], "+OK", workqsession.OK, func() {
		switch {
		case !failing:
			j.state, j.result = completed, c.Block
		case j.fails+1 < j.MaxFails:
			j.state, j.fails = ready, j.fails+1
		default:
			j.state, j.result, j.fails = failed, c.Block, j.fails+1
		}
	})
}

// ended judges the result of a job.
func (j *job) ended(m session.Message) ruling {
	word, clause := "1", "RESULT-01"
	switch j.state {
	case failed:
		word, clause = "0", "RESULT-05"
	case completed:
	default:
		return is(m, "RESULT-03", "-TIMEOUT", workqsession.Timeout, nil)
	}
	return ruling{
		clause: clause, expected: fmt.Sprintf("+OK 1 %s %s %d %q", j.ID, word, len(j.result), j.result),
		fits: m.Kind == workqsession.OK && string(m.Parts[2]) == word && bytes.Equal(m.Parts[4], j.result),
	}
}
