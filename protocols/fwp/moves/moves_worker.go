package moves

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
	"github.com/fwpsuite/fwp/scenarios"
)

// companion returns a connection that a move may end and open again for its own purposes, 0 if there is none.
func (g *maker) companion(c int) int {
	for _, other := range g.Free() {
		if other != c {
			return other
		}
	}
	return 0
}

// sameWorker has several connections of one worker, one of which ends: what the others do goes on.
func (g *maker) sameWorker(c int, w *fwplaw.Conn) []explore.Step {
	number, ok := g.law.worker(w.WID)
	other := g.companion(c)
	if !ok || other == 0 {
		return []explore.Step{line(c, "INFO")}
	}
	first, second, queue, empty := g.jid(), g.jid(), g.freshQueue(), g.freshQueue()
	steps := []explore.Step{
		explore.End(other, scenarios.Closed), consumer(other, number),
		push(other, first, queue, `,"reserve_for":60`), push(other, second, queue, `,"reserve_for":60`),
	}
	fetch := func(by int) explore.Step { return line(by, "FETCH %s", queue) }
	beat := fmt.Sprintf(`BEAT {"wid":"$wid%d"}`, number)
	switch deal(g, "same worker", []int{0, 1, 2, 3}) {
	case 0: // the one that does not hold a job ends by END
		steps = append(steps, fetch(c), fetch(other), line(c, "END"), consumer(c, number), ack(other, second))
		return append(steps, ack(c, first))
	case 1: // the one that holds it ends, and the other reports it
		steps = append(steps, fetch(other), g.ending(other), line(c, "%s", beat), ack(c, first), fetch(c))
	case 2: // one waits while the other works
		steps = append(steps, sendAhead(line(other, "FETCH %s", empty)), fetch(c), line(c, "%s", beat), ack(c, first),
			fetch(c))
		return append(steps, ack(c, second), push(c, g.jid(), empty, ""), build().Await(other))
	default:
		steps = append(steps, fetch(other), g.ending(other), line(c, "FAIL %s", g.failure(first)), fetch(c))
	}
	if steps = append(steps, ack(c, second)); g.LongestWait > scheduleDelay {
		steps = append(steps, explore.Wait(scheduleDelay), line(c, "FETCH %s", queue))
	}
	return steps
}

// alikeWorkers signals one of two workers whose ids are alike; the other one must not notice, nor may it be known by
// the id of the first.
func (g *maker) alikeWorkers(c int, _ *fwplaw.Conn) []explore.Step {
	other := g.companion(c)
	g.workers++
	names := deal(g, "alike workers", alikeNames[:8])
	greet := func(conn int, end string) []explore.Step {
		hello := line(conn, `HELLO {"hostname":"fwpcheck","wid":"$wid%d%s","pid":4711,"labels":[],%s"v":2}`,
			g.workers, end, g.hash())
		return []explore.Step{explore.End(conn, scenarios.Closed), build().Open(conn, scenarios.Raw, ""), hello}
	}
	beat := func(conn int, end string) explore.Step {
		return line(conn, `BEAT {"wid":"$wid%d%s"}`, g.workers, end)
	}
	steps := append(greet(c, names[0]), beat(c, names[1]), beat(c, names[0]))
	if g.Signals && g.LongestWait > 0 {
		steps = append(steps, greet(other, names[1])...)
		state := choose(g, []string{"quiet", "terminate"})
		signal := build().Signal(state, fmt.Sprintf("$wid%d%s", g.workers, names[0]))
		steps = append(steps, signal, beat(other, names[1]), beat(c, names[0]))
		return append(steps, explore.End(other, scenarios.Closed), explore.End(c, scenarios.Closed))
	}
	return append(steps, explore.End(c, scenarios.Closed))
}

// stateInHand has a worker tell of its state on one connection while it holds a job that came on another one: it holds
// it still, and nothing is sent to that other one.
func (g *maker) stateInHand(c int, _ *fwplaw.Conn) []explore.Step {
	other := g.companion(c)
	g.workers++
	heldJID, next, queue := g.jid(), g.jid(), g.freshQueue()
	beat := line(other, `BEAT {"wid":"$wid%d","current_state":"%s"}`, g.workers,
		deal(g, "state in hand", []string{"terminate", "quiet"}))
	return []explore.Step{
		explore.End(c, scenarios.Closed), consumer(c, g.workers), explore.End(other, scenarios.Closed),
		consumer(other, g.workers), push(controlProducer, heldJID, queue, ""), line(c, "FETCH %s", queue), beat,
		push(controlProducer, next, queue, ""), line(controlWorker, "FETCH %s", queue), ack(controlWorker, next),
		ack(c, heldJID), explore.End(other, scenarios.Closed), explore.End(c, scenarios.Closed),
	}
}

