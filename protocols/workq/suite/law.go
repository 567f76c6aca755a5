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
	"github.com/fwpsuite/fwp/protocols/workq"
	workqscript "github.com/fwpsuite/fwp/protocols/workq/script"
	workqsession "github.com/fwpsuite/fwp/protocols/workq/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// identified is the state of each connection, by the name that reports have for one that is served: Workq knows no
// introduction.
const identified = "identified"

// workqLaw is the law of Workq. It follows each job by itself: all ways in which things may stand with it, since what
// time does has no exact moment, and commands that are under way may be carried out in any order.
type workqLaw struct {
	law.Terms
	conns    map[int]*conn
	jobs     map[string]*job // by id
	order    []string        // the ids of jobs in the order in which they were sent
	numbers  map[string]int  // of those, from 1
	under    []*call         // commands that are not answered, those of connections that ended too
	calls    int             // that were sent
	unjudged bool            // there may be jobs of which nothing is known
	started  string          // of the server, as inspect has shown it first
	evicted  uint64          // jobs, as inspect has shown it last
	possible int             // how many jobs of the play may be among those
	clock    law.Clock       // of the server
	cursors  map[string]cursor
	moved    int              // the last command that was sent when jobs may have moved in lists
	tallies  map[string]tally // by habits
	biased   bool             // that a habit was followed is known
	came     map[string]bool  // by which clauses jobs were ready that have come
	taken    map[uncommon]bool
}

// conn is one connection.
type conn struct {
	asked []*call // that are not answered
	begun []byte  // of a command that is not complete

	behind [][]byte // commands that were sent in one piece with the first of asked: each begins when that one has ended
	read   int      // commands of asked that Split has returned, and that are still to be given to Sent
	lost   bool     // where the next command begins is not known

	mayBeClosed bool // by the server
	served      bool // a command was answered
}

func newLaw(t law.Terms) *workqLaw {
	return &workqLaw{
		Terms: t, conns: map[int]*conn{}, jobs: map[string]*job{}, numbers: map[string]int{}, cursors: map[string]cursor{},
		tallies: map[string]tally{}, came: map[string]bool{}, taken: map[uncommon]bool{},
	}
}

func (*workqLaw) Introduce(int, *scenarios.Connect) string { return "" }
func (*workqLaw) State(int) string                         { return identified }
func (*workqLaw) Heartbeat(int, time.Time) string          { return "" }
func (*workqLaw) Value(int, string) string                 { return "" }
func (*workqLaw) Escapes(...[]byte) bool                   { return false } // ids and names are those of the play

// Open implements [law.Law].
func (l *workqLaw) Open(number int, _ time.Time) {
	l.conns[number] = &conn{}
	l.Server.Connects(1)
}

// Shut records that a client has closed its half of a connection: the server may end the other one.
func (l *workqLaw) Shut(number int) { l.conns[number].mayBeClosed = true }

// Operated ends the judging of all jobs: nothing is promised of them behind a restart.
func (l *workqLaw) Operated(scenarios.Need, string, string) {
	l.Unjudge("")
	l.started, l.evicted, l.possible = "", 0, 0
}

// Unjudge ends the judging of a job, of all if it is empty.
func (l *workqLaw) Unjudge(id string) {
	l.unjudged = l.unjudged || id == ""
	for _, j := range l.jobs {
		if id == "" || j.ID == id {
			j.open()
		}
	}
}

