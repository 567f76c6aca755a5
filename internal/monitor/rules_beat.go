package monitor

import (
	"slices"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// The bounds of the specification for BEAT, and of the worker guide.
const (
	beatAtLeast    = 60 * time.Second
	beatAtMost     = 5 * time.Second
	beatAdvisedMin = 10 * time.Second
	beatAdvisedMax = 15 * time.Second
)

// beatRules are about the heartbeat.
func beatRules() []Rule {
	return []Rule{
		{
			Breach: BeatMissing, Goal: "a worker was connected for 60 s",
			on: on(worker), check: func(l *look) judgement {
				k := l.worker
				if len(k.conns) == 0 || k.silent || l.At-k.since < beatAtLeast {
					return aside()
				}
				if !k.silentFor(l.At, l.world.slack) {
					return right()
				}
				return wrong(moments(k.beat), "no BEAT for more than %.0f s", (l.At - k.quietSince()).Seconds())
			},
		},
		{
			Breach: QuietWithoutBeat, Goal: "a quiet worker was connected for 60 s, or sent BEAT",
			on: append(on(Line, fwp.BEAT), on(worker)...), check: func(l *look) judgement {
				k := l.worker
				if k == nil || k.quiet == nil || k.terminate != nil || len(k.conns) == 0 || k.silent {
					return aside()
				}
				if l.Kind == Line {
					return right()
				}
				if l.At-k.quiet.At < beatAtLeast || !k.silentFor(l.At, l.world.slack) {
					return aside()
				}
				return wrong(moments(k.quiet, k.beat), "a quiet worker sent no BEAT for 60 s")
			},
		},
		{
			Breach: TerminateWithoutBeat, Goal: "a worker that terminates sent BEAT, or stayed for 20 s",
			on: append(on(Line, fwp.BEAT), on(worker)...), check: checkTerminateBeat,
		},
		{
			Breach: BeatTooOften, Goal: "a worker sent a second BEAT",
			on: on(Line, fwp.BEAT), check: func(l *look) judgement {
				k := l.worker
				state, _ := l.Object["current_state"].(string)
				if k == nil || k.beats == 0 || k.lost || k.stateBeat || state != "" {
					return aside()
				}
				gap, lag := l.At-k.lastBeat, l.world.slack-l.world.cfg.Slack
				if gap >= beatAtMost-max(beatAtMost/10, lag) {
					return right()
				}
				return wrong(moments(k.beat), "two BEATs within %.1f s", gap.Seconds())
			},
		},
		{
			Breach: BeatInterval, Goal: "a worker sent four BEATs",
			on: on(Line, fwp.BEAT), check: checkInterval,
		},
		{
			Breach: BeatByProducer, Goal: "a client without a wid was connected for 15 s",
			on: append(on(Line), on(Closed)...), check: func(l *look) judgement {
				c := l.conn
				switch {
				case c == nil || !c.identified || c.worker != nil:
					return aside()
				case l.verb() == fwp.BEAT:
					return wrong([]Moment{c.hello.shown}, "BEAT by a client whose HELLO has no wid")
				case l.At-c.opened >= beatAdvisedMax:
					return right()
				}
				return aside()
			},
		},
		{
			Breach: BeatWid, Goal: "a worker sent BEAT",
			on: on(Line, fwp.BEAT), check: func(l *look) judgement {
				if l.worker == nil || l.Object == nil {
					return aside()
				}
				if l.Object["wid"] == l.worker.wid {
					return right()
				}
				return wrong([]Moment{l.conn.hello.shown}, "the wid of BEAT is %s, and that of HELLO %s",
					fieldText(l.Object, "wid"), quoteAny(l.worker.wid))
			},
		},
		{
			Breach: BeatState, Goal: "a BEAT had a current_state",
			on: on(Line, fwp.BEAT), check: func(l *look) judgement {
				v := l.Object["current_state"]
				if v == nil {
					return aside()
				}
				return rightIf(v == "" || v == "quiet" || v == "terminate",
					"current_state is %s, expected \"quiet\" or \"terminate\"", quoteAny(v))
			},
		},
		{
			Breach: BeatMemory, Goal: "a BEAT had an rss_kb",
			on: on(Line, fwp.BEAT), check: func(l *look) judgement {
				v := l.Object["rss_kb"]
				if v == nil {
					return aside()
				}
				return rightIf(fwp.IntField.Is(v), "rss_kb is %s, expected an integer", quoteAny(v))
			},
		},
	}
}

// quietSince returns when a worker last sent BEAT, was connected or was kept waiting by the server.
func (k *workerState) quietSince() time.Duration { return max(k.since, k.lastBeat, k.stalled) }

func (k *workerState) silentFor(now, slack time.Duration) bool {
	return len(k.conns) > 0 && now-k.quietSince() > beatAtLeast+slack && !k.waitsForServer(now)
}

// checkTerminateBeat: the guide has a worker beat until it has left, so one that stays for long enough sends BEAT.
func checkTerminateBeat(l *look) judgement {
	k := l.worker
	if k == nil || k.terminate == nil || len(k.conns) == 0 || k.stayed {
		return aside()
	}
	if l.Kind == Line {
		return right()
	}
	limit := max(20*time.Second, k.gaps[0]*3/2)
	since := max(k.terminate.At, k.lastBeat, k.stalled)
	due := l.At-since > limit+l.world.slack
	justNow := l.At-since <= limit+l.world.slack+time.Second
	if !due || !justNow {
		return aside()
	}
	silence := (l.At - since).Seconds()
	return wrong(moments(k.beat, k.terminate), "no BEAT for %.0f s from a worker that terminates", silence)
}

// checkInterval judges three intervals in a row, so that one that is late, or sent for another reason, does not count.
func checkInterval(l *look) judgement {
	k := l.worker
	state, _ := l.Object["current_state"].(string)
	if k == nil || k.lost || k.gaps[1] == 0 || k.stateBeat || state != "" {
		return aside()
	}
	gaps := []time.Duration{l.At - k.lastBeat, k.gaps[0], k.gaps[1]}
	lag := l.world.slack - l.world.cfg.Slack
	short := slices.Max(gaps) < beatAdvisedMin-time.Second-lag
	long := slices.Min(gaps) > beatAdvisedMax+2*time.Second+lag
	if grows(gaps, lag) {
		return wrong(moments(k.beat),
			"a BEAT after %.1f s, %.1f s and then %.1f s: the interval grows, and 10 s or 15 s are advised",
			gaps[2].Seconds(), gaps[1].Seconds(), gaps[0].Seconds())
	}
	if !short && !long {
		return right()
	}
	return wrong(moments(k.beat), "a BEAT every %.1f s, and 10 s or 15 s are advised", gaps[0].Seconds())
}

// grows reports whether each of three intervals, the latest first, is much longer than the one before, and the latest
// is beyond what is advised. One that is late alone makes the next one shorter, not longer.
func grows(gaps []time.Duration, lag time.Duration) bool {
	const much = 5 * time.Second
	return gaps[0] > beatAdvisedMax+much+lag && gaps[0] > gaps[1]+much+lag && gaps[1] > gaps[2]+much+lag
}

// moments returns those that there are.
func moments(all ...*Moment) []Moment {
	var kept []Moment
	for _, m := range all {
		if m != nil {
			kept = append(kept, *m)
		}
	}
	return kept
}
