package situations

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/base/jobtype"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// OtherProtocol has the situations for the workers of a protocol that is not FWP, its servers and its rules.
type OtherProtocol struct {
	Protocol *conformance.Suite
	// Variable is that of the environment in which workers find the URL of the server.
	Variable string
	// Job is how jobs are written for the worker, and Template returns what is wrong with that, beside its placeholders.
	Job      jobtype.Template
	Template func(*jobtype.Template) error
	// Situations are the tables. The ids of their clauses lack the prefix of the protocol.
	Situations []Situation
	// Identify has the program, in a play without a situation, take jobs, and says what was seen. It calls
	// [Play.Start].
	Identify func(*Play) (Observation, error)
}

// Situation is a row of the tables of an OtherProtocol: see the fields of the same names in FWP's.
type Situation struct {
	ID, Title, Clauses string
	Wait               int // seconds that a play takes at least
	Play               func(*Play)
}

// Row returns a row of the tables.
func Row(id, title, clauses string, wait int, play func(*Play)) Situation {
	return Situation{ID: id, Title: title, Clauses: clauses, Wait: wait, Play: play}
}

// Play is one play of a situation of an [OtherProtocol]. Its methods may be called by many goroutines at once, but for
// Start, GiveUp and GiveUpWithoutWork.
type Play struct {
	*trial

	mu        sync.Mutex
	occasions map[string]bool // clauses of which an occasion was seen, and nothing wrong with it
	isOver    bool            // what is seen from now on is not looked at any more
}

// Program is one process of the program under test.
type Program struct{ *program }

func (s *OtherProtocol) situations() []situation {
	all := make([]situation, len(s.Situations))
	for i, row := range s.Situations {
		all[i] = situation{id: row.ID, title: row.Title, clauses: row.Clauses, wait: row.Wait, play: func(t *trial) {
			public := &Play{trial: t, occasions: map[string]bool{}}
			defer public.decideOccasions()
			row.Play(public)
		}}
	}
	return all
}

// SituationsOf returns the situations that decide a clause.
func (s *OtherProtocol) SituationsOf(clause string) (all []Situation) {
	for _, row := range s.Situations {
		if slices.Contains(strings.Fields(row.Clauses), strings.TrimPrefix(clause, s.Protocol.Prefix)) {
			all = append(all, row)
		}
	}
	return all
}

// decideOccasions decides that the clauses held whose occasions were seen. What is not one of the situation is left
// out.
func (t *Play) decideOccasions() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.isOver = true
	for _, id := range t.situation.clauseIDs("") {
		if t.occasions[id] {
			t.decideHeld(id)
		}
	}
}

func (h *Harness) identifySide(t *trial, from time.Time) (observation Observation, err error) {
	s := situation{id: t.situation.id, play: func(t *trial) {
		observation, err = h.OtherProtocol.Identify(&Play{trial: t, occasions: map[string]bool{}})
	}}
	t.situation = &s
	t.play()
	if err == nil && t.stopReason != "" {
		err = &NoClientError{Reason: t.stopReason}
	}
	h.learnPatience(from)
	h.observation = observation
	if err == nil {
		err = t.ctx.Err()
	}
	return observation, err
}

// Context is that of the play.
func (t *Play) Context() context.Context { return t.ctx }

// Now returns the time since the beginning of the play.
func (t *Play) Now() time.Duration { return t.now() }

// Listen opens the listener of a server: a new one for an empty address, or again where one has listened before. It
// ends the play if that fails.
func (t *Play) Listen(addr string) net.Listener {
	l, err := t.harness.listen(addr, false)
	if err != nil {
		t.giveUp(addr != "", "the server of the situation could not be started: %v", t.notice(err))
	}
	return l
}

