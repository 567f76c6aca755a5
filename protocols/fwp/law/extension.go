package law

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/base/number"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// Commands that an extension adds are judged like others, and what they do is followed: the jobs of a PUSHB are jobs
// like others, and QUEUE and MUTATE move jobs. While such a command is under way, both is open of what it is about; its
// answer decides. Where two of them are under way side by side, that stays open.

// pendingVerb is a command that an extension adds, while it is under way.
type pendingVerb struct {
	jobs   []*call        // the jobs of a PUSHB, as PUSHes
	action string         // of a QUEUE
	queues map[string]int // that it is about, with what was known of each: see World.pausedQueues
	moves  []movement     // of jobs
	to     model.States
	clause string // about jobs that it has moved
}

// movement is what a command does with a job if it is carried out.
type movement struct {
	job                   *Job
	oldStates, openStates model.States // it is in
	dueTime               time.Time    // of the job, before
	deliveries            int
	isCertain             bool
}

// pauseUnknown is the value of a queue of which is not known whether it is paused.
const pauseUnknown = -1

// isExtensionVerb reports whether a line is a command that an extension adds.
func (w *World) isExtensionVerb(l *Line) bool {
	return w.HasExtensionVerb != nil && w.HasExtensionVerb(l.Verb) && l.Form == model.OkayOrRefused &&
		l.Clause == "FWP-FRAME-03"
}

// allowAdded sets what may be answered to a command that an extension adds, and what it may do.
func (w *World) allowAdded(c *Conn, k *call, now time.Time) {
	if c.State == fwp.NotIdentified {
		if k.allowEarly(w.Protected); c.Unjudged != Judged {
			k.answers = model.AnyAnswer
		}
		return
	}
	k.added, k.answers = &pendingVerb{}, model.AnyAnswer
	for _, other := range w.Conns {
		if o := other.call; o != nil && o.added != nil && o.added.jobs == nil && k.Verb != "PUSHB" {
			k.hasOverlap, o.hasOverlap = true, true
		}
	}
	switch k.Verb {
	case "PUSHB":
		w.readBatch(c, k)
	case "QUEUE":
		w.readQueue(k, now)
	case "MUTATE":
		w.readMutate(k, now)
	default: // jobs may come that it stands for
		w.hasUnknownJobs = true
	}
	if c.Unjudged != Judged {
		k.answers, k.hasOverlap = model.AnyAnswer, true
	}
}

// expect sets what may be answered to a command, and the clause about it. (of an extension)
func (k *call) expect(answers model.Answer, clause string) {
	k.answers, k.ownClause, k.clause = answers, clause, clause
	k.IsRecommendation = answers == model.Refused
}

// readBatch reads the jobs of a PUSHB. One that is not well formed may have the whole refused, if it does not only lack
// what is required.
func (w *World) readBatch(c *Conn, k *call) {
	var texts []json.RawMessage
	switch err := json.Unmarshal(k.Args, &texts); {
	case err != nil:
		k.expect(model.Refused, "FKT-PUSHB-04")
		return
	case texts == nil: // null
		return
	}
	k.expect(model.Data, "FKT-PUSHB-01")
	if len(texts) == 0 {
		k.expect(model.Data|model.Refused, "FKT-PUSHB-03")
	}
	if len(k.Args) > 32<<10 { // AMB-14
		k.answers |= model.Refused
	}
	for _, text := range texts {
		l := ReadLine(append([]byte("PUSH "), text...))
		if l.Form != model.Okay && !l.lacksFields() {
			k.answers |= model.Refused
		}
		k.added.jobs = append(k.added.jobs, &call{Line: l, at: k.at, order: k.order, answers: l.Form,
			hasOverlap: k.hasOverlap})
	}
	w.hasUnknownJobs = w.hasUnknownJobs || c.Unjudged != Judged
}

// lacksFields reports whether nothing is wrong with a PUSH but that required fields are missing.
func (l *Line) lacksFields() bool {
	fields, isLacking := map[string]any{"jid": "0123456789abcdef", "jobtype": "t", "args": []any{}}, false
	for name := range fields {
		isLacking = isLacking || l.Fields[name] == nil
	}
	for name, value := range l.Fields {
		if value != nil {
			fields[name] = value
		}
	}
	filled := ReadLine([]byte("PUSH " + formatJSON(fields)))
	return isLacking && l.Fields != nil && filled.Form == model.Okay
}

