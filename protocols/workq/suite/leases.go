package suite

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/workq"
	workqscript "github.com/fwpsuite/fwp/protocols/workq/script"
	workqsession "github.com/fwpsuite/fwp/protocols/workq/session"
)

// judgeLease judges lease: one of the jobs that are ready comes, of those of a name one of the highest priority.
func (l *workqLaw) judgeLease(k *call, m session.Message) ruling {
	if m.Kind != workqsession.OK {
		return l.judgeNoJob(k, m)
	}
	id := string(m.Parts[1])
	j := l.jobs[id]
	if leasedJob := l.leasedJob(k, m); leasedJob != j {
		leasedJob.narrow(k, m.Kind, nil)
	}
	if j == nil || !slices.Contains(k.Names, j.Name()) {
		return l.judgeUnknown(k, j, id)
	}
	found := j.viewOf(j.possibleStates[0], k)
	clause := j.readyClause(found)
	view, isFair, choice := j.possibleStates[len(j.possibleStates)-1], l.haveReadyJobs(k), l.choice(k)
	if !j.narrow(k, m.Kind, nil) {
		return ruling{
			clause: j.unreadyClause(view, m.Parts[5]), rule: "delivered", expected: l.possibleReplies(k), job: id,
			isTimed: j.isAlways(func(c possibleState) bool { return c.isTimed }),
		}
	}
	l.readyClauses[clause] = true
	if r := j.judgeFields(m); r.expected != "" {
		return r
	}
	if r := cmp.Or(j.judgeLateness(found), l.judgeOrder(k, j)); r.expected != "" || !isFair {
		return r
	}
	return l.judgeChoice(choice, j.Name())
}

// leasedJob returns the job that a lease has brought, nil if that is not known. If no job has the id, it is the only
// one that may have come and has the name and the payload.
func (l *workqLaw) leasedJob(k *call, m session.Message) (match *job) {
	if j := l.jobs[leasedID(m)]; j != nil || k.Verb != workq.Lease || leasedID(m) == "" {
		return j
	}
	for _, j := range l.jobs {
		if !k.concerns(j) || len(j.views(k)) == 0 || j.Name() != string(m.Parts[2]) || string(j.Block) != string(m.Parts[5]) {
			continue
		}
		if match != nil {
			return nil
		}
		match = j
	}
	return match
}

// judgeUnknown judges a lease that has brought a job that is unknown, nil, or has none of the names asked for.
func (l *workqLaw) judgeUnknown(k *call, j *job, id string) ruling {
	if l.isUnjudged || !l.ownsNames(k.Names) && j == nil || j != nil && j.mayBe(unknown) {
		return ruling{}
	}
	return ruling{clause: "LEASE-02", rule: "unknown", expected: l.possibleReplies(k), job: id}
}

// unreadyClause returns the clause by which a lease cannot bring the job as it was, with a payload.
func (j *job) unreadyClause(view possibleState, payload []byte) string {
	switch {
	case j.isSecond(payload):
		return "ADD-03"
	case view.state == deleted && view.isTimed:
		return "ADD-08"
	case view.state == failed && j.MaxAttempts > 0 && view.attempts >= j.MaxAttempts:
		return "ADD-16"
	}
	clause := map[state]string{
		ready: "ADD-16", leased: "LEASE-08", completed: "DONE-02", deleted: "DEL-02", scheduled: "SCHED-02",
		failed: "ADD-22",
	}[view.state]
	return cmp.Or(clause, "LEASE-02")
}

// judgeFields judges the fields of a reply to lease that has brought the job.
func (j *job) judgeFields(m session.Message) ruling {
	if j.isAlways(func(c possibleState) bool { return c.state == unknown }) {
		return ruling{}
	}
	for _, w := range []struct{ clause, key, got, want string }{
		{"LEASE-02", "name", string(m.Parts[2]), j.Name()},
		{"LEASE-01", "ttr", string(m.Parts[3]), strconv.FormatUint(j.TTR, 10)},
		{"ADD-10", "payload", string(m.Parts[5]), string(j.Block)},
	} {
		if w.got != w.want {
			if j.isSecond(m.Parts[5]) {
				w.clause = "ADD-03"
			}
			got := fmt.Sprintf("%s: %s", w.key, workqscript.Dialect{}.Text(m))
			return ruling{clause: w.clause, rule: "field", expected: j.line(), got: got, job: j.ID}
		}
	}
	return ruling{}
}

// judgeOrder judges that no job of a higher priority was ready before the lease was sent. One that nothing shows to be
// ready is missing, rather than late: unless it has only been added, a later lease must bring it. (Glossary, Priority)
func (l *workqLaw) judgeOrder(k *call, got *job) ruling {
	for _, j := range l.jobs {
		if j.Name() != got.Name() || j == got || j.Priority <= got.Priority || !j.isReadyFor(k) {
			continue
		}
		r := ruling{
			clause: "ADD-15", rule: "order", expected: j.line(), job: got.ID,
			detail: fmt.Sprintf("one has the priority %d, the other one %d", j.Priority, got.Priority),
		}
		view := j.viewOf(j.possibleStates[0], k)
		if j.readyClause(view) == addClause {
			return r
		}
		r.expected, r.job = got.line(), j.ID // the lease that brings this job should have brought the other one
		j.orderBreach = orderBreach{r, view.attempts, view.fails}
	}
	return ruling{}
}