// helloMalformed sends a HELLO that must, or should, be declined. What it says does not count then.
func (g *maker) helloMalformed(c int, _ *fwplaw.Conn) []explore.Step {
	if g.IntN(4) == 0 {
		return []explore.Step{line(c, "%s", deal(g, "slip of HELLO", slips)(`HELLO {`+g.hash()+`"v":2}`))}
	}
	before := g.workers
	steps := []explore.Step{line(c, "HELLO %s", g.badGreeting())}
	if wid := fmt.Sprintf(`"$wid%d"`, g.workers); g.workers > before && strings.Contains(steps[0].Text(), wid) {
		steps = append(steps, line(controlWorker, `BEAT {"wid":%s}`, wid))
	}
	if g.Terms.Password != "" { // a hash in the HELLO that was declined does not count either
		steps = append(steps, line(c, `HELLO {"v":2}`))
	}
	return steps
}

// introduce has workers come and go that say of themselves whatever they may, the same on two connections. Their ids
// have the lengths at which servers differ.
func (g *maker) introduce(c int, _ *fwplaw.Conn) (steps []explore.Step) {
	for range 3 {
		g.workers++
		wid := fmt.Sprintf("$wid%d-", g.workers)
		size := deal(g, "length of a wid", []int{0, 63, 64, 65, 127, 128, 129, 255, 256})
		wid += strings.Repeat("x", max(0, size-len(g.Fill(wid))))
		hello := g.workerHello(wid)
		for _, conn := range []int{c, g.companion(c)} {
			if conn > 0 {
				steps = append(steps, explore.End(conn, scenarios.Closed), build().Open(conn, scenarios.Raw, ""),
					line(conn, "HELLO %s", hello),
					line(conn, `BEAT {"wid":"%s","rss_kb":%s}`, wid, g.value("rss_kb", memories())))
			}
		}
	}
	return steps
}

// signal lets an operator quiet or terminate a worker, which sends BEATs then. It may hold jobs, push others, and be
// told a second time.
func (g *maker) signal(c int, w *fwplaw.Conn) []explore.Step {
	number, ok := g.law.worker(w.WID)
	if !ok {
		return []explore.Step{line(c, "INFO")}
	}
	fields := deal(g, "beat of signal", []string{"", `,"rss_kb":4096`})
	beat := line(c, `BEAT {"wid":"$wid%d"%s}`, number, fields)
	state := choose(g, []string{"quiet", "terminate"})
	signal := func(state string) explore.Step { return build().Signal(state, fmt.Sprintf("$wid%d", number)) }
	done := explore.End(c, scenarios.Closed)
	kind := deal(g, "signal", []string{"told twice", "jobs", "quiet, then terminate", "jobs", "a later connection"})
	switch {
	case kind == "quiet, then terminate":
		return []explore.Step{signal("quiet"), beat, beat, signal("terminate"), beat, done}
	case kind == "a later connection" && g.companion(c) > 0:
		other := g.companion(c)
		opened := []explore.Step{explore.End(other, scenarios.Closed), consumer(other, number)}
		if g.IntN(2) == 0 {
			return append(opened, signal(state), line(other, `BEAT {"wid":"$wid%d"}`, number),
				explore.End(other, scenarios.Closed), done)
		}
		return append([]explore.Step{signal(state)}, append(opened, beat, explore.End(other, scenarios.Closed), done)...)
	case kind == "jobs" && g.LongestWait > 0 && mayFetch(g, c, w):
		return g.signalWithJobs(c, signal(state), beat)
	}
	return []explore.Step{signal(state), beat, beat, done}
}

// signalWithJobs signals a worker that holds jobs, which it pushes, reports and leaves to others then.
func (g *maker) signalWithJobs(c int, signal, beat explore.Step) []explore.Step {
	done, failed, openJID, pushed, queue, otherQueue := g.jid(), g.jid(), g.jid(), g.jid(), g.freshQueue(), g.freshQueue()
	var steps []explore.Step
	for _, jid := range []string{done, failed, openJID} {
		steps = append(steps, push(c, jid, queue, `,"reserve_for":60`), line(c, "FETCH %s", queue))
	}
	fetch := line(controlWorker, "FETCH %s", queue)
	steps = append(steps, signal, beat, push(c, pushed, otherQueue, ""), ack(c, done),
		line(c, "FAIL %s", g.failure(failed)),
		line(controlWorker, "FETCH %s", otherQueue), ack(controlWorker, pushed))
	if g.LongestWait >= 260*time.Second {
		steps = append(steps, explore.Wait(260*time.Second), fetch, fetch)
	}
	return append(steps, explore.End(c, scenarios.Closed))
}

// thirdClient has another client do something in the middle of what a worker does.
func (g *maker) thirdClient(c int, w *fwplaw.Conn) []explore.Step {
	other := g.companion(c)
	if number, ok := g.law.worker(w.WID); ok && other > 0 {
		return g.thirdClientAt(c, number, other)
	}
	return []explore.Step{line(c, "INFO")}
}

