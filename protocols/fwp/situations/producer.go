package situations

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
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
	jid := e.Object.Text("jid")
	t.accepted[jid] = append(t.accepted[jid], jid)
	const most = 100 // bytes of the arguments by which a job is known, whatever stands around the number
	if args := e.Object.Given("args"); len(args) <= most {
		digit := func(r rune) rune {
			if r < '0' || r > '9' {
				return -1
			}
			return r
		}
		name := numbered(strings.Map(digit, string(args))).name()
		t.accepted[name] = append(t.accepted[name], jid)
	}
}

// withoutJIDs returns n jobs to which no jid is given.
func withoutJIDs(first, n int) (units []unit) {
	for i := range n {
		units = append(units, numbered(strconv.Itoa(first+i)))
	}
	return units
}

// numbered returns a job to which no jid is given, whose argument is a number.
func numbered(n string) unit {
	args := "[" + n + "]"
	return unit{args: args, json: fmt.Sprintf(`{"jobtype":"fwp.ok","args":%s,"queue":%q}`, args, theQueues[0])}
}

// produce launches the program with jobs on its standard input, which has ended then.
func (t *trial) produce(o options, units ...unit) *program {
	if t.harness.readsAll {
		o.given, o.input = units, newInput(jsonOf(units)...)
		o.input.end()
		return t.launch(o)
	}
	p := t.produceOpen(o, units...)
	p.input.end()
	return p
}

// produceOpen launches the program with jobs on its standard input. It may get more of them, unless it needs all at
// once: the play is left out then.
func (t *trial) produceOpen(o options, units ...unit) *program {
	if t.harness.readsAll {
		t.leaveOut("needs-input", "the program reads its input to the end before it pushes a job")
	}
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
	from := t.now()
	if !t.ends(p, endPatience) {
		t.giveUp(true, "the program did not end within %v after the end of its standard input: %s", endPatience,
			t.tried(p, from+endPatience/2))
	}
}

// tried says what a process that does not end has tried since a time, as far as that is seen on its connections.
func (t *trial) tried(p *program, since time.Duration) string {
	opened, lines := t.count(after(since, p.events(ofKind(clientrules.Opened)))), t.count(after(since, p.lines(verbs...)))
	span := (t.now() - since).Round(time.Second)
	if opened+lines == 0 {
		return fmt.Sprintf("in the last %v it opened no connection and sent no command", span)
	}
	return fmt.Sprintf("it keeps trying (in the last %v: %d connections, %d commands)", span, opened, lines)
}

// mustPush waits until the server has taken all jobs of a process, and ends the play otherwise.
func (t *trial) mustPush(p *program) {
	if !t.untilOrEnd(p, soon, func() bool { return len(t.notAccepted(p)) == 0 }) || t.exited(p) {
		missing := t.notAccepted(p)
		t.giveUp(true, "%s within %v, with its standard input still open", notPushed(p, missing), soon)
	}
}

// notPushed says how many of the jobs of a process were not pushed, and which.
func notPushed(p *program, missing []string) string {
	if len(missing) == 0 {
		return fmt.Sprintf("all of %d jobs were pushed", len(p.given))
	}
	return fmt.Sprintf("%d of %d jobs were not pushed (%s)", len(missing), len(p.given), listed(missing))
}

// notAccepted returns the names of the jobs of a process that the server has not taken.
func (t *trial) notAccepted(p *program) (names []string) {
	t.hookMu.Lock()
	defer t.hookMu.Unlock()
	for _, u := range p.given {
		if len(t.accepted[u.name()]) == 0 {
			names = append(names, u.name())
		}
	}
	return names
}

// twice says which job of a process, to which no jid was given, the server has taken under several: empty if none.
// They are several jobs for all who see them.
func (t *trial) twice(p *program) string {
	t.hookMu.Lock()
	defer t.hookMu.Unlock()
	for _, u := range p.given {
		jids := slices.Compact(slices.Sorted(slices.Values(t.accepted[u.name()])))
		if len(jids) > 1 {
			return fmt.Sprintf("%s was pushed with %d jids (%s), so it is that many jobs", u.name(), len(jids), listed(jids))
		}
	}
	return ""
}

// pushedAll reports whether all jobs of a process that is over were taken, and its caller could tell.
func (t *trial) pushedAll(p *program) bool { return len(t.notAccepted(p)) == 0 && p.Code() == 0 }

// itPushes has a process end, decides a clause by whether it has pushed its jobs, and reports that.
func (t *trial) itPushes(p *program, clause, expected string) bool {
	t.worksElsewhere()
	t.mustEnd(p)
	t.holds(clause, t.pushedAll(p), expected,
		fmt.Sprintf("%s, and the program ended (%s)", notPushed(p, t.notAccepted(p)), p.How()))
	return t.printsTrue(p) && t.pushedAll(p)
}

