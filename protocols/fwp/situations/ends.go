package situations

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
)

// endLimit is how long the process of a worker may be there after SIGTERM, or after it was told to terminate, and
// idleLimit how long one without a job may be without a warning: most platforms kill after 10 or 30 s.
const (
	endLimit  = time.Minute
	idleLimit = 30 * time.Second
)

// endClause is FWP's clause about that.
const endClause = "WRK-18"

// endOrder is what tells a process to end.
type endOrder struct {
	clause      string        // that is decided; empty: the end is only told
	name        string        // "SIGTERM", "the order to terminate"
	at          time.Duration // when it came
	limit       time.Duration // for how long the process is watched from then on
	isIdle      bool          // it had no job
	descendants []int         // the processes that ran when it came: a shell may end at once at a signal
}

// processTree is a [Process] that knows the ids of the processes below it: Descendants returns those that run now,
// COMMAND itself first, and Leftovers those that still ran when COMMAND had ended by itself, which were killed.
// Leftovers may be called when it is over.
type processTree interface {
	Descendants() []int
	Leftovers() []int
}

// descendants returns those of a process that run now; nothing if that is not known.
func (p *program) descendants() []int {
	if r, ok := p.Process.(processTree); ok {
		return r.Descendants()
	}
	return nil
}

// leftovers returns those of a process that is over that outlived COMMAND.
func (p *program) leftovers() []int {
	if r, ok := p.Process.(processTree); ok {
		return r.Leftovers()
	}
	return nil
}

