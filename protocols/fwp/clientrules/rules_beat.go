package clientrules

import (
	"slices"
	"time"

	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// The bounds of the specification for BEAT, and of the worker guide.
const (
	maxBeatPause     = 60 * time.Second
	minBeatPause     = 5 * time.Second
	advisedBeatPause = 15 * time.Second
	// fetchBlock is for how long a FETCH may hold up a BEAT on the same connection.
	fetchBlock = 2 * time.Second
)

// beatRules are about the heartbeat.
func beatRules() []Rule {
	beats, beatsAndSeconds := occasionsOf(Line).withVerbs(fwp.BEAT), occasionsOf(Line, workerSecond).withVerbs(fwp.BEAT)
	return []Rule{
		{BeatMissing, "a worker was connected for 60 s", 0, occasionsOf(workerSecond), checkBeatMissing},
		{QuietWithoutBeat, "a quiet worker was connected for 60 s, or sent BEAT", 0, beatsAndSeconds, checkQuietBeat},
		{TerminateWithoutBeat, "a worker that terminates sent BEAT, or stayed for 20 s", 0, beatsAndSeconds,
			checkTerminateBeat},
		{BeatTooOften, "a worker sent a second BEAT", 0, beats, checkBeatTooOften},
		{BeatInterval, "a worker sent four BEATs, or three with long pauses", 0, beats, checkInterval},
		{BeatByProducer, "a client without a wid was connected for 15 s", 0, occasionsOf(Line, ConnClose), checkProducerBeat},
		{BeatWid, "a worker sent BEAT", 0, beats, checkBeatWid},
		{BeatState, "a BEAT had a current_state", 0, beats, checkBeatState},
		{BeatMemory, "a BEAT had an rss_kb", 0, beats, checkBeatMemory},
	}
}

// silenceStart returns when a worker last sent BEAT, was connected or was kept waiting by the server.
func (k *workerState) silenceStart() time.Duration {
	return max(k.connectTime, timeOf(k.beat), k.stallTime)
}

// isSilent reports whether a worker that is connected, or works on without a connection, has sent no BEAT for too long.
func (w *world) isSilent(k *workerState) bool {
	isPresent := k.countConns() > 0 || w.isWorkingOffline(k)
	return isPresent && w.now-k.silenceStart() > maxBeatPause+w.slack && !k.waitsForServer(w.now)
}

func checkBeatMissing(l *observation) judgement {
	k := l.worker
	isPresent := k.countConns() > 0 || l.world.isWorkingOffline(k)
	if !isPresent || k.isSilenceReported || l.At-k.connectTime < maxBeatPause {
		return skip()
	}
	return failIf(l.world.isSilent(k), moments(k.beat), "no BEAT for more than %.0f s",
		(l.At - k.silenceStart()).Seconds())
}

func checkQuietBeat(l *observation) judgement {
	k := l.worker
	switch {
	case k == nil || k.quietReply == nil || k.terminateReply != nil || len(k.conns) == 0 || k.isSilenceReported:
		return skip()
	case l.Kind == Line:
		return pass()
	case l.At-k.quietReply.At < maxBeatPause || !l.world.isSilent(k):
		return skip()
	}
	return fail(moments(k.quietReply, k.beat), "a quiet worker sent no BEAT for 60 s")
}

// checkTerminateBeat judges the BEATs of a worker that is connected after the order to terminate: the guide demands
// them until it leaves. The server may have kept it waiting for the reply to the BEAT before.
func checkTerminateBeat(l *observation) judgement {
	k := l.worker
	switch {
	case k == nil || k.terminateReply == nil || k.countConns() == 0 || k.isStayReported:
		return skip()
	case l.Kind == Line:
		return pass()
	}
	limit := max(20*time.Second, k.beatPause*3/2, k.gaps[0])
	if k.gaps[0] == 0 { // it may beat as rarely as once a minute
		limit = maxBeatPause
	}
	limit += l.world.slack
	silence := l.At - max(k.terminateReply.At, timeOf(k.beat), k.stallTime)
	if silence <= limit || silence > limit+time.Second { // it is reported once
		return skip()
	}
	return fail(moments(k.beat, k.terminateReply), "no BEAT for %.0f s from a worker that terminates", silence.Seconds())
}

// isRegularBeat reports whether a BEAT and the one before it are those of an interval: neither tells a state, no
// connection was lost between them, and if there was an error, then to the one before that as well: one is repeated.
func isRegularBeat(l *observation) bool {
	k := l.worker
	isAfterLoss := k != nil && k.hasLostConn && k.refusals < 2
	return k != nil && k.beats > 0 && !isAfterLoss && !k.hasBeatState && l.Text("current_state") == ""
}

// checkBeatTooOften judges the BEATs of each connection: nothing says whose pauses they are where each of a worker's
// connections sends its own. A connection that is the worker's only one goes on where the one before it was closed.
func checkBeatTooOften(l *observation) judgement {
	if !isRegularBeat(l) {
		return skip()
	}
	last, tolerance := l.conn.beat, minBeatPause/10
	if k := l.worker; last == nil && k.isBeatConnClosed && len(k.conns) == 1 {
		last = k.beat
	}
	gap := l.At - timeOf(last)
	switch {
	case last == nil || gap >= minBeatPause-tolerance:
		return pass()
	case gap < minBeatPause-max(tolerance, l.world.lag()):
		return fail(moments(last), "two BEATs within %.1f s", gap.Seconds())
	}
	return skip() // this machine may have been late
}

// checkInterval judges three intervals in a row, so that one that is late, or sent for another reason, does not count:
// two, if they take longer than three may. What is too short for the text is BEAT-07, and what is between the two is as
// good as what is advised.
func checkInterval(l *observation) judgement {
	k := l.worker
	if !isRegularBeat(l) || k.gaps[0] == 0 {
		return skip()
	}
	gaps, lag := []time.Duration{l.At - k.beat.At, k.gaps[0], k.gaps[1]}, l.world.lag()
	longest := advisedBeatPause + 2*time.Second
	if l.conn.fetches > 0 { // a lock is handed on in no order, so that a few FETCHes may come first
		longest += 3 * fetchBlock
	}
	if k.gaps[1] == 0 { // there are two
		if gaps = gaps[:2]; gaps[0]+gaps[1] <= 3*longest {
			return skip()
		}
	}
	switch excess := slices.Min(gaps) - longest; { // how far all three are outside what is advised
	case excess <= 0:
		return pass()
	case excess <= lag:
		return skip() // this machine may have been late
	}
	return fail(moments(k.beat), "a BEAT every %.1f s; the specification advises 10 or 15 s", gaps[0].Seconds())
}

func checkProducerBeat(l *observation) judgement {
	c := l.conn
	switch {
	case c == nil || !c.isIdentified || c.worker != nil:
		return skip()
	case l.verb() == fwp.BEAT:
		return fail(moments(&c.hello.moment), "BEAT by a client whose HELLO has no wid")
	}
	return passWhere(l.At-c.openTime >= advisedBeatPause)
}

func checkBeatWid(l *observation) judgement {
	if l.worker == nil || l.Object == nil {
		return skip()
	}
	return failIf(l.Object["wid"] != l.worker.wid, moments(&l.conn.hello.moment),
		"the wid of BEAT is %s, that of HELLO is %s", fieldText(l.Object, "wid"), quoteAny(l.worker.wid))
}

func checkBeatState(l *observation) judgement {
	v := l.Object["current_state"]
	if v == nil {
		return skip()
	}
	return passIf(v == "" || v == "quiet" || v == "terminate",
		"current_state is %s, expected \"quiet\" or \"terminate\"", quoteAny(v))
}

func checkBeatMemory(l *observation) judgement {
	v := l.Object["rss_kb"]
	if v == nil {
		return skip()
	}
	return passIf(model.IntField.Accepts(v), "rss_kb is %s, expected an integer", quoteAny(v))
}
