package workercheck

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/jsonnum"
	"github.com/fwpsuite/fwp/internal/monitor"
	"github.com/fwpsuite/fwp/internal/rfc3339"
)

// handed is a job that a producer is handed on its standard input.
type handed struct {
	jid  string
	line string
	unit map[string]any
}

// hand returns a job as it is handed over. Its arguments and further members are JSON that this program has written.
func hand(j job) handed {
	if j.jid == "" {
		j.jid = "fwp" + strings.ToLower(rand.Text())
	}
	if j.args == "" {
		j.args = "[]"
	}
	if j.queue == "" {
		j.queue = theQueues[0]
	}
	if j.jobtype == "" {
		j.jobtype = "fwp.ok"
	}
	h := handed{jid: j.jid, line: fmt.Sprintf(`{"jid":%s,"jobtype":%s,"args":%s,"queue":%s%s}`,
		quoted(j.jid), quoted(j.jobtype), j.args, quoted(j.queue), j.more)}
	v, err := jsonnum.Decode([]byte(h.line))
	if err != nil {
		panic(err)
	}
	h.unit = v.(map[string]any)
	return h
}

// ordinary returns n jobs without anything special.
func ordinary(n int) (jobs []handed) {
	for i := range n {
		jobs = append(jobs, hand(job{args: fmt.Sprintf(`[%d,"two",{"three":[3]}]`, i)}))
	}
	return jobs
}

func linesOf(jobs []handed) (lines []string) {
	for _, j := range jobs {
		lines = append(lines, j.line)
	}
	return lines
}

// accept notes the jobs that the server takes.
func (b *bed) accept(e *fakes.Event) {
	if e.Point != fakes.Defaulted {
		return
	}
	b.hookMu.Lock()
	defer b.hookMu.Unlock()
	b.accepted[e.Object.Text("jid")]++
}

// produce launches the program with jobs on its standard input. With open it may get more of them.
func (b *bed) produce(o options, jobs []handed, open bool) *proc {
	o.given, o.input = jobs, newFeed(linesOf(jobs)...)
	if !open {
		o.input.end()
	}
	return b.launch(o)
}

// handMore hands a process more jobs.
func (b *bed) handMore(p *proc, jobs []handed) {
	p.given = append(p.given, jobs...)
	p.input.add(linesOf(jobs)...)
}

// endPatience is how long a producer may take to its end when its input has ended.
const endPatience = 60 * time.Second

// ends waits for the end of a process that has all its jobs, and reports whether it came.
func (b *bed) ends(p *proc, patience time.Duration) bool {
	p.input.end()
	if !b.until(patience, func() bool { return b.exited(p) }) {
		return false
	}
	b.watchUntilEnd(p, grace)
	return true
}

// finish is ends, and ends the play of a process that stays.
func (b *bed) finish(p *proc) {
	if !b.ends(p, endPatience) {
		b.giveUp(true, "the program did not end within %v of the end of its standard input", endPatience)
	}
}

// notAccepted returns the jids of the jobs of a process that the server has not taken.
func (b *bed) notAccepted(p *proc) (jids []string) {
	b.hookMu.Lock()
	defer b.hookMu.Unlock()
	for _, j := range p.given {
		if b.accepted[j.jid] == 0 {
			jids = append(jids, j.jid)
		}
	}
	return jids
}

// pushedAll reports whether all jobs of a process that is over were taken, and its caller could tell.
func (b *bed) pushedAll(p *proc) bool { return len(b.notAccepted(p)) == 0 && p.Code() == 0 }

// itPushes has a process end, and decides a clause by whether it has pushed its jobs.
func (b *bed) itPushes(p *proc, clause, expected string) {
	b.worksElsewhere()
	b.finish(p)
	b.holds(clause, b.pushedAll(p), expected, fmt.Sprintf("%d of %d jobs were pushed, and the program ended (%s)",
		len(p.given)-len(b.notAccepted(p)), len(p.given), p.How()))
}

// pushes is that of the PUSH of a job.
func pushOf(jid string) is {
	return func(e *monitor.Event) bool {
		return e.Kind == monitor.Line && e.Command.Verb == fwp.PUSH && e.Object["jid"] == jid
	}
}

// asGiven decides whether a process has pushed each of its jobs as it was given, where the server has refused none.
func (b *bed) asGiven(p *proc) {
	b.finish(p)
	missing := b.notAccepted(p)
	switch {
	case len(missing) == 0:
		b.holds("RESP-08", p.Code() == 0, "exit code 0, since each PUSH was accepted", "the program ended with "+p.How())
		b.holds("WU-19", true, "", "")
	case p.Code() == 0:
		b.holds("WU-19", false, fmt.Sprintf("a PUSH of each of %d jobs, or another exit code than 0", len(p.given)),
			"no PUSH was accepted of "+listed(missing)+", and the program ended with exit code 0")
	default:
		b.open("WU-19", fmt.Sprintf("%d of %d jobs were not pushed, and the program ended with %s: it may refuse such jobs",
			len(missing), len(p.given), p.How()))
	}
	b.sameFields(p)
}