// followBatch follows the answer to a PUSHB, job by job.
func (w *World) followBatch(c *Conn, k *call, a model.Answer, text []byte, now time.Time) (v *law.Violation) {
	refusals, count := number.Object(text), map[string]int{}
	for _, job := range k.added.jobs {
		count[job.text("jid")]++
	}
	for _, job := range k.added.jobs {
		jid, answer := job.text("jid"), a
		if a == model.Data {
			reason, refused := refusals[jid]
			if answer = model.Okay; refused {
				answer = model.Refused
			}
			if v == nil && count[jid] == 1 {
				v = w.judgeBatch(job, jid, refused, show(jid, reason))
			}
		}
		if answer == model.Okay && job.Form == model.Refused {
			w.unjudgeEffects(c, job, answer, now)
		}
		if job.hasOverlap = k.hasOverlap; job.Fields != nil {
			w.followPush(c, job, answer, now)
		}
		if j := w.Jobs[jid]; j != nil && (j.missingClause == "FWP-WU-04" || j.missingClause == "FWP-PUSH-04") {
			j.missingClause = "FKT-PUSHB-01"
		}
	}
	return v
}

// judgeBatch judges whether a job of a PUSHB was refused.
func (w *World) judgeBatch(job *call, jid string, refused bool, got string) *law.Violation {
	switch {
	case refused && w.mustStore(job, jid):
		return &law.Violation{
			Clause: "FKT-PUSHB-01", Rule: "refused", JID: jid, Expected: "$={}", Got: got,
			Detail: "a job that must be stored was refused",
		}
	case !refused && job.lacksFields():
		return &law.Violation{
			Clause: "FKT-PUSHB-02", Rule: "reply", JID: jid, Expected: `${"` + jid + `":string}`, Got: got,
			Detail: "the answer does not name a job that lacks a required field",
		}
	}
	return nil
}

// mustStore reports whether a server has to store a job of a PUSHB.
func (w *World) mustStore(job *call, jid string) bool {
	return job.Form == model.Okay && !job.IsRefusable() && !w.mayLackRoom(job) && w.Jobs[jid] == nil
}

// queueClauses are about the subcommands of QUEUE.
var queueClauses = map[string]string{
	"PAUSE": "FKT-QUEUE-01", "RESUME": "FKT-QUEUE-02", "REMOVE": "FKT-QUEUE-03", "LATENCY": "FKT-QUEUE-04",
}

// readQueue reads a QUEUE. Its names are those of queues; a star is all that are known.
func (w *World) readQueue(k *call, now time.Time) {
	names := strings.Fields(string(k.Args))
	if len(names) < 2 || queueClauses[strings.ToUpper(names[0])] == "" {
		if k.expect(model.Refused, "FKT-QUEUE-06"); len(names) == 1 && names[0] == "LATENCY" { // of no queue
			k.answers = model.AnyAnswer
		}
		return
	}
	d := k.added
	d.action, d.queues, names = strings.ToUpper(names[0]), map[string]int{}, names[1:]
	d.to, d.clause = model.Absent, queueClauses[d.action]
	isKnown := func(q string) bool { return w.existingQueues[q] && plainQueue.MatchString(q) }
	switch all := slices.Contains(names, "*"); {
	case d.action == "LATENCY" && !all && len(slices.Compact(slices.Sorted(slices.Values(names)))) == len(names):
		k.expect(model.Data, d.clause)
	case d.action == "LATENCY":
		k.expect(model.Data|model.Refused, d.clause)
	case !all && !slices.ContainsFunc(names, func(q string) bool { return !isKnown(q) }):
		k.expect(model.Okay, d.clause)
	default:
		k.expect(model.OkayOrRefused, d.clause)
	}
	if d.action == "LATENCY" {
		for _, q := range names {
			d.queues[q] = 0
		}
		return
	}
	w.affect(k, names, now)
}

// affect opens what a QUEUE may change.
func (w *World) affect(k *call, names []string, now time.Time) {
	if slices.Contains(names, "*") {
		for q := range w.existingQueues {
			names = append(names, q)
		}
		for q := range w.queues {
			names = append(names, q)
		}
	}
	for _, q := range names {
		if _, isRepeated := k.added.queues[q]; isRepeated {
			continue
		}
		k.added.queues[q], w.pausedQueues[q] = w.pausedQueues[q], pauseUnknown
		for _, other := range w.Conns {
			if o := other.call; o != nil && slices.Contains(o.queues, q) {
				o.certainJobs, o.isAlone, o.mayBePaused = nil, false, true
			}
		}
		if k.added.action == "REMOVE" {
			for _, j := range w.JobsIn(q, now) {
				k.allowMove(w, j, model.Enqueued, true, now)
			}
		}
	}
	if k.added.action == "REMOVE" {
		w.overlapPushes()
	}
}

