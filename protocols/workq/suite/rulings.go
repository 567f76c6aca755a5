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
	case k.isMalformed:
		return k.judgeRefusal(m)
	case workqscript.Dialect{}.IsImpossible(k.bytes, m):
		return ruling{clause: foreignClause(k.Verb), rule: "foreign", expected: "+OK | -CLIENT-ERROR"}
	}
	if r := l.judgeTimeout(k, m, at); r.expected != "" {
		return r
	}
	isDeclined := k.mayExceedLimit() && strings.IndexByte(errorKinds, m.Kind) >= 0
	switch {
	case isDeclined && k.Verb == workq.Run:
		l.jobs[k.ID].unjudge()
		return ruling{}
	case isDeclined && !k.addsJob():
		return ruling{}
	}
	switch k.Verb {
	case workq.Lease:
		return l.judgeLease(k, m)
	case workq.Run:
		return l.jobs[k.ID].judgeRun(k, m, at)
	case workq.InspectJobs, workq.InspectScheduled, workq.InspectQueue, workq.InspectQueues, workq.InspectServer:
		return l.judgeInspect(k, m, at)
	}
	return l.judgeJobCommand(k, m, at)
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

// judgeRefusal judges the reply to a malformed command. A job whose id cannot be one is not there, either.
func (k *call) judgeRefusal(m session.Message) ruling {
	if m.Kind == workqsession.ClientError ||
		k.badPart == "id" && m.Kind == workqsession.NotFound && absentClauses[k.Verb] != "" {
		return ruling{}
	}
	return ruling{clause: cmp.Or(malformedClauses[k.badPart], "ERR-01"), rule: "malformed", expected: "-CLIENT-ERROR"}
}

// judgeJobCommand judges the reply to a command about one job, other than run.
func (l *workqLaw) judgeJobCommand(k *call, m session.Message, at time.Time) ruling {
	j := l.jobs[k.ID]
	k.clause = l.takeClause(k)
	if j == nil {
		if m.Kind == workqsession.NotFound || l.isUnjudged {
			return ruling{}
		}
		return ruling{clause: k.unfoundClause(absentClauses[k.Verb], m.Kind), rule: "reply", expected: "-NOT-FOUND"}
	}
	if r := j.judgeKind(k, m); r.expected != "" || m.Kind != workqsession.OK {
		return r
	}
	for _, u := range k.uncommonValues() {
		l.takenValues[u] = true
	}
	switch k.Verb {
	case workq.Result:
		return j.judgeResult(k, m)
	case workq.InspectJob:
		return j.judgeKeys(k, m.Parts[3], at)
	}
	j.narrow(k, m.Kind, nil)
	return ruling{}
}

// judgeKind judges the kind of a reply to a command about one job, and follows a reply that has nothing else.
func (j *job) judgeKind(k *call, m session.Message) ruling {
	kinds, view := j.possibleKinds(k)
	if strings.IndexByte(kinds, m.Kind) >= 0 {
		if m.Kind != workqsession.OK {
			j.narrow(k, m.Kind, nil)
		}
		return ruling{}
	}
	if j.isUndescribed(k, m.Kind) {
		j.unjudge()
		return ruling{}
	}
	isTimed := kinds != "" && j.isAlways(func(c possibleState) bool { return c.isTimed || c.encounter(k) == nil })
	clause, expected := j.expectedReply(k, view, m.Kind)
	return ruling{clause: clause, rule: "reply", expected: expected, isTimed: isTimed}
}

// isUndescribed reports whether the document does not say what a command finds: a job whose run was answered, which its
// client has not read yet, or the end of a job that had ended, and was deleted when its time was over.
func (j *job) isUndescribed(k *call, kind byte) bool {
	if j.Verb == workq.Run {
		return kind == workqsession.NotFound && slices.ContainsFunc(j.possibleStates, possibleState.hasEnded)
	}
	return (k.Verb == workq.Complete || k.Verb == workq.Fail) &&
		j.isAlways(func(c possibleState) bool { return c.state == deleted && c.isTimed && !c.isEvicted })
}

// possibleKinds returns the kinds of replies that a command may have, and a configuration in which it may have met the
// job.
func (j *job) possibleKinds(k *call) (kinds string, view possibleState) {
	view = j.possibleStates[0]
	for _, c := range j.possibleStates {
		if e := c.encounter(k); e != nil {
			kinds, view = kinds+e.replies, *e.view
		}
	}
	return kinds, view
}

