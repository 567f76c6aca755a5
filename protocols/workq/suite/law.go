package suite

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/protocols/workq"
	workqscript "github.com/fwpsuite/fwp/protocols/workq/script"
	workqsession "github.com/fwpsuite/fwp/protocols/workq/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// connState is the state of each connection, by the name that reports have for one that is served: Workq knows no
// introduction.
const connState = "identified"

// workqLaw is the law of Workq. It follows each job by itself: all ways in which things may stand with it, since what
// time does has no exact moment, and commands that are under way may be carried out in any order.
type workqLaw struct {
	law.Terms
	conns          map[int]*conn
	jobs           map[string]*job // by id
	order          []string        // the ids of jobs in the order in which they were sent
	numbers        map[string]int  // of those, from 1
	pendingCalls   []*call         // commands that are not answered, those of connections that ended too
	callCount      int             // that were sent
	isUnjudged     bool            // there may be jobs of which nothing is known
	startTime      string          // of the server, as inspect has shown it first
	evictedCount   uint64          // jobs, as inspect has shown it last
	evictableCount int             // how many jobs of the play may be among those
	clock          law.Clock       // of the server
	cursors        map[string]cursor
	lastMove       int              // the last command that was sent when jobs may have moved in lists
	tallies        map[string]tally // by habits
	isBiased       bool             // that a habit was followed is known
	readyClauses   map[string]bool  // by which clauses jobs were ready that have come
	takenValues    map[uncommonValue]bool
}

// conn is one connection.
type conn struct {
	calls   []*call // that are not answered
	partial []byte  // of a command that is not complete

	// commands that were sent in one piece with the first of calls: each begins when that one has ended
	pipeline   [][]byte
	splitCount int  // commands of calls that Split has returned, and that are still to be given to Sent
	isLost     bool // where the next command begins is not known

	mayBeClosed bool // by the server
	isServed    bool // a command was answered
}

func newLaw(t law.Terms) *workqLaw {
	return &workqLaw{
		Terms: t, conns: map[int]*conn{}, jobs: map[string]*job{}, numbers: map[string]int{}, cursors: map[string]cursor{},
		tallies: map[string]tally{}, readyClauses: map[string]bool{}, takenValues: map[uncommonValue]bool{},
	}
}

func (*workqLaw) Introduce(int, *scenarios.Connect) string { return "" }
func (*workqLaw) State(int) string                         { return connState }
func (*workqLaw) Heartbeat(int, time.Time) string          { return "" }
func (*workqLaw) Value(int, string) string                 { return "" }
func (*workqLaw) Escapes(...[]byte) bool                   { return false } // ids and names are those of the play

// Open implements [law.Law].
func (l *workqLaw) Open(number int, _ time.Time) {
	l.conns[number] = &conn{}
	l.History.AddConns(1)
}

// HalfClose records that a client has closed its half of a connection: the server may end the other one.
func (l *workqLaw) HalfClose(number int) { l.conns[number].mayBeClosed = true }

// Operated ends the judging of all jobs: nothing is promised of them behind a restart.
func (l *workqLaw) Operated(target.Action, string) {
	l.StopJudging("")
	l.startTime, l.evictedCount, l.evictableCount = "", 0, 0
}

// StopJudging ends the judging of a job, of all if it is empty.
func (l *workqLaw) StopJudging(id string) {
	l.isUnjudged = l.isUnjudged || id == ""
	for _, j := range l.jobs {
		if id == "" || j.ID == id {
			j.unjudge()
		}
	}
}

// Close is a breach if the server ended the connection, unless the last command was malformed. What was not answered
// may be carried out at any time, or never.
func (l *workqLaw) Close(number int, byServer bool, _ time.Time) *law.Violation {
	c := l.conns[number]
	delete(l.conns, number)
	if c != nil {
		l.History.AddConns(-1)
		for len(c.pipeline) > 0 && len(c.calls) > 0 { // of a piece
			l.beginNext(c, c.calls[0])
		}
	}
	if !byServer || c == nil || c.isLost || c.mayBeClosed || len(c.partial) > 0 {
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
		return ClauseOf("grammar:" + detail)
	case explore.RuleCut:
		return "WORKQ-LINE-01"
	case explore.RuleCrash:
		return "WORKQ-LINE-10"
	}
	return "WORKQ-LINE-07"
}

// Split implements [law.Splitter].
func (l *workqLaw) Split(number int, all []byte, at time.Time) (commands [][]byte) {
	c := l.conns[number]
	for c.partial = append(slices.Clip(c.partial), all...); len(c.partial) > 0; {
		_, n, err := workq.ParseCommand(c.partial)
		if errors.Is(err, workq.ErrShort) && !c.isLost {
			return commands
		}
		if n == 0 || c.isLost {
			n = len(c.partial)
		}
		commands = append(commands, c.partial[:n:n])
		if !c.isLost {
			l.begin(c, c.partial[:n:n], at)
			c.splitCount++
		}
		c.partial = c.partial[n:]
	}
	return commands
}

