package clientrules

import (
	"slices"
	"time"

	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// The bounds of the specification for BEAT, and of the worker guide.
const (
	beatAtLeast = 60 * time.Second
	beatAtMost  = 5 * time.Second
	beatAdvised = 15 * time.Second
	// fetchWait is for how long a FETCH may hold up a BEAT on the same connection.
	fetchWait = 2 * time.Second
)

// beatRules are about the heartbeat.
func beatRules() []Rule {
	beats, beatOrTime := on(Line).of(fwp.BEAT), on(Line, second).of(fwp.BEAT)
	return []Rule{
		{BeatMissing, "a worker was connected for 60 s", 0, on(second), checkBeatMissing},
		{QuietWithoutBeat, "a quiet worker was connected for 60 s, or sent BEAT", 0, beatOrTime, checkQuietBeat},
		{TerminateWithoutBeat, "a worker that terminates sent BEAT, or stayed for 20 s", 0, beatOrTime, checkTerminateBeat},
		{BeatTooOften, "a worker sent a second BEAT", 0, beats, checkBeatTooOften},
		{BeatInterval, "a worker sent four BEATs, or three with long pauses", 0, beats, checkInterval},
		{BeatByProducer, "a client without a wid was connected for 15 s", 0, on(Line, Closed), checkProducerBeat},
		{BeatWid, "a worker sent BEAT", 0, beats, checkBeatWid},
		{BeatState, "a BEAT had a current_state", 0, beats, checkBeatState},
		{BeatMemory, "a BEAT had an rss_kb", 0, beats, checkBeatMemory},
	}
}

// silentSince returns when a worker last sent BEAT, was connected or was kept waiting by the server.
func (k *workerState) silentSince() time.Duration { return max(k.connected, timeOf(k.beat), k.stalled) }

// isSilent reports whether a worker that is connected, or works on without a connection, has sent no BEAT for too long.
func (w *world) isSilent(k *workerState) bool {
	isThere := k.inUse() > 0 || w.isWorkingApart(k)
	return isThere && w.now-k.silentSince() > beatAtLeast+w.slack && !k.waitsForServer(w.now)
}

func checkBeatMissing(l *look) judgement {
	k := l.worker
	isThere := k.inUse() > 0 || l.world.isWorkingApart(k)
	if !isThere || k.silenceReported || l.At-k.connected < beatAtLeast {
		return notApplicable()
	}
	return keptUnless(l.world.isSilent(k), moments(k.beat), "no BEAT for more than %.0f s",
		(l.At - k.silentSince()).Seconds())
}

func checkQuietBeat(l *look) judgement {
	k := l.worker
	switch {
	case k == nil || k.quiet == nil || k.terminate != nil || len(k.conns) == 0 || k.silenceReported:
		return notApplicable()
	case l.Kind == Line:
		return kept()
	case l.At-k.quiet.At < beatAtLeast || !l.world.isSilent(k):
		return notApplicable()
	}
	return broken(moments(k.quiet, k.beat), "a quiet worker sent no BEAT for 60 s")
}

// checkTerminateBeat judges the BEATs of a worker that is connected after the order to terminate: the guide demands
// them until it leaves. The server may have kept it waiting for the reply to the BEAT before.
func checkTerminateBeat(l *look) judgement {
	k := l.worker
	switch {
	case k == nil || k.terminate == nil || k.inUse() == 0 || k.stayReported:
		return notApplicable()
	case l.Kind == Line:
		return kept()
	}
	limit := max(20*time.Second, k.beatPause*3/2, k.gaps[0])
	if k.gaps[0] == 0 { // it may beat as rarely as once a minute
		limit = beatAtLeast
	}
	limit += l.world.slack
	silence := l.At - max(k.terminate.At, timeOf(k.beat), k.stalled)
	if silence <= limit || silence > limit+time.Second { // it is reported once
		return notApplicable()
	}
	return broken(moments(k.beat, k.terminate), "no BEAT for %.0f s from a worker that terminates", silence.Seconds())
}

// isRegularBeat reports whether a BEAT and the one before it are those of an interval: neither tells a state, no
// connection was lost between them, and if there was an error, then to the one before that as well: one is repeated.
func isRegularBeat(l *look) bool {
	k := l.worker
	isBeside := k != nil && k.lostConn && k.refusals < 2
	return k != nil && k.beats > 0 && !isBeside && !k.beatHadState && l.Text("current_state") == ""
}

// checkBeatTooOften judges the BEATs of each connection: nothing says whose pauses they are where each of a worker's
// connections sends its own. A connection that is the worker's only one goes on where the one before it was closed.
func checkBeatTooOften(l *look) judgement {
	if !isRegularBeat(l) {
		return notApplicable()
	}
	last, tolerance := l.conn.beat, beatAtMost/10
	if k := l.worker; last == nil && k.beatClosed && len(k.conns) == 1 {
		last = k.beat
	}
	gap := l.At - timeOf(last)
	switch {
	case last == nil || gap >= beatAtMost-tolerance:
		return kept()
	case gap < beatAtMost-max(tolerance, l.world.lag()):
		return broken(moments(last), "two BEATs within %.1f s", gap.Seconds())
	}
	return notApplicable() // this machine may have been late
}

// checkInterval judges three intervals in a row, so that one that is late, or sent for another reason, does not count:
// two, if they take longer than three may. What is too short for the text is BEAT-07, and what is between the two is as
// good as what is advised.
func checkInterval(l *look) judgement {
	k := l.worker
	if !isRegularBeat(l) || k.gaps[0] == 0 {
		return notApplicable()
	}
	gaps, lag := []time.Duration{l.At - k.beat.At, k.gaps[0], k.gaps[1]}, l.world.lag()
	longest := beatAdvised + 2*time.Second
	if l.conn.fetches > 0 { // a lock is handed on in no order, so that a few FETCHes may come first
		longest += 3 * fetchWait
	}
	if k.gaps[1] == 0 { // there are two
		if gaps = gaps[:2]; gaps[0]+gaps[1] <= 3*longest {
			return notApplicable()
		}
	}
	switch excess := slices.Min(gaps) - longest; { // how far all three are outside what is advised
	case excess <= 0:
		return kept()
	case excess <= lag:
		return notApplicable() // this machine may have been late
	}
	return broken(moments(k.beat), "a BEAT every %.1f s; the specification advises 10 or 15 s", gaps[0].Seconds())
}

func checkProducerBeat(l *look) judgement {
	c := l.conn
	switch {
	case c == nil || !c.identified || c.worker != nil:
		return notApplicable()
	case l.verb() == fwp.BEAT:
		return broken(moments(&c.hello.shown), "BEAT by a client whose HELLO has no wid")
	}
	return keptWhere(l.At-c.opened >= beatAdvised)
}

func checkBeatWid(l *look) judgement {
	if l.worker == nil || l.Object == nil {
		return notApplicable()
	}
	return keptUnless(l.Object["wid"] != l.worker.wid, moments(&l.conn.hello.shown),
		"the wid of BEAT is %s, that of HELLO is %s", fieldText(l.Object, "wid"), quoteAny(l.worker.wid))
}

func checkBeatState(l *look) judgement {
	v := l.Object["current_state"]
	if v == nil {
		return notApplicable()
	}
	return keptIf(v == "" || v == "quiet" || v == "terminate",
		"current_state is %s, expected \"quiet\" or \"terminate\"", quoteAny(v))
}

func checkBeatMemory(l *look) judgement {
	v := l.Object["rss_kb"]
	if v == nil {
		return notApplicable()
	}
	return keptIf(model.IntField.Is(v), "rss_kb is %s, expected an integer", quoteAny(v))
}