// thirdClientAt has two workers and a producer do what is usual, and another client do something at one of the steps.
func (g *maker) thirdClientAt(c, number, other int) []explore.Step {
	queue, first, second := g.freshQueue(), g.jid(), g.jid()
	fetch := func(by int) explore.Step { return line(by, "FETCH %s", queue) }
	usual := []explore.Step{
		sendAhead(fetch(c)), push(controlProducer, first, queue, ""), build().Await(c),
		push(controlProducer, second, queue, ""),
		fetch(controlWorker), ack(c, first), ack(controlWorker, second), line(c, `BEAT {"wid":"$wid%d"}`, number),
	}
	deeds := g.thirdClientSteps(other, number, queue, first)
	n := g.Deal("third", len(usual)*len(deeds))
	at := 1 + n%len(usual)
	return slices.Concat([]explore.Step{explore.End(other, scenarios.Closed)}, usual[:at], deeds[n/len(usual)], usual[at:])
}

// thirdClientSteps are what another client may do while a job of a queue is waited for, or held by a worker with a
// number: nothing of it has to do with the job.
func (g *maker) thirdClientSteps(by, worker int, queue, jid string) [][]explore.Step {
	g.workers++
	end := func(ending scenarios.Ending) explore.Step { return explore.End(by, ending) }
	sameWorker, otherWorker, raw := consumer(by, worker), consumer(by, g.workers), build().Open(by, scenarios.Raw, "")
	fetch := sendAhead(line(by, "FETCH %s", g.freshQueue()))
	return [][]explore.Step{
		{raw, end(scenarios.Closed)}, {raw, line(by, "HELLO {}x"), end(scenarios.Closed)},
		{raw, line(by, `ACK {"jid":"%s"}`, jid)}, {producer(by), line(by, "INFO"), line(by, "END")},
		{producer(by), push(by, g.jid(), queue, `,"retry":"x"`)}, {producer(by), push(by, g.jid(), g.freshQueue(), "")},
		{producer(by), push(by, g.jid(), queue, `,"at":"2040-01-02T03:04:05Z"`), end(scenarios.Closed)},
		{sameWorker, line(by, "END")}, {sameWorker, end(scenarios.Closed)}, {sameWorker, end(scenarios.Reset)},
		{sameWorker, line(by, `BEAT {"wid":"$wid%d"}`, worker)}, {sameWorker, fetch, end(scenarios.Closed)},
		{otherWorker, fetch, end(scenarios.Reset)}, {otherWorker, line(by, `FAIL {"jid":["%s"]}`, jid)},
		{otherWorker, line(by, `BEAT {"wid":"$wid%d"}`, g.workers), end(scenarios.HalfClosed)},
	}
}

// bystander has a worker hold a job, and get the next one of its queue, whatever another client does meanwhile about
// that job, that queue, or a job that has ended.
func (g *maker) bystander(c int, w *fwplaw.Conn) []explore.Step {
	base, next, ended, queue := g.jid(), g.jid(), g.jid(), g.freshQueue()
	heldJID, fetch := base+"-held", line(controlWorker, "FETCH %s", queue)
	command := g.foreignReport(base, heldJID, ended, queue)
	var steps []explore.Step
	if mayFetch(g, c, w) {
		steps = append(steps, push(controlProducer, ended, queue, ""), line(c, "FETCH %s", queue))
		if g.Terms.Flush && g.IntN(3) == 0 {
			steps = append(steps, line(controlProducer, "FLUSH"))
			command = choose(g, []string{`ACK {"jid":"` + ended + `"}`, "FAIL " + g.failure(ended)})
		} else {
			steps = append(steps, ack(c, ended))
		}
	}
	actions := []explore.Step{line(c, "%s", command), push(controlProducer, next, queue, "")}
	if g.IntN(2) == 0 {
		slices.Reverse(actions)
	}
	steps = append(append(steps, push(controlProducer, heldJID, queue, ""), fetch), actions...)
	return append(steps, fetch, ack(controlWorker, heldJID), ack(controlWorker, next))
}

// foreignReport is a command that must be refused, or may be: it is about jobs that its client does not hold. A FETCH
// is sent once, since a server that takes it waits.
func (g *maker) foreignReport(base, heldJID, ended, queue string) string {
	const list = "bystander"
	capitals := base + "-HELD" // its name is filled in later
	all := []string{
		`ACK {"jid":"` + ended + `"}`, "FAIL " + g.failure(ended), `ACK {"jid":"` + base + `"}`,
		`ACK {"jid":"` + heldJID + `x"}`, "FAIL " + g.failure(capitals), `ACK {"jid":"` + capitals + `"}`,
		`ACK {"jid":["` + heldJID + `"]}`,
		`ACK {"jid":"` + heldJID + `"}x`, `BEAT {"wid":"$wid0",}`,
		`PUSH {"jid":"` + base + `-w","jobtype":"t","args":{},"queue":"` + queue + `"}`,
		"FETCH  " + queue, "FETCH " + queue + " ",
	}
	if g.HasDealt(list) {
		return choose(g, all[:len(all)-2])
	}
	return deal(g, list, all)
}
