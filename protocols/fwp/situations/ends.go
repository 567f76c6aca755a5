package situations

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

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

// endsInTime is FWP's clause about that.
const endsInTime = "WRK-18"

// endOrder is what tells a process to end.
type endOrder struct {
	clause string        // that is decided; empty: the end is only told
	what   string        // "SIGTERM", "the order to terminate"
	at     time.Duration // when it came
	limit  time.Duration // for how long the process is watched from then on
	idle   bool          // it had no job
	below  []int         // the processes that ran when it came: a shell may end at once at a signal
}

// relatives is a [Process] that knows the ids of the processes below it: Below returns those that run now, COMMAND
// itself first, and Left those that still ran when COMMAND had ended by itself, which were killed. Left may be called
// when it is over.
type relatives interface {
	Below() []int
	Left() []int
}

// below returns those of a process that run now; nothing if that is not known.
func (p *program) below() []int {
	if r, is := p.Process.(relatives); is {
		return r.Below()
	}
	return nil
}

// left returns those of a process that is over that outlived COMMAND.
func (p *program) left() []int {
	if r, is := p.Process.(relatives); is {
		return r.Left()
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

// among returns those of some numbers that are among others.
func among(some, others []int) []int {
	return slices.DeleteFunc(slices.Clone(some), func(n int) bool { return !slices.Contains(others, n) })
}

// pids names processes: "pid 7", "pids 7 and 8".
func pids(all []int) string {
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

// endsBy watches a process that was told to end, tells how long it took, and decides whether it did in time.
func (t *trial) endsBy(p *program, o endOrder) {
	greeted := t.greeters(p, o.at)
	here := among(greeted, o.below)
	if grace := t.harness.Grace; grace > 0 && o.what == sigTerm && grace < o.limit {
		t.watch(p, o.at+grace-t.now())
		if !t.exited(p) {
			t.killAsPlatform(p, o)
			return
		}
	}
	t.watch(p, o.at+o.limit-t.now())
	if !t.exited(p) {
		t.stays(p, o, here)
		return
	}
	took := t.endOf(p) - o.at
	if lives := t.outlived(p, here, greeted); len(lives) > 0 {
		p.stayed = true
		t.leavesWorker(o, took, lives, len(here) > 0)
		return
	}
	t.tellEnd(o, "ended with "+p.How(), took)
	if o.clause == "" {
		return
	}
	t.holds(o.clause, !o.idle || took <= idleLimit, fmt.Sprintf("an end within %v, because it had no job", idleLimit),
		fmt.Sprintf("it ended %s after %s, without a job: platforms kill after 10 or 30 s", seconds(took), o.what))
	t.outright("", o.at)
}

// seconds returns a time as reports have it: "12 ms", "4.1 s".
func seconds(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// stays decides about a process that is still there when its time is over. Where its parent has started another worker
// in its place, that is only said. One that is still connected is the subject of other clauses, if the order came in a
// reply.
func (t *trial) stays(p *program, o endOrder, here []int) {
	still := among(here, p.below())
	switch {
	case len(here) > 0 && len(still) == 0, len(here) == 0 && t.hasAnother(p, o.at):
		t.tellEnd(o, "the worker ended, and COMMAND stays", o.limit)
		t.remark("the process that sent HELLO is gone; COMMAND is still there %s after %s", seconds(o.limit), o.what)
		if o.clause != "" {
			t.kept(o.clause)
		}
		return
	}
	p.stayed = true
	t.tellEnd(o, "still there", o.limit)
	t.remark("%s is still there %s after %s", pids(still), seconds(o.limit), o.what)
	switch connected := t.count(p.events(ofKind(clientrules.Opened))) > t.count(p.events(ofKind(clientrules.Closed))); {
	case o.clause == "":
		return
	case connected && o.what != sigTerm:
		t.open(o.clause, "it is still connected, which FWP-STATE-22 is about")
		return
	}
	got := fmt.Sprintf("does not end: %.0f s after %s %s is still there", o.limit.Seconds(), o.what, pids(still))
	if command := p.below(); o.what == sigTerm && len(still) > 0 && !slices.Contains(still, command[0]) {
		got += fmt.Sprintf("; the signal went to COMMAND (pid %d), which may not hand it on", command[0])
	}
	t.holds(o.clause, false, fmt.Sprintf("an end within %v", endLimit), got)
	t.outright("no shutdown", o.at)
}

// hasAnother reports whether a worker has greeted since a time that had not greeted before.
func (t *trial) hasAnother(p *program, since time.Duration) bool {
	known := map[string]bool{}
	return slices.ContainsFunc(t.all(p.lines(fwp.HELLO)), func(e clientrules.Event) bool {
		known[e.Worker] = known[e.Worker] || e.At <= since
		return !known[e.Worker]
	})
}

// outlived returns the processes that have sent HELLO and were still there when COMMAND had ended by itself: all that
// were, where the pids in the HELLOs are not those of this system, as in a container.
func (t *trial) outlived(p *program, here, greeted []int) []int {
	if len(here) == 0 && len(greeted) > 0 {
		return p.left()
	}
	return among(here, p.left())
}

// leavesWorker decides about a command that has ended at a signal while the worker that it had started still ran. What
// the worker left behind is not its bug: it was killed.
func (t *trial) leavesWorker(o endOrder, took time.Duration, lives []int, greeted bool) {
	t.dies()
	t.stop = "COMMAND ended while the worker still ran, which was killed then"
	command, who := "COMMAND", pids(lives)+", which it had started,"
	if len(o.below) > 0 {
		command += fmt.Sprintf(" (pid %d)", o.below[0])
	}
	if greeted {
		who = pids(lives) + ", which sent HELLO,"
	}
	t.tellEnd(o, "COMMAND ended, and the worker still ran", took)
	if o.clause == "" {
		return
	}
	t.holds(o.clause, false, "a COMMAND that is the worker itself (exec), or that hands the signal on and waits",
		fmt.Sprintf("%s ended %s after %s; %s still ran and was killed by fwpcheck", command, seconds(took), o.what, who))
	t.outright("no shutdown", o.at)
	t.certain[t.clauseID(o.clause)] = true
}

// killAsPlatform kills a process whose time by --grace is over, and says which jobs are lost by that.
func (t *trial) killAsPlatform(p *program, o endOrder) {
	var lost []string
	for _, e := range t.all(p.events(delivery)) {
		if t.reportOf(e.Job.JID) == nil {
			lost = append(lost, e.Job.JID)
		}
	}
	t.dies()
	t.stop = fmt.Sprintf("it was killed %v after %s (--grace)", t.harness.Grace, o.what)
	t.process(p.number, clientrules.Event{Kind: clientrules.Signalled, Signal: "KILL"})
	p.Kill()
	t.watch(p, timeToAct)
	t.tellEnd(o, "killed by --grace", t.harness.Grace)
	if o.clause == "" {
		return
	}
	got, harm := fmt.Sprintf("it was still there %v after %s, and was killed", t.harness.Grace, o.what), "no shutdown"
	if len(lost) > 0 {
		got += fmt.Sprintf(": %d jobs had no report, and come back when their reservations end (%s)", len(lost), listed(lost))
		harm = "jobs lost"
	}
	t.holds(o.clause, false, fmt.Sprintf("an end within %v (--grace)", t.harness.Grace), got)
	t.outright(harm, o.at)
}

// seenEnd is how a process has ended.
type seenEnd struct {
	what, how string
	after     time.Duration
}

// printed returns the last lines of the programs that did not end in order: of those that ended by themselves, with
// another exit code than 0, not when they should, or before they sent a line.
func (t *trial) printed() (all []string) {
	ordered := func(p *program) bool {
		return p.input != nil || t.has(p.events(func(e *clientrules.Event) bool {
			return e.Kind == clientrules.Signalled || tells("terminate")(e)
		}))
	}
	for _, p := range t.programs {
		silent := t.harness.Side == nil && !t.has(p.events(ofKind(clientrules.Line)))
		if silent || p.stayed || t.exited(p) && (p.Code() != 0 || !ordered(p)) {
			all = append(all, target.Excerpt(p.Output())...)
		}
	}
	return all
}

// tellEnd keeps how a process has ended for the report.
func (t *trial) tellEnd(o endOrder, how string, after time.Duration) {
	t.harness.mu.Lock()
	defer t.harness.mu.Unlock()
	t.harness.ends[t.situation.id] = seenEnd{o.what, how, after}
}

// Seen returns what was seen beside the clauses, for the report: how long the program took to its ends, and what else
// its user should know.
func (h *Harness) Seen() (lines []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(h.ends)) {
		e := h.ends[id]
		group := "after " + e.what + ": " + e.how + ": "
		each := seconds(e.after) + " in " + id
		if i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, group) }); i >= 0 {
			lines[i] += ", " + each
			continue
		}
		lines = append(lines, group+each)
	}
	return slices.Concat(lines, h.unstarted.words(h.OneByOne), h.remarks)
}

