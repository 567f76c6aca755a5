package situations

import (
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// The situations that restart the server of a quiet worker.
const (
	afterLoss        = "quiet/after-loss"
	lossBesideFetch  = "quiet/first-beat"
	firstBeatAndLoss = "quiet/first-beat-simple"
)

// quietSituations are about the state Quiet. (Quiet State)
func quietSituations() []situation {
	const quiet, stays = "BEAT-13 STATE-17", "STATE-24 STATE-17"
	simple := setup{server: simpleStates}
	later := func(n int) orders { // the order comes with the reply to a later BEAT, and again with each one
		return orders{state: "quiet", beats: n - 1, always: true, watch: shortly(2 * timeToAct)}
	}
	watched := later(2)
	watched.watch = (*trial).watchPause
	return []situation{
		{"quiet/bulk", "after the order to be quiet a worker stops fetching, keeps sending BEAT after an error, and stays",
			quiet + " STATE-18 STATE-19", 100, watched.play,
			setup{rules: "on checked BEAT; from 3; first 1: refuse 'not recorded'"}},
		{"quiet/simple", "the same, with the state as a simple string, in the reply to the third BEAT",
			quiet, 40, later(3).play, simple},
		{"quiet/spaces", "the same, with white space in its JSON as in the specification, in the reply to the second BEAT",
			quiet, 25, later(2).play, setup{rules: spaced}},
		{lossBesideFetch, "the same, with the order in the reply to the first BEAT, and connections lost at once",
			quiet, 5, orders{state: "quiet", late: true, lost: true, watch: shortly(2 * timeToAct)}.play, setup{}},
		{firstBeatAndLoss, "the same, with the state as a simple string with white space, also after a lost connection",
			quiet + " STATE-24", 5, orders{state: "quiet", lost: true, watch: shortly(timeToAct)}.play,
			setup{server: simpleStates, rules: spacedSimple}},
		{"quiet/late-job", "jobs that arrive when the worker is already quiet are run and reported, and a second order " +
			"changes nothing", "STATE-17", 5, orders{state: "quiet", always: true, late: true,
			then: "quiet", watch: shortly(timeToAct / 2)}.play, setup{}},
		{"quiet/once", "a worker that one reply made quiet stays quiet, and keeps sending BEAT after its last job",
			stays, 70, orders{state: "quiet", jobs: []string{"[4]"}, watch: watchBeats(3)}.play, setup{}},
		{afterLoss, "a quiet worker stays quiet after its connections were lost",
			stays, 50, orders{state: "quiet", lost: true, watch: watchBeats(1)}.play, setup{}},
		{"quiet/working", "a worker whose order to be quiet arrives byte by byte finishes and reports its jobs",
			"FETCH-09 STATE-17", 5, orders{state: "quiet", always: true,
				jobs: []string{"[6]", "[6]"}, watch: shortly(timeToAct)}.play,
			setup{rules: "on writing BEAT: pieces 1, pause 1ms"}},
	}
}

// spaced and spacedSimple are rules by which the JSON of a state has white space, in a bulk string and in a simple one.
const (
	spaced = `
on ran BEAT if state = quiet: reply '${"state": "quiet"}'
on ran BEAT if state = terminate: reply '${"state": "terminate"}'`
	spacedSimple = "on writing BEAT: replace ':' ': '"
)

// simpleStates has a server write a state as a simple string.
func simpleStates(c *fakes.Config) { c.StateAsSimple = true }

// shortly returns what watches a worker for a while.
func shortly(d time.Duration) func(*trial, *program) {
	return func(t *trial, p *program) { t.watch(p, d) }
}

// watchBeats returns what watches a worker until so many BEATs are answered.
func watchBeats(n int) func(*trial, *program) {
	return func(t *trial, p *program) {
		t.awaitCount(p, beatPatience, after(t.now(), p.events(reply(fwp.BEAT))), n)
		t.watch(p, 5*time.Second)
	}
}