// Sent reads a command. What is more or less than one is not judged.
func (l *workqLaw) Sent(number int, all []byte, _ bool, at time.Time) law.Sent {
	c := l.conns[number]
	if c.splitCount > 0 {
		c.splitCount--
		return law.Sent{DueReplies: 1, IsJudged: true}
	}
	if commands := splitCommands(all); len(commands) > 1 && !c.isLost {
		c.pipeline = commands[1:]
		l.begin(c, commands[0], at)
		return law.Sent{Clause: prefix + "LINE-01", DueReplies: len(commands), IsJudged: true}
	}
	command, n, err := workq.ParseCommand(all)
	if c.isLost || errors.Is(err, workq.ErrShort) || n > 0 && n < len(all) && (err == nil || !isMeaningless(all[n:])) {
		l.StopJudging("")
		l.recordLapses(all, at)
		c.calls, c.isLost = []*call{{Command: command, isMalformed: true}}, true
		return law.Sent{DueReplies: -2}
	}
	l.begin(c, bytes.Clone(all), at)
	return law.Sent{Clause: prefix + commandClauses[command.Verb], DueReplies: 1, IsJudged: true}
}

// splitCommands returns the commands that bytes are, nil if they are anything else.
func splitCommands(all []byte) (commands [][]byte) {
	all = bytes.Clone(all)
	for len(all) > 0 {
		_, n, err := workq.ParseCommand(all)
		if err != nil {
			return nil
		}
		commands, all = append(commands, all[:n:n]), all[n:]
	}
	return commands
}

// isMeaningless reports whether what stands behind a malformed line cannot be a command.
func isMeaningless(rest []byte) bool {
	_, _, err := workq.ParseCommand(rest)
	return err != nil && !errors.Is(err, workq.ErrShort)
}

// begin records a command that is sent now.
func (l *workqLaw) begin(c *conn, all []byte, at time.Time) {
	command, _, err := workq.ParseCommand(all)
	l.callCount++
	k := &call{
		Command: command, number: l.callCount, bytes: all, isMalformed: err != nil, badPart: wrongPart(err), sentAt: at,
		isPipelined: len(c.calls) > 0,
	}
	c.isLost = c.isLost || err != nil && bytes.Count(all, []byte("\n")) > 1
	c.mayBeClosed = c.mayBeClosed || err != nil
	c.calls, l.pendingCalls = append(c.calls, k), append(l.pendingCalls, k)
	if id := k.ID; id != "" && l.numbers[id] == 0 {
		l.order = append(l.order, id)
		l.numbers[id] = len(l.order)
	}
	l.clearCursors(k)
	switch {
	case c.isLost:
		l.recordLapses(all, at)
	case k.isMalformed:
		k.lapseKeys = l.recordLapses(all, at)
	case k.addsJob():
		l.addJob(k, at)
	}
}

// addJob follows what a command means for the job that it adds.
func (l *workqLaw) addJob(k *call, at time.Time) {
	j := l.jobs[k.ID]
	isAlone := j != nil && !slices.ContainsFunc(l.pendingCalls, func(o *call) bool { return o != k && o.concerns(j) })
	if j != nil {
		j.secondPayload = k.Block
		j.follow(nil, l.callCount, at) // its time to live may be over
	}
	if isAlone { // no reply to another command may say what it was
		j.prune(at)
	}
	key := fmt.Sprint(l.NamePrefix, k.number)
	k.lapseKeys = []string{key}
	l.History.SetLapse(key, k.lapse())
	switch {
	case j == nil:
		l.jobs[k.ID] = &job{Command: k.Command, possibleStates: []possibleState{{}}, clock: &l.clock, sentAt: at,
			lapseKey: key}
		if l.isUnjudged {
			l.jobs[k.ID].unjudge()
		}
	case j.isAlways(possibleState.isRemoved), isAlone && j.isAlways(possibleState.isGone): // no job has the id any more
		*j = job{Command: k.Command, possibleStates: j.possibleStates, clock: &l.clock, sentAt: at, lapseKey: key}
	case j.isAlways(func(c possibleState) bool { return c.state == deleted }): // whether it is gone is not seen
		j.Command = k.Command
		j.unjudge()
	case j.mayBe(absent), j.mayBe(deleted): // which of the two is the first one, or whether there is one, is not known
		l.isUnjudged = true
		j.unjudge()
	}
}

// ruling is what a reply may be. The zero value allows any.
type ruling struct {
	clause, rule string
	expected     string // as an S: line
	got          string // if it is not the whole reply
	job          string // that it is about
	detail       string // where expected does not say it all
	window       [2]time.Duration
	isTimed      bool   // a span of time is the premise
	queue        string // whose counters it is about
}

