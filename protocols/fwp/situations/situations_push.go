package situations

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
)

// pushSituations are about jobs that the server takes. (Work units; PUSH)
func pushSituations() []situation {
	const clauses = "WU-03 WU-19 RESP-08 FRAME-04"
	return []situation{
		{"push/plain", "each job is pushed once, unchanged",
			producerClauses + " WU-15 WRK-01 HELLO-17", 1, playPlainPushes, setup{}},
		{"push/jids", "a jid is pushed unchanged, with any characters",
			clauses, 1, playUnusualPushes(jobsWithJIDs(newGenerator().jids()...)), setup{}},
		{"push/arguments", "arguments of any kind are pushed unchanged",
			clauses + " FRAME-09", 1, playUnusualPushes(pushArguments()), setup{}},
		{"push/fields", "the optional fields are pushed unchanged",
			clauses + " WU-17", 1, playUnusualPushes(pushFields()), setup{zone: oddZone}},
		{"push/big-integers", "integers beyond 2^53 keep all their digits",
			"WU-20", 1, playBigIntegers, setup{}},
		{"push/no-jid", "jobs without a jid get a unique one, across processes",
			"WU-15 WU-01 WU-19", 1, playWithoutJIDs, setup{}},
		{"pressure/jobs", "jobs of 3 and 6 MB are sent completely to a server that reads slowly",
			"FRAME-01 FRAME-04 WU-19", 5, playLong(playUnusualPushes, "fwp.ok", 3, 6), setup{isSlow: true}},
		{"push/many", "many jobs are pushed on few connections",
			"WRK-09 WU-19", 1, playManyPushes, setup{}},
	}
}

// oddZone is a time zone in which a local time that is written as one of UTC is another instant, by no whole hour.
const oddZone = "Asia/Kathmandu"

func playPlainPushes(t *trial) {
	p := t.produce(options{}, ordinaryUnits(12)...)
	t.decideHeld("WRK-01")
	t.judgePushedJobs(p)
	hello := t.first(p.events(func(e *clientrules.Event) bool { return e.Verb() == fwp.HELLO && e.Object["wid"] != nil }))
	t.decide("HELLO-17", hello == nil, "a HELLO without a wid", "the HELLO has a wid")
	t.setEvidence(hello)
}

// playUnusualPushes returns a play of jobs with unusual contents. One more shows that the connections are in step
// afterwards.
func playUnusualPushes(jobs []job) func(*trial) {
	return func(t *trial) {
		var units []unit
		for _, j := range jobs {
			units = append(units, j.unit(usualQueues[0]))
		}
		t.judgePushedJobs(t.produce(options{}, append(units, ordinaryUnits(1)...)...))
	}
}

func pushArguments() []job {
	return slices.Concat(
		jobsWithArgs("fwp.ok", unusualText, nested, `[9007199254740991,-9007199254740991,1e21,0.1,1.5e-9,0,-1]`,
			`["line\r\nbreak","\tPUSH {}\r\n",""]`, `["`+strings.Repeat("é", 40_000)+`"]`,
			`[{},[],null,true,false,{"":{"a b":[null]}}]`, `[]`,
			`["2024-01-02T03:04:05+02:00","007","1e3",1.5,[[1,2]],{"key":"value"},null]`, `[[1,2]]`),
		jobsWithArgs("Module::Type.name", `[3,1,2,1,1]`),
		jobsWithArgs("typ-ä 🦆", `["\"quotes\" and \\ back\nslashes"]`))
}

func pushFields() []job {
	return slices.Concat(
		jobsWithMembers("fwp.ok", `"custom":{"locale":"de","fwp":[1,null,{"ü":"🦆"}]}`, `"retry":0`, `"retry":-1`, `"retry":3`,
			`"reserve_for":60`, `"reserve_for":7200`, `"backtrace":10`, `"at":"2100-01-02T03:04:05.678Z"`,
			`"at":"2100-01-02T03:04:05+01:00"`, `"created_at":"2024-01-02T03:04:05.678Z"`),
		[]job{{queue: "fwp-low"}, {queue: "queue_with.dots-1"}, {queue: "Queue-In-CAPITALS"}},
		jobsWithMembers("fwp.ok",
			`"retry":7,"reserve_for":600,"backtrace":5,"custom":{"all":true},"at":"2100-01-02T03:04:05Z"`))
}

