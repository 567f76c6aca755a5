package load

import (
	"errors"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/wire"
	"github.com/fwpsuite/fwp/reports"
)

// Limits of stall detection. They apply where a phase has no end of its own: the jobs
// pushed beforehand, a number of jobs, the drain. A fetch is answered within 2 s.
const (
	silentLimit = 10 * time.Second // commands are in flight, and none is answered; a longer Config.Timeout counts instead
	errorsLimit = 5 * time.Second  // commands fail, and none succeeds
	minErrors   = 10               // with at least this many failures
)

// watchdog detects that commands no longer succeed. The zero value has seen no stall.
type watchdog struct {
	replyTimeout time.Duration // how long a server may answer nothing; silentLimit if it is less
	from         time.Duration // the beginning of the phase
	served       int64         // commands that succeeded
	lastSuccess  time.Duration // the time of the last success, or of the beginning of the phase
	errors       int64         // failures until then
	lastIdle     time.Duration // when no command was in flight, the last time, in whatever phase
	stall        string        // why the phase is given up; empty while commands succeed
}

// reset starts stall detection again, at the beginning of a phase.
func (w *watchdog) reset(now time.Duration, s *client.Status) {
	*w = watchdog{replyTimeout: w.replyTimeout, from: now, served: s.ServedCommands, lastSuccess: now, errors: s.Errors,
		lastIdle: w.lastIdle}
}

// observe updates the watchdog with the current status. Patience is added to the limits: a
// worker sends nothing while it works. A stall that was detected stays until reset.
func (w *watchdog) observe(now time.Duration, s *client.Status, patience time.Duration) {
	if s.ServedCommands != w.served {
		w.served, w.lastSuccess, w.errors = s.ServedCommands, now, s.Errors
	}
	if s.InFlight == 0 {
		w.lastIdle = now
	}
	silentSince := max(w.lastIdle, s.RepliedAt)
	switch {
	case w.hasStalled():
	case now-w.lastSuccess > errorsLimit+patience && s.Errors-w.errors >= minErrors:
		w.stall = "only errors for " + seconds(now-w.lastSuccess)
		if s.LastError != nil {
			w.stall += " (" + errorText(s.LastError) + ")"
		}
	case now-max(silentSince, w.from) > max(silentLimit, w.replyTimeout)+patience:
		w.stall = "no reply for " + seconds(now-silentSince)
	}
}

// minGap is how long nothing must have been answered for a sentence about it.
const minGap = time.Second

// gapEdge is how long after the last reply other replies may still belong to the time before.
const gapEdge = lookEvery

// gaps are the spans in which a reply was due and none came, but for fetches that found nothing. The zero value has
// none.
type gaps struct {
	all         []results.Gap
	from        time.Duration // of the present one; 0: there is none
	last        time.Duration // when observe was called last
	lastReplyAt time.Duration // when the latest reply came, that of a fetch without a job included
	watchTime   time.Duration // how much of the present one was seen: this process may have stood still itself
}

// observe updates the gaps. dueSince returns since when a reply is due, 0 if none is; it is called in silence only.
func (g *gaps) observe(now time.Duration, s *client.Status, dueSince func() time.Duration) {
	step, replied := now-g.last, s.UsefulReplyAt
	if g.last = now; replied > g.from {
		g.end(replied)
	}
	g.lastReplyAt = s.RepliedAt
	if now-replied < minGap/2 {
		return
	}
	since := dueSince()
	switch {
	case since == 0:
		g.end(now)
	case g.from == 0:
		g.from, g.watchTime = max(since, replied, 1), 0
		g.watchTime = now - g.from - step
	}
	g.watchTime += min(step, 5*lookEvery)
}

// end ends the present gap, if there is one.
func (g *gaps) end(until time.Duration) {
	if length := until - g.from; g.from > 0 && length >= minGap && g.watchTime >= length/2 {
		g.all = append(g.all, results.Gap{From: g.from, Until: until, HasEmptyFetches: g.lastReplyAt > g.from+gapEdge &&
			g.lastReplyAt < until})
	}
	g.from = 0
}

// observeGaps looks for gaps from the first push until the connections are ended.
func (r *run) observeGaps(now time.Duration) {
	if r.isLeaving || r.loadFrom == 0 {
		r.gaps.end(now)
		return
	}
	r.gaps.observe(now, &r.status, func() (since time.Duration) {
		r.eachShard(func(c *client.Shard) {
			if at := c.WaitingSince(now); at > 0 && (since == 0 || at < since) {
				since = at
			}
		})
		return since
	})
}

// seconds returns a time in whole seconds.
func seconds(d time.Duration) string { return reports.Time(d.Round(time.Second)) }

// hasStalled reports whether a stall was detected since the last reset.
func (w *watchdog) hasStalled() bool { return w.stall != "" }

// errorText returns the server's text of an error reply, and the text of any other error.
func errorText(err error) string {
	if refused, ok := errors.AsType[*wire.RefusedError](err); ok {
		return refused.Text
	}
	return text.OfError(err)
}

// deadAfter is how long nothing but refusals may come for what a load is about until it ends, unless Config.AbortOn
// says otherwise.
const deadAfter = 30 * time.Second

// abortIfDead ends the load after a second if the target is dead: by Config.AbortOn, or by what is usual.
func (r *run) abortIfDead(set *measure.Set, s *results.Second) {
	f, op := &r.figures, r.successOp()
	if s.Phase != "measure" && s.Phase != "warm-up" || f.abortReason != "" {
		return
	}
	for i := range r.config.AbortOn {
		if a := &r.config.AbortOn[i]; a.IsMet(f.series) {
			f.abortReason = a.Source
			return
		}
	}
	switch {
	case successes(set, op) > 0 || set.Failed(op) > set.Errors(op, measure.Rejected):
		r.refusedSince = 0
	case set.Errors(op, measure.Rejected) > 0 && r.refusedSince == 0:
		r.refusedSince = s.At
	}
	length := s.At + s.Length - r.refusedSince
	if r.refusedSince > 0 && length >= deadAfter && r.config.AbortOn == nil && r.config.Schedule == nil {
		f.abortReason = "nothing but refusals of " + string(op) + " for " + reports.Duration(length.Round(time.Second))
	}
}