// violation returns what a reply breaks that is not as ruled.
func (r *ruling) violation(k *call, m session.Message) *law.Violation {
	v := &law.Violation{
		Clause: prefix + r.clause, Rule: r.rule, JID: cmp.Or(r.job, k.ID), Expected: r.expected,
		Got: cmp.Or(r.got, workqscript.Dialect{}.Text(m)), Detail: r.detail, Window: r.window,
		Place: cmp.Or(k.Verb, "malformed") + ": " + pattern(m),
	}
	if field, _, ok := strings.Cut(r.got, ": "); ok {
		v.Place = field
	}
	if r.isTimed {
		v.Rule = ruleOverdue
	}
	return v
}

// Judge judges a reply, and follows what it means.
func (l *workqLaw) Judge(number int, m session.Message, at time.Time) law.Answer {
	c := l.conns[number]
	if len(c.calls) == 0 {
		return law.Answer{IsUnusable: true, Violation: &law.Violation{
			Clause: "WORKQ-LINE-07", Rule: "foreign", Expected: "silence", Got: workqscript.Dialect{}.Text(m),
		}}
	}
	k := c.calls[0]
	c.calls, c.isServed = c.calls[1:], true
	a := law.Answer{
		Reply: true, IsJudged: true, IsUnusable: k.isMalformed, Verb: k.Verb, State: connState, Pattern: pattern(m),
		Normal: l.normalize(m), JID: strings.TrimPrefix(l.symbol(leasedID(m)), "$"),
		Outcome: cmp.Or(k.Verb, "malformed") + " " + connState + ": " + string(rune(m.Kind)),
	}
	defer l.beginNext(c, k)
	jobs := l.concernedJobs(k, at)
	a.Rules = l.decide(k, m)
	premises := l.premises(jobs)
	leasedJob, r := l.leasedJob(k, m), l.ruling(k, m, at)
	l.removeCall(k)
	l.endLapses(k, m)
	if j := l.jobs[k.ID]; k.addsJob() && j != nil && j.answeredAt.IsZero() {
		j.answeredAt = at
	}
	l.settle(k, jobs, leasedJob, at)
	if r.expected == "" {
		return a
	}
	a.Violation = r.violation(k, m)
	a.Violation.Premises = premises(&r)
	if a.IsUnusable = rules()[r.rule].Traits&law.JobStays == 0; a.IsUnusable {
		l.StopJudging(cmp.Or(a.Violation.JID, "-"))
	}
	if k.isMalformed && m.Kind == workqsession.OK { // whatever it was taken for
		l.StopJudging("")
	}
	return a
}

// endLapses records that no job is left of a command, by its reply.
func (l *workqLaw) endLapses(k *call, m session.Message) {
	if !strings.ContainsRune(refusal, rune(m.Kind)) && (k.Verb != workq.Run || m.Kind != workqsession.OK) {
		return
	}
	for _, key := range k.lapseKeys {
		l.History.SetLapse(key, time.Time{})
	}
}

// endLapse records that a job has certainly ended before its time to live was over.
func (l *workqLaw) endLapse(j *job) {
	if j.isAlways(func(c possibleState) bool { return c.hasEnded() || c.isRemoved() }) {
		l.History.SetLapse(j.lapseKey, time.Time{})
	}
}

// beginNext begins the next command of a piece, behind one that was answered. It may have been carried out at any time
// since the piece was sent.
func (l *workqLaw) beginNext(c *conn, last *call) {
	if len(c.pipeline) == 0 {
		return
	}
	next := c.pipeline[0]
	c.pipeline = c.pipeline[1:]
	l.begin(c, next, last.sentAt)
	c.calls[len(c.calls)-1].isPipelined = true
}

// concernedJobs returns the jobs that a command is about, with all that may have happened to them until its reply came.
func (l *workqLaw) concernedJobs(k *call, at time.Time) (all []*job) {
	const limit = 8 // commands under way about one job
	ids := l.order
	if k.ID != "" {
		ids = []string{k.ID}
	}
	for _, id := range ids {
		j := l.jobs[id]
		if j == nil || !k.concerns(j) {
			continue
		}
		var pendingCalls []*call
		for _, o := range l.pendingCalls {
			if o.concerns(j) {
				pendingCalls = append(pendingCalls, o)
			}
		}
		if len(pendingCalls) > limit || !j.follow(pendingCalls, l.callCount, at) {
			j.unjudge()
			j.follow([]*call{k}, l.callCount, at)
		}
		all = append(all, j)
	}
	return all
}

// pattern is a reply as an S: line, without what differs from play to play.
func pattern(m session.Message) string {
	if m.Kind != workqsession.OK {
		return strings.SplitN(workqscript.Dialect{}.Text(m), " ", 2)[0]
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

var _ law.Splitter = (*workqLaw)(nil)