// Close is a breach if the server ended the connection, unless the last command was malformed. What was not answered
// may be carried out at any time, or never.
func (l *workqLaw) Close(number int, byServer bool, _ time.Time) *law.Violation {
	c := l.conns[number]
	delete(l.conns, number)
	if c != nil {
		l.Server.Connects(-1)
		for len(c.behind) > 0 && len(c.asked) > 0 { // of a piece
			l.goOn(c, c.asked[0])
		}
	}
	if !byServer || c == nil || c.lost || c.mayBeClosed || len(c.begun) > 0 {
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
	for c.begun = append(slices.Clip(c.begun), all...); len(c.begun) > 0; {
		_, n, err := workq.ParseCommand(c.begun)
		if errors.Is(err, workq.ErrShort) && !c.lost {
			return commands
		}
		if n == 0 || c.lost {
			n = len(c.begun)
		}
		commands = append(commands, c.begun[:n:n])
		if !c.lost {
			l.begin(c, c.begun[:n:n], at)
			c.read++
		}
		c.begun = c.begun[n:]
	}
	return commands
}

// Sent reads a command. What is more or less than one is not judged.
func (l *workqLaw) Sent(number int, all []byte, _ bool, at time.Time) law.Sent {
	c := l.conns[number]
	if c.read > 0 {
		c.read--
		return law.Sent{Owed: 1, Judged: true}
	}
	if several := whole(all); len(several) > 1 && !c.lost {
		c.behind = several[1:]
		l.begin(c, several[0], at)
		return law.Sent{Clause: prefix + "LINE-01", Owed: len(several), Judged: true}
	}
	asked, n, err := workq.ParseCommand(all)
	if c.lost || errors.Is(err, workq.ErrShort) || n > 0 && n < len(all) && (err == nil || !meaningless(all[n:])) {
		l.Unjudge("")
		l.mayAdd(all, at)
		c.asked, c.lost = []*call{{Command: asked, malformed: true}}, true
		return law.Sent{Owed: -2}
	}
	l.begin(c, bytes.Clone(all), at)
	return law.Sent{Clause: prefix + commandClauses[asked.Verb], Owed: 1, Judged: true}
}

// whole returns the commands that bytes are, nil if they are anything else.
func whole(all []byte) (commands [][]byte) {
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

// meaningless reports whether what stands behind a malformed line cannot be a command.
func meaningless(rest []byte) bool {
	_, _, err := workq.ParseCommand(rest)
	return err != nil && !errors.Is(err, workq.ErrShort)
}

// begin records a command that is sent now.
func (l *workqLaw) begin(c *conn, all []byte, at time.Time) {
	asked, _, err := workq.ParseCommand(all)
	l.calls++
	k := &call{
		Command: asked, number: l.calls, bytes: all, malformed: err != nil, wrong: wrongPart(err), sent: at,
		behind: len(c.asked) > 0,
	}
	c.lost = c.lost || err != nil && bytes.Count(all, []byte("\n")) > 1
	c.mayBeClosed = c.mayBeClosed || err != nil
	c.asked, l.under = append(c.asked, k), append(l.under, k)
	if id := k.ID; id != "" && l.numbers[id] == 0 {
		l.order = append(l.order, id)
		l.numbers[id] = len(l.order)
	}
	l.mayMove(k)
	switch {
	case c.lost:
		l.mayAdd(all, at)
	case k.malformed:
		k.lapses = l.mayAdd(all, at)
	case k.adds():
		l.adding(k, at)
	}
}

// adding follows what a command means for the job that it adds.
func (l *workqLaw) adding(k *call, at time.Time) {
	j := l.jobs[k.ID]
	alone := j != nil && !slices.ContainsFunc(l.under, func(o *call) bool { return o != k && o.concerns(j) })
	if j != nil {
		j.again = k.Block
		j.follow(nil, l.calls, at) // its time to live may be over
	}
	if alone { // no reply to another command may say what it was
		j.prune(at)
	}
	key := fmt.Sprint(l.Prefix, k.number)
	k.lapses = []string{key}
	l.Server.Lapses(key, k.lapse())
	switch {
	case j == nil:
		l.jobs[k.ID] = &job{Command: k.Command, configs: []config{{}}, clock: &l.clock, asked: at, lapses: key}
		if l.unjudged {
			l.jobs[k.ID].open()
		}
	case j.all(config.removed), alone && j.all(config.gone): // no job has the id any more
		*j = job{Command: k.Command, configs: j.configs, clock: &l.clock, asked: at, lapses: key}
	case j.all(func(c config) bool { return c.state == deleted }): // whether it is gone is not seen
		j.Command = k.Command
		j.open()
	case j.may(absent), j.may(deleted): // which of the two is the first one, or whether there is one, is not known
		l.unjudged = true
		j.open()
	}
}

// ruling is what a reply may be. The zero value allows any.
type ruling struct {
	clause, rule string
	expected     string // as an S: line
	got          string // if it is not the whole reply
	job          string // that it is about
	what         string // where expected does not say it all
	window       [2]time.Duration
	timed        bool   // a span of time is the premise
	queue        string // whose counters it is about
}

// violation returns what a reply breaks that is not as ruled.
func (r *ruling) violation(k *call, m session.Message) *law.Violation {
	v := &law.Violation{
		Clause: prefix + r.clause, Rule: r.rule, JID: cmp.Or(r.job, k.ID), Expected: r.expected,
		Got: cmp.Or(r.got, workqscript.Dialect{}.Text(m)), What: r.what, Window: r.window,
		Place: cmp.Or(k.Verb, "malformed") + ": " + pattern(m),
	}
	if field, _, is := strings.Cut(r.got, ": "); is {
		v.Place = field
	}
	if r.timed {
		v.Rule = ruleOverdue
	}
	return v
}

// Came judges a reply, and follows what it means.
func (l *workqLaw) Came(number int, m session.Message, at time.Time) law.Answer {
	c := l.conns[number]
	if len(c.asked) == 0 {
		return law.Answer{Over: true, Violation: &law.Violation{
			Clause: "WORKQ-LINE-07", Rule: "foreign", Expected: "silence", Got: workqscript.Dialect{}.Text(m),
		}}
	}
	k := c.asked[0]
	c.asked, c.served = c.asked[1:], true
	a := law.Answer{
		Reply: true, Judged: true, Over: k.malformed, Verb: k.Verb, State: identified, Pattern: pattern(m),
		Normal: l.normal(m), Job: strings.TrimPrefix(l.symbol(leasedID(m)), "$"),
		Outcome: cmp.Or(k.Verb, "malformed") + " " + identified + ": " + string(rune(m.Kind)),
	}
	defer l.goOn(c, k)
	concerned := l.concerned(k, at)
	a.Rules = l.decided(k, m)
	premises := l.premises(concerned)
	meant, r := l.meant(k, m), l.ruling(k, m, at)
	l.ended(k)
	l.endLapses(k, m)
	if j := l.jobs[k.ID]; k.adds() && j != nil && j.added.IsZero() {
		j.added = at
	}
	l.settle(k, concerned, meant, at)
	if r.expected == "" {
		return a
	}
	a.Violation = r.violation(k, m)
	a.Violation.Premises = premises(&r)
	if a.Over = rules()[r.rule].Traits&law.JobStays == 0; a.Over {
		l.Unjudge(cmp.Or(a.Violation.JID, "-"))
	}
	if k.malformed && m.Kind == workqsession.OK { // whatever it was taken for
		l.Unjudge("")
	}
	return a
}

// endLapses records that no job is left of a command, by its reply.
func (l *workqLaw) endLapses(k *call, m session.Message) {
	if !strings.ContainsRune(refusal, rune(m.Kind)) && (k.Verb != workq.Run || m.Kind != workqsession.OK) {
		return
	}
	for _, key := range k.lapses {
		l.Server.Lapses(key, time.Time{})
	}
}

// endLapse records that a job has certainly ended before its time to live was over.
func (l *workqLaw) endLapse(j *job) {
	if j.all(func(c config) bool { return c.over() || c.removed() }) {
		l.Server.Lapses(j.lapses, time.Time{})
	}
}

// goOn begins the next command of a piece, behind one that was answered. It may have been carried out at any time since
// the piece was sent.
func (l *workqLaw) goOn(c *conn, answered *call) {
	if len(c.behind) == 0 {
		return
	}
	next := c.behind[0]
	c.behind = c.behind[1:]
	l.begin(c, next, answered.sent)
	c.asked[len(c.asked)-1].behind = true
}

// concerned returns the jobs that a command is about, with all that may have happened to them until its reply came.
func (l *workqLaw) concerned(k *call, at time.Time) (all []*job) {
	const most = 8 // commands under way about one job
	ids := l.order
	if k.ID != "" {
		ids = []string{k.ID}
	}
	for _, id := range ids {
		j := l.jobs[id]
		if j == nil || !k.concerns(j) {
			continue
		}
		var under []*call
		for _, o := range l.under {
			if o.concerns(j) {
				under = append(under, o)
			}
		}
		if len(under) > most || !j.follow(under, l.calls, at) {
			j.open()
			j.follow([]*call{k}, l.calls, at)
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