// orderBreach is what a lease has shown that brought another job than this one, if this one was ready.
type orderBreach struct {
	ruling          ruling
	attempts, fails uint64 // of this job then
}

// judgeLateness judges a job that a lease brings, and that another lease should have brought before: nothing has
// happened to it meanwhile that may have made it ready.
func (j *job) judgeLateness(found possibleState) ruling {
	if j.orderBreach.attempts != found.attempts || j.orderBreach.fails != found.fails {
		return ruling{}
	}
	return j.orderBreach.ruling
}

// isReadyFor reports whether the job was ready for certain before a lease was sent.
func (j *job) isReadyFor(k *call) bool {
	return j.isAlways(func(c possibleState) bool {
		return c.encounter(k) != nil || j.isLeasable(c) && c.precedes(k) &&
			!c.isTimed
	})
}

// judgeNoJob judges a lease that has got no job: none may have been ready for certain while it waited.
func (l *workqLaw) judgeNoJob(k *call, m session.Message) ruling {
	for _, id := range l.order {
		if j := l.jobs[id]; j != nil && k.Wait != 0 && k.concerns(j) && j.isMissed(k) {
			return ruling{
				clause: l.missedClause(j, k), rule: "missing", job: id, expected: j.line(),
				isTimed: slices.ContainsFunc(j.possibleStates, func(c possibleState) bool { return c.isTimed }),
			}
		}
	}
	if m.Kind != workqsession.Timeout {
		return ruling{clause: "LEASE-04", rule: "reply", expected: "-TIMEOUT"}
	}
	return ruling{}
}

// outlasts reports whether a configuration may last as long as a lease waits.
func (j *job) outlasts(k *call, c possibleState) bool {
	return !j.latestEnd(c).Before(k.sentAt.Add(milliseconds(k.Wait)))
}

// isMissed reports whether the job was ready for certain while a lease waited, in all configurations that outlast it.
func (j *job) isMissed(k *call) bool {
	end := k.sentAt.Add(milliseconds(k.Wait))
	inTime := func(c possibleState) bool {
		return c.encounter(k) != nil && c.state != unknown ||
			j.isLeasable(c) && (c.precedes(k) || c.to.Add(waitMargin).Before(end))
	}
	return slices.ContainsFunc(j.possibleStates, func(c possibleState) bool { return j.outlasts(k, c) }) &&
		j.isAlways(func(c possibleState) bool { return !j.outlasts(k, c) || inTime(c) })
}

// missedClause returns the clause by which a lease should have brought the job: if none has come that came to be ready
// in its way, the one that is about that.
func (l *workqLaw) missedClause(j *job, k *call) string {
	c := j.possibleStates[slices.IndexFunc(j.possibleStates, func(c possibleState) bool { return j.outlasts(k, c) })]
	clause := j.readyClause(c)
	switch {
	case len(k.Names) > 1 && l.hasDelivered(clause):
		return "LEASE-02"
	case clause == addClause && !c.precedes(k):
		return "LEASE-05"
	}
	return clause
}

// addClause is the clause by which a job is ready that was added.
const addClause = "ADD-02"

// readyClause returns the clause by which a job is ready.
func (j *job) readyClause(c possibleState) string {
	switch {
	case j.Verb == workq.Schedule && c.attempts == 0:
		return "SCHED-03"
	case c.isExpired:
		return "ADD-06"
	case c.fails > 0:
		return "ADD-20"
	}
	return addClause
}

// viewOf returns how the job was when a command found it, c if the command was not carried out.
func (*job) viewOf(c possibleState, k *call) possibleState {
	if m := c.encounter(k); m != nil {
		return *m.view
	}
	return c
}

// hasDelivered reports whether jobs that are ready by a clause come, as far as is known.
func (l *workqLaw) hasDelivered(clause string) bool {
	return clause == addClause || l.readyClauses[clause]
}

// line is the reply to a lease that brings the job.
func (j *job) line() string {
	return fmt.Sprintf("+OK 1 %s %s %d %d %q", j.ID, j.Name(), j.TTR, len(j.Block), j.Block)
}

// possibleReplies returns the replies that a lease might have had.
func (l *workqLaw) possibleReplies(k *call) string {
	var lines []string
	for _, id := range l.order {
		if j := l.jobs[id]; j != nil && k.concerns(j) && len(j.views(k)) > 0 {
			lines = append(lines, j.line())
		}
	}
	return cmp.Or(strings.Join(lines, " | "), "-TIMEOUT")
}

// ownsNames reports whether all names are those of the play.
func (l *workqLaw) ownsNames(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !strings.Contains(name, l.NamePrefix+"-") })
}
