package fwpsubject

import (
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/scenarios"
)

// seed are short conversations in which a finding of a family often shows, the
// plainest first. They are tried before those that come from the exploration, so that
// what is wrong with every job is not told of a strange one.
func seeds(family string) []explore.Trace {
	switch family {
	case "missing":
		return seedMissing()
	case "swapped":
		return seedSwapped()
	case "delivered":
		return seedDelivered()
	case "field":
		return seedField()
	case explore.Concurrent:
		return seedConcurrent()
	case "foreign": // a BEAT may have been one that nobody wrote down
		return []explore.Trace{plainly(seedWorker(2), explore.Line(2, `BEAT {"wid":"$wid1"}`))}
	case "silent", "refused":
		producer := explore.Step{Kind: explore.Open, Conn: 2, Role: scenarios.Producer}
		return []explore.Trace{plainly(seedWorker(2), explore.Line(2, "INFO")), plainly(producer, explore.Line(2, "INFO")), explore.Repeated([]explore.Step{seedWorker(2), explore.Line(2, "INFO")}, 200)}
	}
	return nil
}

// The lines of an uneventful day.
const (
	seedPush  = `PUSH {"jid":"$jid1","jobtype":"t","args":[],"queue":"$queue1"}`
	seedFetch = "FETCH $queue1"
	seedAck   = `ACK {"jid":"$jid1"}`
	seedFail  = `FAIL {"jid":"$jid1","errtype":"Example","message":"on purpose","backtrace":[]}`
)

// seedConcurrent have several clients do something at the same time, again and again.
func seedConcurrent() []explore.Trace {
	const newQueue = `PUSH {"jid":"$jid1","jobtype":"t","args":[],"queue":"$queue1#"}`
	producer := func(conn int) explore.Step {
		return explore.Step{Kind: explore.Open, Conn: conn, Role: scenarios.Producer}
	}
	await := func(conn int) explore.Step { return explore.Step{Kind: explore.Await, Conn: conn} }
	asking := []explore.Step{producer(2), producer(3), ahead(2, "INFO"), ahead(3, newQueue), await(2), await(3)}
	return []explore.Trace{explore.Repeated(asking, 2000), explore.Repeated(asking, 6000)}
}

func seedWorker(conn int) explore.Step {
	return explore.Step{Kind: explore.Open, Conn: conn, Role: scenarios.Consumer, Worker: 1}
}

func plainly(steps ...explore.Step) explore.Trace { return explore.Trace{Steps: steps} }

// ahead makes a step whose answer is not awaited before the next one.
func ahead(conn int, text string) explore.Step {
	return explore.Step{Kind: explore.Send, Conn: conn, Segments: []string{text}, Ahead: true}
}

func seedMissing() []explore.Trace {
	day := []explore.Step{seedWorker(2), explore.Line(2, seedPush), explore.Line(2, seedFetch), explore.Line(2, seedAck)}
	return []explore.Trace{
		plainly(day[:3]...),
		plainly(seedWorker(2), seedWorker(3), ahead(2, seedFetch), explore.Line(3, "INFO"), explore.Step{Kind: explore.Await, Conn: 2}),
		plainly(seedWorker(2), explore.Line(2, `PUSH {"jid":"$jid1","jobtype":"t","args":[],"queue":"$queue1","retry":5}`),
			explore.Line(2, seedFetch), explore.Line(2, seedFail), explore.Step{Kind: explore.Wait, For: 170 * time.Second}, explore.Line(2, seedFetch)),
		explore.Repeated(day, 60), explore.Repeated(day, 600),
	}
}

func seedSwapped() []explore.Trace {
	pair := []explore.Step{
		seedWorker(2), seedWorker(3), explore.Line(2, seedPush), explore.Line(3, `PUSH {"jid":"$jid2","jobtype":"t","args":[],"queue":"$queue2"}`),
		ahead(2, seedFetch), ahead(3, "FETCH $queue2"), {Kind: explore.Await, Conn: 2}, {Kind: explore.Await, Conn: 3},
		explore.Line(2, `PUSH {"jid":"$jid3","jobtype":"t","args":[],"queue":"$queue1"}`), explore.Line(2, seedFetch), // an odd number of jobs, for faults that count
	}
	return []explore.Trace{plainly(pair...), explore.Repeated(pair, 60), explore.Repeated(pair, 600)}
}

func seedDelivered() []explore.Trace {
	failing := func(retry, times int) explore.Trace {
		push := explore.Line(2, `PUSH {"jid":"$jid1","jobtype":"t","args":[],"queue":"$queue1","retry":%d}`, retry)
		steps := []explore.Step{seedWorker(2), push, explore.Line(2, seedFetch)}
		for range times {
			steps = append(steps, explore.Line(2, seedFail), explore.Step{Kind: explore.Wait, For: time.Minute}, explore.Line(2, seedFetch))
		}
		return plainly(steps...)
	}
	once := []explore.Step{seedWorker(2), explore.Line(2, seedPush), explore.Line(2, seedFetch)}
	twice := append(slices.Clone(once), explore.Line(2, seedFetch))
	atOnce := plainly(append(slices.Clone(once), explore.Line(2, seedFail), explore.Line(2, seedFetch))...)
	return []explore.Trace{atOnce, failing(0, 1), failing(-1, 1), failing(1, 2), plainly(twice...), explore.Repeated(once, 60), explore.Repeated(once, 600)}
}

func seedField() []explore.Trace {
	const fail = `FAIL {"jid":"$jid1","errtype":"Example","message":"on purpose","backtrace":["the first line","the second line"]}`
	const other = `PUSH {"jid":"$jid2","jobtype":"t","args":[],"queue":"$queue1","retry":7}`
	return []explore.Trace{
		plainly(seedWorker(2), explore.Line(2, seedPush), explore.Line(2, seedFetch)),
		plainly(seedWorker(2), explore.Line(2, `PUSH {"jid":"$jid1","jobtype":"t","args":[],"queue":"$queue1","retry":5,"backtrace":1}`),
			explore.Line(2, seedFetch), explore.Line(2, fail), explore.Step{Kind: explore.Wait, For: time.Minute}, explore.Line(2, seedFetch)),
		explore.Repeated([]explore.Step{seedWorker(2), explore.Line(2, `PUSH {"jid":"$jid1","jobtype":"t","args":[],"queue":"$queue1","retry":3}`),
			explore.Line(2, other), explore.Line(2, seedFetch), explore.Line(2, seedFetch)}, 60),
	}
}