// sameFields decides whether the jobs that were pushed have the fields that were given.
func (b *bed) sameFields(p *proc) {
	for _, j := range p.given {
		push := b.find(pushOf(j.jid))
		if push == nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(j.unit)) {
			got, has := push.Object[name]
			if sameField(name, j.unit[name], got) {
				continue
			}
			clause, what := "WU-19", "missing"
			if name == "args" {
				clause = "WU-03"
			}
			if has {
				what = brief(got)
			}
			b.holds(clause, false, name+" "+brief(j.unit[name])+", as it was given", name+" of the job "+j.jid+" is "+what)
			b.at(push)
			return
		}
	}
}

func brief(v any) string {
	const most = 120
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if len(text) > most {
		return string(text[:most]) + "..."
	}
	return string(text)
}

// sameField reports whether a field was pushed as it was given. A null counts as omitted, and times are compared as
// instants, to the millisecond.
func sameField(name string, given, got any) bool {
	if given == nil {
		return got == nil
	}
	if name == "at" || name == "created_at" {
		a, is := given.(string)
		c, also := got.(string)
		return is && also && sameInstant(a, c)
	}
	return sameValue(given, got)
}

func sameInstant(a, b string) bool {
	x, err := rfc3339.Parse(a)
	y, failed := rfc3339.Parse(b)
	return err == nil && failed == nil && x.Sub(y).Abs() < time.Millisecond
}

// sameValue compares two values of JSON; numbers by their values.
func sameValue(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		n, is := b.(json.Number)
		return is && jsonnum.Equal(a, n)
	case []any:
		list, is := b.([]any)
		return is && slices.EqualFunc(a, list, sameValue)
	case map[string]any:
		object, is := b.(map[string]any)
		return is && maps.EqualFunc(a, object, sameValue)
	}
	return a == b
}

// outcomes returns what a process has printed about its jobs: "pushed" or "refused" by jid.
func (p *proc) outcomes() map[string]string {
	all := map[string]string{}
	for _, line := range p.Lines() {
		if word, jid, is := strings.Cut(line, " "); is && (word == "pushed" || word == "refused") {
			all[jid] = word
		}
	}
	return all
}

// toldRight decides whether the caller was told of each job what became of it: by the exit code, and by what the
// program printed.
func (b *bed) toldRight(p *proc, refused map[string]bool) {
	if b.find(func(e *monitor.Event) bool {
		return e.Kind == monitor.Reply && e.To == fwp.PUSH && e.Reply.Kind == fwp.ErrorReply
	}) == nil {
		b.giveUp(true, "the program pushed none of the jobs that were to be refused")
	}
	b.holds("RESP-09", p.Code() != 0, "another exit code than 0, since a PUSH was refused",
		"the program ended with exit code 0")
	told := p.outcomes()
	for _, j := range p.given {
		answer := b.answerTo(j.jid)
		if answer == nil || told[j.jid] == "" {
			continue
		}
		right := "pushed"
		if answer.Reply.Kind == fwp.ErrorReply {
			right = "refused"
		}
		if told[j.jid] != right {
			b.holds("RESP-09", false, `"`+right+" "+j.jid+`", as the reply to its PUSH says`,
				`the program printed "`+told[j.jid]+" "+j.jid+`"`)
			b.at(answer)
			return
		}
	}
	b.openTold(p, refused, told)
}

// openTold leaves open what a process did not show.
func (b *bed) openTold(p *proc, refused map[string]bool, told map[string]string) {
	without := slices.DeleteFunc(b.notAccepted(p), func(jid string) bool { return refused[jid] })
	switch {
	case len(without) > 0:
		b.open("RESP-09", fmt.Sprintf("%d of the jobs that were not refused were not pushed; the program ended with %s",
			len(without), p.How()))
	case len(told) == 0:
		b.open("RESP-09", `it prints no "pushed JID" and "refused JID", so that it is not known what it made of each reply`)
	}
}

// answerTo returns the last reply to the PUSH of a job; nil if there is none.
func (b *bed) answerTo(jid string) *monitor.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	waiting, answer := map[int]string{}, -1
	for i, e := range b.events {
		switch {
		case e.Kind == monitor.Line && e.Command.Verb == fwp.PUSH:
			waiting[e.Conn], _ = e.Object["jid"].(string)
		case e.Kind == monitor.Reply && e.To == fwp.PUSH && waiting[e.Conn] == jid:
			answer = i
		}
	}
	if answer < 0 {
		return nil
	}
	e := b.events[answer]
	return &e
}

// atOnce returns how many PUSHes of a process waited for their replies at a time.
func (b *bed) atOnce(p *proc) int {
	waiting, most := map[int]bool{}, 0
	for _, e := range b.all(p.of(func(e *monitor.Event) bool { return true })) {
		switch {
		case e.Kind == monitor.Line && e.Command.Verb == fwp.PUSH:
			waiting[e.Conn] = true
		case e.Kind == monitor.Reply && e.To == fwp.PUSH, e.Kind == monitor.Closed:
			delete(waiting, e.Conn)
		}
		most = max(most, len(waiting))
	}
	return most
}

// refuseThese returns a hook that answers the PUSH of some jobs with an error of this text.
func refuseThese(refused map[string]bool, text func(jid string) string) func(*fakes.Event) {
	return func(e *fakes.Event) {
		if e.Command.Verb != fwp.PUSH || e.Object == nil || !refused[e.Object.Text("jid")] {
			return
		}
		switch e.Point {
		case fakes.Checked:
			e.Skip = true
		case fakes.Ran:
			e.Reply = fwp.Reply{Kind: fwp.ErrorReply, Text: []byte(text(e.Object.Text("jid")))}
		}
	}
}
