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

// ordinaryUnits returns n jobs without anything special.
func ordinaryUnits(n int) (units []unit) {
	for i := range n {
		units = append(units, job{args: fmt.Sprintf(`[%d,"two",{"three":[3]}]`, i)}.unit(usualQueues[0]))
	}
	return units
}

func jsonOf(units []unit) (lines []string) {
	for _, u := range units {
		lines = append(lines, u.json)
	}
	return lines
}

// recordAccepted is a hook that notes the jobs that the server takes.
func (t *trial) recordAccepted(e *fakes.Event) {
	if e.Point != fakes.Defaulted {
		return
	}
	t.hookMu.Lock()
	defer t.hookMu.Unlock()
	jid := e.Object.Text("jid")
	t.acceptedJIDs[jid] = append(t.acceptedJIDs[jid], jid)
	const limit = 100 // bytes of the arguments by which a job is known, whatever stands around the number
	if args := e.Object.NonNull("args"); len(args) <= limit {
		digit := func(r rune) rune {
			if r < '0' || r > '9' {
				return -1
			}
			return r
		}
		name := numberedUnit(strings.Map(digit, string(args))).name()
		t.acceptedJIDs[name] = append(t.acceptedJIDs[name], jid)
	}
}

// unitsWithoutJIDs returns n jobs to which no jid is given.
func unitsWithoutJIDs(first, n int) (units []unit) {
	for i := range n {
		units = append(units, numberedUnit(strconv.Itoa(first+i)))
	}
	return units
}

// numberedUnit returns a job to which no jid is given, whose argument is a number.
func numberedUnit(n string) unit {
	args := "[" + n + "]"
	return unit{args: args, json: fmt.Sprintf(`{"jobtype":"fwp.ok","args":%s,"queue":%q}`, args, usualQueues[0])}
}