// greeters returns the pids in the HELLOs that a process has sent before a time.
func (t *trial) greeters(p *program, before time.Duration) (pids []int) {
	for _, e := range t.all(p.lines(fwp.HELLO)) {
		number, _ := e.Object["pid"].(json.Number)
		if pid, err := strconv.Atoi(number.String()); err == nil && e.At < before && !slices.Contains(pids, pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// intersection returns those of some numbers that are among others.
func intersection(numbers, others []int) []int {
	return slices.DeleteFunc(slices.Clone(numbers), func(n int) bool { return !slices.Contains(others, n) })
}

// joinPIDs names processes: "pid 7", "pids 7 and 8".
func joinPIDs(all []int) string {
	words := make([]string, len(all))
	for i, pid := range all {
		words[i] = strconv.Itoa(pid)
	}
	switch last := len(words) - 1; {
	case last < 0:
		return "its process"
	case last == 0:
		return "pid " + words[0]
	default:
		return "pids " + strings.Join(words[:last], ", ") + " and " + words[last]
	}
}

// judgeEnd watches a process that was told to end, tells how long it took, and decides whether it did in time.
func (t *trial) judgeEnd(p *program, o endOrder) {
	greeters := t.greeters(p, o.at)
	workers := intersection(greeters, o.descendants)
	if grace := t.harness.Grace; grace > 0 && o.name == sigTerm && grace < o.limit {
		t.watch(p, o.at+grace-t.now())
		if !t.hasExited(p) {
			t.killAfterGrace(p, o)
			return
		}
	}
	t.watch(p, o.at+o.limit-t.now())
	if !t.hasExited(p) {
		t.judgeStay(p, o, workers)
		return
	}
	elapsed := t.endOf(p) - o.at
	if leftovers := t.leftoversOf(p, workers, greeters); len(leftovers) > 0 {
		p.hasStayed = true
		t.judgeOrphans(o, elapsed, leftovers, len(workers) > 0)
		return
	}
	t.recordEnd(o, "ended with "+p.ExitStatus(), elapsed)
	if o.clause == "" {
		return
	}
	t.decide(o.clause, !o.isIdle || elapsed <= idleLimit,
		fmt.Sprintf("an end within %v, because it had no job", idleLimit),
		fmt.Sprintf("it ended %s after %s, without a job: platforms kill after 10 or 30 s", seconds(elapsed), o.name))
	t.makeCertain("", o.at)
}

// seconds returns a time as reports have it: "12 ms", "4.1 s".
func seconds(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// judgeStay decides about a process that is still there when its time is over. Where its parent has started another
// worker in its place, that is only said. One that is still connected is the subject of other clauses, if the order
// came in a reply.
func (t *trial) judgeStay(p *program, o endOrder, workers []int) {
	remaining := intersection(workers, p.descendants())
	switch {
	case len(workers) > 0 && len(remaining) == 0, len(workers) == 0 && t.hasSuccessor(p, o.at):
		t.recordEnd(o, "the worker ended, and COMMAND stays", o.limit)
		t.remark("the process that sent HELLO is gone; COMMAND is still there %s after %s", seconds(o.limit), o.name)
		if o.clause != "" {
			t.decideHeld(o.clause)
		}
		return
	}
	p.hasStayed = true
	t.recordEnd(o, "still there", o.limit)
	t.remark("%s is still there %s after %s", joinPIDs(remaining), seconds(o.limit), o.name)
	opened := t.count(p.events(eventsOfKind(clientrules.ConnOpen)))
	closed := t.count(p.events(eventsOfKind(clientrules.ConnClose)))
	switch isConnected := opened > closed; {
	case o.clause == "":
		return
	case isConnected && o.name != sigTerm:
		t.leaveOpen(o.clause, "it is still connected, which FWP-STATE-22 is about")
		return
	}
	got := fmt.Sprintf("does not end: %.0f s after %s %s is still there", o.limit.Seconds(), o.name, joinPIDs(remaining))
	if command := p.descendants(); o.name == sigTerm && len(remaining) > 0 && !slices.Contains(remaining, command[0]) {
		got += fmt.Sprintf("; the signal went to COMMAND (pid %d), which may not hand it on", command[0])
	}
	t.decide(o.clause, false, fmt.Sprintf("an end within %v", endLimit), got)
	t.makeCertain("no shutdown", o.at)
}

// hasSuccessor reports whether a worker has greeted since a time that had not greeted before.
func (t *trial) hasSuccessor(p *program, since time.Duration) bool {
	isKnown := map[string]bool{}
	return slices.ContainsFunc(t.all(p.lines(fwp.HELLO)), func(e clientrules.Event) bool {
		isKnown[e.Worker] = isKnown[e.Worker] || e.At <= since
		return !isKnown[e.Worker]
	})
}

// leftoversOf returns the processes that have sent HELLO and were still there when COMMAND had ended by itself: all
// that were, where the pids in the HELLOs are not those of this system, as in a container.
func (t *trial) leftoversOf(p *program, workers, greeters []int) []int {
	if len(workers) == 0 && len(greeters) > 0 {
		return p.leftovers()
	}
	return intersection(workers, p.leftovers())
}

// judgeOrphans decides about a command that has ended at a signal while the worker that it had started still ran. What
// the worker left behind is not its bug: it was killed.
func (t *trial) judgeOrphans(o endOrder, elapsed time.Duration, leftovers []int, hasGreeted bool) {
	t.excuseEnd()
	t.stopReason = "COMMAND ended while the worker still ran, which was killed then"
	command, worker := "COMMAND", joinPIDs(leftovers)+", which it had started,"
	if len(o.descendants) > 0 {
		command += fmt.Sprintf(" (pid %d)", o.descendants[0])
	}
	if hasGreeted {
		worker = joinPIDs(leftovers) + ", which sent HELLO,"
	}
	t.recordEnd(o, "COMMAND ended, and the worker still ran", elapsed)
	if o.clause == "" {
		return
	}
	t.decide(o.clause, false, "a COMMAND that is the worker itself (exec), or that hands the signal on and waits",
		fmt.Sprintf("%s ended %s after %s; %s still ran and was killed by fwpcheck", command, seconds(elapsed), o.name,
			worker))
	t.makeCertain("no shutdown", o.at)
	t.isCertain[t.clauseID(o.clause)] = true
}

// killAfterGrace kills a process whose time by --grace is over, and says which jobs are lost by that.
func (t *trial) killAfterGrace(p *program, o endOrder) {
	var jids []string
	for _, e := range t.all(p.events(delivery)) {
		if t.reportOf(e.Job.JID) == nil {
			jids = append(jids, e.Job.JID)
		}
	}
	t.excuseEnd()
	t.stopReason = fmt.Sprintf("it was killed %v after %s (--grace)", t.harness.Grace, o.name)
	t.process(p.number, clientrules.Event{Kind: clientrules.ProcessSignal, Signal: "KILL"})
	p.Kill()
	t.watch(p, timeToAct)
	t.recordEnd(o, "killed by --grace", t.harness.Grace)
	if o.clause == "" {
		return
	}
	got, harm := fmt.Sprintf("it was still there %v after %s, and was killed", t.harness.Grace, o.name), "no shutdown"
	if len(jids) > 0 {
		got += fmt.Sprintf(": %d jobs had no report, and come back when their reservations end (%s)", len(jids),
			enumerate(jids))
		harm = "jobs lost"
	}
	t.decide(o.clause, false, fmt.Sprintf("an end within %v (--grace)", t.harness.Grace), got)
	t.makeCertain(harm, o.at)
}

// processEnd is how a process has ended.
type processEnd struct {
	order, outcome string
	elapsed        time.Duration
}

// excerpts returns the last lines of the programs that did not end in order: of those that ended by themselves, with
// another exit code than 0, not when they should, or before they sent a line.
func (t *trial) excerpts() (all []string) {
	hasOrder := func(p *program) bool {
		return p.input != nil || t.has(p.events(func(e *clientrules.Event) bool {
			return e.Kind == clientrules.ProcessSignal || stateReply("terminate")(e)
		}))
	}
	for _, p := range t.programs {
		isSilent := t.harness.OtherProtocol == nil && !t.has(p.events(eventsOfKind(clientrules.Line)))
		if isSilent || p.hasStayed || t.hasExited(p) && (p.Code() != 0 || !hasOrder(p)) {
			all = append(all, target.Excerpt(p.Output())...)
		}
	}
	return all
}

// recordEnd keeps how a process has ended for the report.
func (t *trial) recordEnd(o endOrder, outcome string, elapsed time.Duration) {
	t.harness.mu.Lock()
	defer t.harness.mu.Unlock()
	t.harness.ends[t.situation.id] = processEnd{o.name, outcome, elapsed}
}

// Observations returns what was seen beside the clauses, for the report: how long the program took to its ends, and
// what else its user should know.
func (h *Harness) Observations() (lines []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(h.ends)) {
		e := h.ends[id]
		group := "after " + e.order + ": " + e.outcome + ": "
		part := seconds(e.elapsed) + " in " + id
		if i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, group) }); i >= 0 {
			lines[i] += ", " + part
			continue
		}
		lines = append(lines, group+part)
	}
	lines = slices.Concat(lines, h.startFailures.words(h.IsSequential), h.remarks)
	if h.storm.conns > 0 {
		lines = append(lines, h.storm.words)
	}
	return lines
}

