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
	to     model.Where
}{
	"kill": {"FKT-MUTATE-01", model.Dead}, "discard": {"FKT-MUTATE-02", model.Gone},
	"requeue": {"FKT-MUTATE-03", model.Enqueued}, "clear": {"FKT-MUTATE-04", model.Gone},
}

// mutated are the targets of MUTATE.
var mutated = map[string]model.Where{"scheduled": model.Scheduled, "retries": model.Retries, "dead": model.Dead}

// addMutate reads a MUTATE.
func (w *World) addMutate(k *call, now time.Time) {
	fields := number.Object(k.Args)
	cmd, _ := fields["cmd"].(string)
	target, _ := fields["target"].(string)
	how, from := mutations[cmd], mutated[target]
	if fields == nil || how.clause == "" || from == 0 {
		k.may(model.Refused, "FKT-MUTATE-07")
		return
	}
	f, plain := newFilter(fields["filter"])
	k.may(model.Okay, how.clause)
	switch {
	case !plain && cmd != "clear", bytes.TrimSpace(k.Args)[0] != k.Args[0]:
		k.allowed = model.Either
	case bytes.ContainsAny(k.Args, " \t"):
		k.own, k.clause = "FKT-MUTATE-08", "FKT-MUTATE-08"
	}
	k.added.to, k.added.clause = how.to, how.clause
	for _, j := range w.Jobs {
		if some, sure := f.matches(j); cmd == "clear" || !plain || some {
			j.advance(now, w.Patience)
			k.mayMove(w, j, from, cmd == "clear" || plain && sure, now)
		}
	}
}

// filter selects the jobs of a MUTATE: those with one of the jids, or else those that have all that is given.
type filter struct {
	jids            []string
	jobtype, regexp string
}

// newFilter reads a filter. It is not plain if what it selects is not known.
func newFilter(value any) (f filter, plain bool) {
	fields, _ := value.(map[string]any)
	for name, value := range fields {
		text, is := value.(string)
		jids, listed := value.([]any)
		switch {
		case name == "jids" && listed:
			for _, jid := range jids {
				text, is := jid.(string)
				if f.jids = append(f.jids, text); !is {
					return f, false
				}
			}
		case name == "jobtype" && is:
			f.jobtype = text
		case name == "regexp" && is:
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
func (f filter) matches(j *Job) (some, sure bool) {
	some, sure = true, true
	if f.regexp != "" {
		word := strings.TrimSuffix(strings.TrimPrefix(f.regexp, "*"), "*")
		whole := f.regexp == "*"+word+"*" && len(word) >= longWord && plainWord.MatchString(word)
		jobtype, _ := j.sent["jobtype"].(string)
		sure = whole && (strings.Contains(j.JID, word) || strings.Contains(jobtype, word))
		some = !whole || strings.Contains(written(j.sent)+written(j.failure), word)
	}
	if f.jobtype != "" {
		is := j.sent["jobtype"] == f.jobtype
		some, sure = some && (is || !plainWord.MatchString(f.jobtype)), sure && is && plainWord.MatchString(f.jobtype)
	}
	if f.jids != nil { // what else is given may not count
		is := slices.Contains(f.jids, j.JID)
		some, sure = is, is && f.jobtype == "" && f.regexp == ""
	}
	return some, sure
}

// farAway is how far ahead the time of a job is that does not come meanwhile.
const farAway = 10 * time.Minute

// settled returns where a job is that has not moved on by itself yet.
func (j *Job) settled(now time.Time) model.Where {
	switch {
	case j.Where == model.Scheduled|model.Enqueued && j.Came == 0 && j.At().Sub(now) > farAway:
		return model.Scheduled
	case j.justFailed(now):
		return model.Retries
	}
	return j.Where
}

// justFailed reports whether the job waits for its next try, since it cannot be enqueued again yet.
func (j *Job) justFailed(now time.Time) bool {
	return j.Where == model.Retries|model.Enqueued && j.Failures > 0 && now.Sub(j.failed) < model.SoonestRetry
}

// mayMove opens where a job is that a command may move from one of its places.
func (k *call) mayMove(w *World, j *Job, from model.Where, sure bool, now time.Time) {
	where := j.settled(now)
	if where&from == 0 || k.added.to == from {
		return
	}
	m := movement{job: j, before: j.Where, while: j.Where | k.added.to, due: j.due, came: j.Came}
	m.certain = sure && where == from && j.Unjudged == Judged
	j.Where, j.due = m.while, time.Time{}
	if k.added.to == model.Enqueued {
		if j.requeued = true; !slices.Contains(w.queues[j.Queue], j) {
			w.queues[j.Queue] = append(w.queues[j.Queue], j)
		}
	}
	k.added.moves = append(k.added.moves, m)
}

// arrived records that a command has certainly moved a job.
func (w *World) arrived(j *Job, d *addition, now time.Time) {
	if d.to == model.Enqueued {
		if !plainQueue.MatchString(j.Queue) {
			return
		}
		j.Where, j.missing, j.since, j.latest = d.to, d.clause, now, true
		j.uncertain = j.uncertain || j.Failures > 0
		w.existing[j.Queue] = true
		return
	}
	if j.Where, j.reason, j.flushed = d.to, d.clause, w.sent; d.to == model.Gone {
		w.Server.Ends(j.JID, d.clause)
	}
}