// note keeps a remark for the report, once.
func (h *Harness) note(words string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Contains(h.remarks, words) {
		h.remarks = append(h.remarks, words)
	}
}

// playSecondSignal sends a worker that runs jobs a second SIGTERM, and notes what it does: many end at once then.
func playSecondSignal(t *trial) {
	t.idlesElsewhere()
	p := t.launch(options{})
	t.mustFetch(p)
	jids := t.pushAll(jobsWithArgs("fwp.sleep", "[20]", "[20]")...)
	t.mustTake(jids...)
	t.watch(p, time.Second)
	t.signal(p, "TERM")
	t.watch(p, timeToAct)
	t.dies()
	if t.exited(p) {
		t.holds("STATE-25", true, "", "it ended at the first SIGTERM")
		return
	}
	o := endOrder{what: "a second SIGTERM", at: t.now(), limit: endLimit, below: p.below()}
	t.signal(p, "TERM")
	t.endsBy(p, o)
	got := "after a second SIGTERM it stayed"
	if t.exited(p) {
		got = fmt.Sprintf("it ended (%s) %s after a second SIGTERM", p.How(), seconds(t.endOf(p)-o.at))
	}
	missing := slices.DeleteFunc(t.delivered(jids), func(jid string) bool { return t.reportOf(jid) != nil })
	t.holds("STATE-25", true, "", fmt.Sprintf("%s, with %d of %d jobs without a report", got, len(missing), len(jids)))
}