// Start starts the program, and waits until speaks reports that it has sent something of the protocol. Otherwise the
// error is a [*NoClientError], which says how far it got in the words of silent.
func (t *Play) Start(e Environment, speaks func() bool, silent func() string) (*Program, error) {
	e.Variable, e.Queues = t.harness.OtherProtocol.Variable, usualQueues
	p := &program{number: len(t.programs) + 1}
	err := t.begin(p, e, func(p *program) error {
		if t.waitUntilEnd(p, t.harness.patience, speaks) {
			return nil
		}
		if t.ctx.Err() != nil {
			return t.ctx.Err()
		}
		text := fmt.Sprintf("the command sent no message of the protocol within %v", t.harness.patience)
		if t.hasExited(p) {
			text = fmt.Sprintf("the command ended (%s) before it sent a message of the protocol", p.ExitStatus())
		}
		return &NoClientError{text + ": " + silent(), p.Output()}
	})
	return &Program{p}, err
}

// Launch is Start, and ends the play in place of an error.
func (t *Play) Launch(e Environment, speaks func() bool, silent func() string) *Program {
	p, err := t.Start(e, speaks, silent)
	if err != nil {
		t.giveUp(true, "%s", firstLine(err.Error()))
	}
	return p
}

// HasExited reports whether a process has ended, and ExitStatus describes its end.
func (t *Play) HasExited(p *Program) bool { return t.hasExited(p.program) }

// Ending says what has become of a process.
func (t *Play) Ending(p *Program) string { return t.ending(p.program) }

// Works reports whether the program has worked jobs without a situation.
func (t *Play) Works() bool { return t.harness.observation.Works }

// GiveUpWithoutWork ends the play of a program that has not.
func (t *Play) GiveUpWithoutWork() {
	t.giveUp(false, "the program failed the first test: to run the given jobs. So missing reports prove nothing. "+
		"Does it have the job types?")
}

// Job returns a job as the worker reads it: plain, or the name and the arguments as the template has them.
func (t *Play) Job(plain, name, args string) string {
	if t.harness.OtherProtocol.Job == "" {
		return plain
	}
	return t.harness.OtherProtocol.Job.Fill(name, args)
}

// Show adds a line to the conversation, and has those look again who wait.
func (t *Play) Show(l reports.Line) {
	t.recording.mu.Lock()
	defer t.recording.mu.Unlock()
	t.addLine(l)
	close(t.changed)
	t.changed = make(chan struct{})
}

// Remark adds a line about what the situation does.
func (t *Play) Remark(format string, args ...any) { t.remark(format, args...) }

// WaitUntil waits for a condition that a line of the conversation can bring about, no longer than a process lives, and
// reports whether it came about within the patience, which is longer by what the lag of this machine explains.
func (t *Play) WaitUntil(p *Program, patience time.Duration, condition func() bool) bool {
	return t.waitUntilEnd(p.program, patience, condition)
}

// Pass lets time pass, as long as a process lives.
func (t *Play) Pass(p *Program, d time.Duration) {
	t.wait(d, func() bool { return t.hasExited(p.program) }, func() time.Duration { return 0 })
}

// GiveUp ends the play: the situation did not come about, for a reason that is transient if this machine may have been
// too busy.
func (t *Play) GiveUp(transient bool, format string, args ...any) {
	t.giveUp(transient, format, args...)
}

// NoteOccasion notes that an occasion of a clause was seen, and that nothing was wrong with it.
func (t *Play) NoteOccasion(clause string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.occasions[clause] = true
}

// DecideBroken decides that a clause is broken by what a line shows, however late this machine is.
func (t *Play) DecideBroken(clause, expected, got string, shows reports.Line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.isOver {
		return
	}
	t.isCertain[t.clauseID(clause)] = true
	t.decisions = append(t.decisions, conformance.Decision{
		Clause: t.clauseID(clause), Outcome: play.Mismatched, Expected: expected, Got: got, Conn: shows.Conn, At: shows.At,
	})
}

// Decide decides a clause by what the situation has seen. A clause that it finds broken is a finding only if another
// play shows it again.
func (t *Play) Decide(clause string, ok bool, expected, got string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.decide(clause, ok, expected, got)
}

// LeaveOpen leaves a clause open, for a reason that is one sentence without a full stop.
func (t *Play) LeaveOpen(clause, cause string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leaveOpen(clause, cause)
}

// TimerSlack is by how much the timer of a job may be early.
const TimerSlack = 50 * time.Millisecond

// Notice ends the run if an error means that this process ran out of something, and returns it.
func (t *Play) Notice(err error) error { return t.notice(err) }