func playBigIntegers(t *trial) {
	const big = `[9007199254740993,-9223372036854775807]`
	u := job{args: big}.unit(usualQueues[0])
	p := t.produce(options{}, u)
	t.mustEnd(p)
	push := t.first(pushOf(u.jid))
	if push == nil {
		t.giveUp(true, "the job was not pushed; the program ended with %s", p.ExitStatus())
	}
	t.decide("WU-20", sameValue(decodeJSON(big), push.Object["args"]), big,
		"the arguments are "+shortJSON(push.Object["args"]))
	t.setEvidence(push)
}

// playWithoutJIDs gives two processes jobs without a jid.
func playWithoutJIDs(t *trial) {
	const count = 100
	jids, pushes := map[any]bool{}, 0
	for i := range 2 {
		p := t.produce(options{}, unitsWithoutJIDs(i*count, count)...)
		t.judgePushedJobs(p)
		all := t.all(p.events(func(e *clientrules.Event) bool { return e.Verb() == fwp.PUSH && e.Object != nil }))
		if len(all) == 0 {
			t.giveUp(false, "no PUSH of a job without a jid could be read; the program ended with %s", p.ExitStatus())
		}
		pushes += len(all)
		for _, e := range all {
			jids[e.Object["jid"]] = true
		}
	}
	t.decide("WU-15", len(jids) == pushes, fmt.Sprintf("%d different jids", pushes),
		fmt.Sprintf("%d PUSHes have %d different jids", pushes, len(jids)))
}

func playManyPushes(t *trial) {
	p := t.produce(options{concurrency: 1}, ordinaryUnits(40)...)
	t.judgePushedJobs(p)
}

// pushLossSituations are about connections that are lost. (worker architecture: Connection; End State)
func pushLossSituations() []situation {
	const clauses, unanswered = "WU-19 WRK-06", "on ran PUSH; from 3; first 1: silent, close"
	return []situation{
		{"loss/push-unread", "a PUSH whose connection ends before it took effect does not count as done",
			clauses, 2, playPushLoss,
			setup{rules: "on checked PUSH; from 3; first 1: skip\non ran PUSH if skipped: silent, close"}},
		{"loss/push-unanswered", "a client continues after its connection ends before the reply to a PUSH",
			clauses, 2, playPushLoss, setup{rules: unanswered}},
		{"loss/in-a-reply", "half a reply to a PUSH without effect does not count as OK",
			clauses, 2, playPushLoss,
			setup{rules: "on checked PUSH; from 3; first 1: skip\non writing PUSH if skipped: write '+', close"}},
		{"loss/no-jid", "a job without a jid is not lost if the connection ends before the reply to its PUSH",
			clauses, 2, playLossWithoutJIDs, setup{rules: unanswered}},
		{"loss/idle", "a client loses no job silently when the server closes an idle connection",
			"WU-19", 2, playIdleLoss, setup{rules: "on writing PUSH; first 3: idle 1s"}},
	}
}

// playPushLoss is played with a server that ends a connection.
func playPushLoss(t *trial) {
	p := t.produce(options{concurrency: 1}, ordinaryUnits(6)...)
	t.mustEnd(p)
	t.judgeLoss(p)
}

// playLossWithoutJIDs decides nothing about a job that is pushed again under a new jid, as nothing forbids that.
func playLossWithoutJIDs(t *trial) {
	p := t.produce(options{concurrency: 1}, unitsWithoutJIDs(0, 6)...)
	t.mustEnd(p)
	t.judgeLoss(p)
	t.decide("WRK-06", true, "", cmp.Or(t.duplicateText(p), "no job was pushed with two jids"))
}

// playIdleLoss is played with a server that closes connections which are idle behind the first three jobs.
func playIdleLoss(t *trial) {
	p := t.produceOpen(options{}, ordinaryUnits(3)...)
	t.mustPush(p)
	if !t.await(p, quickPatience, serverClose) {
		t.giveUp(true, "the producer had no idle connection that the server could close")
	}
	t.watch(p, time.Second)
	t.addJobs(p, ordinaryUnits(3)...)
	t.mustEnd(p)
	t.judgeLoss(p)
}

