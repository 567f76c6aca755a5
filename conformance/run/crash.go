package run

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/forward"
	"github.com/fwpsuite/fwp/internal/lag"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/internal/wait"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

const (
	mostCrashes     = 8                      // of one server in a run; after that no more checks are played on it
	maxProcessExits = 25                     // of a server that can be started again, and whose end is known at once
	revivingFor     = 30 * time.Second       // that a server that was started again may take until it serves
	comebackTimeout = 3 * time.Second        // that a server that cannot be started again may take until it serves
	replayingFor    = 2 * time.Minute        // that the candidates for all crashes of a run are played again, alone
	revivingPause   = 100 * time.Millisecond // between two tries
)

// crash is a time at which a host served no connection, until it is known which check ended it.
type crash struct {
	words      string // what was seen
	ending     string // how the process ended; empty if that is not known
	died       string // the same in a few words
	brief      bool   // the host was back at once
	candidates []*task
	left       int // of the suspects, that are still to be played
	played     int // of them, each alone
}

// died deals with the plays after which a host did not serve, once no more are played on it. A single check that can
// be the reason is. Of several the likeliest are played again, each alone and before all others, until one of them is
// confirmed; the others are played again like any check.
func (s *runState) died(ctx context.Context, h *host) {
	s.endProbation(h)
	h.limiter.forget()
	if s.cutOff(ctx, h) {
		return
	}
	candidates, suspects := candidatesOf(s.runner.Protocol.Dialect.Grammar(), h.dying, h.ended)
	if s.replayed > replayingFor {
		suspects = nil
	}
	h.crashes++
	h.down = !slices.ContainsFunc(h.dying, func(t *task) bool { return t.evidence.Back })
	for _, t := range h.dying { // a limit of connections was not the reason
		t.apart = t.about.Sharing == conformance.SharesNothing
	}
	others := slices.DeleteFunc(h.dying, func(t *task) bool { return slices.Contains(suspects, t) })
	certain := len(candidates) == 1 && candidates[0].lead.sent() &&
		lag.Covers(cmp.Or(s.runner.Timeout, play.DefaultTimeout), s.meter.Lag(candidates[0].began))
	if h.dying = nil; certain {
		s.confirm(candidates[0])
		others = slices.DeleteFunc(others, func(t *task) bool { return t == candidates[0] })
		s.pending = slices.Concat(others, s.pending)
	} else {
		i := slices.IndexFunc(candidates, func(t *task) bool { return t.evidence.Dead != "" })
		first := candidates[i].evidence
		h.crash = &crash{
			words: first.Dead, ending: first.Ending, died: first.Died, brief: !h.down, candidates: candidates,
			left: len(suspects),
		}
		for _, t := range suspects {
			t.suspect = true
		}
		h.first += len(suspects)
		s.pending = slices.Concat(suspects, others, s.pending)
		if len(suspects) == 0 {
			s.unexplained(h)
		}
	}
	if h.crashes > h.mostCrashes() || ctx.Err() != nil || s.stopped != "" {
		s.giveUp(h)
	}
}

// cutOff files the plays after which a host did not serve if a forwarder before it may have ended, and reports whether
// that is so: no command is to blame then, and there is no target any more.
func (s *runState) cutOff(ctx context.Context, h *host) bool {
	if h.lost = lostBefore(ctx, h); h.lost == "" {
		return false
	}
	s.fault(&UnservedError{Cause: errors.New(h.lost)})
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

// endProbation moves the pending checks that found a host dead to those that ended.
func (s *runState) endProbation(h *host) {
	for _, t := range s.pending {
		if t.host == h && t.death != nil {
			t.evidence, t.death = t.death, nil
			h.dying = append(h.dying, t)
			h.first--
		}
	}
	s.pending = slices.DeleteFunc(s.pending, func(t *task) bool { return slices.Contains(h.dying, t) })
}

// confirm files a check as the one that ended its server.
func (s *runState) confirm(t *task) {
	t.fatal = true
	t.host.killer = t.about.ID
	s.record(t)
}

// endSuspect takes the evidence of a candidate that was played alone. If the server is dead again, the search is over.
func (s *runState) endSuspect(t *task) {
	h := t.host
	t.suspect = false
	h.crash.left--
	h.crash.played++
	switch {
	case t.evidence.Dead != "":
		s.release(h)
		h.crash, h.down, h.crashes = nil, !t.evidence.Back, h.crashes+1
		s.confirm(t)
		return
	case !t.filed:
		s.record(t)
	}
	if s.replayed += time.Since(t.began); s.replayed > replayingFor {
		s.release(h) // the others are played again like any check
		h.crash.left = 0
	}
	if h.crash.left == 0 {
		s.unexplained(h)
	}
}

// release turns the remaining candidates into checks like others; those that have a result keep it. One that lag made
// inconclusive may wait for another try as well, which is then a try like others.
func (s *runState) release(h *host) {
	s.pending = slices.DeleteFunc(s.pending, func(t *task) bool {
		if t.host != h || !t.suspect {
			return false
		}
		t.suspect = false
		h.first--
		return t.filed
	})
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
	s.crashes = append(s.crashes, *h.crash)
	h.crash = nil
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
	player := &play.Player{Target: h.Target, Password: h.Password, Timeout: s.runner.Timeout, Peers: &h.peers}
	for begin := time.Now(); ; {
		err := player.Serves(ctx, s.runner.Protocol.Dialect)
		if err == nil || ctx.Err() != nil || time.Since(begin) > patience {
			return err
		}
		wait.Sleep(ctx, revivingPause)
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
			c.Why = crash.words + ": it ended, or was restarted; no check repeated that"
			continue
		}
		c.Verdict = reports.Crash
		c.Findings = append(c.Findings, s.crashFinding(crash))
	}
	return c, len(s.crashes) > 0
}

// crashFinding returns the finding for a crash, which names the candidates and blames no clause.
func (s *runState) crashFinding(c *crash) reports.Finding {
	likeliest := c.candidates[0]
	f := reports.Finding{
		Verdict:   reports.Crash,
		Statement: Death(c.died, likeliest.lead.line, likeliest.about.ID, len(c.candidates) == 1),
		Evidence: reports.Evidence{
			Check: CrashCheck, Expected: "a server that keeps serving", Actual: c.words,
		},
	}
	if c.ending != "" {
		f.Actual += "\n" + c.ending
	}
	f.Actual += "\nIt is not known which check is the reason. Candidates, the likeliest first:"
	for _, t := range c.candidates {
		if f.Actual += "\n  " + t.about.ID; t.lead.line != "" { // the last command
			f.Actual += ": C: " + strings.TrimSpace(t.lead.line)
		}
	}
	switch how := s.adviceToRestart(c.candidates[0].host); {
	case c.played > 0 && c.left == 0:
		f.Actual += "\nThe likeliest were played again, each alone, and the server survived: it may need several at a time"
	case how != "":
		f.Actual += "\nTo find out, " + how + ": then each is played alone"
	default:
		f.Actual += "\nTo find out, play each of them alone"
	}
	if s.runner.Reproduce != nil {
		f.Reproduce = s.runner.Reproduce(c.candidates[0].about.ID)
	}
	return f
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
	s.fault(err)
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
