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
	const given = "WU-03 WU-19 RESP-08 FRAME-04"
	return []situation{
		{"push/plain", "each job is pushed once, unchanged",
			alwaysOfProducers + " WU-15 WRK-01 HELLO-17", 1, playPlainPushes, setup{}},
		{"push/jids", "a jid is pushed unchanged, with any characters",
			given, 1, playGiven(jobsWithJIDs(newGenerator().jids()...)), setup{}},
		{"push/arguments", "arguments of any kind are pushed unchanged",
			given + " FRAME-09", 1, playGiven(givenArguments()), setup{}},
		{"push/fields", "the optional fields are pushed unchanged",
			given + " WU-17", 1, playGiven(givenFields()), setup{}},
		{"push/big-integers", "integers beyond 2^53 keep all their digits",
			"WU-20", 1, playBigIntegers, setup{}},
		{"push/no-jid", "jobs without a jid get a unique one, across processes",
			"WU-15 WU-01 WU-19", 1, playWithoutJIDs, setup{}},
		{"pressure/jobs", "jobs of 3 and 6 MB are sent completely to a server that reads slowly",
			"FRAME-01 FRAME-04 WU-19", 5, playLong(playGiven, "fwp.ok", 3, 6), setup{slow: true}},
		{"push/many", "many jobs are pushed on few connections",
			"WRK-09 WU-19", 1, playManyPushes, setup{}},
	}
}

func playPlainPushes(t *trial) {
	p := t.produce(options{}, ordinary(12)...)
	t.kept("WRK-01")
	t.asGiven(p)
	hello := t.first(p.events(func(e *clientrules.Event) bool { return e.Verb() == fwp.HELLO && e.Object["wid"] != nil }))
	t.holds("HELLO-17", hello == nil, "a HELLO without a wid", "the HELLO has a wid")
	t.shownBy(hello)
}

// playGiven returns a play of jobs with unusual contents. One more shows that the connections are in step afterwards.
func playGiven(jobs []job) func(*trial) {
	return func(t *trial) {
		var units []unit
		for _, j := range jobs {
			units = append(units, j.unit(theQueues[0]))
		}
		t.asGiven(t.produce(options{}, append(units, ordinary(1)...)...))
	}
}

func givenArguments() []job {
	return slices.Concat(
		jobsWithArgs("fwp.ok", unusualText, nested, `[9007199254740991,-9007199254740991,1e21,0.1,1.5e-9,0,-1]`,
			`["line\r\nbreak","\tPUSH {}\r\n",""]`, `["`+strings.Repeat("é", 40_000)+`"]`,
			`[{},[],null,true,false,{"":{"a b":[null]}}]`, `[]`,
			`["2024-01-02T03:04:05+02:00","007","1e3",1.5,[[1,2]],{"key":"value"},null]`, `[[1,2]]`),
		jobsWithArgs("Module::Type.name", `[3,1,2,1,1]`),
		jobsWithArgs("typ-ä 🦆", `["\"quotes\" and \\ back\nslashes"]`))
}

func givenFields() []job {
	return slices.Concat(
		jobsWith("fwp.ok", `"custom":{"locale":"de","fwp":[1,null,{"ü":"🦆"}]}`, `"retry":0`, `"retry":-1`, `"retry":3`,
			`"reserve_for":60`, `"reserve_for":7200`, `"backtrace":10`, `"at":"2100-01-02T03:04:05.678Z"`,
			`"at":"2100-01-02T03:04:05+01:00"`, `"created_at":"2024-01-02T03:04:05.678Z"`),
		[]job{{queue: "fwp-low"}, {queue: "queue_with.dots-1"}, {queue: "Queue-In-CAPITALS"}},
		jobsWith("fwp.ok",
			`"retry":7,"reserve_for":600,"backtrace":5,"custom":{"all":true},"at":"2100-01-02T03:04:05Z"`))
}

func playBigIntegers(t *trial) {
	const big = `[9007199254740993,-9223372036854775807]`
	u := job{args: big}.unit(theQueues[0])
	p := t.produce(options{}, u)
	t.mustEnd(p)
	push := t.first(pushOf(u.jid))
	if push == nil {
		t.giveUp(true, "the job was not pushed; the program ended with %s", p.How())
	}
	t.holds("WU-20", sameValue(decoded(big), push.Object["args"]), big,
		"the arguments are "+shortJSON(push.Object["args"]))
	t.shownBy(push)
}

