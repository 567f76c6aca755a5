package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/target/forward"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

const (
	mostCrashes     = 8                      // of one server in a run; after that no more checks are played on it
	maxProcessExits = 25                     // of a server that can be started again, and whose end is known at once
	revivingFor     = 30 * time.Second       // that a server that was started again may take until it serves
	comebackTimeout = 3 * time.Second        // that a server that cannot be started again may take until it serves
	replayingFor    = 2 * time.Minute        // that the checks of all crashes of a run are played again, alone
	revivingPause   = 100 * time.Millisecond // between two tries
)

// crash is a time at which a host served no connection, until it is known which check ended it.
type crash struct {
	conformance.Evidence          // of a play that found it dead
	brief                bool     // the host was back at once
	ran                  []string // the checks that ran, of which one ended it
	left                 int      // of them, that are still to be played alone
	advice               string   // how the user can have the host started again; empty if that is done
}

// died deals with the plays after which a host did not serve, once no more are played on it. A single one has ended it.
// Of several each is played again, alone and before all others, the shortest first, until the host ends again.
func (s *runState) died(ctx context.Context, h *host) {
	if s.cutOff(ctx, h) || s.full(ctx, h) {
		return
	}
	group := slices.SortedStableFunc(slices.Values(h.dying), func(a, b *task) int {
		return cmp.Compare(a.about.Wait, b.about.Wait)
	})
	h.dying, h.crashes = nil, h.crashes+1
	h.down = !slices.ContainsFunc(group, func(t *task) bool { return t.evidence.Back })
	if first := group[0]; len(group) == 1 && s.certain(first) {
		s.confirm(first)
	} else {
		seen := slices.IndexFunc(group, func(t *task) bool { return t.evidence.Dead != "" })
		h.crash = &crash{*group[seen].evidence, !h.down, idsOf(group), len(group), s.adviceToRestart(h)}
		s.pending = slices.Concat(group, s.pending)
		if s.replayed > replayingFor {
			s.unexplained(h)
		}
		for _, t := range group {
			t.suspect = h.crash != nil
		}
	}
	if h.crashes > h.mostCrashes() || ctx.Err() != nil || s.stopped != "" {
		s.giveUp(h)
	}
}