// produce launches the program with jobs on its standard input, which has ended then.
func (t *trial) produce(o options, units ...unit) *program {
	if t.harness.readsWholeInput {
		o.jobs, o.input = units, newInput(jsonOf(units)...)
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
	if t.harness.readsWholeInput {
		t.leaveOut("needs-input", "the program reads its input to the end before it pushes a job")
	}
	o.jobs, o.input = units, newInput(jsonOf(units)...)
	return t.launch(o)
}

// addJobs gives a process more jobs.
func (t *trial) addJobs(p *program, units ...unit) {
	p.jobs = append(p.jobs, units...)
	p.input.add(jsonOf(units)...)
}

// endPatience is how long a producer may take to its end when its input has ended.
const endPatience = 60 * time.Second

// awaitEnd waits for the end of a process that has all its jobs, and reports whether it came.
func (t *trial) awaitEnd(p *program, patience time.Duration) bool {
	p.input.end()
	if !t.waitUntil(patience, func() bool { return t.hasExited(p) }) {
		return false
	}
	t.watch(p, timeToAct)
	return true
}

// mustEnd waits for the end of a process that has all its jobs, and ends the play of one that stays.
func (t *trial) mustEnd(p *program) {
	from := t.now()
	if !t.awaitEnd(p, endPatience) {
		t.giveUp(true, "the program did not end within %v after the end of its standard input: %s", endPatience,
			t.attemptText(p, from+endPatience/2))
	}
}

// attemptText says what a process that does not end has tried since a time, as far as that is seen on its connections.
func (t *trial) attemptText(p *program, since time.Duration) string {
	opened, lines := t.count(eventsAfter(since, p.events(eventsOfKind(clientrules.ConnOpen)))),
		t.count(eventsAfter(since, p.lines(verbs...)))
	span := (t.now() - since).Round(time.Second)
	if opened+lines == 0 {
		return fmt.Sprintf("in the last %v it opened no connection and sent no command", span)
	}
	return fmt.Sprintf("it keeps trying (in the last %v: %d connections, %d commands)", span, opened, lines)
}

// mustPush waits until the server has taken all jobs of a process, and ends the play otherwise.
func (t *trial) mustPush(p *program) {
	if !t.waitUntilEnd(p, quickPatience, func() bool { return len(t.missingJobs(p)) == 0 }) || t.hasExited(p) {
		missing := t.missingJobs(p)
		t.giveUp(true, "%s within %v, with its standard input still open", pushText(p, missing), quickPatience)
	}
}

// pushText says how many of the jobs of a process were not pushed, and which.
func pushText(p *program, missing []string) string {
	if len(missing) == 0 {
		return fmt.Sprintf("all of %d jobs were pushed", len(p.jobs))
	}
	return fmt.Sprintf("%d of %d jobs were not pushed (%s)", len(missing), len(p.jobs), enumerate(missing))
}

// missingJobs returns the names of the jobs of a process that the server has not taken.
func (t *trial) missingJobs(p *program) (names []string) {
	t.hookMu.Lock()
	defer t.hookMu.Unlock()
	for _, u := range p.jobs {
		if len(t.acceptedJIDs[u.name()]) == 0 {
			names = append(names, u.name())
		}
	}
	return names
}

// duplicateText says which job of a process, to which no jid was given, the server has taken under several: empty if
// none. They are several jobs for all who see them.
func (t *trial) duplicateText(p *program) string {
	t.hookMu.Lock()
	defer t.hookMu.Unlock()
	for _, u := range p.jobs {
		jids := slices.Compact(slices.Sorted(slices.Values(t.acceptedJIDs[u.name()])))
		if len(jids) > 1 {
			return fmt.Sprintf("%s was pushed with %d jids (%s), so it is that many jobs", u.name(), len(jids), enumerate(jids))
		}
	}
	return ""
}

// hasPushedAll reports whether all jobs of a process that is over were taken, and its caller could tell.
func (t *trial) hasPushedAll(p *program) bool { return len(t.missingJobs(p)) == 0 && p.Code() == 0 }

// judgePushes has a process end, decides a clause by whether it has pushed its jobs, and reports that.
func (t *trial) judgePushes(p *program, clause, expected string) bool {
	t.requireWork()
	t.mustEnd(p)
	t.decide(clause, t.hasPushedAll(p), expected,
		fmt.Sprintf("%s, and the program ended (%s)", pushText(p, t.missingJobs(p)), p.ExitStatus()))
	return t.judgePrinted(p) && t.hasPushedAll(p)
}

// judgePushedJobs decides whether a process has pushed each of its jobs as it was given, where the server has refused
// none.
func (t *trial) judgePushedJobs(p *program) {
	t.mustEnd(p)
	missing := t.missingJobs(p)
	switch {
	case len(missing) == 0:
		t.decide("RESP-08", p.Code() == 0, "exit code 0, because each PUSH was accepted",
			"the program ended with "+p.ExitStatus())
		t.decideHeld("WU-19")
	case p.Code() == 0:
		t.decide("WU-19", false, fmt.Sprintf("a PUSH of each of %d jobs, or an exit code other than 0", len(p.jobs)),
			"no PUSH was accepted of "+enumerate(missing)+", and the program ended with exit code 0")
	default:
		t.leaveOpen("WU-19", fmt.Sprintf("%s, and the program ended with %s: it may refuse such jobs", pushText(p, missing),
			p.ExitStatus()))
	}
	if duplicate := t.duplicateText(p); duplicate != "" {
		t.decide("WU-19", false, "one job for each given job", duplicate)
	}
	t.judgeFields(p)
	t.judgePrinted(p)
}

// judgeFields decides whether the jobs that were pushed have the fields that were given.
func (t *trial) judgeFields(p *program) {
	for _, u := range p.jobs {
		push, fields := t.first(pushOf(u.jid)), decodeJSON(u.json).(map[string]any)
		if push == nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			got, has := pushedBy(push, u.jid)[name]
			if sameField(name, fields[name], got) {
				continue
			}
			clause, value := "WU-19", "missing"
			if name == "args" {
				clause = "WU-03"
			}
			if has {
				value = shortJSON(got)
			}
			t.decide(clause, false, name+" "+shortJSON(fields[name])+", as it was given", name+" of the job "+u.jid+" is "+value)
			t.setEvidence(push)
			return
		}
	}
}

// judgeLoss decides whether each job of a process is on the server, or its caller could tell that one may not be.
func (t *trial) judgeLoss(p *program) {
	missing := t.missingJobs(p)
	t.decide("WU-19", len(missing) == 0 || p.Code() != 0, "each job on the server, or an exit code other than 0",
		"the server did not accept "+enumerate(missing)+", and the program ended with exit code 0")
	if len(missing) > 0 {
		t.setEvidence(t.first(pushOf(missing[0])))
	}
	t.judgePrinted(p)
}

// printedWords returns the words that a process has printed about its jobs, by jid: "pushed", "refused", or
// "pushed and refused" if it has printed both. Each has the time of the first one.
func (p *program) printedWords() map[string]PrintedLine {
	all := map[string]PrintedLine{}
	for _, line := range p.Lines() {
		if word, jid, ok := strings.Cut(line.Text, " "); ok && (word == "pushed" || word == "refused") {
			line.Text = word
			if before, isSecond := all[jid]; isSecond {
				line.At = before.At
				if before.Text != word {
					line.Text = "pushed and refused"
				}
			}
			all[jid] = line
		}
	}
	return all
}

