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

// conflictPattern matches what programs print that do not start because of another process of theirs.
var conflictPattern = regexp.MustCompile(`(?i)address (is )?(already )?in use|EADDRINUSE` +
	`|already (exists|in use|running|locked|bound)|(pid|lock) ?file` +
	`|(could not|cannot|can't|unable to|failed to) (get|acquire|obtain) .*lock`)

// startFailures are the situations in which the program did not start, nor in ordinary conditions.
type startFailures struct {
	situations []string
	printed    []string // in the first of them
}

// judgeStartFailure ends the play of a program that has opened no connection, if it does not start in ordinary
// conditions either: then nothing is broken. One that starts there, and ignores what the situation has set, is what the
// play is about.
func (t *trial) judgeStartFailure(p *program, cause error) {
	if _, ok := errors.AsType[*NoClientError](cause); !ok || t.isOrdinary || t.harness.observation.FirstVerb == "" ||
		t.ctx.Err() != nil || t.has(p.events(eventsOfKind(clientrules.ConnOpen))) {
		return
	}
	hasOther := slices.ContainsFunc(t.programs, func(other *program) bool { return other != p && !t.hasExited(other) })
	p.Kill()
	isKnown := WithLock(&t.harness.mu, func() bool { return len(t.harness.startFailures.situations) > 0 })
	words := strings.Join(p.Output(), "\n")
	if !isKnown && !conflictPattern.MatchString(words) && t.startsOrdinarily() {
		return
	}
	t.harness.noteStartFailure(t.situation.id, p.Output())
	t.stopCode = reports.ReasonSetUp
	if hasOther {
		t.giveUp(false, "it needs two processes at a time, and the second one did not start")
	}
	t.giveUp(false, "the program did not start: it opened no connection, nor did it in ordinary conditions")
}

// startsOrdinarily starts the program once more, on a server without anything special.
func (t *trial) startsOrdinarily() bool {
	probe := newTrial(t.ctx, t.harness, &situation{id: t.situation.id + "/start"}, conformance.Setup{Meter: t.meter})
	defer probe.end()
	probe.isOrdinary = true
	starts := false
	probe.situation.play = func(probe *trial) {
		_, err := probe.start(options{})
		starts = err == nil
	}
	probe.play()
	return starts
}

// noteStartFailure keeps for the report that the program did not start in a situation.
func (h *Harness) noteStartFailure(id string, printed []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if u := &h.startFailures; !slices.Contains(u.situations, id) {
		if len(u.situations) == 0 {
			u.printed = target.Excerpt(printed)
		}
		u.situations = append(u.situations, id)
	}
}

// words says in which situations the program did not start, and what it may be; nothing if there are none.
func (u startFailures) words(isSequential bool) []string {
	if len(u.situations) == 0 {
		return nil
	}
	first := fmt.Sprintf("it did not start, nor in ordinary conditions, in %d situations (%s)", len(u.situations),
		enumerate(u.situations))
	advice := "a pid file or a lock that a killed process has left, or a port that another one has, may be in its way: " +
		"give --parallel 1, or have it take a file and a free port for each process"
	if isSequential {
		advice = "a pid file, a lock or a port may be in its way: have it take one for each process"
	}
	lines := []string{first}
	if len(u.printed) > 0 {
		lines[0] += "; it printed: " + strings.Join(u.printed, " / ")
	}
	return append(lines, advice)
}

// inputPatience is how long a producer may take to its first line before its input is ended: it may read all of it
// first.
const inputPatience = 10 * time.Second

// identifyProducer has a producer push three jobs, and finds out whether it needs the end of its input for that.
func (h *Harness) identifyProducer(t *trial, from time.Time) (Observation, error) {
	launch := func() (*program, error) {
		units := ordinaryUnits(3)
		return t.start(options{jobs: units, input: newInput(jsonOf(units)...), isEager: true})
	}
	p, err := launch()
	if err != nil {
		return Observation{}, err
	}
	begun := t.now()
	waits := !t.waitUntilEnd(p, min(inputPatience, h.patience),
		func() bool { return t.has(p.events(eventsOfKind(clientrules.Line))) })
	p.input.end()
	if err := t.awaitFirstLine(p); err != nil {
		return Observation{}, err
	}
	took := t.now() - begun
	h.learnPatience(from)
	h.observation.FirstVerb = p.firstVerb
	h.observation.Works = t.awaitEnd(p, endPatience) && t.hasPushedAll(p)
	if waits { // or it is slow to start
		second, err := launch()
		if err != nil {
			return Observation{}, err
		}
		h.readsWholeInput = !t.waitUntilEnd(second, 2*took,
			func() bool { return t.has(second.events(eventsOfKind(clientrules.Line))) })
	}
	if h.readsWholeInput {
		h.note("it reads its input to the end before it pushes a job: what needs jobs that come later is left out")
	}
	return h.observation, t.ctx.Err()
}

// endInOrder ends a process by SIGTERM, so that it removes its files, where one runs after the other.
func (p *program) endInOrder() {
	const patience = 5 * time.Second
	p.Signal("TERM")
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case <-p.Done():
	case <-timeout.C:
	}
}

// endOthers ends the processes of a play before the next one starts, where one runs after the other.
func (t *trial) endOthers() {
	for _, p := range t.programs {
		if t.harness.IsSequential && !t.hasExited(p) {
			t.signal(p, "TERM")
			t.watch(p, timeToLeave)
		}
	}
}
