package explore

import (
	"slices"
	"time"

	"github.com/fwpsuite/fwp/scenarios"
)

// usual are short conversations in which a finding of a family often shows, the
// plainest first. They are tried before those that come from the exploration, so that
// what is wrong with every job is not told of a strange one.
func usual(family string) []Trace {
	worker := func(conn int) Step { return Step{Kind: Open, Conn: conn, Role: scenarios.Consumer, Worker: 1} }
	const push, fetch = `PUSH {"jid":"$jid1","jobtype":"t","args":[],"queue":"$queue1"}`, "FETCH $queue1"
	ahead := func(conn int, text string) Step {
		return Step{Kind: Send, Conn: conn, Segments: []string{text}, Ahead: true}
	}
	switch family {
	case "missing":
		return []Trace{
			{Steps: []Step{worker(2), line(2, push), line(2, fetch)}},
			{Steps: []Step{worker(2), worker(3), ahead(2, fetch), line(3, "INFO"), {Kind: Await, Conn: 2}}},
			{Steps: []Step{worker(2), line(2, `PUSH {"jid":"$jid1","jobtype":"t","args":[],"queue":"$queue1","retry":5}`), line(2, fetch),
				line(2, `FAIL {"jid":"$jid1","errtype":"Example","message":"on purpose","backtrace":[]}`), {Kind: Wait, For: 170 * time.Second}, line(2, fetch)}},
			repeated([]Step{worker(2), line(2, push), line(2, fetch), line(2, `ACK {"jid":"$jid1"}`)}, 60),
			repeated([]Step{worker(2), line(2, push), line(2, fetch), line(2, `ACK {"jid":"$jid1"}`)}, 600),
		}
	case "swapped":
		pair := []Step{worker(2), worker(3), line(2, push), line(3, `PUSH {"jid":"$jid2","jobtype":"t","args":[],"queue":"$queue2"}`),
			ahead(2, fetch), ahead(3, "FETCH $queue2"), {Kind: Await, Conn: 2}, {Kind: Await, Conn: 3},
			line(2, `PUSH {"jid":"$jid3","jobtype":"t","args":[],"queue":"$queue1"}`), line(2, fetch)} // an odd number of jobs, for faults that count
		return []Trace{{Steps: pair}, repeated(pair, 60), repeated(pair, 600)}
	case "delivered":
		failing := func(retry, times int) Trace {
			steps := []Step{worker(2), line(2, `PUSH {"jid":"$jid1","jobtype":"t","args":[],"queue":"$queue1","retry":%d}`, retry), line(2, fetch)}
			for range times {
				steps = append(steps, line(2, `FAIL {"jid":"$jid1","errtype":"Example","message":"on purpose","backtrace":[]}`), Step{Kind: Wait, For: time.Minute}, line(2, fetch))
			}
			return Trace{Steps: steps}
		}
		return []Trace{
			failing(0, 1), failing(-1, 1), failing(1, 2),
			{Steps: []Step{worker(2), line(2, push), line(2, fetch), line(2, fetch)}},
			repeated([]Step{worker(2), line(2, push), line(2, fetch)}, 60),
			repeated([]Step{worker(2), line(2, push), line(2, fetch)}, 600),
		}
	case "field":
		return []Trace{
			{Steps: []Step{worker(2), line(2, push), line(2, fetch)}},
			{Steps: []Step{worker(2), line(2, `PUSH {"jid":"$jid1","jobtype":"t","args":[],"queue":"$queue1","retry":5,"backtrace":1}`), line(2, fetch),
				line(2, `FAIL {"jid":"$jid1","errtype":"Example","message":"on purpose","backtrace":["the first line","the second line"]}`),
				{Kind: Wait, For: time.Minute}, line(2, fetch)}},
			repeated([]Step{worker(2), line(2, `PUSH {"jid":"$jid1","jobtype":"t","args":[],"queue":"$queue1","retry":3}`),
				line(2, `PUSH {"jid":"$jid2","jobtype":"t","args":[],"queue":"$queue1","retry":7}`), line(2, fetch), line(2, fetch)}, 60),
		}
	case "silent", "refused":
		return []Trace{
			{Steps: []Step{worker(2), line(2, "INFO")}},
			{Steps: []Step{{Kind: Open, Conn: 2, Role: scenarios.Producer}, line(2, "INFO")}},
			repeated([]Step{worker(2), line(2, "INFO")}, 200),
		}
	}
	return nil
}

// repeated repeats what follows the opening of connections.
func repeated(steps []Step, n int) Trace {
	return Trace{Steps: slices.Clone(steps), From: body(steps), To: len(steps), N: n}
}
