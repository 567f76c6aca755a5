package moves

import (
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
)

// seeds returns short conversations in which a finding of a family often shows, the
// plainest first. They are tried before those that come from the exploration, so that
// what is wrong with every job is reported of a plain one.
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
	case "foreign": // a BEAT of the player may have been answered wrongly, which no step shows
		return []explore.Trace{newTrace(consumer(2, 1), line(2, `BEAT {"wid":"$wid1"}`))}
	case "silent", "refused":
		asks := []explore.Step{consumer(2, 1), line(2, "INFO")}
		return []explore.Trace{newTrace(asks...), newTrace(producer(2), asks[1]), explore.Repeat(asks, 200)}
	}
	return nil
}

// The lines of most seeds.
const (
	seedFetch = "FETCH $queue1"
	seedFail  = `FAIL {"jid":"$jid1","errtype":"Example","message":"on purpose","backtrace":[]}`
)

// seedPush pushes the job of most seeds; fields is as in push.
func seedPush(fields string) explore.Step { return push(2, "$jid1", "$queue1", fields) }

func newTrace(steps ...explore.Step) explore.Trace { return explore.Trace{Steps: steps} }

// seedConcurrent lets several clients do something at the same time, again and again.
func seedConcurrent() []explore.Trace {
	asking := []explore.Step{
		producer(2), producer(3), sendAhead(line(2, "INFO")), sendAhead(push(3, "$jid1", "$queue1#", "")),
		build().Await(2), build().Await(3),
	}
	return []explore.Trace{explore.Repeat(asking, 2000), explore.Repeat(asking, 6000)}
}

func seedMissing() []explore.Trace {
	fetch := line(2, seedFetch)
	day := []explore.Step{consumer(2, 1), seedPush(""), fetch, ack(2, "$jid1")}
	return []explore.Trace{
		newTrace(day[:3]...),
		newTrace(consumer(2, 1), consumer(3, 1), sendAhead(fetch), line(3, "INFO"), build().Await(2)),
		newTrace(consumer(2, 1), seedPush(`,"retry":5`), fetch, line(2, seedFail), explore.Wait(170*time.Second), fetch),
		explore.Repeat(day, 60), explore.Repeat(day, 600),
	}
}

func seedSwapped() []explore.Trace {
	fetch := line(2, seedFetch)
	pair := []explore.Step{
		consumer(2, 1), consumer(3, 1), seedPush(""), push(3, "$jid2", "$queue2", ""),
		sendAhead(fetch), sendAhead(line(3, "FETCH $queue2")), build().Await(2), build().Await(3),
		push(2, "$jid3", "$queue1", ""), fetch, // an odd number of jobs, for bugs that count
	}
	return []explore.Trace{newTrace(pair...), explore.Repeat(pair, 60), explore.Repeat(pair, 600)}
}

func seedDelivered() []explore.Trace {
	fetch, fail := line(2, seedFetch), line(2, seedFail)
	failing := func(retry, times int) explore.Trace {
		steps := []explore.Step{consumer(2, 1), seedPush(fmt.Sprintf(`,"retry":%d`, retry)), fetch}
		for range times {
			steps = append(steps, fail, explore.Wait(time.Minute), fetch)
		}
		return newTrace(steps...)
	}
	steps := []explore.Step{consumer(2, 1), seedPush(""), fetch}
	return []explore.Trace{
		newTrace(consumer(2, 1), seedPush(""), fetch, fail, fetch),
		failing(0, 1), failing(-1, 1), failing(1, 2),
		newTrace(consumer(2, 1), seedPush(""), fetch, fetch),
		explore.Repeat(steps, 60), explore.Repeat(steps, 600),
	}
}

func seedField() []explore.Trace {
	fetch := line(2, seedFetch)
	fail := line(2, `FAIL {"jid":"$jid1","errtype":"Example","message":"on purpose",`+
		`"backtrace":["the first line","the second line"]}`)
	changed := []explore.Step{
		consumer(2, 1), seedPush(`,"retry":3`), push(2, "$jid2", "$queue1", `,"retry":7`), fetch, fetch,
	}
	return []explore.Trace{
		newTrace(consumer(2, 1), seedPush(""), fetch),
		newTrace(consumer(2, 1), seedPush(`,"retry":5,"backtrace":1`), fetch, fail, explore.Wait(time.Minute), fetch),
		explore.Repeat(changed, 60),
	}
}
