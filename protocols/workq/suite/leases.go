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

// leased judges lease: one of the jobs that are ready comes, of those of a name one of the highest priority.
func (l *workqLaw) leased(k *call, m session.Message) ruling {
	if m.Kind != workqsession.OK {
		return l.notLeased(k, m)
	}
	id := string(m.Parts[1])
	j := l.jobs[id]
	if meant := l.meant(k, m); meant != j {
		meant.answered(k, m.Kind, nil)
	}
	if j == nil || !slices.Contains(k.Names, j.Name()) {
		return l.unasked(k, j, id)
	}
	found := j.viewed(j.configs[0], k)
	how := j.readyBy(found)
	was, fair, in := j.configs[len(j.configs)-1], l.allReady(k), l.turn(k)
	if !j.answered(k, m.Kind, nil) {
		return ruling{
			clause: j.unreadyClause(was, m.Parts[5]), rule: "delivered", expected: l.instead(k), job: id,
			timed: j.all(func(c config) bool { return c.timed }),
		}
	}
	l.came[how] = true
	if r := j.brought(m); r.expected != "" {
		return r
	}
	if r := cmp.Or(j.isLate(found), l.ordered(k, j)); r.expected != "" || !fair {
		return r
	}
	return l.chosen(in, j.Name())
}

// meant returns the job that a lease has brought, nil if that is not known. If no job has the id, it is the only one
// that may have come and has the name and the payload.
func (l *workqLaw) meant(k *call, m session.Message) (meant *job) {
	if j := l.jobs[leasedID(m)]; j != nil || k.Verb != workq.Lease || leasedID(m) == "" {
		return j
	}
	for _, j := range l.jobs {
		if !k.concerns(j) || len(j.views(k)) == 0 || j.Name() != string(m.Parts[2]) || string(j.Block) != string(m.Parts[5]) {
			continue
		}
		if meant != nil {
			return nil
		}
		meant = j
	}
	return meant
}

// unasked judges a lease that has brought a job that is unknown, nil, or has none of the names asked for.
func (l *workqLaw) unasked(k *call, j *job, id string) ruling {
	if l.unjudged || !l.own(k.Names) && j == nil || j != nil && j.may(open) {
		return ruling{}
	}
	return ruling{clause: "LEASE-02", rule: "unknown", expected: l.instead(k), job: id}
}

// unreadyClause returns the clause by which a lease cannot bring the job as it was, with a payload.
func (j *job) unreadyClause(was config, payload []byte) string {
	switch {
	case j.second(payload):
		return "ADD-03"
	case was.state == deleted && was.timed:
		return "ADD-08"
	case was.state == failed && j.MaxAttempts > 0 && was.attempts >= j.MaxAttempts:
		return "ADD-16"
	}
	clause := map[state]string{
		ready: "ADD-16", leased: "LEASE-08", completed: "DONE-02", deleted: "DEL-02", scheduled: "SCHED-02",
		failed: "ADD-22",
	}[was.state]
	return cmp.Or(clause, "LEASE-02")
}

// brought judges the fields of a reply to lease that has brought the job.
func (j *job) brought(m session.Message) ruling {
	if j.all(func(c config) bool { return c.state == open }) {
		return ruling{}
	}
	for _, w := range []struct{ clause, key, got, want string }{
		{"LEASE-02", "name", string(m.Parts[2]), j.Name()},
		{"LEASE-01", "ttr", string(m.Parts[3]), strconv.FormatUint(j.TTR, 10)},
		{"ADD-10", "payload", string(m.Parts[5]), string(j.Block)},
	} {
		if w.got != w.want {
			if j.second(m.Parts[5]) {
				w.clause = "ADD-03"
			}
			got := fmt.Sprintf("%s: %s", w.key, workqscript.Dialect{}.Text(m))
			return ruling{clause: w.clause, rule: "field", expected: j.line(), got: got, job: j.ID}
		}
	}
	return ruling{}
}

