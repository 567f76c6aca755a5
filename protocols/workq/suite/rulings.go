package suite

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/workq"
	workqscript "github.com/fwpsuite/fwp/protocols/workq/script"
	workqsession "github.com/fwpsuite/fwp/protocols/workq/session"
)

// ruling returns what is wrong with the reply to a command.
func (l *workqLaw) ruling(k *call, m session.Message, at time.Time) ruling {
	switch {
	case k.malformed:
		return k.refused(m)
	case workqscript.Dialect{}.Foreign(k.bytes, m):
		return ruling{clause: foreign(k.Verb), rule: "foreign", expected: "+OK | -CLIENT-ERROR"}
	}
	if r := l.punctual(k, m, at); r.expected != "" {
		return r
	}
	declined := k.beyond() && strings.IndexByte(errorKinds, m.Kind) >= 0
	switch {
	case declined && k.Verb == workq.Run:
		l.jobs[k.ID].open()
		return ruling{}
	case declined && !k.adds():
		return ruling{}
	}
	switch k.Verb {
	case workq.Lease:
		return l.leased(k, m)
	case workq.Run:
		return l.jobs[k.ID].ran(k, m, at)
	case workq.InspectJobs, workq.InspectScheduled, workq.InspectQueue, workq.InspectQueues, workq.InspectServer:
		return l.inspected(k, m, at)
	}
	return l.aboutOne(k, m, at)
}

// malformedClauses are those of arguments and flags, where they are wrong.
var malformedClauses = map[string]string{
	"id": "ADD-04", "name": "ADD-05", "ttr": "ADD-07", "time": "SCHED-05", "-" + workq.Priority: "ADD-14",
	"-" + workq.MaxAttempts: "ADD-19", "flag": "LINE-08",
}

// wrongPart returns the argument or flag for which a command is malformed, empty for another reason.
func wrongPart(err error) string {
	var bad *workq.CommandError
	if !errors.As(err, &bad) {
		return ""
	}
	return bad.Part
}

// refused judges the reply to a malformed command. A job whose id cannot be one is not there, either.
func (k *call) refused(m session.Message) ruling {
	if m.Kind == workqsession.ClientError ||
		k.wrong == "id" && m.Kind == workqsession.NotFound && absentClauses[k.Verb] != "" {
		return ruling{}
	}
	return ruling{clause: cmp.Or(malformedClauses[k.wrong], "ERR-01"), rule: "malformed", expected: "-CLIENT-ERROR"}
}