// playWithoutJIDs gives two processes jobs without a jid.
func playWithoutJIDs(t *trial) {
	const each = 100
	seen, pushes := map[any]bool{}, 0
	for i := range 2 {
		p := t.produce(options{}, withoutJIDs(i*each, each)...)
		t.asGiven(p)
		all := t.all(p.events(func(e *clientrules.Event) bool { return e.Verb() == fwp.PUSH && e.Object != nil }))
		if len(all) == 0 {
			t.giveUp(false, "no PUSH of a job without a jid could be read; the program ended with %s", p.How())
		}
		pushes += len(all)
		for _, e := range all {
			seen[e.Object["jid"]] = true
		}
	}
	t.holds("WU-15", len(seen) == pushes, fmt.Sprintf("%d different jids", pushes),
		fmt.Sprintf("%d PUSHes have %d different jids", pushes, len(seen)))
}

func playManyPushes(t *trial) {
	p := t.produce(options{concurrency: 1}, ordinary(40)...)
	t.asGiven(p)
}

// pushLossSituations are about connections that are lost. (worker architecture: Connection; End State)
func pushLossSituations() []situation {
	const lost, unanswered = "WU-19 WRK-06", "on ran PUSH; from 3; first 1: silent, close"
	return []situation{
		{"loss/push-unread", "a PUSH whose connection ends before it took effect does not count as done",
			lost, 2, playPushLoss,
			setup{rules: "on checked PUSH; from 3; first 1: skip\non ran PUSH if skipped: silent, close"}},
		{"loss/push-unanswered", "a client continues after its connection ends before the reply to a PUSH",
			lost, 2, playPushLoss, setup{rules: unanswered}},
		{"loss/in-a-reply", "half a reply to a PUSH without effect does not count as OK",
			lost, 2, playPushLoss,
			setup{rules: "on checked PUSH; from 3; first 1: skip\non writing PUSH if skipped: write '+', close"}},
		{"loss/no-jid", "a job without a jid is not lost if the connection ends before the reply to its PUSH",
			lost, 2, playLossWithoutJIDs, setup{rules: unanswered}},
		{"loss/idle", "a client loses no job silently when the server closes an idle connection",
			"WU-19", 2, playIdleLoss, setup{rules: "on writing PUSH; first 3: idle 1s"}},
	}
}

// playPushLoss is played with a server that ends a connection.
func playPushLoss(t *trial) {
	p := t.produce(options{concurrency: 1}, ordinary(6)...)
	t.mustEnd(p)
	t.notLost(p)
}

// playLossWithoutJIDs decides nothing about a job that is pushed again under a new jid, as nothing forbids that.
func playLossWithoutJIDs(t *trial) {
	p := t.produce(options{concurrency: 1}, withoutJIDs(0, 6)...)
	t.mustEnd(p)
	t.notLost(p)
	t.holds("WRK-06", true, "", cmp.Or(t.twice(p), "no job was pushed with two jids"))
}

// playIdleLoss is played with a server that closes connections which are idle behind the first three jobs.
func playIdleLoss(t *trial) {
	p := t.produceOpen(options{}, ordinary(3)...)
	t.mustPush(p)
	if !t.await(p, soon, serverClose) {
		t.giveUp(true, "the producer had no idle connection that the server could close")
	}
	t.watch(p, time.Second)
	t.giveMore(p, ordinary(3)...)
	t.mustEnd(p)
	t.notLost(p)
}

// producerLifeSituations are about how long a producer lives. (Client Lifecycle; END)
func producerLifeSituations() []situation {
	return []situation{
		{"idle/no-beat", "a producer without jobs for a minute sends no BEAT, and then continues",
			"BEAT-09 WU-19", 66, playIdleProducer, setup{}},
		{"end/without-reply", "a producer ends normally when the server closes after END without a reply",
			"END-03 STATE-15", 1, playWorks("END-03", "a producer that ends with exit code 0"), setup{server: endsWithoutOK}},
	}
}

func playIdleProducer(t *trial) {
	p := t.produceOpen(options{}, ordinary(12)...) // some by each connection
	t.mustPush(p)
	t.watch(p, 65*time.Second)
	beat := t.first(p.lines(fwp.BEAT))
	t.holds("BEAT-09", beat == nil, "no BEAT", "the producer sent a BEAT")
	t.shownBy(beat)
	t.giveMore(p, ordinary(2)...)
	t.asGiven(p)
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
			"WU-19 RESP-08", 1, playTogether, setup{}},
		{"bulk/refused", "the caller of a PUSHB learns which jobs were refused",
			"RESP-09", 1, playTogetherRefused, setup{}},
		{"bulk/unread", "a PUSHB whose connection ends before it took effect does not count as done",
			"WU-19", 1, playTogetherLost,
			setup{rules: "on checked PUSHB; first 1: skip\non ran PUSHB if skipped: silent, close"}},
	}
}

