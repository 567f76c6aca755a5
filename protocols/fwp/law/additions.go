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

// Commands that a profile adds are judged like others, and what they do is followed: the jobs of a PUSHB are jobs like
// others, and QUEUE and MUTATE move jobs. While such a command is under way, both is open of what it is about; its
// answer decides. Where two of them are under way side by side, that stays open.

// addition is a command that a profile adds, while it is under way.
type addition struct {
	jobs   []*call        // the jobs of a PUSHB, as PUSHes
	action string         // of a QUEUE
	queues map[string]int // that it is about, with what was known of each: see World.paused
	moves  []movement     // of jobs
	to     model.Where
	clause string // about jobs that it has moved
}

// movement is what a command does with a job if it is carried out.
type movement struct {
	job           *Job
	before, while model.Where // it is in
	due           time.Time   // of the job, before
	came          int
	certain       bool
}

// perhaps is the value of a queue of which is not known whether it is paused.
const perhaps = -1

// adds reports whether a line is a command that a profile adds.
func (w *World) adds(l *Line) bool {
	return w.Adds != nil && w.Adds(l.Verb) && l.Form == model.Either && l.Clause == "FWP-FRAME-03"
}

// add sets what may be answered to a command that a profile adds, and what it may do.
func (w *World) add(c *Conn, k *call, now time.Time) {
	if c.State == fwp.NotIdentified {
		if k.tooEarly(w.Protected); c.Unjudged != Judged {
			k.allowed = model.Anything
		}
		return
	}
	k.added, k.allowed = &addition{}, model.Anything
	for _, other := range w.Conns {
		if o := other.call; o != nil && o.added != nil && o.added.jobs == nil && k.Verb != "PUSHB" {
			k.beside, o.beside = true, true
		}
	}
	switch k.Verb {
	case "PUSHB":
		w.addJobs(c, k)
	case "QUEUE":
		w.addQueue(k, now)
	case "MUTATE":
		w.addMutate(k, now)
	default: // jobs may come that it stands for
		w.unknownJobs = true
	}
	if c.Unjudged != Judged {
		k.allowed, k.beside = model.Anything, true
	}
}

// may sets what may be answered to a command, and the clause about it. (of a profile)
func (k *call) may(answers model.Answer, clause string) {
	k.allowed, k.own, k.clause = answers, clause, clause
	k.Should = answers == model.Refused
}

// addJobs reads the jobs of a PUSHB. One that is not well formed may have the whole refused, if it does not only lack
// what is required.
func (w *World) addJobs(c *Conn, k *call) {
	var texts []json.RawMessage
	switch err := json.Unmarshal(k.Args, &texts); {
	case err != nil:
		k.may(model.Refused, "FKT-PUSHB-04")
		return
	case texts == nil: // null
		return
	}
	k.may(model.Data, "FKT-PUSHB-01")
	if len(texts) == 0 {
		k.may(model.Data|model.Refused, "FKT-PUSHB-03")
	}
	if len(k.Args) > 32<<10 { // AMB-14
		k.allowed |= model.Refused
	}
	for _, text := range texts {
		l := ReadLine(append([]byte("PUSH "), text...))
		if l.Form != model.Okay && !l.lacks() {
			k.allowed |= model.Refused
		}
		k.added.jobs = append(k.added.jobs, &call{Line: l, at: k.at, order: k.order, allowed: l.Form, beside: k.beside})
	}
	w.unknownJobs = w.unknownJobs || c.Unjudged != Judged
}

// lacks reports whether nothing is wrong with a PUSH but that required fields are missing.
func (l *Line) lacks() bool {
	whole, lacking := map[string]any{"jid": "0123456789abcdef", "jobtype": "t", "args": []any{}}, false
	for name := range whole {
		lacking = lacking || l.Fields[name] == nil
	}
	for name, value := range l.Fields {
		if value != nil {
			whole[name] = value
		}
	}
	filled := ReadLine([]byte("PUSH " + written(whole)))
	return lacking && l.Fields != nil && filled.Form == model.Okay
}