// producerLifeSituations are about how long a producer lives. (Client Lifecycle; END)
func producerLifeSituations() []situation {
	return []situation{
		{"idle/no-beat", "a producer without jobs for a minute sends no BEAT, and then continues",
			"BEAT-09 WU-19", 66, playIdleProducer, setup{}},
		{"end/without-reply", "a producer ends normally when the server closes after END without a reply",
			"END-03 STATE-15 RESP-08 WU-19", 1, func(t *trial) { t.judgeUnansweredEnd(t.launch(options{})) },
			setup{server: setEndWithoutOK}},
	}
}

// judgeUnansweredEnd decides whether a producer ends whose END is not answered. An exit code that says that a job was
// not pushed has to do with the replies to its jobs, and nothing with what it sends after END.
func (t *trial) judgeUnansweredEnd(p *program) {
	t.requireWork()
	if !t.awaitEnd(p, endPatience) {
		t.decide("END-03", false, "a producer that ends when its END is not answered",
			fmt.Sprintf("it is still there %v after the end of its input", endPatience))
		return
	}
	t.decideHeld("END-03")
	t.judgePushedJobs(p)
}

func playIdleProducer(t *trial) {
	p := t.produceOpen(options{}, ordinaryUnits(12)...) // some by each connection
	t.mustPush(p)
	t.watch(p, 65*time.Second)
	beat := t.first(p.lines(fwp.BEAT))
	t.decide("BEAT-09", beat == nil, "no BEAT", "the producer sent a BEAT")
	t.setEvidence(beat)
	t.addJobs(p, ordinaryUnits(2)...)
	t.judgePushedJobs(p)
}

// refusalSituations are about error replies to a producer, and about several callers at a time. (Server Protocol Sender
// and Client Protocol Receiver)
func refusalSituations() []situation {
	return []situation{
		{"errors/push", "a refused PUSH is an error for its caller, and the others are not",
			"RESP-09", 1, playRefusals([]string{"ERR it was not possible"}, 2, 7), setup{}},
		{"errors/last", "a refused last PUSH is an error for its caller",
			"RESP-09", 1, playRefusals([]string{"ERR it was not possible"}, 9), setup{}},
		{"errors/texts", "an error reply is an error with any text",
			"RESP-09 RESP-08", 1, playErrorTexts, setup{}},
		{"hello/declined", "a refused HELLO is an error for the caller, and no PUSH follows",
			"RESP-09", 1, playProducerDeclined, setup{rules: "on checked HELLO if not refused: refuse 'Invalid password'"}},
		{"pool/replies", "each of many concurrent callers gets the reply to its own PUSH",
			"RESP-09 FRAME-07", 2, playPool, setup{}},
	}
}

// bulkSituations are about jobs that are pushed together, to a server that is like Faktory. (PUSHB)
func bulkSituations() []situation {
	return []situation{
		{"bulk/all", "jobs of one PUSHB are pushed unchanged",
			"WU-19 RESP-08", 1, playBulk, setup{}},
		{"bulk/refused", "the caller of a PUSHB learns which jobs were refused",
			"RESP-09", 1, playBulkRefused, setup{}},
		{"bulk/unread", "a PUSHB whose connection ends before it took effect does not count as done",
			"WU-19", 1, playBulkLost,
			setup{rules: "on checked PUSHB; first 1: skip\non ran PUSHB if skipped: silent, close"}},
	}
}

// produceBulk launches the program with jobs on one line of its standard input, and leaves one out that does not
// push them by a PUSHB.
func (t *trial) produceBulk(units []unit) *program {
	in := newInput("[" + strings.Join(jsonOf(units), ",") + "]")
	if t.harness.readsWholeInput {
		in.end()
	}
	p := t.launch(options{jobs: units, input: in, isEager: true})
	if t.awaitEnd(p, endPatience); !t.has(p.lines(pushAll)) {
		t.leaveOut("needs-pushb", "the program sends no PUSHB for a line that is an array: see docs/judging-workers.md")
	}
	t.mustEnd(p)
	return p
}