// expectedReply returns the reply that a command should have had instead of one of a wrong kind, and the clause that
// says so.
func (j *job) expectedReply(k *call, view possibleState, kind byte) (clause, expected string) {
	switch {
	case k.addsJob() && view.isRemoved():
		return "DEL-02", "+OK"
	case view.state == deleted:
		return k.unfoundClause(deletedClause(k, view), kind), "-NOT-FOUND"
	case view.state == absent && !k.addsJob():
		return k.unfoundClause(absentClauses[k.Verb], kind), "-NOT-FOUND"
	case k.Verb == workq.Result && view.hasEnded() && kind == workqsession.Timeout:
		return "RESULT-02", resultLine(j, view)
	case k.Verb == workq.Result && view.hasEnded():
		return resultClause(view), resultLine(j, view)
	case k.Verb == workq.Result && kind == workqsession.OK:
		return "RESULT-02", "-TIMEOUT"
	case k.Verb == workq.Result:
		return "RESULT-03", "-TIMEOUT"
	}
	return k.clause, "+OK"
}

// uncommonValue is a value of a command for which a server may refuse it, and the clause by which it must not.
type uncommonValue struct{ clause, value string }

// uncommonValues returns those of a command.
func (k *call) uncommonValues() (all []uncommonValue) {
	const short, day = 255, 24 * 60 * 60 * 1000
	line, _, _ := bytes.Cut(k.bytes, []byte("\r\n"))
	blockClause, size := "DONE-03", len(k.Block)
	if k.addsJob() {
		blockClause = "ADD-11"
	}
	for _, row := range []struct {
		uncommonValue

		applies bool
	}{
		{uncommonValue{"ADD-09", strconv.Itoa(bits.Len64(k.TTL))}, k.addsJob() && k.TTL > day},
		{uncommonValue{blockClause, strconv.Itoa(size)}, size == workq.MaxBlock},
		{uncommonValue{"ADD-07", ""}, k.addsJob() && k.TTR == workq.MaxTTR},
		{
			uncommonValue{"ADD-14", strconv.FormatInt(k.Priority, 10)},
			k.Priority == workq.MinPriority || k.Priority == workq.MaxPriority,
		},
		{uncommonValue{"LINE-09", ""}, bytes.Count(line, []byte(" -")) > 1},
		{uncommonValue{blockClause, strconv.Itoa(size)}, size > short},
	} {
		if row.applies {
			all = append(all, row.uncommonValue)
		}
	}
	return all
}

// takeClause returns the clause by which a command is taken: that of an uncommon value that none had which was taken.
func (l *workqLaw) takeClause(k *call) string {
	for _, u := range k.uncommonValues() {
		if !l.takenValues[u] {
			return u.clause
		}
	}
	return commandClauses[k.Verb]
}

// unfoundClause returns the clause that a reply to a command has broken which finds no job: that by which the command
// is taken, if it was refused and has an uncommon value, else the given one.
func (k *call) unfoundClause(clause string, kind byte) string {
	if strings.IndexByte(errorKinds, kind) >= 0 && len(k.uncommonValues()) > 0 {
		return k.clause
	}
	return clause
}

// deletedClause returns the clause by which a job that is deleted cannot be found.
func deletedClause(k *call, view possibleState) string {
	switch {
	case view.isTimed:
		return "ADD-08"
	case k.Verb != workq.Delete:
		return "DEL-02"
	}
	return absentClauses[k.Verb]
}

func resultClause(c possibleState) string {
	if c.state == failed {
		return "RESULT-05"
	}
	return "RESULT-01"
}

// resultLine is the reply with the result of a job.
func resultLine(j *job, c possibleState) string {
	return fmt.Sprintf("+OK 1 %s %s %d %q", j.ID, successWord(c), len(c.result), c.result)
}

func successWord(c possibleState) string {
	if c.state == completed {
		return "1"
	}
	return "0"
}

// isResult reports whether a reply has the result of a job.
func isResult(c possibleState, m session.Message) bool {
	return c.hasEnded() && string(m.Parts[2]) == successWord(c) && bytes.Equal(m.Parts[4], c.result)
}

// judgeResult judges a result.
func (j *job) judgeResult(k *call, m session.Message) ruling {
	views := j.views(k)
	if j.narrow(k, m.Kind, func(c *possibleState) bool { return c.result == nil || isResult(*c, m) }) {
		return ruling{}
	}
	i := max(0, slices.IndexFunc(views, possibleState.hasEnded))
	return ruling{clause: resultClause(views[i]), rule: "result", expected: resultLine(j, views[i])}
}