// idsOf lists the checks of plays.
func idsOf(plays []*task) (ids []string) {
	for _, t := range plays {
		ids = append(ids, t.about.ID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// certain reports whether a check that found its host dead has ended it: it was alone and was served, and this machine
// was late by a small part of the timeout at most.
func (s *runState) certain(t *task) bool {
	served := t.evidence.Served || slices.ContainsFunc(t.evidence.Conversation, func(l reports.Line) bool {
		return l.From == reports.FromServer && !l.Ended
	})
	const part = 4
	return !t.together && served && part*s.meter.Lag(t.began) <= cmp.Or(s.runner.Timeout, play.DefaultTimeout)
}

// full reports whether plays found a host dead that was at its limit of connections: others were open then, and it
// serves when all have ended. Then the plays are repeated, with half as many connections at a time.
func (s *runState) full(ctx context.Context, h *host) bool {
	dead := func(t *task) bool {
		return t.evidence.Dead != "" && (!t.together || t.evidence.Amid == 0 || t.evidence.Ending != "")
	}
	if slices.ContainsFunc(h.dying, dead) || !machine.Sleep(ctx, play.CloseLatency) || s.asker(h, nil).Serves(ctx,
		s.runner.Protocol.Dialect) != nil {
		return false
	}
	for _, t := range h.dying {
		h.halve(t)
	}
	s.pending, h.dying = slices.Concat(h.dying, s.pending), nil
	return true
}

// asker returns what asks whether a host serves.
func (s *runState) asker(h *host, gone func() bool) *play.Player {
	return &play.Player{
		Target: h.Target, Password: h.Password, Timeout: s.runner.Timeout, Meter: s.meter, Peers: &h.peers, Gone: gone,
	}
}

// cutOff files the plays after which a host did not serve if a forwarder before it may have ended, and reports whether
// that is so: no command is to blame then, and there is no target any more.
func (s *runState) cutOff(ctx context.Context, h *host) bool {
	if h.lost = lostBefore(ctx, h); h.lost == "" {
		return false
	}
	s.bug(&UnservedError{Cause: fmt.Errorf("%s; it ended while these checks ran: %s", h.lost,
		strings.Join(idsOf(h.dying), ", "))})
	for _, t := range h.dying {
		s.fileLost(t)
	}
	h.dying = nil
	s.release(h)
	return true
}

// lostBefore returns why a forwarder before a host may have ended; empty if that is not so, or more is known of the
// host.
func lostBefore(ctx context.Context, h *host) string {
	if h.Ended != nil || restarting(h.Server) != nil {
		return ""
	}
	return h.forwarded().Lost(ctx)
}

// forwarded returns the record of the transport; nil if there is none.
func (h *host) forwarded() *forward.Record {
	if target, is := h.Target.(forward.Target); is {
		return target.Forwarded()
	}
	return nil
}

// mostCrashes returns after how many crashes no more checks are played on a host.
func (h *host) mostCrashes() int {
	if h.Ended != nil && restarting(h.Server) != nil {
		return maxProcessExits
	}
	return mostCrashes
}

// confirm files a check as the one that ended its server.
func (s *runState) confirm(t *task) {
	t.fatal = true
	t.host.killer = t.about.ID
	s.record(t)
}

// endAlone takes the evidence of a check of a crash that was played alone: one that has ended the host ends the search.
func (s *runState) endAlone(t *task) {
	h := t.host
	t.suspect = false
	switch {
	case t.evidence.Dead != "" && s.certain(t):
		s.release(h)
		h.crash, h.down, h.crashes = nil, !t.evidence.Back, h.crashes+1
		s.confirm(t)
		return
	case t.evidence.Dead != "": // before it began
		t.suspect, h.down, h.crashes = true, true, h.crashes+1
		if s.pending = slices.Insert(s.pending, 0, t); h.crashes > h.mostCrashes() {
			s.giveUp(h)
		}
		return
	}
	s.record(t)
	h.crash.left--
	if s.replayed += time.Since(t.began); h.crash.left == 0 || s.replayed > replayingFor {
		s.release(h)
		s.unexplained(h)
	}
}

// release turns the checks of a crash that were not played again yet into checks like others.
func (s *runState) release(h *host) {
	for _, t := range s.pending {
		t.suspect = t.suspect && t.host != h
	}
}

// giveUp ends the checks on a host: it serves no more, and cannot be started again.
func (s *runState) giveUp(h *host) {
	if h.lost = "the server no longer served"; h.killer != "" {
		h.lost += " after " + h.killer
	}
	s.release(h)
	if h.crash != nil {
		s.unexplained(h)
	}
}

// fileLost files a check of a host that serves no more, unless it has a result.
func (s *runState) fileLost(t *task) {
	if !t.filed {
		s.file(t, s.withoutResult(t.about, reports.Inconclusive,
			cause{reason: reports.ReasonNotServing, words: t.host.lost}, s.adviceToRestart(t.host)))
	}
}

// adviceToRestart returns how the user can have a host started again after its end; empty if that is done.
func (s *runState) adviceToRestart(h *host) string {
	if restarting(h.Server) != nil {
		return ""
	}
	return s.runner.Provide[scenarios.NeedRestart]
}

// unexplained records a crash that no check is known to have caused.
func (s *runState) unexplained(h *host) {
	s.addCrash(*h.crash)
	h.crash = nil
}

// addCrash adds a crash that no check is known to have caused.
func (s *runState) addCrash(c crash) {
	s.crashes = append(s.crashes, c)
	if s.runner.FailFast {
		s.stopAtFinding()
	}
}

// startAgain waits until a host serves again, after restarting it if that is possible. It blocks.
func (s *runState) startAgain(ctx context.Context, h *host) error {
	patience := comebackTimeout
	restart := restarting(h.Server)
	if restart != nil {
		if err := restart(ctx); err != nil {
			return err
		}
		patience = revivingFor
	}
	for begin := time.Now(); ; {
		err := s.asker(h, nil).Serves(ctx, s.runner.Protocol.Dialect)
		if err == nil || ctx.Err() != nil || time.Since(begin) > patience {
			return err
		}
		machine.Sleep(ctx, revivingPause)
	}
}

// restarting returns what starts a server again, nil if nothing does.
func restarting(server Server) func(context.Context) error {
	if r, can := server.Target.(play.Restarter); can && slices.Contains(server.Offers, scenarios.NeedRestart) {
		return r.Restart
	}
	if k, can := server.Target.(play.Killer); can && slices.Contains(server.Offers, scenarios.NeedKill) {
		return k.Kill
	}
	return nil
}

// CrashCheck is the id under which a run reports that the server stopped serving, where no check is known to be the
// reason.
const CrashCheck = "server/keeps-serving"

// serving returns the result for the crashes that no check explains, and whether there were any.
func (s *runState) serving() (c reports.Check, some bool) {
	c = reports.Check{ID: CrashCheck, Title: "The server serves until the end of the run", Verdict: reports.Inconclusive}
	for i := range s.crashes {
		crash := &s.crashes[i]
		if crash.brief {
			c.Reason = reports.ReasonNotServing
			c.Why = crash.Dead + ": it ended, or was restarted; no check repeated that"
			continue
		}
		c.Verdict = reports.Crash
		c.Findings = append(c.Findings, crashFinding(crash))
	}
	return c, len(s.crashes) > 0
}

// crashFinding returns the finding for a crash, which names the checks that ran and blames no clause.
func crashFinding(c *crash) reports.Finding {
	all := []string{c.Dead}
	if c.Ending != "" {
		all = append(all, c.Ending)
	}
	all = append(all, "it ended while these checks ran:\n  "+strings.Join(c.ran, "\n  "))
	switch {
	case c.left == 0:
		all = append(all, "each was played again, alone, and none ended it: it may need several at a time")
	case c.advice != "":
		all = append(all, "to find out which one ended it, "+c.advice+": then each is played alone")
	default:
		all = append(all, "to find out which one ended it, play each of them alone")
	}
	return reports.Finding{Verdict: reports.Crash, Statement: Death(c.Died, "", ""), Evidence: reports.Evidence{
		Check: CrashCheck, Expected: "a server that keeps serving", Actual: strings.Join(all, "\n"),
		Death: endOf(c.Ending),
	}}
}

// StartsCheck is the id under which a run reports that a server, which the run had stopped, does not start on its data.
const StartsCheck = "server/starts-again"

// unstarted files a check on a server that did not start again after the run had stopped it, and reports whether it
// did: the check and all others on that server are inconclusive, since it is no crash.
func (s *runState) unstarted(ctx context.Context, t *task) bool {
	if t.server == nil || t.server.Failed == nil || ctx.Err() != nil {
		return false
	}
	err := t.server.Failed()
	if err == nil {
		return false
	}
	s.bug(err)
	words := text.FirstLine(text.OfError(err))
	if t.host != nil && t.host.lost == "" {
		t.host.lost = words
		s.release(t.host)
	}
	if !t.filed {
		s.file(t, s.withoutResult(t.about, reports.Inconclusive, cause{reason: reports.ReasonNotServing, words: words}, ""))
	}
	return true
}

// Unreached puts into a report why there was no target any more. What was found before counts nevertheless, and so does
// a server that does not start on its data.
func Unreached(rep *reports.Report, err error) {
	unstarted(rep, err)
	unreached(rep, err)
}

// unstarted adds a server that does not start on its data.
func unstarted(rep *reports.Report, err error) {
	words := err.Error()
	if why := unservedIn(err); why != nil && why.OnData {
		rep.Checks = append(rep.Checks, reports.Check{
			ID: StartsCheck, Title: "A stopped server starts with its data", Verdict: reports.Fail,
			Findings: []reports.Finding{{Verdict: reports.Fail, Evidence: reports.Evidence{
				Check: StartsCheck, Expected: "a server that serves again after it was stopped", Actual: words,
			}}},
		})
	}
}

// unreached says that not all could be tested, or that nothing was: findings decide the exit code.
func unreached(rep *reports.Report, err error) {
	words := err.Error()
	if len(rep.Findings()) > 0 {
		rep.Unseen = cmp.Or(rep.Unseen, "not all could be tested: "+text.OneLine(words))
		return
	}
	rep.Unreachable = words
}

// unservedIn returns the error in another one that there is no target any more; nil if there is none.
func unservedIn(err error) *UnservedError {
	unserved, _ := errors.AsType[*UnservedError](err)
	return unserved
}
