package situations

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
)

// replySituations are about replies that a worker has to understand. (Server Protocol Sender and Client Protocol
// Receiver)
func replySituations() []situation {
	const refused = "RESP-09 FETCH-10 FETCH-11"
	return slices.Concat(segmentSituations(), []situation{
		{"replies/null", "a null reply to FETCH is not an error",
			"RESP-08", 5, playNull, setup{rules: "on ran FETCH; first 1: delay 2s"}},
		{"errors/fetch", "an error reply to FETCH affects only that command",
			refused, 3, playRefused(fwp.FETCH), setup{}},
		{"errors/ack", "an error reply to ACK affects only that command",
			refused, 3, playRefused(fwp.ACK), setup{}},
		{"errors/fail", "an error reply to FAIL affects only that command",
			refused, 3, playRefused(fwp.FAIL), setup{}},
	})
}

// playNull is played with a first null that comes late: no other command may stand before it on its connection.
func playNull(t *trial) {
	p := t.launch(options{})
	null := func(e *clientrules.Event) bool { return reply(fwp.FETCH)(e) && e.Reply.Kind == fwp.NullBulk }
	if !t.awaitCount(p, quickPatience, null, 2) && (!t.hasExited(p) || !t.has(null)) {
		t.giveUp(true, "no FETCH was answered with null within %v", quickPatience)
	}
	t.judgeWork(p, "RESP-08", "a worker that fetches again")
}

// playRefused returns a play in which commands of a verb are refused, the first ones and later ones. Each job that the
// worker got is reported all the same.
func playRefused(verb string) func(*trial) {
	return func(t *trial) {
		t.hook(refuseCommands(verb))
		p := t.launch(options{})
		jobs := append(manyJobs(20), jobsWithArgs("fwp.fail", `["x"]`, `["y"]`)...)
		isUnknown := func(j job) bool { return j.jobtype == unknownType } // jobs/unknown-type has it
		jids := t.pushAll(slices.DeleteFunc(jobs, isUnknown)...)
		t.awaitReports(p, quickPatience, jids...)
		if !t.await(p, timeToAct, refusal(verb)) {
			t.giveUp(true, "the worker sent no %s", verb)
		}
		missing := t.awaitReports(p, reportPatience, t.filterDelivered(jids)...)
		if len(missing) > 0 && !t.hasExited(p) {
			t.judgeReports(missing, "ACK or FAIL for each job", "although only commands of the verb "+verb+" were refused")
		}
		if t.judgeWork(p, "RESP-09", "a worker that continues fetching and reporting") {
			t.judgeExecutors(p, "error replies to "+verb)
		}
	}
}

// pressureSituations are about jobs and reports that do not fit into the buffer of a socket: what a server is slow to
// read has to be sent to its end.
func pressureSituations() []situation {
	return []situation{
		{"pressure/jobs", "jobs of 3 MB are executed, and later replies still match",
			"FRAME-04 FETCH-09 FETCH-10 ACK-05 FETCH-11", 3, playLong(playUnusual, "fwp.ok", 3, 3), setup{}},
		{"pressure/reports", "a FAIL with a message of 5 MB is sent completely to a server that reads slowly",
			"FRAME-01 FRAME-04 FETCH-09 FAIL-04 FETCH-11", 4, playLong(playUnusual, "fwp.fail", 5), setup{isSlow: true}},
	}
}

// playLong returns a play of jobs of a type whose arguments have some megabytes.
func playLong(play func([]job) func(*trial), jobtype string, megabytes ...int) func(*trial) {
	return func(t *trial) {
		var jobs []job
		for _, n := range megabytes {
			jobs = append(jobs, job{jobtype: jobtype, args: `["` + strings.Repeat("x", n*1_000_000) + `"]`})
		}
		play(jobs)(t)
	}
}

// segmentSituations are about replies in pieces.
func segmentSituations() []situation {
	return []situation{
		{"replies/segments", "replies that arrive byte by byte are understood",
			"RESP-08", 3, playSegments, setup{rules: "on writing: pieces 1, pause 1ms"}},
	}
}

func playSegments(t *trial) {
	playWorks("RESP-08", "a client that joins the bytes")(t)
	if t.harness.IsProducer || len(t.programs) == 0 {
		return
	}
	p := t.programs[0] // it reports jobs whose characters do not arrive whole
	var jids []string
	for range usualConcurrency {
		jid := "ünïcødé-日本語-🦆-" + strings.ToLower(rand.Text())
		jids = append(jids, t.push(job{jid: jid, args: `["é","日本","🦆"]`}))
	}
	missing := t.awaitReports(p, quickPatience, jids...)
	t.decide("RESP-08", len(missing) == 0, "a report of each job whose jid has characters of several bytes",
		fmt.Sprintf("no report for %s, whose bytes arrived one by one; the worker %s", enumerate(missing), t.ending(p)))
	t.setDeliveryEvidence(t.filterDelivered(missing))
}