// judgeRun judges the reply to run, behind which nothing is known of the job.
func (j *job) judgeRun(k *call, m session.Message, at time.Time) ruling {
	defer j.unjudge()
	configs := slices.DeleteFunc(slices.Clone(j.possibleStates),
		func(c possibleState) bool { return c.encounter(k) == nil })
	mayHold := func(f func(possibleState) bool) bool {
		return slices.ContainsFunc(configs, func(c possibleState) bool { return c.state == unknown || f(c) })
	}
	endIndex := slices.IndexFunc(configs, possibleState.hasEnded)
	r := ruling{clause: "RUN-01", rule: "result", expected: "-TIMEOUT"}
	if endIndex >= 0 {
		r.expected = resultLine(j, configs[endIndex])
	}
	switch {
	case m.Kind == workqsession.OK && mayHold(func(c possibleState) bool { return c.result != nil && isResult(c, m) }):
		return ruling{}
	case m.Kind == workqsession.OK && endIndex >= 0 && successWord(configs[endIndex]) != string(m.Parts[2]):
		r.clause = "RUN-02"
	case m.Kind == workqsession.Timeout && mayHold(func(c possibleState) bool {
		return !c.hasEnded() ||
			at.Sub(c.from) < waitMargin
	}):
		return j.judgeRunTimeout(k, configs, at)
	case m.Kind != workqsession.OK && mayHold(func(possibleState) bool { return false }):
		return ruling{}
	}
	return r
}

// judgeRunTimeout judges when run has ended without a result: when no worker has come, or when the worker took too
// long.
func (j *job) judgeRunTimeout(k *call, configs []possibleState, at time.Time) ruling {
	var from, to time.Time
	clause := "RUN-04"
	for _, c := range configs {
		begin, end := k.sentAt.Add(milliseconds(k.Wait)), at
		switch c.state {
		case ready:
			end = begin.Add(maxLateness)
		case leased:
			begin, end, clause = c.from.Add(milliseconds(j.TTR)), c.to.Add(milliseconds(j.TTR)+maxLateness), "RUN-05"
		case unknown:
			continue
		}
		if from.IsZero() || begin.Before(from) {
			from = begin
		}
		to = maxTime(to, end)
	}
	r := window(k, clause, from, to, at)
	if r.rule == "early" && clause == "RUN-05" {
		r.clause = "RUN-01" // run blocks as long as the worker may take
	}
	return r
}

// maxEarliness is by how much a wait may seem to end too soon: servers count milliseconds, and may cut them off.
const maxEarliness = 10 * time.Millisecond

// window judges that a wait has ended without success at a time, which must lie between two others.
func window(k *call, clause string, from, to, at time.Time) ruling {
	r := ruling{
		clause: clause, expected: "-TIMEOUT", window: [2]time.Duration{from.Sub(k.sentAt), to.Sub(k.sentAt)},
		got: "-TIMEOUT after " + at.Sub(k.sentAt).Round(time.Millisecond).String(),
	}
	switch {
	case k.isPipelined || from.IsZero():
		return ruling{}
	case at.Before(from.Add(-maxEarliness)):
		r.rule = "early"
		return r
	case at.After(to.Add(waitMargin)):
		r.rule = "late"
		return r
	}
	return ruling{}
}

// mayEndSilently reports whether a job may have ended without a result, or was deleted, while a command waits: what is
// answered to those who wait is open.
func (j *job) mayEndSilently(k *call) bool {
	return j != nil && slices.ContainsFunc(j.possibleStates, func(c possibleState) bool {
		return c.state == unknown || c.hasEnded() && c.result == nil || c.isDeletedSince(k.sentAt)
	})
}

// judgeTimeout judges when lease and result are answered with -TIMEOUT.
func (l *workqLaw) judgeTimeout(k *call, m session.Message, at time.Time) ruling {
	clause := map[string]string{workq.Lease: "LEASE-04", workq.Result: "RESULT-03"}[k.Verb]
	if m.Kind != workqsession.Timeout || clause == "" || l.jobs[k.ID].mayEndSilently(k) {
		return ruling{}
	}
	end := k.sentAt.Add(milliseconds(k.Wait))
	return window(k, clause, end, end.Add(maxLateness), at)
}

// isOfState reports whether a ruling is about how a job stands, or how many do, rather than about a value that it has.
func (r *ruling) isOfState() bool {
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
func (l *workqLaw) premises(jobs []*job) func(r *ruling) []string {
	type readied struct{ id, name, clause string }
	var all []readied
	for _, j := range jobs {
		for _, c := range j.possibleStates {
			clause := j.readyClause(c)
			if c.state == ready && clause != addClause && !l.readyClauses[clause] {
				all = append(all, readied{j.ID, j.Name(), prefix + clause})
			}
		}
	}
	return func(r *ruling) (clauseIDs []string) {
		for _, item := range all {
			isAbout := (r.job == "" || r.job == item.id) && (r.queue == "" || r.queue == item.name) && r.isOfState()
			if isAbout && item.clause != prefix+r.clause && !slices.Contains(clauseIDs, item.clause) {
				clauseIDs = append(clauseIDs, item.clause)
			}
		}
		return clauseIDs
	}
}
