package workqsubject

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/session/workqsession"
	"github.com/fwpsuite/fwp/scenarios/workqdialect"
	"github.com/fwpsuite/fwp/workq"
)

// ruling returns what is wrong with the reply to a command.
func (l *workqLaw) ruling(k *call, m session.Message, at time.Time) ruling {
	j := l.jobs[k.ID]
	switch {
	case k.malformed && m.Kind != workqsession.ClientError:
		return ruling{clause: "ERR-01", rule: "malformed", expected: "-CLIENT-ERROR"}
	case k.malformed:
		return ruling{}
	case workqdialect.Dialect{}.Foreign(k.bytes, m):
		return ruling{clause: foreign(k.Verb), rule: "foreign", expected: "+OK | -CLIENT-ERROR"}
	}
	if r := l.punctual(k, m, at); r.expected != "" {
		return r
	}
	switch k.Verb {
	case workq.Lease:
		return l.leased(k, m)
	case workq.Run:
		return j.ran(k, m, at)
	case workq.InspectJobs, workq.InspectScheduled, workq.InspectQueue, workq.InspectQueues, workq.InspectServer:
		return l.inspected(k, m, at)
	}
	if j == nil {
		if m.Kind == workqsession.NotFound || l.unjudged {
			return ruling{}
		}
		return ruling{clause: absentClauses[k.Verb], rule: "reply", expected: "-NOT-FOUND"}
	}
	if r := j.replied(k, m); r.expected != "" || m.Kind != workqsession.OK {
		return r
	}
	switch k.Verb {
	case workq.Result:
		return j.reported(k, m)
	case workq.InspectJob:
		return j.shown(k, m.Parts[3], at)
	}
	j.answered(k, m.Kind, nil)
	return ruling{}
}

// replied judges the kind of a reply to a command about one job, and follows a reply that has nothing else.
func (j *job) replied(k *call, m session.Message) ruling {
	kinds, was := "", j.configs[0]
	timed := j.all(func(c config) bool { return c.timed || c.metBy(k) == nil })
	for _, c := range j.configs {
		if met := c.metBy(k); met != nil {
			kinds, was = kinds+met.replies, *met.view
		}
	}
	if strings.IndexByte(kinds, m.Kind) >= 0 {
		if m.Kind != workqsession.OK {
			j.answered(k, m.Kind, nil)
		}
		return ruling{}
	}
	r := ruling{clause: clauses[k.Verb], rule: "reply", expected: "+OK", timed: timed && kinds != ""}
	switch {
	case was.state == deleted && was.timed:
		r.clause, r.expected = "ADD-08", "-NOT-FOUND"
	case was.state == deleted && k.Verb != workq.Delete:
		r.clause, r.expected = "DEL-02", "-NOT-FOUND"
	case was.state == deleted, was.state == absent && k.Verb != workq.Add && k.Verb != workq.Schedule:
		r.clause, r.expected = absentClauses[k.Verb], "-NOT-FOUND"
	case k.Verb == workq.Result && was.over() && m.Kind == workqsession.Timeout:
		r.clause, r.expected = "RESULT-02", resultLine(j, was)
	case k.Verb == workq.Result && was.over():
		r.clause, r.expected = resultClause(was), resultLine(j, was)
	case k.Verb == workq.Result && m.Kind == workqsession.OK: // before the job has ended
		r.clause, r.expected = "RESULT-02", "-TIMEOUT"
	case k.Verb == workq.Result:
		r.clause, r.expected = "RESULT-03", "-TIMEOUT"
	}
	return r
}

func resultClause(c config) string {
	if c.state == failed {
		return "RESULT-05"
	}
	return "RESULT-01"
}

// resultLine is the reply with the result of a job.
func resultLine(j *job, c config) string {
	return fmt.Sprintf("+OK 1 %s %s %d %q", j.ID, successWord(c), len(c.result), c.result)
}

func successWord(c config) string {
	if c.state == completed {
		return "1"
	}
	return "0"
}

// isResult reports whether a reply has the result of a job.
func isResult(c config, m session.Message) bool {
	return c.over() && string(m.Parts[2]) == successWord(c) && bytes.Equal(m.Parts[4], c.result)
}