// pushedAll follows the answer to a PUSHB, job by job.
func (w *World) pushedAll(c *Conn, k *call, a model.Answer, text []byte, now time.Time) (v *law.Violation) {
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
				v = w.ofBatch(job, jid, refused, show(jid, reason))
			}
		}
		if answer == model.Okay && job.Form == model.Refused {
			w.disallowed(c, job, answer, now)
		}
		if job.beside = k.beside; job.Fields != nil {
			w.pushed(c, job, answer, now)
		}
		if j := w.Jobs[jid]; j != nil && (j.missing == "FWP-WU-04" || j.missing == "FWP-PUSH-04") {
			j.missing = "FKT-PUSHB-01"
		}
	}
	return v
}

// ofBatch judges whether a job of a PUSHB was refused.
func (w *World) ofBatch(job *call, jid string, refused bool, got string) *law.Violation {
	switch {
	case refused && w.mustTake(job, jid):
		return &law.Violation{
			Clause: "FKT-PUSHB-01", Rule: "refused", JID: jid, Expected: "$={}", Got: got,
			What: "a job that must be stored was refused",
		}
	case !refused && job.lacks():
		return &law.Violation{
			Clause: "FKT-PUSHB-02", Rule: "reply", JID: jid, Expected: `${"` + jid + `":string}`, Got: got,
			What: "the answer does not name a job that lacks a required field",
		}
	}
	return nil
}

// mustTake reports whether a server has to store a job of a PUSHB.
func (w *World) mustTake(job *call, jid string) bool {
	return job.Form == model.Okay && !job.Refusable() && !w.crowded(job) && w.Jobs[jid] == nil
}

// queueClauses are about the subcommands of QUEUE.
var queueClauses = map[string]string{
	"PAUSE": "FKT-QUEUE-01", "RESUME": "FKT-QUEUE-02", "REMOVE": "FKT-QUEUE-03", "LATENCY": "FKT-QUEUE-04",
}

// addQueue reads a QUEUE. Its names are those of queues; a star is all that are known.
func (w *World) addQueue(k *call, now time.Time) {
	names := strings.Fields(string(k.Args))
	if len(names) < 2 || queueClauses[strings.ToUpper(names[0])] == "" {
		if k.may(model.Refused, "FKT-QUEUE-06"); len(names) == 1 && names[0] == "LATENCY" { // of no queue
			k.allowed = model.Anything
		}
		return
	}
	d := k.added
	d.action, d.queues, names = strings.ToUpper(names[0]), map[string]int{}, names[1:]
	d.to, d.clause = model.Gone, queueClauses[d.action]
	known := func(q string) bool { return w.existing[q] && plainQueue.MatchString(q) }
	switch all := slices.Contains(names, "*"); {
	case d.action == "LATENCY" && !all && len(slices.Compact(slices.Sorted(slices.Values(names)))) == len(names):
		k.may(model.Data, d.clause)
	case d.action == "LATENCY":
		k.may(model.Data|model.Refused, d.clause)
	case !all && !slices.ContainsFunc(names, func(q string) bool { return !known(q) }):
		k.may(model.Okay, d.clause)
	default:
		k.may(model.Either, d.clause)
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
		for q := range w.existing {
			names = append(names, q)
		}
		for q := range w.queues {
			names = append(names, q)
		}
	}
	for _, q := range names {
		if _, twice := k.added.queues[q]; twice {
			continue
		}
		k.added.queues[q], w.paused[q] = w.paused[q], perhaps
		for _, other := range w.Conns {
			if o := other.call; o != nil && slices.Contains(o.queues, q) {
				o.certain, o.alone, o.paused = nil, false, true
			}
		}
		if k.added.action == "REMOVE" {
			for _, j := range w.In(q, now) {
				k.mayMove(w, j, model.Enqueued, true, now)
			}
		}
	}
	if k.added.action == "REMOVE" {
		w.besidePushes()
	}
}

