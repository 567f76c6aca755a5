package fwpsubject

import (
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
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
		return []explore.Trace{plainly(seedWorker(2), line(2, `BEAT {"wid":"$wid1"}`))}
	case "silent", "refused":
		return []explore.Trace{plainly(seedWorker(2), line(2, "INFO")), plainly(producer(2), line(2, "INFO")),
			explore.Repeated([]explore.Step{seedWorker(2), line(2, "INFO")}, 200)}
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
	asking := []explore.Step{producer(2), producer(3), ahead(line(2, "INFO")), ahead(line(3, newQueue)), build().Await(2), build().Await(3)}
	return []explore.Trace{explore.Repeated(asking, 2000), explore.Repeated(asking, 6000)}
}

func seedWorker(conn int) explore.Step { return consumer(conn, 1) }

func plainly(steps ...explore.Step) explore.Trace { return explore.Trace{Steps: steps} }

func seedMissing() []explore.Trace {
	day := []explore.Step{seedWorker(2), line(2, seedPush), line(2, seedFetch), line(2, seedAck)}
	return []explore.Trace{
		plainly(day[:3]...),
		plainly(seedWorker(2), seedWorker(3), ahead(line(2, seedFetch)), line(3, "INFO"), build().Await(2)),
		plainly(seedWorker(2), line(2, `PUSH {"jid":"$jid1","jobtype":"t","args":[],"queue":"$queue1","retry":5}`),
			line(2, seedFetch), line(2, seedFail), explore.Wait(170*time.Second), line(2, seedFetch)),
		explore.Repeated(day, 60), explore.Repeated(day, 600),
	}
}

func seedSwapped() []explore.Trace {
	pair := []explore.Step{
		seedWorker(2), seedWorker(3), line(2, seedPush), line(3, `PUSH {"jid":"$jid2","jobtype":"t","args":[],"queue":"$queue2"}`),
		ahead(line(2, seedFetch)), ahead(line(3, "FETCH $queue2")), build().Await(2), build().Await(3),
		line(2, `PUSH {"jid":"$jid3","jobtype":"t","args":[],"queue":"$queue1"}`), line(2, seedFetch), // an odd number of jobs, for faults that count
	}
	return []explore.Trace{plainly(pair...), explore.Repeated(pair, 60), explore.Repeated(pair, 600)}
}

func seedDelivered() []explore.Trace {
	failing := func(retry, times int) explore.Trace {
		push := line(2, `PUSH {"jid":"$jid1","jobtype":"t","args":[],"queue":"$queue1","retry":%d}`, retry)
		steps := []explore.Step{seedWorker(2), push, line(2, seedFetch)}
		for range times {
			steps = append(steps, line(2, seedFail), explore.Wait(time.Minute), line(2, seedFetch))
		}
		return plainly(steps...)
	}
	once := []explore.Step{seedWorker(2), line(2, seedPush), line(2, seedFetch)}
	twice := append(slices.Clone(once), line(2, seedFetch))
	atOnce := plainly(append(slices.Clone(once), line(2, seedFail), line(2, seedFetch))...)
	return []explore.Trace{atOnce, failing(0, 1), failing(-1, 1), failing(1, 2), plainly(twice...), explore.Repeated(once, 60), explore.Repeated(once, 600)}
}

func seedField() []explore.Trace {
	const fail = `FAIL {"jid":"$jid1","errtype":"Example","message":"on purpose","backtrace":["the first line","the second line"]}`
	const other = `PUSH {"jid":"$jid2","jobtype":"t","args":[],"queue":"$queue1","retry":7}`
	return []explore.Trace{
		plainly(seedWorker(2), line(2, seedPush), line(2, seedFetch)),
		plainly(seedWorker(2), line(2, `PUSH {"jid":"$jid1","jobtype":"t","args":[],"queue":"$queue1","retry":5,"backtrace":1}`),
			line(2, seedFetch), line(2, fail), explore.Wait(time.Minute), line(2, seedFetch)),
		explore.Repeated([]explore.Step{seedWorker(2), line(2, `PUSH {"jid":"$jid1","jobtype":"t","args":[],"queue":"$queue1","retry":3}`),
			line(2, other), line(2, seedFetch), line(2, seedFetch)}, 60),
	}
}