// reported judges a result.
func (j *job) reported(k *call, m session.Message) ruling {
	views := j.views(k)
	if j.answered(k, m.Kind, func(c *config) bool { return c.result == nil || isResult(*c, m) }) {
		return ruling{}
	}
	i := max(0, slices.IndexFunc(views, config.over))
	return ruling{clause: resultClause(views[i]), rule: "result", expected: resultLine(j, views[i])}
}

// ran judges the reply to run, behind which nothing is known of the job.
func (j *job) ran(k *call, m session.Message, at time.Time) ruling {
	defer j.open()
	configs := slices.DeleteFunc(slices.Clone(j.configs), func(c config) bool { return c.metBy(k) == nil })
	is := func(f func(config) bool) bool {
		return slices.ContainsFunc(configs, func(c config) bool { return c.state == open || f(c) })
	}
	ended := slices.IndexFunc(configs, config.over)
	r := ruling{clause: "RUN-01", rule: "result", expected: "-TIMEOUT"}
	if ended >= 0 {
		r.expected = resultLine(j, configs[ended])
	}
	switch {
	case m.Kind == workqsession.OK && is(func(c config) bool { return c.result != nil && isResult(c, m) }):
		return ruling{}
	case m.Kind == workqsession.OK && ended >= 0 && successWord(configs[ended]) != string(m.Parts[2]):
		r.clause = "RUN-02"
	case m.Kind == workqsession.Timeout && is(func(c config) bool { return !c.over() || at.Sub(c.from) < soon }):
		return j.gaveUp(k, configs, at)
	case m.Kind != workqsession.OK && is(func(config) bool { return false }):
		return ruling{}
	}
	return r
}

// gaveUp judges when run has ended without a result: when no worker has come, or when the worker took too long.
func (j *job) gaveUp(k *call, configs []config, at time.Time) ruling {
	var from, to time.Time
	clause := "RUN-04"
	for _, c := range configs {
		begin, end := k.sent.Add(milliseconds(k.Wait)), at
		switch c.state {
		case ready:
			end = begin.Add(late)
		case leased:
			begin, end, clause = c.from.Add(milliseconds(j.TTR)), c.to.Add(milliseconds(j.TTR)+late), "RUN-05"
		case open:
			continue
		}
		if from.IsZero() || begin.Before(from) {
			from = begin
		}
		to = later(to, end)
	}
	return window(k, clause, from, to, at)
}

// early is by how much a wait may seem to end too soon: servers count milliseconds, and may cut them off.
const early = 10 * time.Millisecond

// window judges that a wait has ended without success at a time, which must lie between two others.
func window(k *call, clause string, from, to, at time.Time) ruling {
	r := ruling{
		clause: clause, expected: "-TIMEOUT", window: [2]time.Duration{from.Sub(k.sent), to.Sub(k.sent)},
		got: "-TIMEOUT after " + at.Sub(k.sent).Round(time.Millisecond).String(),
	}
	switch {
	case k.behind || from.IsZero():
		return ruling{}
	case at.Before(from.Add(-early)):
		r.rule = "early"
		return r
	case at.After(to.Add(soon)):
		r.rule = "late"
		return r
	}
	return ruling{}
}

// punctual judges when lease and result are answered with -TIMEOUT.
func (l *workqLaw) punctual(k *call, m session.Message, at time.Time) ruling {
	clause := map[string]string{workq.Lease: "LEASE-04", workq.Result: "RESULT-03"}[k.Verb]
	if m.Kind != workqsession.Timeout || clause == "" {
		return ruling{}
	}
	end := k.sent.Add(milliseconds(k.Wait))
	return window(k, clause, end, end.Add(late), at)
}

