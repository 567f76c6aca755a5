package law

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/number"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// mutations are the commands of MUTATE: the clause about each, and where it moves jobs.
var mutations = map[string]struct {
	clause string
	to     model.States
}{
	"kill": {"FKT-MUTATE-01", model.Dead}, "discard": {"FKT-MUTATE-02", model.Absent},
	"requeue": {"FKT-MUTATE-03", model.Enqueued}, "clear": {"FKT-MUTATE-04", model.Absent},
}

// mutateTargets are the targets of MUTATE.
var mutateTargets = map[string]model.States{"scheduled": model.Scheduled, "retries": model.Retries, "dead": model.Dead}

// readMutate reads a MUTATE.
func (w *World) readMutate(k *call, now time.Time) {
	fields := number.Object(k.Args)
	cmd, _ := fields["cmd"].(string)
	target, _ := fields["target"].(string)
	mutation, from := mutations[cmd], mutateTargets[target]
	if fields == nil || mutation.clause == "" || from == 0 {
		k.expect(model.Refused, "FKT-MUTATE-07")
		return
	}
	f, isPlain := newFilter(fields["filter"])
	k.expect(model.Okay, mutation.clause)
	switch {
	case !isPlain && cmd != "clear", bytes.TrimSpace(k.Args)[0] != k.Args[0]:
		k.answers = model.OkayOrRefused
	case bytes.ContainsAny(k.Args, " \t"):
		k.ownClause, k.clause = "FKT-MUTATE-08", "FKT-MUTATE-08"
	}
	k.added.to, k.added.clause = mutation.to, mutation.clause
	for _, j := range w.Jobs {
		if isSelected, isCertain := f.matches(j); cmd == "clear" || !isPlain || isSelected {
			j.advance(now, w.Patience)
			k.allowMove(w, j, from, cmd == "clear" || isPlain && isCertain, now)
		}
	}
}

// filter selects the jobs of a MUTATE: those with one of the jids, or else those that have all that is given.
type filter struct {
	jids            []string
	jobtype, regexp string
}

// newFilter reads a filter. It is not plain if what it selects is not known.
func newFilter(value any) (f filter, isPlain bool) {
	fields, _ := value.(map[string]any)
	for name, value := range fields {
		text, isText := value.(string)
		jids, isList := value.([]any)
		switch {
		case name == "jids" && isList:
			for _, jid := range jids {
				text, isText := jid.(string)
				if f.jids = append(f.jids, text); !isText {
					return f, false
				}
			}
		case name == "jobtype" && isText:
			f.jobtype = text
		case name == "regexp" && isText:
			f.regexp = text
		default:
			return f, false
		}
	}
	return f, len(f.jids) > 0 || f.jobtype != "" || f.regexp != ""
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9-]+$`)

// longWord is the length of a word that stands in no job by chance.
const longWord = 16

// matches reports whether a filter may select a job, and whether it must. Patterns are known as *word* only, where
// the word is in the jid or in the jobtype.
func (f filter) matches(j *Job) (mayMatch, mustMatch bool) {
	mayMatch, mustMatch = true, true
	if f.regexp != "" {
		word := strings.TrimSuffix(strings.TrimPrefix(f.regexp, "*"), "*")
		isPlain := f.regexp == "*"+word+"*" && len(word) >= longWord && plainWord.MatchString(word)
		jobtype, _ := j.pushFields["jobtype"].(string)
		mustMatch = isPlain && (strings.Contains(j.JID, word) || strings.Contains(jobtype, word))
		mayMatch = !isPlain || strings.Contains(formatJSON(j.pushFields)+formatJSON(j.failure), word)
	}
	if f.jobtype != "" {
		isSame := j.pushFields["jobtype"] == f.jobtype
		mayMatch, mustMatch = mayMatch && (isSame || !plainWord.MatchString(f.jobtype)), mustMatch && isSame &&
			plainWord.MatchString(f.jobtype)
	}
	if f.jids != nil { // what else is given may not count
		isSame := slices.Contains(f.jids, j.JID)
		mayMatch, mustMatch = isSame, isSame && f.jobtype == "" && f.regexp == ""
	}
	return mayMatch, mustMatch
}

// scheduleMargin is how far ahead the time of a job is that does not come meanwhile.
const scheduleMargin = 10 * time.Minute

// settledStates returns where a job is that has not moved on by itself yet.
func (j *Job) settledStates(now time.Time) model.States {
	switch {
	case j.States == model.Scheduled|model.Enqueued && j.Deliveries == 0 && j.At().Sub(now) > scheduleMargin:
		return model.Scheduled
	case j.hasJustFailed(now):
		return model.Retries
	}
	return j.States
}

// hasJustFailed reports whether the job waits for its next try, since it cannot be enqueued again yet.
func (j *Job) hasJustFailed(now time.Time) bool {
	return j.States == model.Retries|model.Enqueued && j.Failures > 0 && now.Sub(j.failTime) < model.SoonestRetry
}

// allowMove opens where a job is that a command may move from one of its places.
func (k *call) allowMove(w *World, j *Job, from model.States, isCertain bool, now time.Time) {
	states := j.settledStates(now)
	if states&from == 0 || k.added.to == from {
		return
	}
	m := movement{job: j, oldStates: j.States, openStates: j.States | k.added.to, dueTime: j.dueTime,
		deliveries: j.Deliveries}
	m.isCertain = isCertain && states == from && j.Unjudged == Judged
	j.States, j.dueTime = m.openStates, time.Time{}
	if k.added.to == model.Enqueued {
		if j.isRequeued = true; !slices.Contains(w.queues[j.Queue], j) {
			w.queues[j.Queue] = append(w.queues[j.Queue], j)
		}
	}
	k.added.moves = append(k.added.moves, m)
}

// followMove records that a command has certainly moved a job.
func (w *World) followMove(j *Job, d *pendingVerb, now time.Time) {
	if d.to == model.Enqueued {
		if !plainQueue.MatchString(j.Queue) {
			return
		}
		j.States, j.missingClause, j.enqueuedSince, j.isDeadline = d.to, d.clause, now, true
		j.isUncertain = j.isUncertain || j.Failures > 0
		w.existingQueues[j.Queue] = true
		return
	}
	if j.States, j.deliveryClause, j.flushOrder = d.to, d.clause, w.commands; d.to == model.Absent {
		w.Server.EndJob(j.JID, d.clause)
	}
}