// besidePushes records of each push that is under way that the command may have been carried out before.
func (w *World) besidePushes() {
	w.beside(nil, fwp.PUSH)
	w.beside(nil, "PUSHB")
}

// queueAnswered follows the answer to a QUEUE.
func (w *World) queueAnswered(k *call, a model.Answer, now time.Time) {
	for q, before := range k.added.queues {
		switch {
		case k.added.action == "LATENCY", k.beside:
		case a == model.Refused && before != 0:
			w.paused[q] = before
		case a == model.Refused, a == model.Okay && before == 0 && k.added.action != "PAUSE":
			delete(w.paused, q)
		case a != model.Okay || !w.existing[q]:
		case k.added.action == "PAUSE":
			w.paused[q] = w.sent
		case k.added.action == "RESUME":
			w.resumed(q, k.added.clause, now)
		}
		if k.added.action == "REMOVE" && a != model.Refused {
			w.removed(k, q, now)
		}
	}
}

// resumed records that a queue delivers its jobs again.
func (w *World) resumed(queue, clause string, now time.Time) {
	delete(w.paused, queue)
	for _, j := range w.In(queue, now) {
		if j.certain() {
			j.missing, j.since, j.latest = clause, now, true
		}
	}
}

// removed records that a queue is gone, or may be, with what has come to it meanwhile.
func (w *World) removed(k *call, queue string, now time.Time) {
	delete(w.existing, queue)
	w.besidePushes()
	for _, j := range w.In(queue, now) {
		if j.entered >= k.order {
			j.Unjudged = PerhapsGone
		}
	}
}

// latency judges the answer to a QUEUE LATENCY.
func (k *call) latency(text []byte) *law.Violation {
	seconds := number.Object(text)
	for q := range k.added.queues {
		if n, is := seconds[q].(json.Number); !is || strings.HasPrefix(string(n), "-") {
			return &law.Violation{Clause: k.clause, Rule: "reply", Expected: `${"` + q + `":number}`, Got: "$" + string(text)}
		}
	}
	return nil
}

// unsure records that it is not known which queues are paused, and which there are.
func (w *World) unsure() {
	clear(w.existing)
	for q := range w.paused {
		w.paused[q] = perhaps
	}
}

// Paused reports whether a queue may be paused.
func (w *World) Paused(queue string) bool { return w.paused[queue] != 0 }

// fromPaused judges whether the queue of a job that came was paused.
func (w *World) fromPaused(k *call, j *Job) *law.Violation {
	since := w.paused[j.Queue]
	if since <= 0 || k.order <= since || w.Shared || j.Unjudged != Judged {
		return nil
	}
	return &law.Violation{
		Clause: "FKT-QUEUE-01", Rule: "delivered", JID: j.JID, Expected: "$-1", Got: fmt.Sprintf("${%q:%q}", "jid", j.JID),
		What: "the queue of the job was paused before the FETCH was sent, and not resumed",
	}
}

// applied follows the answer to a command that a profile adds, and judges what is in it.
func (w *World) applied(c *Conn, k *call, a model.Answer, text []byte, now time.Time) (v *law.Violation) {
	switch d := k.added; {
	case d.jobs != nil:
		v = w.pushedAll(c, k, a, text, now)
	case d.queues != nil:
		if w.queueAnswered(k, a, now); d.action == "LATENCY" && a == model.Data {
			v = k.latency(text)
		}
	}
	for _, m := range k.added.moves {
		if m.job.Where != m.while || m.job.Came != m.came || k.beside {
			continue
		}
		switch {
		case a == model.Refused:
			m.job.Where, m.job.due = m.before, m.due
		case a == model.Okay && m.certain:
			w.arrived(m.job, k.added, now)
		}
	}
	if c.Unjudged != Judged {
		return nil
	}
	return v
}