// note keeps a remark for the report, once.
func (h *Harness) note(words string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Contains(h.remarks, words) {
		h.remarks = append(h.remarks, words)
	}
}

// noteWID says if the wid of a worker is made of its host name and its pid alone: workers in containers have the same
// pid, and often the same host name, and are one worker for the server then.
func (t *trial) noteWID(p *program) {
	hello := t.first(p.lines(fwp.HELLO))
	if hello == nil {
		return
	}
	wid, _ := hello.Object["wid"].(string)
	host, _ := hello.Object["hostname"].(string)
	pid := fmt.Sprint(hello.Object["pid"])
	if host == "" || !strings.Contains(wid, host) || !strings.Contains(strings.Replace(wid, host, "", 1), pid) {
		return
	}
	isLetter := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	if !strings.ContainsFunc(strings.Replace(strings.Replace(wid, host, "", 1), pid, "", 1), isLetter) {
		t.harness.note(fmt.Sprintf("its wid is made of its host name and its pid (%.100q): two workers in containers with "+
			"one host name are one worker for the server", wid))
	}
}

// stormConns is how many connections in an outage are worth a word.
const stormConns = 100

// storm is the outage in which a program has opened the most connections.
type storm struct {
	conns int
	words string
}

// noteStorm says how many connections the program has opened in an outage, if they were many and the most.
func (t *trial) noteStorm(from time.Duration) {
	opened := t.count(eventsAfter(from, eventsOfKind(clientrules.ConnOpen)))
	t.harness.mu.Lock()
	defer t.harness.mu.Unlock()
	if opened >= stormConns && opened > t.harness.storm.conns {
		t.harness.storm = storm{opened, fmt.Sprintf("it opened %s in %.0f s of %s", text.Count(opened, "connection"),
			(t.now() - from).Seconds(), t.situation.id)}
	}
}

// playSecondSignal sends a worker that runs jobs a second SIGTERM, and notes what it does: many end at once then.
func playSecondSignal(t *trial) {
	t.requireIdling()
	p := t.launch(options{})
	t.mustFetch(p)
	jids := t.pushAll(jobsWithArgs("fwp.sleep", "[20]", "[20]")...)
	t.mustTake(jids...)
	t.watch(p, time.Second)
	t.signal(p, "TERM")
	t.watch(p, timeToAct)
	t.excuseEnd()
	if t.hasExited(p) {
		t.decide("STATE-25", true, "", "it ended at the first SIGTERM")
		return
	}
	o := endOrder{name: "a second SIGTERM", at: t.now(), limit: endLimit, descendants: p.descendants()}
	t.signal(p, "TERM")
	t.judgeEnd(p, o)
	got := "after a second SIGTERM it stayed"
	if t.hasExited(p) {
		got = fmt.Sprintf("it ended (%s) %s after a second SIGTERM", p.ExitStatus(), seconds(t.endOf(p)-o.at))
	}
	missing := slices.DeleteFunc(t.filterDelivered(jids), func(jid string) bool { return t.reportOf(jid) != nil })
	t.decide("STATE-25", true, "", fmt.Sprintf("%s, with %d of %d jobs without a report", got, len(missing), len(jids)))
}