// leased judges lease: one of the jobs that are ready comes, of those of a name one of the highest priority.
func (l *workqLaw) leased(k *call, m session.Message) ruling {
	if m.Kind != workqsession.OK {
		return l.notLeased(k, m)
	}
	id := string(m.Parts[1])
	j := l.jobs[id]
	if j == nil || !slices.Contains(k.Names, j.Name()) {
		if l.unjudged || !l.own(k.Names) && j == nil || j != nil && j.may(open) {
			return ruling{}
		}
		return ruling{clause: "LEASE-02", rule: "unknown", expected: l.instead(k), job: id}
	}
	was := j.configs[0]
	if !j.answered(k, m.Kind, nil) {
		clause := map[state]string{
			ready: "ADD-16", leased: "LEASE-08", completed: "DONE-02", deleted: "DEL-02", scheduled: "SCHED-02",
			failed: "ADD-22",
		}[was.state]
		switch {
		case was.state == deleted && was.timed:
			clause = "ADD-08"
		case was.state == failed && j.MaxAttempts > 0 && was.attempts >= j.MaxAttempts:
			clause = "ADD-16"
		}
		return ruling{
			clause: cmp.Or(clause, "LEASE-02"), rule: "delivered", expected: l.instead(k), job: id, timed: was.timed,
		}
	}
	want := []struct{ clause, key, got, want string }{
		{"LEASE-02", "name", string(m.Parts[2]), j.Name()},
		{"LEASE-01", "ttr", string(m.Parts[3]), strconv.FormatUint(j.TTR, 10)},
		{"ADD-10", "payload", string(m.Parts[5]), string(j.Block)},
	}
	if !j.all(func(c config) bool { return c.state == open }) {
		for _, w := range want {
			if w.got != w.want {
				got := fmt.Sprintf("%s: %s", w.key, workqdialect.Dialect{}.Text(m))
				return ruling{clause: w.clause, rule: "field", expected: j.line(), got: got, job: id}
			}
		}
	}
	return l.ordered(k, j)
}

// ordered judges that no job of a higher priority was ready before the lease was sent. (Glossary, Priority)
func (l *workqLaw) ordered(k *call, got *job) ruling {
	for _, j := range l.jobs {
		waits := func(c config) bool { return c.metBy(k) != nil || j.leasable(c) && !c.to.After(k.sent) && !c.timed }
		if j.Name() == got.Name() && j != got && j.Priority > got.Priority && j.all(waits) {
			return ruling{
				clause: "ADD-15", rule: "order", expected: j.line(), job: got.ID,
				what: fmt.Sprintf("one has the priority %d, the other one %d", j.Priority, got.Priority),
			}
		}
	}
	return ruling{}
}

// notLeased judges a lease that has got no job: none may have been ready for certain while it waited.
func (l *workqLaw) notLeased(k *call, m session.Message) ruling {
	end := k.sent.Add(milliseconds(k.Wait))
	for _, id := range l.order {
		j := l.jobs[id]
		if j == nil || k.Wait == 0 || !k.concerns(j) {
			continue
		}
		inTime := func(c config) bool {
			return c.metBy(k) != nil && c.state != open || j.leasable(c) && (!c.to.After(k.sent) || c.to.Add(soon).Before(end))
		}
		over := func(c config) bool { return j.until(c).Before(end) }
		if j.all(over) || !j.all(func(c config) bool { return over(c) || inTime(c) }) {
			continue
		}
		r := ruling{
			clause: "ADD-02", rule: "missing", job: id, expected: j.line(),
			timed: slices.ContainsFunc(j.configs, func(c config) bool { return c.timed }),
		}
		c := j.configs[slices.IndexFunc(j.configs, func(c config) bool { return !over(c) })]
		switch {
		case len(k.Names) > 1:
			r.clause = "LEASE-02"
		case j.Verb == workq.Schedule && c.attempts == 0:
			r.clause = "SCHED-03"
		case c.expired:
			r.clause = "ADD-06"
		case c.fails > 0:
			r.clause = "ADD-20"
		case c.to.After(k.sent):
			r.clause = "LEASE-05"
		}
		return r
	}
	if m.Kind != workqsession.Timeout {
		return ruling{clause: "LEASE-04", rule: "reply", expected: "-TIMEOUT"}
	}
	return ruling{}
}

// line is the reply to a lease that brings the job.
func (j *job) line() string {
	return fmt.Sprintf("+OK 1 %s %s %d %d %q", j.ID, j.Name(), j.TTR, len(j.Block), j.Block)
}

// instead returns the replies that a lease might have had.
func (l *workqLaw) instead(k *call) string {
	var lines []string
	for _, id := range l.order {
		if j := l.jobs[id]; j != nil && k.concerns(j) && len(j.views(k)) > 0 {
			lines = append(lines, j.line())
		}
	}
	return cmp.Or(strings.Join(lines, " | "), "-TIMEOUT")
}

// own reports whether all names are those of the play.
func (l *workqLaw) own(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !strings.HasPrefix(name, l.Prefix+"-") })
}