// aboutOne judges the reply to a command about one job, other than run.
func (l *workqLaw) aboutOne(k *call, m session.Message, at time.Time) ruling {
	j := l.jobs[k.ID]
	k.taken = l.takenBy(k)
	if j == nil {
		if m.Kind == workqsession.NotFound || l.unjudged {
			return ruling{}
		}
		return ruling{clause: k.unfound(absentClauses[k.Verb], m.Kind), rule: "reply", expected: "-NOT-FOUND"}
	}
	if r := j.replied(k, m); r.expected != "" || m.Kind != workqsession.OK {
		return r
	}
	for _, u := range k.uncommon() {
		l.taken[u] = true
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
	kinds, was := j.possible(k)
	if strings.IndexByte(kinds, m.Kind) >= 0 {
		if m.Kind != workqsession.OK {
			j.answered(k, m.Kind, nil)
		}
		return ruling{}
	}
	if j.undescribed(k, m.Kind) {
		j.open()
		return ruling{}
	}
	timed := kinds != "" && j.all(func(c config) bool { return c.timed || c.metBy(k) == nil })
	clause, expected := j.due(k, was, m.Kind)
	return ruling{clause: clause, rule: "reply", expected: expected, timed: timed}
}

// undescribed reports whether the document does not say what a command finds: a job whose run was answered, which its
// client has not read yet, or the end of a job that had ended, and was deleted when its time was over.
func (j *job) undescribed(k *call, kind byte) bool {
	if j.Verb == workq.Run {
		return kind == workqsession.NotFound && slices.ContainsFunc(j.configs, config.over)
	}
	return (k.Verb == workq.Complete || k.Verb == workq.Fail) &&
		j.all(func(c config) bool { return c.state == deleted && c.timed && !c.evicted })
}

// possible returns the kinds of replies that a command may have, and a configuration in which it may have met the job.
func (j *job) possible(k *call) (kinds string, was config) {
	was = j.configs[0]
	for _, c := range j.configs {
		if met := c.metBy(k); met != nil {
			kinds, was = kinds+met.replies, *met.view
		}
	}
	return kinds, was
}

// due returns the reply that a command should have had instead of one of a wrong kind, and the clause that says so.
func (j *job) due(k *call, was config, kind byte) (clause, expected string) {
	switch {
	case k.adds() && was.removed():
		return "DEL-02", "+OK"
	case was.state == deleted:
		return k.unfound(deletedClause(k, was), kind), "-NOT-FOUND"
	case was.state == absent && !k.adds():
		return k.unfound(absentClauses[k.Verb], kind), "-NOT-FOUND"
	case k.Verb == workq.Result && was.over() && kind == workqsession.Timeout:
		return "RESULT-02", resultLine(j, was)
	case k.Verb == workq.Result && was.over():
		return resultClause(was), resultLine(j, was)
	case k.Verb == workq.Result && kind == workqsession.OK:
		return "RESULT-02", "-TIMEOUT"
	case k.Verb == workq.Result:
		return "RESULT-03", "-TIMEOUT"
	}
	return k.taken, "+OK"
}

// uncommon is a value of a command for which a server may refuse it, and the clause by which it must not.
type uncommon struct{ clause, value string }

// uncommon returns those of a command.
func (k *call) uncommon() (all []uncommon) {
	const short, day = 255, 24 * 60 * 60 * 1000
	line, _, _ := bytes.Cut(k.bytes, []byte("\r\n"))
	ofBlock, size := "DONE-03", len(k.Block)
	if k.adds() {
		ofBlock = "ADD-11"
	}
	for _, may := range []struct {
		uncommon

		is bool
	}{
		{uncommon{"ADD-09", strconv.Itoa(bits.Len64(k.TTL))}, k.adds() && k.TTL > day},
		{uncommon{ofBlock, strconv.Itoa(size)}, size == workq.MaxBlock},
		{uncommon{"ADD-07", ""}, k.adds() && k.TTR == workq.MaxTTR},
		{
			uncommon{"ADD-14", strconv.FormatInt(k.Priority, 10)},
			k.Priority == workq.MinPriority || k.Priority == workq.MaxPriority,
		},
		{uncommon{"LINE-09", ""}, bytes.Count(line, []byte(" -")) > 1},
		{uncommon{ofBlock, strconv.Itoa(size)}, size > short},
	} {
		if may.is {
			all = append(all, may.uncommon)
		}
	}
	return all
}

// takenBy returns the clause by which a command is taken: that of an uncommon value that none had which was taken.
func (l *workqLaw) takenBy(k *call) string {
	for _, u := range k.uncommon() {
		if !l.taken[u] {
			return u.clause
		}
	}
	return commandClauses[k.Verb]
}

// unfound returns the clause that a reply to a command has broken which finds no job: that by which the command is
// taken, if it was refused and has an uncommon value, else the given one.
func (k *call) unfound(clause string, kind byte) string {
	if strings.IndexByte(errorKinds, kind) >= 0 && len(k.uncommon()) > 0 {
		return k.taken
	}
	return clause
}

// deletedClause returns the clause by which a job that is deleted cannot be found.
func deletedClause(k *call, was config) string {
	switch {
	case was.timed:
		return "ADD-08"
	case k.Verb != workq.Delete:
		return "DEL-02"
	}
	return absentClauses[k.Verb]
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
	r := window(k, clause, from, to, at)
	if r.rule == "early" && clause == "RUN-05" {
		r.clause = "RUN-01" // run blocks as long as the worker may take
	}
	return r
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

// endedSilently reports whether a job may have ended without a result, or was deleted, while a command waits: what is
// answered to those who wait is open.
func (j *job) endedSilently(k *call) bool {
	return j != nil && slices.ContainsFunc(j.configs, func(c config) bool {
		return c.state == open || c.over() && c.result == nil || c.goneSince(k.sent)
	})
}

// punctual judges when lease and result are answered with -TIMEOUT.
func (l *workqLaw) punctual(k *call, m session.Message, at time.Time) ruling {
	clause := map[string]string{workq.Lease: "LEASE-04", workq.Result: "RESULT-03"}[k.Verb]
	if m.Kind != workqsession.Timeout || clause == "" || l.jobs[k.ID].endedSilently(k) {
		return ruling{}
	}
	end := k.sent.Add(milliseconds(k.Wait))
	return window(k, clause, end, end.Add(late), at)
}

// ofState reports whether a ruling is about how a job stands, or how many do, rather than about a value that it has.
func (r *ruling) ofState() bool {
	key, _, isKey := strings.Cut(r.got, ": ")
	switch r.rule {
	case "field":
		return isKey && slices.Contains([]string{"fails", "state", "ready-len"}, key)
	case "reply", "result", "missing", "listed", "shown":
		return true
	}
	return false
}

// premises returns the clauses by which the jobs that a ruling is about are ready, where no lease has brought one that
// is ready by that: a server that breaks such a clause has no other reason for its reply.
func (l *workqLaw) premises(concerned []*job) func(r *ruling) []string {
	type readied struct{ id, name, clause string }
	var all []readied
	for _, j := range concerned {
		for _, c := range j.configs {
			how := j.readyBy(c)
			if c.state == ready && how != byAdding && !l.came[how] {
				all = append(all, readied{j.ID, j.Name(), prefix + how})
			}
		}
	}
	return func(r *ruling) (rested []string) {
		for _, one := range all {
			about := (r.job == "" || r.job == one.id) && (r.queue == "" || r.queue == one.name) && r.ofState()
			if about && one.clause != prefix+r.clause && !slices.Contains(rested, one.clause) {
				rested = append(rested, one.clause)
			}
		}
		return rested
	}
}
