package situations

import (
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
)

// beatSeconds is for how many seconds the BEATs of an idle worker are watched. Pauses of 10, 20 and 40 s and then of
// more than a minute fit into it: those of a worker whose pauses grow.
const beatSeconds = 133

// beatSituations are about the heartbeat. (Client Lifecycle; BEAT)
func beatSituations() []situation {
	return []situation{
		{"beat/interval", "an idle worker sends BEAT every 5 to 60 s",
			"BEAT-06 BEAT-07 BEAT-08 BEAT-10", beatSeconds, playIdle, setup{}},
		{"beat/long-jobs", "a worker sends BEAT while it runs as many jobs as it may",
			"BEAT-06", 70, playBusy, setup{}},
		{"beat/eventful", "a worker keeps sending BEAT after failed jobs, a refused FETCH and a lost connection, and " +
			"while jobs end all the time",
			"BEAT-06", 95, playBeatsAfterTroubles, setup{}},
		{"beat/error", "a worker keeps sending BEAT when its BEATs get errors, and its jobs go on",
			"RESP-09 FAIL-04", 50, playBeatRefused, setup{rules: "on checked BEAT; from 2; first 2: refuse " +
				"'not recorded: neither quiet nor terminate, no state, is known'"}},
		{"beat/refused", "errors in reply to the first BEATs do not make a worker send more of them",
			"BEAT-07", 5, playFirstBeatsRefused,
			setup{rules: "on checked BEAT if not refused; first 2: refuse 'not recorded'"}},
		{"beat/unknown-worker", "a worker that the server no longer knows greets again, or exits",
			"WRK-12", 35, playUnknownWorker, setup{}},
	}
}

func playIdle(t *trial) { t.watch(t.launch(options{}), beatSeconds*time.Second) }

// playBusy has jobs for each executor, also of a worker that runs as many as it likes.
func playBusy(t *trial) {
	const extra = 30
	p := t.launch(options{})
	t.mustTake(t.pushMany(usualConcurrency, "fwp.sleep", "[64]")...)
	t.pushMany(extra, "fwp.sleep", "[64]")
	t.watch(p, 70*time.Second)
	t.judgeBeats(p)
}

func playBeatsAfterTroubles(t *trial) {
	p := t.launch(options{})
	t.causeTroubles(p)
	t.pushMany(20*usualConcurrency, "fwp.sleep", "[3]") // reports are no reason to put a BEAT off
	t.watchPause(p)
	t.judgeBeats(p)
}

// watchPause watches a process for as long as the pause between its next two BEATs may be, with slack: that from the
// last one to the next may have begun before something that makes later ones too long.
func (t *trial) watchPause(p *program) {
	const longest = 64 * time.Second
	t.await(p, beatPatience, eventsAfter(t.now()+1, p.lines(fwp.BEAT)))
	t.watch(p, longest)
}

// judgeBeats holds that a process has sent BEAT every 60 s, if it has, also where it has ended connections
// meanwhile: the rules know a worker by its connections.
func (t *trial) judgeBeats(p *program) {
	hello := t.first(p.lines(fwp.HELLO))
	if hello == nil || t.hasExited(p) {
		return
	}
	last := hello.At
	for _, e := range t.all(p.lines(fwp.BEAT)) {
		if e.At-last > time.Minute {
			return
		}
		last = e.At
	}
	if t.now()-last <= time.Minute {
		t.decideHeld("BEAT-06")
	}
}

// playBeatRefused is played with the second BEAT and the third refused: the first one is sent at the start, where a
// library may hand the error to the program that uses it. Jobs run meanwhile, which have to succeed.
func playBeatRefused(t *trial) {
	p := t.launch(options{})
	t.mustBeat(p, 1)
	t.pushMany(usualConcurrency, "fwp.sleep", "[18]")
	t.mustBeat(p, 2)
	ok := t.awaitCount(p, beatPatience, p.lines(fwp.BEAT), 3) && t.awaitCount(p, beatPatience, p.lines(fwp.BEAT), 4)
	if !ok && !t.hasExited(p) {
		t.giveUp(true, "the worker sent no other BEAT within %v", beatPatience)
	}
	t.decide("RESP-09", !t.hasExited(p), "a worker that continues",
		"after the error reply to its BEAT the worker "+t.ending(p))
	if !t.hasExited(p) {
		if t.judgeWork(p, "RESP-09", "a worker that keeps fetching, because an error is not a state") {
			t.judgeExecutors(p, "error replies to BEAT")
		}
	}
}

// playFirstBeatsRefused decides about what is sent at once: a worker may end, or go on at its next BEAT.
func playFirstBeatsRefused(t *trial) {
	p := t.launch(options{})
	t.mustBeat(p, 1)
	t.watch(p, timeToAct)
	t.decideHeld("BEAT-07")
}

// minForbiddenFetches is how often a worker has to fetch after it should have stopped.
const minForbiddenFetches = 10

func playUnknownWorker(t *trial) {
	t.hook(forgetWorker())
	p := t.launch(options{})
	t.mustBeat(p, 2)
	refusals := p.events(func(e *clientrules.Event) bool {
		return reply(fwp.BEAT)(e) && strings.Contains(string(e.Reply.Text), "Unknown")
	})
	if !t.await(p, timeToAct, refusals) {
		t.giveUp(true, "the worker did not get the error reply for an unknown worker")
	}
	at := t.first(refusals).At
	hellos := eventsAfter(at, p.lines(fwp.HELLO))
	t.await(p, beatPatience, hellos)
	t.watch(p, time.Second)
	fetches := t.count(eventsAfter(at+timeToAct, p.lines(fwp.FETCH)))
	t.decide("WRK-12", t.has(hellos) || t.hasExited(p) || fetches < minForbiddenFetches,
		"another HELLO, or the end of the worker",
		fmt.Sprintf("within %v the worker did not greet again and did not end; it sent %d more FETCHes", beatPatience,
			fetches))
}