func playBulk(t *trial) { t.judgePushedJobs(t.produceBulk(ordinaryUnits(10))) }

func playBulkRefused(t *trial) {
	jobs := ordinaryUnits(10)
	refused := map[string]bool{jobs[2].jid: true, jobs[7].jid: true}
	for jid := range refused { // also one by one
		t.refuse(jid, "ERR the job is refused")
	}
	t.hook(func(e *fakes.Event) {
		for _, job := range e.Jobs {
			if e.Point == fakes.Checked && refused[job.Text("jid")] {
				job.SetInt("reserve_for", 1)
			}
		}
	})
	t.judgeCallerNotice(t.produceBulk(jobs), refused)
}

func playBulkLost(t *trial) { t.judgeLoss(t.produceBulk(ordinaryUnits(10))) }

// refuse has the PUSH of a job not carried out, and answered with an error of this text.
func (t *trial) refuse(jid, text string) {
	t.addRules(fmt.Sprintf("on checked PUSH if jid = %s: skip\non ran PUSH if jid = %[1]s: reply '-%s'", jid, text))
}

// playRefusals returns a play of ten jobs, of which the server refuses some with these texts in turn.
func playRefusals(texts []string, indexes ...int) func(*trial) {
	return func(t *trial) {
		jobs, refused := ordinaryUnits(10), map[string]bool{}
		for n, i := range indexes {
			refused[jobs[i].jid] = true
			t.refuse(jobs[i].jid, texts[n%len(texts)])
		}
		p := t.produce(options{}, jobs...)
		t.mustEnd(p)
		t.judgeCallerNotice(p, refused)
	}
}

func playErrorTexts(t *trial) {
	texts := []string{"OK", "ERR " + strings.Repeat("long ", 400), "ünï 🦆", "MALFORMED OK", "ERR"}
	playRefusals(texts, 1, 2, 3, 4, 5)(t)
	t.decideHeld("RESP-08")
}

// declinedPatience is how long a producer may try to greet.
const declinedPatience = 20 * time.Second

func playProducerDeclined(t *trial) {
	p := t.produce(options{}, ordinaryUnits(2)...)
	tries := p.events(eventsOfKind(clientrules.ConnOpen))
	if t.awaitEnd(p, declinedPatience) {
		t.decide("RESP-09", p.Code() != 0, "an exit code other than 0, because every HELLO was refused",
			"the program ended with exit code 0")
		return
	}
	results, waitText := len(p.printedWords()), fmt.Sprintf("%.0f s after its first HELLO",
		(t.now()-t.first(tries).At).Seconds())
	switch recently := t.now() - declinedPatience/2; {
	case results == len(p.jobs):
		t.giveUp(false, "the program has printed the result of each job, and does not end: %s %s", waitText,
			t.attemptText(p, recently))
	case t.has(eventsAfter(recently, tries)), t.await(p, endPatience, eventsAfter(t.now(), tries)):
		t.giveUp(false, "its caller waits: %s %s", waitText, t.attemptText(p, recently))
	default:
		t.decide("RESP-09", false, "an error for the caller, because every HELLO was refused",
			fmt.Sprintf("the caller still waits after %v more: %s %s", endPatience, waitText, t.attemptText(p, recently)))
	}
}

func playPool(t *trial) {
	const callers = 4
	jobs, refused := ordinaryUnits(60), map[string]bool{}
	for i, j := range jobs {
		if refused[j.jid] = i%5 == 2; refused[j.jid] {
			t.refuse(j.jid, "ERR refused "+j.jid)
		}
		t.addRules(fmt.Sprintf("on ran PUSH if jid = %s: delay %dms", j.jid, 20+i%7*10))
	}
	p := t.produce(options{concurrency: callers}, jobs...)
	t.mustEnd(p)
	t.judgeCallerNotice(p, refused)
	if peak := t.maxPendingPushes(p); peak < 2 {
		t.leaveOpen("RESP-09", "it pushed one job at a time: it seems to ignore {n} and FWP_CONCURRENCY")
	}
}
