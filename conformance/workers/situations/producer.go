package situations

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/workers"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// ordinary returns n jobs without anything special.
func ordinary(n int) (units []unit) {
	for i := range n {
		units = append(units, job{args: fmt.Sprintf(`[%d,"two",{"three":[3]}]`, i)}.unit(theQueues[0]))
	}
	return units
}

func jsonOf(units []unit) (lines []string) {
	for _, u := range units {
		lines = append(lines, u.json)
	}
	return lines
}

// accept is a hook that notes the jobs that the server takes.
func (t *trial) accept(e *fakes.Event) {
	if e.Point != fakes.Defaulted {
		return
	}
	t.hookMu.Lock()
	defer t.hookMu.Unlock()
	t.accepted[e.Object.Text("jid")] = true
}

// produce launches the program with jobs on its standard input, which has ended then.
func (t *trial) produce(o options, units ...unit) *program {
	p := t.produceOpen(o, units...)
	p.input.end()
	return p
}

// produceOpen launches the program with jobs on its standard input. It may get more of them.
func (t *trial) produceOpen(o options, units ...unit) *program {
	o.given, o.input = units, newInput(jsonOf(units)...)
	return t.launch(o)
}

// giveMore gives a process more jobs.
func (t *trial) giveMore(p *program, units ...unit) {
	p.given = append(p.given, units...)
	p.input.add(jsonOf(units)...)
}

// endPatience is how long a producer may take to its end when its input has ended.
const endPatience = 60 * time.Second

// ends waits for the end of a process that has all its jobs, and reports whether it came.
func (t *trial) ends(p *program, patience time.Duration) bool {
	p.input.end()
	if !t.until(patience, func() bool { return t.exited(p) }) {
		return false
	}
	t.watch(p, timeToAct)
	return true
}

// mustEnd waits for the end of a process that has all its jobs, and ends the play of one that stays.
func (t *trial) mustEnd(p *program) {
	if !t.ends(p, endPatience) {
		t.giveUp(true, "the program did not end within %v of the end of its standard input", endPatience)
	}
}

// mustPush waits until the server has taken all jobs of a process, and ends the play otherwise.
func (t *trial) mustPush(p *program) {
	if !t.untilOrEnd(p, soon, func() bool { return len(t.notAccepted(p)) == 0 }) || t.exited(p) {
		t.giveUp(true, "%d of %d jobs were pushed within %v, while the standard input was still open",
			len(p.given)-len(t.notAccepted(p)), len(p.given), soon)
	}
}

// notAccepted returns the jids of the jobs of a process that the server has not taken.
func (t *trial) notAccepted(p *program) (jids []string) {
	t.hookMu.Lock()
	defer t.hookMu.Unlock()
	for _, u := range p.given {
		if !t.accepted[u.jid] {
			jids = append(jids, u.jid)
		}
	}
	return jids
}

// pushedAll reports whether all jobs of a process that is over were taken, and its caller could tell.
func (t *trial) pushedAll(p *program) bool { return len(t.notAccepted(p)) == 0 && p.Code() == 0 }

// itPushes has a process end, and decides a clause by whether it has pushed its jobs.
func (t *trial) itPushes(p *program, clause, expected string) {
	t.worksElsewhere()
	t.mustEnd(p)
	t.holds(clause, t.pushedAll(p), expected, fmt.Sprintf("%d of %d jobs were pushed, and the program ended (%s)",
		len(p.given)-len(t.notAccepted(p)), len(p.given), p.How()))
}

// asGiven decides whether a process has pushed each of its jobs as it was given, where the server has refused none.
func (t *trial) asGiven(p *program) {
	t.mustEnd(p)
	missing := t.notAccepted(p)
	switch {
	case len(missing) == 0:
		t.holds("RESP-08", p.Code() == 0, "exit code 0, since each PUSH was accepted", "the program ended with "+p.How())
		t.kept("WU-19")
	case p.Code() == 0:
		t.holds("WU-19", false, fmt.Sprintf("a PUSH of each of %d jobs, or another exit code than 0", len(p.given)),
			"no PUSH was accepted of "+listed(missing)+", and the program ended with exit code 0")
	default:
		t.open("WU-19", fmt.Sprintf("%d of %d jobs were not pushed, and the program ended with %s: it may refuse such jobs",
			len(missing), len(p.given), p.How()))
	}
	t.hasFields(p)
}

