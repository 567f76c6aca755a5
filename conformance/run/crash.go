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
	"github.com/fwpsuite/fwp/internal/standstill"
	"github.com/fwpsuite/fwp/internal/target/forward"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

const (
	maxCrashes      = 8                      // of one server in a run; after that no more checks are played on it
	maxProcessExits = 25                     // of a server that can be started again, and whose end is known at once
	restartPatience = 30 * time.Second       // that a server that was started again may take until it serves
	comebackTimeout = 3 * time.Second        // that a server that cannot be started again may take until it serves
	replayBudget    = 2 * time.Minute        // that the checks of all crashes of a run are played again, alone
	restartPause    = 100 * time.Millisecond // between two tries
)

// crash is a time at which a host served no connection, until it is known which check ended it.
type crash struct {
	conformance.Evidence          // of a play that found it dead
	isBrief              bool     // the host was back at once
	checks               []string // the checks that ran, of which one ended it
	remaining            int      // of them, that are still to be played alone
	advice               string   // how the user can have the host started again; empty if that is done
}

// handleDeath deals with the plays after which a host did not serve, once no more are played on it. A single one has
// ended it. Of several each is played again, alone and before all others, the shortest first, until the host ends
// again.
func (s *runState) handleDeath(ctx context.Context, h *host) {
	if s.fileForwarderEnd(ctx, h) || s.retryAtLimit(ctx, h) {
		return
	}
	s.lookAtDead(ctx, h, h.endedSinceDeath...)
	group := slices.SortedStableFunc(slices.Values(h.endedSinceDeath), func(a, b *task) int {
		return cmp.Compare(a.description.Wait, b.description.Wait)
	})
	h.endedSinceDeath, h.crashes = nil, h.crashes+1
	h.isDown = !slices.ContainsFunc(group, func(t *task) bool { return t.evidence.HasRecovered })
	if first := group[0]; len(group) == 1 && s.isCertain(first) {
		s.confirm(first)
	} else {
		at := slices.IndexFunc(group, func(t *task) bool { return t.evidence.DeadReason != "" })
		h.crash = &crash{*group[at].evidence, !h.isDown, idsOf(group), len(group), s.adviceToRestart(h)}
		s.pending = slices.Concat(group, s.pending)
		if s.replayTime > replayBudget {
			s.fileCrash(h)
		}
		for _, t := range group {
			t.isSuspect = h.crash != nil
		}
	}
	if h.crashes > h.maxCrashes() || ctx.Err() != nil || s.stopReason != "" {
		s.giveUp(h)
	}
}

