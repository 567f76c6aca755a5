package situations

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
	"github.com/fwpsuite/fwp/reports"
)

// inTheWay matches what programs print that do not start because of another process of theirs.
var inTheWay = regexp.MustCompile(`(?i)address (is )?(already )?in use|EADDRINUSE` +
	`|already (exists|in use|running|locked|bound)|(pid|lock) ?file` +
	`|(could not|cannot|can't|unable to|failed to) (get|acquire|obtain) .*lock`)

// notStarted are the situations in which the program did not start, nor in ordinary conditions.
type notStarted struct {
	situations []string
	printed    []string // in the first of them
}

// doesNotStart ends the play of a program that has opened no connection, if it does not start in ordinary conditions
// either: then nothing is broken. One that starts there, and ignores what the situation has set, is what the play is
// about.
func (t *trial) doesNotStart(p *program, failed error) {
	if _, is := errors.AsType[*NoClientError](failed); !is || t.ordinary || t.harness.observed.First == "" ||
		t.ctx.Err() != nil || t.has(p.events(ofKind(clientrules.Opened))) {
		return
	}
	beside := slices.ContainsFunc(t.programs, func(other *program) bool { return other != p && !t.exited(other) })
	p.Kill()
	known := Locked(&t.harness.mu, func() bool { return len(t.harness.unstarted.situations) > 0 })
	words := strings.Join(p.Output(), "\n")
	if !known && !inTheWay.MatchString(words) && t.startsInOrdinaryConditions() {
		return
	}
	t.harness.keepUnstarted(t.situation.id, p.Output())
	t.reason = reports.ReasonSetUp
	if beside {
		t.giveUp(false, "it needs two processes at a time, and the second one did not start")
	}
	t.giveUp(false, "the program did not start: it opened no connection, nor did it in ordinary conditions")
}

// startsInOrdinaryConditions starts the program once more, on a server without anything special.
func (t *trial) startsInOrdinaryConditions() bool {
	again := newTrial(t.ctx, t.harness, &situation{id: t.situation.id + "/start"}, conformance.Setup{Meter: t.meter})
	defer again.end()
	again.ordinary = true
	starts := false
	again.situation.play = func(again *trial) {
		_, err := again.start(options{})
		starts = err == nil
	}
	again.play()
	return starts
}

// keepUnstarted keeps for the report that the program did not start in a situation.
func (h *Harness) keepUnstarted(id string, printed []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if u := &h.unstarted; !slices.Contains(u.situations, id) {
		if len(u.situations) == 0 {
			u.printed = target.Excerpt(printed)
		}
		u.situations = append(u.situations, id)
	}
}

// words says in which situations the program did not start, and what it may be; nothing if there are none.
func (u notStarted) words(oneByOne bool) []string {
	if len(u.situations) == 0 {
		return nil
	}
	first := fmt.Sprintf("it did not start, nor in ordinary conditions, in %d situations (%s)", len(u.situations),
		listed(u.situations))
	advice := "a pid file or a lock that a killed process has left, or a port that another one has, may be in its way: " +
		"give --parallel 1, or have it take a file and a free port for each process"
	if oneByOne {
		advice = "a pid file, a lock or a port may be in its way: have it take one for each process"
	}
	lines := []string{first}
	if len(u.printed) > 0 {
		lines[0] += "; it printed: " + strings.Join(u.printed, " / ")
	}
	return append(lines, advice)
}

// promptly is how long a producer may take to its first line before its input is ended: it may read all of it first.
const promptly = 10 * time.Second

// identifyProducer has a producer push three jobs, and finds out whether it needs the end of its input for that.
func (h *Harness) identifyProducer(t *trial, from time.Time) (Observed, error) {
	open := func() (*program, error) {
		units := ordinary(3)
		return t.start(options{given: units, input: newInput(jsonOf(units)...), eager: true})
	}
	p, err := open()
	if err != nil {
		return Observed{}, err
	}
	begun := t.now()
	waits := !t.untilOrEnd(p, min(promptly, h.patience), func() bool { return t.has(p.events(ofKind(clientrules.Line))) })
	p.input.end()
	if err := t.awaitFirstLine(p); err != nil {
		return Observed{}, err
	}
	took := t.now() - begun
	h.learnPatience(from)
	h.observed.First = p.first
	h.observed.Works = t.ends(p, endPatience) && t.pushedAll(p)
	if waits { // or it is slow to start
		again, err := open()
		if err != nil {
			return Observed{}, err
		}
		h.readsAll = !t.untilOrEnd(again, 2*took, func() bool { return t.has(again.events(ofKind(clientrules.Line))) })
	}
	if h.readsAll {
		h.note("it reads its input to the end before it pushes a job: what needs jobs that come later is left out")
	}
	return h.observed, t.ctx.Err()
}

// endInOrder ends a process by SIGTERM, so that it removes its files, where one runs after the other.
func (p *program) endInOrder() {
	const patience = 5 * time.Second
	p.Signal("TERM")
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case <-p.Over():
	case <-timeout.C:
	}
}

// endOthers ends the processes of a play before the next one starts, where one runs after the other.
func (t *trial) endOthers() {
	for _, p := range t.programs {
		if t.harness.OneByOne && !t.exited(p) {
			t.signal(p, "TERM")
			t.watch(p, timeToLeave)
		}
	}
}