// ordered judges that no job of a higher priority was ready before the lease was sent. One that nothing shows to be
// ready is missing, rather than late: unless it has only been added, a later lease must bring it. (Glossary, Priority)
func (l *workqLaw) ordered(k *call, got *job) ruling {
	for _, j := range l.jobs {
		if j.Name() != got.Name() || j == got || j.Priority <= got.Priority || !j.waitsFor(k) {
			continue
		}
		late := ruling{
			clause: "ADD-15", rule: "order", expected: j.line(), job: got.ID,
			what: fmt.Sprintf("one has the priority %d, the other one %d", j.Priority, got.Priority),
		}
		was := j.viewed(j.configs[0], k)
		if j.readyBy(was) == byAdding {
			return late
		}
		late.expected, late.job = got.line(), j.ID // the lease that brings this job should have brought the other one
		j.passed = passed{late, was.attempts, was.fails}
	}
	return ruling{}
}

// passed is what a lease has shown that brought another job than this one, if this one was ready.
type passed struct {
	late            ruling
	attempts, fails uint64 // of this job then
}

// isLate judges a job that a lease brings, and that another lease should have brought before: nothing has happened to
// it meanwhile that may have made it ready.
func (j *job) isLate(found config) ruling {
	if j.passed.attempts != found.attempts || j.passed.fails != found.fails {
		return ruling{}
	}
	return j.passed.late
}

// waitsFor reports whether the job was ready for certain before a lease was sent.
func (j *job) waitsFor(k *call) bool {
	return j.all(func(c config) bool { return c.metBy(k) != nil || j.leasable(c) && c.precedes(k) && !c.timed })
}

// notLeased judges a lease that has got no job: none may have been ready for certain while it waited.
func (l *workqLaw) notLeased(k *call, m session.Message) ruling {
	for _, id := range l.order {
		if j := l.jobs[id]; j != nil && k.Wait != 0 && k.concerns(j) && j.missed(k) {
			return ruling{
				clause: l.missedClause(j, k), rule: "missing", job: id, expected: j.line(),
				timed: slices.ContainsFunc(j.configs, func(c config) bool { return c.timed }),
			}
		}
	}
	if m.Kind != workqsession.Timeout {
		return ruling{clause: "LEASE-04", rule: "reply", expected: "-TIMEOUT"}
	}
	return ruling{}
}

// outlasts reports whether a configuration may last as long as a lease waits.
func (j *job) outlasts(k *call, c config) bool {
	return !j.until(c).Before(k.sent.Add(milliseconds(k.Wait)))
}

// missed reports whether the job was ready for certain while a lease waited, in all configurations that outlast it.
func (j *job) missed(k *call) bool {
	end := k.sent.Add(milliseconds(k.Wait))
	inTime := func(c config) bool {
		return c.metBy(k) != nil && c.state != open ||
			j.leasable(c) && (c.precedes(k) || c.to.Add(soon).Before(end))
	}
	return slices.ContainsFunc(j.configs, func(c config) bool { return j.outlasts(k, c) }) &&
		j.all(func(c config) bool { return !j.outlasts(k, c) || inTime(c) })
}

// missedClause returns the clause by which a lease should have brought the job: if none has come that came to be ready
// in its way, the one that is about that.
func (l *workqLaw) missedClause(j *job, k *call) string {
	c := j.configs[slices.IndexFunc(j.configs, func(c config) bool { return j.outlasts(k, c) })]
	how := j.readyBy(c)
	switch {
	case len(k.Names) > 1 && l.comes(how):
		return "LEASE-02"
	case how == byAdding && !c.precedes(k):
		return "LEASE-05"
	}
	return how
}

// byAdding is the clause by which a job is ready that was added.
const byAdding = "ADD-02"

// readyBy returns the clause by which a job is ready.
func (j *job) readyBy(c config) string {
	switch {
	case j.Verb == workq.Schedule && c.attempts == 0:
		return "SCHED-03"
	case c.expired:
		return "ADD-06"
	case c.fails > 0:
		return "ADD-20"
	}
	return byAdding
}

// viewed returns how the job was when a command found it, c if the command was not carried out.
func (*job) viewed(c config, k *call) config {
	if m := c.metBy(k); m != nil {
		return *m.view
	}
	return c
}

// comes reports whether jobs that are ready by a clause come, as far as is known.
func (l *workqLaw) comes(how string) bool { return how == byAdding || l.came[how] }

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
	return !slices.ContainsFunc(names, func(name string) bool { return !strings.Contains(name, l.Prefix+"-") })
}