// idsOf lists the checks of plays.
func idsOf(plays []*task) (ids []string) {
	for _, t := range plays {
		ids = append(ids, t.description.ID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// isCertain reports whether a check that found its host dead has ended it: it was alone and was served, and this
// machine was late by a small part of the timeout at most.
func (s *runState) isCertain(t *task) bool {
	hasServed := t.evidence.HasServed || slices.ContainsFunc(t.evidence.Conversation, func(l reports.Line) bool {
		return l.From == reports.FromServer && !l.IsEnd
	})
	const part = 4
	return !t.isShared && hasServed && part*s.meter.Lag(t.began) <= cmp.Or(s.runner.Timeout, play.DefaultTimeout)
}

// retryAtLimit reports whether plays found a host dead that was at its limit of connections: others were open then, and
// it serves when all have ended. Then the plays are repeated, with half as many connections at a time.
func (s *runState) retryAtLimit(ctx context.Context, h *host) bool {
	isDead := func(t *task) bool {
		return t.evidence.DeadReason != "" && (!t.isShared || t.evidence.OpenConns == 0 || t.evidence.Ending != "")
	}
	if slices.ContainsFunc(h.endedSinceDeath, isDead) || !machine.Sleep(ctx, play.CloseLatency) ||
		s.asker(h, nil).Serves(ctx,
			s.runner.Suite.Dialect) != nil {
		return false
	}
	for _, t := range h.endedSinceDeath {
		h.halve(t)
	}
	s.pending, h.endedSinceDeath = slices.Concat(h.endedSinceDeath, s.pending), nil
	return true
}

// asker returns what asks whether a host serves.
func (s *runState) asker(h *host, hasEnded func() bool) *play.Player {
	return &play.Player{
		Target: h.Target, Password: h.Password, Timeout: s.runner.Timeout, Meter: s.meter, Peers: &h.peers,
		HasEnded: hasEnded,
	}
}

// fileForwarderEnd files the plays after which a host did not serve if a forwarder before it may have ended, and
// reports whether that is so: no command is to blame then, and there is no target any more.
func (s *runState) fileForwarderEnd(ctx context.Context, h *host) bool {
	if h.lostReason = lostBefore(ctx, h); h.lostReason == "" {
		return false
	}
	s.noteInternalError(&UnservedError{Cause: fmt.Errorf("%s; it ended while these checks ran: %s", h.lostReason,
		strings.Join(idsOf(h.endedSinceDeath), ", "))})
	for _, t := range h.endedSinceDeath {
		s.fileLost(t)
	}
	h.endedSinceDeath = nil
	s.release(h)
	return true
}

// lostBefore returns why a forwarder before a host may have ended; empty if that is not so, or more is known of the
// host.
func lostBefore(ctx context.Context, h *host) string {
	if h.Ended != nil || restarting(h.Server) != nil {
		return ""
	}
	return h.forwarded().LossReason(ctx)
}

// forwarded returns the record of the transport; nil if there is none.
func (h *host) forwarded() *forward.Record {
	if target, ok := h.Target.(forward.Target); ok {
		return target.Forwarded()
	}
	return nil
}

// maxCrashes returns after how many crashes no more checks are played on a host.
func (h *host) maxCrashes() int {
	if h.Ended != nil && restarting(h.Server) != nil {
		return maxProcessExits
	}
	return maxCrashes
}

// confirm files a check as the one that ended its server.
func (s *runState) confirm(t *task) {
	t.isFatal = true
	t.host.killer, t.host.blamed = t.description.ID, append(t.host.blamed, t)
	s.evaluate(t)
}

// endAlone takes the evidence of a check of a crash that was played alone: one that has ended the host ends the search.
func (s *runState) endAlone(t *task) {
	h := t.host
	t.isSuspect = false
	switch {
	case t.evidence.DeadReason != "" && s.isCertain(t):
		s.release(h)
		h.crash, h.isDown, h.crashes = nil, !t.evidence.HasRecovered, h.crashes+1
		s.confirm(t)
		return
	case t.evidence.DeadReason != "": // before it began
		t.isSuspect, h.isDown, h.crashes = true, true, h.crashes+1
		if s.pending = slices.Insert(s.pending, 0, t); h.crashes > h.maxCrashes() {
			s.giveUp(h)
		}
		return
	}
	s.evaluate(t)
	h.crash.remaining--
	if s.replayTime += time.Since(t.began); h.crash.remaining == 0 || s.replayTime > replayBudget {
		s.release(h)
		s.fileCrash(h)
	}
}

// release turns the checks of a crash that were not played again yet into checks like others.
func (s *runState) release(h *host) {
	for _, t := range s.pending {
		t.isSuspect = t.isSuspect && t.host != h
	}
}

// giveUp ends the checks on a host: it serves no more, and cannot be started again.
func (s *runState) giveUp(h *host) {
	if h.lostReason = "the server no longer served"; h.killer != "" {
		h.lostReason += " after " + h.killer
	}
	s.release(h)
	if h.crash != nil {
		s.fileCrash(h)
	}
}

// fileLost files a check of a host that serves no more, unless it has a result.
func (s *runState) fileLost(t *task) {
	if !t.isFiled {
		s.file(t, s.withoutResult(t.description, reports.Inconclusive,
			cause{reason: reports.ReasonNotServing, words: t.host.lostReason}, s.adviceToRestart(t.host)))
	}
}

// adviceToRestart returns how the user can have a host started again after its end; empty if that is done.
func (s *runState) adviceToRestart(h *host) string {
	if restarting(h.Server) != nil {
		return ""
	}
	return s.runner.Provide[scenarios.NeedRestart]
}

// fileCrash records a crash that no check is known to have caused.
func (s *runState) fileCrash(h *host) {
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

// restart waits until a host serves again, after restarting it if that is possible. It blocks.
func (s *runState) restart(ctx context.Context, h *host) error {
	patience := comebackTimeout
	restart := restarting(h.Server)
	if h.Ended != nil {
		if kill := killing(h.Server); kill != nil { // it may hang: an order to stop would be waited for
			restart = kill
		}
	}
	if restart != nil {
		h.peers.NoteStart()
		if err := restart(ctx); err != nil {
			return err
		}
		patience = restartPatience
	}
	for begin := time.Now(); ; {
		err := s.asker(h, nil).Serves(ctx, s.runner.Suite.Dialect)
		if err == nil || ctx.Err() != nil || time.Since(begin) > patience {
			return err
		}
		machine.Sleep(ctx, restartPause)
	}
}

// restarting returns what starts a server again, nil if nothing does.
func restarting(server Server) func(context.Context) error {
	if r, ok := server.Target.(play.Restarter); ok && slices.Contains(server.Offers, scenarios.NeedRestart) {
		return r.Restart
	}
	return killing(server)
}

// killing returns what kills a server and starts it again, nil if nothing does.
func killing(server Server) func(context.Context) error {
	if k, ok := server.Target.(play.Killer); ok && slices.Contains(server.Offers, scenarios.NeedKill) {
		return k.Kill
	}
	return nil
}

// CrashCheck is the id under which a run reports that the server stopped serving, where no check is known to be the
// reason.
const CrashCheck = "server/keeps-serving"

// crashCheck returns the result for the crashes that no check explains, and whether there were any.
func (s *runState) crashCheck() (c reports.Check, ok bool) {
	c = reports.Check{ID: CrashCheck, Title: "The server serves until the end of the run", Verdict: reports.Inconclusive}
	for i := range s.crashes {
		crash := &s.crashes[i]
		if crash.isBrief {
			c.Reason = reports.ReasonNotServing
			c.Cause = crash.DeadReason + ": it ended, or was restarted; no check repeated that"
			continue
		}
		c.Verdict = reports.Crash
		c.Findings = append(c.Findings, crashFinding(crash))
	}
	return c, len(s.crashes) > 0
}

// crashFinding returns the finding for a crash, which names the checks that ran and blames no clause.
func crashFinding(c *crash) reports.Finding {
	all := []string{c.DeadReason}
	if c.Ending != "" {
		all = append(all, c.Ending)
	}
	if words := c.Looks.String(); words != "" && words != c.DeadReason {
		all = append([]string{words}, all...)
	}
	switch {
	case c.Looks.Way() == standstill.ShortLived:
	case len(c.checks) == 0:
		all = append(all, "it was asked when all checks were over")
	case c.Looks.Way().Lives():
		all = append(all, "these checks ran then:\n  "+strings.Join(c.checks, "\n  "))
	default:
		all = append(all, "it ended while these checks ran:\n  "+strings.Join(c.checks, "\n  "))
	}
	switch {
	case len(c.checks) == 0:
	case c.remaining == 0:
		all = append(all, "each was played again, alone, and none ended it: it may need several at a time")
	case c.advice != "":
		all = append(all, "to find out which one ended it, "+c.advice+": then each is played alone")
	default:
		all = append(all, "to find out which one ended it, play each of them alone")
	}
	return reports.Finding{Verdict: reports.Crash, Statement: Loss(c.Looks, c.ShortEnding, "", ""),
		Evidence: reports.Evidence{
			Check: CrashCheck, Expected: "a server that keeps serving", Actual: strings.Join(all, "\n"),
			Death: deathReason(c.Ending), Printed: c.Printed,
		}}
}

// StartsCheck is the id under which a run reports that a server, which the run had stopped, does not start on its data.
const StartsCheck = "server/starts-again"

// fileStartFailure files a check on a server that did not start again after the run had stopped it, and reports whether
// it did: the check and all others on that server are inconclusive, since it is no crash.
func (s *runState) fileStartFailure(ctx context.Context, t *task) bool {
	if t.server == nil || t.server.Failed == nil || ctx.Err() != nil {
		return false
	}
	err := t.server.Failed()
	if err == nil {
		return false
	}
	s.noteInternalError(err)
	words := text.FirstLine(text.OfError(err))
	if t.host != nil && t.host.lostReason == "" {
		t.host.lostReason = words
		s.release(t.host)
	}
	if !t.isFiled {
		s.file(t, s.withoutResult(t.description, reports.Inconclusive, cause{reason: reports.ReasonNotServing, words: words},
			""))
	}
	return true
}

// NoteUnreached puts into a report why there was no target any more. What was found before counts nevertheless, and so
// does a server that does not start on its data.
func NoteUnreached(rep *reports.Report, err error) {
	addStartFailure(rep, err)
	noteUnreached(rep, err)
}

// addStartFailure adds a server that does not start on its data.
func addStartFailure(rep *reports.Report, err error) {
	words := err.Error()
	if unserved := asUnserved(err); unserved != nil && unserved.ServesWhenEmpty {
		rep.Checks = append(rep.Checks, reports.Check{
			ID: StartsCheck, Title: "A stopped server starts with its data", Verdict: reports.Fail,
			Findings: []reports.Finding{{Verdict: reports.Fail, Evidence: reports.Evidence{
				Check: StartsCheck, Expected: "a server that serves again after it was stopped", Actual: words,
			}}},
		})
	}
}

// noteUnreached says that not all could be tested, or that nothing was: findings decide the exit code.
func noteUnreached(rep *reports.Report, err error) {
	words := err.Error()
	if len(rep.Findings()) > 0 {
		rep.MissReason = cmp.Or(rep.MissReason, "not all could be tested: "+text.OneLine(words))
		return
	}
	rep.Unreachable = words
}

// asUnserved returns the error in another one that there is no target any more; nil if there is none.
func asUnserved(err error) *UnservedError {
	unserved, _ := errors.AsType[*UnservedError](err)
	return unserved
}