// produceTogether launches the program with jobs on one line of its standard input, and leaves one out that does not
// push them by a PUSHB.
func (t *trial) produceTogether(units []unit) *program {
	in := newInput("[" + strings.Join(jsonOf(units), ",") + "]")
	if t.harness.readsAll {
		in.end()
	}
	p := t.launch(options{given: units, input: in, eager: true})
	if t.ends(p, endPatience); !t.has(p.lines(pushAll)) {
		t.leaveOut("needs-pushb", "the program sends no PUSHB for a line that is an array: see docs/judging-workers.md")
	}
	t.mustEnd(p)
	return p
}

func playTogether(t *trial) { t.asGiven(t.produceTogether(ordinary(10))) }

func playTogetherRefused(t *trial) {
	jobs := ordinary(10)
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
	t.tellsCaller(t.produceTogether(jobs), refused)
}

func playTogetherLost(t *trial) { t.notLost(t.produceTogether(ordinary(10))) }

// refuse has the PUSH of a job not carried out, and answered with an error of this text.
func (t *trial) refuse(jid, text string) {
	t.follow(fmt.Sprintf("on checked PUSH if jid = %s: skip\non ran PUSH if jid = %[1]s: reply '-%s'", jid, text))
}

// playRefusals returns a play of ten jobs, of which the server refuses some with these texts in turn.
func playRefusals(texts []string, which ...int) func(*trial) {
	return func(t *trial) {
		jobs, refused := ordinary(10), map[string]bool{}
		for n, i := range which {
			refused[jobs[i].jid] = true
			t.refuse(jobs[i].jid, texts[n%len(texts)])
		}
		p := t.produce(options{}, jobs...)
		t.mustEnd(p)
		t.tellsCaller(p, refused)
	}
}

func playErrorTexts(t *trial) {
	texts := []string{"OK", "ERR " + strings.Repeat("long ", 400), "ünï 🦆", "MALFORMED OK", "ERR"}
	playRefusals(texts, 1, 2, 3, 4, 5)(t)
	t.kept("RESP-08")
}

// declinedPatience is how long a producer may try to greet.
const declinedPatience = 20 * time.Second

func playProducerDeclined(t *trial) {
	p := t.produce(options{}, ordinary(2)...)
	tries := p.events(ofKind(clientrules.Opened))
	if t.ends(p, declinedPatience) {
		t.holds("RESP-09", p.Code() != 0, "an exit code other than 0, because every HELLO was refused",
			"the program ended with exit code 0")
		return
	}
	told, waited := len(p.printed()), fmt.Sprintf("%.0f s after its first HELLO", (t.now()-t.first(tries).At).Seconds())
	switch recently := t.now() - declinedPatience/2; {
	case told == len(p.given):
		t.giveUp(false, "the program has printed the result of each job, and does not end: %s %s", waited,
			t.tried(p, recently))
	case t.has(after(recently, tries)), t.await(p, endPatience, after(t.now(), tries)):
		t.giveUp(false, "its caller waits: %s %s", waited, t.tried(p, recently))
	default:
		t.holds("RESP-09", false, "an error for the caller, because every HELLO was refused",
			fmt.Sprintf("the caller still waits after %v more: %s %s", endPatience, waited, t.tried(p, recently)))
	}
}

func playPool(t *trial) {
	const callers = 4
	jobs, refused := ordinary(60), map[string]bool{}
	for i, j := range jobs {
		if refused[j.jid] = i%5 == 2; refused[j.jid] {
			t.refuse(j.jid, "ERR refused "+j.jid)
		}
		t.follow(fmt.Sprintf("on ran PUSH if jid = %s: delay %dms", j.jid, 20+i%7*10))
	}
	p := t.produce(options{concurrency: callers}, jobs...)
	t.mustEnd(p)
	t.tellsCaller(p, refused)
	if most := t.atOnce(p); most < 2 {
		t.open("RESP-09", "it pushed one job at a time: it seems to ignore {n} and FWP_CONCURRENCY")
	}
}