// hasFields decides whether the jobs that were pushed have the fields that were given.
func (t *trial) hasFields(p *program) {
	for _, u := range p.given {
		push, given := t.first(pushOf(u.jid)), decoded(u.json).(map[string]any)
		if push == nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(given)) {
			got, has := push.Object[name]
			if sameField(name, given[name], got) {
				continue
			}
			clause, what := "WU-19", "missing"
			if name == "args" {
				clause = "WU-03"
			}
			if has {
				what = shortJSON(got)
			}
			t.holds(clause, false, name+" "+shortJSON(given[name])+", as it was given", name+" of the job "+u.jid+" is "+what)
			t.shownBy(push)
			return
		}
	}
}

// notLost decides whether each job of a process is on the server, or its caller could tell that one may not be.
func (t *trial) notLost(p *program) {
	missing := t.notAccepted(p)
	t.holds("WU-19", len(missing) == 0 || p.Code() != 0, "each job on the server, or another exit code than 0",
		"the server has not taken "+listed(missing)+", and the program ended with exit code 0")
	if len(missing) > 0 {
		t.shownBy(t.first(pushOf(missing[0])))
	}
}

// printed returns what a process has printed about its jobs: "pushed" or "refused" by jid.
func (p *program) printed() map[string]string {
	all := map[string]string{}
	for _, line := range p.Lines() {
		if word, jid, is := strings.Cut(line, " "); is && (word == "pushed" || word == "refused") {
			all[jid] = word
		}
	}
	return all
}

// tellsCaller decides whether the caller learned of each job whether it was pushed: by the exit code, and by what the
// program printed.
func (t *trial) tellsCaller(p *program, refused map[string]bool) {
	if !t.has(refusal(fwp.PUSH)) {
		t.giveUp(true, "the program pushed none of the jobs that were to be refused")
	}
	t.holds("RESP-09", p.Code() != 0, "another exit code than 0, since a PUSH was refused",
		"the program ended with exit code 0")
	printed := p.printed()
	for _, u := range p.given {
		answer := t.answerTo(u.jid)
		if answer == nil || printed[u.jid] == "" {
			continue
		}
		want := "pushed"
		if answer.IsError() {
			want = "refused"
		}
		if printed[u.jid] != want {
			t.holds("RESP-09", false, `"`+want+" "+u.jid+`", as the reply to its PUSH says`,
				`the program printed "`+printed[u.jid]+" "+u.jid+`"`)
			t.shownBy(answer)
			return
		}
	}
	without := slices.DeleteFunc(t.notAccepted(p), func(jid string) bool { return refused[jid] })
	switch {
	case len(without) > 0:
		t.open("RESP-09", fmt.Sprintf("%d of the jobs that were not refused were not pushed; the program ended with %s",
			len(without), p.How()))
	case len(printed) == 0:
		t.open("RESP-09", `it prints no "pushed JID" and "refused JID", so that it is not known what it made of each reply`)
	}
}

// answerTo returns the last reply to the PUSH of a job; nil if there is none.
func (t *trial) answerTo(jid string) (answer *workers.Event) {
	waiting := map[int]string{}
	for _, e := range t.all(func(e *workers.Event) bool { return e.Verb() == fwp.PUSH || reply(fwp.PUSH)(e) }) {
		if e.Kind == workers.Line {
			waiting[e.Conn] = e.Text("jid")
		} else if waiting[e.Conn] == jid {
			answer = &e
		}
	}
	return answer
}

// atOnce returns how many PUSHes of a process waited for their replies at a time.
func (t *trial) atOnce(p *program) int {
	waiting, most := map[int]bool{}, 0
	for _, e := range t.all(p.events(func(*workers.Event) bool { return true })) {
		switch {
		case e.Verb() == fwp.PUSH:
			waiting[e.Conn] = true
		case reply(fwp.PUSH)(&e), e.Kind == workers.Closed:
			delete(waiting, e.Conn)
		}
		most = max(most, len(waiting))
	}
	return most
}