// overlapPushes records of each push that is under way that the command may have been carried out before.
func (w *World) overlapPushes() {
	w.overlapAll(nil, fwp.PUSH)
	w.overlapAll(nil, "PUSHB")
}

// followQueue follows the answer to a QUEUE.
func (w *World) followQueue(k *call, a model.Answer, now time.Time) {
	for q, before := range k.added.queues {
		switch {
		case k.added.action == "LATENCY", k.hasOverlap:
		case a == model.Refused && before != 0:
			w.pausedQueues[q] = before
		case a == model.Refused, a == model.Okay && before == 0 && k.added.action != "PAUSE":
			delete(w.pausedQueues, q)
		case a != model.Okay || !w.existingQueues[q]:
		case k.added.action == "PAUSE":
			w.pausedQueues[q] = w.commands
		case k.added.action == "RESUME":
			w.followResume(q, k.added.clause, now)
		}
		if k.added.action == "REMOVE" && a != model.Refused {
			w.followRemoval(k, q, now)
		}
	}
}

// followResume records that a queue delivers its jobs again.
func (w *World) followResume(queue, clause string, now time.Time) {
	delete(w.pausedQueues, queue)
	for _, j := range w.JobsIn(queue, now) {
		if j.isCertain() {
			j.missingClause, j.enqueuedSince, j.isDeadline = clause, now, true
		}
	}
}

// followRemoval records that a queue is gone, or may be, with what has come to it meanwhile.
func (w *World) followRemoval(k *call, queue string, now time.Time) {
	delete(w.existingQueues, queue)
	w.overlapPushes()
	for _, j := range w.JobsIn(queue, now) {
		if j.pushOrder >= k.order {
			j.Unjudged = PerhapsFlushed
		}
	}
}

// judgeLatency judges the answer to a QUEUE LATENCY.
func (k *call) judgeLatency(text []byte) *law.Violation {
	seconds := number.Object(text)
	for q := range k.added.queues {
		if n, ok := seconds[q].(json.Number); !ok || strings.HasPrefix(string(n), "-") {
			return &law.Violation{Clause: k.clause, Rule: "reply", Expected: `${"` + q + `":number}`, Got: "$" + string(text)}
		}
	}
	return nil
}

// forgetQueues records that it is not known which queues are paused, and which there are.
func (w *World) forgetQueues() {
	clear(w.existingQueues)
	for q := range w.pausedQueues {
		w.pausedQueues[q] = pauseUnknown
	}
}

// MayBePaused reports whether a queue may be paused.
func (w *World) MayBePaused(queue string) bool { return w.pausedQueues[queue] != 0 }

// judgePaused judges whether the queue of a job that came was paused.
func (w *World) judgePaused(k *call, j *Job) *law.Violation {
	since := w.pausedQueues[j.Queue]
	if since <= 0 || k.order <= since || w.Shared || j.Unjudged != Judged {
		return nil
	}
	return &law.Violation{
		Clause: "FKT-QUEUE-01", Rule: "delivered", JID: j.JID, Expected: "$-1", Got: fmt.Sprintf("${%q:%q}", "jid", j.JID),
		Detail: "the queue of the job was paused before the FETCH was sent, and not resumed",
	}
}

// followAdded follows the answer to a command that an extension adds, and judges what is in it.
func (w *World) followAdded(c *Conn, k *call, a model.Answer, text []byte, now time.Time) (v *law.Violation) {
	switch d := k.added; {
	case d.jobs != nil:
		v = w.followBatch(c, k, a, text, now)
	case d.queues != nil:
		if w.followQueue(k, a, now); d.action == "LATENCY" && a == model.Data {
			v = k.judgeLatency(text)
		}
	}
	for _, m := range k.added.moves {
		if m.job.States != m.openStates || m.job.Deliveries != m.deliveries || k.hasOverlap {
			continue
		}
		switch {
		case a == model.Refused:
			m.job.States, m.job.dueTime = m.oldStates, m.dueTime
		case a == model.Okay && m.isCertain:
			w.followMove(m.job, k.added, now)
		}
	}
	if c.Unjudged != Judged {
		return nil
	}
	return v
}