// asGiven decides whether a process has pushed each of its jobs as it was given, where the server has refused none.
func (t *trial) asGiven(p *program) {
	t.mustEnd(p)
	missing := t.notAccepted(p)
	switch {
	case len(missing) == 0:
		t.holds("RESP-08", p.Code() == 0, "exit code 0, because each PUSH was accepted", "the program ended with "+p.How())
		t.kept("WU-19")
	case p.Code() == 0:
		t.holds("WU-19", false, fmt.Sprintf("a PUSH of each of %d jobs, or an exit code other than 0", len(p.given)),
			"no PUSH was accepted of "+listed(missing)+", and the program ended with exit code 0")
	default:
		t.open("WU-19", fmt.Sprintf("%s, and the program ended with %s: it may refuse such jobs", notPushed(p, missing),
			p.How()))
	}
	if again := t.twice(p); again != "" {
		t.holds("WU-19", false, "one job for each given job", again)
	}
	t.hasFields(p)
	t.printsTrue(p)
}

// hasFields decides whether the jobs that were pushed have the fields that were given.
func (t *trial) hasFields(p *program) {
	for _, u := range p.given {
		push, given := t.first(pushOf(u.jid)), decoded(u.json).(map[string]any)
		if push == nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(given)) {
			got, has := pushedBy(push, u.jid)[name]
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
	t.holds("WU-19", len(missing) == 0 || p.Code() != 0, "each job on the server, or an exit code other than 0",
		"the server did not accept "+listed(missing)+", and the program ended with exit code 0")
	if len(missing) > 0 {
		t.shownBy(t.first(pushOf(missing[0])))
	}
	t.printsTrue(p)
}

// printed returns the words that a process has printed about its jobs, by jid: "pushed", "refused", or
// "pushed and refused" if it has printed both.
func (p *program) printed() map[string]string {
	all := map[string]string{}
	for _, line := range p.Lines() {
		if word, jid, is := strings.Cut(line, " "); is && (word == "pushed" || word == "refused") {
			if before := all[jid]; before != "" && before != word {
				word = "pushed and refused"
			}
			all[jid] = word
		}
	}
	return all
}

// tellsCaller decides whether the caller learned of each job whether it was pushed: by the exit code, and by what the
// program printed.
func (t *trial) tellsCaller(p *program, refused map[string]bool) {
	if !slices.ContainsFunc(p.given, func(u unit) bool {
		answer := t.answerTo(u.jid)
		return answer != nil && answer.IsError()
	}) {
		t.giveUp(true, "the program pushed none of the jobs that were to be refused")
	}
	t.holds("RESP-09", p.Code() != 0, "an exit code other than 0, because a PUSH was refused",
		"the program ended with exit code 0")
	if !t.printsTrue(p) {
		return
	}
	without := slices.DeleteFunc(t.notAccepted(p), func(jid string) bool { return refused[jid] })
	switch {
	case len(without) > 0:
		t.open("RESP-09", fmt.Sprintf("%d of the jobs that were not refused were not pushed (%s); the program ended with %s",
			len(without), listed(without), p.How()))
	case len(p.printed()) == 0:
		t.open("RESP-09", `it prints no "pushed JID" and "refused JID", so its view of each reply is unknown`)
	}
}

// printsTrue decides whether what a process has printed about the jobs that it was given is what the replies to their
// PUSHes say: "pushed" needs an OK, and "refused" is wrong where the program has read one.
func (t *trial) printsTrue(p *program) (isTrue bool) {
	printed := p.printed()
	for _, u := range p.given {
		said, answer := printed[u.jid], t.answerTo(u.jid)
		switch is := answer != nil && !answer.IsError(); {
		case said == "", said == "pushed" && is, said == "refused" && (!is || !t.wasRead(answer)):
			continue
		case answer == nil:
			t.holds("WU-19", false, `no "pushed `+u.jid+`" without an OK to its PUSH`, `the program printed "pushed `+u.jid+`"`)
		default:
			t.holds("RESP-09", false, `what the reply to the PUSH of `+u.jid+` says`,
				`the program printed "`+said+" "+u.jid+`"`)
		}
		t.shownBy(cmp.Or(answer, t.first(pushOf(u.jid))))
		return false
	}
	return true
}

// answerTo returns the last reply to the PUSH of a job; nil if there is none. That to a PUSHB is an error for the jobs
// that it names.
func (t *trial) answerTo(jid string) (answer *clientrules.Event) {
	waiting := map[int]bool{}
	for _, e := range t.all(func(e *clientrules.Event) bool {
		return line(fwp.PUSH, pushAll)(e) || reply(fwp.PUSH)(e) || reply(pushAll)(e)
	}) {
		if e.Kind == clientrules.Line {
			waiting[e.Conn] = pushedBy(&e, jid) != nil
			continue
		}
		var refused map[string]any
		if e.To == pushAll && json.Unmarshal(e.Reply.Text, &refused) == nil && refused[jid] != nil {
			e.Reply.Kind = fwp.ErrorReply
		}
		if waiting[e.Conn] {
			answer = &e
		}
	}
	return answer
}

// atOnce returns how many PUSHes of a process waited for their replies at a time.
func (t *trial) atOnce(p *program) int {
	waiting, most := map[int]bool{}, 0
	for _, e := range t.all(p.events(func(*clientrules.Event) bool { return true })) {
		switch {
		case e.Verb() == fwp.PUSH:
			waiting[e.Conn] = true
		case reply(fwp.PUSH)(&e), e.Kind == clientrules.Closed:
			delete(waiting, e.Conn)
		}
		most = max(most, len(waiting))
	}
	return most
}