// judgeCallerNotice decides whether the caller learned of each job whether it was pushed: by the exit code, and by what
// the program printed.
func (t *trial) judgeCallerNotice(p *program, refused map[string]bool) {
	if !slices.ContainsFunc(p.jobs, func(u unit) bool {
		answer := t.answerTo(u.jid)
		return answer != nil && answer.IsError()
	}) {
		t.giveUp(true, "the program pushed none of the jobs that were to be refused")
	}
	t.decide("RESP-09", p.Code() != 0, "an exit code other than 0, because a PUSH was refused",
		"the program ended with exit code 0")
	if !t.judgePrinted(p) {
		return
	}
	missing := slices.DeleteFunc(t.missingJobs(p), func(jid string) bool { return refused[jid] })
	switch {
	case len(missing) > 0:
		t.leaveOpen("RESP-09",
			fmt.Sprintf("%d of the jobs that were not refused were not pushed (%s); the program ended with %s",
				len(missing), enumerate(missing), p.ExitStatus()))
	case len(p.printedWords()) == 0:
		t.leaveOpen("RESP-09", `it prints no "pushed JID" and "refused JID", so its view of each reply is unknown`)
	}
}

// printSlack is by how much a line of a program may seem to be earlier than the reply that it is about.
const printSlack = time.Second

// judgePrinted decides whether what a process has printed about the jobs that it was given is what the replies to their
// PUSHes say: "pushed" needs an OK that was there before, and "refused" is wrong where the program has read one.
func (t *trial) judgePrinted(p *program) (isTrue bool) {
	words := p.printedWords()
	for _, u := range p.jobs {
		word, answer, early := words[u.jid].Text, t.answerTo(u.jid), t.leadOf(words[u.jid], u.jid)
		switch isOK := answer != nil && !answer.IsError(); {
		case word == "pushed" && isOK && early > printSlack:
			t.decide("WU-19", false, `"pushed `+u.jid+`" behind the OK to its PUSH`,
				fmt.Sprintf(`the program printed "pushed %s" %.1f s before the OK`, u.jid, early.Seconds()))
		case word == "", word == "pushed" && isOK, word == "refused" && (!isOK || !t.wasRead(answer)):
			continue
		case answer == nil:
			t.decide("WU-19", false, `no "pushed `+u.jid+`" without an OK to its PUSH`, `the program printed "pushed `+u.jid+`"`)
		default:
			t.decide("RESP-09", false, `what the reply to the PUSH of `+u.jid+` says`,
				`the program printed "`+word+" "+u.jid+`"`)
		}
		t.setEvidence(cmp.Or(answer, t.first(pushOf(u.jid))))
		return false
	}
	return true
}

// answerTo returns the last reply to the PUSH of a job; nil if there is none.
func (t *trial) answerTo(jid string) *clientrules.Event {
	all := t.answersTo(jid)
	if len(all) == 0 {
		return nil
	}
	return &all[len(all)-1]
}

// leadOf returns by how much a line was printed before the first OK to a PUSH of a job; 0 if there is no OK.
func (t *trial) leadOf(line PrintedLine, jid string) time.Duration {
	for _, answer := range t.answersTo(jid) {
		if !answer.IsError() {
			return answer.At - line.At.Sub(t.recording.start)
		}
	}
	return 0
}

// answersTo returns the replies to the PUSHes of a job. That to a PUSHB is an error for the jobs that it names.
func (t *trial) answersTo(jid string) (answers []clientrules.Event) {
	isWaiting := map[int]bool{}
	for _, e := range t.all(func(e *clientrules.Event) bool {
		return line(fwp.PUSH, pushAll)(e) || reply(fwp.PUSH)(e) || reply(pushAll)(e)
	}) {
		if e.Kind == clientrules.Line {
			isWaiting[e.Conn] = pushedBy(&e, jid) != nil
			continue
		}
		var refused map[string]any
		if e.ReplyVerb == pushAll && json.Unmarshal(e.Reply.Text, &refused) == nil && refused[jid] != nil {
			e.Reply.Kind = fwp.ErrorReply
		}
		if isWaiting[e.Conn] {
			answers = append(answers, e)
		}
	}
	return answers
}

// maxPendingPushes returns how many PUSHes of a process waited for their replies at a time.
func (t *trial) maxPendingPushes(p *program) int {
	isWaiting, peak := map[int]bool{}, 0
	for _, e := range t.all(p.events(func(*clientrules.Event) bool { return true })) {
		switch {
		case e.Verb() == fwp.PUSH:
			isWaiting[e.Conn] = true
		case reply(fwp.PUSH)(&e), e.Kind == clientrules.ConnClose:
			delete(isWaiting, e.Conn)
		}
		peak = max(peak, len(isWaiting))
	}
	return peak
}
